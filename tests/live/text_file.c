/* SPDX-License-Identifier: MIT */
/*
 * Promise 6: text that was switched on and off is the file's again, byte for byte; it is never
 * writable and executable, and is named after the file all the time, which is what perf and gdb go
 * by.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "many_sites.h"
#include "own_sites.h"
#include "tap.h"

#define TOGGLES 500

DEFINE_STATIC_KEY_FALSE(many);
DEFINE_STATIC_KEY_TRUE(few);

DEFINE_1000_SITES(many_sites, &many)
DEFINE_10_SITES(few_sites, &few)

struct mapping {
	uintptr_t begin, end;
	char access[5];
	unsigned long offset;
	char path[512];
};

static bool parse_mapping(const char *line, struct mapping *mapping)
{
	mapping->path[0] = '\0';
	return sscanf(line, "%lx-%lx %4s %lx %*s %*s %511[^\n]", &mapping->begin, &mapping->end,
		      mapping->access, &mapping->offset, mapping->path) >= 4;
}

/* Calls @function for each mapping, and returns the sum of what it returned. */
static int for_each_mapping(int (*function)(const struct mapping *mapping))
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	int sum = 0;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		struct mapping mapping;

		if (parse_mapping(line, &mapping))
			sum += function(&mapping);
	}
	if (maps != NULL)
		(void)fclose(maps);
	return sum;
}

static int count_one(const struct mapping *mapping)
{
	(void)mapping;
	return 1;
}

static int is_writable_code(const struct mapping *mapping)
{
	return strstr(mapping->access, "w") != NULL && strstr(mapping->access, "x") != NULL;
}

/* Whether this is text of the program or of the library, under the name of its file. */
static int is_own_text(const struct mapping *mapping)
{
	return strcmp(mapping->access, "r-xp") == 0 &&
	       (strstr(mapping->path, "live_text_file") != NULL ||
		strstr(mapping->path, "libdormant") != NULL);
}

static int count_differences(const struct mapping *mapping)
{
	const size_t length = mapping->end - mapping->begin;
	char *bytes = malloc(length);
	int fd = open(mapping->path, O_RDONLY | O_CLOEXEC), differences = 0;
	ssize_t done = pread(fd, bytes, length, (off_t)mapping->offset);

	for (ssize_t i = 0; i < done; i++)
		differences += bytes[i] != ((const char *)mapping->begin)[i];
	(void)close(fd);
	free(bytes);
	return done <= 0 ? 1000000 : differences;
}

static int differences_of_text(const struct mapping *mapping)
{
	return is_own_text(mapping) ? count_differences(mapping) : 0;
}

static int finished, looks, seen_writable;

static void *watch(void *data)
{
	while (!__atomic_load_n(&finished, __ATOMIC_RELAXED)) {
		seen_writable += for_each_mapping(is_writable_code);
		looks++;
	}
	return data;
}

static void test_watched(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, watch, NULL);
	for (int i = 0; i < TOGGLES; i++) {
		(void)static_branch_enable(&many);
		(void)static_branch_disable(&many);
	}
	__atomic_store_n(&finished, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ok(looks > 0 && seen_writable == 0,
	   "no mapping was ever writable and executable (%d looks, %d seen)", looks, seen_writable);
}

static void test_bytes(int texts)
{
	const int sites = own_site_count(&many.key);

	ok(texts > 0, "there is text to compare");
	ok(for_each_mapping(differences_of_text) == 0, "at start it is the file's");
	(void)static_branch_enable(&many);
	ok(many_sites() == 1000 && for_each_mapping(differences_of_text) == sites,
	   "with a key on, one byte a site differs");
	(void)static_branch_disable(&few);
	ok(few_sites() == 0 &&
		   for_each_mapping(differences_of_text) == sites + own_site_count(&few.key),
	   "and of a key that is on by default, when it is off");
	ok(for_each_mapping(is_own_text) == texts, "the text is r-x and named after its file");
	(void)static_branch_disable(&many);
	(void)static_branch_enable(&few);
	ok(for_each_mapping(differences_of_text) == 0, "switched back, it is the file's again");
}

int main(void)
{
	const char *writer = getenv("DORMANT_WRITER");
	int mappings, texts;

	if (writer != NULL && strcmp(writer, "proc_mem") != 0)
		skip_all("what is promised here is promised of the default writer");
	plan(10);
	texts = for_each_mapping(is_own_text);
	test_bytes(texts);
	test_watched();
	mappings = for_each_mapping(count_one); /* with what a thread leaves behind */
	ok(for_each_mapping(differences_of_text) == 0, "after %d toggles as well", TOGGLES);
	ok(for_each_mapping(is_own_text) == texts, "r-x and named after its file");
	for (int i = 0; i < TOGGLES; i++) {
		(void)static_branch_enable(&many);
		(void)static_branch_disable(&many);
	}
	ok(for_each_mapping(count_one) == mappings, "toggles leave no mapping behind");
	return done();
}
