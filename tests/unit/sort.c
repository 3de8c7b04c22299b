/* SPDX-License-Identifier: MIT */
/* sort_pairs() against the C library's qsort(), on every size from 0 to 1,000 and every order. */
#include <stdlib.h>
#include <string.h>

#include "sort.h"
#include "tap.h"

#define MAX 1000

static uint64_t state = 88172645463325252u;

/* xorshift64: the same sequence in every run */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static struct word_pair random_pair(size_t i, size_t count)
{
	(void)i;
	(void)count;
	return (struct word_pair){next_random(), next_random()};
}

static struct word_pair sorted_pair(size_t i, size_t count)
{
	(void)count;
	return (struct word_pair){3 * i, i};
}

static struct word_pair reversed_pair(size_t i, size_t count)
{
	return (struct word_pair){count - i, i};
}

/* Few different values: many pairs are equal in the first word, many in both. */
static struct word_pair duplicate_pair(size_t i, size_t count)
{
	(void)i;
	(void)count;
	return (struct word_pair){next_random() % 7, next_random() % 3};
}

static struct word_pair equal_pair(size_t i, size_t count)
{
	(void)i;
	(void)count;
	return (struct word_pair){42, 42};
}

/* Words with the highest bit: an order by signed numbers would put them first. */
static struct word_pair high_pair(size_t i, size_t count)
{
	(void)count;
	return (struct word_pair){(i & 1) != 0 ? UINTPTR_MAX - i : i, i};
}

/* A sorted list whose last pair belongs to the front. */
static struct word_pair late_pair(size_t i, size_t count)
{
	return (struct word_pair){i + 1 == count ? 0 : i + 1, i};
}

static int compare(const void *a, const void *b)
{
	const struct word_pair *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->second < y->second ? -1 : x->second > y->second;
}

static bool sorts(struct word_pair (*make)(size_t, size_t), size_t count)
{
	static struct word_pair ours[MAX + 2], theirs[MAX];
	const struct word_pair guard = {0x5555, 0xaaaa};

	ours[0] = ours[count + 1] = guard;
	for (size_t i = 0; i < count; i++)
		ours[i + 1] = theirs[i] = make(i, count);
	sort_pairs(ours + 1, count);
	qsort(theirs, count, sizeof(theirs[0]), compare);
	return memcmp(ours + 1, theirs, count * sizeof(theirs[0])) == 0 &&
	       compare(&ours[0], &guard) == 0 && compare(&ours[count + 1], &guard) == 0;
}

static void test_order(const char *name, struct word_pair (*make)(size_t, size_t))
{
	size_t count = 0;

	while (count <= MAX && sorts(make, count))
		count++;
	ok(count == MAX + 1, "sorts 0 to %d pairs: %s (first wrong: %zu)", MAX, name, count);
}

int main(void)
{
	plan(7);
	test_order("random", random_pair);
	test_order("sorted", sorted_pair);
	test_order("reversed", reversed_pair);
	test_order("with duplicates", duplicate_pair);
	test_order("all equal", equal_pair);
	test_order("words above INTPTR_MAX", high_pair);
	test_order("only the last out of place", late_pair);
	return done();
}
