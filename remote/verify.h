/* SPDX-License-Identifier: MIT */
/*
 * Whether tables, text and keys agree, in a file and in a running process. Nothing is written.
 */
#ifndef REMOTE_VERIFY_H
#define REMOTE_VERIFY_H

#include "process_objects.h"
#include "site_table.h"

/* One object of what was verified. */
struct verified_object {
	char path[4096];
	char note[128]; /* how it was read, where that is not plain, or "" */
	uint64_t bias;  /* in a process: run-time address - address in the file */
	size_t keys;
	size_t values;
	size_t calls;
	size_t sites;         /* of all three */
	size_t by_memory;     /* in a process, sites of values that load them */
	size_t by_trampoline; /* calls that go by the trampoline; in a file, that always will */
	size_t wrong;
	size_t first_finding; /* index in the findings */
};

struct verification {
	struct verified_object *objects;
	size_t object_count;
	struct findings findings;
};

/* Compares a table with its own file. -ENOMEM, or 0 also when things are wrong. */
int verify_file(struct site_table *table, struct verification *verification);

/*
 * Compares each object of a process that has tables with its file and its keys. 0 also when things
 * are wrong; -ESRCH: it ended; -ENOMEM.
 */
int verify_process(struct process_objects *objects, struct verification *verification,
		   struct remote_error *error);

/* ---- parts ---- */

/* The operand sites of a file: verify_operands.c. */
void verify_file_operands(struct site_table *table, struct verification *verification);

/* One look at an operand site of a process; what is wrong, or NULL. */
struct operand_sight {
	uint8_t bytes[OPERAND_BYTES_MAX];
	size_t bytes_read; /* 0 while unknown */
	uint8_t expected[OPERAND_BYTES_MAX];
	size_t expected_bytes; /* 0 while unknown */
	enum operand_form form;
	const char *wrong;
};

void verify_operand(const struct process_objects *objects, const struct process_object *object,
		    const struct operand *operand, struct operand_sight *sight);

/* Appends an object and what was found damaged as its table was read; NULL without memory. */
struct verified_object *verification_add(struct verification *verification,
					 const struct site_table *table, uint64_t bias);

/* Names the last object in the findings that were added since, and counts them. */
void verification_count(struct verification *verification);
void verification_free(struct verification *verification);

#endif
