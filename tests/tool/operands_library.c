/* SPDX-License-Identifier: MIT */
/* A shared object with a value and a static call of its own. */
#include "operands_library.h"

DEFINE_IMV(short, shared_limit) = -7;
DEFINE_STATIC_CALL(shared_call, library_halve);

int library_halve(int x)
{
	return x / 2;
}

int library_work(int x)
{
	return static_call(shared_call)(x) + imv_read(shared_limit);
}
