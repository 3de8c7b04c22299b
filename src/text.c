/* SPDX-License-Identifier: MIT */
/* The choice among the writers, their trial, and falling back; see text.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/arch.h"
#include "error.h"
#include "inject.h"
#include "sync.h"
#include "text.h"

#define WRITERS 3

const struct text_writer *const text_writers[WRITERS] = {
	&text_proc_mem,
	&text_mprotect,
	&text_remap,
};
const size_t text_writers_count = WRITERS;

/* Numbers of the writers for bytes and for whole quadwords, or WRITERS for none; guarded by the
 * lock, as is all below. */
static size_t chosen[2] = {WRITERS, WRITERS};
static int refusals[WRITERS]; /* why each was refused when it was last tried */
static char only[32];         /* DORMANT_WRITER, or "" */

/* ---- one write ---- */

/* Other than through @address the bytes were changed behind the compiler's back. */
static bool reads_as(uintptr_t address, const uint8_t *bytes, size_t length)
{
	__asm__ volatile("" ::: "memory");
	return memcmp((const void *)address, bytes, length) == 0;
}

static int write_checked(const struct text_writer *writer, uintptr_t address, const uint8_t *bytes,
			 size_t length)
{
	int result = INJECT(INJECT_WRITE);

	if (result == 0 && INJECT(INJECT_SHORT) != 0)
		(void)writer->write(address, bytes, length / 2);
	else if (result == 0)
		result = writer->write(address, bytes, length);
	live_code_changed(address, length);
	if (result == 0 && !reads_as(address, bytes, length))
		result = -EIO; /* cut short, or written elsewhere */
	return result;
}

/* ---- the trial ---- */

/* Makes @length bytes of the library's own code equal @bytes, for a run of it that follows. Only
 * the holder of the lock runs it, and never without a core sync in between: so none is needed where
 * it is put back. */
static int write_probe(const struct text_writer *writer, uint8_t *at, const void *bytes,
		       size_t length)
{
	int result = write_checked(writer, (uintptr_t)at, bytes, length);

	return result != 0 ? result : sync_cores();
}

/* Each trial: 0 when the code does what was written. It is run before as well, because an emulator
 * would else translate it when it is changed already, and seem to follow the change. */
static int try_site(const struct text_writer *writer)
{
	uint8_t *site = live_probe_site();
	uint8_t on = insn_site_encode(true), off = insn_site_encode(false);
	bool jumped = live_probe_run();
	int result = write_probe(writer, site, &on, 1), restored;

	jumped = result == 0 && live_probe_run();
	restored = write_checked(writer, (uintptr_t)site, &off, 1);
	if (result != 0)
		return result;
	return !jumped ? -EOPNOTSUPP : restored;
}

static int try_value(const struct text_writer *writer)
{
	static const uint32_t value = UINT32_MAX, zero = 0;
	uint8_t *operand = live_probe_operand();
	bool holds = live_probe_value() == value;
	int result = write_probe(writer, operand, &value, sizeof(value)), restored;

	holds = result == 0 && live_probe_value() == value;
	restored = write_checked(writer, (uintptr_t)operand, (const uint8_t *)&zero, sizeof(zero));
	if (result != 0)
		return result;
	return !holds ? -EOPNOTSUPP : restored;
}

int text_try(const struct text_writer *writer)
{
	int result = try_site(writer);

	return result != 0 || !writer->whole ? result : try_value(writer);
}

static bool is_permitted(const struct text_writer *writer)
{
	return only[0] == '\0' || strcmp(only, writer->name) == 0;
}

/* Once, as the first object is loaded: later the program may change its environment. */
static void read_environment(void)
{
	const char *value = secure_getenv("DORMANT_WRITER");

	if (value != NULL)
		text_append(only, sizeof(only), value);
}

