/* SPDX-License-Identifier: MIT */
/*
 * A program for debuggers.sh to look at: it switches a key on and sets a value, says where their
 * sites and their functions are, and waits inside a function that only patched code calls. With an
 * argument it stops in ready() instead, then changes the value while the debugger has a breakpoint
 * on its site, and again without it.
 */
#include <stdio.h>
#include <unistd.h>

#include <dormant/imv.h>

#include "own_operands.h"
#include "own_sites.h"

DEFINE_STATIC_KEY_FALSE(watched_key);
DEFINE_IMV(int, watched_value) = 0x1111;

void *value_site; /* for the debugger */

__attribute__((noinline)) static void wait_on_path(void)
{
	printf("value %p\n", value_site);
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

__attribute__((noinline)) static int function_with_value(void)
{
	return imv_read(watched_value);
}

__attribute__((noinline)) static void ready(void)
{
	__asm__ volatile("" ::: "memory");
}

static int change_value(void)
{
	ready();
	for (int i = 0; i < 2; i++) {
		int result = imv_set(watched_value, 0x3333);

		printf("set %d read %#x got %#x\n", result, function_with_value(),
		       imv_get(watched_value));
		(void)fflush(stdout);
		ready();
	}
	return 0;
}

int main(int argc, char **argv)
{
	(void)argv;
	value_site = own_operand_code(own_operand_find(OWN_VALUE(watched_value), OWN_ANY_KIND, 0));
	if (static_branch_enable(&watched_key) != 0 || imv_set(watched_value, 0x2222) != 0 ||
	    function_with_value() != 0x2222)
		return 1;
	if (argc > 1)
		return change_value();
	function_with_site();
	return 1; /* not reached before the kill */
}
