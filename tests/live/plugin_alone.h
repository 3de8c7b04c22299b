/* SPDX-License-Identifier: MIT */
/* What plugin_alone.c exports. */
#ifndef PLUGIN_ALONE_H
#define PLUGIN_ALONE_H

/* Switches the object's key; how many of its 10 sites are on then, or a negative errno. */
int alone_switch(int on);

#endif
