/* SPDX-License-Identifier: MIT */
/* Sets a value that lies in two slots, through one of three writers. See two_slots.h. */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "two_slots.h"

#define PAGE_BYTES 4096u

static int memory = -1;

bool two_slots_prepare(void)
{
	memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	return memory >= 0 &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) ==
		       0;
}

static bool sync_cores(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

bool two_slots_write_text(unsigned char *text, const void *bytes, size_t length)
{
	return pwrite(memory, bytes, length, (off_t)(uintptr_t)text) == (ssize_t)length;
}

/* The two pages that hold a site: none is longer. */
static unsigned char *begin_pages(unsigned char *text)
{
	return text - (uintptr_t)text % PAGE_BYTES;
}

/* Opened once for both steps of a set, hence not here: see two_slots_set(). */
static bool protect(unsigned char *text, int protection)
{
	return mprotect(begin_pages(text), 2ul * PAGE_BYTES, protection) == 0;
}

/* Puts copies of the pages, with the change, in their place. */
static bool replace_pages(unsigned char *text, const void *bytes, size_t length)
{
	unsigned char *pages = begin_pages(text);
	unsigned char *copy = mmap(NULL, 2ul * PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return false;
	memcpy(copy, pages, 2ul * PAGE_BYTES);
	memcpy(copy + (text - pages), bytes, length);
	return mprotect(copy, 2ul * PAGE_BYTES, PROT_READ | PROT_EXEC) == 0 &&
	       mremap(copy, 2ul * PAGE_BYTES, 2ul * PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		      pages) != MAP_FAILED;
}

static bool write_bytes(unsigned char *text, const void *bytes, size_t length,
			enum two_slots_writer writer)
{
	if (writer == TWO_SLOTS_PROC_MEM)
		return two_slots_write_text(text, bytes, length);
	if (writer == TWO_SLOTS_REMAP)
		return replace_pages(text, bytes, length);
	memcpy(text, bytes, length);
	return true;
}

static unsigned char *spare_slot(const struct two_slots *site)
{
	bool is_b = *(volatile unsigned char *)site->flip == TWO_SLOTS_FLIP_B;

	return is_b ? site->first : site->second;
}

/* The operand of a slot's move: behind one byte, or behind a prefix and one byte. */
static unsigned char *slot_operand(const struct two_slots *site, unsigned char *slot)
{
	return slot + (site->flip - site->first > 5 ? 2 : 1);
}

bool two_slots_write(const struct two_slots *site, uint64_t value, unsigned bytes_written,
		     enum two_slots_writer writer)
{
	return write_bytes(slot_operand(site, spare_slot(site)), &value, bytes_written, writer);
}

bool two_slots_flip(const struct two_slots *site, enum two_slots_writer writer)
{
	unsigned char opcode = spare_slot(site) == site->first ? TWO_SLOTS_FLIP_A
							       : TWO_SLOTS_FLIP_B;

	return sync_cores() && write_bytes(site->flip, &opcode, 1, writer) && sync_cores();
}

bool two_slots_set(const struct two_slots *site, uint64_t value, unsigned bytes,
		   enum two_slots_writer writer)
{
	bool opens = writer == TWO_SLOTS_MPROTECT, done;

	if (opens && !protect(site->first, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	done = two_slots_write(site, value, bytes, writer) && two_slots_flip(site, writer);
	return (!opens || protect(site->first, PROT_READ | PROT_EXEC)) && done;
}
