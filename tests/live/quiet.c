/* SPDX-License-Identifier: MIT */
/*
 * Promise 7, from inside: no thread, no signal handler, no child, no descriptor but the one. What
 * it does not show, quiet.sh finds in the trace of `quiet trace`.
 */
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "many_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(key);
DEFINE_STATIC_KEY_FALSE(other);

DEFINE_10_SITES(sites, &key)

/* Every kind of call, those that fail as well. */
static bool use_everything(void)
{
	const struct static_key_change changes[] = {{&key.key, STATIC_KEY_INC},
						    {&other.key, STATIC_KEY_ENABLE}};
	bool right = static_branch_enable(&key) == 0 && sites() == 10;

	right = right && static_branch_disable(&key) == 0 && sites() == 0;
	right = right && static_branch_dec(&key) != 0 && static_key_enable(NULL) != 0;
	right = right && static_key_batch(changes, 2) == 0 && static_branch_dec(&key) == 0;
	return right && static_branch_disable(&other) == 0 && dormant_status(NULL) == 0;
}

static int count_entries(const char *path)
{
	DIR *directory = opendir(path);
	int count = 0;

	if (directory == NULL)
		return -1;
	while (readdir(directory) != NULL)
		count++;
	(void)closedir(directory);
	return count;
}

static int count_handlers(void)
{
	int count = 0;

	for (int number = 1; number < SIGRTMAX; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	int threads, descriptors, handlers;

	if (argc > 1 && strcmp(argv[1], "trace") == 0)
		return use_everything() ? 0 : 1;
	plan(4);
	threads = count_entries("/proc/self/task");
	descriptors = count_entries("/proc/self/fd");
	handlers = count_handlers();
	ok(use_everything(), "every call does what it has to");
	ok(count_entries("/proc/self/task") == threads && threads == 1 + 2,
	   "no thread was started, at start or later");
	ok(count_handlers() == handlers, "no signal handler was installed");
	ok(count_entries("/proc/self/fd") <= descriptors + 1, "at most one descriptor is kept");
	return done();
}
