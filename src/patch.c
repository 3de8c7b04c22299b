/* SPDX-License-Identifier: MIT */
/* The one transaction; see patch.h for its steps. */
#include <errno.h>
#include <string.h>

#include "arch/arch.h"
#include "error.h"
#include "inject.h"
#include "memory.h"
#include "patch.h"
#include "registry.h"
#include "sort.h"
#include "sync.h"
#include "text.h"

/* A write costs 4 us (those that change protections 100), a KiB of span 0.15 us. At most this far
 * apart, every page of a span holds a site of it, so no page is made private that need not be.
 * Bytes between the sites are stored again as they were. */
#define SPAN_GAP_BYTES 4096
#define SPAN_BYTES     (1 << 20)

/* A site to change is a poke: {address, these bits}. */
#define POKE_NEW_JUMPS 1 /* what it has to be */
#define POKE_OLD_JUMPS 2 /* what it was found to be */

#define POKES_AT_HAND 256

/* All guarded by the lock. The largest list so far is kept, because mapping it for each patch, page
 * fault by page fault, costs more than the patch. */
static struct word_pair pokes_at_hand[POKES_AT_HAND];
static struct word_pair *list = pokes_at_hand;
static size_t list_capacity = POKES_AT_HAND;
static uint8_t span[SPAN_BYTES];

/* ---- collecting ---- */

static int refuse_memory(struct patch *patch)
{
	int result = error_begin(patch->error, DORMANT_PHASE_MEMORY, -ENOMEM);

	error_text(patch->error, "no memory for the list of sites; nothing was changed, try again");
	return result;
}

static int reserve(struct patch *patch, size_t more)
{
	size_t capacity = list_capacity;
	struct word_pair *larger;

	if (capacity - patch->count >= more)
		return 0;
	while (capacity - patch->count < more)
		capacity *= 2;
	larger = memory_map(capacity * sizeof(*larger));
	if (larger == NULL)
		return refuse_memory(patch);
	memcpy(larger, list, patch->count * sizeof(*larger));
	if (list != pokes_at_hand)
		memory_unmap(list, list_capacity * sizeof(*list));
	list = larger;
	list_capacity = capacity;
	return 0;
}

int patch_add_site(struct patch *patch, uintptr_t code, bool jumps)
{
	int result = reserve(patch, 1);

	if (result != 0)
		return result;
	list[patch->count].first = code;
	list[patch->count].second = jumps ? POKE_NEW_JUMPS : 0;
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
			return refuse_memory(patch);
		result = reserve(patch, count);
		if (result != 0)
			return result;
		for (size_t i = 0; i < count; i++) {
			bool likely = (run[i].first & DORMANT_SITE_LIKELY) != 0;
			struct word_pair *poke = &list[patch->count++];

			poke->first = run[i].second;
			poke->second = on != likely ? POKE_NEW_JUMPS : 0;
		}
	}
	return 0;
}

/* ---- errors about a site ---- */

/* "FILE+0x1234 (key NAME)", and the fields for programs. */
static void describe_site(struct dormant_error *error, uintptr_t code)
{
	struct dormant_object *object = registry_object_at(code);
	const char *path = object == NULL ? "?" : object_state(object)->path;

	if (error == NULL)
		return;
	error->site = code;
	error->expected[0] = insn_site_forms.off;
	error->expected[1] = insn_site_forms.on;
	error->found = *(const uint8_t *)code;
	text_append(error->object, sizeof(error->object), path);
	error_text(error, "site ");
	error_text(error, error->object);
	error_text(error, "+0x");
	error_hex(error, object == NULL ? code : code - object_state(object)->bias);
	error_text(error, " of ");
	registry_name_key(registry_site_key(code), error);
}

static int refuse_foreign(struct patch *patch, uintptr_t code)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_VERIFY, -EILSEQ);

	describe_site(error, code);
	error_text(error, ": expected ");
	error_hex(error, insn_site_forms.off);
	error_text(error, " or ");
	error_hex(error, insn_site_forms.on);
	error_text(error, ", found ");
	error_hex(error, *(const uint8_t *)code);
	error_text(error,
		   "; nothing was changed. Remove the breakpoint or hook there and try again");
	return result;
}

static int refuse_write(struct patch *patch, uintptr_t code, int code_of_writer)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_WRITE, code_of_writer);

	describe_site(error, code);
	error_text(error, " can not be written (");
	text_explain(error);
	error_text(error,
		   "); nothing was changed. `dormant doctor` shows what this machine allows");
	return result;
}

static int refuse_rollback(struct patch *patch, uintptr_t code, int code_of_writer)
{
	int result = error_begin(patch->error, DORMANT_PHASE_ROLLBACK, code_of_writer);

	describe_site(patch->error, code);
	error_text(patch->error, " was changed and can not be put back (");
	text_explain(patch->error);
	error_text(patch->error, "); keys and branches may disagree until a later toggle succeeds");
	return result;
}

/* ---- the steps ---- */

