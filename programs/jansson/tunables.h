/* SPDX-License-Identifier: MIT */
/*
 * What a program may change in jansson while it runs: the functions that allocate and free, which
 * jansson reads for each value of a document, and how deep documents may be nested, which it tests
 * for each value. The edits of tunables.edits use it.
 *
 * With DORMANT_NO_PATCHING all three lie in memory: that is what the patched variant is measured
 * against.
 */
#ifndef TUNABLES_H
#define TUNABLES_H

#include <stdlib.h>

#include <dormant/imv.h>
#include <dormant/static_call.h>

#include "tune.h"

DECLARE_STATIC_CALL(jansson_malloc, malloc);
DECLARE_STATIC_CALL(jansson_free, free);
DECLARE_IMV(unsigned, jansson_max_depth);

/**
 * Both functions change in one patch. Where they can not, because text can not be written, both
 * stay, json_get_alloc_funcs() tells so, and one line on stderr says why.
 */
void jansson_set_functions(void *(*allocate)(size_t), void (*release)(void *));

#endif
