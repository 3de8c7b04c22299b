/* SPDX-License-Identifier: MIT */
/*
 * The checks of operand sites. In a file each goes by memory, and what changes there lies in one
 * quadword. In a process each is as in the file, or holds what its owner holds.
 */
#include <dormant/arch.h>
#include <dormant/static_call.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify.h"

/* ---- a file ---- */

/* One site in its table. */
struct checked {
	struct site_table *table;
	const struct operand *operand;
	struct findings *findings;
};

__attribute__((format(printf, 2, 3))) static struct finding *report(const struct checked *checked,
								    const char *format, ...)
{
	struct finding *finding;
	va_list args;

	va_start(args, format);
	finding = site_report(checked->findings, checked->table, checked->operand->address,
			      checked->operand->key, format, args);
	va_end(args);
	return finding;
}

static void check_bytes(const struct checked *checked)
{
	const struct operand *operand = checked->operand;
	struct operand_look look = operand_look_at(operand, operand->bytes, 0);
	struct finding *finding;

	if (look.form == OPERAND_BY_MEMORY || look.form == OPERAND_BY_TRAMPOLINE)
		return;
	if (operand_is_value(operand))
		finding = report(checked,
				 "not the jump to the value's load; the file was rewritten after "
				 "linking");
	else
		finding = report(checked, "not the jump through the static call's cell; the file "
					  "was rewritten after linking");
	if (operand_is_value(operand))
		snprintf(finding->expected, sizeof(finding->expected), "e9");
	else
		snprintf(finding->expected, sizeof(finding->expected), "ff 25");
	finding_print_bytes(finding->found, sizeof(finding->found), operand->bytes, look.bytes);
}

/* Where a load takes the pointer to its value from. */
static bool load_is_right(struct elf_file *file, const struct operand *operand)
{
	const uint8_t *load = elf_file_contents(file, operand->home, 7);
	int32_t distance;

	if (!load || load[0] != 0x48 || load[1] != 0x8b || (load[2] & 0xc7) != 0x05)
		return false;
	memcpy(&distance, load + 3, sizeof(distance));
	return operand->home + 7 + (uint64_t)(int64_t)distance == operand->pointer;
}

static void check_value(const struct checked *checked)
{
	const struct operand *operand = checked->operand;
	const struct key *key = operand->key;
	unsigned int bytes = operand_value_bytes(operand->kind);
	uint64_t offset = operand->address & 7;
	static const uint8_t zeros[8];

	if (!load_is_right(checked->table->file, operand))
		report(checked,
		       "its load at 0x%" PRIx64 " does not begin with the pointer to the "
		       "value; the file was rewritten after linking",
		       operand->home);
	if (bytes == 8 ? offset != 3 : offset > 3)
		report(checked, "what changes there does not lie in one quadword");
	if (bytes == 8 && memcmp(operand->bytes + DORMANT_SITE_BYTES, zeros, sizeof(zeros)) != 0)
		report(checked, "the place of its operand is not free; the file was rewritten "
				"after linking");
	if (key->kind != KEY_VALUE)
		report(checked, "what it reads is no value, but a %s", key_use_name(key_use(key)));
	else if (key->bytes != bytes)
		report(checked, "it reads %u bytes of a value of %u", bytes, key->bytes);
}

static void check_call(const struct checked *checked)
{
	const struct key *key = checked->operand->key;

	if (key->kind != KEY_CALL)
		report(checked, "what it calls is no static call, but a %s",
		       key_use_name(key_use(key)));
}

static void check_owner(const struct checked *checked)
{
	struct elf_file *file = checked->table->file;
	const struct operand *operand = checked->operand;
	uint64_t bytes = operand_is_value(operand) ? operand_value_bytes(operand->kind)
						   : sizeof(struct static_call);
	struct elf_pointer owner;

	elf_file_pointer(file, operand->pointer, &owner);
	if (file->position_independent && !owner.relocated)
		report(checked, "the pointer to its owner has no relocation");
	if (!owner.symbol && !elf_file_has(file, owner.address, bytes, PF_W))
		report(checked, "its owner is not in writable memory of the object");
}

static void check_overlap(const struct checked *checked)
{
	const struct operand *operand = checked->operand, *before = operand - 1;
	uint64_t distance = operand->address - before->address;

	if (!operand->is_site || !before->is_site)
		return;
	if (distance == 0 && operand->key != before->key)
		report(checked, "two share this site (%s is the other); do not fold identical code",
		       before->key->name);
	else if (distance > 0 && distance < DORMANT_SITE_BYTES)
		report(checked, "overlaps the site before it");
}

