/* SPDX-License-Identifier: MIT */
/*
 * Promise 4: objects that come and go while the program runs.
 *
 * usage: dlopen PLUGIN_A PLUGIN_B PLUGIN_ALONE, where B has sites of A's key, and ALONE needs
 * nothing of the program
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "deadline.h"
#include "many_sites.h"
#include "plugin.h"
#include "tap.h"

#define CYCLES 1000

DEFINE_STATIC_KEY_FALSE(program_key);
DEFINE_STATIC_KEY_TRUE(program_true);
DEFINE_STATIC_KEY_FALSE(program_other);
struct program_commands program_commands;

DEFINE_10_SITES(own_sites, &program_key)

static const char *path_a, *path_b, *path_alone;

static void *load(const char *path, int mode, const struct plugin **plugin)
{
	void *handle = dlopen(path, RTLD_NOW | mode);

	*plugin = handle == NULL ? NULL : dlsym(handle, "plugin");
	if (*plugin == NULL)
		bail("%s: %s", path, dlerror());
	return handle;
}

static void test_state_at_load(int mode, const char *name)
{
	const struct plugin *plugin;
	void *handle;

	(void)static_branch_enable(&program_key);
	(void)static_branch_disable(&program_true);
	handle = load(path_a, mode, &plugin);
	ok(plugin->constructor_saw() == 10, "%s: sites are right in the plugin's constructor",
	   name);
	ok(plugin->program_sites() == 10 && plugin->program_true_sites() == 0,
	   "%s: sites of the program's keys start in their current state", name);
	ok(static_branch_disable(&program_key) == 0 && static_branch_enable(&program_true) == 0 &&
		   plugin->program_sites() == 0 && plugin->program_true_sites() == 10,
	   "%s: and follow them", name);
	ok(static_key_enable(plugin->private_key) == 0 && plugin->private_sites() == 10 &&
		   static_key_disable(plugin->private_key) == 0 && plugin->private_sites() == 0,
	   "%s: its own key can be switched", name);
	ok(plugin->references(1) == 0 && own_sites() == 10 && plugin->program_sites() == 10 &&
		   plugin->references(-1) == 0 && own_sites() == 0,
	   "%s: it can switch the program's key", name);
	ok(dlclose(handle) == 0 && static_branch_enable(&program_key) == 0 && own_sites() == 10 &&
		   static_branch_disable(&program_key) == 0 && own_sites() == 0,
	   "%s: when it is gone, the keys work without it", name);
	ok(dormant_status(NULL) == 0, "%s: keys and branches agree", name);
}

/* B's sites follow the key that A defines, and keep A in memory. */
static void test_key_of_other_plugin(void)
{
	const struct plugin *a, *b;
	void *handle_a = load(path_a, RTLD_GLOBAL, &a), *handle_b;

	(void)static_key_enable(*a->public_key);
	handle_b = load(path_b, RTLD_LOCAL, &b);
	ok(*b->public_key == *a->public_key && b->public_sites() == 10,
	   "a plugin's sites of another plugin's key start in its current state");
	ok(static_key_disable(*b->public_key) == 0 && a->public_sites() == 0 &&
		   b->public_sites() == 0,
	   "and both follow it");
	(void)dlclose(handle_a);
	ok(static_key_enable(*b->public_key) == 0 && b->public_sites() == 10,
	   "also when the other is closed");
	(void)dlclose(handle_b);
	ok(dormant_status(NULL) == 0, "keys and branches agree when both are gone");
}

static void test_toggle_while_loading(void)
{
	const struct plugin *plugin;
	void *handle;

	program_commands = (struct program_commands){.toggle_in_constructor = 1};
	handle = load(path_a, RTLD_LOCAL, &plugin);
	ok(plugin->private_sites() == 10 && static_key_enabled(&program_other),
	   "a constructor can switch the plugin's and the program's keys");
	program_commands = (struct program_commands){.toggle_in_destructor = 1};
	(void)static_branch_enable(&program_key);
	(void)dlclose(handle);
	ok(program_commands.seen_in_destructor == 10 && !static_key_enabled(&program_other),
	   "a destructor as well, and its sites are right still");
	(void)static_branch_disable(&program_key);
	program_commands = (struct program_commands){0};
}

static int finished, failures;

static void *toggle(void *data)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		int result = static_branch_enable(&program_key);

		failures += result != 0 || own_sites() != 10;
		failures += static_branch_disable(&program_key) != 0 || own_sites() != 0;
	}
	return data;
}

static void test_many_cycles(void)
{
	const struct plugin *plugin;
	pthread_t thread;
	int wrong = 0;

	pthread_create(&thread, NULL, toggle, NULL);
	for (int i = 0; i < CYCLES; i++) {
		void *handle = load(path_a, i % 2 == 0 ? RTLD_LOCAL : RTLD_GLOBAL, &plugin);

		wrong += static_key_enable(plugin->private_key) != 0;
		wrong += plugin->private_sites() != 10 || plugin->public_sites() != 0;
		wrong += dlclose(handle) != 0;
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(wrong == 0 && failures == 0,
	   "%d times loaded and unloaded while another thread toggles (%d wrong here, %d there)",
	   CYCLES, wrong, failures);
	ok(dormant_status(NULL) == 0, "keys and branches agree afterwards");
}

/* A second copy of the library with its own registry, in a namespace of its own. */
static void test_namespace(void)
{
	const char *name = "an object in another namespace of the linker switches its keys";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(DORMANT_SANITIZED)
	(void)path_alone;
	skip(name, "a sanitizer's library can not be loaded twice");
#else
	void *handle = dlmopen(LM_ID_NEWLM, path_alone, RTLD_NOW);
	int (*switch_and_count)(int on) = NULL;

	if (handle != NULL)
		*(void **)&switch_and_count = dlsym(handle, "alone_switch");
	ok(switch_and_count != NULL && switch_and_count(1) == 10 && switch_and_count(0) == 0,
	   "%s%s", name, handle == NULL ? dlerror() : "");
	if (handle != NULL)
		(void)dlclose(handle);
#endif
}

int main(int argc, char **argv)
{
	if (argc != 4)
		bail("usage: %s PLUGIN_A PLUGIN_B PLUGIN_ALONE", argv[0]);
	path_a = argv[1];
	path_b = argv[2];
	path_alone = argv[3];
	deadline_set(100);
	plan(7 + 7 + 4 + 2 + 2 + 1);
	test_state_at_load(RTLD_LOCAL, "RTLD_LOCAL");
	test_state_at_load(RTLD_GLOBAL, "RTLD_GLOBAL");
	test_key_of_other_plugin();
	test_toggle_while_loading();
	test_many_cycles();
	test_namespace();
	return done();
}