/* Chooses the first that works and is not among @failed, a set of bits. */
static int choose(bool whole, unsigned failed)
{
	int result = whole ? -EOPNOTSUPP : -EINVAL;

	chosen[whole] = WRITERS;
	for (size_t i = 0; i < WRITERS; i++) {
		if ((failed & 1U << i) != 0 || (whole && !text_writers[i]->whole))
			continue;
		if (!is_permitted(text_writers[i])) {
			refusals[i] = 0;
			continue;
		}
		result = whole ? try_value(text_writers[i]) : try_site(text_writers[i]);
		refusals[i] = result;
		if (result == 0) {
			chosen[whole] = i;
			break;
		}
	}
	return result;
}

int text_start(void)
{
	if (only[0] == '\0')
		read_environment();
	return choose(false, 0);
}

int text_ready(bool whole)
{
	return chosen[whole] != WRITERS ? 0 : choose(whole, 0);
}

bool text_permits_whole(void)
{
	size_t i = 0;

	while (i < WRITERS && !(text_writers[i]->whole && is_permitted(text_writers[i])))
		i++;
	return i < WRITERS;
}

void text_stop(void)
{
	for (size_t i = 0; i < WRITERS; i++) {
		if (text_writers[i]->stop != NULL)
			text_writers[i]->stop();
	}
}

void text_recover(void)
{
	for (size_t i = 0; i < WRITERS; i++) {
		if (text_writers[i]->recover != NULL)
			text_writers[i]->recover();
	}
}

const struct text_writer *text_chosen(void)
{
	return chosen[false] == WRITERS ? NULL : text_writers[chosen[false]];
}

/* Refused for want of something that may be there again by now. */
static bool is_passing(int refusal)
{
	return refusal == -EMFILE || refusal == -ENFILE || refusal == -ENOMEM || refusal == -EAGAIN;
}

int text_write(uintptr_t address, const uint8_t *bytes, size_t length, bool whole)
{
	const size_t *way = &chosen[whole];
	int result = 0;
	unsigned failed = 0;

	/* What was refused may be allowed by now; the first writer is worth trying again for,
	 * because those behind it open a window or lose the file's name. */
	if (*way == WRITERS || (!whole && is_passing(refusals[0])))
		result = choose(whole, 0);
	while (*way != WRITERS) {
		result = write_checked(text_writers[*way], address, bytes, length);
		if (result == 0)
			break;
		refusals[*way] = result;
		failed |= 1U << *way;
		(void)choose(whole, failed);
	}
	return result;
}

static bool is_writer(const char *name)
{
	size_t i = 0;

	while (i < WRITERS && strcmp(text_writers[i]->name, name) != 0)
		i++;
	return i < WRITERS;
}

void text_explain(struct dormant_error *error)
{
	bool any = false;

	for (size_t i = 0; i < WRITERS; i++) {
		if (refusals[i] == 0)
			continue;
		error_text(error, any ? ", " : "");
		error_text(error, text_writers[i]->name);
		error_text(error, ": ");
		error_errno(error, refusals[i]);
		any = true;
	}
	if (only[0] != '\0' && is_writer(only)) {
		error_text(error, any ? "; " : "");
		error_text(error, "only DORMANT_WRITER=");
		error_text(error, only);
		error_text(error, " was allowed");
	} else if (only[0] != '\0') {
		error_text(error, "no writer is called DORMANT_WRITER=");
		error_text(error, only);
	}
}

/* ---- what more than one writer needs ---- */

struct page_range text_pages(uintptr_t address, size_t length)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t begin = address & ~(page_bytes - 1);
	uintptr_t end = (address + length + page_bytes - 1) & ~(page_bytes - 1);

	return (struct page_range){begin, end - begin};
}

int text_write_file(int fd, const void *bytes, size_t length, off_t offset)
{
	const char *from = bytes;

	while (length > 0) {
		ssize_t done = pwrite(fd, from, length, offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		from += done;
		offset += done;
		length -= (size_t)done;
	}
	return 0;
}
