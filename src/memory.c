/* SPDX-License-Identifier: MIT */
/* Anonymous pages; see memory.h. */
#include <errno.h>
#include <sys/mman.h>

#include "inject.h"
#include "memory.h"

void *memory_map(size_t bytes)
{
	int saved = errno;
	void *memory;

	if (INJECT(INJECT_MEMORY) != 0)
		return NULL;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

void memory_unmap(void *memory, size_t bytes)
{
	int saved = errno;

	if (memory != NULL)
		(void)munmap(memory, bytes);
	errno = saved;
}
