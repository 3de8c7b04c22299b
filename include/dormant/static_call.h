/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Static calls: calls of a function that can be replaced, at the cost of a direct call. No pointer
 * is loaded and no indirect branch is predicted (or, with retpolines, mispredicted on purpose).
 *
 *     #include <dormant/static_call.h>
 *
 *     static int plain(const char *s, int n);
 *     DEFINE_STATIC_CALL(parse, plain);
 *
 *     int handle(const char *s, int n) { return static_call(parse)(s, n); }
 *
 *     int use_fast(void) { return static_call_update(parse, fast); }
 *
 * Link with -ldormant. The names and their meaning are those of the kernel's static calls; calls
 * that return nothing there return 0 or a negative errno here.
 *
 * What is promised:
 *
 *  1. When static_call_update() has returned 0, every call that starts after the return, on any
 *     thread, reaches the new function. While it runs, a call reaches the old or the new one. A
 *     thread inside the old function is not waited for: its code must stay.
 *  2. A call may stand anywhere: in constructors, before the library has seen its object, in signal
 *     handlers, across objects.
 *  3. All that static_key.h promises of threads, signals, fork and errors.
 *
 * How it is built: DEFINE_STATIC_CALL makes a *trampoline*, a function of the same type that jumps
 * to the present function; static_call() is a call of it that the compiler makes, with all that a
 * call may have: arguments and results of any type, a tail call, an exception that passes. Where
 * that call instruction can be changed by one store, it is made to reach the function itself. A
 * call costs
 *
 *  - a direct call, where nothing stands between it and its place in the table. That is so,
 *    optimised, where all arguments are integers and pointers, at most six. What the compiler
 *    may put there: the end of a function that saved registers (before a tail call), the
 *    conversion to a parameter narrower than int, stack and floating-point arguments, and with
 *    clang a sum of earlier results;
 *  - and a direct jump elsewhere, as in the kernel's out-of-line variant;
 *  - and a load where the function is more than 2 GiB away (as one of a shared library is from a
 *    position-independent program), in the file, and where text can not be changed. That is right
 *    at any time.
 *
 * `dormant show FILE NAME` says which is the case.
 *
 * static_call(name) is followed by the arguments in parentheses, at once. Because a macro takes
 * them: put an argument that has a comma outside of parentheses, such as a compound literal, into
 * parentheses, and in C write NULL for a null pointer, not 0. The function must not return a C++
 * reference.
 */
#ifndef DORMANT_STATIC_CALL_H
#define DORMANT_STATIC_CALL_H

#include <stddef.h>
#include <stdint.h>

#include <dormant/arch.h>
#include <dormant/error.h>
#include <dormant/object.h>
#include <dormant/operand.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A function that can be replaced. Read it by static_call_query() only. */
struct static_call {
	void *function;      /**< the present function, or NULL: calls do nothing */
	void **cell;         /**< what calls by memory go through; never NULL inside */
	void *trampoline;    /**< what calls reach in the file */
	const void *nothing; /**< a function that returns */
} __attribute__((aligned(8)));

/** Declares a static call that another file defines; @p function gives its type. */
#define DECLARE_STATIC_CALL(name, function)                       \
	DORMANT_CALL_LINKAGE_BEGIN_                               \
	DORMANT_C_ struct static_call dormant_static_call_##name; \
	DORMANT_C_ __typeof__(*(function)) dormant_trampoline_##name DORMANT_CALL_LINKAGE_END_

/** Defines a static call that reaches @p function. Its name is global, and visible to other
 * objects: `static` does not stand before it. */
#define DEFINE_STATIC_CALL(name, function)   \
	DECLARE_STATIC_CALL(name, function); \
	DORMANT_DEFINE_CALL_(name, DORMANT_ADDRESS_(function), DORMANT_ADDRESS_(function))

