/* SPDX-License-Identifier: MIT */
/*
 * A plugin that is unloaded while it holds references on the program's key: they are given back,
 * and the notice function is told whose they were. Where the program may have given them back
 * already, nothing is changed, and it is told that too.
 *
 * usage: unload_leak PLUGIN_A
 */
#include <dlfcn.h>
#include <string.h>

#include "deadline.h"
#include "many_sites.h"
#include "plugin.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(program_key);
DEFINE_STATIC_KEY_TRUE(program_true);
DEFINE_STATIC_KEY_FALSE(program_other);
struct program_commands program_commands;

DEFINE_10_SITES(own_sites, &program_key)

static const char *path;
static int notices;
static char notice[512];

/* It may toggle: the library calls it without its lock. */
static void note(const char *message, void *data)
{
	notices += data == &notices;
	snprintf(notice, sizeof(notice), "%s", message);
	(void)static_branch_enable(&program_other);
}

static const struct plugin *load(void **handle)
{
	const struct plugin *plugin;

	*handle = dlopen(path, RTLD_NOW);
	plugin = *handle == NULL ? NULL : dlsym(*handle, "plugin");
	if (plugin == NULL)
		bail("%s: %s", path, dlerror());
	notices = 0;
	notice[0] = '\0';
	return plugin;
}

static bool is(int count)
{
	return static_key_count(&program_key.key) == count && own_sites() == (count > 0) * 10;
}

static void test_repair(void)
{
	void *handle;
	const struct plugin *plugin = load(&handle);

	ok(plugin->references(2) == 0 && is(2), "a plugin takes two references");
	(void)dlclose(handle);
	ok(is(0), "unloaded, they are given back, and the key is off");
	ok(notices == 1 && strstr(notice, path) != NULL && strstr(notice, "program_key") != NULL &&
		   strstr(notice, " 2 ") != NULL,
	   "the notice names object, key and number: %s", notice);
	ok(static_branch_dec(&program_other) == 0, "the notice function could toggle");
}

static void test_others_stay(void)
{
	void *handle;
	const struct plugin *plugin = load(&handle);

	(void)static_branch_inc(&program_key);
	ok(plugin->references(2) == 0 && is(3), "the program holds one, the plugin two");
	(void)dlclose(handle);
	ok(is(1) && notices == 1, "unloaded, the program's is left");
	ok(static_branch_dec(&program_key) == 0 && is(0), "and can be given back");
}

static void test_clean(void)
{
	void *handle;
	const struct plugin *plugin = load(&handle);

	ok(plugin->references(2) == 0 && plugin->references(-2) == 0 && is(0), "taken and given");
	(void)dlclose(handle);
	ok(is(0) && notices == 0, "a plugin that holds nothing causes no notice");
}

static void test_deferred(void)
{
	void *handle;
	const struct plugin *plugin = load(&handle);

	ok(plugin->references(1) == 0 && plugin->give_back_later() == 0 && is(1),
	   "a plugin gives a reference back with a delay of an hour");
	(void)dlclose(handle);
	ok(is(0) && notices == 0, "unloaded meanwhile, it is given back at once");
	ok(dormant_deferred_run() == -1, "and nothing of the plugin waits");
}

static void test_disputed(void)
{
	void *handle;
	const struct plugin *plugin = load(&handle);

	(void)plugin->references(2);
	ok(static_branch_dec(&program_key) == 0 && is(1),
	   "the program gives back one of the plugin's two references");
	(void)dlclose(handle);
	ok(is(1), "unloaded, the count is left as it is, because nobody can tell whose it is");
	ok(notices == 1 && strstr(notice, "program_key") != NULL, "but there is a notice: %s",
	   notice);
	(void)static_branch_dec(&program_key);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		bail("usage: %s PLUGIN_A", argv[0]);
	path = argv[1];
	deadline_set(60);
	plan(4 + 3 + 2 + 3 + 3 + 1);
	dormant_notice_set(note, &notices);
	test_repair();
	test_others_stay();
	test_clean();
	test_deferred();
	test_disputed(); /* last: it leaves the books of this program in debt */
	ok(dormant_status(NULL) == 0, "keys and branches agree");
	dormant_notice_set(NULL, NULL);
	return done();
}
