/* SPDX-License-Identifier: MIT */
/*
 * From the sections dormant_sites, dormant_operands and dormant_keys to keys and sites.
 *
 * Without section headers the tables are found where the library finds them: through the object's
 * struct dormant_object.
 */
#include "site_table.h"

#include <dormant/object.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_BITS ((uint64_t)(DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP))

bool site_byte_is_legal(uint8_t byte)
{
	return byte == DORMANT_SITE_OPCODE_OFF || byte == DORMANT_SITE_OPCODE_ON;
}

void site_describe(const struct site_table *table, uint64_t address, const struct key *key,
		   struct finding *finding)
{
	uint64_t offset;
	const char *function = elf_file_function(table->file, address, &offset);

	if (function)
		snprintf(finding->place, sizeof(finding->place), "%s+0x%" PRIx64, function, offset);
	if (!key)
		return;
	finding->kind = key_use_name(key_use(key));
	snprintf(finding->key, sizeof(finding->key), "%s", key->name);
}

struct finding *site_report(struct findings *findings, const struct site_table *table,
			    uint64_t address, const struct key *key, const char *format,
			    va_list args)
{
	char message[sizeof(((struct finding *)0)->message)];
	struct finding *finding;

	vsnprintf(message, sizeof(message), format, args);
	finding = findings_add(findings, "%s", message);
	finding->has_address = true;
	finding->address = address;
	site_describe(table, address, key, finding);
	return finding;
}

/* ---- one entry ---- */

/* What an entry of dormant_sites points to. */
struct site_entry {
	uint64_t code;
	uint64_t pointer;
	uint64_t name;
	uint64_t flags; /* the low three bits: a pointer is 8-byte aligned */
};

static bool read_entry(struct elf_file *file, uint64_t address, struct site_entry *entry)
{
	const uint8_t *bytes = elf_file_contents(file, address, sizeof(struct dormant_site));
	struct dormant_site raw;
	uint64_t key;

	if (!bytes)
		return false;
	memcpy(&raw, bytes, sizeof(raw));
	key = address + offsetof(struct dormant_site, key) + (uint64_t)(int64_t)raw.key;
	entry->code = address + (uint64_t)(int64_t)raw.code;
	entry->pointer = key & ~UINT64_C(7);
	entry->flags = key & 7;
	entry->name = address + offsetof(struct dormant_site, name) + (uint64_t)(int64_t)raw.name;
	return true;
}

/* Why an entry can not be used, or NULL. */
static const char *entry_damage(struct elf_file *file, const struct site_entry *entry,
				struct elf_pointer *pointer)
{
	if (!elf_file_has(file, entry->code, DORMANT_SITE_BYTES, PF_X) ||
	    !elf_file_contents(file, entry->code, DORMANT_SITE_BYTES))
		return "it points outside the object's code";
	if (entry->flags & ~FLAG_BITS)
		return "it has flags that are not defined";
	if (!elf_file_pointer(file, entry->pointer, pointer))
		return "its key pointer lies outside the object's data";
	if (!pointer->symbol && pointer->address == 0)
		return "its key pointer points to no key";
	if (!elf_file_string(file, entry->name))
		return "its name is not a terminated string";
	return NULL;
}

static void report_entry(struct site_table *table, uint64_t address, const char *wrong)
{
	struct finding *finding = findings_add(
		&table->damage, "an entry of dormant_sites is damaged: %s; link it again", wrong);

	finding->has_address = true;
	finding->address = address;
}

static int add_site(struct site_table *table, uint64_t address)
{
	struct site *site = &table->sites[table->site_count];
	struct key_reference reference = {.use = KEY_USED_AS_KEY};
	struct site_entry entry;
	const char *wrong = "it lies outside the file";
	int32_t distance;

	if (read_entry(table->file, address, &entry))
		wrong = entry_damage(table->file, &entry, &reference.pointer);
	if (wrong) {
		report_entry(table, address, wrong);
		return 0;
	}
	*site = (struct site){
		.entry = address,
		.address = entry.code,
		.pointer = entry.pointer,
		.likely = entry.flags & DORMANT_SITE_LIKELY,
		.jumps = entry.flags & DORMANT_SITE_JUMP,
	};
	memcpy(site->bytes, elf_file_contents(table->file, entry.code, DORMANT_SITE_BYTES),
	       DORMANT_SITE_BYTES);
	memcpy(&distance, site->bytes + 1, sizeof(distance));
	site->target = entry.code + DORMANT_SITE_BYTES + (uint64_t)(int64_t)distance;
	table->site_count++;
	reference.address = entry.pointer;
	reference.expression = elf_file_string(table->file, entry.name);
	return key_list_add_reference(&table->keys, table->file, &reference);
}

