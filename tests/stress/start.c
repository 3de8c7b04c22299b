/* SPDX-License-Identifier: MIT */
/*
 * Prints where this program's text lies, and how much of it is no longer the file's:
 *
 *     BEGIN END PRIVATE_DIRTY_KB        (addresses in decimal)
 *
 * Built with KEY_IS_ON it has one key whose sites the file can not hold right.
 */
#include <stdio.h>

#include "sites.h"

DEFINE_SITES(many, 10000, 64);

#ifdef KEY_IS_ON
static struct static_key plain = STATIC_KEY_INIT_TRUE;
#else
static struct static_key plain = STATIC_KEY_INIT_FALSE;
#endif

int main(void)
{
	const unsigned long text = (unsigned long)many_site;
	unsigned long begin = 0, end = 0, from, to, dirty_kb;
	char line[512];
	FILE *maps = fopen("/proc/self/smaps", "r");

	if (static_branch_unlikely(&plain) != static_key_enabled(&plain))
		return 1;
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && from <= text && text < to) {
			begin = from;
			end = to;
		} else if (begin != 0 && sscanf(line, "Private_Dirty: %lu", &dirty_kb) == 1) {
			printf("%lu %lu %lu\n", begin, end, dirty_kb);
			return 0;
		}
	}
	return 1;
}
