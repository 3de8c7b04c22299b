/* SPDX-License-Identifier: MIT */
/* The file or process that a command was asked about, opened, and what is said about its damage. */
#ifndef TOOL_TARGET_H
#define TOOL_TARGET_H

#include "output.h"
#include "process_objects.h"
#include "site_table.h"

struct target {
	const char *subject; /* the argument */

	/* A file. */
	struct elf_file *file; /* NULL: it is a process */
	struct site_table *table;

	/* A process. */
	struct process *process; /* NULL: it is a file */
	struct process_objects objects;
};

/* EXIT_RIGHT, or EXIT_NOT_RUN after an error line; target_close() is right after both. A word of
 * digits is a process. */
int target_open(struct target *target, const char *subject);
void target_close(struct target *target);

/* One object of a target, the file being the only one of its own. */
struct target_object {
	struct target *target;
	struct elf_file *file;
	const struct site_table *table;
	const struct process_object *process_object; /* NULL for a file */
	uint64_t bias;                               /* 0 for a file */
};

/* Steps through the objects that have tables; starts with *@at == 0, false at the end. */
bool target_next(struct target *target, size_t *at, struct target_object *object);

/* What a key is now, in a process. */
void target_present_text(char text[KEY_TEXT_BYTES], const struct target_object *object,
			 const struct key *key);

/* The definition of a key, or the key itself where that is not known. */
const struct key *target_definition(const struct target_object *object, const struct key *key);

/* The facts name, kind, type, default and, in a process, now. */
void target_print_facts(struct output *output, const struct target_object *object,
			const struct key *key);

/*
 * Prints the objects of a target: those of a process as a list of objects, each with its path and
 * what
 * @print adds to it; of a file, only what @print does. Returns the exit status, with a line that
 * tells of entries and objects that could not be read.
 */
typedef void target_print_fn(struct output *output, const struct target_object *object,
			     const void *context);
int target_print(struct target *target, bool json, target_print_fn *print, const void *context);

#endif
