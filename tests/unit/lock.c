/* SPDX-License-Identifier: MIT */
/*
 * The library's lock alone: exclusion, signals, fork, and the holder that a child does not have.
 *
 * A child reports through its exit status; one that hangs is killed.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "lock.h"
#include "tap.h"

#define THREADS 4
#define ROUNDS  20000

static long counter; /* guarded by the lock */
static volatile sig_atomic_t handled;

static void note_signal(int number)
{
	(void)number;
	handled++;
}

static bool is_blocked(int number)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, number) == 1;
}

static void test_signals(void)
{
	struct lock_hold hold;
	int at_start;

	signal(SIGUSR1, note_signal);
	lock_acquire(&hold);
	raise(SIGUSR1);
	at_start = handled;
	ok(is_blocked(SIGUSR1) && is_blocked(SIGALRM), "signals are blocked while it is held");
	lock_release(&hold);
	ok(at_start == 0 && handled == 1, "a signal that came meanwhile is handled after release");
	ok(!is_blocked(SIGUSR1), "the mask is as before");
}

static void *count(void *data)
{
	(void)data;
	for (int i = 0; i < ROUNDS; i++) {
		struct lock_hold hold;

		lock_acquire(&hold);
		counter++;
		lock_release(&hold);
	}
	return NULL;
}

static void test_exclusion(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(counter == (long)THREADS * ROUNDS, "%d threads never hold it together", THREADS);
}

static void test_errno(void)
{
	struct lock_hold hold;

	errno = EXDEV;
	lock_acquire(&hold);
	lock_release(&hold);
	ok(errno == EXDEV, "errno is kept");
}

static pid_t clone_process(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int held_by_thread, give_back;

static void *hold_it(void *data)
{
	struct lock_hold hold;

	(void)data;
	lock_acquire(&hold);
	__atomic_store_n(&held_by_thread, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&give_back, __ATOMIC_ACQUIRE))
		sched_yield();
	lock_release(&hold);
	return NULL;
}

/* In a child whose parent's thread held the lock: 0 when it is taken over, once. */
static int take_over(void)
{
	struct lock_hold hold;
	int result = 0;

	deadline_set(10);
	if (!lock_acquire(&hold))
		result |= 1;
	lock_release(&hold);
	if (lock_acquire(&hold))
		result |= 2;
	lock_release(&hold);
	return result;
}

/* The same where the child first forks: the repair is not forgotten on the way. */
static int fork_and_take_over(void)
{
	pid_t child;

	deadline_set(10);
	child = fork();
	if (child == 0)
		_exit(take_over());
	return deadline_wait(child) | take_over() << 2;
}

static void test_lost_holder(void)
{
	pthread_t thread;
	pid_t child;

	pthread_create(&thread, NULL, hold_it, NULL);
	while (!__atomic_load_n(&held_by_thread, __ATOMIC_ACQUIRE))
		sched_yield();
	child = clone_process();
	if (child == 0)
		_exit(take_over());
	ok(deadline_wait(child) == 0,
	   "a child of clone() takes it over from a thread it does not have");
	child = clone_process();
	if (child == 0)
		_exit(fork_and_take_over());
	ok(deadline_wait(child) == 0,
	   "and a child that forks before is told as well, and its child");
	__atomic_store_n(&give_back, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* A fork inside the prepare handler of another fork, as a signal handler can make one. */
static bool fork_inside;
static int held_after = -1;

/* Whether this process holds the lock, as seen by a child that finds it lost. */
static int is_held(void)
{
	pid_t child = clone_process();

	if (child == 0) {
		struct lock_hold hold;

		deadline_set(10);
		_exit(lock_acquire(&hold));
	}
	return deadline_wait(child);
}

static void prepare(void)
{
	pid_t child;

	if (!fork_inside)
		return;
	fork_inside = false;
	child = fork();
	if (child == 0)
		_exit(0);
	(void)deadline_wait(child);
	held_after = is_held();
}

static void *acquire_once(void *data)
{
	struct lock_hold hold;

	lock_acquire(&hold);
	*(int *)data = 1;
	lock_release(&hold);
	return NULL;
}

static void test_nested_fork(void)
{
	pthread_t thread;
	pid_t child;

	fork_inside = true;
	held_by_thread = 0;
	child = fork();
	if (child == 0) {
		deadline_set(10);
		pthread_create(&thread, NULL, acquire_once, &held_by_thread);
		pthread_join(thread, NULL);
		_exit(!held_by_thread);
	}
	ok(held_after == 1 && is_held() == 0,
	   "a fork inside a fork leaves the lock to the outer one, which gives it back");
	ok(deadline_wait(child) == 0, "after a fork inside a fork the child's threads can take it");
	pthread_create(&thread, NULL, acquire_once, &held_by_thread);
	pthread_join(thread, NULL);
	ok(held_by_thread, "and so can the parent's");
}

/* A child that is process 1 of its own namespace has the thread id of a parent that is one too. */
static int run_as_init(void)
{
	pthread_t thread;
	pid_t child;

	deadline_set(10);
	held_by_thread = 0;
	if (unshare(CLONE_NEWPID) != 0)
		return 77;
	child = fork();
	if (child == 0) {
		deadline_set(5);
		pthread_create(&thread, NULL, acquire_once, &held_by_thread);
		pthread_join(thread, NULL);
		_exit(!held_by_thread);
	}
	return deadline_wait(child);
}

static void test_same_id(void)
{
	const char *name = "a child with the thread id of its parent can take it on any thread";
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (unshare(CLONE_NEWPID) != 0)
			_exit(77);
		child = fork();
		_exit(child == 0 ? run_as_init() : deadline_wait(child));
	}
	status = deadline_wait(child);
	if (status == 77)
		skip(name, "no pid namespaces here");
	else
		ok(status == 0, "%s", name);
}

int main(void)
{
	plan(12);
	pthread_atfork(prepare, NULL, NULL); /* before the lock's own: it runs inside */
	ok(lock_start() == 0, "the fork handlers are registered");
	test_signals();
	test_exclusion();
	test_errno();
	test_lost_holder();
	test_nested_fork();
	test_same_id();
	return done();
}
