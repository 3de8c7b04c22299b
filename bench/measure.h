/* SPDX-License-Identifier: MIT */
/*
 * What the benchmarks share: the clock, and the summary of repeated measurements. A figure is a
 * median with the quartiles beside it; what is compared is measured in turns, in one run.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t measure_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct measure_summary {
	double median, quartile_low, quartile_high;
};

static inline int measure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts @values, of which there is at least one. */
static inline struct measure_summary measure_summarize(double *values, size_t count)
{
	struct measure_summary summary;

	qsort(values, count, sizeof(*values), measure_compare);
	summary.median = (values[(count - 1) / 2] + values[count / 2]) / 2;
	summary.quartile_low = values[(count - 1) / 4];
	summary.quartile_high = values[count - 1 - (count - 1) / 4];
	return summary;
}

#endif
