/* SPDX-License-Identifier: MIT */
/*
 * The objects of the process, their sites, and who holds references on keys.
 *
 * An object is known between its constructor and its destructor; its node lies in its own data, in
 * struct dormant_object. An index of its sites, sorted by key, is built when it is first needed,
 * because most programs never switch a key: starting costs one pass over the tables.
 *
 * Everything here is guarded by the lock (lock.h), except where it says otherwise.
 */
#ifndef DORMANT_SRC_REGISTRY_H
#define DORMANT_SRC_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dormant/error.h>
#include <dormant/object.h>
#include <dormant/static_key.h>

#include "sort.h"

struct holds_block;

/* What the library keeps about an object, in its `reserved` words. */
struct object_state {
	struct dormant_object *next;
	struct word_pair *index;    /* sites: {key | DORMANT_SITE_LIKELY, code}, sorted; or NULL */
	size_t index_count;         /* sites in the index */
	uintptr_t begin, end;       /* the object's memory */
	uintptr_t bias;             /* run-time address minus address in the file */
	const char *path;           /* its file; the dynamic linker's string */
	struct holds_block *holds;  /* references its code took; see holds.h */
	uintptr_t refused;          /* non-zero: its table is not usable and is ignored */
	uintptr_t known_before;     /* non-zero: text may differ from the file */
	struct word_pair *operands; /* operand.h's index, or NULL */
	size_t operands_count;
};

_Static_assert(sizeof(struct object_state) <= sizeof(((struct dormant_object *)0)->reserved),
	       "the object's reserved words hold the state");

static inline struct object_state *object_state(struct dormant_object *object)
{
	return (struct object_state *)(void *)object->reserved;
}

/* Whether @address lies in the object's memory. */
static inline bool object_covers(const struct object_state *state, const void *address)
{
	return (uintptr_t)address >= state->begin && (uintptr_t)address < state->end;
}

/* ---- one site of a table ---- */

struct site {
	uintptr_t code;
	struct static_key *key;
	bool likely; /* jumps while the key is off */
	bool jumps_in_file;
	const char *name;
};

struct site registry_site(const struct dormant_site *entry);

/* Where a word of a table points: it counts from its own address. @flags are no part of it. */
uintptr_t registry_follow(const int32_t *word, int32_t flags);

/* Whether a site has to jump in its key's present state. */
static inline bool site_must_jump(const struct static_key *key, bool likely)
{
	return (__atomic_load_n(&key->enabled, __ATOMIC_RELAXED) > 0) != likely;
}

/* ---- objects ---- */

/* Fills in where the object lies and what file it is. Takes the dynamic linker's lock: call it
 * without ours. */
void registry_locate(struct dormant_object *object);

/* 0, or -ENOEXEC and @error where an entry of the object's table points outside of it. */
int registry_check(struct dormant_object *object, struct dormant_error *error);

void registry_add(struct dormant_object *object);
/* Also forgets its index. */
void registry_remove(struct dormant_object *object);
struct dormant_object *registry_first(void);
struct dormant_object *registry_next(struct dormant_object *object);
bool registry_has(const struct dormant_object *object);

/* An object whose source has sites and whose table is gone, or NULL. */
struct dormant_object *registry_without_table(void);

/* The object whose memory holds @address, or NULL. */
struct dormant_object *registry_object_at(uintptr_t address);

/* ---- sites of a key ---- */

/* The object's sites of @key as a run of its index. 0, or -ENOMEM. */
int registry_sites(struct dormant_object *object, const struct static_key *key,
		   const struct word_pair **run, size_t *count);

/* ---- names, for errors: these walk the tables ---- */

/* Copies the name of a key, an immediate value or a static call, or "" where no table knows it. */
void registry_key_name(const void *key, char *name, size_t size);
/* Fills in the key and its name, and adds "key NAME", "value NAME" or "static call NAME" to the
 * message. Either may be NULL. */
void registry_name_key(const void *key, struct dormant_error *error);
/* The size of an immediate value by its definition, or 0 where no table knows it. */
size_t registry_value_bytes(const void *value);
/* The key that the site at @code belongs to, or NULL. */
struct static_key *registry_site_key(uintptr_t code);

#endif
