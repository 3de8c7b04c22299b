/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The one place that chooses how a site is built: by patching on a known architecture, or by a load
 * and a branch (DORMANT_PATCHING is then 0, and the meaning is the same).
 *
 * A load and a branch is chosen by -DDORMANT_NO_PATCHING, for a compiler without asm goto, and for
 * analysers, which understand C and not a table built in an asm statement.
 */
#ifndef DORMANT_ARCH_H
#define DORMANT_ARCH_H

#if defined(DORMANT_NO_PATCHING) || defined(__clang_analyzer__) || defined(__cppcheck__) || \
	defined(__CODECHECKER__) || !defined(__GNUC__)
#define DORMANT_PATCHING 0
#elif defined(__x86_64__) && !defined(__ILP32__)
#define DORMANT_PATCHING 1
#include <dormant/arch/x86_64.h>
#else
#error "dormant has no back end for this architecture; -DDORMANT_NO_PATCHING builds with load+branch"
#endif

#endif
