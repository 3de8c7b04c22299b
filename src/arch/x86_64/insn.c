/* SPDX-License-Identifier: MIT */
/*
 * The two forms of a site on x86-64:
 *
 *     a9 <rel32>    test $imm32,%eax    falls through
 *     e9 <rel32>    jmp  rel32          jumps
 */
#include "../arch.h"

const struct insn_forms insn_site_forms = {.off = 0xa9, .on = 0xe9};
const size_t insn_site_bytes = 5;

int insn_site_decode(const uint8_t *code)
{
	if (code[0] == insn_site_forms.on)
		return 1;
	return code[0] == insn_site_forms.off ? 0 : -1;
}

uint8_t insn_site_encode(bool jumps)
{
	return jumps ? insn_site_forms.on : insn_site_forms.off;
}
