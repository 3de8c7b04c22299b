/* SPDX-License-Identifier: MIT */
/*
 * Building struct dormant_error without allocating, locking or looking at the locale, so that a
 * toggle may fail inside a signal handler. All functions accept a NULL error and do nothing then.
 */
#ifndef DORMANT_SRC_ERROR_H
#define DORMANT_SRC_ERROR_H

#include <stddef.h>
#include <stdint.h>

#include <dormant/error.h>

/* Clears @error, notes code and phase, and returns @code. */
int error_begin(struct dormant_error *error, enum dormant_phase phase, int code);

/* Append to the message; what does not fit is cut. */
void error_text(struct dormant_error *error, const char *text);
void error_hex(struct dormant_error *error, uint64_t value);
void error_number(struct dormant_error *error, uint64_t value);
/* The symbol of a negative errno: "EPERM". */
void error_errno(struct dormant_error *error, int code);

/* The same for any terminated field of @size bytes; an empty one starts with field[0] = 0. */
void text_append(char *field, size_t size, const char *text);
void text_append_number(char *field, size_t size, uint64_t value, unsigned base);

#endif
