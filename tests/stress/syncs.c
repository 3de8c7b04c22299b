/* SPDX-License-Identifier: MIT */
/* Toggles one key a number of times, to be watched: syncs NUMBER-OF-SITES TOGGLES. */
#include <stdio.h>
#include <stdlib.h>

#include "sites.h"

/* clang-format off: one line a key */
DEFINE_SITES(dense_1, 1, 64);
DEFINE_SITES(dense_1000, 1000, 64);
DEFINE_SITES(dense_100000, 100000, 64);
/* clang-format on */

static struct static_key *find_key(long sites)
{
	return sites == 1 ? &dense_1.key : sites == 1000 ? &dense_1000.key : &dense_100000.key;
}

int main(int argc, char **argv)
{
	struct static_key *key = find_key(argc == 3 ? strtol(argv[1], NULL, 10) : 1);
	long toggles = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	for (long i = 0; i < toggles; i++) {
		if ((i % 2 == 0 ? static_key_enable(key) : static_key_disable(key)) != 0)
			return 1;
	}
	return 0;
}
