/* SPDX-License-Identifier: MIT */
/*
 * Promise 5: fork while another thread toggles. The child's branches and keys agree, its toggles
 * work and stay its own.
 *
 * usage: fork [FORKS]
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "forks.h"
#include "many_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(busy);    /* toggled by the parent's thread all the time */
DEFINE_STATIC_KEY_FALSE(counted); /* the same, by reference */
DEFINE_STATIC_KEY_FALSE(of_child);
DEFINE_STATIC_KEY_TRUE(untouched);

DEFINE_1000_SITES(busy_sites, &busy)
DEFINE_10_SITES(counted_sites, &counted)
DEFINE_10_SITES(of_child_sites, &of_child)
DEFINE_10_SITES(untouched_sites, &untouched)

static int finished, failures;

static void *toggle(void *data)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		failures += static_branch_enable(&busy) != 0 || busy_sites() != 1000;
		failures += static_branch_inc(&counted) != 0 || counted_sites() != 10;
		failures += static_branch_disable(&busy) != 0 || busy_sites() != 0;
		failures += static_branch_dec(&counted) != 0 || counted_sites() != 0;
	}
	return data;
}

static bool follow_keys(void)
{
	return busy_sites() == static_key_count(&busy.key) * 1000 &&
	       counted_sites() == static_key_count(&counted.key) * 10 && untouched_sites() == 10 &&
	       of_child_sites() == static_key_count(&of_child.key) * 10;
}

/* In the child: 0 when all is right, else which step was not. */
static int check_child(bool is_behind)
{
	deadline_set(20);
	/* behind fork()'s back there is no handler to repair what a lost thread left half done: the
	 * first call does */
	if (is_behind && dormant_status(NULL) != 0)
		return 7;
	if (!follow_keys() || of_child_sites() != 0)
		return 1;
	if (static_branch_enable(&of_child) != 0 || of_child_sites() != 10)
		return 2;
	if (static_branch_enable(&busy) != 0 || busy_sites() != 1000)
		return 3;
	if (static_branch_disable(&busy) != 0 || busy_sites() != 0 || !follow_keys())
		return 4;
	if (static_branch_inc(&counted) != 0 || static_branch_dec(&counted) != 0 || !follow_keys())
		return 5;
	return dormant_status(NULL) == 0 ? 0 : 6;
}

static bool is_touched(void)
{
	return of_child_sites() != 0 || static_key_count(&of_child.key) != 0;
}

static int handler_status = -1;

static void fork_in_handler(int number)
{
	pid_t child = fork();

	(void)number;
	if (child == 0)
		_exit(check_child(false));
	handler_status = deadline_wait(child);
}

static void test_handler(pthread_t thread)
{
	int wrong = 0;

	signal(SIGUSR1, fork_in_handler);
	for (int i = 0; i < 50; i++) {
		__atomic_store_n(&handler_status, -1, __ATOMIC_RELAXED);
		pthread_kill(thread, SIGUSR1);
		while (__atomic_load_n(&handler_status, __ATOMIC_RELAXED) == -1)
			usleep(200);
		wrong += handler_status != 0;
	}
	ok(wrong == 0, "a fork in a signal handler of the thread that toggles (%d wrong)", wrong);
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
	ok(wrong == 0, "vfork and exec: the new program starts with its own state (%d not)", wrong);
}

int main(int argc, char **argv)
{
	int forks = argc > 1 ? atoi(argv[1]) : 500;
	pthread_t thread;

	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		return check_child(false);
	deadline_set(forks > 1000 ? 3600 : 110);
	plan(9);
	pthread_create(&thread, NULL, toggle, NULL);
	forks_test("fork", fork_by_library, forks, check_child, is_touched);
	forks_test("_Fork", _Fork, forks / 5, check_child, is_touched);
	forks_test("clone", fork_by_system_call, forks / 5, check_child, is_touched);
	test_handler(thread);
	test_vfork(argv[0]);
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(failures == 0 && dormant_status(NULL) == 0,
	   "the parent's branches followed its keys all the time (%d not)", failures);
	return done();
}
