/* SPDX-License-Identifier: MIT */
/*
 * What the files of the patch share: the list of pokes, and the refusals. Nobody else includes
 * this.
 *
 * Guarded by the lock.
 */
#ifndef DORMANT_SRC_PATCH_PARTS_H
#define DORMANT_SRC_PATCH_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "patch.h"
#include "sort.h"

/* ---- the list (patch_list.c) ---- */

/* A site to change is a poke: {address, these bits}. */
#define POKE_NEW_JUMPS      1 /* what it has to be */
#define POKE_OLD_JUMPS      2 /* what it was found to be */
#define POKE_STORE          4 /* not a key's site: a store, whose number follows */
#define POKE_NUMBER(second) ((second) >> 3)

/* A store of an operand site. */
struct store {
	struct insn_store new;
	uint64_t old; /* what was found under its mask */
	uintptr_t code;
	const void *owner;
	bool is_first; /* of two: what is stored is not run yet */
	bool may_stay; /* in its home form */
};

/* The pokes of the patch, patch->count of them. */
extern struct word_pair *patch_pokes;
/* The stores among them, patch->stores, in the order in which they were added. */
extern struct store *patch_stores;

static inline const struct store *poke_store(const struct word_pair *poke)
{
	return &patch_stores[POKE_NUMBER(poke->second)];
}

/* Reads text, which is changed behind the compiler's back. */
uint64_t patch_read_quadword(uintptr_t address);

/* After the lock was taken over: the lost holder may have been replacing the lists. */
void patch_lists_recover(void);

/* ---- refusals (patch_error.c): each fills in the patch's error and returns its code ---- */

int patch_refuse_memory(struct patch *patch);
int patch_refuse_foreign(struct patch *patch, const struct word_pair *poke);
int patch_refuse_foreign_operand(struct patch *patch, const struct insn_operand *operand,
				 const void *owner);
int patch_refuse_write(struct patch *patch, const struct word_pair *poke, int code);
int patch_refuse_whole(struct patch *patch, const struct word_pair *poke, int code);
int patch_refuse_rollback(struct patch *patch, const struct word_pair *poke, int code);

#endif
