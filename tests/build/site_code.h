/* SPDX-License-Identifier: MIT */
/*
 * The instruction of a site, decoded in both of its states.
 */
#ifndef SITE_CODE_H
#define SITE_CODE_H

#include "elf_image.h"

/* NULL, or why the site is not one of the two legal instructions in one of its states. */
const char *site_fault(const struct image *image, const struct image_site *site);

#endif
