/* SPDX-License-Identifier: MIT */
/* A shared object that needs nothing of its program: for other namespaces, and for being linked
 * with a copy of the library of its own. */
#include "many_sites.h"
#include "plugin_alone.h"

static DEFINE_STATIC_KEY_FALSE(alone);

DEFINE_10_SITES(alone_sites, &alone)

int alone_switch(int on)
{
	int result = on ? static_branch_enable(&alone) : static_branch_disable(&alone);

	return result != 0 ? result : alone_sites();
}
