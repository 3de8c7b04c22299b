/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A site on x86-64: five bytes of which only the first ever changes.
 *
 *     a9 <rel32>    test $imm32,%eax    off: falls through (an asm statement clobbers flags anyway)
 *     e9 <rel32>    jmp  target         on
 *
 * Both are five bytes long and end in the same four, so each mixture of old and new bytes is one
 * of the two: a store of one byte can tear nothing, at any alignment.
 */
#ifndef DORMANT_ARCH_X86_64_H
#define DORMANT_ARCH_X86_64_H

#define DORMANT_SITE_BYTES      5    /**< length of a site's instruction */
#define DORMANT_SITE_OPCODE_OFF 0xa9 /**< test $imm32,%eax */
#define DORMANT_SITE_OPCODE_ON  0xe9 /**< jmp rel32 */

/*
 * The text of a site. The arguments are asm operands by number: the opcode in the file, the address
 * of the key pointer, the flags, the address of the name; @target is the label's own spelling.
 *
 *  - ".reloc R_X86_64_NONE" adds no byte; it makes two functions that differ only in their key
 *    different to a linker that folds identical code.
 *  - "ao?" gives the entry the life of its site: SHF_LINK_ORDER for --gc-sections, and membership
 *    of the group of an inline function.
 *  - dormant_sites_built (see object.h) is set once a unit: the assembler refuses to set it again
 *    after a reference to it.
 *  - %P prints a bare symbol for every code model, where %c fails with -mcmodel=large.
 */
#define DORMANT_SITE_ASM(opcode, pointer, flags, name, target)              \
	".Ldormant_site%=:\n"                                               \
	"1:  .byte %c" opcode "\n"                                          \
	"  .long " target " - (1b + 5)\n"                                   \
	"  .reloc 1b, R_X86_64_NONE, %P" pointer "\n"                       \
	"  .pushsection dormant_sites,\"ao?\",@progbits,.Ldormant_site%=\n" \
	"  .balign 4\n"                                                     \
	"  .long 1b - .\n"                                                  \
	"  .long %P" pointer " - . + %c" flags "\n"                         \
	"  .long %P" name " - .\n"                                          \
	"  .popsection\n"                                                   \
	"  .ifndef dormant_sites_built\n"                                   \
	"  .weak dormant_sites_built\n"                                     \
	"  .hidden dormant_sites_built\n"                                   \
	"  .set dormant_sites_built, 1\n"                                   \
	"  .endif\n"

/* The same site as a value, where asm goto can not be used: sets operand 0 to 0 (off) or 1 (on). */
#define DORMANT_SITE_ASM_VALUE                     \
	DORMANT_SITE_ASM("1", "2", "3", "4", "2f") \
	"  xorl %0,%0\n"                           \
	"  jmp 3f\n"                               \
	"2:  movl $1,%0\n"                         \
	"3:\n"

#endif
