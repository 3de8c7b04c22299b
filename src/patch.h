/* SPDX-License-Identifier: MIT */
/*
 * The one transaction: any number of sites change together or not at all.
 *
 *  1. patch_begin() takes the lock (lock.h), with signals blocked.
 *  2. patch_add_key() and patch_add_site() note which sites have to jump, and which not;
 *     patch_add_operand() notes what a value's or a call's site has to hold.
 *  3. patch_apply()
 *      a. sorts them by address, and drops those that are as they should be;
 *      b. verifies: every one of them must hold one of its legal instructions, or the patch is
 *         refused before anything is written;
 *      c. writes what differs, a lone site alone, a dense batch as a span: of a key's site one
 * byte, of an operand site one aligned quadword, through a writer that changes it whole if other
 *         threads run and more than one byte of it differs;
 *      d. synchronises the cores, once.
 *     A value of 8 bytes whose site comes out of its home form is two quadwords: the operand, which
 *     nobody runs yet, goes first, in a round of c and d of its own.
 *     If a write or the sync fails, the old bytes are written back, and cores synchronised again.
 *     What is in its home form may as well stay there: where it can not be changed, the rest is
 *     applied without it.
 *  4. patch_end() releases the lock.
 *
 * Between c and d other threads may still run old bytes. Both are legal instructions with the same
 * meaning as before or after the patch, so nothing needs to be stopped.
 */
#ifndef DORMANT_SRC_PATCH_H
#define DORMANT_SRC_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dormant/error.h>
#include <dormant/static_key.h>

#include "lock.h"

struct patch {
	struct lock_hold hold;
	struct dormant_error *error;
	size_t count;  /* sites noted so far; the lists are patch.c's, and outlive the patch */
	size_t stores; /* of which these are stores of operand sites */
	bool alone;    /* no other thread runs what is changed; known while it is applied */
	bool stuck;    /* something was changed and could not be put back */
	int saved_errno;
};

struct insn_operand;

/* Takes the lock. Where its holder was lost in a fork, text and keys are made to agree first. */
void patch_begin(struct patch *patch, struct dormant_error *error);

/* Notes one site. 0, or -ENOMEM with the error filled. */
int patch_add_site(struct patch *patch, uintptr_t code, bool jumps);

/* Notes all sites of @key, for the state that the key is to have. 0, or -ENOMEM. */
int patch_add_key(struct patch *patch, const struct static_key *key, bool on);

/* Notes what an operand site of @owner has to hold. 0, -ENOMEM, or -EILSEQ where something else
 * than one of its forms stands there, with the error filled. */
int patch_add_operand(struct patch *patch, const struct insn_operand *operand, const void *owner,
		      uint64_t value);

/* Forgets what was noted, so that a further change can be made under the same lock. */
void patch_clear(struct patch *patch);

/* Changes what was noted. 0, or a negative errno with the error filled and nothing changed. May be
 * called for a patch without sites. */
int patch_apply(struct patch *patch);

/* Gives up the lock. Restores errno. */
void patch_end(struct patch *patch);

#endif
