/* SPDX-License-Identifier: MIT */
/*
 * The descriptor that the library keeps, in programs that close, reuse, run out of, and inherit
 * descriptors. Its number may come to mean a file of the program, which must not be written to.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "deadline.h"
#include "many_sites.h"
#include "own_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(key);

DEFINE_10_SITES(sites, &key)

static bool toggles_work(void)
{
	return static_branch_enable(&key) == 0 && sites() == 10 &&
	       static_branch_disable(&key) == 0 && sites() == 0;
}

/* The lowest descriptor of this process that is open on a file whose name ends in "/mem", or -1. */
static int find_kept(int *count)
{
	int kept = -1;

	*count = 0;
	for (int fd = 0; fd < 1024; fd++) {
		char link[32], target[256];
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, target, sizeof(target) - 1);
		if (length < 4 || memcmp(target + length - 4, "/mem", 4) != 0)
			continue;
		kept = kept < 0 ? fd : kept;
		++*count;
	}
	return kept;
}

static void test_kept(void)
{
	int count, kept;

	(void)toggles_work();
	kept = find_kept(&count);
	ok(count == 1 && kept >= 240, "one is kept, above those that programs count on: %d", kept);
	ok((fcntl(kept, F_GETFD) & FD_CLOEXEC) != 0, "another program does not inherit it");
	for (int i = 0; i < 100; i++)
		(void)toggles_work();
	(void)find_kept(&count);
	ok(count == 1, "and there is still one after 200 toggles");
}

/* A log file that gets the number of the descriptor, as after a daemon closed all it knew not. */
static void test_reused(void)
{
	char path[] = "/tmp/dormant-descriptor-XXXXXX";
	int count, kept = find_kept(&count), file = mkstemp(path);
	struct stat status;

	(void)unlink(path);
	(void)!write(file, "log", 3);
	(void)dup2(file, kept);
	ok(toggles_work(), "the number belongs to another file: toggles work");
	ok(fstat(file, &status) == 0 && status.st_size == 3, "and the file is as it was");
	ok(fstat(kept, &status) == 0 && status.st_size == 3, "and still open");
	(void)close(kept);
	(void)close(file);
}

/* The memory of another process, which has the same code at the same addresses. */
static void test_other_process(void)
{
	int count, kept = find_kept(&count), go[2], memory;
	char path[32], byte;
	pid_t child;

	(void)!pipe(go);
	child = fork();
	if (child == 0) {
		deadline_set(20);
		(void)close(go[1]);
		_exit(read(go[0], &byte, 1) != 0 || sites() != 0);
	}
	(void)close(go[0]);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	memory = open(path, O_RDWR | O_CLOEXEC);
	(void)dup2(memory, kept);
	ok(memory >= 0 && static_branch_enable(&key) == 0 && sites() == 10,
	   "the number belongs to another process's memory: toggles work");
	(void)close(go[1]);
	ok(deadline_wait(child) == 0, "and that process is as it was");
	(void)static_branch_disable(&key);
	(void)close(memory);
	(void)close(kept);
}

static void test_closed(void)
{
	int count;

	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
	ok(toggles_work(), "all descriptors closed: toggles work");
	(void)find_kept(&count);
	ok(count == 1, "and one is kept again");
}

static int check_child(void)
{
	deadline_set(20);
	return toggles_work() ? 0 : 1;
}

static void test_child(void)
{
	pid_t child;

	(void)static_branch_enable(&key);
	child = fork();
	if (child == 0)
		_exit(static_branch_disable(&key) != 0 || sites() != 0 || check_child());
	ok(deadline_wait(child) == 0 && sites() == 10,
	   "a child writes to itself, not to its parent");
	(void)static_branch_disable(&key);
}

static void limit_descriptors(rlim_t max)
{
	const struct rlimit limit = {max, max};

	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void test_exhausted(void)
{
	pid_t child = fork();

	if (child == 0) {
		limit_descriptors(0); /* the one that is kept means the parent here */
		_exit(check_child());
	}
	ok(deadline_wait(child) == 0, "no descriptor to be had in a child: toggles work");
	child = fork();
	if (child == 0) {
		(void)toggles_work();
		limit_descriptors(0);
		_exit(check_child());
	}
	ok(deadline_wait(child) == 0, "a limit that comes when one is kept: toggles work");
}

static bool has_memory_descriptor(void)
{
	for (int fd = 0; fd < 1024; fd++) {
		char link[64], path[256];
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, path, sizeof(path) - 1);
		path[length < 0 ? 0 : length] = '\0';
		if (strstr(path, "/mem") != NULL && fcntl(fd, F_GETFL) >= 0)
			return true;
	}
	return false;
}

/* In a child, because it needs a descriptor of its own. */
static int check_passing(void)
{
	struct rlimit limit, none;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	none = limit;
	none.rlim_cur = 0;
	(void)setrlimit(RLIMIT_NOFILE, &none);
	for (int fd = 3; fd < 1024; fd++)
		(void)close(fd);
	if (!toggles_work())
		return 1;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (has_memory_descriptor())
		return 2; /* then the toggle above did not do without */
	return toggles_work() && has_memory_descriptor() ? 0 : 3;
}

static void test_passing(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(check_passing());
	status = deadline_wait(child);
	ok(status == 0, "the first writer is taken again when descriptors are to be had (%d)",
	   status);
}

int main(void)
{
	const char *writer = getenv("DORMANT_WRITER");

	if (writer != NULL && strcmp(writer, "proc_mem") != 0)
		skip_all("DORMANT_WRITER rules out the writer that keeps a descriptor");
	plan(3 + 3 + 2 + 2 + 1 + 2 + 1);
	test_kept();
	test_reused();
	(void)toggles_work();
	test_other_process();
	test_closed();
	test_child();
	test_exhausted();
	test_passing();
	return done();
}
