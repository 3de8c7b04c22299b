/* SPDX-License-Identifier: MIT */
/*
 * What the checkers of this folder find wrong: a line on standard error each, and their number.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdbool.h>

/* Says the text where the condition is false. Returns the condition. */
__attribute__((format(printf, 2, 3))) bool expect(bool condition, const char *format, ...);

/* How many expectations were wrong. */
int expect_failures(void);

#endif
