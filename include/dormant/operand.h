/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the sites of immediate values and of static calls share: the pointer to their owner.
 * Included by imv.h and static_call.h, not by hand.
 *
 * The pointer is a constant variable, which the compiler relocates, because the asm constraint "i"
 * accepts its address in every code model; see static_branch.h.
 */
#ifndef DORMANT_OPERAND_H
#define DORMANT_OPERAND_H

#if defined(__cplusplus) && !defined(__clang__)
#pragma GCC system_header
#endif

#ifdef __cplusplus
namespace dormant
{
/* One pointer for each Expression, a local class of the function with the site, so that it is
 * merged with the function where that is inline, and local where it is. */
template <class Expression> struct __attribute__((visibility("hidden"))) owner_pointer {
	static const void *const value;
};
template <class Expression>
__attribute__((visibility("hidden")))
const void *const owner_pointer<Expression>::value = Expression::owner();
} // namespace dormant
#define DORMANT_DECLARE_OWNER_(address)              \
	struct dormant_owner_expression_ {           \
		static constexpr const void *owner() \
		{                                    \
			return address;              \
		}                                    \
	}
#define DORMANT_OWNER_ (::dormant::owner_pointer<dormant_owner_expression_>::value)
#else
#define DORMANT_DECLARE_OWNER_(address) \
	static const void *const __attribute__((used)) dormant_owner_ = (address)
#define DORMANT_OWNER_ dormant_owner_
#endif

/* Without it, gcc takes each line of the text for an instruction when it decides what to inline. */
#if defined(__clang__) || __GNUC__ < 9
#define DORMANT_ASM_INLINE_
#else
#define DORMANT_ASM_INLINE_ __inline__
#endif

/* A function that is of another type than what it replaces is an error, not a warning. */
#define DORMANT_STRICT_BEGIN_                                                    \
	_Pragma("GCC diagnostic push")                                           \
		_Pragma("GCC diagnostic error \"-Wincompatible-pointer-types\"") \
			_Pragma("GCC diagnostic error \"-Wint-conversion\"")
#define DORMANT_STRICT_END_ _Pragma("GCC diagnostic pop")

#endif
