/* SPDX-License-Identifier: MIT */
/* One key, value or call with its sites, as `dormant show` prints it. */
#include "show_sites.h"

#include <stdio.h>
#include <string.h>

#include "decode.h"

static const struct output_column key_columns[] = {
	{"address", "ADDRESS", true},  {"place", "FUNCTION", false},
	{"location", "SOURCE", false}, {"branch", "BRANCH", false},
	{"bytes", "BYTES", false},     {"instruction", "INSTRUCTION", false},
	{"state", "STATE", false},
};

static const struct output_column operand_columns[] = {
	{"address", "ADDRESS", true},          {"place", "FUNCTION", false},
	{"location", "SOURCE", false},         {"bytes", "BYTES", false},
	{"instruction", "INSTRUCTION", false}, {"state", "STATE", false},
};

/* ---- what every site has ---- */

/* "f", or "g (inlined in f)": also where a linker's alias gave both one name. */
static void print_function(struct output *output, const struct source_place *place)
{
	char text[512];

	output_string(output, "function", place->function);
	output_string(output, "inlined", place->inlined);
	if (place->function && place->inlined)
		snprintf(text, sizeof(text), "%s (inlined in %s)", place->inlined, place->function);
	else
		snprintf(text, sizeof(text), "%s", place->function ? place->function : "-");
	if (!output->json)
		output_string(output, "place", text);
}

static void print_source(struct output *output, const struct source_place *place)
{
	char text[1024];

	output_string(output, "file", place->file);
	if (place->file)
		output_number(output, "line", (uint64_t)place->line);
	else
		output_string(output, "line", NULL);
	snprintf(text, sizeof(text), "%s:%d", place->file ? place->file : "", place->line);
	if (!output->json)
		output_string(output, "location", place->file ? text : NULL);
}

/* The bytes that are there now, over those of the file. */
static void read_present(const struct target_object *object, uint64_t address, uint8_t *bytes,
			 size_t count)
{
	if (object->process_object)
		(void)process_read(object->target->process, address + object->bias, bytes, count);
}

/* Opens an item with where it is and, for an instruction of @count bytes, what stands there. */
static void print_code(struct output *output, const struct target_object *object,
		       struct source_lines *lines, uint64_t address, const uint8_t *bytes,
		       size_t count)
{
	struct source_place place;
	char text[3 * OPERAND_BYTES_MAX], instruction[96];

	source_lines_find(lines, address, &place);
	output_open_item(output);
	output_address(output, "address", address + object->bias);
	print_function(output, &place);
	print_source(output, &place);
	finding_print_bytes(text, sizeof(text), bytes, count);
	decode_instruction(instruction, sizeof(instruction), bytes, count, address + object->bias);
	output_string(output, "bytes", text);
	output_string(output, "instruction", instruction);
}

/* ---- sites of keys ---- */

static const char *site_state(uint8_t byte)
{
	if (!site_byte_is_legal(byte))
		return "foreign";
	return byte == DORMANT_SITE_OPCODE_ON ? "jumps" : "falls through";
}

static void print_site(struct output *output, const struct target_object *object,
		       struct source_lines *lines, const struct site *site)
{
	uint8_t bytes[DORMANT_SITE_BYTES];

	memcpy(bytes, site->bytes, sizeof(bytes));
	read_present(object, site->address, bytes, sizeof(bytes));
	print_code(output, object, lines, site->address, bytes, sizeof(bytes));
	output_string(output, "branch", site->likely ? "likely" : "unlikely");
	output_string(output, "state", site_state(bytes[0]));
	output_address(output, "target", site->target + object->bias);
	output_close(output);
}

/* ---- sites of values and calls ---- */

static bool is_far(const struct target_object *object, const struct operand *operand)
{
	uint64_t function;

	return object->process_object &&
	       process_operand_bits(&object->target->objects, object->process_object, operand,
				    &function) &&
	       operand_is_far(operand, function, object->bias);
}

/* In a file, what the library will make of a call. */
static const char *call_state(const struct target_object *object, const struct operand *operand,
			      enum operand_form form)
{
	const char *direct = operand->bytes[0] == 0xe9 ? "tail" : "direct";

