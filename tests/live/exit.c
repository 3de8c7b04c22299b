/* SPDX-License-Identifier: MIT */
/*
 * The end of a program: with threads that still toggle, and with references that are still held.
 * Each case runs as `exit PLUGIN_A CASE` in a process of its own.
 *
 * usage: exit PLUGIN_A
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "deadline.h"
#include "many_sites.h"
#include "plugin.h"
#include "tap.h"

/* How a case ends where it is not right. */
#define NOTICED 3
#define STALE   4

DEFINE_STATIC_KEY_FALSE(program_key);
DEFINE_STATIC_KEY_TRUE(program_true);
DEFINE_STATIC_KEY_FALSE(program_other);
struct program_commands program_commands;

DEFINE_10_SITES(own_sites, &program_key)

static void *toggle(void *data)
{
	for (;;) {
		if (static_branch_enable(&program_key) != 0 || own_sites() != 10)
			_exit(STALE);
		if (static_branch_disable(&program_key) != 0 || own_sites() != 0)
			_exit(STALE);
	}
	return data;
}

static void note(const char *message, void *data)
{
	(void)message;
	(void)data;
	_exit(NOTICED);
}

static const struct plugin *load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	return handle == NULL ? NULL : dlsym(handle, "plugin");
}

/* Ends with a thread that sees its toggles take effect up to the last instruction. */
static int run_thread(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, toggle, NULL);
	while (__atomic_load_n(&program_key.key.enabled, __ATOMIC_RELAXED) == 0)
		sched_yield();
	return 0;
}

static void linger(void)
{
	for (int i = 0; i < 20; i++)
		sched_yield();
}

/* By hand, because the compilers keep priorities below 101 for themselves: after the destructor
 * that takes the program's sites back. */
__attribute__((section(".fini_array.00050"), used)) static void (*const last)(void) = linger;

static int hold_keys(const struct plugin *plugin)
{
	if (plugin == NULL || static_key_slow_inc(plugin->private_key) != 0 ||
	    plugin->references(2) != 0)
		return 1;
	dormant_notice_set(note, NULL);
	return 0;
}

static void test_case(char **argv, char *name, int runs, const char *what)
{
	int wrong = 0, status = 0;

	for (int i = 0; i < runs; i++) {
		pid_t child = fork();

		if (child == 0) {
			execl(argv[0], argv[0], argv[1], name, (char *)NULL);
			_exit(99);
		}
		status = deadline_wait(child);
		wrong += status != 0;
	}
	ok(wrong == 0, "%s (%d of %d not, the last with status %d)", what, wrong, runs, status);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		bail("usage: %s PLUGIN_A", argv[0]);
	deadline_set(60);
	if (argc == 3)
		return strcmp(argv[2], "threads") == 0 ? run_thread() : hold_keys(load(argv[1]));
	plan(2);
	test_case(argv, "threads", 20, "a program ends while its threads toggle");
	test_case(argv, "holds", 3, "references that are held at the end are no leaks");
	return done();
}
