/* SPDX-License-Identifier: MIT */
/*
 * Promise 1: what starts after a toggle has returned takes the new path, on any thread. The
 * executing threads block every signal, as a worker of a server does.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <dormant/static_key.h>

#include "deadline.h"
#include "tap.h"

#define EXECUTORS 3
#define TOGGLES   20000

/* Executions that began and ended between two toggles: only these are checked. */
#define CHECKED_MIN 1000

DEFINE_STATIC_KEY_FALSE(go);
DEFINE_STATIC_KEY_TRUE(stay);
DEFINE_STATIC_KEY_FALSE(turn);

static void block_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static int spinning;

/* Nothing in the loops but the site: no call, no load that a compiler or a core could wait for. */
static void *spin_until_on(void *data)
{
	block_signals();
	__atomic_store_n(&spinning, 1, __ATOMIC_RELEASE);
	while (!static_branch_unlikely(&go))
		;
	return data;
}

static void *spin_until_off(void *data)
{
	block_signals();
	__atomic_store_n(&spinning, 1, __ATOMIC_RELEASE);
	while (static_branch_likely(&stay))
		;
	return data;
}

static void test_spin(void *(*spin)(void *), int (*toggle)(struct static_key *),
		      struct static_key *key, const char *name)
{
	pthread_t thread;
	int result;

	spinning = 0;
	pthread_create(&thread, NULL, spin, NULL);
	while (!__atomic_load_n(&spinning, __ATOMIC_ACQUIRE))
		sched_yield();
	result = toggle(key);
	pthread_join(thread, NULL); /* else the deadline ends the program */
	ok(result == 0, "%s", name);
}

/* Odd while a toggle is under way; else half of it is the number of toggles so far. */
static unsigned long generation;
static int finished;

struct executor {
	pthread_t thread;
	unsigned long checked, stale; /* read by the toggling thread as they grow */
};

static struct executor executors[EXECUTORS];

static void *execute(void *data)
{
	struct executor *self = data;

	block_signals();
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		unsigned long before = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
		bool on = static_branch_unlikely(&turn);
		unsigned long after = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);

		if (before != after || (before & 1) != 0)
			continue;
		__atomic_add_fetch(&self->checked, 1, __ATOMIC_RELAXED);
		self->stale += on != ((before / 2 & 1) != 0);
	}
	return NULL;
}

static unsigned long count_checked(void)
{
	unsigned long checked = 0;

	for (int i = 0; i < EXECUTORS; i++)
		checked += __atomic_load_n(&executors[i].checked, __ATOMIC_RELAXED);
	return checked;
}

/* On a loaded machine the executors may not run at all for a while: until they have. */
static void toggle_many(void)
{
	for (int i = 0; i < TOGGLES || count_checked() < CHECKED_MIN; i++) {
		__atomic_add_fetch(&generation, 1, __ATOMIC_ACQ_REL);
		(void)(i % 2 == 0 ? static_branch_enable(&turn) : static_branch_disable(&turn));
		__atomic_add_fetch(&generation, 1, __ATOMIC_ACQ_REL);
		if (i % 16 == 0)
			sched_yield();
	}
}

static void test_stale(void)
{
	unsigned long stale = 0;

	for (int i = 0; i < EXECUTORS; i++)
		pthread_create(&executors[i].thread, NULL, execute, &executors[i]);
	toggle_many();
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < EXECUTORS; i++) {
		pthread_join(executors[i].thread, NULL);
		stale += executors[i].stale;
	}
	ok(count_checked() >= CHECKED_MIN, "executions fell between toggles: %lu", count_checked());
	ok(stale == 0, "none of them took the path of before the toggle (%lu did)", stale);
}

int main(void)
{
	deadline_set(60);
	plan(4);
	test_spin(spin_until_on, static_key_enable, &go.key,
		  "a thread that spins on a site for ever sees it switched on");
	test_spin(spin_until_off, static_key_disable, &stay.key,
		  "a thread that spins on a site for ever sees it switched off");
	test_stale();
	return done();
}
