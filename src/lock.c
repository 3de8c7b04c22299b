/* SPDX-License-Identifier: MIT */
/*
 * The library's one lock: a futex word that holds its owner's thread id.
 *
 * The word is 0 (free), a thread id, or a thread id with WAITERS. An owner that died without giving
 * it back can only be a thread of the parent process (signals are blocked, so nothing short of the
 * end of the process stops a holder): tgkill() with signal 0 tells.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

#define WAITERS 0x80000000u

static uint32_t word;
static unsigned forks; /* fork() calls of the holder that are under way; guarded by the lock */
static bool lost;      /* a holder was lost, and nobody was told to repair; guarded by the lock */

/* Raw, because the C library's call keeps its own two signals deliverable: cancellation could end a
 * holder. */
static void set_signals(uint64_t mask, uint64_t *old)
{
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, sizeof(mask));
}

static uint32_t own_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static bool is_gone(uint32_t owner, uint32_t self)
{
	if (owner == self) /* signals are blocked while held, so it is another process's number */
		return true;
	return syscall(SYS_tgkill, getpid(), owner, 0) != 0 && errno == ESRCH;
}

static bool swap_word(uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(&word, &old, new, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* Takes the word, also from an owner that is gone. errno is kept: toggles run in signal handlers.
 */
static void take_word(uint32_t self)
{
	int saved = errno;
	uint32_t mine = self;

	while (!swap_word(0, mine)) {
		uint32_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);

		if (seen == 0)
			continue;
		if (is_gone(seen & ~WAITERS, self)) {
			if (!swap_word(seen, mine | (seen & WAITERS)))
				continue;
			forks = 0;
			lost = true;
			break;
		}
		mine = self | WAITERS; /* others may wait as well: the release must wake them */
		if ((seen & WAITERS) != 0 || swap_word(seen, seen | WAITERS))
			(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen | WAITERS, NULL,
				      NULL, 0);
	}
	errno = saved;
}

static void give_word(void)
{
	int saved = errno;

	if ((__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) & WAITERS) != 0)
		(void)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

/* Cancellation is disabled as well: a pending one acts at the entry of open() and pwrite(), without
 * any signal, and would unwind a holder. */
static void enter(struct lock_hold *hold)
{
	uint32_t self = own_id();

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancel_state);
	set_signals(~(uint64_t)0, &hold->signals);
	hold->nested = (__atomic_load_n(&word, __ATOMIC_RELAXED) & ~WAITERS) == self && forks != 0;
	if (!hold->nested)
		take_word(self);
}

static void leave_held(const struct lock_hold *hold)
{
	set_signals(hold->signals, NULL);
	(void)pthread_setcancelstate(hold->cancel_state, NULL);
}

bool lock_acquire(struct lock_hold *hold)
{
	bool repair;

	enter(hold);
	repair = lost;
	lost = false;
	return repair;
}

void lock_release(const struct lock_hold *hold)
{
	if (!hold->nested)
		give_word();
	leave_held(hold);
}

/* ---- fork ---- */

/* The program's own handlers run between these, with their signals as they were. One of them, or a
 * signal handler, may fork in its turn. */
static void prepare_fork(void)
{
	struct lock_hold hold;

	enter(&hold);
	forks++;
	leave_held(&hold);
}

static void finish_fork_parent(void)
{
	struct lock_hold hold;

	enter(&hold);
	if (hold.nested)
		hold.nested = --forks != 0;
	lock_release(&hold);
}

/* No other thread is here. The word still names the parent's thread, unless a handler that ran
 * before this one toggled; it is not compared with this thread's id, because a process in a new
 * namespace may have the same. */
static void finish_fork_child(void)
{
	uint64_t signals;

	set_signals(~(uint64_t)0, &signals);
	lost = lost || (word != 0 && forks == 0);
	forks = 0;
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
	set_signals(signals, NULL);
}

int lock_start(void)
{
	return -pthread_atfork(prepare_fork, finish_fork_parent, finish_fork_child);
}
