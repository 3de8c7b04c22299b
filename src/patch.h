/* SPDX-License-Identifier: MIT */
/*
 * The one transaction: any number of sites change together or not at all.
 *
 *  1. patch_begin() takes the lock (lock.h), with signals blocked.
 *  2. patch_add_key() and patch_add_site() note which sites have to jump, and which not.
 *  3. patch_apply()
 *      a. sorts them by address, and drops those that are as they should be;
 *      b. verifies: every one of them must hold one of the two legal instructions, or the patch is
 *         refused before anything is written;
 *      c. writes the one byte that differs, a lone site alone, a dense batch as a span;
 *      d. synchronises the cores, once.
 *     If a write or the sync fails, the old bytes are written back, and cores synchronised again.
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
	size_t count; /* sites noted so far; the list itself is patch.c's, and outlives the patch */
	int saved_errno;
};

/* Takes the lock. Where its holder was lost in a fork, text and keys are made to agree first. */
void patch_begin(struct patch *patch, struct dormant_error *error);

/* Notes one site. 0, or -ENOMEM with the error filled. */
int patch_add_site(struct patch *patch, uintptr_t code, bool jumps);

/* Notes all sites of @key, for the state that the key is to have. 0, or -ENOMEM. */
int patch_add_key(struct patch *patch, const struct static_key *key, bool on);

/* Changes what was noted. 0, or a negative errno with the error filled and nothing changed. May be
 * called for a patch without sites. */
int patch_apply(struct patch *patch);

/* Gives up the lock. Restores errno. */
void patch_end(struct patch *patch);

#endif
