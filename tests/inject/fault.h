/* SPDX-License-Identifier: MIT */
/* What the tests of this folder share: a fault to be set, and what has to hold after each. */
#ifndef FAULT_H
#define FAULT_H

#include <limits.h>
#include <pthread.h>
#include <signal.h>

#include <dormant/static_key.h>

#include "inject.h"

/* One fault: the calls of @point from number @first on (0 is the next one) return @result, until
 * @calls of them did, or until bytes are being put back. */
struct fault {
	enum inject_point point;
	int result;
	int first, calls;
	bool also_rollback; /* putting back fails as well */
};

static struct fault fault;
static int fault_seen[INJECT_POINTS]; /* how often each point was reached since fault_set() */
static bool fault_over;

static inline int fault_inject(enum inject_point point)
{
	int number = fault_seen[point]++;

	if (point == INJECT_ROLLBACK) {
		fault_over = !fault.also_rollback;
		return fault.also_rollback ? fault.result : 0;
	}
	if (fault_over || point != fault.point || number < fault.first ||
	    number - fault.first >= fault.calls)
		return 0;
	return fault.result;
}

static inline void fault_set(struct fault next)
{
	fault = next;
	fault_over = false;
	for (int i = 0; i < INJECT_POINTS; i++)
		fault_seen[i] = 0;
	dormant_inject = fault_inject;
}

static inline void fault_clear(void)
{
	dormant_inject = NULL;
}

static inline void *fault_toggle_twice(void *key)
{
	return static_key_enable(key) == 0 && static_key_disable(key) == 0 ? key : NULL;
}

/* Signals are as they were, and another thread can toggle @key, which is off. */
static inline bool fault_left_nothing_locked(struct static_key *key)
{
	void *result = NULL;
	pthread_t thread;
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < SIGRTMAX; number++) {
		if (sigismember(&mask, number) == 1)
			return false;
	}
	pthread_create(&thread, NULL, fault_toggle_twice, key);
	pthread_join(thread, &result);
	return result != NULL;
}

#endif
