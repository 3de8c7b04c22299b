/* SPDX-License-Identifier: MIT */
/*
 * From the section dormant_operands to operand sites.
 *
 * An entry HOME is no site: it says what the calls of one static call reach in this object, and
 * names it, which the entries of the calls do not.
 */
#include <dormant/arch.h>
#include <dormant/static_call.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "site_table.h"

/* What an entry points to. */
struct operand_entry {
	uint64_t address; /* of the entry */
	enum dormant_operand_kind kind;
	uint64_t code;
	uint64_t pointer;
	uint64_t name; /* 0: none */
	uint64_t home; /* 0: none */
};

static uint64_t follow(uint64_t address, size_t offset, int32_t distance)
{
	return address + offset + (uint64_t)(int64_t)distance;
}

static bool read_entry(struct elf_file *file, uint64_t address, struct operand_entry *entry)
{
	const uint8_t *bytes = elf_file_contents(file, address, sizeof(struct dormant_operand));
	struct dormant_operand raw;
	uint64_t owner;

	if (!bytes)
		return false;
	memcpy(&raw, bytes, sizeof(raw));
	owner = follow(address, offsetof(struct dormant_operand, owner), raw.owner);
	*entry = (struct operand_entry){
		.address = address,
		.kind = owner & DORMANT_OPERAND_KIND_MASK,
		.code = follow(address, offsetof(struct dormant_operand, code), raw.code),
		.pointer = owner & ~(uint64_t)DORMANT_OPERAND_KIND_MASK,
	};
	if (entry->kind != DORMANT_OPERAND_CALL) {
		entry->name = follow(address, offsetof(struct dormant_operand, name), raw.name);
		entry->home = follow(address, offsetof(struct dormant_operand, home), raw.home);
	}
	return true;
}

/* Why an entry can not be used, or NULL. */
static const char *entry_damage(struct elf_file *file, const struct operand_entry *entry,
				struct elf_pointer *owner)
{
	bool whole = entry->kind != DORMANT_OPERAND_CALL && entry->kind != DORMANT_OPERAND_HOME;

	if (entry->kind > DORMANT_OPERAND_HOME)
		return "it is of a kind that is not defined";
	if (!elf_file_has(file, entry->code, whole ? DORMANT_SITE_BYTES : 1, PF_X))
		return "it points outside the object's code";
	if (!elf_file_pointer(file, entry->pointer, owner))
		return "the pointer to its owner lies outside the object's data";
	if (!owner->symbol && owner->address == 0)
		return "the pointer to its owner points to nothing";
	if (entry->name && !elf_file_string(file, entry->name))
		return "its name is not a terminated string";
	if (entry->home && !elf_file_has(file, entry->home, 1, PF_X))
		return "what it goes to by memory lies outside the object's code";
	return NULL;
}

static void report_entry(struct site_table *table, uint64_t address, const char *wrong)
{
	struct finding *finding =
		findings_add(&table->damage,
			     "an entry of dormant_operands is damaged: %s; link it again", wrong);

	finding->has_address = true;
	finding->address = address;
}

static int add_owner(struct site_table *table, const struct operand_entry *entry,
		     const struct elf_pointer *owner)
{
	struct key_reference reference = {
		.address = entry->pointer,
		.pointer = *owner,
		.expression = elf_file_string(table->file, entry->name),
		.use = entry->kind <= DORMANT_OPERAND_VALUE8 ? KEY_USED_AS_VALUE : KEY_USED_AS_CALL,
		.bytes = operand_value_bytes(entry->kind),
	};

	return key_list_add_reference(&table->keys, table->file, &reference);
}

/* The bytes at @address as far as the file has them. */
static void read_bytes(struct elf_file *file, uint64_t address, uint8_t *bytes, size_t count)
{
	const uint8_t *contents = NULL;

	while (count > 0 && !(contents = elf_file_contents(file, address, count)))
		count--;
	if (contents)
		memcpy(bytes, contents, count);
}

