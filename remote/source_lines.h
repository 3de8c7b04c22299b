/* SPDX-License-Identifier: MIT */
/*
 * Where code comes from: function, file and line, as far as the file or its debug file says.
 */
#ifndef REMOTE_SOURCE_LINES_H
#define REMOTE_SOURCE_LINES_H

#include "elf_file.h"

struct source_lines;

/* Strings live as long as the struct source_lines; NULL or 0 for what is not known. */
struct source_place {
	const char *function; /* whose code it is */
	const char *inlined;  /* the function of the source, where it was inlined into `function` */
	const char *file;
	int line;
};

/* Never fails: without debug information there are only symbols. The file must stay open. */
struct source_lines *source_lines_open(struct elf_file *file);
void source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place);
void source_lines_close(struct source_lines *lines);

#endif
