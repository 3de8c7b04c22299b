/* SPDX-License-Identifier: MIT */
/*
 * Finding the struct dormant_object of a file.
 *
 * Its look: the words ABI and 0, three pairs of pointers that bound tables of whole entries, and
 * zeros. The pointers may be in relocations only, so what is compared first are the other words.
 */
#include "object_record.h"

#include <dormant/object.h>
#include <inttypes.h>
#include <string.h>

bool table_ranges_are_empty(const struct table_ranges *ranges)
{
	return ranges->sites.bytes == 0 && ranges->operands.bytes == 0 && ranges->keys.bytes == 0;
}

static bool read_range(struct elf_file *file, uint64_t address, uint64_t entry_bytes,
		       struct elf_range *range)
{
	struct elf_pointer start, end;

	if (!elf_file_pointer(file, address, &start) ||
	    !elf_file_pointer(file, address + sizeof(uint64_t), &end))
		return false;
	/* The end may be where a variable of another object was copied to: only addresses count. */
	if (end.address < start.address || (end.address - start.address) % entry_bytes != 0)
		return false;
	*range = (struct elf_range){start.address, end.address - start.address};
	return range->bytes == 0 || elf_file_has(file, range->address, range->bytes, PF_R);
}

static bool read_built(struct elf_file *file, uint64_t address, bool *built)
{
	struct elf_pointer pointer;

	if (!elf_file_pointer(file, address, &pointer))
		return false;
	*built = pointer.relocated || pointer.address != 0;
	return true;
}

static bool read_record(struct elf_file *file, uint64_t address, struct object_record *record)
{
	record->address = address;
	return elf_relocations_load(file, NULL) == 0 &&
	       elf_file_initial(file, address, &record->abi, sizeof(record->abi)) &&
	       read_range(file, address + offsetof(struct dormant_object, sites),
			  sizeof(struct dormant_site), &record->ranges.sites) &&
	       read_range(file, address + offsetof(struct dormant_object, operands),
			  sizeof(struct dormant_operand), &record->ranges.operands) &&
	       read_range(file, address + offsetof(struct dormant_object, keys),
			  sizeof(struct dormant_key_entry), &record->ranges.keys) &&
	       read_built(file, address + offsetof(struct dormant_object, sites_built),
			  &record->sites_built);
}

static bool looks_like_record(const uint8_t *bytes)
{
	static const uint8_t zeros[sizeof(((struct dormant_object *)0)->reserved)];
	static const uint32_t head[2] = {DORMANT_ABI, 0};

	return memcmp(bytes, head, sizeof(head)) == 0 &&
	       memcmp(bytes + offsetof(struct dormant_object, reserved), zeros, sizeof(zeros)) == 0;
}

static bool scan_segment(struct elf_file *file, const struct elf_segment *segment,
			 struct object_record *record)
{
	const uint8_t *bytes = elf_file_contents(file, segment->address, segment->file_bytes);
	uint64_t first = -segment->address % sizeof(uint64_t);

	if (!bytes || segment->file_bytes < sizeof(struct dormant_object))
		return false;
	for (uint64_t at = first; at <= segment->file_bytes - sizeof(struct dormant_object);
	     at += sizeof(uint64_t))
		if (looks_like_record(bytes + at) &&
		    read_record(file, segment->address + at, record) &&
		    !table_ranges_are_empty(&record->ranges))
			return true;
	return false;
}

bool object_record_find(struct elf_file *file, struct object_record *record)
{
	uint64_t address;

	if (elf_file_symbol(file, "dormant_object_self", &address))
		return read_record(file, address, record);
	for (size_t i = 0; i < file->segment_count; i++)
		if ((file->segments[i].flags & PF_W) &&
		    scan_segment(file, &file->segments[i], record))
			return true;
	return false;
}

/* ---- tables that are missing ---- */

static void check_range(const char *name, const struct elf_range *section,
			const struct elf_range *recorded, struct findings *findings)
{
	if (recorded->bytes > 0 && section->bytes == 0)
		findings_add(findings,
			     "section %s is missing, but the object refers to one; it was removed "
			     "after linking, link it again",
			     name);
	else if (recorded->bytes != section->bytes ||
		 (section->bytes > 0 && recorded->address != section->address))
		findings_add(findings,
			     "section %s (0x%" PRIx64 ", %" PRIu64
			     " bytes) is not the table that the library will use (0x%" PRIx64
			     ", %" PRIu64 " bytes); link it again",
			     name, section->address, section->bytes, recorded->address,
			     recorded->bytes);
}

void object_record_check(const struct object_record *record, const struct table_ranges *ranges,
			 struct findings *findings)
{
	if (record->abi != DORMANT_ABI) {
		findings_add(findings,
			     "built with version %" PRIu32
			     " of the tables, and this command knows %d; use the command of the "
			     "library it was built with",
			     record->abi, DORMANT_ABI);
		return;
	}
	if (record->sites_built && record->ranges.sites.bytes == 0)
		findings_add(
			findings,
			"its source has sites, and the file has none: a linker script or a "
			"tool dropped section dormant_sites, and switching a key does nothing; "
			"keep that section");
	check_range("dormant_sites", &ranges->sites, &record->ranges.sites, findings);
	check_range("dormant_operands", &ranges->operands, &record->ranges.operands, findings);
	check_range("dormant_keys", &ranges->keys, &record->ranges.keys, findings);
}
