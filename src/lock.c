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
static bool held_for_fork; /* guarded by the lock */

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

/* Takes the word; true when its owner was gone. errno is kept: toggles run in signal handlers. */
static bool take_word(uint32_t self)
{
	int saved = errno;
	uint32_t mine = self;
	bool taken_over = false;

	while (!swap_word(0, mine)) {
		uint32_t seen = __atomic_load_n(&word, __ATOMIC_RELAXED);

		if (seen == 0)
			continue;
		if (is_gone(seen & ~WAITERS, self)) {
			if (!swap_word(seen, mine))
				continue;
			held_for_fork = false;
			taken_over = true;
			break;
		}
		mine = self | WAITERS; /* others may wait as well: the release must wake them */
		if ((seen & WAITERS) != 0 || swap_word(seen, seen | WAITERS))
			(void)syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen | WAITERS, NULL,
				      NULL, 0);
	}
	errno = saved;
	return taken_over;
}

static void give_word(void)
{
	int saved = errno;

	if ((__atomic_exchange_n(&word, 0, __ATOMIC_RELEASE) & WAITERS) != 0)
		(void)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}

bool lock_acquire(struct lock_hold *hold)
{
	uint32_t self = own_id();

	set_signals(~(uint64_t)0, &hold->signals);
	hold->nested = (__atomic_load_n(&word, __ATOMIC_RELAXED) & ~WAITERS) == self &&
		       held_for_fork;
	return hold->nested ? false : take_word(self);
}

void lock_release(const struct lock_hold *hold)
{
	if (!hold->nested)
		give_word();
	set_signals(hold->signals, NULL);
}

/* ---- fork ---- */

/* The program's own handlers run between these, with their signals as they were. */
static void prepare_fork(void)
{
	struct lock_hold hold;

	(void)lock_acquire(&hold);
	held_for_fork = true;
	set_signals(hold.signals, NULL);
}

static void finish_fork_parent(void)
{
	struct lock_hold hold;

	(void)lock_acquire(&hold); /* nested */
	held_for_fork = false;
	hold.nested = false;
	lock_release(&hold);
}

/* The word still names the parent's thread, unless a handler that ran before this one toggled. */
static void finish_fork_child(void)
{
	struct lock_hold hold;

	(void)lock_acquire(&hold);
	held_for_fork = false;
	lock_release(&hold);
}

int lock_start(void)
{
	return -pthread_atfork(prepare_fork, finish_fork_parent, finish_fork_child);
}
