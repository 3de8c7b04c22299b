/* SPDX-License-Identifier: MIT */
/* The one transaction; see patch.h for its steps. */
#include <errno.h>
#include <string.h>

#include "error.h"
#include "inject.h"
#include "operand.h"
#include "patch_parts.h"
#include "registry.h"
#include "sort.h"
#include "sync.h"
#include "text.h"

/* A write costs 4 us (those that change protections 100), a KiB of span 0.15 us. At most this far
 * apart, every page of a span holds a site of it, so no page is made private that need not be.
 * Bytes between the sites are stored again as they were. */
#define SPAN_GAP_BYTES 4096
#define SPAN_BYTES     (1 << 20)

static uint8_t span[SPAN_BYTES]; /* guarded by the lock */

/* ---- the steps ---- */

/* Sorts, verifies, and keeps the sites that differ from what they have to be, each once. */
static int verify(struct patch *patch)
{
	size_t kept = 0;

	sort_pairs(patch_pokes, patch->count);
	for (size_t i = 0; i < patch->count; i++) {
		int jumps;

		if ((patch_pokes[i].second & POKE_STORE) != 0) {
			patch_pokes[kept++] = patch_pokes[i];
			continue;
		}
		jumps = insn_site_decode((const uint8_t *)patch_pokes[i].first);
		if (jumps < 0)
			return patch_refuse_foreign(patch, &patch_pokes[i]);
		if (jumps == (int)(patch_pokes[i].second & POKE_NEW_JUMPS) ||
		    (kept > 0 && patch_pokes[kept - 1].first == patch_pokes[i].first))
			continue;
		patch_pokes[kept].first = patch_pokes[i].first;
		patch_pokes[kept++].second = patch_pokes[i].second |
					     (jumps != 0 ? POKE_OLD_JUMPS : 0);
	}
	patch->count = kept;
	return 0;
}

static uintptr_t poke_end(const struct word_pair *poke)
{
	return poke->first + ((poke->second & POKE_STORE) != 0 ? sizeof(uint64_t) : 1);
}

/* How many of the @count pokes from @pokes on go into one write, which ends at *@end. */
static size_t measure_span(const struct word_pair *pokes, size_t count, uintptr_t *end)
{
	size_t n = 1;

	*end = poke_end(&pokes[0]);
	for (; n < count && pokes[n].first - pokes[n - 1].first <= SPAN_GAP_BYTES &&
	       poke_end(&pokes[n]) - pokes[0].first <= SPAN_BYTES;
	     n++) {
		if (poke_end(&pokes[n]) > *end)
			*end = poke_end(&pokes[n]);
	}
	return n;
}

/* Which of the pokes, and which of their states, a round writes. */
struct round {
	bool first;    /* the first stores of two, or all the others */
	uintptr_t bit; /* POKE_NEW_JUMPS or POKE_OLD_JUMPS */
};

static bool is_wide(const struct store *store)
{
	uint64_t differs = store->old ^ store->new.bits;
	unsigned shift = (unsigned)__builtin_ctzll(differs) & ~7U;

	return (differs & ~(UINT64_C(0xff) << shift)) != 0;
}

/* Whether the first store of two is run by now: the second, which is the next, is not as it was. */
static bool is_run(const struct store *first)
{
	const struct store *second = first + 1;

	return (patch_read_quadword(second->new.address) & second->new.mask) != second->old;
}

/* Puts the poke's state into the span that begins at @begin, if it belongs to the round. Then 1, or
 * 2 where it must be changed whole; else 0. */
static int fill_in(const struct word_pair *poke, uintptr_t begin, struct round round)
{
	uint8_t *at = span + (poke->first - begin);
	const struct store *store;
	uint64_t bytes;

	if ((poke->second & POKE_STORE) == 0) {
		if (round.first)
			return 0;
		*at = insn_site_encode((poke->second & round.bit) != 0);
		return 1;
	}
	store = poke_store(poke);
	if (store->is_first != round.first)
		return 0;
	if (round.first && round.bit == POKE_OLD_JUMPS && is_run(store))
		return 0;
	memcpy(&bytes, at, sizeof(bytes));
	bytes = (bytes & ~store->new.mask) |
		(round.bit == POKE_NEW_JUMPS ? store->new.bits : store->old);
	memcpy(at, &bytes, sizeof(bytes));
	return is_wide(store) ? 2 : 1;
}

