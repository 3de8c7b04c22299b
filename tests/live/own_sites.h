/* SPDX-License-Identifier: MIT */
/* Where the program's own sites are, from its table, and ways to look at and change their bytes
 * that do not go through the library. */
#ifndef OWN_SITES_H
#define OWN_SITES_H

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <dormant/static_key.h>

static inline uint8_t *own_site_code(const struct dormant_site *site)
{
	return (uint8_t *)(uintptr_t)&site->code + site->code;
}

static inline const struct static_key *own_site_key(const struct dormant_site *site)
{
	const int32_t offset = site->key & ~(DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP);

	return *(struct static_key *const *)(const void *)((const char *)&site->key + offset);
}

/* The @n-th site of @key in the table, or NULL. */
static inline uint8_t *own_site_find(const struct static_key *key, size_t n)
{
	const struct dormant_site *site = dormant_object_self.sites;

	for (; site < dormant_object_self.sites_end; site++) {
		if (own_site_key(site) == key && n-- == 0)
			return own_site_code(site);
	}
	return NULL;
}

/* How many sites of @key there are: a compiler may have made several of one in the source. */
static inline int own_site_count(const struct static_key *key)
{
	int count = 0;

	while (own_site_find(key, (size_t)count) != NULL)
		count++;
	return count;
}

/* Stores @byte in text, as a debugger does. */
static inline int own_site_poke(uint8_t *code, uint8_t byte)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t done = fd < 0 ? -1 : pwrite(fd, &byte, 1, (off_t)(uintptr_t)code);

	if (fd >= 0)
		(void)close(fd);
	return done == 1 ? 0 : -1;
}

#endif
