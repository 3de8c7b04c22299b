/* SPDX-License-Identifier: MIT */
/* What patched jansson offers to programs beside jansson.h: they need not know how it is done. */
#ifndef TUNE_H
#define TUNE_H

/** Sets how deep a document may be nested (2048 before). Threads: any. 0 or a negative errno. */
int jansson_set_max_depth(unsigned depth);

#endif
