/* SPDX-License-Identifier: MIT */
/*
 * Core sync: after it, no thread of the process executes instructions it fetched before it.
 *
 *   membarrier   membarrier(PRIVATE_EXPEDITED_SYNC_CORE): every CPU that runs a thread of the
 *                process executes a serialising instruction. About 1 us alone, 48 us beside a
 *                running thread.
 *   walk         for kernels and filters that refuse it: the calling thread moves itself to each
 *                CPU that a thread of the process may run on. Where it runs, the thread that ran
 *                there has been switched out, and comes back through an interrupt return or a
 *                system-call return after a context switch; since the bytes were stored before, it
 *                fetches the new ones. Needs no privilege and no signal; costs a scheduling
 *                round trip for each CPU and restores the caller's affinity.
 *   none         the machine runs one thread at a time from translations that were dropped
 *                (valgrind).
 *
 * Guarded by the lock.
 */
#ifndef DORMANT_SRC_SYNC_H
#define DORMANT_SRC_SYNC_H

#include <stdbool.h>
#include <stddef.h>

#include <dormant/error.h>

struct sync_way {
	const char *name;
	const char *leaves; /* how it works and what it leaves behind */
	int (*run)(void);   /* 0 or a negative errno */
};

extern const struct sync_way *const sync_ways[];
extern const size_t sync_ways_count;

/* Chooses the first way that works, by running it once. 0, or the last one's errno. */
int sync_start(void);

/* 0 where a way is chosen; else tries again, because what was refused may be allowed by now. */
int sync_ready(void);

/* One core sync. Falls back to the next way when the chosen one has come to be refused. */
int sync_cores(void);

/* Whether the caller is the only thread of the process, so that nobody runs what is being changed,
 * whatever its writer does meanwhile. False also where that is not known. */
bool sync_is_alone(void);

/* Fills @error with a failure of the above, whose @outcome the caller knows; returns @code. */
int sync_refuse(struct dormant_error *error, int code, const char *outcome);

/* What sync_cores() uses now, or NULL. */
const struct sync_way *sync_chosen(void);

#endif
