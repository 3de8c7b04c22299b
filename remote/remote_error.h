/* SPDX-License-Identifier: MIT */
/*
 * Why something could not be done, as one line for the user.
 *
 * Functions of remote/ that can fail return 0 or a negative errno and fill a struct remote_error
 * when, and only when, they fail. The line names the file or process and says what to do next.
 */
#ifndef REMOTE_ERROR_H
#define REMOTE_ERROR_H

struct remote_error {
	char message[1024]; /* one line, no newline at its end */
};

/* Fills @error, which may be NULL; returns @code, so that a failure is one return statement. */
__attribute__((format(printf, 3, 4))) int remote_error_set(struct remote_error *error, int code,
							   const char *format, ...);

#endif
