/* SPDX-License-Identifier: MIT */
/*
 * The writer that stores: the edges of its ranges, what it leaves behind, and that several bytes of
 * a quadword change by one store and a lone one by a store of that byte. It works on pages of a
 * memfd that are mapped a second time, for the test to look at after each instruction.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "text.h"

static size_t page_bytes;
static uint8_t *code;  /* two pages r-x, between two that are not there */
static uint8_t *alias; /* the same two, rw- */

static void map_pages(void)
{
	int fd = memfd_create("pages", MFD_CLOEXEC);
	uint8_t *room = mmap(NULL, 4 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || room == MAP_FAILED || ftruncate(fd, (off_t)(2 * page_bytes)) != 0)
		skip_all("no memfd");
	code = mmap(room + page_bytes, 2 * page_bytes, PROT_READ | PROT_EXEC,
		    MAP_SHARED | MAP_FIXED, fd, 0);
	alias = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)close(fd);
	(void)munmap(room, page_bytes);
	(void)munmap(room + 3 * page_bytes, page_bytes);
	if (code == MAP_FAILED || alias == MAP_FAILED)
		skip_all("a memfd can not be mapped r-x");
}

static int write_at(size_t offset, const void *bytes, size_t length)
{
	return text_mprotect.write((uintptr_t)code + offset, bytes, length);
}

/* A write of @length bytes at @offset: these change, no other does. */
static bool check_range(size_t offset, size_t length, bool differ)
{
	uint8_t before[64], bytes[32];
	const size_t first = offset < 16 ? 0 : offset - 16;

	for (size_t i = 0; i < 2 * page_bytes; i++)
		alias[i] = (uint8_t)(i * 7);
	memcpy(before, alias + first, sizeof(before));
	for (size_t i = 0; i < length; i++) /* all of them, or every third */
		bytes[i] = (uint8_t)(alias[offset + i] ^ (differ || i % 3 == 0 ? 0xa5 : 0));
	memcpy(before + (offset - first), bytes, length);
	return write_at(offset, bytes, length) == 0 &&
	       memcmp(alias + first, before, sizeof(before)) == 0;
}

static void test_ranges(void)
{
	int wrong = 0;

	for (size_t offset = 64; offset < 72; offset++) {
		for (size_t length = 1; length <= 24; length++)
			wrong += !check_range(offset, length, true) +
				 !check_range(offset, length, false);
	}
	ok(wrong == 0, "every range of 1 to 24 bytes at each place of a quadword (%d not)", wrong);
	wrong = 0;
	for (size_t length = 1; length <= 24; length++)
		wrong += !check_range(0, length, true) +
			 !check_range(page_bytes - length, length, true) +
			 !check_range(page_bytes - length / 2, length, true);
	ok(wrong == 0, "at the first byte of a page, up to its last, and over its end (%d not)",
	   wrong);
}

static int count_writable(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024], access[5];
	int count = 0;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		count += sscanf(line, "%*s %4s", access) == 1 && access[1] == 'w' &&
			 access[2] == 'x';
	if (maps != NULL)
		(void)fclose(maps);
	return count;
}

static void test_leavings(void)
{
	const uint8_t bytes[16] = {0};

	ok(count_writable() == 0, "nothing is left writable and executable");
	ok(write_at(2 * page_bytes - 8, bytes, 16) == -ENOMEM && count_writable() == 0,
	   "nor by a range of which only the first page is there");
	ok(text_mprotect.write((uintptr_t)code - 8, bytes, 16) == -ENOMEM && count_writable() == 0,
	   "nor by one of which only the last is");
}

/* ---- instruction by instruction ---- */

#define OLD   UINT64_C(0x0102030405060708)
#define NEW   UINT64_C(0xf1f2f3f4f5f6f7f8)
#define PLACE 128

static long steps, wrong;

/* Ends the child after its write; @look is called after each of its instructions. Whether it could
 * be followed to its end. */
static bool follow_write(const void *bytes, size_t length, void (*look)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(99);
		(void)raise(SIGSTOP);
		_exit(write_at(PLACE, bytes, length) != 0);
	}
	steps = wrong = 0;
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		look();
		steps++;
		(void)ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	}
	return steps > 20 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static uint64_t read_place(void)
{
	uint64_t seen;

	memcpy(&seen, alias + PLACE, sizeof(seen));
	return seen;
}

static void look_for_mixture(void)
{
	wrong += read_place() != OLD && read_place() != NEW;
}

static uint8_t counter;

/* As another thread that changes the byte beside. */
static void change_neighbour(void)
{
	wrong += alias[PLACE + 3] != counter;
	alias[PLACE + 3] = ++counter;
}

static void test_stores(void)
{
	const char *whole = "several bytes of a quadword change by one store";
	const char *alone = "a lone byte changes by a store that leaves its neighbours alone";
	const uint64_t old = OLD, new = NEW;
	bool followed;

	memcpy(alias + PLACE, &old, sizeof(old));
	if (!follow_write(&new, sizeof(new), look_for_mixture)) {
		skip(whole, "a child can not be followed here");
		skip(alone, "a child can not be followed here");
		return;
	}
	ok(wrong == 0 && read_place() == NEW, "%s (after %ld of %ld instructions not)", whole,
	   wrong, steps);
	counter = alias[PLACE + 3];
	followed = follow_write("\x55", 1, change_neighbour);
	ok(followed && wrong == 0 && alias[PLACE] == 0x55 && alias[PLACE + 3] == counter,
	   "%s (after %ld of %ld instructions not)", alone, wrong, steps);
}

int main(void)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	map_pages();
	plan(5 + 2);
	test_ranges();
	test_leavings();
	test_stores();
	return done();
}
