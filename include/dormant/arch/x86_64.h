/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A site of a key on x86-64: five bytes of which only the first ever changes.
 *
 *     a9 <rel32>    test $imm32,%eax    off: falls through (an asm statement clobbers flags anyway)
 *     e9 <rel32>    jmp  target         on
 *
 * Both are five bytes long and end in the same four, so each mixture of old and new bytes is one
 * of the two: a store of one byte can tear nothing, at any alignment.
 *
 * An operand site, the site of an immediate value or of a call, is five bytes inside one aligned
 * quadword, and changes by one store of that quadword:
 *
 *     e9 <rel32>    jmp  load       a value of up to 4 bytes, by memory: as in the file
 *     b8+r <imm32>  mov  $imm,%r    the same, in the instruction
 *     e8 <rel32>    call function   (e9 for a tail call; the trampoline, where it is too far away)
 *
 * What must be skipped to bring the five bytes into one quadword is filled with CS prefixes, which
 * 64-bit code ignores: so a site is one instruction wherever it falls.
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

/*
 * What every operand site has: an entry in the table, `home` being the text of the last word.
 * DORMANT_OPERAND_CODE_ labels the instruction; it stands right before it.
 */
#define DORMANT_OPERAND_PAD_  "  .p2align 3, 0x2e, 4\n"
#define DORMANT_OPERAND_CODE_ ".Ldormant_operand%=:\n1:\n"
#define DORMANT_OPERAND_ENTRY_(owner, kind, name, home)                           \
	"  .pushsection dormant_operands,\"ao?\",@progbits,.Ldormant_operand%=\n" \
	"  .balign 8\n"                                                           \
	"  .long %P" owner " - . + %c" kind "\n"                                  \
	"  .long 1b - .\n"                                                        \
	"  .long " name "\n"                                                      \
	"  .long " home "\n"                                                      \
	"  .popsection\n"

/*
 * The load that a value's site reaches in the file lies behind the function, in its section: it
 * lives and dies with it. @load moves from (%q0) to %k0 or %q0, the register of operand 0; the
 * library reads its number out of the first instruction. Operands: 1 the address of the pointer to
 * the value, 2 the kind, 3 the address of the name.
 */
#define DORMANT_VALUE_ASM_(load)     \
	"  .byte 0xe9\n"             \
	"  .long 2f - (1b + 5)\n"    \
	"  .subsection 1\n"          \
	"2:  movq %P1(%%rip), %q0\n" \
	"  " load "\n"               \
	"  jmp 3f\n"                 \
	"  .previous\n" DORMANT_OPERAND_ENTRY_("1", "2", "%P3 - .", "2b - .")

/* Values of 1, 2 and 4 bytes, zero-extended to the four of an immediate operand. */
#define DORMANT_VALUE_ASM(load) \
	DORMANT_OPERAND_PAD_ DORMANT_OPERAND_CODE_ DORMANT_VALUE_ASM_(load) "3:\n"
#define DORMANT_VALUE1_LOAD "movzbl (%q0), %k0"
#define DORMANT_VALUE2_LOAD "movzwl (%q0), %k0"
#define DORMANT_VALUE4_LOAD "movl (%q0), %k0"

/*
 * A value of 8 bytes: the jump lies in the last five bytes of one quadword, the operand is the
 * next. In the instruction, the five are three prefixes and the two bytes of movabs. So the operand
 * is stored while nobody runs it, or alone; and the rest by one store of the first quadword.
 */
#define DORMANT_VALUE8_ASM                                           \
	"  .p2align 3\n"                                             \
	"  nopl (%%rax)\n" DORMANT_OPERAND_CODE_ DORMANT_VALUE_ASM_( \
		"movq (%q0), %q0") "  .quad 0\n3:\n"

/* The register of a value: one of the eight whose number fits the opcode byte. */
#define DORMANT_VALUE_REGISTER "=R"

/*
 * Stands before a call that the compiler makes: where nothing comes between, that call is the site.
 * The padding is prefixes where no instruction that may come between is long enough to overflow
 * with four of them, which is so for what fills registers; else it is one nop.
 */
