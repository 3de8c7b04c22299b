/* SPDX-License-Identifier: MIT */
/*
 * Values and calls before the library has seen their object: in an ifunc resolver, before all
 * constructors, and in a constructor of the first priority; and in a destructor.
 */
#include <dormant/imv.h>
#include <dormant/static_call.h>

#include "own_operands.h"
#include "tap.h"

DEFINE_IMV(int, value4) = 4;
DEFINE_IMV(long, value8) = 0x0807060504030201;

static int one(int x)
{
	return x + 1;
}

static int two(int x)
{
	return x + 2;
}

DEFINE_STATIC_CALL(call, one);

struct view {
	int value4;
	long value8;
	int called, tail_called;
};

__attribute__((noinline)) static int tail_call(int x)
{
	return static_call(call)(x);
}

__attribute__((noinline)) static struct view look(void)
{
	return (struct view){imv_read(value4), imv_read(value8), static_call(call)(100) + 1000,
			     tail_call(100)};
}

static bool is(struct view view, int value, long value_of_8, int step)
{
	return view.value4 == value && view.value8 == value_of_8 && view.called == 1100 + step &&
	       view.tail_called == 100 + step;
}

/* ---- in the order in which they run ---- */

static struct view in_resolver, at_first, after_set;
static int set_result = -1;

static int resolved(void)
{
	return 77;
}

/* The dynamic linker is at work: nothing may be called, and relocations may be missing still. */
/* clang does not see that the attribute below uses it. */
__attribute__((used)) static int (*resolve(void))(void)
{
	in_resolver.value4 = imv_read(value4);
	in_resolver.value8 = imv_read(value8);
	in_resolver.tail_called = static_call(call)(100);
	in_resolver.called = 1000 + in_resolver.tail_called;
	return resolved;
}

int by_resolver(void) __attribute__((ifunc("resolve")));

static void before_constructors(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	(void)environment;
	at_first = look();
	set_result = imv_set(value4, 5) + imv_set(value8, -5) + static_call_update(call, two);
	after_set = look();
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const first)(int, char **, char **) = before_constructors;

static struct view in_constructor;

/* Of the same priority as the headers', and before or after them. */
__attribute__((constructor(101))) static void construct(void)
{
	in_constructor = look();
	(void)imv_set(value4, 6);
}

/* ---- then main(), and at last the destructor ---- */

static void test_early(void)
{
	ok(by_resolver() == 77 && is(in_resolver, 4, 0x0807060504030201, 1),
	   "an ifunc resolver sees what is in the file");
	ok(is(at_first, 4, 0x0807060504030201, 1), "as does what runs before all constructors");
	ok(set_result == 0 && is(after_set, 5, -5, 2), "what it sets, it sees");
	ok(is(in_constructor, 5, -5, 2), "and a constructor of the first priority sees it");
	ok(is(look(), 6, -5, 2) && dormant_status(NULL) == 0, "main() sees all of it");
}

static int live_sites(const void *owner)
{
	int all, live = own_operand_count_live(owner, &all);

	return live == all ? live : -1;
}

static void test_live(void)
{
	const char *name = "sites hold what was set before they were known";
	const char *writer = getenv("DORMANT_WRITER");

	if (writer != NULL)
		skip(name, "DORMANT_WRITER is set");
	else
		ok(live_sites(OWN_VALUE(value4)) > 0 && live_sites(OWN_VALUE(value8)) > 0 &&
			   own_operand_count_direct(OWN_CALL(call), (void *)two) >= 1,
		   "%s", name);
}

__attribute__((destructor)) static void destruct(void)
{
	if (!is(look(), 6, -5, 2) || imv_set(value4, 11) != 0 ||
	    static_call_update(call, one) != 0 || !is(look(), 11, -5, 1))
		_Exit(98);
}

int main(void)
{
	plan(5 + 1);
	test_early();
	test_live();
	return done();
}