/* Writes pokes in one go: their bytes, and between them what is there. */
static int write_span(const struct patch *patch, const struct word_pair *pokes, size_t count,
		      uintptr_t end, struct round round)
{
	uintptr_t begin = pokes[0].first;
	int filled = 0;

	memcpy(span, (const void *)begin, end - begin);
	for (size_t i = 0; i < count; i++)
		filled |= fill_in(&pokes[i], begin, round);
	if (filled == 0)
		return 0;
	return text_write(begin, span, end - begin, (filled & 2) != 0 && !patch->alone);
}

/* Writes the round's part of the first @count pokes. 0, or the errno, with *@done pokes written for
 * sure and those from there to *@tried possibly. */
static int write_pokes(const struct patch *patch, size_t count, struct round round, size_t *done,
		       size_t *tried)
{
	for (*done = 0, *tried = 0; *done < count; *done = *tried) {
		uintptr_t end;
		size_t n = measure_span(patch_pokes + *done, count - *done, &end);
		int result;

		*tried = *done + n;
		result = write_span(patch, patch_pokes + *done, n, end, round);
		if (result != 0)
			return result;
	}
	return 0;
}

/* Puts the round's part of the first @count pokes back. 0, or the error of what could not be put
 * back. */
static int roll_back(struct patch *patch, size_t count, bool first)
{
	size_t done = 0, tried;
	int result = INJECT(INJECT_ROLLBACK);

	if (count == 0)
		return 0;
	if (result == 0)
		result = write_pokes(patch, count, (struct round){first, POKE_OLD_JUMPS}, &done,
				     &tried);
	(void)sync_cores();
	return result == 0 ? 0 : patch_refuse_rollback(patch, &patch_pokes[done], result);
}

static bool is_poke_changed(const struct word_pair *poke)
{
	if ((poke->second & POKE_STORE) != 0) {
		const struct store *store = poke_store(poke);

		return (patch_read_quadword(poke->first) & store->new.mask) != store->old;
	}
	return *(const volatile uint8_t *)poke->first !=
	       insn_site_encode((poke->second & POKE_OLD_JUMPS) != 0);
}

/* Whether any of these pokes no longer holds its old bytes. */
static bool is_changed(const struct word_pair *pokes, size_t count)
{
	size_t i = 0;

	while (i < count && !is_poke_changed(&pokes[i]))
		i++;
	return i < count;
}

/* Writes one round and synchronises the cores; what fails is put back. */
static int apply_round(struct patch *patch, bool first)
{
	size_t done, tried;
	int restored;
	int result = write_pokes(patch, patch->count, (struct round){first, POKE_NEW_JUMPS}, &done,
				 &tried);

	if (result != 0) {
		size_t changed = is_changed(patch_pokes + done, tried - done) ? tried : done;

		result = patch_refuse_write(patch, &patch_pokes[done], result);
		restored = roll_back(patch, changed, first);
		return restored != 0 ? restored : result;
	}
	(void)INJECT(INJECT_WRITTEN);
	result = sync_cores();
	if (result == 0)
		return 0;
	restored = roll_back(patch, patch->count, first);
	return restored != 0 ? restored : sync_refuse(patch->error, result, "nothing was changed");
}

/* Stores that satisfy a condition. */
static bool is_first_of_two(const struct store *store)
{
	return store->is_first;
}

static bool may_stay(const struct store *store)
{
	return store->may_stay;
}

/* The first poke whose store does, or NULL. */
static const struct word_pair *find_store(const struct patch *patch,
					  bool (*condition)(const struct store *))
{
	for (size_t i = 0; patch->stores != 0 && i < patch->count; i++) {
		if ((patch_pokes[i].second & POKE_STORE) != 0 &&
		    condition(poke_store(&patch_pokes[i])))
			return &patch_pokes[i];
	}
	return NULL;
}

