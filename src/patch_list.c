/* SPDX-License-Identifier: MIT */
/* What a patch is to change; see patch.h. */
#include <string.h>

#include "memory.h"
#include "patch_parts.h"
#include "registry.h"

#define POKES_AT_HAND  256
#define STORES_AT_HAND 16

/* All guarded by the lock. The largest lists so far are kept, because mapping one for each patch,
 * page fault by page fault, costs more than the patch. */
static struct word_pair pokes_at_hand[POKES_AT_HAND];
struct word_pair *patch_pokes = pokes_at_hand;
static size_t list_capacity = POKES_AT_HAND;
static struct store stores_at_hand[STORES_AT_HAND];
struct store *patch_stores = stores_at_hand;
static size_t stores_capacity = STORES_AT_HAND;

/* Room for @more items behind the @count of a list: the list, which may have moved, or NULL. */
static void *enlarge(void *items, const void *at_hand, size_t item_bytes, size_t count,
		     size_t *capacity, size_t more)
{
	size_t larger = *capacity;
	void *moved;

	if (larger - count >= more)
		return items;
	while (larger - count < more)
		larger *= 2;
	moved = memory_map(larger * item_bytes);
	if (moved == NULL)
		return NULL;
	memcpy(moved, items, count * item_bytes);
	if (items != at_hand)
		memory_unmap(items, *capacity * item_bytes);
	*capacity = larger;
	return moved;
}

static int reserve(struct patch *patch, size_t more)
{
	struct word_pair *larger = enlarge(patch_pokes, pokes_at_hand, sizeof(*patch_pokes),
					   patch->count, &list_capacity, more);

	if (larger == NULL)
		return patch_refuse_memory(patch);
	patch_pokes = larger;
	return 0;
}

static int reserve_stores(struct patch *patch, size_t more)
{
	struct store *larger = enlarge(patch_stores, stores_at_hand, sizeof(*patch_stores),
				       patch->stores, &stores_capacity, more);

	if (larger == NULL)
		return patch_refuse_memory(patch);
	patch_stores = larger;
	return reserve(patch, more);
}

int patch_add_site(struct patch *patch, uintptr_t code, bool jumps)
{
	int result = reserve(patch, 1);

	if (result != 0)
		return result;
	patch_pokes[patch->count].first = code;
	patch_pokes[patch->count].second = jumps ? POKE_NEW_JUMPS : 0;
	patch->count++;
	return 0;
}

int patch_add_key(struct patch *patch, const struct static_key *key, bool on)
{
	struct dormant_object *object;

	for (object = registry_first(); object != NULL; object = registry_next(object)) {
		const struct word_pair *run;
		size_t count;
		int result = registry_sites(object, key, &run, &count);

		if (result != 0)
			return patch_refuse_memory(patch);
		result = reserve(patch, count);
		if (result != 0)
			return result;
		for (size_t i = 0; i < count; i++) {
			bool likely = (run[i].first & DORMANT_SITE_LIKELY) != 0;
			struct word_pair *poke = &patch_pokes[patch->count++];

			poke->first = run[i].second;
			poke->second = on != likely ? POKE_NEW_JUMPS : 0;
		}
	}
	return 0;
}

/* ---- operand sites, which are verified at once ---- */

uint64_t patch_read_quadword(uintptr_t address)
{
	uint64_t there;

	__asm__ volatile("" ::: "memory"); /* text is changed behind the compiler's back */
	memcpy(&there, (const void *)address, sizeof(there));
	return there;
}

int patch_add_operand(struct patch *patch, const struct insn_operand *operand, const void *owner,
		      uint64_t value)
{
	enum insn_form form = insn_operand_form(operand);
	struct insn_store wanted[INSN_STORES_MAX];
	size_t count;
	int result;

	if (form == INSN_FOREIGN)
		return patch_refuse_foreign_operand(patch, operand, owner);
	count = insn_operand_encode(operand, value, wanted);
	result = reserve_stores(patch, count);
	for (size_t i = 0; i < count && result == 0; i++) {
		uint64_t old = patch_read_quadword(wanted[i].address) & wanted[i].mask;

		if (old == wanted[i].bits)
			continue;
		patch_stores[patch->stores] =
			(struct store){wanted[i], old,           (uintptr_t)operand->code,
				       owner,     i + 1 < count, form == INSN_HOME};
		patch_pokes[patch->count++] = (struct word_pair){wanted[i].address,
								 POKE_STORE | patch->stores++ << 3};
	}
	return result;
}

void patch_lists_recover(void)
{
	patch_pokes = pokes_at_hand;
	list_capacity = POKES_AT_HAND;
	patch_stores = stores_at_hand;
	stores_capacity = STORES_AT_HAND;
}

void patch_clear(struct patch *patch)
{
	patch->count = 0;
	patch->stores = 0;
}
