/* SPDX-License-Identifier: MIT */
/*
 * A table with a column for each writer, alone and beside a busy thread. The writer is chosen as a
 * program starts, so each column is measured by this program in a process of its own.
 */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct column {
	const char *writer;
	bool busy;
};

static const struct column columns[] = {
	{"proc_mem", false}, {"proc_mem", true}, {"mprotect", false},
	{"mprotect", true},  {"remap", false},   {"remap", true},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* Starts `--column busy` or `--column alone`: what it prints, for pclose(); or NULL. */
static inline FILE *column_open(const struct column *column)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "DORMANT_WRITER=%s exec /proc/%d/exe --column %s",
		       column->writer, getpid(), column->busy ? "busy" : "alone");
	return popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
}

#endif