/* Nothing is written that could not be made to be seen, or could be seen half done. */
static int check_ways(struct patch *patch)
{
	const struct word_pair *wide;
	int result = sync_ready();

	if (result != 0)
		return sync_refuse(patch->error, result, "nothing was changed");
	wide = find_store(patch, is_wide);
	if (wide == NULL)
		return 0;
	/* what went into the instruction while there was one thread could not be changed later */
	if (!text_permits_whole())
		return patch_refuse_whole(patch, wide, -EOPNOTSUPP);
	patch->alone = sync_is_alone();
	result = patch->alone ? 0 : text_ready(true);
	return result == 0 ? 0 : patch_refuse_whole(patch, wide, result);
}

static int apply(struct patch *patch)
{
	bool twice;
	int restored;
	int result = verify(patch);

	if (result != 0 || patch->count == 0)
		return result;
	result = check_ways(patch);
	if (result != 0)
		return result;
	(void)INJECT(INJECT_VERIFIED);
	twice = find_store(patch, is_first_of_two) != NULL;
	if (twice)
		result = apply_round(patch, true);
	if (result != 0)
		return result;
	result = apply_round(patch, false);
	if (result == 0 || !twice)
		return result;
	restored = roll_back(patch, patch->count, true);
	return restored != 0 ? restored : result;
}

static void drop_what_may_stay(struct patch *patch)
{
	size_t kept = 0;

	for (size_t i = 0; i < patch->count; i++) {
		if ((patch_pokes[i].second & POKE_STORE) == 0 ||
		    !poke_store(&patch_pokes[i])->may_stay)
			patch_pokes[kept++] = patch_pokes[i];
	}
	patch->count = kept;
}

int patch_apply(struct patch *patch)
{
	static struct dormant_error first; /* guarded by the lock; large for a signal's stack */
	struct dormant_error *error = patch->error;
	int result;

	patch->stuck = false;
	if (find_store(patch, may_stay) == NULL)
		return apply(patch);
	patch->error = &first; /* not yet a failure */
	result = apply(patch);
	patch->error = error;
	if (result == 0)
		return 0;
	if (patch->stuck) {
		if (error != NULL)
			*error = first;
		return result;
	}
	drop_what_may_stay(patch);
	return apply(patch);
}

/* ---- the lock around it ---- */

/* The sites of one object follow the keys, values and calls again. */
static int repair_object(struct patch *patch, struct dormant_object *object)
{
	int result = 0;

	for (const struct dormant_site *entry = object->sites;
	     result == 0 && entry < object->sites_end; entry++) {
		struct site site = registry_site(entry);

		if (site.key == NULL)
			continue;
		/* nobody else is in this process to have staged a change */
		__atomic_store_n(&site.key->staged, 0, __ATOMIC_RELAXED);
		result = patch_add_site(patch, site.code, site_must_jump(site.key, site.likely));
	}
	return result != 0 ? result : operand_add_object(patch, object);
}

/* After a fork that lost the holder in the middle of a patch. */
static void repair(struct patch *patch)
{
	struct dormant_object *object;
	int result = 0;

	for (object = registry_first(); object != NULL && result == 0;
	     object = registry_next(object)) {
		if (object_state(object)->refused == 0)
			result = repair_object(patch, object);
	}
	if (result == 0)
		(void)patch_apply(patch);
	patch_clear(patch);
}

void patch_begin(struct patch *patch, struct dormant_error *error)
{
	bool taken_over;

	patch->saved_errno = errno;
	taken_over = lock_acquire(&patch->hold);
	if (taken_over) {
		patch_lists_recover();
		text_recover();
	}
	patch->error = NULL;
	patch_clear(patch);
	if (taken_over)
		repair(patch);
	patch->error = error;
}

void patch_end(struct patch *patch)
{
	lock_release(&patch->hold);
	errno = patch->saved_errno;
}
