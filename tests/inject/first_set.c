/* SPDX-License-Identifier: MIT */
/*
 * The first change of several bytes beside another thread looks for a writer that makes it whole:
 * with its trial it needs two core syncs, and one from then on.
 */
#include <dormant/batch.h>

#include "bystander.h"
#include "deadline.h"
#include "fault.h"
#include "tap.h"

DEFINE_STATIC_IMV(uint64_t, value) = 1;

static uint64_t one(void)
{
	return 1;
}

static uint64_t two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(call, one);

static __attribute__((noinline)) uint64_t read_both(void)
{
	return imv_read(value) + static_call(call)();
}

static int change_both(uint64_t to, uint64_t (*function)(void))
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(value, to),
		DORMANT_CHANGE_CALL(call, function),
	};

	return dormant_batch(changes, 2, NULL, NULL);
}

static void test_change(uint64_t to, uint64_t (*function)(void), int syncs, const char *which)
{
	int result;

	fault_set((struct fault){INJECT_POINTS, 0, 0, 0, false});
	result = change_both(to, function);
	ok(result == 0 && read_both() == to + function(), "%s batch changes both", which);
	ok(fault_seen[INJECT_SYNC] == syncs, "%s batch: %d core syncs (%d)", which, syncs,
	   fault_seen[INJECT_SYNC]);
}

int main(void)
{
	deadline_set(60);
	plan(6);
	ok(read_both() == 2, "at first both are as in the source");
	bystander_start();
	ok(imv_set(value, 3) == 0 && read_both() == 4, "a change of one byte needs no such writer");
	test_change(0x123456789abcdef, two, 2, "the first");
	test_change(0xfedcba987654321, one, 1, "the second");
	bystander_end();
	return done();
}