static void add_operand(struct site_table *table, const struct operand_entry *entry)
{
	struct operand *operand = &table->operands.list[table->operands.count++];

	*operand = (struct operand){
		.entry = entry->address,
		.address = entry->code,
		.pointer = entry->pointer,
		.home = entry->home,
		.kind = entry->kind,
		.is_site = entry->kind != DORMANT_OPERAND_CALL,
	};
	read_bytes(table->file, entry->code, operand->bytes, sizeof(operand->bytes));
	if (operand_is_value(operand))
		read_bytes(table->file, entry->home, operand->load, sizeof(operand->load));
}

static int take_entry(struct site_table *table, uint64_t address)
{
	struct operand_entry entry;
	struct elf_pointer owner;
	const char *wrong = "it lies outside the file";

	if (read_entry(table->file, address, &entry))
		wrong = entry_damage(table->file, &entry, &owner);
	if (wrong) {
		report_entry(table, address, wrong);
		return 0;
	}
	/* A HOME is kept until its key is told. */
	add_operand(table, &entry);
	return entry.name ? add_owner(table, &entry, &owner) : 0;
}

int operand_list_read(struct site_table *table)
{
	const struct elf_range *range = &table->ranges.operands;
	uint64_t count = range->bytes / sizeof(struct dormant_operand);
	int result = 0;

	table->operands.list = calloc(count + 1, sizeof(*table->operands.list));
	if (!table->operands.list)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && result == 0; i++)
		result = take_entry(table, range->address + i * sizeof(struct dormant_operand));
	return result;
}

void operand_list_free(struct operand_list *operands)
{
	free(operands->list);
	*operands = (struct operand_list){0};
}

/* ---- connecting ---- */

static struct key *find_owner(struct site_table *table, const struct operand *operand)
{
	struct elf_pointer pointer;

	elf_file_pointer(table->file, operand->pointer, &pointer);
	return key_list_find(&table->keys, &pointer);
}

static void take_homes(struct site_table *table)
{
	for (size_t i = 0; i < table->operands.count; i++) {
		const struct operand *operand = &table->operands.list[i];
		struct key *key;

		if (operand->kind != DORMANT_OPERAND_HOME)
			continue;
		key = find_owner(table, operand);
		if (key->home != 0 && key->home != operand->home)
			report_entry(table, operand->entry, "two say differently what calls reach");
		key->home = operand->home;
	}
}

/* Whether the compiler put the call where the entry says, and it can be changed by one store. */
static bool call_is_site(const struct operand *operand)
{
	struct operand candidate = *operand;

	candidate.is_site = true;
	return (operand->bytes[0] == 0xe8 || operand->bytes[0] == 0xe9) && operand->home != 0 &&
	       (operand->address & 7) + DORMANT_SITE_BYTES <= 8 &&
	       operand_look_at(&candidate, operand->bytes, 0).form == OPERAND_BY_TRAMPOLINE;
}

/* The address of the cell that the struct static_call of a trampoline names. */
static uint64_t read_cell(struct site_table *table, const struct key *key)
{
	struct elf_pointer cell;

	if (key->symbol ||
	    !elf_file_pointer(table->file, key->address + offsetof(struct static_call, cell),
			      &cell))
		return 0;
	return cell.address;
}

/* False where nothing names it. */
static bool connect(struct site_table *table, struct operand *operand)
{
	struct key *key = find_owner(table, operand);

	if (!key) {
		report_entry(table, operand->entry, "nothing names what it calls");
		return false;
	}
	operand->key = key;
	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE) {
		operand->home = read_cell(table, key);
		key->trampoline_count++;
		return true;
	}
	if (operand->kind == DORMANT_OPERAND_CALL) {
		operand->home = key->home;
		operand->is_site = call_is_site(operand);
	}
	key->site_count++;
	return true;
}

static int compare_operands(const void *left, const void *right)
{
	const struct operand *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

void operand_list_connect(struct site_table *table)
{
	struct operand_list *operands = &table->operands;
	size_t kept = 0;

	take_homes(table);
	for (size_t i = 0; i < operands->count; i++)
		if (operands->list[i].kind != DORMANT_OPERAND_HOME &&
		    connect(table, &operands->list[i]))
			operands->list[kept++] = operands->list[i];
	operands->count = kept;
	if (kept > 0)
		qsort(operands->list, kept, sizeof(*operands->list), compare_operands);
}
