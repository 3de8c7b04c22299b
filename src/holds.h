/* SPDX-License-Identifier: MIT */
/*
 * Which object's code holds how many references on which key, so that what an unloaded object
 * forgot to give back can be given back for it.
 *
 * Counting needs no lock, because taking a further reference needs none: a slot is claimed by one
 * compare-and-swap of its key, and then only added to. Where no memory is to be had, references go
 * uncounted: the key itself is never wrong, only a leak is then not repaired.
 */
#ifndef DORMANT_SRC_HOLDS_H
#define DORMANT_SRC_HOLDS_H

#include <dormant/object.h>
#include <dormant/static_key.h>

struct object_state;

/* Adds @references (may be negative) to what @object holds on @key. Any thread, no lock needed. */
void holds_add(struct dormant_object *object, struct static_key *key, int references);

/* What @object holds on @key; negative when it gave back what another had taken. */
int holds_count(const struct dormant_object *object, const struct static_key *key);

/* The @n-th key that @object ever held a reference on, or NULL after the last. */
struct static_key *holds_key(const struct dormant_object *object, size_t n);

/* Forgets what @object holds on the keys of one that goes. */
void holds_forget_keys(struct dormant_object *object, const struct object_state *gone);

/* Frees the counts of an object that nobody uses any more. */
void holds_forget(struct dormant_object *object);

#endif
