/* SPDX-License-Identifier: MIT */
/*
 * The writer that makes pages writable for a moment. They stay executable meanwhile, because other
 * threads run them: so this one has a window in which text is writable and executable.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "text.h"

/* Text is no memory of the program's to ThreadSanitizer, and has no shadow that could be written.
 */
#if defined(__clang__) || __GNUC__ >= 8
#define NO_SANITIZE_THREAD __attribute__((no_sanitize("thread")))
#else
#define NO_SANITIZE_THREAD
#endif

/* Stores what differs, an aligned quadword at a time: one byte alone by a store of it, more by one
 * store of the quadword. Its bytes outside of the range, which lie on the same page, keep their
 * value. */
NO_SANITIZE_THREAD static void store_changes(uintptr_t address, const uint8_t *bytes, size_t length)
{
	uintptr_t end = address + length;

	for (uintptr_t at = address & ~(uintptr_t)7; at < end; at += sizeof(uint64_t)) {
		uintptr_t from = at > address ? at : address;
		uintptr_t to = at + sizeof(uint64_t) < end ? at + sizeof(uint64_t) : end;
		uint64_t there, wanted, differs;
		unsigned shift;

		memcpy(&there, (const void *)at, sizeof(there));
		wanted = there;
		memcpy((uint8_t *)&wanted + (from - at), bytes + (from - address), to - from);
		differs = there ^ wanted;
		if (differs == 0)
			continue;
		shift = (unsigned)__builtin_ctzll(differs) & ~7U;
		if ((differs & ~(UINT64_C(0xff) << shift)) == 0)
			*(volatile uint8_t *)(at + shift / 8) = (uint8_t)(wanted >> shift);
		else
			*(volatile uint64_t *)at = wanted;
	}
}

/* What is writable now; guarded by the lock. A child made behind fork's back inherits it. */
static struct page_range open_pages;

static int close_pages(void)
{
	int result = open_pages.bytes == 0 ? 0
					   : mprotect((void *)open_pages.begin, open_pages.bytes,
						      PROT_READ | PROT_EXEC);

	open_pages.bytes = 0;
	return result == 0 ? 0 : -errno;
}

static void recover_mprotect(void)
{
	(void)close_pages();
}

static int write_mprotect(uintptr_t address, const uint8_t *bytes, size_t length)
{
	open_pages = text_pages(address, length);
	if (mprotect((void *)open_pages.begin, open_pages.bytes,
		     PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		int result = -errno;

		/* a range that was refused half way may have been opened up to there */
		(void)close_pages();
		return result;
	}
	store_changes(address, bytes, length);
	return close_pages();
}

const struct text_writer text_mprotect = {
	.name = "mprotect",
	.leaves = "makes pages writable and executable for the moment of the write, then r-x",
	.whole = true,
	.write = write_mprotect,
	.recover = recover_mprotect,
};
