/* SPDX-License-Identifier: MIT */
/* Finds out whether RDPRU may be used: it is an illegal instruction where it may not. */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "cycles.h"

static sigjmp_buf refused;

static void on_illegal(int signal)
{
	(void)signal;
	siglongjmp(refused, 1);
}

bool cycles_have_core(void)
{
	struct sigaction action = {.sa_handler = on_illegal}, before;
	volatile bool have = false;

	(void)sigaction(SIGILL, &action, &before);
	if (sigsetjmp(refused, 1) == 0)
		have = cycles_read(true).core != 0;
	(void)sigaction(SIGILL, &before, NULL);
	return have;
}
