/* SPDX-License-Identifier: MIT */
/*
 * The struct dormant_object of a file: where the library itself looks for the tables.
 */
#ifndef REMOTE_OBJECT_RECORD_H
#define REMOTE_OBJECT_RECORD_H

#include "elf_file.h"
#include "findings.h"

struct object_record {
	uint64_t address;
	uint32_t abi;
	struct elf_range sites; /* 0 bytes where the object has none */
	struct elf_range keys;
	bool sites_built; /* the source has sites, so a table of them is due */
};

/*
 * Finds the record by its symbol, or, in a stripped file, by its look: then only one of the current
 * ABI that has a table. False where there is none.
 */
bool object_record_find(struct elf_file *file, struct object_record *record);

/* Compares the record with the tables that were found otherwise: a table that was dropped or moved.
 */
void object_record_check(const struct object_record *record, const struct elf_range *sites,
			 const struct elf_range *keys, struct findings *findings);

#endif
