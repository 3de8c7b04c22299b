/* SPDX-License-Identifier: MIT */
/*
 * The sites of the stress test: for each of three keys, 64 functions with one site each, which
 * together stand at every offset of a cache line; one of the 64 lies across two pages. Every second
 * one is likely, so that both forms are in the file.
 */
#ifndef BENCH_STRESS_SITES_H
#define BENCH_STRESS_SITES_H

#include <dormant/static_key.h>

#define STRESS_KEYS  3
#define STRESS_SITES 64 /* of each key */

extern struct static_key_false stress_keys[STRESS_KEYS];

/* Each returns one of two values of its own, whichever way the site sends it. */
#define STRESS_VALUE_OFF(key, site) (0x0ff00000u + (key)*0x1000u + (site))
#define STRESS_VALUE_ON(key, site)  (0x00a00000u + (key)*0x1000u + (site))

typedef unsigned stress_site(void);
extern stress_site *const stress_sites[STRESS_KEYS][STRESS_SITES];

/* 0 when the addresses in the table of sites are as promised above, or 1 and a line on stderr. */
int stress_check_addresses(void);

#endif
