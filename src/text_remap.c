/* SPDX-License-Identifier: MIT */
/*
 * The writer of last resort: a patched copy of the pages is made in a memfd and mapped over them.
 *
 * The kernel replaces the mapping under its own lock, and a thread that faults on the page waits
 * for it, so no thread sees a hole; every page holds at any time either the old bytes or the new
 * ones. The copy is never writable and executable: it is written through the descriptor, and mapped
 * r-x.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text.h"

static int write_all(int fd, const void *bytes, size_t length, off_t offset)
{
	const char *from = bytes;

	while (length > 0) {
		ssize_t done = pwrite(fd, from, length, offset);

		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		from += done;
		offset += done;
		length -= (size_t)done;
	}
	return 0;
}

static int write_remap(uintptr_t address, const uint8_t *bytes, size_t length)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = address & ~(page_bytes - 1);
	uintptr_t end = (address + length + page_bytes - 1) & ~(page_bytes - 1);
	int fd = memfd_create("dormant-text", MFD_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	result = write_all(fd, (const void *)begin, address - begin, 0);
	if (result == 0)
		result = write_all(fd, bytes, length, (off_t)(address - begin));
	if (result == 0)
		result = write_all(fd, (const void *)(address + length), end - address - length,
				   (off_t)(address + length - begin));
	if (result == 0 && mmap((void *)begin, end - begin, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		result = -errno;
	(void)close(fd);
	return result;
}

const struct text_writer text_remap = {
	.name = "remap",
	.leaves = "maps a patched copy over the pages; perf and gdb lose the file's name for them",
	.write = write_remap,
};
