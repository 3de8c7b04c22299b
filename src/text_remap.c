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

static int write_remap(uintptr_t address, const uint8_t *bytes, size_t length)
{
	struct page_range pages = text_pages(address, length);
	size_t before = address - pages.begin, after = before + length;
	int fd = memfd_create("dormant-text", MFD_CLOEXEC);
	int result;

	if (fd < 0)
		return -errno;
	result = text_write_file(fd, (const void *)pages.begin, before, 0);
	if (result == 0)
		result = text_write_file(fd, bytes, length, (off_t)before);
	if (result == 0)
		result = text_write_file(fd, (const void *)(pages.begin + after),
					 pages.bytes - after, (off_t)after);
	if (result == 0 && mmap((void *)pages.begin, pages.bytes, PROT_READ | PROT_EXEC,
				MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		result = -errno;
	(void)close(fd);
	return result;
}

const struct text_writer text_remap = {
	.name = "remap",
	.leaves = "maps a patched copy over the pages; perf and gdb lose the file's name for them",
	.whole = true,
	.write = write_remap,
};
