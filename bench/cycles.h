/* SPDX-License-Identifier: MIT */
/*
 * Clocks that count cycles: the time stamp counter, whose rate is fixed, and, where the processor
 * lets a program read it, the counter of the cycles that this core really made (RDPRU, AMD since
 * Zen 2; CPUID may hide it, so it is tried).
 */
#ifndef BENCH_CYCLES_H
#define BENCH_CYCLES_H

#include <stdbool.h>
#include <stdint.h>
#include <x86intrin.h>

struct cycles {
	uint64_t tsc, core; /* core is 0 where it can not be read */
};

/* Whether core cycles can be read. Tries it, under a handler of SIGILL. */
bool cycles_have_core(void);

/* What was before is done, and what comes after has not begun. @core: as cycles_have_core() said.
 */
static inline struct cycles cycles_read(bool core)
{
	struct cycles now = {0, 0};

	_mm_lfence();
	now.tsc = __rdtsc();
	if (core) {
		uint32_t low, high;

		/* rdpru, register 1: actual cycles */
		__asm__ volatile(".byte 0x0f, 0x01, 0xfd" : "=a"(low), "=d"(high) : "c"(1));
		now.core = (uint64_t)high << 32 | low;
	}
	_mm_lfence();
	return now;
}

#endif
