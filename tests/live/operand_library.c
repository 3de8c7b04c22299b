/* SPDX-License-Identifier: MIT */
/* The library of operand_objects.c; and, with OPERAND_PLUGIN, its plugin, which defines nothing. */
#include "operand_objects.h"

#ifndef OPERAND_PLUGIN
#pragma GCC visibility push(default)
DEFINE_IMV(int, library_value4) = 11;
DEFINE_IMV(double, library_value8) = 1.25;
#pragma GCC visibility pop

int library_one(int x)
{
	return x + 1;
}

int library_two(int x)
{
	return x + 2;
}

DEFINE_STATIC_CALL(library_call, library_one);
#endif

DEFINE_LOOK

static struct view in_constructor;

__attribute__((constructor)) static void construct(void)
{
	in_constructor = look_here();
}

/* What is changed as an object goes is the next one's to see. */
__attribute__((destructor)) static void destruct(void)
{
	(void)set_here(imv_read(program_value1) + 1);
}

static struct view look_in_constructor(void)
{
	return in_constructor;
}

static int renew(void)
{
	dormant_object_unregister(&dormant_object_self);
	return dormant_object_register(&dormant_object_self);
}

#ifdef OPERAND_PLUGIN
extern const struct operand_object plugin_object;
const struct operand_object plugin_object = {look_here, look_in_constructor, set_here, renew};
#else
const struct operand_object library_object = {look_here, look_in_constructor, set_here, renew};
#endif
