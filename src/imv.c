/* SPDX-License-Identifier: MIT */
/*
 * Immediate values. The variable is stored when the patch is complete: sites that load it, and
 * objects that are loaded later, follow it.
 */
#include <errno.h>

#include "error.h"
#include "imv.h"
#include "operand.h"
#include "patch.h"
#include "registry.h"

static int refuse_change(const struct imv_change *change, struct dormant_error *error)
{
	error_begin(error, DORMANT_PHASE_ARGUMENT, -EINVAL);
	if (change == NULL || change->imv == NULL) {
		error_text(error, "the immediate value is NULL");
	} else {
		registry_name_key(change->imv, error);
		error_text(error, " is given a size of ");
		error_number(error, change->bytes);
		error_text(error, " bytes, and has ");
		error_number(error, registry_value_bytes(change->imv));
		error_text(error, ": declare it with the type of its definition (1, 2, 4 or 8 "
				  "bytes)");
	}
	error_text(error, "; nothing was changed");
	return -EINVAL;
}

/* The bits that count. */
static uint64_t cut(const struct imv_change *change)
{
	return change->bytes == 8 ? change->bits
				  : change->bits & ((UINT64_C(1) << 8 * change->bytes) - 1);
}

int imv_check_locked(struct patch *patch, const struct imv_change *change)
{
	size_t bytes = change->bytes, defined;

	if (change->imv == NULL || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return refuse_change(change, patch->error);
	defined = registry_value_bytes(change->imv);
	return defined == 0 || defined == bytes ? 0 : refuse_change(change, patch->error);
}

int imv_add_locked(struct patch *patch, const struct imv_change *change)
{
	return operand_add_owner(patch, change->imv, cut(change));
}

void imv_commit_locked(const struct imv_change *change)
{
	switch (change->bytes) {
	case 1:
		__atomic_store_n((uint8_t *)change->imv, (uint8_t)change->bits, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)change->imv, (uint16_t)change->bits, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((uint32_t *)change->imv, (uint32_t)change->bits, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((uint64_t *)change->imv, change->bits, __ATOMIC_RELEASE);
	}
}

int dormant_imv_batch(const struct imv_change *changes, size_t count, struct dormant_error *error)
{
	struct patch patch;
	int result = 0;

	if (changes == NULL && count != 0)
		return refuse_change(NULL, error);
	patch_begin(&patch, error);
	for (size_t i = 0; i < count && result == 0; i++) {
		result = imv_check_locked(&patch, &changes[i]);
		if (result == 0 &&
		    !operand_is_overridden(&changes->imv, sizeof(*changes), count, i))
			result = imv_add_locked(&patch, &changes[i]);
	}
	if (result == 0)
		result = patch_apply(&patch);
	for (size_t i = 0; i < count && result == 0; i++) {
		if (!operand_is_overridden(&changes->imv, sizeof(*changes), count, i))
			imv_commit_locked(&changes[i]);
	}
	patch_end(&patch);
	return result;
}

int dormant_imv_set(void *imv, uint64_t bits, size_t bytes, struct dormant_error *error)
{
	struct imv_change change = {imv, bits, bytes};

	return dormant_imv_batch(&change, 1, error);
}
