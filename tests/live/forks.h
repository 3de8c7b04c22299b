/* SPDX-License-Identifier: MIT */
/* Children by every way to make one, and whether each is consistent. */
#ifndef FORKS_H
#define FORKS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "tap.h"

static inline pid_t fork_by_library(void)
{
	return fork();
}

static inline pid_t fork_by_system_call(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Two results. @check is run in each child, told whether fork handlers were not, and gives 0 if all
 * is right; @is_touched, in the parent afterwards, whether the child's changes have reached it. */
static inline void forks_test(const char *name, pid_t (*make_child)(void), int forks,
			      int (*check)(bool is_behind), bool (*is_touched)(void))
{
	bool is_behind = make_child != fork_by_library;
	int wrong = 0, touched = 0;

	for (int i = 0; i < forks; i++) {
		pid_t child = make_child();
		int status;

		if (child == 0)
			_exit(check(is_behind));
		status = deadline_wait(child);
		if (status != 0 && wrong++ < 5)
			diag("%s, child %d: status %d", name, i, status);
		touched += is_touched();
	}
	ok(wrong == 0, "%s: %d children are consistent and can change it (%d not)", name, forks,
	   wrong);
	ok(touched == 0, "%s: what they change does not reach the parent", name);
}

#endif