	if (!operand->is_site)
		return "by trampoline";
	switch (form) {
	case OPERAND_BY_TRAMPOLINE:
		if (!object->process_object)
			return direct;
		return is_far(object, operand) ? "far" : "by trampoline";
	case OPERAND_DIRECT:
		return direct;
	case OPERAND_NOTHING:
		return "nothing";
	default:
		return "foreign";
	}
}

static const char *trampoline_state(const struct target_object *object,
				    const struct operand *operand, enum operand_form form)
{
	switch (form) {
	case OPERAND_BY_MEMORY:
		return is_far(object, operand) ? "trampoline, far" : "trampoline, by memory";
	case OPERAND_DIRECT:
		return "trampoline, direct";
	case OPERAND_NOTHING:
		return "trampoline, nothing";
	default:
		return "trampoline, foreign";
	}
}

static const char *operand_state(const struct target_object *object, const struct operand *operand,
				 enum operand_form form)
{
	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE)
		return trampoline_state(object, operand, form);
	if (operand->kind == DORMANT_OPERAND_CALL)
		return call_state(object, operand, form);
	return form == OPERAND_BY_MEMORY        ? "by memory"
	       : form == OPERAND_IN_INSTRUCTION ? "in the instruction"
						: "foreign";
}

static const char *operand_kind(const struct operand *operand)
{
	return operand_is_value(operand)               ? "value"
	       : operand->kind == DORMANT_OPERAND_CALL ? "call"
						       : "trampoline";
}

static void print_operand(struct output *output, const struct target_object *object,
			  struct source_lines *lines, const struct operand *operand)
{
	uint8_t bytes[OPERAND_BYTES_MAX];
	struct operand_look look;

	memcpy(bytes, operand->bytes, sizeof(bytes));
	read_present(object, operand->address, bytes, sizeof(bytes));
	look = operand_look_at(operand, bytes, object->bias);
	/* What the compiler put in front of a call has any length. */
	if (!operand->is_site)
		look.bytes = decode_length(bytes, sizeof(bytes));
	print_code(output, object, lines, operand->address, bytes, look.bytes);
	output_string(output, "kind", operand_kind(operand));
	output_string(output, "state", operand_state(object, operand, look.form));
	if (look.target != 0)
		output_address(output, "target", look.target);
	else
		output_string(output, "target", NULL);
	output_close(output);
}

/* ---- a key ---- */

/* "trace_key: key, off by default, 2 sites" */
static void print_title(struct output *output, const struct target_object *object,
			const struct key *key)
{
	const struct key *definition = target_definition(object, key);
	char type[KEY_TEXT_BYTES], initial[KEY_TEXT_BYTES], present[KEY_TEXT_BYTES] = "";

	key_type_text(type, definition);
	key_initial_text(initial, object->file, key);
	if (object->process_object)
		target_present_text(present, object, key);
	output_line(output, "%s: %s%s%s, %s by default%s%s%s, %zu site%s%s", key->name,
		    key_kind_name(key->kind),
		    key->kind != KEY_VALUE       ? ""
		    : definition->type_class < 0 ? " of "
						 : " of type ",
		    key->kind == KEY_VALUE ? type : "",
		    strcmp(initial, "-") == 0 ? "not known" : initial, *present ? ", " : "",
		    present, *present ? " now" : "", key->site_count,
		    key->site_count == 1 ? "" : "s",
		    key->trampoline_count > 0 ? " and the trampoline" : "");
}

void show_key(struct output *output, const struct target_object *object, struct source_lines *lines,
	      const struct key *key)
{
	const struct site_table *table = object->table;

	print_title(output, object, key);
	output_open_item(output);
	target_print_facts(output, object, key);
	output_open_list(output, "sites");
	if (key_use(key) == KEY_USED_AS_KEY)
		output_table(output, key_columns, sizeof(key_columns) / sizeof(*key_columns));
	else
		output_table(output, operand_columns,
			     sizeof(operand_columns) / sizeof(*operand_columns));
	for (size_t i = 0; i < table->site_count; i++)
		if (table->sites[i].key == key)
			print_site(output, object, lines, &table->sites[i]);
	for (size_t i = 0; i < table->operands.count; i++)
		if (table->operands.list[i].key == key)
			print_operand(output, object, lines, &table->operands.list[i]);
	output_print_table(output);
	output_close(output);
	output_close(output);
}
