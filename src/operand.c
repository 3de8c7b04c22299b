/* SPDX-License-Identifier: MIT */
/* Operand sites and their index; see operand.h. */
#include <stddef.h>
#include <string.h>

#include <dormant/static_call.h>

#include "arch/arch.h"
#include "memory.h"
#include "operand.h"
#include "patch.h"
#include "registry.h"
#include "sort.h"

/* The first word of an index entry is the owner; its lowest bit is clear for a HOME entry, so that
 * these stand before the owner's sites. The second is the address of the table's entry. */
#define INDEX_SITE 1

static enum dormant_operand_kind kind_of(const struct dormant_operand *entry)
{
	return (enum dormant_operand_kind)(entry->owner & DORMANT_OPERAND_KIND_MASK);
}

static void *owner_of(const struct dormant_operand *entry)
{
	return *(void *const *)registry_follow(&entry->owner, DORMANT_OPERAND_KIND_MASK);
}

static const struct dormant_operand *entry_of(const struct word_pair *indexed)
{
	return (const struct dormant_operand *)indexed->second;
}

/* One entry as the back end wants it; @call_home is what the object's calls of the owner reach. */
static struct insn_operand describe(const struct dormant_operand *entry, uintptr_t call_home)
{
	struct insn_operand operand = {
		.kind = kind_of(entry),
		.code = (const uint8_t *)registry_follow(&entry->code, 0),
		.home = registry_follow(&entry->home, 0),
	};

	if (operand.kind == DORMANT_OPERAND_CALL)
		operand.home = call_home;
	else if (operand.kind == DORMANT_OPERAND_TRAMPOLINE)
		operand.home = (uintptr_t)((const struct static_call *)owner_of(entry))->cell;
	return operand;
}

/* What a site of this owner has to hold now. */
static uint64_t present_value(enum dormant_operand_kind kind, const void *owner)
{
	switch (kind) {
	case DORMANT_OPERAND_VALUE1:
		return __atomic_load_n((const uint8_t *)owner, __ATOMIC_RELAXED);
	case DORMANT_OPERAND_VALUE2:
		return __atomic_load_n((const uint16_t *)owner, __ATOMIC_RELAXED);
	case DORMANT_OPERAND_VALUE4:
		return __atomic_load_n((const uint32_t *)owner, __ATOMIC_RELAXED);
	case DORMANT_OPERAND_VALUE8:
		return __atomic_load_n((const uint64_t *)owner, __ATOMIC_RELAXED);
	default:
		return (uintptr_t)__atomic_load_n(&((const struct static_call *)owner)->function,
						  __ATOMIC_RELAXED);
	}
}

/* ---- walking ---- */

/* Called for each site; a result that is not 0 ends the walk. */
typedef int visit_fn(const struct insn_operand *operand, const void *owner, void *data);

static int walk(const struct word_pair *indexed, const struct word_pair *end, visit_fn *visit,
		void *data)
{
	const void *home_owner = NULL;
	uintptr_t home = 0;
	int result = 0;

	for (; indexed < end && result == 0; indexed++) {
		const struct dormant_operand *entry = entry_of(indexed);
		const void *owner = owner_of(entry);
		struct insn_operand operand;

		if (kind_of(entry) == DORMANT_OPERAND_HOME) {
			home_owner = owner;
			home = registry_follow(&entry->home, 0);
			continue;
		}
		operand = describe(entry, owner == home_owner ? home : 0);
		result = visit(&operand, owner, data);
	}
	return result;
}

static int walk_object(struct dormant_object *object, visit_fn *visit, void *data)
{
	const struct object_state *state = object_state(object);

	return state->operands == NULL ? 0
				       : walk(state->operands,
					      state->operands + state->operands_count, visit, data);
}

static int walk_owner(const void *owner, visit_fn *visit, void *data)
{
	struct dormant_object *object;
	int result = 0;

	for (object = registry_first(); object != NULL && result == 0;
	     object = registry_next(object)) {
		const struct object_state *state = object_state(object);
		size_t first, end;

		if (state->operands == NULL)
			continue;
		first = sort_find(state->operands, state->operands_count, (uintptr_t)owner);
		end = sort_find(state->operands, state->operands_count,
				(uintptr_t)owner + INDEX_SITE + 1);
		result = walk(state->operands + first, state->operands + end, visit, data);
	}
	return result;
}

/* ---- the index ---- */

static size_t fill_index(const struct dormant_object *object, struct word_pair *index)
{
	size_t count = 0;

	for (const struct dormant_operand *entry = object->operands; entry < object->operands_end;
	     entry++) {
		uintptr_t owner = (uintptr_t)owner_of(entry);

		if (owner == 0) /* a weak one that nobody defines */
			continue;
		index[count].first = owner |
				     (kind_of(entry) == DORMANT_OPERAND_HOME ? 0 : INDEX_SITE);
		index[count++].second = (uintptr_t)entry;
	}
	return count;
}

