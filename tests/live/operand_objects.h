/* SPDX-License-Identifier: MIT */
/* What operand_objects.c, its library and its plugin know of each other. */
#ifndef OPERAND_OBJECTS_H
#define OPERAND_OBJECTS_H

#include <dormant/imv.h>
#include <dormant/static_call.h>

/* Visible also where the library is built with -fvisibility=hidden. */
#pragma GCC visibility push(default)

/* The program's. */
DECLARE_IMV(unsigned char, program_value1);
DECLARE_IMV(unsigned long, program_value8);
int program_one(int x);
DECLARE_STATIC_CALL(program_call, program_one);

/* The library's. */
DECLARE_IMV(int, library_value4);
DECLARE_IMV(double, library_value8);
int library_one(int x);
int library_two(int x);
DECLARE_STATIC_CALL(library_call, library_one);

/* What an object sees at its own sites. */
struct view {
	unsigned char program_value1;
	unsigned long program_value8;
	int library_value4;
	double library_value8;
	int program_called, program_tail_called; /* with 100 */
	int library_called, library_tail_called;
};

/* An object's symbol. */
struct operand_object {
	struct view (*look)(void);
	struct view (*look_in_constructor)(void); /* what it saw then */
	int (*set)(int n);                        /* all values; and both calls, to _one or _two */
	int (*renew)(void);                       /* makes the library forget and know the object */
};

extern const struct operand_object library_object; /* a plugin's is called plugin_object */

#pragma GCC visibility pop

/* Defines look_here() in an object. */
#define DEFINE_LOOK                                                                       \
	__attribute__((noinline)) static int call_program(int x)                          \
	{                                                                                 \
		return static_call(program_call)(x);                                      \
	}                                                                                 \
	__attribute__((noinline)) static int call_library(int x)                          \
	{                                                                                 \
		return static_call(library_call)(x);                                      \
	}                                                                                 \
	static struct view look_here(void)                                                \
	{                                                                                 \
		struct view view = {0};                                                   \
                                                                                          \
		view.program_value1 = imv_read(program_value1);                           \
		view.program_value8 = imv_read(program_value8);                           \
		view.library_value4 = imv_read(library_value4);                           \
		view.library_value8 = imv_read(library_value8);                           \
		view.program_called = static_call(program_call)(100) + 1000;              \
		view.program_tail_called = call_program(100);                             \
		view.library_called = static_call(library_call)(100) + 1000;              \
		view.library_tail_called = call_library(100);                             \
		return view;                                                              \
	}                                                                                 \
	static int set_here(int n)                                                        \
	{                                                                                 \
		int wrong = imv_set(program_value1, (unsigned char)n) != 0;               \
                                                                                          \
		wrong += imv_set(program_value8, (unsigned long)n << 40) != 0;            \
		wrong += imv_set(library_value4, -n) != 0;                                \
		wrong += imv_set(library_value8, n / 2.0) != 0;                           \
		wrong += static_call_update(program_call,                                 \
					    n % 2 == 0 ? program_one : library_two) != 0; \
		wrong += static_call_update(library_call,                                 \
					    n % 2 == 0 ? library_one : library_two) != 0; \
		return wrong;                                                             \
	}

#endif
