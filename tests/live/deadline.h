/* SPDX-License-Identifier: MIT */
/* An end for tests that could hang: by SIGKILL, because the library's lock is held and waited for
 * with every other signal blocked. */
#ifndef DEADLINE_H
#define DEADLINE_H

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>

/* The process is killed in @seconds; forked children do not inherit it. */
static inline void deadline_set(int seconds)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec when = {.it_value.tv_sec = seconds};
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		(void)timer_settime(timer, 0, &when, NULL);
}

/* The status with which @child ended by itself, else 128 + the signal that ended it. */
static inline int deadline_wait(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
