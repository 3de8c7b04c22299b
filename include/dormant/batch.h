/* SPDX-License-Identifier: MIT */
/**
 * @file
 * One patch for changes of all kinds: keys, immediate values and static calls change together or
 * not at all.
 *
 *     struct dormant_change changes[] = {
 *             DORMANT_CHANGE_KEY(&fast_path.key, STATIC_KEY_ENABLE),
 *             DORMANT_CHANGE_IMV(limit, 100),
 *             DORMANT_CHANGE_CALL(parse, parse_fast),
 *     };
 *     int result = dormant_batch(changes, 3, &dormant_object_self, NULL);  // or NULL, as a holder
 *
 * A thread may meet some sites before and some after the patch while it is under way; when it has
 * returned, all are after.
 */
#ifndef DORMANT_BATCH_H
#define DORMANT_BATCH_H

#include <dormant/imv.h>
#include <dormant/static_call.h>
#include <dormant/static_key.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a change is about. */
enum dormant_change_kind {
	DORMANT_CHANGES_KEY,  /**< `key` counts */
	DORMANT_CHANGES_IMV,  /**< `imv` counts */
	DORMANT_CHANGES_CALL, /**< `call` counts */
};

/** One change of a batch; made by the macros below. */
struct dormant_change {
	enum dormant_change_kind kind;  /**< which member counts; the others are zero */
	struct static_key_change key;   /**< what to do to a key */
	struct imv_change imv;          /**< what to set a value to */
	struct static_call_change call; /**< what a static call is to reach */
};

/** Does @p operation to @p key, a `struct static_key *`. */
#define DORMANT_CHANGE_KEY(key, operation)                               \
	{                                                                \
		DORMANT_CHANGES_KEY, {(key), (operation)}, {NULL, 0, 0}, \
		{                                                        \
			NULL, NULL                                       \
		}                                                        \
	}
/** Sets the immediate value @p name. */
#define DORMANT_CHANGE_IMV(name, to)                                                  \
	{                                                                             \
		DORMANT_CHANGES_IMV, {NULL, STATIC_KEY_ENABLE}, IMV_CHANGE(name, to), \
		{                                                                     \
			NULL, NULL                                                    \
		}                                                                     \
	}
/** Makes the static call @p name reach @p to. */
#define DORMANT_CHANGE_CALL(name, to)                                          \
	{                                                                      \
		DORMANT_CHANGES_CALL, {NULL, STATIC_KEY_ENABLE}, {NULL, 0, 0}, \
			STATIC_CALL_CHANGE(name, to)                           \
	}

/**
 * Makes all changes in one patch, or none. Each is applied to the state that those before it left.
 *
 * Units: @p count entries. Errors: as the calls for each kind; the error names what was refused.
 * Threads: any; no other change falls in between. Signals: safe. Blocks: on the library's lock; one
 * core sync, or two where a value of 8 bytes comes into an instruction that loaded it before. The
 * first change of several bytes beside other threads has one more, to try its writer.
 * @p holder: as for dormant_static_key_inc(). Since: 0.1. Source: dormant.
 */
DORMANT_API int dormant_batch(const struct dormant_change *changes, size_t count,
			      struct dormant_object *holder, struct dormant_error *error);

#ifdef __cplusplus
}
#endif

#endif
