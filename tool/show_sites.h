/* SPDX-License-Identifier: MIT */
/* One key, value or call with its sites, as `dormant show` prints it. */
#ifndef TOOL_SHOW_SITES_H
#define TOOL_SHOW_SITES_H

#include "source_lines.h"
#include "target.h"

/* In JSON an item of the innermost list; in a process, what is there now. */
void show_key(struct output *output, const struct target_object *object, struct source_lines *lines,
	      const struct key *key);

#endif