/** Defines one that does nothing until it is given a function of @p function's type. */
#define DEFINE_STATIC_CALL_NULL(name, function) \
	DECLARE_STATIC_CALL(name, function);    \
	DORMANT_DEFINE_CALL_(name, NULL, DORMANT_NOTHING_(name))

/** Calls the present function: `static_call(name)(arguments)`. Where it is NULL, returns an
 * undefined value. */
#define static_call(name) DORMANT_CALL_(name)

/** The same for a function that returns nothing, or whose result is not used: does nothing, after
 * the arguments were evaluated, where it is NULL. */
#define static_call_cond(name) (void)static_call(name)

/** The present function, or NULL; a load. It changes when a patch is complete. */
#define static_call_query(name)                                \
	(__extension__(__typeof__(&dormant_trampoline_##name)) \
		 __atomic_load_n(&dormant_static_call_##name.function, __ATOMIC_ACQUIRE))

/**
 * Makes calls reach @p to; a function of another type is an error of the compiler. Returns 0 or a
 * negative errno, as dormant_static_call_update() without details of the failure.
 */
#define static_call_update(name, to) static_call_update_error(name, to, NULL)

/** The same, with a `struct dormant_error *` for details. */
#define static_call_update_error(name, to, error)                                 \
	__extension__({                                                           \
		DORMANT_CALL_FUNCTION_(name, to);                                 \
		dormant_static_call_update(&dormant_static_call_##name,           \
					   DORMANT_ADDRESS_(dormant_to_), error); \
	})

/** One change of a batch, a `struct static_call_change`. */
#define STATIC_CALL_CHANGE(name, to)                                                         \
	__extension__({                                                                      \
		DORMANT_CALL_FUNCTION_(name, to);                                            \
		struct static_call_change dormant_change_ = {&dormant_static_call_##name,    \
							     DORMANT_ADDRESS_(dormant_to_)}; \
		dormant_change_;                                                             \
	})

/** One static call of a batch; made by STATIC_CALL_CHANGE(). */
struct static_call_change {
	struct static_call *call; /**< which */
	void *function;           /**< what it is to reach, or NULL */
};

/**
 * Makes a static call reach @p function, or nothing where that is NULL.
 *
 * Units: none. Errors: -EINVAL for a NULL @p call; -EOPNOTSUPP when call sites hold the target in
 * their instruction, other threads run, and no writer here changes more than a byte by one store;
 * else as dormant_static_key_enable(). Nothing is changed then, and @p error says which site and
 * why. Threads: any. Signals: safe. Blocks: on the library's lock. Since: 0.1. Source: the kernel's
 * static_call_update(); the protocol is ours.
 */
DORMANT_API int dormant_static_call_update(struct static_call *call, void *function,
					   struct dormant_error *error);

/**
 * Changes many static calls in one patch: all or none. One may occur several times; the last
 * counts.
 *
 * Units: @p count entries. Errors: as dormant_static_call_update(). Threads: any; no other change
 * falls in between. Signals: safe. Blocks: on the library's lock. Since: 0.1. Source: dormant.
 */
DORMANT_API int dormant_static_call_batch(const struct static_call_change *changes, size_t count,
					  struct dormant_error *error);

#ifdef __cplusplus
} /* extern "C" */
#define DORMANT_C_ extern "C"
#endif
#if defined(__cplusplus) && defined(__clang__)
/* Its type is that of a C++ function; only its name is plain. */
#define DORMANT_CALL_LINKAGE_BEGIN_      \
	_Pragma("clang diagnostic push") \
		_Pragma("clang diagnostic ignored \"-Wreturn-type-c-linkage\"")
#define DORMANT_CALL_LINKAGE_END_ _Pragma("clang diagnostic pop")
#else
#define DORMANT_CALL_LINKAGE_BEGIN_
#define DORMANT_CALL_LINKAGE_END_
#endif
#ifndef __cplusplus
#define DORMANT_C_ __extension__ extern
#endif

#include <dormant/static_call_site.h>

#endif
