/* SPDX-License-Identifier: MIT */
/*
 * Two shared objects that are each linked with a copy of the library: both toggle at once, each
 * its own key, and no site tears or is missed.
 *
 * usage: two_copies OBJECT_1 OBJECT_2
 */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>

#include "deadline.h"
#include "tap.h"

#define ROUNDS 2000
#define CYCLES 300

typedef int switch_function(int on);

static switch_function *load(const char *path, void **handle)
{
	switch_function *function = NULL;

	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*handle != NULL)
		*(void **)&function = dlsym(*handle, "alone_switch");
	if (function == NULL)
		bail("%s: %s", path, dlerror());
	return function;
}

struct toggler {
	pthread_t thread;
	switch_function *toggle;
	int wrong;
};

static void *run(void *data)
{
	struct toggler *self = data;

	for (int i = 0; i < ROUNDS; i++)
		self->wrong += self->toggle(1) != 10 || self->toggle(0) != 0;
	return NULL;
}

static void test_together(const char *first, const char *second)
{
	void *handles[2];
	struct toggler togglers[2] = {{.toggle = load(first, &handles[0])},
				      {.toggle = load(second, &handles[1])}};

	ok(togglers[0].toggle != togglers[1].toggle, "there are two objects");
	for (int i = 0; i < 2; i++)
		pthread_create(&togglers[i].thread, NULL, run, &togglers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(togglers[i].thread, NULL);
	ok(togglers[0].wrong == 0, "the first's sites followed each toggle");
	ok(togglers[1].wrong == 0, "the second's as well");
	(void)dlclose(handles[0]);
	ok(togglers[1].toggle(1) == 10 && togglers[1].toggle(0) == 0,
	   "and go on when the first is unloaded");
	(void)dlclose(handles[1]);
}

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	if (directory == NULL)
		return -1;
	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}

/* The library goes with its object here, and must leave nothing. */
static void test_cycles(const char *path)
{
	int before = count_descriptors(), wrong = 0;

	for (int i = 0; i < CYCLES; i++) {
		void *handle;

		wrong += load(path, &handle)(1) != 10;
		(void)dlclose(handle);
	}
	ok(wrong == 0, "loaded and unloaded %d times it works each time", CYCLES);
	ok(count_descriptors() == before, "and no descriptor is left open");
}

int main(int argc, char **argv)
{
	if (argc != 3)
		bail("usage: %s OBJECT_1 OBJECT_2", argv[0]);
	deadline_set(60);
	plan(6);
	test_together(argv[1], argv[2]);
	test_cycles(argv[1]);
	return done();
}
