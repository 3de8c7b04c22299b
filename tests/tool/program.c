/* SPDX-License-Identifier: MIT */
/*
 * A program with keys, driven by lines on standard input; each is answered by one line.
 *
 *     enable, disable     trace_key
 *     swap                shared_key off, and level[3] off
 *     where TEXT          run-time address of the first site with that expression
 *     write OFFSET BYTE   changes a byte of trace_key's first site (hexadecimal), behind the
 * library's back toggle              switches trace_key all the time, from a thread
 */
#include <dormant/static_key.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int library_work(void);

DEFINE_STATIC_KEY_FALSE(trace_key);
static DEFINE_STATIC_KEY_FALSE(quiet_key);
DEFINE_STATIC_KEY_ARRAY_TRUE(level, 4);
DECLARE_STATIC_KEY_TRUE(shared_key);

static struct {
	int other;
	struct static_key member;
} settings;

static inline __attribute__((always_inline)) int check(int x)
{
	if (static_branch_unlikely(&trace_key)) /* line of check */
		return x * 3;
	return x;
}

__attribute__((noinline)) static int work(int x)
{
	if (static_branch_unlikely(&quiet_key))
		x++;
	if (static_branch_likely(&level[3]))
		x += 2;
	if (static_branch_unlikely(&settings.member))
		x += 8;
	if (static_branch_likely(&shared_key))
		x += 4;
	return check(x);
}

static void *toggle(void *unused)
{
	for (;;) {
		static_branch_enable(&trace_key);
		static_branch_disable(&trace_key);
	}
	return unused;
}

static unsigned char *find_site(const char *text)
{
	for (const struct dormant_site *site = __start_dormant_sites; site < __stop_dormant_sites;
	     site++)
		if (strcmp((const char *)&site->name + site->name, text) == 0)
			return (unsigned char *)&site->code + site->code;
	return NULL;
}

static int write_byte(unsigned long offset, unsigned char byte)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t count = pwrite(fd, &byte, 1, (off_t)(uintptr_t)(find_site("&trace_key") + offset));

	close(fd);
	return count == 1 ? 0 : -1;
}

static void *flicker(void *unused)
{
	for (;;) {
		write_byte(0, 0xcc);
		usleep(3000);
		write_byte(0, DORMANT_SITE_OPCODE_OFF);
		usleep(3000);
	}
	return unused;
}

static int obey(char *line)
{
	unsigned long offset, byte;
	pthread_t thread;

	if (strcmp(line, "enable") == 0)
		return static_branch_enable(&trace_key);
	if (strcmp(line, "disable") == 0)
		return static_branch_disable(&trace_key);
	if (strcmp(line, "swap") == 0)
		return static_branch_disable(&shared_key) + static_branch_disable(&level[3]);
	if (sscanf(line, "write %lx %lx", &offset, &byte) == 2)
		return write_byte(offset, (unsigned char)byte);
	if (strcmp(line, "toggle") == 0)
		return pthread_create(&thread, NULL, toggle, NULL);
	if (strcmp(line, "flicker") == 0)
		return pthread_create(&thread, NULL, flicker, NULL);
	return -1;
}

int main(void)
{
	char line[128];

	settings.other = work(1) + library_work();
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "where ", 6) == 0)
			printf("%#lx\n", (unsigned long)find_site(line + 6));
		else
			puts(obey(line) == 0 ? "done" : "failed");
		fflush(stdout);
	}
	return 0;
}
