/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The one macro of static_key.h that needs what ISO C lacks, a range in an initialiser. The pragmas
 * keep -Wpedantic quiet about it where the macro is used: gcc's covers this file only.
 */
#ifndef DORMANT_STATIC_KEY_ARRAY_H
#define DORMANT_STATIC_KEY_ARRAY_H

#ifdef __clang__
#define DORMANT_ALL_(count)                                                                       \
	_Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgnu-designator\"") \
		[0 ...(count) - 1] _Pragma("clang diagnostic pop")
#else
#pragma GCC system_header
#define DORMANT_ALL_(count) [0 ...(count) - 1]
#endif

/** Defines an array of @p count keys that are on by default. */
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, count)                                          \
	struct static_key_true name[count] = {DORMANT_ALL_(count) = STATIC_KEY_TRUE_INIT}; \
	DORMANT_KEY_ENTRY_(name, &name[0].key, count, DORMANT_KEY_TRUE)

#endif
