/* SPDX-License-Identifier: MIT */
/*
 * Operand sites: where immediate values and static calls stand in the code.
 *
 * An index of an object's sites, sorted by owner, is built as the object is registered, while its
 * text is as in the file: only then can be told which calls are sites and which the compiler moved
 * away from their place in the table. What is not in the index goes by memory, which is right at
 * any time.
 *
 * Guarded by the lock.
 */
#ifndef DORMANT_SRC_OPERAND_H
#define DORMANT_SRC_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dormant/object.h>

struct patch;
struct static_call;

/* Builds the index of an object; without memory for it, its sites stay as in the file. */
void operand_index(struct dormant_object *object);
void operand_forget(struct dormant_object *object);

/* Adds every site of @owner to the patch, to hold @value: the bits of an immediate value, or the
 * address of a function. 0, or a negative errno with the error filled. */
int operand_add_owner(struct patch *patch, const void *owner, uint64_t value);

/* Adds every site of @object to the patch, to hold what its owner holds now; also brings the cell
 * of each of its static calls to that. */
int operand_add_object(struct patch *patch, struct dormant_object *object);

/* Stores what a static call's trampoline jumps through while it goes by memory; NULL: nothing. */
void operand_store_cell(const struct static_call *call, void *function);

/* Whether number @i of a batch of @count changes, @bytes each, is overridden by a later one of the
 * same owner. @owners is the member of the first that names its owner. */
bool operand_is_overridden(const void *owners, size_t bytes, size_t count, size_t i);

/* The first site of @object that holds something else than its owner, with the owner; or 0. */
uintptr_t operand_find_stale(struct dormant_object *object, const void **owner);

#endif
