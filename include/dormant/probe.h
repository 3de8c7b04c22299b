/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the machine and the process allow: every way to write text and to synchronise the cores,
 * tried on the library's own probe site. `dormant doctor` shows it.
 */
#ifndef DORMANT_PROBE_H
#define DORMANT_PROBE_H

#include <stddef.h>

#include <dormant/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was tried. */
enum dormant_probe_kind {
	DORMANT_PROBE_WRITER, /**< a way to change text */
	DORMANT_PROBE_SYNC,   /**< a way to make every thread see it */
};

/** The outcome of one trial. */
struct dormant_probe {
	enum dormant_probe_kind kind; /**< what was tried */
	const char *name;             /**< its name, as in DORMANT_WRITER */
	int result;                   /**< 0, or the negative errno it failed with */
	int chosen;                   /**< 1: the one that patches use now */
	const char *leaves;           /**< how it works and what it leaves behind, in a phrase */
	int whole; /**< 1: a writer that changes several bytes of a site at once, as values and
		      calls need while other threads run */
};

/**
 * Tries every writer and core sync on the library's own text, and puts the probe site back.
 *
 * Units: returns how many there are, of which the first @p max are stored; the strings are
 * constants. Errors: in each result; -EOPNOTSUPP is a write that succeeded and changed nothing that
 * runs, as under an emulator. Threads: any. Signals: not from a handler. Blocks: on the library's
 * lock, and until every CPU has run the caller once. Since: 0.1. Source: dormant.
 */
DORMANT_API size_t dormant_probe_all(struct dormant_probe *probes, size_t max);

#ifdef __cplusplus
}
#endif

#endif
