/* SPDX-License-Identifier: MIT */
/* Counts what the checkers find wrong; see expect.h. */
#include "expect.h"

#include <stdarg.h>
#include <stdio.h>

static int failures;

bool expect(bool condition, const char *format, ...)
{
	va_list args;

	if (condition)
		return true;
	va_start(args, format);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	failures++;
	return false;
}

int expect_failures(void)
{
	return failures;
}
