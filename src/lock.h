/* SPDX-License-Identifier: MIT */
/*
 * The library's one lock. It guards the registry, every change of text, and every change of a key
 * that goes through zero. There is no second lock, so there is no lock order.
 *
 *  - It is held with all signals and cancellation blocked, so a handler never finds its own thread
 *    inside, and a toggle from a handler is an ordinary one.
 *  - While it is held, nothing of the program runs on the holder: no malloc, no callback, no part
 *    of the dynamic linker (which is why libdormant.so is linked with -z now). So a toggle from a
 *    malloc hook, a constructor or a notice can not deadlock.
 *  - fork() takes it (pthread_atfork), so a child never starts with a patch half done. The thread
 *    that forks may toggle in the program's own atfork handlers: it is let in a second time.
 *  - A child made behind fork()'s back (clone, _Fork) can inherit it held by a thread that does not
 *    exist there. Whoever waits notices, takes it over, and is told to repair what it guards.
 *  - A child that shares the memory (vfork) must not toggle: to the parent's threads its thread id
 *    looks like one that is gone.
 */
#ifndef DORMANT_SRC_LOCK_H
#define DORMANT_SRC_LOCK_H

#include <stdbool.h>
#include <stdint.h>

/* What lock_release() needs to undo lock_acquire(); lives on the caller's stack. */
struct lock_hold {
	uint64_t signals; /* the mask to restore */
	int cancel_state; /* what to restore for pthread_cancel() */
	bool nested;      /* let in while this thread holds it for a fork */
};

/* Blocks signals and cancellation, and takes the lock. True: it was taken over from a thread that
 * is not in this process, and the caller is the first who can repair what it guards. */
bool lock_acquire(struct lock_hold *hold);
void lock_release(const struct lock_hold *hold);

/* Registers the fork handlers; once. 0 or a negative errno. */
int lock_start(void);

#endif
