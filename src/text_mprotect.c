/* SPDX-License-Identifier: MIT */
/*
 * The writer that makes pages writable for a moment. They stay executable meanwhile, because other
 * threads run them: so this one has a window in which text is writable and executable.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "text.h"

/* Passes over what does not differ, which is most of a span, a word at a time. */
static void store_changes(volatile uint8_t *text, const uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		uint64_t there, wanted;

		while (length - i > sizeof(there)) {
			memcpy(&there, (const uint8_t *)text + i, sizeof(there));
			memcpy(&wanted, bytes + i, sizeof(wanted));
			if (there != wanted)
				break;
			i += sizeof(there);
		}
		if (text[i] != bytes[i])
			text[i] = bytes[i];
	}
}

static int write_mprotect(uintptr_t address, const uint8_t *bytes, size_t length)
{
	struct page_range range = text_pages(address, length);
	void *pages = (void *)range.begin;

	if (mprotect(pages, range.bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		int result = -errno;

		/* a range that was refused half way may have been opened up to there */
		(void)mprotect(pages, range.bytes, PROT_READ | PROT_EXEC);
		return result;
	}
	store_changes((volatile uint8_t *)address, bytes, length);
	if (mprotect(pages, range.bytes, PROT_READ | PROT_EXEC) != 0)
		return -errno;
	return 0;
}

const struct text_writer text_mprotect = {
	.name = "mprotect",
	.leaves = "makes pages writable and executable for the moment of the write, then r-x",
	.write = write_mprotect,
};
