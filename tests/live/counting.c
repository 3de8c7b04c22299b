/* SPDX-License-Identifier: MIT */
/* References are counted like the kernel's, and no call wraps, goes below zero or half changes. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include <dormant/static_key.h>

#include "tap.h"

DEFINE_STATIC_KEY_FALSE(counted);
DEFINE_STATIC_KEY_TRUE(counted_true);
static struct static_key unused = STATIC_KEY_INIT_FALSE; /* no site, no table knows it */

static bool site(void)
{
	return static_branch_unlikely(&counted);
}

static bool is(int count)
{
	const bool on = count > 0;

	return static_key_count(&counted.key) == count && static_key_enabled(&counted) == on &&
	       site() == on;
}

static void test_references(void)
{
	ok(is(0), "a key starts without references");
	ok(static_branch_inc(&counted) == 0 && is(1), "the first reference switches it on");
	ok(static_branch_inc(&counted) == 0 && is(2), "the second keeps it on");
	ok(static_branch_dec(&counted) == 0 && is(1), "giving one back keeps it on");
	ok(static_branch_dec(&counted) == 0 && is(0), "giving the last back switches it off");
}

static void test_zero(void)
{
	struct dormant_error error;

	ok(static_branch_dec(&counted) == -ERANGE && is(0), "a dec at zero is -ERANGE");
	memset(&error, 0xff, sizeof(error));
	ok(dormant_static_key_dec(&counted.key, NULL, &error) == -ERANGE && error.code == -ERANGE &&
		   error.phase == DORMANT_PHASE_ARGUMENT && error.key == &counted.key &&
		   strcmp(error.key_name, "counted") == 0 &&
		   strstr(error.message, "counted") != NULL,
	   "its error names the key: %s", error.message);
	ok(static_branch_inc(&counted) == 0 && is(1) && static_branch_dec(&counted) == 0 && is(0),
	   "and the key works afterwards");
}

static void test_enable_disable(void)
{
	struct dormant_error error;

	ok(static_branch_enable(&counted) == 0 && is(1), "enable counts 1");
	ok(static_branch_enable(&counted) == 0 && is(1), "a second enable counts nothing");
	ok(static_branch_inc(&counted) == 0 && is(2), "inc after enable counts 2");
	ok(static_branch_enable(&counted) == 0 && is(2), "enable at 2 leaves 2");
	ok(dormant_static_key_disable(&counted.key, &error) == -EBUSY && is(2) &&
		   strcmp(error.key_name, "counted") == 0,
	   "disable at 2 is -EBUSY: %s", error.message);
	ok(static_branch_dec(&counted) == 0 && static_branch_disable(&counted) == 0 && is(0),
	   "disable at 1 switches off");
	ok(static_branch_disable(&counted) == 0 && is(0), "a second disable changes nothing");
}

/* What is there after 2^31 references, without taking them one by one. */
static void test_limit(void)
{
	struct dormant_error error;

	ok(static_branch_inc(&counted) == 0, "on");
	__atomic_store_n(&counted.key.enabled, INT_MAX - 1, __ATOMIC_SEQ_CST);
	ok(static_branch_inc(&counted) == 0 && is(INT_MAX), "INT_MAX references can be held");
	ok(dormant_static_key_inc(&counted.key, NULL, &error) == -EOVERFLOW && is(INT_MAX) &&
		   strcmp(error.key_name, "counted") == 0,
	   "one more is -EOVERFLOW: %s", error.message);
	ok(static_branch_enable(&counted) == 0 && is(INT_MAX), "enable at INT_MAX changes nothing");
	ok(static_branch_disable(&counted) == -EBUSY && is(INT_MAX), "disable there is -EBUSY");
	ok(static_branch_dec(&counted) == 0 && is(INT_MAX - 1), "and one can be given back");
	__atomic_store_n(&counted.key.enabled, 1, __ATOMIC_SEQ_CST);
	ok(static_branch_dec(&counted) == 0 && is(0), "down to off");
}

static void test_true(void)
{
	ok(static_key_count(&counted_true.key) == 1, "a key that is on by default holds one");
	ok(static_branch_dec(&counted_true) == 0 && !static_branch_likely(&counted_true),
	   "which can be given back");
	ok(static_branch_dec(&counted_true) == -ERANGE, "once");
	ok(static_branch_inc(&counted_true) == 0 && static_branch_likely(&counted_true),
	   "and taken again");
}

static void test_arguments(void)
{
	struct dormant_error error;

	ok(dormant_static_key_enable(NULL, &error) == -EINVAL && error.code == -EINVAL,
	   "enable of NULL is -EINVAL: %s", error.message);
	ok(static_key_disable(NULL) == -EINVAL && static_key_slow_inc(NULL) == -EINVAL &&
		   static_key_slow_dec(NULL) == -EINVAL,
	   "so are the others");
	memset(&error, 0x77, sizeof(error));
	ok(dormant_static_key_inc(&counted.key, NULL, &error) == 0 && error.code == 0x77777777 &&
		   dormant_static_key_dec(&counted.key, NULL, &error) == 0 &&
		   error.code == 0x77777777,
	   "a success leaves the error alone");
	ok(static_key_slow_inc(&unused) == 0 && static_key_count(&unused) == 1 &&
		   static_key_slow_dec(&unused) == 0 && static_key_slow_dec(&unused) == -ERANGE,
	   "a key without sites is counted all the same");
}

int main(void)
{
	plan(5 + 3 + 7 + 7 + 4 + 4);
	test_references();
	test_zero();
	test_enable_disable();
	test_limit();
	test_true();
	test_arguments();
	return done();
}
