/* SPDX-License-Identifier: MIT */
/* Calls through a pointer, compiled with retpolines: see meson.build. */
#include "call_loops.h"

DEFINE_CALL_LOOPS(retpoline, call_pointer());
