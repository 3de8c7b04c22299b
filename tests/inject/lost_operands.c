/* SPDX-License-Identifier: MIT */
/*
 * A child is made behind fork()'s back at each step of a change of values and calls, in each of the
 * two rounds that a value of 8 bytes takes out of memory, and so inherits it half done. Its first
 * call puts sites and values in agreement; its changes work. See lost_holder.c for keys.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dormant/batch.h>

#include "bystander.h"
#include "deadline.h"
#include "fault.h"
#include "from_home.h"
#include "own_operands.h"
#include "tap.h"

#define FIRST  UINT64_C(0x0101010101010101)
#define SECOND UINT64_C(0x0202020202020202)

static uint64_t one(uint64_t x)
{
	return x + 1;
}

static uint64_t two(uint64_t x)
{
	return x + 2;
}

DEFINE_IMV(uint8_t, value1) = (uint8_t)FIRST;
DEFINE_IMV(uint32_t, value4) = (uint32_t)FIRST;
DEFINE_IMV(uint64_t, value8) = FIRST;
DEFINE_STATIC_CALL(call, one);
DEFINE_STATIC_KEY_FALSE(other);

/* For what has to begin in memory: one a trial. */
#define DEFINE_FRESH(n)                                          \
	DEFINE_IMV(uint64_t, fresh_##n) = FIRST;                 \
	__attribute__((noinline)) static uint64_t read_##n(void) \
	{                                                        \
		return imv_read(fresh_##n);                      \
	}                                                        \
	static uint64_t get_##n(void)                            \
	{                                                        \
		return imv_get(fresh_##n);                       \
	}
FOR_EACH_OF_20(DEFINE_FRESH)

static const struct fresh {
	void *value;
	uint64_t (*read)(void), (*get)(void);
} fresh[] = {
#define FRESH(n) {OWN_VALUE(fresh_##n), read_##n, get_##n},
	FOR_EACH_OF_20(FRESH)};

static const struct fresh *now = fresh; /* of this trial */

__attribute__((noinline)) static uint64_t tail_call(uint64_t x)
{
	return static_call(call)(x);
}

static bool agree(void)
{
	uint64_t called = static_call(call)(0) + 100;

	return imv_read(value1) == imv_get(value1) && imv_read(value4) == imv_get(value4) &&
	       imv_read(value8) == imv_get(value8) && now->read() == now->get() &&
	       called == 100 + static_call_query(call)(0) && tail_call(0) == called - 100 &&
	       *OWN_CALL(call)->cell == (void *)static_call_query(call) &&
	       dormant_status(NULL) == 0;
}

static int set_all(uint64_t to)
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(value1, (uint8_t)to),
		DORMANT_CHANGE_IMV(value4, (uint32_t)to),
		DORMANT_CHANGE_IMV(value8, to),
		{DORMANT_CHANGES_IMV, {NULL, STATIC_KEY_ENABLE}, {now->value, to, 8}, {NULL, NULL}},
		DORMANT_CHANGE_CALL(call, to == FIRST ? one : two),
	};

	return dormant_batch(changes, 5, NULL, NULL);
}

static bool all_are(uint64_t value)
{
	return agree() && imv_read(value1) == (uint8_t)value &&
	       imv_read(value4) == (uint32_t)value && imv_read(value8) == value &&
	       now->read() == value && tail_call(0) == (value == FIRST ? 1 : 2);
}

/* In the child: 0 when all is right, else which step was not. The parent had not committed. */
static int check_child(uint64_t before)
{
	sigset_t none;

	deadline_set(20);
	dormant_inject = NULL;
	sigemptyset(&none); /* the hook is called with all of them blocked */
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (dormant_status(NULL) != 0 || !agree())
		return 1;
	if (!all_are(before))
		return 2;
	if (set_all(FIRST) != 0 || !all_are(FIRST))
		return 3;
	if (set_all(SECOND) != 0 || !all_are(SECOND))
		return 4;
	if (imv_set(value8, 5) != 0 || imv_read(value8) != 5)
		return 5;
	return fault_left_nothing_locked(&other.key) ? 0 : 6;
}

static struct {
	enum inject_point point;
	int number;      /* the point's calls before it */
	bool fails;      /* the first sync fails, so that bytes are put back */
	uint64_t before; /* what all is set to */
	int status;      /* of the child */
} trial;

static int make_child(enum inject_point point)
{
	pid_t child;

	if (trial.fails && point == INJECT_SYNC) {
		trial.fails = false;
		return -EPERM;
	}
	if (point != trial.point || trial.number-- != 0)
		return 0;
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(check_child(trial.before));
	trial.status = deadline_wait(child);
	return 0;
}

struct place {
	enum inject_point point;
	int number;
	bool fails;
	const char *name;
};

static void test_place(const struct place *place, uint64_t from, const char *how)
{
	const uint64_t to = from == FIRST ? SECOND : FIRST;
	int result;

	trial.point = place->point;
	trial.number = place->number;
	trial.fails = place->fails;
	trial.before = from;
	trial.status = -1;
	dormant_inject = make_child;
	result = set_all(to);
	dormant_inject = NULL;
	if (result != 0)
		result = set_all(to);
	ok(trial.status == 0, "%s, %s: the child is repaired and can change all (status %d)",
	   place->name, how, trial.status);
	ok(result == 0 && all_are(to), "%s, %s: the parent's change is completed", place->name,
	   how);
}

/* Of a value that goes by memory, with two rounds; then again, with one. */
static void test_places(const char *threads)
{
	static const struct place twice[] = {
		{INJECT_VERIFIED, 0, false, "before the first write"},
		{INJECT_WRITE, 0, false, "at the first round's write"},
		{INJECT_WRITTEN, 0, false, "after the first round's writes"},
		{INJECT_SYNC, 0, false, "at the first round's core sync"},
		{INJECT_WRITE, 1, false, "at the second round's write"},
		{INJECT_WRITTEN, 1, false, "after the second round's writes"},
		{INJECT_SYNC, 1, false, "at the second round's core sync"},
		{INJECT_ROLLBACK, 0, true, "before bytes are put back"},
	};
	static const struct place once[] = {
		{INJECT_WRITE, 0, false, "at the write"},
		{INJECT_WRITTEN, 0, false, "after the writes"},
	};

	for (size_t i = 0; i < sizeof(twice) / sizeof(twice[0]); i++) {
		test_place(&twice[i], FIRST, threads);
		(void)set_all(FIRST);
		now++; /* in memory still */
	}
	for (size_t i = 0; i < sizeof(once) / sizeof(once[0]); i++) {
		test_place(&once[i], FIRST, threads);
		test_place(&once[i], SECOND, threads);
	}
}

#define RESULTS (2 * 8 + 2 * 2 * 2)

int main(void)
{
	from_home_end();
	deadline_set(100);
	plan(2 * RESULTS);
	(void)static_branch_enable(&other); /* finds the writer and the core sync */
	if (!static_branch_unlikely(&other) || static_branch_disable(&other) != 0)
		bail("no key can be switched");
	test_places("one thread");
	now++;
	bystander_start();
	(void)imv_set(value4, (uint32_t)SECOND); /* finds the writer for several bytes */
	(void)imv_set(value4, (uint32_t)FIRST);
	test_places("two threads");
	bystander_end();
	return done();
}
