/* SPDX-License-Identifier: MIT */
/*
 * The two ways of changing a value that lies in instructions while threads run them: the library's
 * (an operand in one aligned quadword, changed by one store) and two slots with a flip
 * (two_slots.h). One value of each width, in both ways, and the parts of the benchmark.
 */
#ifndef BENCH_TWO_WAYS_H
#define BENCH_TWO_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include <dormant/error.h>

#include "two_slots.h"

#define TWO_WAYS_WIDTHS 4

struct width {
	unsigned bytes;
	uint64_t (*read_operand)(void);
	int (*set_operand)(uint64_t value, struct dormant_error *error);
	uint64_t (*read_slots)(void);
	const struct two_slots *slots;
};

extern const struct width two_ways_widths[TWO_WAYS_WIDTHS];

/* A value all of whose bytes are @n: a mixture of two has two different bytes. */
uint64_t two_ways_pattern(unsigned n, unsigned bytes);

/* Whether @value is a pattern of that many bytes. */
bool two_ways_is_whole(uint64_t value, unsigned bytes);

/* The parts: each prints a table. */
void two_ways_print_site_costs(void);
void two_ways_print_set_costs(void);
void two_ways_print_stopped(void);
void two_ways_print_running(unsigned seconds);
void two_ways_print_proc_mem(unsigned seconds);

/* In the process of one column of the set costs: see there. Returns an exit status. */
int two_ways_measure_column(const char *writer, bool busy);

#endif
