/* SPDX-License-Identifier: MIT */
/*
 * Checks the table of operands; see operand_check.h. Which calls are sites is decided as the
 * library decides it: by the instruction at the entry's place.
 */
#include "operand_check.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include <dormant/static_key.h>

#include "expect.h"
#include "operand_code.h"

static const char *function_name(const struct image *image, uint64_t address)
{
	const struct image_function *function = image_function_at(image, address);

	return function ? function->name : "?";
}

/* The entry that says what calls of this owner reach in this file, or NULL. */
static const struct image_operand *find_home(const struct image *image,
					     const struct image_pointer *owner)
{
	for (size_t i = 0; i < image_operand_count(image); i++) {
		const struct image_operand *o = image_operand(image, i);

		if (o->kind == DORMANT_OPERAND_HOME && image_pointers_equal(&o->owner, owner))
			return o;
	}
	return NULL;
}

static const char *owner_name(const struct image *image, const struct image_operand *operand)
{
	const struct image_operand *home = find_home(image, &operand->owner);

	if (operand->name)
		return operand->name;
	return home && home->name ? home->name : "?";
}

static const char *call_text(const struct image *image, const struct image_operand *operand)
{
	const struct image_operand *home = find_home(image, &operand->owner);
	const char *fault;

	switch (home ? decode_call(image, operand, home->home, &fault) : CALL_BY_TRAMPOLINE) {
	case CALL_DIRECT:
		return "call";
	case CALL_TAIL:
		return "tail";
	default:
		return "trampoline";
	}
}

/* The flags of the owner's definition, where this file has one; else 0. */
static uint32_t definition_flags(const struct image *image, const struct image_pointer *owner)
{
	const struct image_section *keys = image_section_find(image, "dormant_keys");
	struct dormant_key_entry entry;

	for (uint64_t at = 0; keys && at + sizeof(entry) <= keys->size; at += sizeof(entry)) {
		struct image_pointer defined = image_pointer(
			image, keys->address + at + offsetof(struct dormant_key_entry, key));

		memcpy(&entry, keys->bytes + at, sizeof(entry));
		if (image_pointers_equal(&defined, owner) &&
		    DORMANT_KEY_KIND(entry.flags) != DORMANT_KEY_KIND_KEY)
			return entry.flags;
	}
	return 0;
}

static void check_value(const struct image *image, const struct image_operand *operand,
			const char *where)
{
	const char *fault = value_fault(image, operand);
	uint32_t flags = definition_flags(image, &operand->owner);

	expect(operand->name, "%s: a value has no name", where);
	expect(!fault, "%s %s: %s", where, owner_name(image, operand), fault);
	expect(!flags || (DORMANT_KEY_KIND(flags) == DORMANT_KEY_KIND_IMV &&
			  DORMANT_KEY_BYTES(flags) == 1u << operand->kind),
	       "%s %s: defined with the flags %#x, read as %u bytes", where,
	       owner_name(image, operand), flags, 1u << operand->kind);
}

static void check_call(const struct image *image, const struct image_operand *operand,
		       const char *where)
{
	const struct image_operand *home = find_home(image, &operand->owner);
	const char *fault;

	expect(!operand->name && !operand->home, "%s: a call has a name or a home of its own",
	       where);
	if (!expect(home, "%s: a call whose owner has no home here", where))
		return;
	decode_call(image, operand, home->home, &fault);
	expect(!fault, "%s %s: %s", where, home->name, fault);
}

static void check_home(const struct image *image, const struct image_operand *operand,
		       const char *where)
{
	const struct image_section *code = image_section_at(image, operand->home, 1);
	const struct image_operand *first = find_home(image, &operand->owner);

	if (!expect(operand->name && code && code->flags & SHF_EXECINSTR,
		    "%s: a home without a name, or at %#jx, which is no code", where,
		    (uintmax_t)operand->home))
		return;
	expect(first->home == operand->home && !strcmp(first->name, operand->name),
	       "%s: %s has homes at %#jx and %#jx", where, operand->name, (uintmax_t)first->home,
	       (uintmax_t)operand->home);
}

static void check_trampoline(const struct image *image, const struct image_operand *operand)
{
	uint32_t flags = definition_flags(image, &operand->owner);
	const char *fault;

	if (!expect(operand->name && DORMANT_KEY_KIND(flags) == DORMANT_KEY_KIND_CALL,
		    "a trampoline without a name or a definition"))
		return;
	fault = trampoline_fault(image, operand);
	expect(!fault, "the trampoline of %s: %s", operand->name, fault);
}

static void check_operand(const struct image *image, const struct image_operand *operand)
{
	const struct image_section *code = image_section_at(image, operand->code, 1);
	const struct image_section *pointer = image_section_at(image, operand->pointer,
							       sizeof(void *));
	const char *where = function_name(image, operand->code);

	expect(code && code->flags & SHF_EXECINSTR, "%s: its place is no code", where);
	expect(pointer && !(pointer->flags & SHF_EXECINSTR) && strcmp(pointer->name, ".bss") != 0,
	       "%s: its pointer is at %#jx", where, (uintmax_t)operand->pointer);
	expect(operand->owner.value || operand->owner.symbol, "%s: it has no owner", where);
	switch (operand->kind) {
	case DORMANT_OPERAND_CALL:
		check_call(image, operand, where);
		break;
	case DORMANT_OPERAND_TRAMPOLINE:
		check_trampoline(image, operand);
		break;
	case DORMANT_OPERAND_HOME:
		check_home(image, operand, where);
		break;
	default:
		expect(operand->kind <= DORMANT_OPERAND_VALUE8, "%s: its kind is %u", where,
		       operand->kind);
		check_value(image, operand, where);
	}
}

void check_operands(const struct image *image)
{
	const struct image_section *table = image_section_find(image, "dormant_operands");

	expect(!table || !(table->flags & (SHF_WRITE | SHF_EXECINSTR)),
	       "dormant_operands is not read-only");
	for (size_t i = 0; i < image_operand_count(image); i++)
		check_operand(image, image_operand(image, i));
}

void print_operand_totals(const struct image *image)
{
	size_t values = 0, calls = 0, direct = 0;

	for (size_t i = 0; i < image_operand_count(image); i++) {
		const struct image_operand *o = image_operand(image, i);

		values += o->kind <= DORMANT_OPERAND_VALUE8;
		calls += o->kind == DORMANT_OPERAND_CALL;
		direct += o->kind == DORMANT_OPERAND_CALL &&
			  strcmp(call_text(image, o), "trampoline") != 0;
	}
	printf(" operands=%zu values=%zu calls=%zu direct=%zu", image_operand_count(image), values,
	       calls, direct);
}

void print_operands(const struct image *image)
{
	for (size_t i = 0; i < image_operand_count(image); i++) {
		const struct image_operand *o = image_operand(image, i);
		const char *where = function_name(image, o->code);

		if (o->kind <= DORMANT_OPERAND_VALUE8)
			printf("%s %s value%u\n", where, owner_name(image, o), 1u << o->kind);
		else if (o->kind == DORMANT_OPERAND_CALL)
			printf("%s %s %s\n", where, owner_name(image, o), call_text(image, o));
	}
}
