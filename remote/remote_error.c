/* SPDX-License-Identifier: MIT */
/* The one way a failure gets its text. */
#include "remote_error.h"

#include <stdarg.h>
#include <stdio.h>

int remote_error_set(struct remote_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return code;
}