/* Whether a live site holds what its owner holds. */
static bool is_current(const struct insn_operand *operand, const void *owner)
{
	struct insn_store stores[INSN_STORES_MAX];
	uint64_t there;

	(void)insn_operand_encode(operand, present_value(operand->kind, owner), stores);
	memcpy(&there, (const void *)stores[0].address, sizeof(there));
	return (there & stores[0].mask) == stores[0].bits;
}

/* Whether it is a site. Where the object was known before, its text may be patched already: what
 * looks like a call there is taken for one only if it calls what it should. */
static bool is_site(const struct insn_operand *operand, const void *owner, bool known_before)
{
	if (insn_operand_fits(operand))
		return true;
	return known_before && insn_operand_form(operand) == INSN_LIVE &&
	       (operand->kind != DORMANT_OPERAND_CALL || is_current(operand, owner));
}

/* Keeps the sites, and one HOME entry for each owner. */
static size_t keep_sites(struct word_pair *index, size_t count, bool known_before)
{
	uintptr_t home_owner = 0, home = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct dormant_operand *entry = entry_of(&index[i]);
		struct insn_operand operand;

		if ((index[i].first & INDEX_SITE) == 0) {
			if (index[i].first == home_owner)
				continue;
			index[kept++] = index[i];
			home_owner = index[i].first;
			home = registry_follow(&entry->home, 0);
			continue;
		}
		operand = describe(entry, index[i].first - INDEX_SITE == home_owner ? home : 0);
		if (is_site(&operand, owner_of(entry), known_before))
			index[kept++] = index[i];
	}
	return kept;
}

void operand_index(struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	size_t count = (size_t)(object->operands_end - object->operands);
	struct word_pair *index = count == 0 ? NULL : memory_map(count * sizeof(*index));

	if (index == NULL)
		return;
	count = fill_index(object, index);
	sort_pairs(index, count);
	state->operands_count = keep_sites(index, count, state->known_before != 0);
	/* last: a child of clone() may inherit this half done */
	__atomic_store_n(&state->operands, index, __ATOMIC_RELEASE);
}

void operand_forget(struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	size_t count = (size_t)(object->operands_end - object->operands);

	if (state->operands != NULL)
		memory_unmap(state->operands, count * sizeof(*state->operands));
	state->operands = NULL;
	state->operands_count = 0;
}

/* ---- what is done with them ---- */

struct addition {
	struct patch *patch;
	uint64_t value;
};

static int add_value(const struct insn_operand *operand, const void *owner, void *data)
{
	const struct addition *addition = data;

	return patch_add_operand(addition->patch, operand, owner, addition->value);
}

int operand_add_owner(struct patch *patch, const void *owner, uint64_t value)
{
	struct addition addition = {patch, value};

	return walk_owner(owner, add_value, &addition);
}

void operand_store_cell(const struct static_call *call, void *function)
{
	__atomic_store_n(call->cell, function != NULL ? function : (void *)(uintptr_t)call->nothing,
			 __ATOMIC_RELEASE);
}

static const void *owner_at(const void *owners, size_t bytes, size_t i)
{
	const void *owner;

	memcpy(&owner, (const uint8_t *)owners + i * bytes, sizeof(owner));
	return owner;
}

bool operand_is_overridden(const void *owners, size_t bytes, size_t count, size_t i)
{
	const void *owner = owner_at(owners, bytes, i);
	size_t later = i + 1;

	while (later < count && owner_at(owners, bytes, later) != owner)
		later++;
	return later < count;
}

static int add_present(const struct insn_operand *operand, const void *owner, void *data)
{
	uint64_t value = present_value(operand->kind, owner);

	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE)
		operand_store_cell(owner, (void *)(uintptr_t)value);
	return patch_add_operand(data, operand, owner, value);
}

int operand_add_object(struct patch *patch, struct dormant_object *object)
{
	return walk_object(object, add_present, patch);
}

struct stale {
	uintptr_t code;
	const void *owner;
};

static int find_stale(const struct insn_operand *operand, const void *owner, void *data)
{
	enum insn_form form = insn_operand_form(operand);

	if (form == INSN_HOME || (form == INSN_LIVE && is_current(operand, owner)))
		return 0;
	*(struct stale *)data = (struct stale){(uintptr_t)operand->code, owner};
	return 1;
}

uintptr_t operand_find_stale(struct dormant_object *object, const void **owner)
{
	struct stale stale = {0, NULL};

	(void)walk_object(object, find_stale, &stale);
	*owner = stale.owner;
	return stale.code;
}
