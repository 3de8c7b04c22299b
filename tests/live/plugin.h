/* SPDX-License-Identifier: MIT */
/* What the programs that load plugin.c and a plugin know of each other. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <dormant/static_key.h>
#include <dormant/static_key_deferred.h>

/* The program's, exported. */
DECLARE_STATIC_KEY_FALSE(program_key);
DECLARE_STATIC_KEY_TRUE(program_true);
DECLARE_STATIC_KEY_FALSE(program_other);

extern struct program_commands {
	int toggle_in_constructor, toggle_in_destructor;
	int seen_in_destructor;
} program_commands;

/* Plugin A's, exported. */
DECLARE_STATIC_KEY_FALSE(plugin_key_a);

/* A plugin's symbol "plugin". The functions with sites return how many of their 10 are on. */
struct plugin {
	int (*program_sites)(void);
	int (*program_true_sites)(void);
	int (*private_sites)(void);
	int (*public_sites)(void);
	struct static_key *private_key;
	struct static_key *const *public_key; /* plugin A's, seen from here */
	int (*constructor_saw)(void);         /* program_sites() in the plugin's constructor */
	int (*references)(int count);         /* inc that often the program's key, or dec */
	int (*give_back_later)(void);         /* a deferred dec whose work the plugin holds */
};

#endif
