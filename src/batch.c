/* SPDX-License-Identifier: MIT */
/* Changes of several kinds in one patch: each front end stages its part, one patch is applied, each
 * commits its part or drops it. */
#include <errno.h>

#include <dormant/batch.h>

#include "error.h"
#include "imv.h"
#include "patch.h"
#include "static_call.h"
#include "static_key.h"

static int refuse_change(struct dormant_error *error, const char *text)
{
	error_begin(error, DORMANT_PHASE_ARGUMENT, -EINVAL);
	error_text(error, text);
	error_text(error, "; nothing was changed");
	return -EINVAL;
}

/* Whether a later change sets the same value or the same call. Keys count every change. */
static bool is_overridden(const struct dormant_change *changes, size_t count, size_t i)
{
	const struct dormant_change *change = &changes[i], *later = change + 1;

	for (; later < changes + count; later++) {
		if (later->kind == change->kind && later->kind == DORMANT_CHANGES_IMV &&
		    later->imv.imv == change->imv.imv)
			return true;
		if (later->kind == change->kind && later->kind == DORMANT_CHANGES_CALL &&
		    later->call.call == change->call.call)
			return true;
	}
	return false;
}

static int stage_change(struct patch *patch, const struct dormant_change *change, bool overridden)
{
	int result;

	switch (change->kind) {
	case DORMANT_CHANGES_KEY:
		return key_stage_locked(patch, &change->key);
	case DORMANT_CHANGES_IMV:
		result = imv_check_locked(patch, &change->imv);
		return result != 0 || overridden ? result : imv_add_locked(patch, &change->imv);
	case DORMANT_CHANGES_CALL:
		return overridden ? 0 : call_add_locked(patch, &change->call);
	}
	return refuse_change(patch->error, "a change is of no known kind");
}

static void settle_change(const struct dormant_change *change, bool done)
{
	if (change->kind == DORMANT_CHANGES_KEY)
		key_settle_locked(change->key.key, done);
	else if (done && change->kind == DORMANT_CHANGES_CALL)
		call_commit_locked(&change->call);
	else if (done)
		imv_commit_locked(&change->imv);
}

/* Stages what counts, applies it, and settles what was staged. */
static int change_locked(struct patch *patch, const struct dormant_change *changes, size_t count)
{
	size_t staged = 0;
	int result = 0;

	for (size_t i = 0; i < count; i++) {
		if (changes[i].kind == DORMANT_CHANGES_KEY)
			key_reset_locked(changes[i].key.key);
	}
	for (; staged < count && result == 0; staged++) {
		result = stage_change(patch, &changes[staged],
				      is_overridden(changes, count, staged));
	}
	if (result != 0)
		staged--; /* that one was not */
	for (size_t i = 0; i < staged && result == 0; i++) {
		if (changes[i].kind == DORMANT_CHANGES_KEY)
			result = key_add_sites_locked(patch, changes[i].key.key);
	}
	if (result == 0)
		result = patch_apply(patch);
	for (size_t i = 0; i < staged; i++) {
		if (!is_overridden(changes, count, i))
			settle_change(&changes[i], result == 0);
	}
	return result;
}

int dormant_batch(const struct dormant_change *changes, size_t count, struct dormant_object *holder,
		  struct dormant_error *error)
{
	struct patch patch;
	int result;

	if (changes == NULL && count != 0)
		return refuse_change(error, "the list of changes is NULL");
	patch_begin(&patch, error);
	result = change_locked(&patch, changes, count);
	patch_end(&patch);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (changes[i].kind == DORMANT_CHANGES_KEY)
			key_note_holder(holder, &changes[i].key);
	}
	(void)dormant_deferred_run();
	return result;
}
