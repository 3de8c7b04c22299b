/* SPDX-License-Identifier: MIT */
/* Why a patch was refused, with the site; see patch_parts.h. */
#include <errno.h>

#include "error.h"
#include "patch_parts.h"
#include "registry.h"
#include "text.h"

/* "site FILE+0x1234 of key NAME", and the fields for programs. */
static void describe_site(struct dormant_error *error, uintptr_t code, const void *owner)
{
	struct dormant_object *object = registry_object_at(code);
	const char *path = object == NULL ? "?" : object_state(object)->path;

	if (error == NULL)
		return;
	error->site = code;
	error->found = *(const uint8_t *)code;
	text_append(error->object, sizeof(error->object), path);
	error_text(error, "site ");
	error_text(error, error->object);
	error_text(error, "+0x");
	error_hex(error, object == NULL ? code : code - object_state(object)->bias);
	error_text(error, " of ");
	registry_name_key(owner, error);
}

/* The same for a poke. */
static void describe_poke(struct dormant_error *error, const struct word_pair *poke)
{
	if ((poke->second & POKE_STORE) != 0) {
		const struct store *store = poke_store(poke);

		describe_site(error, store->code, store->owner);
		return;
	}
	describe_site(error, poke->first, registry_site_key(poke->first));
	if (error != NULL) {
		error->expected[0] = insn_site_forms.off;
		error->expected[1] = insn_site_forms.on;
	}
}

int patch_refuse_memory(struct patch *patch)
{
	int result = error_begin(patch->error, DORMANT_PHASE_MEMORY, -ENOMEM);

	error_text(patch->error, "no memory for the list of sites; nothing was changed, try again");
	return result;
}

static const char unhook[] =
	"; nothing was changed. Remove the breakpoint or hook there and try again";

int patch_refuse_foreign(struct patch *patch, const struct word_pair *poke)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_VERIFY, -EILSEQ);

	describe_poke(error, poke);
	error_text(error, ": expected ");
	error_hex(error, insn_site_forms.off);
	error_text(error, " or ");
	error_hex(error, insn_site_forms.on);
	error_text(error, ", found ");
	error_hex(error, *(const uint8_t *)poke->first);
	error_text(error, unhook);
	return result;
}

int patch_refuse_foreign_operand(struct patch *patch, const struct insn_operand *operand,
				 const void *owner)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_VERIFY, -EILSEQ);

	describe_site(error, (uintptr_t)operand->code, owner);
	error_text(error, ": found");
	for (size_t i = 0; i < INSN_OPERAND_BYTES; i++) {
		error_text(error, " ");
		error_hex(error, operand->code[i]);
	}
	error_text(error, ", which neither loads nor holds it");
	error_text(error, unhook);
	return result;
}

int patch_refuse_write(struct patch *patch, const struct word_pair *poke, int code_of_writer)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_WRITE, code_of_writer);

	describe_poke(error, poke);
	error_text(error, " can not be written (");
	text_explain(error);
	error_text(error,
		   "); nothing was changed. `dormant doctor` shows what this machine allows");
	return result;
}

int patch_refuse_whole(struct patch *patch, const struct word_pair *poke, int code_of_writer)
{
	struct dormant_error *error = patch->error;
	int result = error_begin(error, DORMANT_PHASE_WRITE, code_of_writer);

	describe_poke(error, poke);
	error_text(error, " is run by other threads, and no writer here changes more than one byte "
			  "at once (");
	text_explain(error);
	error_text(error, "); nothing was changed. Allow mprotect or memfd_create, or start with "
			  "DORMANT_WRITER=proc_mem, by which sites load from memory");
	return result;
}

int patch_refuse_rollback(struct patch *patch, const struct word_pair *poke, int code_of_writer)
{
	int result = error_begin(patch->error, DORMANT_PHASE_ROLLBACK, code_of_writer);

	patch->stuck = true;
	describe_poke(patch->error, poke);
	error_text(patch->error, " was changed and can not be put back (");
	text_explain(patch->error);
	error_text(patch->error, "); keys and branches may disagree until a later toggle succeeds");
	return result;
}
