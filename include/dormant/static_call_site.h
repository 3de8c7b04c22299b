/* SPDX-License-Identifier: MIT */
/**
 * @file
 * How a static call's definition and its sites are built; included by static_call.h, not by hand.
 *
 * A site is a call of the trampoline that the compiler makes. What stands right before it is an
 * empty asm statement that takes the arguments in the registers of the calling convention and gives
 * them back there: so, optimised, nothing is left to be done between it and the call. The library
 * looks at the instruction behind the label: only where that is a call (or tail jump) of what the
 * object's HOME entry names is it a site. Elsewhere the call goes by the trampoline, which is right
 * as well.
 */
#ifndef DORMANT_STATIC_CALL_SITE_H
#define DORMANT_STATIC_CALL_SITE_H

#ifndef DORMANT_STATIC_CALL_H
#error "include <dormant/static_call.h>"
#endif

#if defined(__cplusplus) && !defined(__clang__)
#pragma GCC system_header
#endif

#ifdef __cplusplus
#include <type_traits>
namespace dormant
{
/* A parameter of type P: an argument becomes one as in a call. */
template <class P> struct parameter {
	static inline __attribute__((always_inline)) P take(P x)
	{
		return static_cast<P &&>(x);
	}
};
/* What stands for the dots of a function takes what it is given. */
struct any_parameter {
	template <class A> static inline __attribute__((always_inline)) A take(A x)
	{
		return x;
	}
};
template <unsigned N, class... Parameters> struct nth : any_parameter {
};
template <class First, class... Rest> struct nth<0, First, Rest...> : parameter<First> {
};
template <unsigned N, class First, class... Rest>
struct nth<N, First, Rest...> : nth<N - 1, Rest...> {
};
/* How what was taken is held in a register: `able` where it can be. */
template <class T, bool Able> struct pin_as {
	enum { able = 1 };
	typedef T type;
	static inline __attribute__((always_inline)) type in(T &x)
	{
		return x;
	}
	static inline __attribute__((always_inline)) type out(T &, type &held)
	{
		return held;
	}
};
template <class T> struct pin_as<T, false> {
	enum { able = 0 };
	typedef long type;
	static inline __attribute__((always_inline)) type in(T &)
	{
		return 0;
	}
	static inline __attribute__((always_inline)) T &&out(T &x, type &)
	{
		return static_cast<T &&>(x);
	}
};
/* Given the type of a variable that is bound to it: T && for a value, T & for a reference. */
template <class Bound> struct pin : pin_as<Bound, false> {
};
template <class T>
struct pin<T &&>
    : pin_as<T,
	     (std::is_integral<T>::value || std::is_enum<T>::value || std::is_pointer<T>::value) &&
		     sizeof(typename std::conditional<std::is_function<T>::value, long, T>::type) <=
			     sizeof(long)> {
};
/* Whether every parameter is held in a register as an integer or a pointer is. */
template <class... Parameters> struct all_able {
	enum { value = 1 };
};
template <class First, class... Rest> struct all_able<First, Rest...> {
	enum {
		value = !std::is_reference<First>::value && pin<First &&>::able &&
			all_able<Rest...>::value
	};
};
template <class Result, bool Pinned, class... Parameters> struct signature {
	enum { pinned = Pinned && all_able<Parameters...>::value };
	static_assert(!std::is_reference<Result>::value,
		      "a static call can not return a reference; return a pointer");
	template <unsigned N> struct at : nth<N, Parameters...> {
	};
};
template <class Result, class... Parameters>
signature<Result, true, Parameters...> signature_of(Result (*)(Parameters...));
template <class Result, class... Parameters>
signature<Result, false, Parameters...> signature_of(Result (*)(Parameters..., ...));

} // namespace dormant
#endif

/* ---- definition ---- */

/* A function's address as an object's, which ISO C does not know. */
#define DORMANT_ADDRESS_(function) (__extension__(void *)(function))

