/* SPDX-License-Identifier: MIT */
/*
 * The writer that makes pages writable for a moment. They stay executable meanwhile, because other
 * threads run them: so this one has a window in which text is writable and executable.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "text.h"

static int write_mprotect(uintptr_t address, const uint8_t *bytes, size_t length)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = address & ~(page_bytes - 1);
	uintptr_t end = (address + length + page_bytes - 1) & ~(page_bytes - 1);
	volatile uint8_t *text = (volatile uint8_t *)address;

	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		int result = -errno;

		/* a range that was refused half way may have been opened up to there */
		(void)mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC);
		return result;
	}
	for (size_t i = 0; i < length; i++) {
		if (text[i] != bytes[i])
			text[i] = bytes[i];
	}
	if (mprotect((void *)begin, end - begin, PROT_READ | PROT_EXEC) != 0)
		return -errno;
	return 0;
}

const struct text_writer text_mprotect = {
	.name = "mprotect",
	.leaves = "makes pages writable and executable for the moment of the write, then r-x",
	.write = write_mprotect,
};
