/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The branch macros of static keys, and what they are made of. Include <dormant/static_key.h>.
 *
 * A site needs four things in its asm statement: the opcode in the file, where the key's address is
 * stored, the flags of the table entry, and the key's expression as text. The address is stored in
 * a *key pointer*, a constant variable that the compiler relocates, because the constraint "i"
 * accepts that variable's own address in all code models, where it refuses the address of a key
 * that another object may preempt.
 *
 * How the asm statement is wrapped differs, because each compiler rules out a form:
 *
 *   gcc, C and C++    asm goto inside the expression; the label is marked cold, which is what lets
 *                     a leaf function keep its shape: what the cold path clobbers is saved there
 *   clang -O1 and up  asm goto in an inlined function: up to clang 16 every label of a function is
 *                     checked against every asm goto of it, and scopes with cleanups fail
 *   clang -O0         no asm goto ("i" fails on the parameter of a function that is not inlined):
 *                     the site sets a value, which the code then tests
 *   no patching       a load and a branch
 */
#ifndef DORMANT_STATIC_BRANCH_H
#define DORMANT_STATIC_BRANCH_H

#ifndef DORMANT_STATIC_KEY_H
#error "include <dormant/static_key.h>"
#endif

/* ---- the key inside &typed_key, and the state that the file's instruction assumes ---- */

#ifdef __cplusplus
namespace dormant
{
constexpr struct static_key *key_of(struct static_key *key)
{
	return key;
}
constexpr struct static_key *key_of(struct static_key_true *key)
{
	return &key->key;
}
constexpr struct static_key *key_of(struct static_key_false *key)
{
	return &key->key;
}
template <class Key> struct key_default {
	enum { known = 0, state = 0 };
};
template <> struct key_default<struct static_key_true *> {
	enum { known = 1, state = 1 };
};
template <> struct key_default<struct static_key_false *> {
	enum { known = 1, state = 0 };
};
/* One key pointer for each key expression: Expression is a local class of the function with the
 * site, so the pointer is merged with the function where that is inline, and local where it is. */
template <class Expression> struct __attribute__((visibility("hidden"))) key_pointer {
	static struct static_key *const value;
};
template <class Expression>
__attribute__((visibility("hidden"))) struct static_key *const key_pointer<Expression>::value =
	Expression::key_must_be_an_address_constant__write_a_macro_not_a_function();
} // namespace dormant
#define DORMANT_KEY_(x) (::dormant::key_of(x))
#define DORMANT_DEFAULT_(x, plain)                                              \
	(::dormant::key_default<decltype(x)>::known                             \
		 ? static_cast<int>(::dormant::key_default<decltype(x)>::state) \
		 : (plain))
#else
#define DORMANT_KEY_(x)                                                \
	_Generic((x), struct static_key *                              \
		 : (struct static_key *)(x), struct static_key_true *  \
		 : (struct static_key *)(x), struct static_key_false * \
		 : (struct static_key *)(x))
#define DORMANT_DEFAULT_(x, plain)                                                         \
	_Generic((x), struct static_key_true * : 1, struct static_key_false * : 0, default \
		 : (plain))
#endif

/* ---- the site: an expression that is true when the site jumps, that is, when the key's state
 * differs from @likely; @plain is the state that the file assumes for a plain struct static_key
 * ---- */

#define DORMANT_SITE_JUMPS_(x, likely, plain) (DORMANT_DEFAULT_(x, plain) != (likely))
#define DORMANT_SITE_OPCODE_(x, likely, plain) \
	(DORMANT_SITE_JUMPS_(x, likely, plain) ? DORMANT_SITE_OPCODE_ON : DORMANT_SITE_OPCODE_OFF)
#define DORMANT_SITE_FLAGS_(x, likely, plain)   \
	(((likely) ? DORMANT_SITE_LIKELY : 0) | \
	 (DORMANT_SITE_JUMPS_(x, likely, plain) ? DORMANT_SITE_JUMP : 0))

/* Declares the key pointer, for use as DORMANT_POINTER_. The long name is for the compiler's
 * message about an argument that is not constant: it stands on the line that the message quotes. */
#ifdef __cplusplus
#define DORMANT_DECLARE_POINTER_(x)                                             \
	struct dormant_expression_ {                                            \
		static constexpr struct static_key *                            \
		key_must_be_an_address_constant__write_a_macro_not_a_function() \
		{                                                               \
			return DORMANT_KEY_(x);                                 \
		}                                                               \
	}
#define DORMANT_POINTER_ (::dormant::key_pointer<dormant_expression_>::value)
#else
#define DORMANT_DECLARE_POINTER_(x)                           \
	static struct static_key *const __attribute__((used)) \
	key_must_be_an_address_constant__write_a_macro_not_a_function = DORMANT_KEY_(x)
#define DORMANT_POINTER_ key_must_be_an_address_constant__write_a_macro_not_a_function
#endif

#if !DORMANT_PATCHING

#define DORMANT_SITE_(x, text, likely, plain) \
	((__atomic_load_n(&DORMANT_KEY_(x)->enabled, __ATOMIC_RELAXED) > 0) != (likely))

#elif defined(__clang__) && !defined(__OPTIMIZE__)

#define DORMANT_SITE_(x, text, likely, plain)                                            \
	__extension__({                                                                  \
		int dormant_jumps_;                                                      \
		DORMANT_DECLARE_POINTER_(x);                                             \
		__asm__ volatile(DORMANT_SITE_ASM_VALUE                                  \
				 : "=r"(dormant_jumps_)                                  \
				 : "i"(DORMANT_SITE_OPCODE_(x, likely, plain)),          \
				   "i"(&DORMANT_POINTER_),                               \
				   "i"(DORMANT_SITE_FLAGS_(x, likely, plain)), "i"(text) \
				 : "cc");                                                \
		dormant_jumps_ != 0;                                                     \
	})

