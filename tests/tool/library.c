/* SPDX-License-Identifier: MIT */
/* A shared object with a key of its own. */
#include <dormant/static_key.h>

int library_work(void);

DEFINE_STATIC_KEY_TRUE(shared_key);

int library_work(void)
{
	return static_branch_likely(&shared_key) ? 3 : 4;
}
