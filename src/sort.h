/* SPDX-License-Identifier: MIT */
/*
 * Sorting pairs of words in place: qsort() may allocate, which nothing under the lock may do.
 */
#ifndef DORMANT_SRC_SORT_H
#define DORMANT_SRC_SORT_H

#include <stddef.h>
#include <stdint.h>

struct word_pair {
	uintptr_t first;
	uintptr_t second;
};

/* By first, then second, ascending. O(n) where it is sorted already, O(n log n) else. */
void sort_pairs(struct word_pair *pairs, size_t count);

/* The first of @count sorted pairs whose first word is not below @value. */
size_t sort_find(const struct word_pair *pairs, size_t count, uintptr_t value);

#endif
