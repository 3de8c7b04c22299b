/* SPDX-License-Identifier: MIT */
/* Functions with many sites of one key: each returns how many of them took the path for "on". */
#ifndef MANY_SITES_H
#define MANY_SITES_H

#include <dormant/static_key.h>

#define MANY_TEN_(x)      x x x x x x x x x x
#define MANY_SITE_(key)   on += static_branch_unlikely(key) ? 1 : 0;
#define MANY_HUNDRED_(x)  MANY_TEN_(MANY_TEN_(x))
#define MANY_THOUSAND_(x) MANY_TEN_(MANY_HUNDRED_(x))

/** Defines `static int name(void)` with 10 sites of @p key. */
#define DEFINE_10_SITES(name, key)          \
	static int name(void)               \
	{                                   \
		int on = 0;                 \
                                            \
		MANY_TEN_(MANY_SITE_(key)); \
		return on;                  \
	}

/** Defines `static int name(void)` with 1,000 sites of @p key. */
#define DEFINE_1000_SITES(name, key)             \
	static int name(void)                    \
	{                                        \
		int on = 0;                      \
                                                 \
		MANY_THOUSAND_(MANY_SITE_(key)); \
		return on;                       \
	}

#endif
