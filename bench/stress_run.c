/* SPDX-License-Identifier: MIT */
/*
 * One run of the stress test: togglers switch keys while executors, with all signals blocked, run
 * their sites.
 *
 * Who holds a key on says so in a `phase`, which counts through four states:
 *
 *     0 given back -> 1 taking -> 2 held -> 3 giving back -> 4 given back -> ...
 *
 * The toggler moves to 2 (or 4) after its call returned, and to 3 (or 1) before the next one
 * starts. An executor reads the phases of a key's holders, runs the key's sites, and reads the
 * phases again. A phase that did not change meanwhile was the same throughout, and if it is an even
 * one then no call of that holder was under way: what its last call promised must have been seen.
 * So a key must be on where one holder held it throughout, and off where all had given it back
 * throughout; an execution that disagrees is stale. A site that returns neither of its two values,
 * and any fault, is illegal.
 *
 * Keys 0 and 1 belong to togglers A and B. Key 2 is shared: C takes and gives back references on it
 * all the time, A and B now and then.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dormant/probe.h>

#include "measure.h"
#include "stress_run.h"
#include "stress_sites.h"

/* ---- shared by the threads ---- */

struct holder {
	_Alignas(64) unsigned phase;
};

enum { A_OWN, B_OWN, A_SHARED, B_SHARED, C_SHARED, HOLDERS };

/* The holders of each key stand side by side. */
static const struct {
	unsigned first, count;
} holders_of[STRESS_KEYS] = {{A_OWN, 1}, {B_OWN, 1}, {A_SHARED, 3}};

static struct holder holders[HOLDERS];
static bool stop_togglers, stop_others;
static pthread_barrier_t barrier;

static bool is_set(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELAXED);
}

/* ---- executors ---- */

/* So that on few processors the three togglers get a third of the time, beside 16 executors. */
#define EXECUTOR_NICE 5

struct executor {
	_Alignas(64) pthread_t thread;
	unsigned long long executions, checked, illegal, stale;
};

struct phases {
	unsigned of[3];
};

/* The acquire pairs with the toggler's store after its call: what runs after it must see the call's
 * effect. The second reading comes after the sites in program order, so it can not be older than
 * the instructions that were fetched for them. */
static struct phases read_phases(unsigned key)
{
	struct phases phases = {{0}};

	for (unsigned i = 0; i < holders_of[key].count; i++)
		phases.of[i] = __atomic_load_n(&holders[holders_of[key].first + i].phase,
					       __ATOMIC_SEQ_CST);
	return phases;
}

enum state { OFF, ON, UNKNOWN };

static enum state state_throughout(unsigned key, const struct phases *before,
				   const struct phases *after)
{
	enum state state = OFF;

	for (unsigned i = 0; i < holders_of[key].count; i++) {
		if (before->of[i] != after->of[i] || before->of[i] % 2 != 0)
			state = UNKNOWN;
		else if (before->of[i] % 4 == 2)
			return ON;
	}
	return state;
}

/* Runs all sites of a key once. */
static void run_sites(struct executor *me, unsigned key)
{
	unsigned on = 0, off = 0;
	struct phases before = read_phases(key), after;

	for (unsigned site = 0; site < STRESS_SITES; site++) {
		unsigned value = stress_sites[key][site]();

		on += value == STRESS_VALUE_ON(key, site);
		off += value == STRESS_VALUE_OFF(key, site);
	}
	after = read_phases(key);
	me->executions += STRESS_SITES;
	me->illegal += STRESS_SITES - on - off;
	switch (state_throughout(key, &before, &after)) {
	case ON:
		me->stale += off;
		me->checked += STRESS_SITES;
		break;
	case OFF:
		me->stale += on;
		me->checked += STRESS_SITES;
		break;
	case UNKNOWN:
		break;
	}
}

static void *execute(void *argument)
{
	struct executor *me = argument;

	(void)setpriority(PRIO_PROCESS, 0, EXECUTOR_NICE); /* of this thread */
	(void)pthread_barrier_wait(&barrier);
	while (!is_set(&stop_others)) {
		for (unsigned key = 0; key < STRESS_KEYS; key++)
			run_sites(me, key);
	}
	return NULL;
}

/* ---- togglers ---- */

struct toggler {
	_Alignas(64) pthread_t thread;
	unsigned own_key, own_holder, shared_holder;
	bool has_own;
	unsigned long long toggles, shared_calls, failures;
	uint32_t random;
	struct dormant_error error; /* of the first failure */
};

static void take_or_give(struct toggler *me, unsigned key, unsigned holder, bool take)
{
	unsigned *phase = &holders[holder].phase;
	struct static_key *which = &stress_keys[key].key;
	struct dormant_error error;
	int result;

	__atomic_add_fetch(phase, 1, __ATOMIC_SEQ_CST);
	result = take ? dormant_static_key_inc(which, &dormant_object_self, &error)
		      : dormant_static_key_dec(which, &dormant_object_self, &error);
	__atomic_add_fetch(phase, 1, __ATOMIC_SEQ_CST);
	if (result != 0 && me->failures++ == 0)
		me->error = error;
}

/* Stays in the present state for up to some 10 us, so that executors find it settled. */
static void dwell(struct toggler *me)
{
	me->random ^= me->random << 13;
	me->random ^= me->random >> 17;
	me->random ^= me->random << 5;
	for (uint32_t i = me->random % 16384; i > 0; i--)
		__asm__ volatile("");
}

