/* SPDX-License-Identifier: MIT */
/*
 * The objects that a process has loaded: the tables of those that have some, and names for
 * addresses.
 */
#ifndef REMOTE_PROCESS_OBJECTS_H
#define REMOTE_PROCESS_OBJECTS_H

#include "key_text.h"
#include "process.h"
#include "site_table.h"

struct process_object {
	const struct mapping *mapping; /* its first page */
	uint64_t bias;                 /* run-time address - address in the file */
	uint64_t end;                  /* of its memory */
	char note[128];                /* how it was read, where that is not plain, or "" */
	struct elf_file *file;         /* NULL: it has no tables, and no name was asked of it yet */
	struct site_table *table;      /* NULL: it has none */
};

struct process_objects {
	struct process *process;
	struct process_object *list; /* by address */
	size_t count;
	size_t with_table;
	size_t unread;             /* objects that could not be looked at */
	struct remote_error first; /* why the first one could not */
};

/*
 * Reads the tables of all objects. 0 also where some can not be read; -ENODATA: no object has
 * tables; -EACCES: none could be read; -ESRCH: the process ended. process_objects_close() is right
 * after all.
 */
int process_objects_open(struct process_objects *objects, struct process *process,
			 struct remote_error *error);
void process_objects_close(struct process_objects *objects);

/* Whether the object is still mapped where it was. */
bool process_object_is_there(const struct process_objects *objects,
			     const struct process_object *object);

/* Writes what lies at a run-time address, "name" or "name+0x8"; false where it has no name. */
bool process_objects_name(struct process_objects *objects, uint64_t address, char *text,
			  size_t size);

/* Where a key is in the process; false where it can not be read. */
bool process_key_address(const struct process_objects *objects, const struct process_object *object,
			 const struct key *key, uint64_t *address);

/*
 * What a value has, zero-extended, or the address of the function that a call reaches; false where
 * it can not be read.
 */
bool process_key_bits(const struct process_objects *objects, const struct process_object *object,
		      const struct key *key, uint64_t *bits);

/* The same of the owner of an operand site, which its own pointer names. */
bool process_operand_bits(const struct process_objects *objects,
			  const struct process_object *object, const struct operand *operand,
			  uint64_t *bits);

/* What a key is now: as key_initial_text(). */
void process_key_text(char text[KEY_TEXT_BYTES], struct process_objects *objects,
		      const struct process_object *object, const struct key *key);

/* The definition, in whichever object it is, of a value that @object only reads; @key without one.
 */
const struct key *process_key_definition(const struct process_objects *objects,
					 const struct process_object *object,
					 const struct key *key);

#endif
