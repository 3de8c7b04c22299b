/* SPDX-License-Identifier: MIT */
/* Threads that are cancelled around a toggle: none is ended inside, where it would keep the lock.
 */
#include <pthread.h>
#include <sched.h>

#include "deadline.h"
#include "many_sites.h"
#include "tap.h"

#define ROUNDS 300

DEFINE_STATIC_KEY_FALSE(key);

DEFINE_10_SITES(sites, &key)

static int result = -1, seen = -1, went_on;

/* A toggle with a cancellation pending, which open() and pwrite() would act upon. */
static void *toggle_when_cancelled(void *data)
{
	pthread_cancel(pthread_self());
	result = static_branch_enable(&key);
	seen = sites();
	went_on = 1;
	pthread_testcancel();
	went_on = 2;
	return data;
}

static void test_pending(void)
{
	pthread_t thread;
	void *ended;

	pthread_create(&thread, NULL, toggle_when_cancelled, NULL);
	pthread_join(thread, &ended);
	ok(result == 0 && seen == 10, "a toggle with a cancellation pending is done");
	ok(went_on == 1 && ended == PTHREAD_CANCELED, "and the thread ends afterwards");
	ok(static_branch_disable(&key) == 0 && sites() == 0, "nothing is left locked");
}

static int started;

static void *toggle_for_ever(void *data)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&started, 1, __ATOMIC_RELEASE);
	for (;;) {
		(void)static_branch_enable(&key);
		(void)static_branch_disable(&key);
	}
	return data;
}

static void test_anywhere(void)
{
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_t thread;

		started = 0;
		pthread_create(&thread, NULL, toggle_for_ever, NULL);
		while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE) ||
		       (i % 2 == 0 && static_key_count(&key.key) == 0))
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		wrong += sites() != static_key_count(&key.key) * 10;
		wrong += static_branch_disable(&key) != 0 || sites() != 0;
	}
	ok(wrong == 0, "%d threads cancelled anywhere leave keys and branches right (%d not)",
	   ROUNDS, wrong);
	ok(dormant_status(NULL) == 0, "keys and branches agree");
}

int main(void)
{
	deadline_set(60);
	plan(5);
	test_pending();
	test_anywhere();
	return done();
}
