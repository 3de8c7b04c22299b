/* SPDX-License-Identifier: MIT */
/*
 * What a batch of 100 values and 100 call targets costs: two core syncs where values of 8 bytes
 * come into their instruction, else one; and nothing where nothing changes.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <dormant/batch.h>

#include "bystander.h"
#include "deadline.h"
#include "fault.h"
#include "from_home.h"
#include "own_operands.h"
#include "tap.h"

#define COUNT 100

#ifdef DORMANT_SANITIZED /* its code stands before calls, which then go by their trampoline */
#define DIRECT_MIN 0
#else
#define DIRECT_MIN 90
#endif

static uint64_t one(uint64_t x)
{
	return x + 1;
}

static uint64_t two(uint64_t x)
{
	return x + 2;
}

#define DEFINE_VALUE(n)                                                   \
	DEFINE_IMV(uint64_t, value_##n) = 5;                              \
	__attribute__((noinline)) static uint64_t read_##n(void)          \
	{                                                                 \
		return imv_read(value_##n);                               \
	}                                                                 \
	DEFINE_STATIC_CALL(call_##n, one);                                \
	__attribute__((noinline)) static uint64_t do_call_##n(uint64_t x) \
	{                                                                 \
		return static_call(call_##n)(x);                          \
	}
FOR_EACH_OF_100(DEFINE_VALUE)
DEFINE_IMV(uint32_t, first) = 1;
DEFINE_STATIC_KEY_FALSE(first_key);

/* A change of a byte and a change of several each find their writer. */
__attribute__((noinline)) static bool find_writers(void)
{
	(void)imv_set(first, 2);
	(void)static_branch_enable(&first_key);
	return imv_read(first) == 2 && static_branch_unlikely(&first_key);
}

static const struct item {
	uint64_t (*read)(void);
	uint64_t (*call)(uint64_t x);
	const void *value, *target;
} items[COUNT] = {
#define ITEM(n) {read_##n, do_call_##n, OWN_VALUE(value_##n), OWN_CALL(call_##n)},
	FOR_EACH_OF_100(ITEM)
#undef ITEM
};

static int change_all(uint64_t value, uint64_t (*function)(uint64_t))
{
	const struct dormant_change changes[] = {
#define CHANGE(n) DORMANT_CHANGE_IMV(value_##n, value), DORMANT_CHANGE_CALL(call_##n, function),
		FOR_EACH_OF_100(CHANGE)
#undef CHANGE
	};

	return dormant_batch(changes, 2 * COUNT, NULL, NULL);
}

/* Through the items, whose functions no compiler can look into. */
static bool all_are(uint64_t value, uint64_t called)
{
	int wrong = 0;

	for (int i = 0; i < COUNT; i++)
		wrong += items[i].read() != value || items[i].call(0) != called;
	return wrong == 0;
}

static int count_live(void)
{
	int live = 0, all;

	for (int i = 0; i < COUNT; i++)
		live += own_operand_count_live(items[i].value, &all);
	return live;
}

static int count_direct(const void *function)
{
	int direct = 0;

	for (int i = 0; i < COUNT; i++)
		direct += own_operand_count_direct(items[i].target, function) == 1;
	return direct;
}

static void count(void)
{
	fault_set((struct fault){INJECT_POINTS, 0, 0, 0, false});
}

static void test_batches(void)
{
	int result;

	ok(all_are(5, 1) && count_live() == 0 && count_direct((void *)one) == 0,
	   "at first all go by memory");
	ok(find_writers(), "the writers are found");
	count();
	result = change_all(0x0123456789abcdef, two);
	diag("%d writes, %d core syncs", fault_seen[INJECT_WRITE], fault_seen[INJECT_SYNC]);
	ok(result == 0 && fault_seen[INJECT_SYNC] == 2,
	   "out of memory into the instructions: two core syncs (%d)", fault_seen[INJECT_SYNC]);
	ok(all_are(0x0123456789abcdef, 2) && count_live() == COUNT &&
		   count_direct((void *)two) >= DIRECT_MIN,
	   "now they are there: %d of 100, %d of 100", count_live(), count_direct((void *)two));
	count();
	result = change_all(0x1111222233334444, one);
	ok(result == 0 && fault_seen[INJECT_SYNC] == 1 && all_are(0x1111222233334444, 1),
	   "changed there: one core sync (%d)", fault_seen[INJECT_SYNC]);
	count();
	result = change_all(0x1111222233334444, one);
	ok(result == 0 && fault_seen[INJECT_SYNC] == 0 && fault_seen[INJECT_WRITE] == 0 &&
		   all_are(0x1111222233334444, 1),
	   "set to what they are: none, and nothing is written");
	count();
	result = change_all(0x1111222233334444, NULL);
	ok(result == 0 && fault_seen[INJECT_SYNC] == 1, "calls of nothing: one core sync (%d)",
	   fault_seen[INJECT_SYNC]);
	fault_clear();
	(void)change_all(0, two);
	ok(all_are(0, 2) && dormant_status(NULL) == 0, "all agree");
}

int main(void)
{
	from_home_end();
	deadline_set(60);
	plan(8);
	bystander_start();
	test_batches();
	bystander_end();
	return done();
}
