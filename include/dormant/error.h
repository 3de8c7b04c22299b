/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What went wrong, for callers that want more than a number.
 *
 * Every function of libdormant that can fail returns 0 or a negative errno. Those that change
 * something also take an optional `struct dormant_error *`: NULL, or a place that the library
 * fills when (and only when) it returns a failure. The struct holds no pointer that must be freed.
 */
#ifndef DORMANT_ERROR_H
#define DORMANT_ERROR_H

#include <stdint.h>

/** Marks what libdormant exports. */
#define DORMANT_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** The step of a patch that failed. */
enum dormant_phase {
	DORMANT_PHASE_NONE = 0, /**< no failure */
	DORMANT_PHASE_ARGUMENT, /**< the call itself: a count below zero, an unknown operation */
	DORMANT_PHASE_OBJECT,   /**< an object's site table could not be used */
	DORMANT_PHASE_MEMORY,   /**< no memory for the list of sites */
	DORMANT_PHASE_VERIFY,   /**< a site does not hold one of its two legal instructions */
	DORMANT_PHASE_WRITE,    /**< no writer could change the text; the text is as before */
	DORMANT_PHASE_SYNC, /**< other threads could not be made to see it; the text is as before */
	DORMANT_PHASE_ROLLBACK, /**< the text could not be put back: `site` is the first such site
				 */
};

/** One failure. Text fields are always terminated; a field that does not apply is 0 or "". */
struct dormant_error {
	int code;                 /**< the negative errno that was returned */
	enum dormant_phase phase; /**< the step that failed */
	const void *key;          /**< the key that was being changed */
	uintptr_t site;           /**< run-time address of the site */
	uint8_t expected[2];      /**< the two legal first bytes of the site */
	uint8_t found;            /**< the byte that was there instead */
	char key_name[64];        /**< the key's name, where its object recorded one */
	char object[128];         /**< file of the object that holds the site */
	char message[384];        /**< one line: what failed, where, and what to do */
};

/**
 * Name of a phase in lower case, such as "verify".
 *
 * Units: none. Errors: "unknown" for a value that is not a phase. Threads: any. Signals: safe.
 * Blocks: never. Since: 0.1. Source: dormant.
 */
DORMANT_API const char *dormant_phase_name(enum dormant_phase phase);

#ifdef __cplusplus
}
#endif

#endif
