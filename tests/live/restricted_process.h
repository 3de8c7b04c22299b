/* SPDX-License-Identifier: MIT */
/* A test's own program, run again as a process that may be restricted before it starts. */
#ifndef RESTRICTED_PROCESS_H
#define RESTRICTED_PROCESS_H

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "deadline.h"

#define RESTRICTED_NOT_HERE 77 /* this machine, or the process, can not be restricted so */

/* Runs `program probe NUMBER MODE` after @apply, where that is not NULL, with DORMANT_WRITER set to
 * @writer, where that is not. Its exit status. */
static inline int restricted_run(const char *program, const char *number, const char *mode,
				 const char *writer, bool (*apply)(void))
{
	pid_t child = fork();

	if (child != 0)
		return deadline_wait(child);
	if (writer != NULL)
		(void)setenv("DORMANT_WRITER", writer, 1);
	else
		(void)unsetenv("DORMANT_WRITER");
	if (apply != NULL && !apply())
		_exit(RESTRICTED_NOT_HERE);
	execl(program, program, "probe", number, mode, (char *)NULL);
	_exit(99);
}

#endif
