/* SPDX-License-Identifier: MIT */
/*
 * Static calls. `function` is the truth, and the cell what the trampoline jumps through while it
 * goes by memory. Both are stored when the patch is complete: until then a call reaches the old
 * function or the new one, by whichever way.
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
	operand_store_cell(change->call, change->function);
	__atomic_store_n(&change->call->function, change->function, __ATOMIC_RELEASE);
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
		if (!operand_is_overridden(&changes->call, sizeof(*changes), count, i))
			result = call_add_locked(&patch, &changes[i]);
	}
	if (result == 0)
		result = patch_apply(&patch);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!operand_is_overridden(&changes->call, sizeof(*changes), count, i))
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
