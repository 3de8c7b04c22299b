/* SPDX-License-Identifier: MIT */
/* A second object with sites of the program's key. */
#ifndef SECOND_OBJECT_H
#define SECOND_OBJECT_H

#include <dormant/static_key.h>

/* The program's, exported. */
DECLARE_STATIC_KEY_FALSE(key_of_both);

/* The object's: how many of its 1,000 sites are on. */
int second_sites(void);

#endif
