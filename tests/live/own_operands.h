/* SPDX-License-Identifier: MIT */
/* Where the program's own operand sites are, from its table, and what stands there; not through the
 * library. */
#ifndef OWN_OPERANDS_H
#define OWN_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <dormant/object.h>

#define OWN_VALUE(name) (&name##__imv)
#define OWN_CALL(name)  (&dormant_static_call_##name)

static inline uintptr_t own_operand_follow(const int32_t *word, int32_t flags)
{
	return (uintptr_t)word + (uintptr_t)(intptr_t)(*word & ~flags);
}

static inline enum dormant_operand_kind own_operand_kind(const struct dormant_operand *entry)
{
	return (enum dormant_operand_kind)(entry->owner & DORMANT_OPERAND_KIND_MASK);
}

static inline const void *own_operand_owner(const struct dormant_operand *entry)
{
	return *(const void *const *)own_operand_follow(&entry->owner, DORMANT_OPERAND_KIND_MASK);
}

static inline uint8_t *own_operand_code(const struct dormant_operand *entry)
{
	return (uint8_t *)own_operand_follow(&entry->code, 0);
}

/* The @n-th entry of @owner, of @kind or, where that is above all kinds, of any that is a site. */
static inline const struct dormant_operand *own_operand_find(const void *owner, unsigned kind,
							     size_t n)
{
	const struct dormant_operand *entry = dormant_object_self.operands;

	for (; entry < dormant_object_self.operands_end; entry++) {
		unsigned own = own_operand_kind(entry);

		if (own_operand_owner(entry) == owner && own != DORMANT_OPERAND_HOME &&
		    (kind > DORMANT_OPERAND_KIND_MASK || own == kind) && n-- == 0)
			return entry;
	}
	return NULL;
}

#define OWN_ANY_KIND 8u

/* Whether a value's site holds the value in its instruction. */
static inline bool own_operand_holds(const struct dormant_operand *entry)
{
	const uint8_t *code = own_operand_code(entry);

	return own_operand_kind(entry) == DORMANT_OPERAND_VALUE8 ? code[0] == 0x2e
								 : (code[0] & 0xf8) == 0xb8;
}

/* Where a call, a tail call or a trampoline branches to; 0 where it does not by itself. */
static inline uintptr_t own_operand_target(const struct dormant_operand *entry)
{
	const uint8_t *code = own_operand_code(entry);
	int32_t rel;

	memcpy(&rel, code + 1, sizeof(rel));
	return code[0] == 0xe8 || code[0] == 0xe9 ? (uintptr_t)code + 5 + (uintptr_t)(intptr_t)rel
						  : 0;
}

/* How many of the @owner's value sites are live, and how many there are. */
static inline int own_operand_count_live(const void *owner, int *all)
{
	const struct dormant_operand *entry;
	int live = 0;

	for (*all = 0; (entry = own_operand_find(owner, OWN_ANY_KIND, (size_t)*all)) != NULL;
	     ++*all)
		live += own_operand_holds(entry);
	return live;
}

/* How many of the static call's call sites reach @function directly. */
static inline int own_operand_count_direct(const void *owner, const void *function)
{
	const struct dormant_operand *entry;
	int direct = 0;

	for (size_t n = 0; (entry = own_operand_find(owner, DORMANT_OPERAND_CALL, n)) != NULL; n++)
		direct += own_operand_target(entry) == (uintptr_t)function;
	return direct;
}

#endif