/* A static call that was built with a trampoline which has no entry: the table was dropped. */
static void check_trampolines(struct site_table *table, struct findings *findings)
{
	for (size_t i = 0; i < table->keys.count; i++) {
		const struct key *key = table->keys.by_name[i];
		struct elf_pointer trampoline;
		struct finding *finding;

		if (key->kind != KEY_CALL || !key->defined || key->trampoline_count > 0 ||
		    !elf_file_pointer(table->file,
				      key->address + offsetof(struct static_call, trampoline),
				      &trampoline) ||
		    (!trampoline.relocated && trampoline.address == 0))
			continue;
		finding = findings_add(findings,
				       "its trampoline has no entry in dormant_operands: a linker "
				       "script or a tool dropped it, and updating the call may do "
				       "nothing; keep that section");
		finding->has_address = true;
		finding->address = key->address;
		finding->kind = key_use_name(KEY_USED_AS_CALL);
		snprintf(finding->key, sizeof(finding->key), "%s", key->name);
	}
}

void verify_file_operands(struct site_table *table, struct verification *verification)
{
	struct verified_object *object = &verification->objects[verification->object_count - 1];
	const struct operand_list *operands = &table->operands;

	for (size_t i = 0; i < operands->count; i++) {
		struct checked checked = {table, &operands->list[i], &verification->findings};

		check_bytes(&checked);
		if (operand_is_value(checked.operand))
			check_value(&checked);
		else
			check_call(&checked);
		check_owner(&checked);
		if (i > 0)
			check_overlap(&checked);
		object->by_trampoline += !checked.operand->is_site;
	}
	check_trampolines(table, &verification->findings);
}

/* ---- a process ---- */

static bool read_sight(const struct process_objects *objects, const struct process_object *object,
		       const struct operand *operand, struct operand_sight *sight)
{
	size_t bytes = sizeof(sight->bytes);

	/* The last bytes of a segment may be fewer. */
	while (bytes > DORMANT_SITE_BYTES &&
	       !process_read(objects->process, operand->address + object->bias, sight->bytes,
			     bytes))
		bytes--;
	return bytes > DORMANT_SITE_BYTES ||
	       process_read(objects->process, operand->address + object->bias, sight->bytes, bytes);
}

/* Whether the site holds what its owner does; @value is NULL while that changes. */
static const char *judge_sight(const struct process_object *object, const struct operand *operand,
			       const struct operand_look *look, const uint64_t *value)
{
	switch (look->form) {
	case OPERAND_BY_MEMORY:
	case OPERAND_BY_TRAMPOLINE:
		return NULL;
	case OPERAND_IN_INSTRUCTION:
		if (!value || look->value == *value)
			return NULL;
		return "the instruction does not hold the present value";
	case OPERAND_NOTHING:
		if (!value || *value == 0)
			return NULL;
		return "it calls nothing, and there is a function";
	case OPERAND_DIRECT:
		if (!value || look->target == *value)
			return NULL;
		if (*value != 0 && operand_is_far(operand, *value, object->bias))
			return "it does not call the present function, which only its memory form "
			       "reaches";
		return "it does not call the present function";
	default:
		return "not a site's instruction: a breakpoint, a probe or another hook; remove it";
	}
}

void verify_operand(const struct process_objects *objects, const struct process_object *object,
		    const struct operand *operand, struct operand_sight *sight)
{
	struct operand_look look;
	uint64_t before, after;
	bool known;

	*sight = (struct operand_sight){.form = OPERAND_FOREIGN};
	known = process_operand_bits(objects, object, operand, &before);
	if (!known) {
		sight->wrong = "its owner can not be read";
		return;
	}
	if (!read_sight(objects, object, operand, sight)) {
		sight->wrong = "it can not be read any more";
		return;
	}
	known = process_operand_bits(objects, object, operand, &after) && before == after;
	look = operand_look_at(operand, sight->bytes, object->bias);
	sight->form = look.form;
	sight->bytes_read = look.bytes;
	sight->wrong = judge_sight(object, operand, &look, known ? &before : NULL);
	if (known)
		sight->expected_bytes = operand_encode(operand, before, object->bias,
						       sight->expected);
}
