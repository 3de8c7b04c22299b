/* SPDX-License-Identifier: MIT */
/*
 * Static calls. `function` is the truth: it is stored when the patch is complete. The cell is what
 * the trampoline jumps through while it goes by memory; a trampoline that is about to come to that
 * has to find the new function there, so the cell is stored before, while nobody reads it.
 */
#include <errno.h>

#include "error.h"
#include "operand.h"
#include "patch.h"
#include "static_call.h"

static int refuse_null(struct dormant_error *error)
{
	error_begin(error, DORMANT_PHASE_ARGUMENT, -EINVAL);
	error_text(error, "the static call is NULL; nothing was changed");
	return -EINVAL;
}

int call_add_locked(struct patch *patch, const struct static_call_change *change)
{
	if (change->call == NULL)
		return refuse_null(patch->error);
	return operand_add_owner(patch, change->call, (uintptr_t)change->function);
}

void call_commit_locked(const struct static_call_change *change)
{
	struct static_call *call = change->call;
	void *nothing = (void *)(uintptr_t)call->nothing;

	__atomic_store_n(call->cell, change->function != NULL ? change->function : nothing,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&call->function, change->function, __ATOMIC_RELEASE);
}

/* Whether a later change of the batch overrides this one. */
static bool is_overridden(const struct static_call_change *changes, size_t count, size_t i)
{
	size_t later = i + 1;

	while (later < count && changes[later].call != changes[i].call)
		later++;
	return later < count;
}

int dormant_static_call_batch(const struct static_call_change *changes, size_t count,
			      struct dormant_error *error)
{
	struct patch patch;
	int result = 0;

	if (changes == NULL && count != 0)
		return refuse_null(error);
	patch_begin(&patch, error);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!is_overridden(changes, count, i))
			result = call_add_locked(&patch, &changes[i]);
	}
	if (result == 0)
		result = patch_apply(&patch);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!is_overridden(changes, count, i))
			call_commit_locked(&changes[i]);
	}
	patch_end(&patch);
	return result;
}

int dormant_static_call_update(struct static_call *call, void *function,
			       struct dormant_error *error)
{
	struct static_call_change change = {call, function};

	return dormant_static_call_batch(&change, 1, error);
}