#if DORMANT_PATCHING
#define DORMANT_NOTHING_(name)                                           \
	((void *)((char *)DORMANT_ADDRESS_(&dormant_trampoline_##name) + \
		  DORMANT_TRAMPOLINE_NOTHING))
#define DORMANT_TRAMPOLINE_(name)         __asm__(DORMANT_TRAMPOLINE_ASM(#name))
#define DORMANT_TRAMPOLINE_ADDRESS_(name) DORMANT_ADDRESS_(&dormant_trampoline_##name)
#else
static inline __attribute__((unused)) void dormant_nothing_(void)
{
}
#define DORMANT_NOTHING_(name) DORMANT_ADDRESS_(&dormant_nothing_)
#ifdef __cplusplus
#define DORMANT_TRAMPOLINE_(name) static_assert(true, "") /* none */
#else
#define DORMANT_TRAMPOLINE_(name) _Static_assert(1, "") /* none */
#endif
#define DORMANT_TRAMPOLINE_ADDRESS_(name) NULL
#endif

/* The cell is hidden: the trampoline's instruction reaches no symbol of another object. The rest is
 * visible whatever -fvisibility says, because the trampoline's symbol, made in asm, is. */
#define DORMANT_DEFINE_CALL_(name, target, through)                                                \
	DORMANT_C_ void *dormant_cell_##name;                                                      \
	void *dormant_cell_##name __attribute__((used, visibility("hidden"))) = through;           \
	struct static_call dormant_static_call_##name                                              \
		__attribute__((used, visibility("default"))) = {target, &dormant_cell_##name,      \
								DORMANT_TRAMPOLINE_ADDRESS_(name), \
								DORMANT_NOTHING_(name)};           \
	static const struct dormant_key_entry dormant_call_entry_##name DORMANT_RETAIN_            \
		__attribute__((section("dormant_keys"), aligned(8))) = {                           \
			&dormant_static_call_##name, #name, 0,                                     \
			DORMANT_KEY_FLAGS(DORMANT_KEY_KIND_CALL, 0, sizeof(void *))};              \
	DORMANT_TRAMPOLINE_(name)

#ifdef __cplusplus
#define DORMANT_CALL_FUNCTION_(name, to) decltype(&dormant_trampoline_##name) dormant_to_ = (to)
#else
#define DORMANT_CALL_FUNCTION_(name, to)                           \
	DORMANT_STRICT_BEGIN_                                      \
	__typeof__(&dormant_trampoline_##name) dormant_to_ = (to); \
	DORMANT_STRICT_END_
#endif

/* ---- a call ---- */

#if !DORMANT_PATCHING

#define DORMANT_CALL_(name)                                     \
	(*__extension__(__typeof__(&dormant_trampoline_##name)) \
		 __atomic_load_n(dormant_static_call_##name.cell, __ATOMIC_ACQUIRE))

#else

/* `static_call(name)` becomes the beginning of a statement expression and the name of a macro that
 * takes the arguments which follow, and ends it. */
#define DORMANT_CALL_(name) \
	__extension__({                                                                       \
		DORMANT_CALL_QUIET_BEGIN_                                                     \
		DORMANT_DECLARE_OWNER_(&dormant_static_call_##name);                          \
		__typeof__(&dormant_trampoline_##name) const dormant_target_ =                \
			&dormant_trampoline_##name;                                           \
		__asm__ DORMANT_ASM_INLINE_ volatile(                                         \
			DORMANT_CALL_HOME_ASM("dormant_trampoline_" #name)                    \
			:                                                                     \
			: "i"(&DORMANT_OWNER_), "i"(DORMANT_OPERAND_HOME), "i"(#name));       \
	DORMANT_CALL_ARGUMENTS_

/* Calls may be nested, and hide each other's names then; in C, an argument is converted through the
 * type it is held in. In g++, where a pragma would end the statement expression, what a macro of a
 * system header declares is not warned of. */
#if defined(__cplusplus) && !defined(__clang__)
#define DORMANT_CALL_QUIET_BEGIN_
#define DORMANT_CALL_QUIET_END_
#else
#ifdef __clang__
#define DORMANT_CALL_QUIET_CLANG_ \
	_Pragma("clang diagnostic ignored \"-Wcompound-token-split-by-macro\"")
#else
#define DORMANT_CALL_QUIET_CLANG_
#endif
#define DORMANT_CALL_QUIET_BEGIN_                                                     \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") \
		_Pragma("GCC diagnostic ignored \"-Wconversion\"")                    \
			_Pragma("GCC diagnostic ignored \"-Wsign-conversion\"")       \
				_Pragma("GCC diagnostic error \"-Wint-conversion\"")  \
					DORMANT_CALL_QUIET_CLANG_
#define DORMANT_CALL_QUIET_END_ _Pragma("GCC diagnostic pop")
#endif

/*
 * An argument, step by step: it is taken (evaluated and converted), held in its register where it
 * is an integer or a pointer, let loose behind the statement, and passed. What does not fit a
 * register is passed as it is; then the registers are not used, because the call is no site anyway.
 */
#ifdef __cplusplus
#define DORMANT_PIN_(n)  ::dormant::pin<decltype(dormant_x##n)>
#define DORMANT_ABLE_(n) (+DORMANT_PIN_(n)::able)
#define DORMANT_TAKE_(n, a)                                                                      \
	auto &&dormant_x##n =                                                                    \
		decltype(::dormant::signature_of(dormant_target_))::template at<n - 1>::take(a); \
	typename DORMANT_PIN_(n)::type dormant_v##n = DORMANT_PIN_(n)::in(dormant_x##n);
#define DORMANT_HOLD_(n)                                                                     \
	register typename DORMANT_PIN_(n)::type dormant_r##n __asm__(DORMANT_ARGUMENT_##n) = \
		dormant_v##n;
#define DORMANT_PASS_(n) DORMANT_PIN_(n)::out(dormant_x##n, dormant_v##n)
#else
/* 1 to 5 are integers, in gcc and clang, and 5 a pointer. */
#define DORMANT_CLASS_(n) __builtin_classify_type(dormant_x##n)
#define DORMANT_ABLE_(n) \
	(DORMANT_CLASS_(n) >= 1 && DORMANT_CLASS_(n) <= 5 && sizeof(dormant_x##n) <= sizeof(long))
#define DORMANT_PIN_TYPE_(n)                                                                       \
	__typeof__(__builtin_choose_expr(DORMANT_ABLE_(n) && DORMANT_CLASS_(n) == 5, dormant_x##n, \
					 _Generic(dormant_x##n, unsigned long : 0UL,               \
						  unsigned long long : 0UL, default : 0L)))
/* The comma makes an array a pointer. */
#define DORMANT_TAKE_(n, a)                                                           \
	__auto_type dormant_x##n = ((void)0, (a));                                    \
	DORMANT_PIN_TYPE_(n)                                                          \
	dormant_v##n = (DORMANT_PIN_TYPE_(n)) __builtin_choose_expr(DORMANT_ABLE_(n), \
								    dormant_x##n, 0L);
#define DORMANT_HOLD_(n) \
	register DORMANT_PIN_TYPE_(n) dormant_r##n __asm__(DORMANT_ARGUMENT_##n) = dormant_v##n;
#define DORMANT_PASS_(n) __builtin_choose_expr(DORMANT_ABLE_(n), dormant_v##n, dormant_x##n)
#endif
#define DORMANT_LOOSE_(n) dormant_v##n = dormant_r##n;
#define DORMANT_IN_(n)    "+r"(dormant_r##n)
#define DORMANT_CALL_OPERANDS_ \
	: "i"(&DORMANT_OWNER_), "i"(DORMANT_OPERAND_CALL) : "memory"

/* clang-format off */
#define DORMANT_PLAIN_ \
	__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_LONG_ASM("0", "1") : DORMANT_CALL_OPERANDS_);
#define DORMANT_CALL_END_(...) dormant_target_(__VA_ARGS__);
#define DORMANT_CALL_0() \
	__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("0", "1") : DORMANT_CALL_OPERANDS_); \
	DORMANT_CALL_END_()
#define DORMANT_CALL_MANY(...) DORMANT_PLAIN_ DORMANT_CALL_END_(__VA_ARGS__)
#define DORMANT_CALL_1(a) \
	DORMANT_TAKE_(1, a) \
	if (DORMANT_ABLE_(1)) { \
		DORMANT_HOLD_(1) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("1", "2") \
			: DORMANT_IN_(1) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1))
#define DORMANT_CALL_2(a, b) \
	DORMANT_TAKE_(1, a) DORMANT_TAKE_(2, b) \
	if (DORMANT_ABLE_(1) && DORMANT_ABLE_(2)) { \
		DORMANT_HOLD_(1) DORMANT_HOLD_(2) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("2", "3") \
			: DORMANT_IN_(1), DORMANT_IN_(2) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) DORMANT_LOOSE_(2) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1), DORMANT_PASS_(2))
#define DORMANT_CALL_3(a, b, c) \
	DORMANT_TAKE_(1, a) DORMANT_TAKE_(2, b) DORMANT_TAKE_(3, c) \
	if (DORMANT_ABLE_(1) && DORMANT_ABLE_(2) && DORMANT_ABLE_(3)) { \
		DORMANT_HOLD_(1) DORMANT_HOLD_(2) DORMANT_HOLD_(3) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("3", "4") \
			: DORMANT_IN_(1), DORMANT_IN_(2), DORMANT_IN_(3) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) DORMANT_LOOSE_(2) DORMANT_LOOSE_(3) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1), DORMANT_PASS_(2), DORMANT_PASS_(3))
#define DORMANT_CALL_4(a, b, c, d) \
	DORMANT_TAKE_(1, a) DORMANT_TAKE_(2, b) DORMANT_TAKE_(3, c) DORMANT_TAKE_(4, d) \
	if (DORMANT_ABLE_(1) && DORMANT_ABLE_(2) && DORMANT_ABLE_(3) && DORMANT_ABLE_(4)) { \
		DORMANT_HOLD_(1) DORMANT_HOLD_(2) DORMANT_HOLD_(3) DORMANT_HOLD_(4) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("4", "5") \
			: DORMANT_IN_(1), DORMANT_IN_(2), DORMANT_IN_(3), DORMANT_IN_(4) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) DORMANT_LOOSE_(2) DORMANT_LOOSE_(3) DORMANT_LOOSE_(4) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1), DORMANT_PASS_(2), DORMANT_PASS_(3), DORMANT_PASS_(4))
#define DORMANT_CALL_5(a, b, c, d, e) \
	DORMANT_TAKE_(1, a) DORMANT_TAKE_(2, b) DORMANT_TAKE_(3, c) DORMANT_TAKE_(4, d) DORMANT_TAKE_(5, e) \
	if (DORMANT_ABLE_(1) && DORMANT_ABLE_(2) && DORMANT_ABLE_(3) && DORMANT_ABLE_(4) && DORMANT_ABLE_(5)) { \
		DORMANT_HOLD_(1) DORMANT_HOLD_(2) DORMANT_HOLD_(3) DORMANT_HOLD_(4) DORMANT_HOLD_(5) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("5", "6") \
			: DORMANT_IN_(1), DORMANT_IN_(2), DORMANT_IN_(3), DORMANT_IN_(4), DORMANT_IN_(5) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) DORMANT_LOOSE_(2) DORMANT_LOOSE_(3) DORMANT_LOOSE_(4) DORMANT_LOOSE_(5) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1), DORMANT_PASS_(2), DORMANT_PASS_(3), DORMANT_PASS_(4), DORMANT_PASS_(5))
#define DORMANT_CALL_6(a, b, c, d, e, f) \
	DORMANT_TAKE_(1, a) DORMANT_TAKE_(2, b) DORMANT_TAKE_(3, c) DORMANT_TAKE_(4, d) DORMANT_TAKE_(5, e) DORMANT_TAKE_(6, f) \
	if (DORMANT_ABLE_(1) && DORMANT_ABLE_(2) && DORMANT_ABLE_(3) && DORMANT_ABLE_(4) && DORMANT_ABLE_(5) && DORMANT_ABLE_(6)) { \
		DORMANT_HOLD_(1) DORMANT_HOLD_(2) DORMANT_HOLD_(3) DORMANT_HOLD_(4) DORMANT_HOLD_(5) DORMANT_HOLD_(6) \
		__asm__ DORMANT_ASM_INLINE_ volatile(DORMANT_CALL_ASM("6", "7") \
			: DORMANT_IN_(1), DORMANT_IN_(2), DORMANT_IN_(3), DORMANT_IN_(4), DORMANT_IN_(5), DORMANT_IN_(6) DORMANT_CALL_OPERANDS_); \
		DORMANT_LOOSE_(1) DORMANT_LOOSE_(2) DORMANT_LOOSE_(3) DORMANT_LOOSE_(4) DORMANT_LOOSE_(5) DORMANT_LOOSE_(6) \
	} else { \
		DORMANT_PLAIN_ \
	} \
	DORMANT_CALL_END_(DORMANT_PASS_(1), DORMANT_PASS_(2), DORMANT_PASS_(3), DORMANT_PASS_(4), DORMANT_PASS_(5), DORMANT_PASS_(6))
/* clang-format on */

/* Chooses by the number of arguments, 0 where there are none. In C++, where a parameter is no
 * integer or pointer, the call is as it is written: what is converted for a reference lives as long
 * as it. */
#ifdef __cplusplus
#define DORMANT_CALL_ARGUMENTS_(...)                                                             \
	decltype(::dormant::signature_of(dormant_target_))::pinned                               \
		? __extension__(                                                                 \
			  {DORMANT_CALL_CHOOSE_(DORMANT_CALL_COUNT_(__VA_ARGS__))(__VA_ARGS__)}) \
		: dormant_target_(__VA_ARGS__);                                                  \
	DORMANT_CALL_QUIET_END_                                                                  \
	})
#else
#define DORMANT_CALL_ARGUMENTS_(...)                           \
	DORMANT_CALL_CHOOSE_(DORMANT_CALL_COUNT_(__VA_ARGS__)) \
	(__VA_ARGS__) DORMANT_CALL_QUIET_END_                  \
	})
