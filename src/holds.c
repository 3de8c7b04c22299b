/* SPDX-License-Identifier: MIT */
/* References by object and key; see holds.h. */
#include "holds.h"
#include "memory.h"
#include "registry.h"

#define BLOCK_BYTES 4096

struct hold {
	struct static_key *key; /* NULL: free; never changes again once set */
	intptr_t references;
};

struct holds_block {
	struct holds_block *next; /* set once */
	struct hold holds[(BLOCK_BYTES - sizeof(void *)) / sizeof(struct hold)];
};

#define HOLDS_IN_BLOCK (sizeof(((struct holds_block *)0)->holds) / sizeof(struct hold))

/* The block that *link points to, made if there is none; NULL without memory. */
static struct holds_block *get_block(struct holds_block **link)
{
	struct holds_block *block = __atomic_load_n(link, __ATOMIC_ACQUIRE);
	struct holds_block *made;

	if (block != NULL)
		return block;
	made = memory_map(sizeof(*made));
	if (made == NULL)
		return NULL;
	if (__atomic_compare_exchange_n(link, &block, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	memory_unmap(made, sizeof(*made)); /* another thread was first */
	return block;
}

static struct hold *find_in_block(struct holds_block *block, struct static_key *key)
{
	for (size_t i = 0; i < HOLDS_IN_BLOCK; i++) {
		struct static_key *seen = NULL;

		if (__atomic_compare_exchange_n(&block->holds[i].key, &seen, key, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    seen == key)
			return &block->holds[i];
	}
	return NULL;
}

void holds_add(struct dormant_object *object, struct static_key *key, int references)
{
	struct holds_block **link = &object_state(object)->holds;
	struct holds_block *block;

	while ((block = get_block(link)) != NULL) {
		struct hold *hold = find_in_block(block, key);

		if (hold != NULL) {
			(void)__atomic_add_fetch(&hold->references, references, __ATOMIC_RELAXED);
			return;
		}
		link = &block->next;
	}
}

/* The @n-th slot, used or not; NULL past the last block. */
static struct hold *slot(const struct dormant_object *object, size_t n)
{
	struct holds_block *block =
		((const struct object_state *)(const void *)object->reserved)->holds;

	for (; block != NULL && n >= HOLDS_IN_BLOCK; n -= HOLDS_IN_BLOCK)
		block = __atomic_load_n(&block->next, __ATOMIC_ACQUIRE);
	return block == NULL ? NULL : &block->holds[n];
}

struct static_key *holds_key(const struct dormant_object *object, size_t n)
{
	const struct hold *hold = slot(object, n);

	return hold == NULL ? NULL : __atomic_load_n(&hold->key, __ATOMIC_ACQUIRE);
}

int holds_count(const struct dormant_object *object, const struct static_key *key)
{
	const struct static_key *seen;

	for (size_t n = 0; (seen = holds_key(object, n)) != NULL; n++) {
		if (seen == key)
			return (int)__atomic_load_n(&slot(object, n)->references, __ATOMIC_RELAXED);
	}
	return 0;
}

void holds_forget_keys(struct dormant_object *object, const struct object_state *gone)
{
	const struct static_key *seen;

	for (size_t n = 0; (seen = holds_key(object, n)) != NULL; n++) {
		if (object_covers(gone, seen))
			__atomic_store_n(&slot(object, n)->references, 0, __ATOMIC_RELAXED);
	}
}

void holds_forget(struct dormant_object *object)
{
	struct holds_block *block = object_state(object)->holds;

	object_state(object)->holds = NULL;
	while (block != NULL) {
		struct holds_block *next = block->next;

		memory_unmap(block, sizeof(*block));
		block = next;
	}
}
