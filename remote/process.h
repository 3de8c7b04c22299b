/* SPDX-License-Identifier: MIT */
/*
 * Another process, read only: its mappings and its memory.
 *
 * The mappings are those of the moment it was opened. Memory that is gone since reads as a failure.
 */
#ifndef REMOTE_PROCESS_H
#define REMOTE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elf_file.h"

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t inode; /* 0 where no file is mapped */
	bool executable;
	bool writable;
	bool deleted; /* the file has no name any more */
	char *path;   /* as /proc/PID/maps has it, without " (deleted)"; "" for none */
};

struct process {
	int pid;
	int memory;               /* descriptor of /proc/PID/mem */
	struct mapping *mappings; /* by address */
	size_t mapping_count;
};

/* -ESRCH: no such process; -EACCES: not allowed to read it; -ENOENT: no /proc. */
int process_open(struct process **process, int pid, struct remote_error *error);
void process_close(struct process *process);

/* Whether all of the memory could be read. */
bool process_read(const struct process *process, uint64_t address, void *value, size_t bytes);

/* Whether it still has the memory that it had when it was opened: it did not end or exec. */
bool process_is_there(const struct process *process);
/* The error for one that has not. Returns -ESRCH. */
int process_refuse_gone(const struct process *process, struct remote_error *error);

/* The mapping that holds @address, or NULL. */
const struct mapping *process_mapping(const struct process *process, uint64_t address);

/*
 * Opens the file behind a mapping, also one that was deleted or replaced, and checks against memory
 * that it is the one that is mapped there. @note, of @note_bytes, says how it was read where that
 * is not by its own path.
 */
int process_open_object(const struct process *process, const struct mapping *mapping,
			struct elf_file **file, char *note, size_t note_bytes,
			struct remote_error *error);

/*
 * Where @file, whose first page is mapped at @mapping, lies: the difference between run-time
 * addresses and those of the file, and the end of its memory. False where its code is not mapped
 * accordingly.
 */
bool process_object_place(const struct process *process, const struct mapping *mapping,
			  const struct elf_file *file, uint64_t *bias, uint64_t *end);

#endif
