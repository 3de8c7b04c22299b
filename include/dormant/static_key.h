/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Static keys: a condition that costs one instruction while it has its usual value.
 *
 *     #include <dormant/static_key.h>
 *
 *     DEFINE_STATIC_KEY_FALSE(trace_key);
 *
 *     void handle(struct request *r)
 *     {
 *             if (static_branch_unlikely(&trace_key))    // one instruction, no load, no branch
 *                     trace(r);
 *             ...
 *     }
 *
 *     int on(void) { return static_branch_enable(&trace_key); }
 *
 * Link with -ldormant. The names and their meaning are those of the kernel's jump labels; calls
 * that return nothing there return 0 or a negative errno here.
 *
 * What is promised:
 *
 *  1. When static_branch_enable() returns 0, every execution of every site that starts after the
 *     return, on any thread, takes the enabled path; no thread ever takes a path that is neither.
 *     A thread that is already inside the old path is not waited for. The same for disabling.
 *  2. A site is async-signal-safe. A toggle from a signal handler applies at once and never
 *     deadlocks: the library's lock is held with signals blocked.
 *  3. Toggles from any number of threads, on the same and on different keys, are safe. Enables are
 *     counted: static_branch_inc() and static_branch_dec(); a dec below zero is an error and
 *     changes nothing.
 *  4. An object loaded later starts in the keys' current state; an unloaded object's sites are
 *     forgotten before its memory goes.
 *  5. A forked child has its own state, equal to the parent's at the fork, also when another
 *     thread was toggling.
 *  6. Nothing is ever left writable and executable, and switching off restores the bytes of the
 *     file exactly.
 *  7. The library starts no thread, opens no socket, installs no signal handler and prints nothing.
 *  8. Every failure is an error that the caller can act on. The library never exits or aborts.
 *
 * Promise 1 rests on the processor: AMD's manual (volume 2, 7.6.1) allows a store inside an aligned
 * quadword of code under execution, which a store of one byte always is; Intel's promises nothing
 * for code modified by another processor, and the kernel relies on the same one-byte store; the
 * rest is the stress test, on the machines where it ran (see doc/architecture.md).
 *
 * The table below is what the macros and the library work from. A site *jumps* when its key's state
 * differs from what the source calls likely; the file holds what fits the key's default.
 *
 *                                  | static_branch_likely(&key) | static_branch_unlikely(&key)
 *     -----------------------------+----------------------------+-----------------------------
 *     key on                       | falls through, body inline | jumps to the body
 *     key off                      | jumps over the body        | falls through
 *     in the file, DEFINE_..TRUE   | test                       | jmp
 *     in the file, DEFINE_..FALSE  | jmp                        | test
 *     in the file, a plain struct static_key, whose default the compiler can not know: as for FALSE
 *     (static_key_true(): as for TRUE), and patched at start where that is wrong
 *
 * The argument of a branch macro is any address constant: &key, &array[3], &object.key. A function
 * parameter is not one, also in an always_inline function: write a macro instead.
 */
#ifndef DORMANT_STATIC_KEY_H
#define DORMANT_STATIC_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dormant/arch.h>
#include <dormant/error.h>
#include <dormant/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- types and definitions ---- */

/** The variable that decides. Read it by static_key_enabled() and static_key_count() only. */
struct static_key {
	int enabled;     /**< the count; the branches follow it: on while it is above 0 */
	unsigned staged; /**< 0, or 1 + the count that a patch under way will leave */
} __attribute__((aligned(8)));

/** A key whose default is on. */
struct static_key_true {
	struct static_key key; /**< the key */
#ifdef __cplusplus
	/* C++ has no initialiser for all elements of an array; these leave the type's layout alone.
	 */
	constexpr static_key_true() : key{1, 0}
	{
	}
	constexpr static_key_true(struct static_key initial) : key(initial)
	{
	}
#endif
};

/** A key whose default is off. */
struct static_key_false {
	struct static_key key; /**< the key */
};

