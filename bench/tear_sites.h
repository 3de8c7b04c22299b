/* SPDX-License-Identifier: MIT */
/*
 * Sites of values and calls at every offset of a cache line, for the tearing stress.
 *
 * Each kind has three owners: one for each setter, which nobody else sets, and one that both set.
 * What is set is a number that goes round: all bytes of a value are that number, so any mixture of
 * two values shows; a call reaches a function that returns it, and those lie so that the distances
 * to them differ in every byte.
 */
#ifndef TEAR_SITES_H
#define TEAR_SITES_H

#include <stdint.h>

#include <dormant/error.h>

#define TEAR_OFFSETS 64
#define TEAR_SETTERS 2
#define TEAR_OWNERS  (TEAR_SETTERS + 1)
#define TEAR_SHARED  TEAR_SETTERS

enum tear_kind { TEAR_VALUE1, TEAR_VALUE2, TEAR_VALUE4, TEAR_VALUE8, TEAR_CALL, TEAR_TAIL };
#define TEAR_KINDS   6
#define TEAR_PERIOD  16 /* how many numbers there are */
#define TEAR_MIXTURE (-1)

extern const char *const tear_kind_names[TEAR_KINDS];

/* Makes the functions that calls reach. 0, or -1 with a message. */
int tear_start(void);

/* Runs one site: the number it gives, or TEAR_MIXTURE. */
int tear_read(enum tear_kind kind, unsigned owner, unsigned offset);

/* Sets one kind, or all of an owner in one batch. 0 or a negative errno. */
int tear_set(enum tear_kind kind, unsigned owner, unsigned number, struct dormant_error *error);
int tear_set_all(unsigned owner, unsigned number, struct dormant_error *error);

#endif
