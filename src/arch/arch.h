/* SPDX-License-Identifier: MIT */
/*
 * The contract of a back end: what the rest of the library needs from one architecture. Each has
 * the same two files:
 *
 *   <A>/insn.c   pure encoding and decoding, no operating system: built and tested on every host
 *   <A>/live.c   what touches running code: the probe site, caches, emulators
 */
#ifndef DORMANT_SRC_ARCH_H
#define DORMANT_SRC_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two legal first bytes of a site: only this byte of a site ever changes, so one store is one
 * complete change, and every mixture of old and new bytes is one of the two instructions. */
struct insn_forms {
	uint8_t off; /* falls through */
	uint8_t on;  /* jumps */
};
extern const struct insn_forms insn_site_forms;

/* Length of a site's instruction, in bytes. */
extern const size_t insn_site_bytes;

/* Which form stands at @code: 1 jumps, 0 falls through, -1 neither. Reads insn_site_bytes bytes. */
int insn_site_decode(const uint8_t *code);

/* The first byte of a site that jumps, or does not. */
uint8_t insn_site_encode(bool jumps);

/* Address of the library's own site, off in the file, and a call that runs it: true if it jumped.
 */
uint8_t *live_probe_site(void);
bool live_probe_run(void);

/* Runs on the thread that wrote, after the bytes and before the core sync: makes instruction fetch
 * see @bytes bytes at @address (caches, an emulator's translations). */
void live_code_changed(uintptr_t address, size_t bytes);

/* True where the machine executes one thread at a time out of translations that live_code_changed()
 * has dropped, so that no core sync is needed (valgrind). */
bool live_is_serialized(void);

#endif