#elif defined(__clang__)

static inline __attribute__((always_inline)) bool
dormant_site_(const int opcode, struct static_key *const *const pointer, const int flags,
	      const char *const name)
{
	__asm__ goto(DORMANT_SITE_ASM("0", "1", "2", "3", "%l[jump]")
		     :
		     : "i"(opcode), "i"(pointer), "i"(flags), "i"(name)
		     : "cc"
		     : jump);
	return false;
jump:
	return true;
}
#define DORMANT_SITE_(x, text, likely, plain)                                            \
	__extension__({                                                                  \
		DORMANT_DECLARE_POINTER_(x);                                             \
		dormant_site_(DORMANT_SITE_OPCODE_(x, likely, plain), &DORMANT_POINTER_, \
			      DORMANT_SITE_FLAGS_(x, likely, plain), text);              \
	})

#else

/* Without it, gcc takes each line of the text for an instruction when it decides what to inline. */
#if __GNUC__ >= 9
#define DORMANT_INLINE_ __inline__
#else
#define DORMANT_INLINE_
#endif

#define DORMANT_SITE_(x, text, likely, plain)                                                  \
	__extension__({                                                                        \
		__label__ dormant_jump_;                                                       \
		bool dormant_jumps_ = false;                                                   \
		DORMANT_DECLARE_POINTER_(x);                                                   \
		__asm__ DORMANT_INLINE_ goto(                                                  \
			DORMANT_SITE_ASM("0", "1", "2", "3", "%l[dormant_jump_]")              \
			:                                                                      \
			: "i"(DORMANT_SITE_OPCODE_(x, likely, plain)), "i"(&DORMANT_POINTER_), \
			  "i"(DORMANT_SITE_FLAGS_(x, likely, plain)), "i"(text)                \
			: "cc"                                                                 \
			: dormant_jump_);                                                      \
		if (0) {                                                                       \
		dormant_jump_:                                                                 \
			__attribute__((cold));                                                 \
			dormant_jumps_ = true;                                                 \
		}                                                                              \
		dormant_jumps_;                                                                \
	})

#endif

/* ---- the macros ---- */

/* The value of a macro. clang drops an expected value as it inlines the site, and before that makes
 * `site || cheap` a test of a register; arms that each hold a statement, though an empty one, keep
 * the site's outcome a choice of two paths, in every place where C and C++ allow an expression. */
#if DORMANT_PATCHING && defined(__clang__) && defined(__OPTIMIZE__)
#define DORMANT_ARM_(value)           \
	__extension__({               \
		__asm__ volatile(""); \
		value;                \
	})
#define DORMANT_LIKELY_(x, text, plain) \
	(DORMANT_SITE_(x, text, 1, plain) ? DORMANT_ARM_(false) : DORMANT_ARM_(true))
#define DORMANT_UNLIKELY_(x, text, plain) \
	(DORMANT_SITE_(x, text, 0, plain) ? DORMANT_ARM_(true) : DORMANT_ARM_(false))
#else
#define DORMANT_LIKELY_(x, text, plain)   __builtin_expect(!DORMANT_SITE_(x, text, 1, plain), 1)
#define DORMANT_UNLIKELY_(x, text, plain) __builtin_expect(DORMANT_SITE_(x, text, 0, plain), 0)
#endif

/** True while the key is on; the code that runs then is laid inline. Any `x` that points to a key.
 */
#define static_branch_likely(x) DORMANT_LIKELY_(x, #x, 0)
/** True while the key is on; the code that runs then is laid out of the way. */
#define static_branch_unlikely(x) DORMANT_UNLIKELY_(x, #x, 0)
/** static_branch_likely() where @p config is (a macro defined as) 1, else static_branch_unlikely().
 */
#define static_branch_maybe(config, x) DORMANT_MAYBE_(DORMANT_IS_ON_(config), x)

/** Old spellings, for a plain struct static_key: the file assumes that it is on (or off). */
#define static_key_true(x)  DORMANT_LIKELY_(x, #x, 1)
#define static_key_false(x) DORMANT_UNLIKELY_(x, #x, 0)

/** The calls of static_key.h for a pointer to a key of any of the three types. */
#define static_branch_enable(x)  static_key_enable(DORMANT_KEY_(x))
#define static_branch_disable(x) static_key_disable(DORMANT_KEY_(x))
#define static_branch_inc(x)     static_key_slow_inc(DORMANT_KEY_(x))
#define static_branch_dec(x)     static_key_slow_dec(DORMANT_KEY_(x))
/** True while the key is on: a load, for use outside hot code. */
#define static_key_enabled(x) (static_key_count(DORMANT_KEY_(x)) > 0)

/* 1 where @value is 1, true or a macro defined as such; 0 where it is anything else. */
#define DORMANT_PAIR_1                      0, 1
#define DORMANT_PAIR_true                   0, 1
#define DORMANT_SECOND_(first, second, ...) second
#define DORMANT_IS_ON___(pair)              DORMANT_SECOND_(pair, 0, 0)
#define DORMANT_IS_ON__(value)              DORMANT_IS_ON___(DORMANT_PAIR_##value)
#define DORMANT_IS_ON_(value)               DORMANT_IS_ON__(value)
/* Chosen by the preprocessor, so that one site is built and not two. */
#define DORMANT_MAYBE_0(x)     static_branch_unlikely(x)
#define DORMANT_MAYBE_1(x)     static_branch_likely(x)
#define DORMANT_MAYBE__(on, x) DORMANT_MAYBE_##on(x)
#define DORMANT_MAYBE_(on, x)  DORMANT_MAYBE__(on, x)

#endif
