/* SPDX-License-Identifier: MIT */
/*
 * What holds for the table of operands of a linked file; a part of site_check.
 */
#ifndef OPERAND_CHECK_H
#define OPERAND_CHECK_H

#include "elf_image.h"

/* Expects all of it of every entry. */
void check_operands(const struct image *image);

/* Prints " operands=N values=N calls=N direct=N", without an end of line. */
void print_operand_totals(const struct image *image);

/* Prints "FUNCTION NAME WHAT" for each value and call, in the table's order: value1 to value8, or
 * how the call reaches its function: call, tail, or trampoline. */
void print_operands(const struct image *image);

#endif
