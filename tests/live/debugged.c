/* SPDX-License-Identifier: MIT */
/* A program for debuggers.sh to look at: it switches a key on, says where the site and its function
 * are, and waits inside a function that only patched code calls. */
#include <stdio.h>
#include <unistd.h>

#include "own_sites.h"

DEFINE_STATIC_KEY_FALSE(watched_key);

__attribute__((noinline)) static void wait_on_path(void)
{
	printf("site %p\n", (void *)own_site_find(&watched_key.key, 0));
	(void)fflush(stdout);
	pause();
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void function_with_site(void)
{
	if (static_branch_unlikely(&watched_key))
		wait_on_path();
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	if (static_branch_enable(&watched_key) != 0)
		return 1;
	function_with_site();
	return 1; /* not reached before the kill */
}
