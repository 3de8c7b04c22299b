/* SPDX-License-Identifier: MIT */
/*
 * For programs whose operand sites are to be found in their home form, as in the file: while the
 * objects are registered nothing can be written. Include it once, and call from_home_end() first.
 */
#ifndef FROM_HOME_H
#define FROM_HOME_H

#include <errno.h>

#include "inject.h"

static int from_home_maps;

/* The index is the first thing that needs memory, and is given it; the list of sites is not, so
 * that it has to be made later. */
static int from_home_refuse(enum inject_point point)
{
	if (point == INJECT_MEMORY)
		return from_home_maps++ == 0 ? 0 : -ENOMEM;
	return point == INJECT_WRITE ? -EPERM : 0;
}

static void from_home_begin(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	(void)environment;
	dormant_inject = from_home_refuse;
}

/* Before every constructor. */
__attribute__((section(".preinit_array"),
	       used)) static void (*const from_home_first)(int, char **, char **) = from_home_begin;

static inline void from_home_end(void)
{
	dormant_inject = 0;
}

/* X(00) to X(99) */
#define FROM_HOME_TEN_(X, t) \
	X(t##0) X(t##1) X(t##2) X(t##3) X(t##4) X(t##5) X(t##6) X(t##7) X(t##8) X(t##9)
#define FOR_EACH_OF_20(X) FROM_HOME_TEN_(X, 0) FROM_HOME_TEN_(X, 1)
#define FOR_EACH_OF_100(X)   \
	FOR_EACH_OF_20(X)    \
	FROM_HOME_TEN_(X, 2) \
	FROM_HOME_TEN_(X, 3) \
	FROM_HOME_TEN_(X, 4) \
	FROM_HOME_TEN_(X, 5) \
	FROM_HOME_TEN_(X, 6) FROM_HOME_TEN_(X, 7) FROM_HOME_TEN_(X, 8) FROM_HOME_TEN_(X, 9)

#endif
