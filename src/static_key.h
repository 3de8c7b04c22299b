/* SPDX-License-Identifier: MIT */
/* What other parts of the library need from the static-key front end. */
#ifndef DORMANT_SRC_STATIC_KEY_H
#define DORMANT_SRC_STATIC_KEY_H

#include <dormant/static_key.h>
#include <dormant/static_key_deferred.h>

struct object_state;
struct patch;

/* dormant_static_key_batch() inside a patch that has begun and is then ended by the caller. */
int key_change_locked(struct patch *patch, const struct static_key_change *changes, size_t count);

/* Takes @references off the key's count, down to 0 at most, inside a patch that has begun. */
int key_give_back_locked(struct patch *patch, struct static_key *key, int references);

/* Forgets deferred references whose key lies in an object that goes, and gives back at once those
 * whose work does. Inside a patch that has begun. */
void deferred_forget_locked(struct patch *patch, const struct object_state *state);

#endif
