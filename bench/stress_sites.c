/* SPDX-License-Identifier: MIT */
/* The functions of stress_sites.h, placed by directives of the assembler just before each site. */
#include <stdio.h>

#include "stress_sites.h"

DEFINE_STATIC_KEY_ARRAY_FALSE(stress_keys, STRESS_KEYS);

#define PAGE_BYTES 4096
#define LINE_BYTES 64

/* Jumps to the offset @site of a later cache line, over breakpoints that nothing may run. The
 * numbers are octal, in C as for the assembler; 076 is the one across two pages. */
#define PLACE_SITE(site)                                 \
	__asm__ volatile("jmp 7f\n\t"                    \
			 ".balign 64, 0xcc\n\t"          \
			 ".if " #site " == 076\n\t"      \
			 ".balign 4096, 0xcc\n\t"        \
			 ".skip 4096 - 2 * 64, 0xcc\n\t" \
			 ".endif\n\t"                    \
			 ".skip 64 + " #site ", 0xcc\n"  \
			 "7:")

#define DEFINE_SITE(branch, key, site)                                     \
	static __attribute__((noinline)) unsigned run_##key##_##site(void) \
	{                                                                  \
		PLACE_SITE(site);                                          \
		if (branch(&stress_keys[key]))                             \
			return STRESS_VALUE_ON(key, site);                 \
		return STRESS_VALUE_OFF(key, site);                        \
	}
#define DEFINE_EVEN(key, site) DEFINE_SITE(static_branch_unlikely, key, site)
#define DEFINE_ODD(key, site)  DEFINE_SITE(static_branch_likely, key, site)
#define NAME_SITE(key, site)   run_##key##_##site,

/* The macros @even and @odd for sites 000 to 077. */
#define EIGHT(even, odd, key, row)                                                        \
	even(key, 0##row##0) odd(key, 0##row##1) even(key, 0##row##2) odd(key, 0##row##3) \
		even(key, 0##row##4) odd(key, 0##row##5) even(key, 0##row##6) odd(key, 0##row##7)
#define EACH(even, odd, key)     \
	EIGHT(even, odd, key, 0) \
	EIGHT(even, odd, key, 1) \
	EIGHT(even, odd, key, 2) \
	EIGHT(even, odd, key, 3) \
	EIGHT(even, odd, key, 4) \
	EIGHT(even, odd, key, 5) EIGHT(even, odd, key, 6) EIGHT(even, odd, key, 7)

EACH(DEFINE_EVEN, DEFINE_ODD, 0)
EACH(DEFINE_EVEN, DEFINE_ODD, 1)
EACH(DEFINE_EVEN, DEFINE_ODD, 2)

stress_site *const stress_sites[STRESS_KEYS][STRESS_SITES] = {
	{EACH(NAME_SITE, NAME_SITE, 0)},
	{EACH(NAME_SITE, NAME_SITE, 1)},
	{EACH(NAME_SITE, NAME_SITE, 2)},
};

/* ---- where they came to lie ---- */

struct coverage {
	unsigned sites, page_crossings;
	unsigned at_offset[LINE_BYTES];
};

/* Reads the object's own table, as the library does. */
static void cover(struct coverage *coverage, const struct dormant_site *entry)
{
	uintptr_t code = (uintptr_t)&entry->code + (uintptr_t)(intptr_t)entry->code;

	coverage->sites++;
	coverage->at_offset[code % LINE_BYTES]++;
	coverage->page_crossings += code % PAGE_BYTES > PAGE_BYTES - DORMANT_SITE_BYTES;
}

int stress_check_addresses(void)
{
	struct coverage coverage[STRESS_KEYS] = {0};
	const struct dormant_site *entry = dormant_object_self.sites;

	for (; entry < dormant_object_self.sites_end; entry++) {
		uintptr_t word = (uintptr_t)&entry->key + (uintptr_t)(intptr_t)entry->key;
		struct static_key_false *const *pointer = (void *)(word & ~(uintptr_t)3);

		cover(&coverage[*pointer - stress_keys], entry);
	}
	for (unsigned key = 0; key < STRESS_KEYS; key++) {
		for (unsigned i = 0; i < LINE_BYTES; i++) {
			if (coverage[key].at_offset[i] == 1)
				continue;
			fprintf(stderr, "stress: key %u has %u sites at line offset %u\n", key,
				coverage[key].at_offset[i], i);
			return 1;
		}
		if (coverage[key].sites == STRESS_SITES && coverage[key].page_crossings >= 1)
			continue;
		fprintf(stderr, "stress: key %u has %u sites, %u across pages\n", key,
			coverage[key].sites, coverage[key].page_crossings);
		return 1;
	}
	return 0;
}