/* Sorts, verifies, and keeps the sites that differ from what they have to be, each once. */
static int verify(struct patch *patch)
{
	size_t kept = 0;

	sort_pairs(list, patch->count);
	for (size_t i = 0; i < patch->count; i++) {
		int jumps = insn_site_decode((const uint8_t *)list[i].first);

		if (jumps < 0)
			return refuse_foreign(patch, list[i].first);
		if (jumps == (int)(list[i].second & POKE_NEW_JUMPS) ||
		    (kept > 0 && list[kept - 1].first == list[i].first))
			continue;
		list[kept].first = list[i].first;
		list[kept++].second = list[i].second | (jumps != 0 ? POKE_OLD_JUMPS : 0);
	}
	patch->count = kept;
	return 0;
}

/* How many of the @count pokes from @pokes on go into one write. */
static size_t measure_span(const struct word_pair *pokes, size_t count)
{
	size_t n = 1;

	while (n < count && pokes[n].first - pokes[n - 1].first <= SPAN_GAP_BYTES &&
	       pokes[n].first - pokes[0].first < SPAN_BYTES)
		n++;
	return n;
}

/* Writes pokes in one go: their bytes, and between them what is there. */
static int write_span(const struct word_pair *pokes, size_t count, uintptr_t bit)
{
	uintptr_t begin = pokes[0].first;
	size_t length = pokes[count - 1].first + 1 - begin;

	memcpy(span, (const void *)begin, length);
	for (size_t i = 0; i < count; i++)
		span[pokes[i].first - begin] = insn_site_encode((pokes[i].second & bit) != 0);
	return text_write(begin, span, length);
}

/* Writes @bit's state of the first @count pokes. 0, or the errno, with *@done pokes written for
 * sure and those from there to *@tried possibly. */
static int write_pokes(size_t count, uintptr_t bit, size_t *done, size_t *tried)
{
	for (*done = 0, *tried = 0; *done < count; *done = *tried) {
		size_t n = measure_span(list + *done, count - *done);
		int result;

		*tried = *done + n;
		result = write_span(list + *done, n, bit);
		if (result != 0)
			return result;
	}
	return 0;
}

/* Puts the first @count pokes back. 0, or the error of what could not be put back. */
static int roll_back(struct patch *patch, size_t count)
{
	size_t done = 0, tried;
	int result = INJECT(INJECT_ROLLBACK);

	if (count == 0)
		return 0;
	if (result == 0)
		result = write_pokes(count, POKE_OLD_JUMPS, &done, &tried);
	(void)sync_cores();
	return result == 0 ? 0 : refuse_rollback(patch, list[done].first, result);
}

/* Whether any of these pokes no longer holds its old byte. */
static bool is_changed(const struct word_pair *pokes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool old = (pokes[i].second & POKE_OLD_JUMPS) != 0;

		if (*(const volatile uint8_t *)pokes[i].first != insn_site_encode(old))
			return true;
	}
	return false;
}

int patch_apply(struct patch *patch)
{
	size_t done, tried;
	int result = verify(patch);

	if (result != 0 || patch->count == 0)
		return result;
	result = sync_ready(); /* nothing is written that could not be made to be seen */
	if (result != 0)
		return sync_refuse(patch->error, result, "nothing was changed");
	(void)INJECT(INJECT_VERIFIED);
	result = write_pokes(patch->count, POKE_NEW_JUMPS, &done, &tried);
	if (result != 0) {
		size_t changed = is_changed(list + done, tried - done) ? tried : done;
		int restored;

		result = refuse_write(patch, list[done].first, result);
		restored = roll_back(patch, changed);
		return restored != 0 ? restored : result;
	}
	(void)INJECT(INJECT_WRITTEN);
	result = sync_cores();
	if (result != 0) {
		int restored = roll_back(patch, patch->count);

		return restored != 0 ? restored
				     : sync_refuse(patch->error, result, "nothing was changed");
	}
	return 0;
}

/* ---- the lock around it ---- */

/* After a fork that lost the holder in the middle of a patch: text follows the keys again. */
static void repair(struct patch *patch)
{
	struct dormant_object *object;
	int result = 0;

	for (object = registry_first(); object != NULL; object = registry_next(object)) {
		const struct dormant_site *entry = object->sites;

		for (; object_state(object)->refused == 0 && entry < object->sites_end; entry++) {
			struct site site = registry_site(entry);

			if (site.key == NULL || result != 0)
				continue;
			/* nobody else is in this process to have staged a change */
			__atomic_store_n(&site.key->staged, 0, __ATOMIC_RELAXED);
			result = patch_add_site(patch, site.code,
						site_must_jump(site.key, site.likely));
		}
	}
	if (result == 0)
		(void)patch_apply(patch);
	patch->count = 0;
}

void patch_begin(struct patch *patch, struct dormant_error *error)
{
	bool taken_over;

	patch->saved_errno = errno;
	taken_over = lock_acquire(&patch->hold);
	if (taken_over) { /* the lost holder may have been replacing the list */
		list = pokes_at_hand;
		list_capacity = POKES_AT_HAND;
	}
	patch->error = NULL;
	patch->count = 0;
	if (taken_over)
		repair(patch);
	patch->error = error;
}

void patch_end(struct patch *patch)
{
	lock_release(&patch->hold);
	errno = patch->saved_errno;
}
