/* SPDX-License-Identifier: MIT */
/*
 * Any number of sites of one key at a fixed distance, which no compiler would lay out so: each is a
 * function of its own that returns 1 where its site jumps, else 0. As in compiled code each has its
 * own key pointer, an entry in the table, and nothing else.
 */
#ifndef BENCH_SITES_H
#define BENCH_SITES_H

#include <dormant/static_key.h>

#define DENSE_BYTES 64
#define PAGE_BYTES  4096

#define SITES_TEXT_(name)  #name
#define SITES_TEXT(number) SITES_TEXT_(number)

/* Defines the key @name, off by default, and @count functions at name_site, @stride bytes apart. */
#define DEFINE_SITES(name, count, stride)                       \
	DEFINE_STATIC_KEY_FALSE(name);                          \
	SITES_ASM(#name, SITES_TEXT(count), SITES_TEXT(stride)) \
	extern unsigned char name##_site[] __attribute__((visibility("hidden")))

#define SITES_ASM(name, count, stride)                           \
	__asm__(".pushsection .text." name ",\"ax\",@progbits\n" \
		"	.balign 4096, 0xcc\n"                          \
		"	.hidden " name "_site\n"                 \
		"	.globl " name "_site\n" name "_site:\n"  \
		"	.rept " count "\n"                       \
		"1:	.byte 0xa9\n" /* test $imm32,%eax */     \
		"	.long 4f - (1b + 5)\n"                         \
		"	xorl %eax,%eax\n"                              \
		"	ret\n"                                         \
		"	.balign " stride ", 0xcc\n"              \
		"	.pushsection .data.rel.ro,\"aw\"\n"            \
		"	.balign 8\n"                                   \
		"2:	.quad " name "\n"                        \
		"	.popsection\n"                                 \
		"	.pushsection dormant_sites,\"ao\","            \
		"@progbits," name "_site\n"                      \
		"	.balign 4\n"                                   \
		"	.long 1b - .\n"                                \
		"	.long 2b - .\n"                                \
		"	.long 3f - .\n"                                \
		"	.popsection\n"                                 \
		"	.endr\n"                                       \
		"4:	movl $1,%eax\n"                              \
		"	ret\n"                                         \
		"	.popsection\n"                                 \
		"	.pushsection .rodata." name ",\"a\"\n"   \
		"3:	.asciz \"&" name "\"\n"                  \
		"	.popsection\n");

/* Runs the @n-th function of those at @first. */
static inline int sites_run(unsigned char *first, unsigned long n, unsigned long stride)
{
	return ((int (*)(void))(void *)(first + n * stride))();
}

#endif
