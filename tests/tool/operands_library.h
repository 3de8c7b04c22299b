/* SPDX-License-Identifier: MIT */
/* What operands_library.c offers to operands_program.c. */
#ifndef TESTS_TOOL_OPERANDS_LIBRARY_H
#define TESTS_TOOL_OPERANDS_LIBRARY_H

#include <dormant/imv.h>
#include <dormant/static_call.h>

int library_halve(int x);
int library_work(int x);

DECLARE_IMV(short, shared_limit);
DECLARE_STATIC_CALL(shared_call, library_halve);

#endif
