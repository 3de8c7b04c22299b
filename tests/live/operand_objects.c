/* SPDX-License-Identifier: MIT */
/*
 * Values and static calls across objects: the program's used by its library and by a plugin, the
 * library's used by both. Built with and without a procedure linkage table, bound lazily and at
 * once, at a fixed address, and with a library whose symbols are hidden.
 *
 * usage: operand_objects PLUGIN
 */
#include <dlfcn.h>
#include <pthread.h>

#include "deadline.h"
#include "operand_objects.h"
#include "tap.h"

#define CYCLES 200

DEFINE_IMV(unsigned char, program_value1) = 7;
DEFINE_IMV(unsigned long, program_value8) = 0x0123456789abcdef;

int program_one(int x)
{
	return x + 10;
}

DEFINE_STATIC_CALL(program_call, program_one);

DEFINE_LOOK

static bool is(struct view view, struct view expected)
{
	return view.program_value1 == expected.program_value1 &&
	       view.program_value8 == expected.program_value8 &&
	       view.library_value4 == expected.library_value4 &&
	       view.library_value8 == expected.library_value8 &&
	       view.program_called == expected.program_called &&
	       view.program_tail_called == expected.program_tail_called &&
	       view.library_called == expected.library_called &&
	       view.library_tail_called == expected.library_tail_called;
}

/* As after set_here(n). */
static struct view after(int n)
{
	const int program = n % 2 == 0 ? 110 : 102, library = n % 2 == 0 ? 101 : 102;

	return (struct view){
		(unsigned char)n, (unsigned long)n << 40, -n,     n / 2.0, 1000 + program,
		program,          1000 + library,         library};
}

static const struct view in_file = {7, 0x0123456789abcdef, 11, 1.25, 1110, 110, 1101, 101};

static void test_library(void)
{
	ok(is(library_object.look_in_constructor(), in_file),
	   "the library's constructor sees what is in the files");
	ok(is(look_here(), in_file) && is(library_object.look(), in_file),
	   "as do program and library after it");
	ok(set_here(20) == 0 && is(look_here(), after(20)) && is(library_object.look(), after(20)),
	   "what the program sets, both see");
	ok(library_object.set(21) == 0 && is(look_here(), after(21)) &&
		   is(library_object.look(), after(21)),
	   "what the library sets as well");
	ok(static_call_update(library_call, NULL) == 0 && static_call_query(library_call) == NULL &&
		   set_here(22) == 0 && is(look_here(), after(22)) &&
		   is(library_object.look(), after(22)),
	   "also from nothing");
}

static void *load(const char *path, const struct operand_object **plugin)
{
	void *handle = dlopen(path, RTLD_NOW);

	*plugin = handle == NULL ? NULL : dlsym(handle, "plugin_object");
	if (*plugin == NULL)
		bail("%s: %s", path, dlerror());
	return handle;
}

static void test_plugin(const char *path)
{
	const struct operand_object *plugin;
	void *handle;

	(void)set_here(31);
	handle = load(path, &plugin);
	ok(is(plugin->look_in_constructor(), after(31)) && is(plugin->look(), after(31)),
	   "a plugin's sites start with the current values");
	ok(set_here(32) == 0 && is(plugin->look(), after(32)) && plugin->set(33) == 0 &&
		   is(plugin->look(), after(33)) && is(look_here(), after(33)) &&
		   is(library_object.look(), after(33)),
	   "follow them, and it can set them");
	(void)dlclose(handle);
	ok(is(look_here(), after(34)) && is(library_object.look(), after(34)),
	   "its destructor sets them");
	ok(set_here(35) == 0 && is(look_here(), after(35)) && dormant_status(NULL) == 0,
	   "when it is gone, they are set without it");
}

/* As where a library is closed and opened, and its memory stays. Its text is not the file's then.
 */
static void test_again(void)
{
	(void)set_here(35);
	ok(library_object.renew() == 0 && is(library_object.look(), after(35)),
	   "an object that is forgotten and made known again is as before");
	ok(set_here(36) == 0 && is(library_object.look(), after(36)) &&
		   static_call_update(library_call, NULL) == 0 && library_object.renew() == 0 &&
		   set_here(37) == 0 && is(library_object.look(), after(37)) &&
		   dormant_status(NULL) == 0,
	   "and follows");
}

static int finished, wrong_there;

static void *set_for_ever(void *data)
{
	for (int n = 40; !__atomic_load_n(&finished, __ATOMIC_RELAXED); n = n == 99 ? 40 : n + 1)
		wrong_there += imv_set(program_value8, (unsigned long)n << 40) != 0 ||
			       imv_read(program_value8) >> 40 == 0;
	return data;
}

static void test_cycles(const char *path)
{
	const struct operand_object *plugin;
	pthread_t thread;
	int wrong = 0;

	pthread_create(&thread, NULL, set_for_ever, NULL);
	for (int i = 0; i < CYCLES; i++) {
		void *handle = load(path, &plugin);
		unsigned long seen = plugin->look().program_value8;

		wrong += (seen >> 40) == 0 || (seen >> 40) > 256 || seen << 24 != 0;
		wrong += imv_set(library_value4, i) != 0 || plugin->look().library_value4 != i;
		wrong += dlclose(handle) != 0;
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(wrong == 0 && wrong_there == 0,
	   "%d times loaded and unloaded while another thread sets (%d wrong here, %d there)",
	   CYCLES, wrong, wrong_there);
	ok(dormant_status(NULL) == 0, "sites and values agree afterwards");
}

/* The process's size, in pages; 0 where /proc does not tell. */
static long count_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (statm != NULL && fscanf(statm, "%ld", &pages) != 1)
		pages = 0;
	if (statm != NULL)
		(void)fclose(statm);
	return pages;
}

static void test_leavings(const char *path)
{
	const struct operand_object *plugin;
	long before;

	(void)dlclose(load(path, &plugin));
	before = count_pages();
	for (int i = 0; i < CYCLES; i++)
		(void)dlclose(load(path, &plugin));
	ok(count_pages() - before < CYCLES / 2, "what is loaded and unloaded leaves nothing (%ld)",
	   count_pages() - before);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		bail("usage: %s PLUGIN", argv[0]);
	deadline_set(60);
	plan(5 + 4 + 2 + 2 + 1);
	test_library();
	test_plugin(argv[1]);
	test_again();
	test_cycles(argv[1]);
	test_leavings(argv[1]);
	return done();
}