#define DORMANT_CALL_ASM(owner, kind) \
	DORMANT_OPERAND_PAD_ DORMANT_OPERAND_CODE_ DORMANT_OPERAND_ENTRY_(owner, kind, "0", "0")
#define DORMANT_CALL_LONG_ASM(owner, kind) \
	"  .p2align 3, , 4\n" DORMANT_OPERAND_CODE_ DORMANT_OPERAND_ENTRY_(owner, kind, "0", "0")

/* What such a call of @trampoline reaches in this object, resolved by the linker as the call is:
 * the trampoline, or an entry of the procedure linkage table. Belongs to no place in the code. */
#define DORMANT_CALL_HOME_ASM(trampoline) \
	DORMANT_OPERAND_CODE_             \
	DORMANT_OPERAND_ENTRY_("0", "1", "%P2 - .", trampoline "@PLT")

/* Registers that hold the first arguments, and how many there are. */
#define DORMANT_ARGUMENT_1 "rdi"
#define DORMANT_ARGUMENT_2 "rsi"
#define DORMANT_ARGUMENT_3 "rdx"
#define DORMANT_ARGUMENT_4 "rcx"
#define DORMANT_ARGUMENT_5 "r8"
#define DORMANT_ARGUMENT_6 "r9"

/*
 * A trampoline, as a function of its own: it jumps by memory in the file, and directly once
 * patched. A static call without a function goes to the return behind it. Where the processor
 * checks the targets of indirect branches, it has to begin with one: a procedure linkage table
 * branches so.
 */
#if defined(__CET__) && (__CET__ & 1)
#define DORMANT_TRAMPOLINE_START_  "  endbr64\n  .byte 0x0f, 0x1f, 0x40, 0x00\n" /* nop */
#define DORMANT_TRAMPOLINE_NOTHING 16 /**< from its address to the return */
#else
#define DORMANT_TRAMPOLINE_START_
#define DORMANT_TRAMPOLINE_NOTHING 8 /**< from its address to the return */
#endif
#define DORMANT_TRAMPOLINE_ASM(name)                                                       \
	"  .pushsection .text.dormant_trampoline_" name ",\"ax\",@progbits\n"              \
	"  .balign 8\n"                                                                    \
	"  .globl dormant_trampoline_" name "\n"                                           \
	"  .type dormant_trampoline_" name ",@function\n"                                  \
	"dormant_trampoline_" name ":\n"                                                   \
	"  .cfi_startproc\n" DORMANT_TRAMPOLINE_START_ ".Ldormant_trampoline_" name ":\n"  \
	"  jmp *dormant_cell_" name "(%rip)\n"                                             \
	"  .balign 8, 0xcc\n"                                                              \
	"  ret\n"                                                                          \
	"  .cfi_endproc\n"                                                                 \
	"  .size dormant_trampoline_" name ", . - dormant_trampoline_" name "\n"           \
	"  .popsection\n"                                                                  \
	"  .pushsection .data.rel.ro.dormant,\"aw\",@progbits\n"                           \
	"  .balign 8\n"                                                                    \
	".Ldormant_owner_" name ":  .quad dormant_static_call_" name "\n"                  \
	"  .popsection\n"                                                                  \
	"  .pushsection .rodata.dormant,\"a\",@progbits\n"                                 \
	".Ldormant_name_" name ":  .string \"" name "\"\n"                                 \
	"  .popsection\n"                                                                  \
	"  .pushsection dormant_operands,\"ao\",@progbits,.Ldormant_trampoline_" name "\n" \
	"  .balign 8\n"                                                                    \
	"  .long .Ldormant_owner_" name " - . + 5\n"                                       \
	"  .long .Ldormant_trampoline_" name " - .\n"                                      \
	"  .long .Ldormant_name_" name " - .\n"                                            \
	"  .long .Ldormant_trampoline_" name " - .\n"                                      \
	"  .popsection\n"

#endif