/* clang-format off */
#define STATIC_KEY_INIT_TRUE  {1, 0}                 /**< for a plain struct static_key */
#define STATIC_KEY_INIT_FALSE {0, 0}                 /**< for a plain struct static_key */
#define STATIC_KEY_INIT       STATIC_KEY_INIT_FALSE  /**< old spelling */
#define STATIC_KEY_TRUE_INIT  {STATIC_KEY_INIT_TRUE}  /**< for a struct static_key_true */
#define STATIC_KEY_FALSE_INIT {STATIC_KEY_INIT_FALSE} /**< for a struct static_key_false */
/* clang-format on */

/** Defines a key that is on (or off) by default. `static` may stand before it. */
#define DEFINE_STATIC_KEY_TRUE(name)                        \
	struct static_key_true name = STATIC_KEY_TRUE_INIT; \
	DORMANT_KEY_ENTRY_(name, &name.key, 0, DORMANT_KEY_TRUE)
#define DEFINE_STATIC_KEY_FALSE(name)                         \
	struct static_key_false name = STATIC_KEY_FALSE_INIT; \
	DORMANT_KEY_ENTRY_(name, &name.key, 0, 0)

/** Declares a key that another file defines. */
#define DECLARE_STATIC_KEY_TRUE(name)  extern struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name

/** Defines an array of @p count keys; a site names one by &name[3]. */
#ifdef __cplusplus
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, count) \
	struct static_key_true name[count] = {};  \
	DORMANT_KEY_ENTRY_(name, &name[0].key, count, DORMANT_KEY_TRUE)
#else
#include <dormant/static_key_array.h>
#endif
#define DEFINE_STATIC_KEY_ARRAY_FALSE(name, count)                     \
	struct static_key_false name[count] = {STATIC_KEY_FALSE_INIT}; \
	DORMANT_KEY_ENTRY_(name, &name[0].key, count, 0)
/** Declares an array of keys that another file defines. */
#define DECLARE_STATIC_KEY_ARRAY_TRUE(name, count)  extern struct static_key_true name[count]
#define DECLARE_STATIC_KEY_ARRAY_FALSE(name, count) extern struct static_key_false name[count]

/** Defines or declares a key whose default is that of @p config, as in static_branch_maybe(). */
#define DEFINE_STATIC_KEY_MAYBE(config, name)  DORMANT_DEFINE_MAYBE_(DORMANT_IS_ON_(config), name)
#define DECLARE_STATIC_KEY_MAYBE(config, name) DORMANT_DECLARE_MAYBE_(DORMANT_IS_ON_(config), name)
#define DORMANT_DEFINE_MAYBE_0(name)           DEFINE_STATIC_KEY_FALSE(name)
#define DORMANT_DEFINE_MAYBE_1(name)           DEFINE_STATIC_KEY_TRUE(name)
#define DORMANT_DEFINE_MAYBE__(on, name)       DORMANT_DEFINE_MAYBE_##on(name)
#define DORMANT_DEFINE_MAYBE_(on, name)        DORMANT_DEFINE_MAYBE__(on, name)
#define DORMANT_DECLARE_MAYBE_0(name)          DECLARE_STATIC_KEY_FALSE(name)
#define DORMANT_DECLARE_MAYBE_1(name)          DECLARE_STATIC_KEY_TRUE(name)
#define DORMANT_DECLARE_MAYBE__(on, name)      DORMANT_DECLARE_MAYBE_##on(name)
#define DORMANT_DECLARE_MAYBE_(on, name)       DORMANT_DECLARE_MAYBE__(on, name)

/* ---- switching ---- */

/**
 * Makes a key's count 1 if it is 0.
 *
 * Units: none. Errors: 0 also when the key is on already. -EINVAL for NULL. -EILSEQ when a site
 * holds a foreign instruction (a debugger's breakpoint, a hook), -EPERM, -EACCES or another errno
 * of the last writer when no writer can change the text, -ENOTSUP or another errno of the core
 * sync, -ENOMEM; nothing is changed then, and @p error says which site and why. Threads: any.
 * Signals: safe. Blocks: on the library's lock while another thread toggles. Since: 0.1.
 * Source: the kernel's static_key_enable(); the protocol is described in doc/architecture.md.
 */
DORMANT_API int dormant_static_key_enable(struct static_key *key, struct dormant_error *error);