/* ---- the tables ---- */

static int compare_sites(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->entry < b->entry ? -1 : a->entry > b->entry;
}

static void connect_sites(struct site_table *table)
{
	struct elf_pointer pointer;
	struct key *key;

	for (size_t i = 0; i < table->site_count; i++) {
		elf_file_pointer(table->file, table->sites[i].pointer, &pointer);
		key = key_list_find(&table->keys, &pointer);
		table->sites[i].key = key;
		key->site_count++;
	}
	if (table->site_count > 0)
		qsort(table->sites, table->site_count, sizeof(*table->sites), compare_sites);
}

/* False, with a finding, for a table that is not a whole number of entries inside the file. */
static bool table_is_sane(struct site_table *table, const char *name, struct elf_range *range,
			  uint64_t entry_bytes)
{
	if (range->bytes == 0)
		return false;
	if (!elf_file_contents(table->file, range->address, range->bytes)) {
		findings_add(&table->damage,
			     "%s lies outside the file's memory image; link it again", name);
		return false;
	}
	if (range->bytes % entry_bytes != 0)
		findings_add(&table->damage,
			     "%s has %" PRIu64 " bytes, not a multiple of %" PRIu64
			     "; link it again",
			     name, range->bytes, entry_bytes);
	return true;
}

static int read_sites(struct site_table *table)
{
	uint64_t count = table->ranges.sites.bytes / sizeof(struct dormant_site);
	int result = 0;

	table->sites = calloc(count + 1, sizeof(*table->sites));
	if (!table->sites)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && result == 0; i++)
		result = add_site(table,
				  table->ranges.sites.address + i * sizeof(struct dormant_site));
	return result;
}

static int read_tables(struct site_table *table)
{
	struct table_ranges *ranges = &table->ranges;
	int result = 0;

	if (table->has_record)
		object_record_check(&table->record, ranges, &table->damage);
	if (table_is_sane(table, "dormant_keys", &ranges->keys, sizeof(struct dormant_key_entry)))
		result = key_list_add_entries(&table->keys, table->file, &ranges->keys,
					      &table->damage);
	if (result == 0 &&
	    table_is_sane(table, "dormant_sites", &ranges->sites, sizeof(struct dormant_site)))
		result = read_sites(table);
	if (result == 0 && table_is_sane(table, "dormant_operands", &ranges->operands,
					 sizeof(struct dormant_operand)))
		result = operand_list_read(table);
	if (result == 0)
		result = key_list_finish(&table->keys);
	if (result != 0)
		return result;
	connect_sites(table);
	operand_list_connect(table);
	return 0;
}

/* Fills the ranges of the tables; false where the object has none at all. */
static bool find_tables(struct site_table *table)
{
	struct table_ranges *ranges = &table->ranges;
	bool sections = elf_file_section(table->file, "dormant_sites", &ranges->sites);

	sections |= elf_file_section(table->file, "dormant_operands", &ranges->operands);
	sections |= elf_file_section(table->file, "dormant_keys", &ranges->keys);
	table->has_record = object_record_find(table->file, &table->record);
	if (!table->file->has_sections && table->has_record)
		*ranges = table->record.ranges;
	return sections || !table_ranges_are_empty(ranges) ||
	       (table->has_record &&
		(table->record.sites_built || !table_ranges_are_empty(&table->record.ranges)));
}

int site_table_read(struct site_table **table, struct elf_file *file, struct remote_error *error)
{
	struct site_table *read = calloc(1, sizeof(*read));
	int result;

	if (!read)
		return remote_error_set(error, -ENOMEM, "%s: no memory", file->path);
	read->file = file;
	if (!find_tables(read)) {
		site_table_free(read);
		return remote_error_set(
			error, -ENODATA,
			"%s: has no keys, values or calls; build it with a header of "
			"<dormant/> and without -DDORMANT_NO_PATCHING",
			file->path);
	}
	result = elf_relocations_load(file, error);
	if (result == 0) {
		result = read_tables(read);
		if (result != 0)
			remote_error_set(error, result, "%s: no memory", file->path);
	}
	if (result == 0)
		*table = read;
	else
		site_table_free(read);
	return result;
}

void site_table_free(struct site_table *table)
{
	if (!table)
		return;
	key_list_free(&table->keys);
	operand_list_free(&table->operands);
	findings_free(&table->damage);
	free(table->sites);
	free(table);
}
