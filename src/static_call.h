/* SPDX-License-Identifier: MIT */
/* What a batch of several kinds needs from the front end of static calls: the steps of a change,
 * all inside a patch that has begun. */
#ifndef DORMANT_SRC_STATIC_CALL_H
#define DORMANT_SRC_STATIC_CALL_H

#include <dormant/static_call.h>

struct patch;

/* Adds the call's sites to the patch. 0, or a negative errno with the error filled. */
int call_add_locked(struct patch *patch, const struct static_call_change *change);

/* Stores the function where trampolines and others look for it, which ends the change. */
void call_commit_locked(const struct static_call_change *change);

#endif
