/* SPDX-License-Identifier: MIT */
/*
 * The last reference is given back after an interval: at once by a flush, when due by the next
 * toggle or by dormant_deferred_run(). A test never waits for time to pass: what is to wait has an
 * hour, what is to be due a nanosecond.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <dormant/static_key_deferred.h>

#include "tap.h"

#define HOUR_NS 3600000000000

DEFINE_STATIC_KEY_DEFERRED_FALSE(slow, HOUR_NS);
DEFINE_STATIC_KEY_DEFERRED_FALSE(quick, 1);
DEFINE_STATIC_KEY_DEFERRED_TRUE(slow_true, HOUR_NS);
DEFINE_STATIC_KEY_FALSE(other);
static struct static_key_deferred plain; /* the kernel's form: no interval until one is set */

static bool is(int count)
{
	return static_key_count(&slow.key.key) == count &&
	       static_branch_unlikely(&slow.key) == (count > 0);
}

static bool quick_is(int count)
{
	return static_key_count(&quick.key.key) == count &&
	       static_branch_unlikely(&quick.key) == (count > 0);
}

static void test_wait(void)
{
	int64_t left_ns;

	ok(dormant_deferred_run() == -1, "nothing waits at first");
	ok(static_branch_deferred_inc(&slow) == 0 && is(1), "a reference is taken");
	ok(static_branch_slow_dec_deferred(&slow) == 0 && is(1), "given back, it waits, key on");
	left_ns = dormant_deferred_run();
	ok(left_ns > 0 && left_ns <= HOUR_NS, "how long is told");
	ok(static_branch_slow_dec_deferred(&slow) == -ERANGE && is(1),
	   "a reference that waits can not be given back again");
	ok(static_branch_enable(&other) == 0 && static_branch_disable(&other) == 0 && is(1),
	   "a toggle of another key leaves it waiting");
	ok(static_branch_deferred_inc(&slow) == 0 && is(2), "a new reference joins it");
	ok(static_branch_slow_dec_deferred(&slow) == 0 && is(1), "and goes at once");
	ok(static_key_deferred_flush(&slow) == 0 && is(0), "a flush gives it back now");
	ok(static_key_deferred_flush(&slow) == 0 && is(0), "a second flush finds nothing");
	ok(dormant_deferred_run() == -1, "and nothing waits any more");
	ok(static_branch_slow_dec_deferred(&slow) == -ERANGE && is(0), "at zero it is -ERANGE");
}

static void test_due(void)
{
	ok(static_branch_deferred_inc(&quick) == 0 &&
		   static_branch_slow_dec_deferred(&quick) == 0 && quick_is(1),
	   "with 1 ns it waits as well");
	ok(dormant_deferred_run() == -1 && quick_is(0), "a run gives back what is due");
	(void)static_branch_deferred_inc(&quick);
	(void)static_branch_slow_dec_deferred(&quick);
	ok(static_branch_enable(&other) == 0 && quick_is(0), "so does a toggle of another key");
	(void)static_branch_disable(&other);
	(void)static_branch_deferred_inc(&slow);
	(void)static_branch_slow_dec_deferred(&slow);
	(void)static_branch_deferred_inc(&quick);
	(void)static_branch_slow_dec_deferred(&quick);
	ok(dormant_deferred_run() > 0 && quick_is(0) && is(1), "but only what is due");
	ok(static_key_deferred_flush(&slow) == 0 && is(0), "the other can be flushed");
}

static void test_spoiled(void)
{
	(void)static_branch_deferred_inc(&quick);
	(void)static_branch_slow_dec_deferred(&quick);
	ok(static_branch_disable(&quick.key) == 0 && quick_is(0),
	   "a reference that waits does not keep the key from being disabled");
	ok(dormant_deferred_run() == -1 && quick_is(0), "and is gone then");
}

static void test_kinds(void)
{
	ok(static_branch_slow_dec_deferred(&slow_true) == 0 && static_branch_likely(&slow_true.key),
	   "a key that is on by default waits");
	ok(static_key_deferred_flush(&slow_true) == 0 && !static_branch_likely(&slow_true.key),
	   "and is flushed");
	ok(static_branch_deferred_inc(&plain) == 0 && static_key_slow_dec_deferred(&plain) == 0 &&
		   static_key_count(&plain.key) == 0,
	   "without an interval nothing waits");
	jump_label_rate_limit(&plain, HOUR_NS);
	ok(static_branch_deferred_inc(&plain) == 0 && static_key_slow_dec_deferred(&plain) == 0 &&
		   static_key_count(&plain.key) == 1,
	   "with one set it does");
	ok(static_key_deferred_flush(&plain) == 0 && static_key_count(&plain.key) == 0,
	   "until the flush");
	jump_label_rate_limit(&plain, UINT64_MAX);
	ok(static_branch_deferred_inc(&plain) == 0 && static_key_slow_dec_deferred(&plain) == 0 &&
		   dormant_deferred_run() > HOUR_NS && static_key_count(&plain.key) == 1,
	   "the longest interval is no short one");
	ok(static_key_deferred_flush(&plain) == 0, "and ends with the flush");
}

static void test_arguments(void)
{
	struct dormant_error error;

	ok(dormant_static_key_deferred_dec(NULL, &slow.work, NULL, &error) == -EINVAL &&
		   error.code == -EINVAL,
	   "no key: %s", error.message);
	ok(dormant_static_key_deferred_dec(&slow.key.key, NULL, NULL, &error) == -EINVAL,
	   "no work: %s", error.message);
	ok(dormant_static_key_deferred_flush(NULL, &error) == -EINVAL, "a flush of NULL: %s",
	   error.message);
	(void)static_branch_deferred_inc(&slow);
	(void)static_branch_slow_dec_deferred(&slow);
	memset(&error, 0, sizeof(error));
	ok(dormant_static_key_deferred_dec(&slow.key.key, &slow.work, NULL, &error) == -ERANGE &&
		   error.key == &slow.key.key && strcmp(error.key_name, "slow") == 0,
	   "the error of a second dec names the key: %s", error.message);
	(void)static_key_deferred_flush(&slow);
}

int main(void)
{
	plan(12 + 5 + 2 + 7 + 4);
	test_wait();
	test_due();
	test_spoiled();
	test_kinds();
	test_arguments();
	return done();
}
