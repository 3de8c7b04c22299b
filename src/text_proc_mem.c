/* SPDX-License-Identifier: MIT */
/*
 * The writer that asks the kernel to write to its own process through /proc/self/mem.
 *
 * The kernel copies into the page behind the mapping whatever the mapping's protection is, after
 * making it private. The descriptor is kept, because a process that gives up privileges or changes
 * its root can not open it again; two things can happen to a kept one:
 *
 *  - after fork() it still means the parent. It is opened again when the process id has changed.
 *  - the program closes it (as daemons close all they did not open) and its number comes to mean
 *    another file, which a write at the address of code would destroy. So its identity is checked
 *    before each write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

/* Above the numbers that programs expect from open(), and that daemons close in a loop. */
#define DESCRIPTOR_MIN 240

static int descriptor = -1; /* guarded by the lock, as is all below */
static pid_t opened_by;
static dev_t device;
static ino_t inode;

static bool is_ours(void)
{
	struct stat status;

	return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_dev == device &&
	       status.st_ino == inode;
}

static void close_memory(void)
{
	if (is_ours())
		(void)close(descriptor);
	descriptor = -1;
}

static int open_memory(void)
{
	struct stat status;
	int high, fd;

	close_memory();
	fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	high = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
	if (high >= 0) {
		(void)close(fd);
		fd = high;
	}
	if (fstat(fd, &status) != 0) {
		int result = -errno;

		(void)close(fd);
		return result;
	}
	descriptor = fd;
	opened_by = getpid();
	device = status.st_dev;
	inode = status.st_ino;
	return 0;
}

static int write_proc_mem(uintptr_t address, const uint8_t *bytes, size_t length)
{
	if (opened_by != getpid() || !is_ours()) {
		int result = open_memory();

		if (result != 0)
			return result;
	}
	return text_write_file(descriptor, bytes, length, (off_t)address);
}

const struct text_writer text_proc_mem = {
	.name = "proc_mem",
	.leaves = "writes through /proc/self/mem; text stays r-x and named after its file",
	.write = write_proc_mem,
	.stop = close_memory,
};
