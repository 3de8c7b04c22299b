/* SPDX-License-Identifier: MIT */
/*
 * Anonymous pages. The library never calls malloc(): a toggle may come from a malloc hook, and the
 * lock may be held while another thread is inside the allocator.
 */
#ifndef DORMANT_SRC_MEMORY_H
#define DORMANT_SRC_MEMORY_H

#include <stddef.h>

/* Zeroed memory, or NULL. Give it back with the same size. Keeps errno. */
void *memory_map(size_t bytes);
void memory_unmap(void *memory, size_t bytes);

#endif
