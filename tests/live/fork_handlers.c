/* SPDX-License-Identifier: MIT */
/*
 * Toggles inside pthread_atfork() handlers, of which some were registered before the library's own
 * and run inside them, and some after and run outside.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "deadline.h"
#include "many_sites.h"
#include "tap.h"

#define FORKS 300

DEFINE_STATIC_KEY_FALSE(early_key);
DEFINE_STATIC_KEY_FALSE(late_key);
DEFINE_STATIC_KEY_FALSE(thread_key);

DEFINE_10_SITES(early_sites, &early_key)
DEFINE_10_SITES(late_sites, &late_key)
DEFINE_10_SITES(thread_sites, &thread_key)

static int wrong, calls;

/* On in prepare, off again in parent and in child. */
#define DEFINE_HANDLERS(name)                                                            \
	static void name##_prepare(void)                                                 \
	{                                                                                \
		calls++;                                                                 \
		wrong += static_branch_enable(&name##_key) != 0 || name##_sites() != 10; \
		wrong += static_branch_inc(&name##_key) != 0;                            \
		wrong += static_branch_dec(&name##_key) != 0;                            \
	}                                                                                \
	static void name##_parent(void)                                                  \
	{                                                                                \
		wrong += name##_sites() != 10;                                           \
		wrong += static_branch_disable(&name##_key) != 0 || name##_sites() != 0; \
	}                                                                                \
	static void name##_child(void)                                                   \
	{                                                                                \
		deadline_set(20);                                                        \
		name##_parent();                                                         \
	}
DEFINE_HANDLERS(early)
DEFINE_HANDLERS(late)

static void register_early(int argc, char **argv, char **environment)
{
	(void)argc;
	(void)argv;
	(void)environment;
	pthread_atfork(early_prepare, early_parent, early_child);
}

/* Before every constructor, and so before the library registers its handlers. */
__attribute__((section(".preinit_array"),
	       used)) static void (*const before_constructors)(int, char **,
							       char **) = register_early;

static int finished;

static void *toggle(void *data)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		if (static_branch_enable(&thread_key) != 0 || thread_sites() != 10 ||
		    static_branch_disable(&thread_key) != 0 || thread_sites() != 0)
			abort();
	}
	return data;
}

static int check_child(void)
{
	if (wrong != 0 || early_sites() != 0 || late_sites() != 0)
		return 1;
	if (static_branch_enable(&thread_key) != 0 || thread_sites() != 10)
		return 2;
	return dormant_status(NULL) == 0 ? 0 : 3;
}

int main(void)
{
	pthread_t thread;
	int bad = 0;

	deadline_set(100);
	plan(4);
	pthread_atfork(late_prepare, late_parent, late_child);
	pthread_create(&thread, NULL, toggle, NULL);
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(check_child());
		bad += deadline_wait(child) != 0;
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(calls == 2 * FORKS, "both prepare handlers ran at each fork");
	ok(wrong == 0, "every toggle in a handler took effect at once (%d not)", wrong);
	ok(bad == 0, "every child is consistent (%d not)", bad);
	ok(dormant_status(NULL) == 0, "keys and branches of the parent agree");
	return done();
}
