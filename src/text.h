/* SPDX-License-Identifier: MIT */
/*
 * Writers: the ways to change bytes of text. Which one works depends on the kernel, on what the
 * process gave up, and on emulators, so each is tried on the library's own site before it is used.
 *
 * In order of preference:
 *
 *   proc_mem   pwrite() to /proc/self/mem. Text stays r-x and named after its file, works under
 *              PR_SET_MDWE, needs no privilege; pages become private to the process. Refused by
 *              proc_mem.force_override=never and without /proc; has no effect under qemu-user.
 *   mprotect   the pages of the write are writable and executable for its duration, then r-x.
 *              Refused under MDWE and by filters.
 *   remap      the pages are replaced by a patched copy from a memfd, in one mmap(): never writable
 *              and executable, works under MDWE; but the text is no longer the file's, so perf and
 *              gdb lose its name, and there is a mapping for each run of pages.
 *
 * What changes more than one byte at a site, an immediate value or a call target, must be seen
 * whole by threads that run it. proc_mem can not promise that: the kernel copies by bytes, as it
 * likes. The other two can: one stores the aligned quadword, the other replaces the page. So there
 * are two choices, one for changes of a byte and one for changes of whole quadwords; the latter is
 * made when it is first needed, because its trial makes a page of the library writable.
 *
 * The environment variable DORMANT_WRITER names the only writer to use (ignored in a set-user-id
 * program). Guarded by the lock.
 */
#ifndef DORMANT_SRC_TEXT_H
#define DORMANT_SRC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <dormant/error.h>

struct text_writer {
	const char *name;
	const char *leaves; /* how it works and what it leaves behind */
	/* Makes @length bytes at @address equal @bytes, each byte that differs by one store of that
	 * byte or of a unit whose other bytes keep their value. Where @whole, a thread that fetches
	 * an aligned quadword sees it as it was or as it is to be. 0 or a negative errno. */
	bool whole;
	int (*write)(uintptr_t address, const uint8_t *bytes, size_t length);
	/* Closes what the writer keeps open between writes, and may open again. NULL: nothing. */
	void (*stop)(void);
	/* Ends a write that a lost holder of the lock had begun. NULL: nothing is left of one. */
	void (*recover)(void);
};

extern const struct text_writer text_proc_mem, text_mprotect, text_remap;
extern const struct text_writer *const text_writers[];
extern const size_t text_writers_count;

/* Chooses the first writer that passes its trial. 0, or the last one's errno. Needs sync_start().
 */
int text_start(void);

/* Whether there is a writer for bytes, or for whole quadwords; tries again where there was none. 0
 * or the last one's errno, -EOPNOTSUPP where none that is permitted can do it. */
int text_ready(bool whole);

/* Whether DORMANT_WRITER permits a writer for whole quadwords, whether it works or not. */
bool text_permits_whole(void);

/* Tries one writer on the library's own sites and puts them back. 0 or a negative errno;
 * -EOPNOTSUPP when the write succeeds and what runs does not change. */
int text_try(const struct text_writer *writer);

/* Changes text through the chosen writer, for @whole quadwords or for bytes, and reads it back.
 * When the writer fails, the same bytes are written by the first other one that passes its trial,
 * which is used from then on. 0, or the errno of the last; some of the bytes may be changed then.
 */
int text_write(uintptr_t address, const uint8_t *bytes, size_t length, bool whole);

/* Leaves nothing open: the library may be unloaded next. */
void text_stop(void);

/* After the lock was taken over: no page is left writable. */
void text_recover(void);

/* The one for bytes, or NULL. */
const struct text_writer *text_chosen(void);

/* ---- what more than one writer needs ---- */

/* The whole pages that hold @length bytes at @address. */
struct page_range {
	uintptr_t begin;
	size_t bytes;
};
struct page_range text_pages(uintptr_t address, size_t length);

/* Writes all of @bytes to a descriptor at @offset. 0 or a negative errno; -EIO when cut short. */
int text_write_file(int fd, const void *bytes, size_t length, off_t offset);

/* Adds to @error why each writer was refused when it was last tried. */
void text_explain(struct dormant_error *error);

#endif
