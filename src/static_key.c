/* SPDX-License-Identifier: MIT */
/*
 * Static keys: counting, and staging a change until its patch is complete.
 *
 * A key is {enabled, staged}, changed as one word of 64 bits:
 *
 *  - `enabled` is the count. Branches follow it, new objects start by it.
 *  - `staged` is 0, or 1 + the count to come. Only the holder of the lock stages, and only the
 *    holder ends it: by committing (enabled = staged - 1, staged = 0) or by dropping it.
 *
 * While nothing is staged, a count above 0 may be raised, and one above 1 lowered, by anybody
 * without the lock: no branch changes. All else is done under the lock.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "holds.h"
#include "patch.h"
#include "registry.h"
#include "static_key.h"

/* ---- the word ---- */

_Static_assert(sizeof(struct static_key) == sizeof(uint64_t), "a key is one word");

union key_word {
	struct static_key key;
	uint64_t word;
};

static union key_word load_key(const struct static_key *key)
{
	union key_word now;

	__atomic_load((const uint64_t *)(const void *)key, &now.word, __ATOMIC_ACQUIRE);
	return now;
}

static bool swap_key(struct static_key *key, union key_word *now, int enabled, unsigned staged)
{
	union key_word next = {.key = {enabled, staged}};

	return __atomic_compare_exchange_n((uint64_t *)(void *)key, &now->word, next.word, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* ---- what an operation means ---- */

/* The count after @operation, or a negative errno. */
static int next_count(int count, enum static_key_operation operation)
{
	switch (operation) {
	case STATIC_KEY_ENABLE:
		return count > 0 ? count : 1;
	case STATIC_KEY_DISABLE:
		return count > 1 ? -EBUSY : 0;
	case STATIC_KEY_INC:
		return count == INT_MAX ? -EOVERFLOW : count + 1;
	case STATIC_KEY_DEC:
		return count == 0 ? -ERANGE : count - 1;
	}
	return -EINVAL;
}

static const char *explain_operation(int code)
{
	switch (code) {
	case -ERANGE:
		return " is off: there is no reference to give back";
	case -EOVERFLOW:
		return " holds as many references as an int can count";
	case -EBUSY:
		return " is held by more than one reference: give them back";
	}
	return ": not an operation on a key";
}

static int refuse_operation(const struct static_key *key, int code, struct dormant_error *error)
{
	error_begin(error, DORMANT_PHASE_ARGUMENT, code);
	if (key == NULL) {
		error_text(error, "the key is NULL");
	} else {
		registry_name_key(key, error);
		error_text(error, explain_operation(code));
	}
	error_text(error, "; nothing was changed");
	return code;
}

/* Without the lock: true when @operation changed no branch and is done. */
static bool change_quickly(struct static_key *key, enum static_key_operation operation)
{
	union key_word now = load_key(key);

	for (;;) {
		int next = next_count(now.key.enabled, operation);

		if (now.key.staged != 0 || next < 0 || (now.key.enabled > 0) != (next > 0))
			return false;
		if (next == now.key.enabled || swap_key(key, &now, next, 0))
			return true;
	}
}

/* ---- staging, under the lock ---- */

static int stage(struct static_key *key, enum static_key_operation operation)
{
	union key_word now = load_key(key);

	for (;;) {
		int count = now.key.staged != 0 ? (int)(now.key.staged - 1) : now.key.enabled;
		int next = next_count(count, operation);

		if (next < 0)
			return next;
		if (swap_key(key, &now, now.key.enabled, (unsigned)next + 1))
			return 0;
	}
}

int key_stage_locked(struct patch *patch, const struct static_key_change *change)
{
	int result = change->key == NULL ? -EINVAL : stage(change->key, change->operation);

	return result == 0 ? 0 : refuse_operation(change->key, result, patch->error);
}

/* Nobody else changes a staged key, so plain stores of the word do. */
void key_settle_locked(struct static_key *key, bool done)
{
	union key_word now = load_key(key);

	if (now.key.staged != 0)
		(void)swap_key(key, &now, done ? (int)(now.key.staged - 1) : now.key.enabled, 0);
}

void key_reset_locked(struct static_key *key)
{
	if (key != NULL)
		key_settle_locked(key, false);
}

/* A key without a site is switched by counting alone, but not where its sites may be lost. */
static int refuse_without_table(const struct static_key *key, struct dormant_error *error)
{
	struct dormant_object *object = registry_without_table();

	if (object == NULL)
		return 0;
	error_begin(error, DORMANT_PHASE_OBJECT, -ENOEXEC);
	if (error != NULL)
		text_append(error->object, sizeof(error->object), object_state(object)->path);
	error_text(error, object_state(object)->path);
	error_text(error, " was built with sites and has no table of them, so ");
	registry_name_key(key, error);
	error_text(error, " would switch nothing; keep section dormant_sites when linking it");
	return -ENOEXEC;
}

int key_add_sites_locked(struct patch *patch, const struct static_key *key)
{
	union key_word now = load_key(key);
	bool on = now.key.staged > 1;
	size_t before = patch->count;
	int result;

	if ((now.key.enabled > 0) == on)
		return 0;
	result = patch_add_key(patch, key, on);
	if (result == 0 && patch->count == before)
		result = refuse_without_table(key, patch->error);
	return result;
}

/* Ends what was staged for the first @staged keys: patches and commits, or drops it if @result or
 * the patch is a failure. */
static int end_staged(struct patch *patch, const struct static_key_change *changes, size_t staged,
		      int result)
{
	for (size_t i = 0; i < staged && result == 0; i++)
		result = key_add_sites_locked(patch, changes[i].key);
	if (result == 0)
		result = patch_apply(patch);
	for (size_t i = 0; i < staged; i++)
		key_settle_locked(changes[i].key, result == 0);
	patch_clear(patch);
	return result;
}

int key_change_locked(struct patch *patch, const struct static_key_change *changes, size_t count)
{
	size_t staged = 0;
	int result = 0;

	/* under the lock, what is staged already was left by a holder that a fork lost */
	for (size_t i = 0; i < count; i++)
		key_reset_locked(changes[i].key);
	for (; staged < count; staged++) {
		result = key_stage_locked(patch, &changes[staged]);
		if (result != 0)
			break;
	}
	return end_staged(patch, changes, staged, result);
}

int key_give_back_locked(struct patch *patch, struct static_key *key, int references)
{
	struct static_key_change change = {key, STATIC_KEY_DEC};
	union key_word now = load_key(key);
	int left;

	do {
		left = now.key.enabled > references ? now.key.enabled - references : 0;
	} while (!swap_key(key, &now, now.key.enabled, (unsigned)left + 1));
	return end_staged(patch, &change, 1, 0);
}

/* ---- the calls ---- */

void key_note_holder(struct dormant_object *holder, const struct static_key_change *change)
{
	if (holder == NULL)
		return;
	if (change->operation == STATIC_KEY_INC)
		holds_add(holder, change->key, 1);
	else if (change->operation == STATIC_KEY_DEC)
		holds_add(holder, change->key, -1);
}

int dormant_static_key_batch(const struct static_key_change *changes, size_t count,
			     struct dormant_object *holder, struct dormant_error *error)
{
	struct patch patch;
	int result;

	if (changes == NULL && count != 0)
		return refuse_operation(NULL, -EINVAL, error);
	patch_begin(&patch, error);
	result = key_change_locked(&patch, changes, count);
	patch_end(&patch);
	for (size_t i = 0; i < count && result == 0; i++)
		key_note_holder(holder, &changes[i]);
	(void)dormant_deferred_run();
	return result;
}

static int change_key(struct static_key *key, enum static_key_operation operation,
		      struct dormant_object *holder, struct dormant_error *error)
{
	struct static_key_change change = {key, operation};

	if (key == NULL || !change_quickly(key, operation))
		return dormant_static_key_batch(&change, 1, holder, error);
	key_note_holder(holder, &change);
	return 0;
}

int dormant_static_key_enable(struct static_key *key, struct dormant_error *error)
{
	return change_key(key, STATIC_KEY_ENABLE, NULL, error);
}

int dormant_static_key_disable(struct static_key *key, struct dormant_error *error)
{
	return change_key(key, STATIC_KEY_DISABLE, NULL, error);
}

int dormant_static_key_inc(struct static_key *key, struct dormant_object *holder,
			   struct dormant_error *error)
{
	return change_key(key, STATIC_KEY_INC, holder, error);
}

int dormant_static_key_dec(struct static_key *key, struct dormant_object *holder,
			   struct dormant_error *error)
{
	return change_key(key, STATIC_KEY_DEC, holder, error);
}