static void toggle_shared(struct toggler *me, bool take)
{
	take_or_give(me, 2, me->shared_holder, take);
	me->shared_calls++;
	dwell(me);
}

static void toggle_own(struct toggler *me, bool take)
{
	take_or_give(me, me->own_key, me->own_holder, take);
	me->toggles++;
	dwell(me);
}

static void *toggle(void *argument)
{
	struct toggler *me = argument;

	(void)pthread_barrier_wait(&barrier);
	for (unsigned turn = 0; !is_set(&stop_togglers); turn++) {
		bool shares = !me->has_own || turn % 8 == 0;

		if (me->has_own)
			toggle_own(me, true);
		if (shares)
			toggle_shared(me, true);
		if (me->has_own)
			toggle_own(me, false);
		if (shares)
			toggle_shared(me, false);
	}
	return NULL;
}

/* ---- the watcher ---- */

struct watcher {
	pthread_t thread;
	unsigned long long looks, writable_executable;
};

static void *watch(void *argument)
{
	struct watcher *me = argument;
	struct mapping_counts counts;

	(void)pthread_barrier_wait(&barrier);
	while (!is_set(&stop_others)) {
		if (process_count_mappings(&counts) != 0)
			continue;
		me->looks++;
		me->writable_executable += counts.writable_executable;
		(void)usleep(200);
	}
	return NULL;
}

/* ---- one run ---- */

static struct executor executors[STRESS_EXECUTORS_MAX];
static struct toggler togglers[3] = {
	{.own_key = 0, .own_holder = A_OWN, .shared_holder = A_SHARED, .has_own = true},
	{.own_key = 1, .own_holder = B_OWN, .shared_holder = B_SHARED, .has_own = true},
	{.shared_holder = C_SHARED},
};
static struct watcher watcher;

static void start_thread(pthread_t *thread, void *(*function)(void *), void *argument)
{
	int result = pthread_create(thread, NULL, function, argument);

	if (result == 0)
		return;
	fprintf(stderr, "stress: no thread: %s\n", strerror(result));
	exit(2);
}

/* The threads inherit the mask. */
static void start_threads(unsigned count)
{
	sigset_t all, old;

	pthread_barrier_init(&barrier, NULL, count + 3 + 1 + 1);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < count; i++)
		start_thread(&executors[i].thread, execute, &executors[i]);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (unsigned i = 0; i < 3; i++) {
		togglers[i].random = 2463534242u + i;
		start_thread(&togglers[i].thread, toggle, &togglers[i]);
	}
	start_thread(&watcher.thread, watch, &watcher);
}

/* Off and on and off again, so that what the library maps once is mapped before it is counted. */
static int toggle_all_once(void)
{
	for (unsigned key = 0; key < STRESS_KEYS; key++) {
		struct dormant_error error;

		if (dormant_static_key_enable(&stress_keys[key].key, &error) == 0 &&
		    dormant_static_key_disable(&stress_keys[key].key, &error) == 0)
			continue;
		fprintf(stderr, "stress: %s\n", error.message);
		return 1;
	}
	return 0;
}

static void add_up(unsigned count, struct stress_outcome *outcome)
{
	for (unsigned i = 0; i < count; i++) {
		outcome->executions += executors[i].executions;
		outcome->checked += executors[i].checked;
		outcome->illegal += executors[i].illegal;
		outcome->stale += executors[i].stale;
	}
	for (unsigned i = 0; i < 3; i++) {
		outcome->toggles += togglers[i].toggles;
		outcome->shared_calls += togglers[i].shared_calls;
		outcome->failures += togglers[i].failures;
		if (togglers[i].failures != 0)
			fprintf(stderr, "stress: %s\n", togglers[i].error.message);
	}
	outcome->looks = watcher.looks;
	outcome->writable_executable = watcher.writable_executable;
}

/* Asked last, because trying every way changes the text of the library. */
static void find_ways(struct stress_outcome *outcome)
{
	struct dormant_probe probes[16];
	size_t count = dormant_probe_all(probes, 16);

	outcome->writer = outcome->sync = "none";
	for (size_t i = 0; i < count && i < 16; i++) {
		if (probes[i].chosen && probes[i].kind == DORMANT_PROBE_WRITER)
			outcome->writer = probes[i].name;
		else if (probes[i].chosen)
			outcome->sync = probes[i].name;
	}
}

int stress_run(unsigned seconds, unsigned count, struct stress_outcome *outcome)
{
	struct mapping_counts at_start;
	uint64_t begin_ns;

	if (stress_check_addresses() != 0 || process_count_mappings(&at_start) != 0)
		return 1;
	start_threads(count);
	if (toggle_all_once() != 0 || process_count_mappings(&outcome->before) != 0)
		return 1;
	outcome->executable_at_start = at_start.executable;
	(void)pthread_barrier_wait(&barrier);
	begin_ns = measure_now_ns();
	(void)sleep(seconds);
	set(&stop_togglers);
	for (unsigned i = 0; i < 3; i++)
		(void)pthread_join(togglers[i].thread, NULL);
	outcome->seconds = (double)(measure_now_ns() - begin_ns) * 1e-9;
	outcome->changed_bytes = process_count_changed_bytes();
	if (process_count_mappings(&outcome->after) != 0)
		return 1;
	set(&stop_others);
	(void)pthread_join(watcher.thread, NULL);
	for (unsigned i = 0; i < count; i++)
		(void)pthread_join(executors[i].thread, NULL);
	add_up(count, outcome);
	find_ways(outcome);
	return 0;
}
