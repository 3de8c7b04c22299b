/* SPDX-License-Identifier: MIT */
/* What other parts of the library need from the static-key front end. */
#ifndef DORMANT_SRC_STATIC_KEY_H
#define DORMANT_SRC_STATIC_KEY_H

#include <dormant/static_key.h>
#include <dormant/static_key_deferred.h>

struct object_state;
struct patch;

/* ---- the steps of a change, for a batch of several kinds; all inside a patch that has begun ----
 */

/* Ends what a holder that a fork lost may have left staged. First. */
void key_reset_locked(struct static_key *key);
/* Stages one change. 0, or a negative errno with the error filled. */
int key_stage_locked(struct patch *patch, const struct static_key_change *change);
/* Adds the sites of a staged key to the patch. 0 or a negative errno. */
int key_add_sites_locked(struct patch *patch, const struct static_key *key);
/* Ends what was staged: commits it if the patch was @done. */
void key_settle_locked(struct static_key *key, bool done);
/* Notes a reference that @holder, which may be NULL, took or gave back. Needs no lock. */
void key_note_holder(struct dormant_object *holder, const struct static_key_change *change);

/* dormant_static_key_batch() inside a patch that has begun and is then ended by the caller. */
int key_change_locked(struct patch *patch, const struct static_key_change *changes, size_t count);

/* Takes @references off the key's count, down to 0 at most, inside a patch that has begun. */
int key_give_back_locked(struct patch *patch, struct static_key *key, int references);

/* Forgets deferred references whose key lies in an object that goes, and gives back at once those
 * whose work does. Inside a patch that has begun. */
void deferred_forget_locked(struct patch *patch, const struct object_state *state);

#endif
