/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Static keys whose last reference is given back with a delay, so that a user who comes and goes
 * does not patch the text each time. The names are those of the kernel's rate-limited jump labels.
 *
 * The library starts no thread. A reference that is due is given back by the next call that toggles
 * any key and finds it due, by static_key_deferred_flush(), or by dormant_deferred_run(), which a
 * program calls from its event loop or a timer of its own.
 */
#ifndef DORMANT_STATIC_KEY_DEFERRED_H
#define DORMANT_STATIC_KEY_DEFERRED_H

#include <dormant/static_key.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A reference that waits to be given back. All but the interval is the library's. */
struct dormant_deferred {
	uint64_t interval_ns;          /**< how long the last reference is kept */
	uint64_t due_ns;               /**< CLOCK_MONOTONIC time; 0 while none waits */
	struct static_key *key;        /**< the key, while one waits */
	struct dormant_deferred *next; /**< the next that waits */
};

/** A plain key with a deferred dec. */
struct static_key_deferred {
	struct static_key key;        /**< the key */
	struct dormant_deferred work; /**< its delay */
};

/** A key with a deferred dec, on by default. */
struct static_key_true_deferred {
	struct static_key_true key;   /**< the key */
	struct dormant_deferred work; /**< its delay */
};

/** A key with a deferred dec, off by default. */
struct static_key_false_deferred {
	struct static_key_false key;  /**< the key */
	struct dormant_deferred work; /**< its delay */
};

/** Defines a key with a deferred dec; its sites name `&name.key`. */
#define DEFINE_STATIC_KEY_DEFERRED_TRUE(name, interval)                       \
	struct static_key_true_deferred name = {STATIC_KEY_TRUE_INIT,         \
						{(interval), 0, NULL, NULL}}; \
	DORMANT_KEY_ENTRY_(name, &name.key.key, 0, DORMANT_KEY_TRUE)
#define DEFINE_STATIC_KEY_DEFERRED_FALSE(name, interval)                       \
	struct static_key_false_deferred name = {STATIC_KEY_FALSE_INIT,        \
						 {(interval), 0, NULL, NULL}}; \
	DORMANT_KEY_ENTRY_(name, &name.key.key, 0, 0)

/**
 * Gives a reference back; where it is the last, only after @p work's interval. Until then the key
 * stays on, and a new static_branch_inc() patches nothing.
 *
 * Units: nanoseconds. Errors: -ERANGE when no reference is held, or only the one that waits, and
 * nothing is changed. With an interval of 0 as dormant_static_key_dec(). Threads: any. Signals:
 * safe. Blocks: on the library's lock. Since: 0.1. Source: the kernel's
 * static_key_slow_dec_deferred().
 */
DORMANT_API int dormant_static_key_deferred_dec(struct static_key *key,
						struct dormant_deferred *work,
						struct dormant_object *holder,
						struct dormant_error *error);

/**
 * Gives the waiting reference back now. To be called before the key's memory goes.
 *
 * Units: none. Errors: 0 also when none waits; else as dormant_static_key_dec(), and the reference
 * waits for another interval. Threads: any. Signals: safe. Blocks: on the library's lock.
 * Since: 0.1. Source: the kernel's static_key_deferred_flush().
 */
DORMANT_API int dormant_static_key_deferred_flush(struct dormant_deferred *work,
						  struct dormant_error *error);

/**
 * Gives back every reference that is due, and tells when to call again.
 *
 * Units: returns nanoseconds until the next is due, -1 when none waits. Errors: a reference that
 * can not be given back (see static_branch_dec()) waits for another interval. Threads: any.
 * Signals: safe. Blocks: on the library's lock. Since: 0.1. Source: dormant.
 */
DORMANT_API int64_t dormant_deferred_run(void);

#ifdef __cplusplus
}
#endif

/** The kernel's names, for a pointer to a deferred key of any of the three types. */
#define jump_label_rate_limit(x, interval) ((void)((x)->work.interval_ns = (interval)))
#define static_branch_deferred_inc(x)      static_branch_inc(&(x)->key)
#define static_key_slow_dec_deferred(x)                                                            \
	dormant_static_key_deferred_dec(DORMANT_KEY_(&(x)->key), &(x)->work, &dormant_object_self, \
					NULL)
#define static_branch_slow_dec_deferred(x) static_key_slow_dec_deferred(x)
#define static_key_deferred_flush(x)       dormant_static_key_deferred_flush(&(x)->work, NULL)

#endif
