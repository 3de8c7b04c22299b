/* SPDX-License-Identifier: MIT */
/*
 * The way of reading an immediate value that was not chosen: two slots and a flip. Kept here, so
 * that the choice can be measured again; the library knows nothing of it.
 *
 *     b8+r <A>      mov  $A,%r       slot A (48 b8+r and 8 bytes for a value of 8)
 *     a9 <rel32>    test $imm,%eax   the value is B          e9 <rel32>  jmp 1f: it is A
 *     b8+r <B>      mov  $B,%r       slot B
 *     1:
 *
 * A set rewrites the slot that is not in use, makes all threads see it (a core sync), changes the
 * one byte of the flip, and makes all threads see that.
 */
#ifndef BENCH_TWO_SLOTS_H
#define BENCH_TWO_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TWO_SLOTS_FLIP_B 0xa9
#define TWO_SLOTS_FLIP_A 0xe9

/* A site, as its instructions record it. */
struct two_slots {
	unsigned char *first;  /* the move of slot A */
	unsigned char *flip;   /* the flip */
	unsigned char *second; /* the move of slot B */
	unsigned char *end;    /* what follows */
};

#define TWO_SLOTS_ASM_(move, flip, record, output) \
	__asm__ volatile("11: " move "\n"          \
			 "12: .byte " flip "\n"    \
			 "    .long 14f - 13f\n"   \
			 "13: " move "\n"          \
			 "14:\n" record            \
			 : "=R"(output)            \
			 :                         \
			 : "cc")

/* Reads into a uint32_t (values of 1, 2 and 4 bytes) or a uint64_t. @flip is "0xa9" or "0xe9". */
#define TWO_SLOTS_READ_4(output, flip, record) TWO_SLOTS_ASM_("movl $0, %k0", flip, record, output)
#define TWO_SLOTS_READ_8(output, flip, record) \
	TWO_SLOTS_ASM_("movabsq $0, %q0", flip, record, output)

/* A @record: makes the site a `struct two_slots` of this name. The read then occurs once. */
#define TWO_SLOTS_RECORD(site)              \
	"    .pushsection .data.rel.ro\n"   \
	"    .balign 8\n"                   \
	"    .globl " site "\n"             \
	"    .hidden " site "\n" site ":\n" \
	"    .quad 11b, 12b, 13b, 14b\n"    \
	"    .popsection\n"
#define TWO_SLOTS_NO_RECORD ""

/* How the bytes of a site are written. */
enum two_slots_writer { TWO_SLOTS_PROC_MEM, TWO_SLOTS_MPROTECT, TWO_SLOTS_REMAP };

/* Registers for core syncs, and opens what the writers need. False when that is refused. */
bool two_slots_prepare(void);

/* The steps of a set: @bytes_written of the value's @bytes come into the slot not in use; then the
 * other half, which ends the set. */
bool two_slots_write(const struct two_slots *site, uint64_t value, unsigned bytes_written,
		     enum two_slots_writer writer);
bool two_slots_flip(const struct two_slots *site, enum two_slots_writer writer);

/* A whole set. */
bool two_slots_set(const struct two_slots *site, uint64_t value, unsigned bytes,
		   enum two_slots_writer writer);

/* Writes @length bytes of text through /proc/self/mem. */
bool two_slots_write_text(unsigned char *text, const void *bytes, size_t length);

#endif
