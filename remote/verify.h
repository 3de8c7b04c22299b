/* SPDX-License-Identifier: MIT */
/*
 * Whether tables, text and keys agree, in a file and in a running process. Nothing is written.
 */
#ifndef REMOTE_VERIFY_H
#define REMOTE_VERIFY_H

#include "process.h"
#include "site_table.h"

/* One object of what was verified. */
struct verified_object {
	char path[4096];
	char note[128]; /* how it was read, where that is not plain, or "" */
	uint64_t bias;  /* in a process: run-time address - address in the file */
	size_t keys;
	size_t sites;
	size_t wrong;
	size_t first_finding; /* index in the findings */
};

struct verification {
	struct verified_object *objects;
	size_t object_count;
	struct findings findings;
	size_t unread;             /* objects that could not be looked at */
	struct remote_error first; /* why the first one could not */
};

/* Compares a table with its own file. -ENOMEM, or 0 also when things are wrong. */
int verify_file(struct site_table *table, struct verification *verification);

/*
 * Compares each object of a process that has tables with its file and its keys. 0 also when things
 * are wrong. -ENODATA: no object has tables; -EACCES: none could be read; -ESRCH: it ended.
 */
int verify_process(struct process *process, struct verification *verification,
		   struct remote_error *error);

/* Appends an object and what was found damaged as its table was read; NULL without memory. */
struct verified_object *verification_add(struct verification *verification,
					 const struct site_table *table, uint64_t bias);

/* Names the last object in the findings that were added since, and counts them. */
void verification_count(struct verification *verification);
void verification_free(struct verification *verification);

#endif
