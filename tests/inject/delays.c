/* SPDX-License-Identifier: MIT */
/*
 * A patch that takes long at each of its steps, while another thread runs the sites, toggles the
 * same key, toggles another key, or counts.
 */
#include <sched.h>

#include "deadline.h"
#include "fault.h"
#include "many_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(slow);
DEFINE_STATIC_KEY_FALSE(other);
DEFINE_STATIC_KEY_TRUE(counted);

DEFINE_1000_SITES(slow_sites, &slow)
DEFINE_10_SITES(other_sites, &other)
DEFINE_10_SITES(counted_sites, &counted)

static enum inject_point where;
static int waiting, let_go;

/* Holds the patch until the other thread has done what it can do meanwhile. */
static int wait_here(enum inject_point point)
{
	if (point == where) {
		where = INJECT_POINTS;
		__atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
		while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
			sched_yield();
	}
	return 0;
}

static int result;

static void *toggle_slow(void *data)
{
	result = static_branch_inc(&slow);
	return data;
}

static void *toggle_slow_too(void *data)
{
	return static_branch_inc(&slow) == 0 && slow_sites() == 1000 ? data : NULL;
}

static void *toggle_other(void *data)
{
	return static_branch_enable(&other) == 0 && other_sites() == 10 ? data : NULL;
}

/* What needs no patch goes on, and the key is what it was until the patch is complete. */
static bool works_meanwhile(void)
{
	int on = slow_sites();

	return on >= 0 && on <= 1000 && static_key_count(&slow.key) == 0 &&
	       static_branch_inc(&counted) == 0 && static_branch_dec(&counted) == 0 &&
	       counted_sites() == 10;
}

static void test_point(enum inject_point point, const char *name)
{
	pthread_t holder, same, another;
	void *same_right, *another_right;
	bool meanwhile;

	waiting = let_go = 0;
	where = point;
	dormant_inject = wait_here;
	pthread_create(&holder, NULL, toggle_slow, NULL);
	while (!__atomic_load_n(&waiting, __ATOMIC_ACQUIRE))
		sched_yield();
	meanwhile = works_meanwhile();
	pthread_create(&same, NULL, toggle_slow_too, &slow);
	pthread_create(&another, NULL, toggle_other, &other);
	sched_yield();
	__atomic_store_n(&let_go, 1, __ATOMIC_RELEASE);
	pthread_join(holder, NULL);
	pthread_join(same, &same_right);
	pthread_join(another, &another_right);
	dormant_inject = NULL;
	ok(meanwhile, "%s: sites run, counting works, the key is as before", name);
	ok(result == 0 && same_right != NULL && static_key_count(&slow.key) == 2,
	   "%s: a second toggle of the same key waits its turn", name);
	ok(another_right != NULL, "%s: one of another key as well", name);
	ok(static_branch_dec(&slow) == 0 && static_branch_dec(&slow) == 0 &&
		   static_branch_disable(&other) == 0 && slow_sites() == 0 &&
		   dormant_status(NULL) == 0,
	   "%s: afterwards keys and branches agree", name);
}

int main(void)
{
	deadline_set(60);
	plan(4 * 4);
	test_point(INJECT_VERIFIED, "before the first write");
	test_point(INJECT_WRITE, "at the first write");
	test_point(INJECT_WRITTEN, "before the core sync");
	test_point(INJECT_SYNC, "at the core sync");
	return done();
}
