/* SPDX-License-Identifier: MIT */
/*
 * Running code on x86-64. Caches need nothing: instruction fetch is coherent with stores. valgrind
 * runs translations, and has to be asked to drop those of the bytes that changed.
 */
#include "../arch.h"

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#define HAVE_VALGRIND 1
#endif
#endif

/* A site like any other, without an entry in a table: the writers are tried on it. */
__asm__(".pushsection .text.dormant_probe,\"ax\",@progbits\n"
	".balign 16\n"
	".hidden dormant_probe_run\n"
	".globl dormant_probe_run\n"
	".type dormant_probe_run,@function\n"
	"dormant_probe_run:\n"
	"	xorl %eax,%eax\n"
	".hidden dormant_probe_site\n"
	".globl dormant_probe_site\n"
	"dormant_probe_site:\n"
	"	.byte 0xa9\n" /* test $imm32,%eax */
	"	.long 1f - (dormant_probe_site + 5)\n"
	"	ret\n"
	"1:	movl $1,%eax\n"
	"	ret\n"
	".size dormant_probe_run, . - dormant_probe_run\n"
	".balign 8\n"
	".hidden dormant_probe_value\n"
	".globl dormant_probe_value\n"
	".type dormant_probe_value,@function\n"
	"dormant_probe_value:\n"
	"	nopl (%rax)\n"
	"	.byte 0xb8\n" /* mov $imm32,%eax */
	".hidden dormant_probe_operand\n"
	".globl dormant_probe_operand\n"
	"dormant_probe_operand:\n"
	"	.long 0\n"
	"	ret\n"
	".size dormant_probe_value, . - dormant_probe_value\n"
	".popsection\n");

extern uint8_t dormant_probe_site[] __attribute__((visibility("hidden")));
int dormant_probe_run(void) __attribute__((visibility("hidden")));
extern uint8_t dormant_probe_operand[] __attribute__((visibility("hidden")));
uint32_t dormant_probe_value(void) __attribute__((visibility("hidden")));

uint8_t *live_probe_site(void)
{
	return dormant_probe_site;
}

bool live_probe_run(void)
{
	return dormant_probe_run() != 0;
}

uint8_t *live_probe_operand(void)
{
	return dormant_probe_operand;
}

uint32_t live_probe_value(void)
{
	return dormant_probe_value();
}

void live_code_changed(uintptr_t address, size_t bytes)
{
#ifdef HAVE_VALGRIND
	VALGRIND_DISCARD_TRANSLATIONS(address, bytes);
#else
	(void)address;
	(void)bytes;
#endif
}

bool live_is_serialized(void)
{
#ifdef HAVE_VALGRIND
	return RUNNING_ON_VALGRIND != 0;
#else
	return false;
#endif
}
