/* SPDX-License-Identifier: MIT */
/*
 * The sites of Lua's hook key as they are in memory, for the tests that look at their bytes.
 */
#ifndef SITES_H
#define SITES_H

#include <stdint.h>

#include "hook_key.h"

static inline const struct static_key *site_key(const struct dormant_site *site)
{
	uintptr_t pointer = (uintptr_t)&site->key + (uintptr_t)(intptr_t)(site->key & ~3);

	return *(const struct static_key *const *)pointer;
}

static inline unsigned char *site_code(const struct dormant_site *site)
{
	return (unsigned char *)((uintptr_t)&site->code + (uintptr_t)(intptr_t)site->code);
}

/* How many sites of the key start with @opcode. */
static inline int count_sites(unsigned char opcode)
{
	int count = 0;

	for (const struct dormant_site *site = __start_dormant_sites; site < __stop_dormant_sites;
	     site++)
		count += site_key(site) == &lua_hook_key.key &&
			 *(volatile unsigned char *)site_code(site) == opcode;
	return count;
}

/* Any one of the key's sites. */
static inline unsigned char *find_site(void)
{
	const struct dormant_site *site = __start_dormant_sites;

	while (site_key(site) != &lua_hook_key.key)
		site++;
	return site_code(site);
}

#endif
