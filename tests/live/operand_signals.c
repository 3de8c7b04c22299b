/* SPDX-License-Identifier: MIT */
/*
 * Values and static calls that are read and changed by signal handlers, in threads that change them
 * as well; and by threads that are cancelled anywhere.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <dormant/imv.h>
#include <dormant/static_call.h>

#include "deadline.h"
#include "tap.h"

#define THREADS 3
#define SIGNALS 1000
#define CANCELS 60

/* Only these are set: any mixture of two has bytes that differ. */
static uint64_t pattern(unsigned n)
{
	return (n % 16 + 1) * UINT64_C(0x0101010101010101);
}

static bool is_pattern(uint64_t value, size_t bytes)
{
	return value == (pattern((unsigned)(value & 0xff) - 1) & (UINT64_MAX >> (64 - 8 * bytes)));
}

DEFINE_IMV(uint64_t, shared8) = 0x0101010101010101;
DEFINE_IMV(uint32_t, shared4) = 0x01010101;
DEFINE_IMV(uint64_t, own8) = 0; /* of thread 0 alone */

static uint32_t one(void)
{
	return 1;
}

static uint32_t two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(number, one);

static int finished;
static int handled, failures, strangers;

static void expect(bool right)
{
	if (!right)
		__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void read_all(void)
{
	uint32_t called = static_call(number)();

	expect(is_pattern(imv_read(shared8), 8));
	expect(is_pattern(imv_read(shared4), 4));
	expect(called == 1 || called == 2);
}

static void set_all(unsigned n)
{
	expect(imv_set(shared8, pattern(n)) == 0);
	expect(imv_set(shared4, (uint32_t)pattern(n + 1)) == 0);
	expect(static_call_update(number, n % 2 == 0 ? one : two) == 0);
}

static void handle(int number_of_signal)
{
	int saved = errno;
	unsigned n = (unsigned)__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);

	(void)number_of_signal;
	errno = ENOTTY;
	read_all();
	set_all(n);
	read_all();
	if (errno != ENOTTY)
		__atomic_add_fetch(&strangers, 1, __ATOMIC_RELAXED);
	errno = saved;
}

static void *set_for_ever(void *data)
{
	const bool is_first = data != NULL;

	for (unsigned n = 0; !__atomic_load_n(&finished, __ATOMIC_RELAXED); n++) {
		set_all(n);
		read_all();
		if (is_first)
			expect(imv_set(own8, n * pattern(3)) == 0 &&
			       imv_read(own8) == n * pattern(3));
	}
	return NULL;
}

static void test_storm(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	pthread_t threads[THREADS];

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, set_for_ever, i == 0 ? &threads : NULL);
	for (int i = 0; i < SIGNALS; i++) {
		pthread_kill(threads[i % THREADS], SIGUSR1);
		sched_yield();
		read_all();
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(handled > 0, "handlers ran: %d", handled);
	ok(failures == 0, "each set worked, and only what was set was read (%d not)", failures);
	ok(strangers == 0, "errno is as it was in every handler (%d not)", strangers);
	ok(imv_read(shared8) == imv_get(shared8) && imv_read(shared4) == imv_get(shared4) &&
		   static_call(number)() == static_call_query(number)() &&
		   dormant_status(NULL) == 0,
	   "afterwards sites, values and functions agree");
}

/* A signal that comes while a site itself runs: it changes the site under the thread. */
static void test_inside_site(void)
{
	const struct timespec often = {0, 200000};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec when = {often, often};
	int before = handled;
	timer_t timer;

	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &when, NULL);
	while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < before + 100)
		read_all();
	timer_delete(timer);
	ok(failures == 0, "signals between and inside sites that they change (%d wrong)", failures);
}

/* ---- cancellation ---- */

static int started;

static void *set_until_cancelled(void *data)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&started, 1, __ATOMIC_RELEASE);
	for (unsigned n = 0;; n++)
		set_all(n);
	return data;
}

static void test_cancel(void)
{
	int wrong = 0;

	for (int i = 0; i < CANCELS; i++) {
		pthread_t thread;

		started = 0;
		pthread_create(&thread, NULL, set_until_cancelled, NULL);
		while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
			sched_yield();
		for (int turn = 0; turn < i % 8; turn++)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		wrong += imv_read(shared8) != imv_get(shared8) ||
			 imv_read(shared4) != imv_get(shared4) ||
			 static_call(number)() != static_call_query(number)();
		wrong += imv_set(shared8, pattern(9)) != 0 || imv_read(shared8) != pattern(9);
	}
	ok(wrong == 0, "%d threads cancelled anywhere leave all in agreement (%d not)", CANCELS,
	   wrong);
	ok(dormant_status(NULL) == 0, "and nothing locked");
}

int main(void)
{
	deadline_set(60);
	plan(4 + 1 + 2);
	test_storm();
	test_inside_site();
	test_cancel();
	return done();
}
