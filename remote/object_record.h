/* SPDX-License-Identifier: MIT */
/*
 * The struct dormant_object of a file: where the library itself looks for the tables.
 */
#ifndef REMOTE_OBJECT_RECORD_H
#define REMOTE_OBJECT_RECORD_H

#include "elf_file.h"
#include "findings.h"

/* The tables of an object: 0 bytes where it has none. */
struct table_ranges {
	struct elf_range sites;
	struct elf_range operands;
	struct elf_range keys;
};

bool table_ranges_are_empty(const struct table_ranges *ranges);

struct object_record {
	uint64_t address;
	uint32_t abi;
	struct table_ranges ranges;
	bool sites_built; /* the source has sites, so a table of them is due */
};

/*
 * Finds the record by its symbol, or, in a stripped file, by its look: then only one of the current
 * ABI that has a table. False where there is none.
 */
bool object_record_find(struct elf_file *file, struct object_record *record);

/* Compares the record with the tables that were found otherwise: a table that was dropped or moved.
 */
void object_record_check(const struct object_record *record, const struct table_ranges *ranges,
			 struct findings *findings);

#endif
