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

#include <dormant/object.h>

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

/* ---- operand sites: what the library changes there lies in aligned quadwords ---- */

/* One: its instruction, and where that goes by memory. */
struct insn_operand {
	enum dormant_operand_kind kind; /* a value, a call or a trampoline */
	const uint8_t *code;
	uintptr_t home; /* a value's load; what a call reaches in the file; a trampoline's cell */
};

/* How many bytes of its instruction change. */
#define INSN_OPERAND_BYTES 5

enum insn_form {
	INSN_FOREIGN = -1, /* neither of: */
	INSN_HOME,         /* by memory, as in the file */
	INSN_LIVE,         /* the value or the target is in the instruction */
};

/* A change of one aligned quadword: the bytes of @mask become those of @bits. */
struct insn_store {
	uintptr_t address;
	uint64_t mask, bits;
};

/* Whether an entry can be a site at all, in a text that is as in the file: its bytes are the home
 * form, and lie in one quadword. For the others the compiler's code is right as it is. */
bool insn_operand_fits(const struct insn_operand *operand);

/* Which form stands there. Reads up to 13 bytes of code, and 3 of a value's home. */
enum insn_form insn_operand_form(const struct insn_operand *operand);

/* The stores that make a site, which is in one of its forms, hold @value: an immediate value's
 * bits, or the address of a function (0: none). A target that no direct branch reaches is reached
 * by the home form. Returns their number, 1 or 2: of two, the first changes what the site does not
 * run before the second. */
#define INSN_STORES_MAX 2
size_t insn_operand_encode(const struct insn_operand *operand, uint64_t value,
			   struct insn_store stores[INSN_STORES_MAX]);

/* Address of the library's own site, off in the file, and a call that runs it: true if it jumped.
 */
uint8_t *live_probe_site(void);
bool live_probe_run(void);

/* The same for a value: an operand of four bytes in one quadword, whose address is returned, and a
 * call that runs its instruction. */
uint8_t *live_probe_operand(void);
uint32_t live_probe_value(void);

/* Runs on the thread that wrote, after the bytes and before the core sync: makes instruction fetch
 * see @bytes bytes at @address (caches, an emulator's translations). */
void live_code_changed(uintptr_t address, size_t bytes);

/* True where the machine executes one thread at a time out of translations that live_code_changed()
 * has dropped, so that no core sync is needed (valgrind). */
bool live_is_serialized(void);

#endif
