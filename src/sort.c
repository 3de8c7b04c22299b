/* SPDX-License-Identifier: MIT */
/* Heapsort of pairs of words; see sort.h for why it is here. */
#include <stdbool.h>

#include "sort.h"

static bool is_less(const struct word_pair *a, const struct word_pair *b)
{
	return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static bool is_sorted(const struct word_pair *pairs, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (is_less(&pairs[i], &pairs[i - 1]))
			return false;
	}
	return true;
}

/* Restores the heap below @root, whose children are heaps: the largest pair comes to the top. */
static void sift_down(struct word_pair *pairs, size_t root, size_t count)
{
	struct word_pair moving = pairs[root];

	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= count)
			break;
		if (child + 1 < count && is_less(&pairs[child], &pairs[child + 1]))
			child++;
		if (!is_less(&moving, &pairs[child]))
			break;
		pairs[root] = pairs[child];
		root = child;
	}
	pairs[root] = moving;
}

void sort_pairs(struct word_pair *pairs, size_t count)
{
	if (is_sorted(pairs, count))
		return;
	for (size_t root = count / 2; root-- > 0;)
		sift_down(pairs, root, count);
	for (size_t end = count; end-- > 1;) {
		struct word_pair largest = pairs[0];

		pairs[0] = pairs[end];
		pairs[end] = largest;
		sift_down(pairs, 0, end);
	}
}

size_t sort_find(const struct word_pair *pairs, size_t count, uintptr_t value)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs[middle].first < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
