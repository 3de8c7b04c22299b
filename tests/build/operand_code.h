/* SPDX-License-Identifier: MIT */
/*
 * The code of an operand site, decoded: as it is in the file, and as the library will make it.
 */
#ifndef OPERAND_CODE_H
#define OPERAND_CODE_H

#include "elf_image.h"

/* How a call reaches its function. */
enum operand_call {
	CALL_BY_TRAMPOLINE, /**< the instruction at its place is another one: no site */
	CALL_DIRECT,        /**< a call that the library changes */
	CALL_TAIL,          /**< a jump that it changes */
};

/* NULL, or why the site of a value is not what it must be. */
const char *value_fault(const struct image *image, const struct image_operand *operand);

/* The same for a trampoline, whose cell is known to the file. */
const char *trampoline_fault(const struct image *image, const struct image_operand *operand);

/* What stands at the place of a call whose home is known; a fault is put into @fault. */
enum operand_call decode_call(const struct image *image, const struct image_operand *operand,
			      uint64_t home, const char **fault);

#endif