/**
 * Makes a key's count 0 if it is 1.
 *
 * Units: none. Errors: 0 also when the key is off already; -EBUSY when more than one reference is
 * held, and nothing is changed (give them back with dec); else as dormant_static_key_enable().
 * Threads: any. Signals: safe. Blocks: on the library's lock. Since: 0.1.
 * Source: the kernel's static_key_disable(), which warns instead of -EBUSY.
 */
DORMANT_API int dormant_static_key_disable(struct static_key *key, struct dormant_error *error);

/**
 * Takes a reference: the key is on while at least one is held. @p holder, which may be NULL, is the
 * object that the caller belongs to: references that it still holds when it is unloaded are given
 * back.
 *
 * Units: references. Errors: -EOVERFLOW at INT_MAX references, and nothing is changed; else as
 * dormant_static_key_enable(). Threads: any. Signals: safe. Blocks: only for the first reference,
 * on the library's lock. Since: 0.1. Source: the kernel's static_key_slow_inc().
 */
DORMANT_API int dormant_static_key_inc(struct static_key *key, struct dormant_object *holder,
				       struct dormant_error *error);

/**
 * Gives a reference back; the last one switches the key off.
 *
 * Units: references. Errors: -ERANGE when none is held, and nothing is changed; else as
 * dormant_static_key_enable(). Threads: any. Signals: safe. Blocks: only for the last reference,
 * on the library's lock. Since: 0.1. Source: the kernel's static_key_slow_dec().
 */
DORMANT_API int dormant_static_key_dec(struct static_key *key, struct dormant_object *holder,
				       struct dormant_error *error);

/** What to do to one key of a batch. */
enum static_key_operation {
	STATIC_KEY_ENABLE,  /**< as static_branch_enable() */
	STATIC_KEY_DISABLE, /**< as static_branch_disable() */
	STATIC_KEY_INC,     /**< as static_branch_inc() */
	STATIC_KEY_DEC,     /**< as static_branch_dec() */
};

/** One key of a batch. */
struct static_key_change {
	struct static_key *key;              /**< which key; `&name.key` for a typed one */
	enum static_key_operation operation; /**< what to do to it */
};

/**
 * Changes many keys in one patch: all or none, with one core sync. Each change is applied to the
 * state that the changes before it left, so a key may occur several times.
 *
 * Units: @p count entries. Errors: as the single calls; on any, no key is changed, and the error
 * names the key. Threads: any; no other toggle falls between the changes. Signals: safe. Blocks: on
 * the library's lock. Since: 0.1. Source: the kernel's queued jump label transforms.
 */
DORMANT_API int dormant_static_key_batch(const struct static_key_change *changes, size_t count,
					 struct dormant_object *holder,
					 struct dormant_error *error);

/**
 * The number of references held: 0 is off. It changes when a patch is complete, not before.
 *
 * Units: references. Errors: none. Threads: any; a momentary value. Signals: safe. Blocks: never.
 * Since: 0.1. Source: the kernel's static_key_count().
 */
static inline int static_key_count(const struct static_key *key)
{
	return __atomic_load_n(&key->enabled, __ATOMIC_ACQUIRE);
}

/* ---- the kernel's names: the same calls without the error struct ---- */

/** As dormant_static_key_enable(), without details of the failure. */
static inline int static_key_enable(struct static_key *key)
{
	return dormant_static_key_enable(key, NULL);
}

/** As dormant_static_key_disable(), without details of the failure. */
static inline int static_key_disable(struct static_key *key)
{
	return dormant_static_key_disable(key, NULL);
}

/** As dormant_static_key_inc() for the calling object, without details of the failure. */
static inline int static_key_slow_inc(struct static_key *key)
{
	return dormant_static_key_inc(key, &dormant_object_self, NULL);
}

/** As dormant_static_key_dec() for the calling object, without details of the failure. */
static inline int static_key_slow_dec(struct static_key *key)
{
	return dormant_static_key_dec(key, &dormant_object_self, NULL);
}

/** As dormant_static_key_batch() for the calling object, without details of the failure. */
static inline int static_key_batch(const struct static_key_change *changes, size_t count)
{
	return dormant_static_key_batch(changes, count, &dormant_object_self, NULL);
}

#ifdef __cplusplus
}
#endif

#include <dormant/static_branch.h>

#endif
