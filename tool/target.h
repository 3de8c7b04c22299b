/* SPDX-License-Identifier: MIT */
/* The file that a command was asked about, opened, and what is said about its damage. */
#ifndef TOOL_TARGET_H
#define TOOL_TARGET_H

#include "output.h"
#include "site_table.h"

struct target {
	struct elf_file *file;
	struct site_table *table;
};

/* EXIT_RIGHT, or EXIT_NOT_RUN after an error line; target_close() is right after both. */
int target_open(struct target *target, const char *path);
void target_close(struct target *target);

/* EXIT_WRONG after a line that tells of entries that could not be read, else EXIT_RIGHT. */
int target_tell_damage(const struct target *target);

#endif
