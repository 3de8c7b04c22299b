/* SPDX-License-Identifier: MIT */
/*
 * A program with a value of each class and size and with calls of each kind, driven by lines on
 * standard input; each is answered by one line.
 *
 *     change              gives every value another one, and every call another function
 *     empty               takes every call its function
 *     far                 reach becomes a function more than 2 GiB away
 *     thread              starts a thread that only waits
 *     write NAME N OFFSET BYTE
 *                         changes a byte of the N-th entry (from 0) of that owner, in the table's
 *                         order without HOME (hexadecimal), behind the library's back
 *     store               changes limit in memory, behind the library's back
 *     turn                changes limit and plain_call all the time, from a thread
 */
#include <dormant/batch.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "operands_library.h"

enum colour { RED, GREEN, BLUE };

static int table[4] = {1, 2, 3, 4};

DEFINE_IMV(signed char, tiny) = -3;
DEFINE_IMV(unsigned short, port) = 65000;
DEFINE_IMV(unsigned, limit) = 100;
DEFINE_IMV(long, offset) = -5000000000;
DEFINE_IMV(unsigned long, mask) = 0xffffffffffffffff;
DEFINE_IMV(bool, verbose) = true;
DEFINE_IMV(enum colour, tint) = BLUE;
DEFINE_IMV(float, narrow) = 0.1f;
DEFINE_IMV(double, ratio) = 0.5;
DEFINE_IMV(int *, place) = &table[1];
DEFINE_IMV(char *, nowhere);
DEFINE_STATIC_IMV(int, unread) = 12;

static int plain(int x)
{
	return x + 1;
}

static int other(int x)
{
	return x + 2;
}

static int mixed(double ratio_of, int x)
{
	return x + (int)ratio_of;
}

static void hook(int x)
{
	table[0] = x;
}

DEFINE_STATIC_CALL(plain_call, plain);
DEFINE_STATIC_CALL(mixed_call, mixed);
DEFINE_STATIC_CALL_NULL(hook_call, hook);
DEFINE_STATIC_CALL(reach, plain);

__attribute__((noinline)) static long integers(long x)
{
	x += imv_read(tiny);
	x ^= imv_read(port);
	x += imv_read(limit); /* line of limit */
	x ^= imv_read(offset);
	x &= (long)imv_read(mask);
	return x + imv_read(tint) + imv_read(shared_limit);
}

__attribute__((noinline)) static double others(double x)
{
	if (imv_read(verbose))
		x += imv_read(narrow);
	return x * imv_read(ratio) + *imv_read(place) + (imv_read(nowhere) ? 1 : 0);
}

__attribute__((noinline)) static int calls_direct(int x)
{
	return static_call(plain_call)(x) + 1;
}

__attribute__((noinline)) static int calls_tail(int x)
{
	return static_call(plain_call)(x * 3);
}

__attribute__((noinline)) static int calls_mixed(int x)
{
	return static_call(mixed_call)(x * 1.5, x) + 1;
}

__attribute__((noinline)) static int calls_far(int x)
{
	return static_call(reach)(x) + 1;
}

__attribute__((noinline)) static int calls_hook(int x)
{
	static_call_cond(hook_call)(x);
	return x;
}

__attribute__((noinline)) static int calls_shared(int x)
{
	return static_call(shared_call)(x) + 1;
}

static int work(int x)
{
	return (int)integers(x) + (int)others(x) + calls_direct(x) + calls_tail(x) +
	       calls_mixed(x) + calls_far(x) + calls_hook(x) + calls_shared(x) + library_work(x);
}

/* ---- changes ---- */

static int change(void)
{
	struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(tiny, 4),          DORMANT_CHANGE_IMV(port, 80),
		DORMANT_CHANGE_IMV(limit, 200),       DORMANT_CHANGE_IMV(offset, 6000000000),
		DORMANT_CHANGE_IMV(mask, 255),        DORMANT_CHANGE_IMV(verbose, false),
		DORMANT_CHANGE_IMV(tint, GREEN),      DORMANT_CHANGE_IMV(narrow, 2.5f),
		DORMANT_CHANGE_IMV(ratio, -0.25),     DORMANT_CHANGE_IMV(place, table),
		DORMANT_CHANGE_IMV(unread, -1),       DORMANT_CHANGE_IMV(shared_limit, 9),
		DORMANT_CHANGE_CALL(reach, other),    DORMANT_CHANGE_CALL(plain_call, other),
		DORMANT_CHANGE_CALL(hook_call, hook),
	};

	return dormant_batch(changes, sizeof(changes) / sizeof(*changes), &dormant_object_self,
			     NULL);
}

static int empty(void)
{
	return static_call_update(plain_call, NULL) + static_call_update(mixed_call, NULL) +
	       static_call_update(hook_call, NULL) + static_call_update(reach, NULL);
}

static int reach_far(void)
{
	static const unsigned char code[] = {0x8d, 0x47, 0x07, 0xc3}; /* lea 7(%rdi),%eax; ret */
	unsigned char *page = mmap((void *)0x100000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (page == MAP_FAILED)
		return -1;
	memcpy(page, code, sizeof(code));
	return dormant_static_call_update(&dormant_static_call_reach, page, NULL);
}

static int write_byte(const char *name, unsigned long index, unsigned long offset_there,
		      unsigned char byte)
{
	for (const struct dormant_operand *entry = __start_dormant_operands;
	     entry < __stop_dormant_operands; entry++) {
		int kind = entry->owner & DORMANT_OPERAND_KIND_MASK;
		char *owner = *(char **)((char *)&entry->owner + entry->owner - kind);
		char *wanted = strcmp(name, "limit") == 0  ? (char *)&limit__imv
			       : strcmp(name, "mask") == 0 ? (char *)&mask__imv
			       : strcmp(name, "plain_call") == 0
				       ? (char *)&dormant_static_call_plain_call
				       : NULL;
		int fd;
		ssize_t count;

		if (kind == DORMANT_OPERAND_HOME || owner != wanted || index-- > 0)
			continue;
		fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
		count = pwrite(fd, &byte, 1,
			       (off_t)((uintptr_t)&entry->code + (uintptr_t)(intptr_t)entry->code +
				       offset_there));
		close(fd);
		return count == 1 ? 0 : -1;
	}
	return -1;
}

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void *turn(void *unused)
{
	for (unsigned i = 0;; i++) {
		imv_set(limit, i);
		static_call_update(plain_call, i % 2 ? other : plain);
	}
	return unused;
}

static int obey(const char *line)
{
	unsigned long index, at, byte;
	pthread_t thread;
	char name[32];

	if (strcmp(line, "change") == 0)
		return change();
	if (strcmp(line, "empty") == 0)
		return empty();
	if (strcmp(line, "far") == 0)
		return reach_far();
	if (strcmp(line, "thread") == 0)
		return pthread_create(&thread, NULL, wait_for_ever, NULL);
	if (strcmp(line, "turn") == 0)
		return pthread_create(&thread, NULL, turn, NULL);
	if (strcmp(line, "store") == 0) {
		*(volatile unsigned *)&limit__imv = 77;
		return 0;
	}
	if (sscanf(line, "write %31s %lx %lx %lx", name, &index, &at, &byte) == 4)
		return write_byte(name, index, at, (unsigned char)byte);
	return -1;
}

int main(void)
{
	char line[128];

	table[3] = work(1);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		puts(obey(line) == 0 ? "done" : "failed");
		fflush(stdout);
	}
	return 0;
}
