/* SPDX-License-Identifier: MIT */
/*
 * A shared object that dlopen.c loads and unloads: sites of the program's keys and of its own. It
 * is built several times; PLUGIN_USES_A builds one that also has sites of plugin A's key.
 */
#include "many_sites.h"
#include "plugin.h"

static DEFINE_STATIC_KEY_FALSE(plugin_private);

DEFINE_10_SITES(program_sites, &program_key)
DEFINE_10_SITES(program_true_sites, &program_true)
DEFINE_10_SITES(private_sites, &plugin_private)
#ifndef PLUGIN_USES_A
DEFINE_STATIC_KEY_FALSE(plugin_key_a);
#endif
DEFINE_10_SITES(public_sites, &plugin_key_a)
static struct static_key *const public_key = &plugin_key_a.key;

static int at_constructor, at_destructor;

/* A constructor of ordinary priority: it finds the sites right, and may toggle. */
__attribute__((constructor)) static void construct(void)
{
	at_constructor = program_sites();
	if (program_commands.toggle_in_constructor) {
		(void)static_branch_enable(&plugin_private);
		(void)static_branch_enable(&program_other);
	}
}

__attribute__((destructor)) static void destruct(void)
{
	at_destructor = program_sites();
	if (program_commands.toggle_in_destructor) {
		(void)static_branch_enable(&plugin_private);
		(void)static_branch_disable(&program_other);
		program_commands.seen_in_destructor = at_destructor;
	}
}

static int references(int count)
{
	int result = 0;

	for (; count > 0 && result == 0; count--)
		result = static_branch_inc(&program_key);
	for (; count < 0 && result == 0; count++)
		result = static_branch_dec(&program_key);
	return result;
}

static struct dormant_deferred work = {3600000000000, 0, NULL, NULL};

static int give_back_later(void)
{
	return dormant_static_key_deferred_dec(&program_key.key, &work, &dormant_object_self, NULL);
}

static int constructor_saw(void)
{
	return at_constructor;
}

const struct plugin plugin = {
	.program_sites = program_sites,
	.program_true_sites = program_true_sites,
	.private_sites = private_sites,
	.public_sites = public_sites,
	.private_key = &plugin_private.key,
	.public_key = &public_key,
	.constructor_saw = constructor_saw,
	.references = references,
	.give_back_later = give_back_later,
};
