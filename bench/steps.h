/* SPDX-License-Identifier: MIT */
/*
 * Counts what a function really executes, by stepping the processor through it: instructions, and
 * among them those that load data. What stands in memory counts, not what stands in the file.
 */
#ifndef BENCH_STEPS_H
#define BENCH_STEPS_H

#include <stdbool.h>
#include <stdio.h>

typedef void steps_function(void *argument);

struct steps {
	long instructions;
	long loads; /* a return's and a pop's load from the stack are not counted */
};

/* Runs @function once, with the trap flag set. Not for several threads at a time. */
struct steps steps_count(steps_function *function, void *argument);

/* Prints the instruction at @code as an assembler writes it. */
void steps_print_instruction(FILE *output, const void *code);

/* Whether the instruction at @code loads data. */
bool steps_is_load(const void *code);

#endif
