/* SPDX-License-Identifier: MIT */
/* Promise 3: many threads, the same key and different keys, by every call that toggles. */
#include <pthread.h>
#include <sched.h>

#include "deadline.h"
#include "many_sites.h"
#include "tap.h"

#define THREADS 8
#define ROUNDS  2000

DEFINE_STATIC_KEY_FALSE(shared);
DEFINE_STATIC_KEY_FALSE(batched);
DEFINE_STATIC_KEY_ARRAY_FALSE(own, THREADS);

DEFINE_10_SITES(shared_sites, &shared)
DEFINE_10_SITES(batched_sites, &batched)

static int failures;

static void expect(bool right)
{
	if (!right)
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

/* Whoever holds a reference sees the key on, whatever the others do. */
static void *hold(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		expect(static_branch_inc(&shared) == 0);
		expect(shared_sites() == 10);
		if (i % 64 == 0)
			sched_yield();
		expect(static_branch_dec(&shared) == 0);
	}
	return data;
}

static void *hold_both(void *data)
{
	static const struct static_key_change take[] = {{&shared.key, STATIC_KEY_INC},
							{&batched.key, STATIC_KEY_INC}};
	static const struct static_key_change give[] = {{&batched.key, STATIC_KEY_DEC},
							{&shared.key, STATIC_KEY_DEC}};

	for (int i = 0; i < ROUNDS; i++) {
		expect(static_key_batch(take, 2) == 0);
		expect(shared_sites() == 10 && batched_sites() == 10);
		expect(static_key_batch(give, 2) == 0);
	}
	return data;
}

/* A key that no other thread touches is what this thread made it. */
static void *switch_own(void *data)
{
	struct static_key *key = data;

	for (int i = 0; i < ROUNDS; i++) {
		expect(static_key_enable(key) == 0 && static_key_count(key) == 1);
		expect(static_key_disable(key) == 0 && static_key_count(key) == 0);
	}
	return NULL;
}

static void run(void *(*const body)(void *))
{
	pthread_t threads[THREADS];

	failures = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, body, &own[i].key);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void run_mixed(void)
{
	void *(*const bodies[])(void *) = {hold, hold_both, switch_own};
	pthread_t threads[THREADS];

	failures = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, bodies[i % 3], &own[i].key);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_after(const char *what)
{
	ok(failures == 0, "%s: every call is right (%d not)", what, failures);
	ok(static_key_count(&shared.key) == 0 && shared_sites() == 0 &&
		   static_key_count(&batched.key) == 0 && batched_sites() == 0,
	   "%s: afterwards the counts are zero and the sites off", what);
}

int main(void)
{
	deadline_set(100);
	plan(9);
	run(hold);
	test_after("one key by reference");
	run(hold_both);
	test_after("two keys by batches");
	run(switch_own);
	test_after("a key each");
	run_mixed();
	test_after("all of these together");
	ok(dormant_status(NULL) == 0, "keys and branches agree");
	return done();
}
