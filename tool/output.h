/* SPDX-License-Identifier: MIT */
/*
 * What a command prints: the same facts as text for people or as one JSON object for programs.
 *
 * A command names its facts once. In JSON each becomes a member of the innermost open object or
 * list. As text, those whose name is that of a column go into the current table, one row an item;
 * lines are text only. Strings from files are made safe to print: bytes that are not printable
 * UTF-8 become \xNN.
 */
#ifndef TOOL_OUTPUT_H
#define TOOL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_DEPTH 8

struct output_column {
	const char *name;  /* of the fact */
	const char *title; /* of the column */
	bool right;        /* numbers */
};

struct output {
	bool json;
	json_t *containers[OUTPUT_DEPTH]; /* from the outermost object to the innermost */
	size_t depth;

	const struct output_column *columns; /* NULL: no table */
	size_t column_count;
	char **cells; /* row by row */
	size_t row_count;
	bool failed; /* no memory */
};

void output_begin(struct output *output, bool json);

/* Prints what is left. @status, or EXIT_NOT_RUN when it could not be written. */
int output_end(struct output *output, int status);

void output_open_list(struct output *output, const char *name);
void output_open_item(struct output *output); /* an object in the innermost list */
void output_close(struct output *output);     /* the innermost list or object */

void output_string(struct output *output, const char *name, const char *value); /* NULL: none */
void output_number(struct output *output, const char *name, uint64_t value);
void output_address(struct output *output, const char *name, uint64_t value);
/* @state 1, 0 or -1 for none; @yes and @no are the words of the text. */
void output_flag(struct output *output, const char *name, int state, const char *yes,
		 const char *no);

/* Items that are opened from here on are rows of a table of text, until it is printed. */
void output_table(struct output *output, const struct output_column *columns, size_t count);
void output_print_table(struct output *output);

/* One line of text, not in JSON. */
__attribute__((format(printf, 2, 3))) void output_line(struct output *output, const char *format,
						       ...);

/* A line on standard error, "dormant: ...". Returns EXIT_NOT_RUN. */
__attribute__((format(printf, 1, 2))) int output_error(const char *format, ...);

#endif
