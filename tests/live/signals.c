/* SPDX-License-Identifier: MIT */
/*
 * Promise 2: sites and toggles in signal handlers, while the interrupted threads toggle themselves
 * and so are often inside the library when a signal comes.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <dormant/static_key_deferred.h>

#include "deadline.h"
#include "many_sites.h"
#include "tap.h"

#define THREADS 3
#define SIGNALS 20000

#define STACK_BYTES 8192

DEFINE_STATIC_KEY_FALSE(shared);  /* threads and handlers, by reference */
DEFINE_STATIC_KEY_FALSE(handler); /* handlers only */
DEFINE_STATIC_KEY_FALSE(other);   /* threads only */
DEFINE_STATIC_KEY_DEFERRED_FALSE(late, 1);

DEFINE_10_SITES(shared_sites, &shared)
DEFINE_10_SITES(handler_sites, &handler)
DEFINE_10_SITES(other_sites, &other)

static int finished;
static int handled, failures, strangers;

static void expect(bool right)
{
	if (!right)
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

static void handle(int number)
{
	int saved = errno;

	(void)number;
	errno = ENOTTY;
	expect(static_branch_inc(&shared) == 0);
	expect(shared_sites() == 10); /* this handler holds a reference */
	expect(static_branch_dec(&shared) == 0);
	expect(static_branch_inc(&handler) == 0);
	expect(static_branch_dec(&handler) == 0);
	expect(static_branch_deferred_inc(&late) == 0);
	expect(static_branch_slow_dec_deferred(&late) == 0);
	if (errno != ENOTTY)
		__atomic_add_fetch(&strangers, 1, __ATOMIC_RELAXED);
	errno = saved;
	__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void *toggle(void *data)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		expect(static_branch_inc(&shared) == 0);
		expect(shared_sites() == 10);
		expect(static_branch_dec(&shared) == 0);
		expect(static_branch_enable(&other) == 0);
		expect(static_branch_disable(&other) == 0);
	}
	return data;
}

static void set_handler(int number)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};

	sigaction(number, &action, NULL);
}

static void send_signals(const pthread_t threads[THREADS])
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};

	setitimer(ITIMER_PROF, &often, NULL);
	for (int i = 0; i < SIGNALS; i++) {
		pthread_kill(threads[i % THREADS], SIGUSR1);
		if (i % 8 == 0)
			pthread_kill(threads[i % THREADS], SIGUSR2);
		if (i % 16 == 0)
			sched_yield();
	}
	setitimer(ITIMER_PROF, &never, NULL);
}

static void test_storm(void)
{
	pthread_t threads[THREADS];

	set_handler(SIGUSR1);
	set_handler(SIGUSR2);
	set_handler(SIGPROF);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, toggle, NULL);
	send_signals(threads);
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(handled > SIGNALS / 100, "handlers ran: %d", handled);
	ok(failures == 0, "each toggle returned 0, each site was on while held (%d not)", failures);
	ok(strangers == 0, "errno is as it was in every handler (%d not)", strangers);
	ok(static_key_count(&shared.key) == 0 && shared_sites() == 0 &&
		   static_key_count(&handler.key) == 0 && handler_sites() == 0 &&
		   static_key_count(&other.key) == 0 && other_sites() == 0,
	   "afterwards all counts are zero and all sites off");
	ok(static_key_deferred_flush(&late) == 0 && static_key_count(&late.key.key) == 0,
	   "deferred references as well");
	ok(dormant_status(NULL) == 0, "keys and branches agree");
}

static void test_errno(void)
{
	errno = EXDEV;
	(void)static_branch_enable(&other);
	(void)static_branch_disable(&other);
	(void)static_branch_dec(&other);
	(void)dormant_deferred_run();
	(void)dormant_status(NULL);
	ok(errno == EXDEV, "errno is kept by calls that work and by calls that fail");
}

static void test_mask(void)
{
	sigset_t before, after;

	memset(&before, 0, sizeof(before)); /* sigemptyset() clears what the kernel knows only */
	memset(&after, 0, sizeof(after));
	sigaddset(&before, SIGHUP);
	sigaddset(&before, SIGRTMIN + 3);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	(void)static_branch_enable(&other);
	(void)static_branch_disable(&other);
	(void)static_branch_dec(&other);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ok(memcmp(&before, &after, sizeof(before)) == 0, "the signal mask is kept");
}

/* A handler on the smallest stack that may be, with a page below it that must not be touched. */
static void test_small_stack(void)
{
	static _Alignas(4096) char memory[4096 + STACK_BYTES];
	stack_t small = {.ss_sp = memory + 4096, .ss_size = STACK_BYTES};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	int before = handled;

	(void)mprotect(memory, 4096, PROT_NONE);
	sigaltstack(&small, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	(void)mprotect(memory, 4096, PROT_READ | PROT_WRITE);
	ok(handled == before + 1 && failures == 0, "a toggle works on a stack of 8 KiB");
}

int main(void)
{
	deadline_set(100);
	plan(9);
	test_errno();
	test_mask();
	test_storm();
	test_small_stack();
	return done();
}
