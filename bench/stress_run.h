/* SPDX-License-Identifier: MIT */
/* One run of the stress test, from the first thread to the last; see stress_run.c. */
#ifndef BENCH_STRESS_RUN_H
#define BENCH_STRESS_RUN_H

#include <stdbool.h>

#include "process_text.h"

#define STRESS_EXECUTORS_MAX 256

struct stress_outcome {
	unsigned long long executions, checked, illegal, stale, toggles, shared_calls, failures;
	unsigned long long looks, writable_executable;
	struct mapping_counts before, after;
	unsigned executable_at_start;
	long changed_bytes;
	double seconds;
	const char *writer, *sync;
};

/* 0, or 1 and a line on stderr when it could not be run. */
int stress_run(unsigned seconds, unsigned count, struct stress_outcome *outcome);

#endif
