/* SPDX-License-Identifier: MIT */
/* dormant show FILE KEY: the sites of a key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "decode.h"
#include "source_lines.h"
#include "target.h"

static const struct output_column columns[] = {
	{"address", "ADDRESS", true},  {"place", "FUNCTION", false},
	{"location", "SOURCE", false}, {"branch", "BRANCH", false},
	{"bytes", "BYTES", false},     {"instruction", "INSTRUCTION", false},
	{"state", "STATE", false},
};

static const char *site_state(const struct site *site)
{
	if (!site_byte_is_legal(site->bytes[0]))
		return "foreign";
	return site->bytes[0] == DORMANT_SITE_OPCODE_ON ? "jumps" : "falls through";
}

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

static void print_site(struct output *output, struct source_lines *lines, const struct site *site)
{
	struct source_place place;
	char bytes[3 * DORMANT_SITE_BYTES], instruction[96];

	source_lines_find(lines, site->address, &place);
	finding_print_bytes(bytes, sizeof(bytes), site->bytes, sizeof(site->bytes));
	decode_instruction(instruction, sizeof(instruction), site->bytes, sizeof(site->bytes),
			   site->address);
	output_open_item(output);
	output_address(output, "address", site->address);
	print_function(output, &place);
	print_source(output, &place);
	output_string(output, "branch", site->likely ? "likely" : "unlikely");
	output_string(output, "bytes", bytes);
	output_string(output, "instruction", instruction);
	output_string(output, "state", site_state(site));
	output_address(output, "target", site->target);
	output_close(output);
}

static void print_key(struct output *output, const struct target *target,
		      struct source_lines *lines, const struct key *key)
{
	const struct site_table *table = target->table;

	output_line(output, "%s: %s, %s by default, %zu site%s", key->name,
		    key_kind_name(key->kind),
		    key->initial < 0 ? "not known"
		    : key->initial   ? "on"
				     : "off",
		    key->site_count, key->site_count == 1 ? "" : "s");
	output_open_item(output);
	output_string(output, "name", key->name);
	output_string(output, "kind", key_kind_name(key->kind));
	output_flag(output, "default", key->initial, "on", "off");
	output_open_list(output, "sites");
	output_table(output, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < table->site_count; i++)
		if (table->sites[i].key == key)
			print_site(output, lines, &table->sites[i]);
	output_print_table(output);
	output_close(output);
	output_close(output);
}

/* ---- which key ---- */

/* The name itself, or that of the array that the key is an element of. */
static bool is_wanted(const struct key *key, const char *name)
{
	return strcmp(key->name, name) == 0 ||
	       (key->kind == KEY_ELEMENT && strlen(name) == key->base_bytes &&
		memcmp(key->base, name, key->base_bytes) == 0);
}

/* How many characters must be changed, added or removed; names longer than the row are far away. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	if (length >= sizeof(row) / sizeof(*row))
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[length];
}

static int refuse_unknown(const struct target *target, const char *name)
{
	size_t best = strlen(name) / 3 + 2;
	const char *near = NULL;

	for (size_t i = 0; i < target->table->keys.count; i++) {
		const char *candidate = target->table->keys.by_name[i]->name;
		size_t distance = edit_distance(name, candidate);

		if (distance < best) {
			best = distance;
			near = candidate;
		}
	}
	return output_error("%s: has no key '%s'%s%s%s; 'dormant list %s' lists its keys",
			    target->file->path, name, near ? " (is it '" : "", near ? near : "",
			    near ? "'?)" : "", target->file->path);
}

static int show_keys(const struct target *target, const struct arguments *arguments)
{
	struct source_lines *lines = source_lines_open(target->file);
	const struct key_list *keys = &target->table->keys;
	struct output output;

	output_begin(&output, arguments->json);
	output_string(&output, "file", target->file->path);
	output_open_list(&output, "keys");
	for (size_t i = 0; i < keys->count; i++)
		if (is_wanted(keys->by_name[i], arguments->operands[1]))
			print_key(&output, target, lines, keys->by_name[i]);
	output_close(&output);
	source_lines_close(lines);
	return output_end(&output, target_tell_damage(target));
}

static int run_show(const struct arguments *arguments)
{
	struct target target;
	int status = target_open(&target, arguments->operands[0]);
	bool known = false;

	for (size_t i = 0; status == EXIT_RIGHT && !known && i < target.table->keys.count; i++)
		known = is_wanted(target.table->keys.by_name[i], arguments->operands[1]);
	if (status == EXIT_RIGHT)
		status = known ? show_keys(&target, arguments)
			       : refuse_unknown(&target, arguments->operands[1]);
	target_close(&target);
	return status;
}

const struct command show_command = {
	.name = "show",
	.operands = "FILE KEY",
	.operand_count = 2,
	.summary = "the sites of a key: where, and the instruction there",
	.help = "Shows each site of KEY, named as in 'dormant list FILE'. The name of an array "
		"means all\n"
		"its elements; where several keys have one name, all are shown.\n"
		"\n"
		"  ADDRESS      in the file\n"
		"  FUNCTION     whose code it is; - in a stripped file\n"
		"  SOURCE       file:line; - without debug information\n"
		"  BRANCH       likely or unlikely, as the source says\n"
		"  BYTES        of the file; only the first ever changes\n"
		"  INSTRUCTION  decoded\n"
		"  STATE        falls through, jumps, or foreign\n"
		"\n"
		"JSON: file, keys: name, kind, default, sites: address, function, inlined, file, "
		"line,\n"
		"branch, bytes, instruction, state, target (where it jumps when it does).\n"
		"\n"
		"Example: dormant show /usr/sbin/server trace_key\n",
	.run = run_show,
};
