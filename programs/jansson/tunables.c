/* SPDX-License-Identifier: MIT */
/* See tunables.h. */
#include <stdio.h>

#include "jansson.h"

#include "tunables.h"

DEFINE_STATIC_CALL(jansson_malloc, malloc);
DEFINE_STATIC_CALL(jansson_free, free);
DEFINE_IMV(unsigned, jansson_max_depth) = JSON_PARSER_MAX_DEPTH;

void jansson_set_functions(void *(*allocate)(size_t), void (*release)(void *))
{
	struct dormant_error error;
	struct static_call_change changes[] = {STATIC_CALL_CHANGE(jansson_malloc, allocate),
					       STATIC_CALL_CHANGE(jansson_free, release)};

	if (dormant_static_call_batch(changes, 2, &error) != 0)
		fprintf(stderr, "jansson: allocation functions not set: %s\n", error.message);
}

int jansson_set_max_depth(unsigned depth)
{
	return imv_set(jansson_max_depth, depth);
}
