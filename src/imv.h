/* SPDX-License-Identifier: MIT */
/* What a batch of several kinds needs from the front end of immediate values: the steps of a
 * change, all inside a patch that has begun. */
#ifndef DORMANT_SRC_IMV_H
#define DORMANT_SRC_IMV_H

#include <dormant/imv.h>

struct patch;

/* 0, or -EINVAL with the error filled where the change is none. */
int imv_check_locked(struct patch *patch, const struct imv_change *change);

/* Adds the sites of a checked change to the patch. 0, or a negative errno with the error filled. */
int imv_add_locked(struct patch *patch, const struct imv_change *change);

/* Stores the value where sites load it, which ends the change. */
void imv_commit_locked(const struct imv_change *change);

#endif
