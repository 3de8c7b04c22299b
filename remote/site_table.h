/* SPDX-License-Identifier: MIT */
/*
 * The keys, values and calls of one object and their sites, as its tables tell them: the model that
 * every command works on.
 *
 * Only what could be read is in it: `damage` says what could not. It refers to the file, which must
 * stay open as long.
 */
#ifndef REMOTE_SITE_TABLE_H
#define REMOTE_SITE_TABLE_H

#include <dormant/arch.h>
#include <stdarg.h>

#include "key_list.h"
#include "object_record.h"
#include "operand.h"

struct site {
	uint64_t entry;                    /* address of its entry in the table */
	uint64_t address;                  /* of the instruction */
	uint64_t target;                   /* where it jumps to when it does */
	uint64_t pointer;                  /* address of its key pointer */
	uint8_t bytes[DORMANT_SITE_BYTES]; /* as in the file */
	bool likely;                       /* jumps when the key is off */
	bool jumps;                        /* its entry says that the file holds the jump */
	const struct key *key;
};

struct site_table {
	struct elf_file *file;
	struct table_ranges ranges;
	bool has_record;
	struct object_record record;
	struct key_list keys;
	struct site *sites; /* sorted by address */
	size_t site_count;
	struct operand_list operands;
	struct findings damage; /* addresses are those of the file */
};

/* -ENODATA: the file has no keys and no sites; -ENOEXEC: its relocations are damaged; -ENOMEM. */
int site_table_read(struct site_table **table, struct elf_file *file, struct remote_error *error);
void site_table_free(struct site_table *table);

/* Whether @byte is one of the two opcodes that a site may start with. */
bool site_byte_is_legal(uint8_t byte);

/* Adds a finding about what stands at @address in the file, which belongs to @key. */
struct finding *site_report(struct findings *findings, const struct site_table *table,
			    uint64_t address, const struct key *key, const char *format,
			    va_list args);

/* Fills place and key of a finding about what stands at @address in the file. */
void site_describe(const struct site_table *table, uint64_t address, const struct key *key,
		   struct finding *finding);

#endif
