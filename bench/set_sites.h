/* SPDX-License-Identifier: MIT */
/*
 * What bench/set.c sets: any number of sites of one immediate value 64 bytes apart, which no
 * compiler would lay out so; and a hundred values and a hundred static calls of one site each.
 */
#ifndef BENCH_SET_SITES_H
#define BENCH_SET_SITES_H

#include <dormant/batch.h>

#define SITES_BYTES 64

#define SITES_TEXT_(name)  #name
#define SITES_TEXT(number) SITES_TEXT_(number)

/* Defines the value @name of 4 bytes, and @count functions at name_site that return it. As in
 * compiled code each has its own pointer to the variable, an entry in the table, and nothing else.
 */
#define DEFINE_VALUE_SITES(name, count)     \
	DEFINE_IMV(uint32_t, name);         \
	SITES_ASM(#name, SITES_TEXT(count)) \
	extern unsigned char name##_site[] __attribute__((visibility("hidden")))

#define SITES_ASM(name, count)                                                          \
	__asm__(".pushsection .text." name ",\"ax\",@progbits\n"                        \
		"	.balign 4096, 0xcc\n"                                                 \
		"	.hidden " name "_site\n"                                        \
		"	.globl " name "_site\n" name "_site:\n"                         \
		"	.rept " count "\n"                                              \
		"1:	.byte 0xe9\n" /* jmp 2f; patched, mov $imm32,%eax */            \
		"	.long 2f - (1b + 5)\n"                                                \
		"3:	ret\n"                                                              \
		"2:	movq 4f(%rip), %rax\n"                                              \
		"	movl (%rax), %eax\n"                                                  \
		"	jmp 3b\n"                                                             \
		"	.balign 64, 0xcc\n"                                                   \
		"	.pushsection .data.rel.ro,\"aw\"\n"                                   \
		"	.balign 8\n"                                                          \
		"4:	.quad " name "__imv\n"                                          \
		"	.popsection\n"                                                        \
		"	.pushsection dormant_operands,\"ao\",@progbits," name "_site\n" \
		"	.balign 8\n"                                                          \
		"	.long 4b - . + 2\n" /* DORMANT_OPERAND_VALUE4 */                \
		"	.long 1b - .\n"                                                       \
		"	.long 5f - .\n"                                                       \
		"	.long 2b - .\n"                                                       \
		"	.popsection\n"                                                        \
		"	.endr\n"                                                              \
		"	.popsection\n"                                                        \
		"	.pushsection .rodata." name ",\"a\"\n"                          \
		"5:	.asciz \"" name "\"\n"                                          \
		"	.popsection\n");

/* What the @n-th site of those at @first reads. */
static inline uint32_t sites_read(unsigned char *first, unsigned long n)
{
	return ((uint32_t(*)(void))(void *)(first + n * SITES_BYTES))();
}

/* @what(00) to @what(99) */
/* clang-format off */
#define TEN(what, tens) \
	what(tens##0) what(tens##1) what(tens##2) what(tens##3) what(tens##4) \
	what(tens##5) what(tens##6) what(tens##7) what(tens##8) what(tens##9)
#define HUNDRED(what) \
	TEN(what, 0) TEN(what, 1) TEN(what, 2) TEN(what, 3) TEN(what, 4) \
	TEN(what, 5) TEN(what, 6) TEN(what, 7) TEN(what, 8) TEN(what, 9)
/* clang-format on */

#endif
