/* SPDX-License-Identifier: MIT */
/*
 * fork while another thread sets values and updates calls: the child's sites, variables, cells and
 * functions agree, its changes work and stay its own, and no page is left writable.
 *
 * usage: operand_fork [FORKS]
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <dormant/batch.h>

#include "forks.h"
#include "own_operands.h"
#include "tap.h"
#include "writable_text.h"

/* A value's bytes are all the same: every mixture is seen. */
#define PATTERN(n) ((uint64_t)(n)*UINT64_C(0x0101010101010101))

DEFINE_IMV(uint8_t, busy1) = 1;
DEFINE_IMV(uint16_t, busy2) = 0x0101;
DEFINE_IMV(uint32_t, busy4) = 0x01010101;
DEFINE_IMV(uint64_t, busy8) = 0x0101010101010101;
DEFINE_IMV(uint64_t, of_child) = 1;

static uint64_t one(uint64_t x)
{
	return x + 1;
}

static uint64_t two(uint64_t x)
{
	return x + 2;
}

DEFINE_STATIC_CALL(busy_call, one);

__attribute__((noinline)) static uint64_t tail_call(uint64_t x)
{
	return static_call(busy_call)(x);
}

static int finished, failures;

static void *set_for_ever(void *data)
{
	for (unsigned n = 1; !__atomic_load_n(&finished, __ATOMIC_RELAXED); n = n % 200 + 1) {
		const struct dormant_change changes[] = {
			DORMANT_CHANGE_IMV(busy1, (uint8_t)n),
			DORMANT_CHANGE_CALL(busy_call, n % 2 == 0 ? one : two),
			DORMANT_CHANGE_IMV(busy2, (uint16_t)PATTERN(n)),
		};

		failures += dormant_batch(changes, 3, NULL, NULL) != 0 || imv_read(busy1) != n;
		failures += imv_set(busy4, (uint32_t)PATTERN(n)) != 0;
		failures += imv_set(busy8, PATTERN(n)) != 0 || imv_read(busy8) != PATTERN(n);
	}
	return data;
}

__attribute__((noinline)) static bool agree(void)
{
	uint64_t eight = imv_read(busy8), called = static_call(busy_call)(100);

	return imv_read(busy1) == imv_get(busy1) && imv_read(busy2) == imv_get(busy2) &&
	       imv_read(busy4) == imv_get(busy4) && eight == imv_get(busy8) &&
	       eight == PATTERN(eight & 0xff) && called == static_call_query(busy_call)(100) &&
	       tail_call(100) == called && (called == 101 || called == 102) &&
	       *OWN_CALL(busy_call)->cell == (void *)static_call_query(busy_call) &&
	       imv_read(of_child) == imv_get(of_child);
}

/* In the child: 0 when all is right, else which step was not. */
static int check_child(bool is_behind)
{
	deadline_set(20);
	/* behind fork()'s back there is no handler to repair what a lost thread left half done: the
	 * first call does */
	if (is_behind && dormant_status(NULL) != 0)
		return 7;
	if (!agree() || imv_read(of_child) != 1)
		return 1;
	if (is_text_writable())
		return 2;
	if (imv_set(of_child, 2) != 0 || imv_read(of_child) != 2)
		return 3;
	if (imv_set(busy8, PATTERN(255)) != 0 || imv_read(busy8) != PATTERN(255) ||
	    static_call_update(busy_call, one) != 0 || tail_call(0) != 1 || !agree())
		return 4;
	if (imv_set(busy4, 0x10203040) != 0 || imv_read(busy4) != 0x10203040 || !agree())
		return 5;
	return dormant_status(NULL) == 0 && !is_text_writable() ? 0 : 6;
}

static bool is_touched(void)
{
	return imv_read(of_child) != 1 || imv_get(of_child) != 1;
}

/* A child that shares the memory, and becomes another program. */
static int vfork_and_exec(const char *program)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(program, program, "exec", (char *)NULL);
		_exit(99);
	}
	return deadline_wait(child);
}

static void test_vfork(const char *program)
{
	int wrong = 0;

	for (int i = 0; i < 20; i++)
		wrong += vfork_and_exec(program) != 0;
	ok(wrong == 0, "vfork and exec: the new program starts with its own values (%d not)",
	   wrong);
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 50;
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		return check_child(false);
	deadline_set(forks > 1000 ? 3600 : 110);
	plan(8);
	pthread_create(&thread, NULL, set_for_ever, NULL);
	forks_test("fork", fork_by_library, forks, check_child, is_touched);
	forks_test("_Fork", _Fork, forks / 2, check_child, is_touched);
	forks_test("clone", fork_by_system_call, forks / 2, check_child, is_touched);
	test_vfork(argv[0]);
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(failures == 0 && agree() && dormant_status(NULL) == 0,
	   "the parent's sites followed all the time (%d not)", failures);
	return done();
}
