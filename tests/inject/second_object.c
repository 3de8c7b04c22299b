/* SPDX-License-Identifier: MIT */
/* See second_object.h. It uses the program's copy of the library. */
#include "second_object.h"
#include "many_sites.h"

DEFINE_1000_SITES(sites, &key_of_both)

int second_sites(void)
{
	return sites();
}
