/* SPDX-License-Identifier: MIT */
/* See busy.h. */
#include <pthread.h>

#include "busy.h"

static pthread_t thread;
static bool runs, stop;
static unsigned long all_turns;

static unsigned long count_turns(void)
{
	return __atomic_load_n(&all_turns, __ATOMIC_RELAXED);
}

static void *keep_busy(void *argument)
{
	void (*visit)(void) = *(void (**)(void))argument;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		visit();
		__atomic_store_n(&all_turns, count_turns() + 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

bool busy_start(void (*visit)(void))
{
	static void (*visited)(void);

	visited = visit;
	stop = false;
	runs = pthread_create(&thread, NULL, keep_busy, (void *)&visited) == 0;
	return runs;
}

void busy_stop(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	if (runs)
		(void)pthread_join(thread, NULL);
	runs = false;
}

unsigned long busy_await(void)
{
	unsigned long turns = count_turns();

	while (runs && count_turns() == turns)
		__asm__ volatile("");
	return count_turns();
}

bool busy_ran_since(unsigned long turns)
{
	return !runs || count_turns() != turns;
}