#endif
#define DORMANT_CALL_CHOOSE_(count)       DORMANT_CALL_CHOOSE__(count)
#define DORMANT_CALL_CHOOSE__(count)      DORMANT_CALL_##count
#define DORMANT_CALL_COUNT_(...)          DORMANT_CALL_COUNT__(DORMANT_EMPTY_(__VA_ARGS__), __VA_ARGS__)
#define DORMANT_CALL_COUNT__(empty, ...)  DORMANT_CALL_COUNT___(empty, __VA_ARGS__)
#define DORMANT_CALL_COUNT___(empty, ...) DORMANT_CALL_COUNT_##empty(__VA_ARGS__)
#define DORMANT_CALL_COUNT_1(...)         0
#define DORMANT_CALL_COUNT_0(...)                                                                \
	DORMANT_SIXTEENTH_(__VA_ARGS__, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, 6, \
			   5, 4, 3, 2, 1, 0)
#define DORMANT_SIXTEENTH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, sixteenth, ...) sixteenth

/* 1 where there is no argument at all, 0 where there is one: an empty one has no comma, and makes
 * one between a macro's name and its parentheses. After Jens Gustedt, "Detect empty macro
 * arguments", 2010. */
#define DORMANT_COMMA_(...) \
	DORMANT_SIXTEENTH_(__VA_ARGS__, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0)
#define DORMANT_TO_COMMA_(...) ,
#define DORMANT_EMPTY_(...)                                            \
	DORMANT_EMPTY__(DORMANT_COMMA_(__VA_ARGS__),                   \
			DORMANT_COMMA_(DORMANT_TO_COMMA_ __VA_ARGS__), \
			DORMANT_COMMA_(__VA_ARGS__(/* empty */)),      \
			DORMANT_COMMA_(DORMANT_TO_COMMA_ __VA_ARGS__(/* empty */)))
#define DORMANT_EMPTY__(a, b, c, d)  DORMANT_EMPTY___(a, b, c, d)
#define DORMANT_EMPTY___(a, b, c, d) DORMANT_EMPTY____(DORMANT_EMPTY_##a##b##c##d)
#define DORMANT_EMPTY____(x)         DORMANT_COMMA_(x)
#define DORMANT_EMPTY_0001           ,

#endif

#endif
