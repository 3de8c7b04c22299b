/* SPDX-License-Identifier: MIT */
/* What the benchmark of calls calls and loads: no compiler of a caller sees what is here. */
#include "call_loops.h"

void call_empty(void)
{
}

void (*call_pointer)(void) = call_empty;
unsigned long call_data[8];
