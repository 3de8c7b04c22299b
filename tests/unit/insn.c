/* SPDX-License-Identifier: MIT */
/* The two instructions of a site, checked against their bytes and for every other first byte. */
#include <string.h>

#include "arch/arch.h"
#include "tap.h"

/* What stands in front of the bytes under test, and after them. */
#define GUARD 0x5a

static int decode(uint8_t first, const uint8_t rest[4])
{
	uint8_t code[7] = {GUARD, first, rest[0], rest[1], rest[2], rest[3], GUARD};
	uint8_t before[sizeof(code)];
	int form;

	memcpy(before, code, sizeof(code));
	form = insn_site_decode(code + 1);
	return memcmp(code, before, sizeof(code)) == 0 ? form : -2;
}

/* The number of first bytes for which decoding gives @form. */
static int count_decoded(int form, const uint8_t rest[4])
{
	int found = 0;

	for (int byte = 0; byte < 256; byte++)
		found += decode((uint8_t)byte, rest) == form;
	return found;
}

static void test_every_byte(const char *name, const uint8_t rest[4])
{
	ok(decode(0xe9, rest) == 1, "e9 jumps, distance %s", name);
	ok(decode(0xa9, rest) == 0, "a9 falls through, distance %s", name);
	ok(count_decoded(-1, rest) == 254, "254 other first bytes are neither, distance %s", name);
}

int main(void)
{
	static const uint8_t zero[4] = {0}, ones[4] = {0xff, 0xff, 0xff, 0xff},
			     jumps[4] = {0xe9, 0xe9, 0xe9, 0xe9},
			     tests[4] = {0xa9, 0xa9, 0xa9, 0xa9};

	plan(17);
	ok(insn_site_bytes == 5, "a site is five bytes");
	ok(insn_site_encode(true) == 0xe9, "a site that jumps is e9, jmp rel32");
	ok(insn_site_encode(false) == 0xa9, "a site that falls through is a9, test $imm32,%%eax");
	ok(insn_site_forms.on == 0xe9 && insn_site_forms.off == 0xa9,
	   "the two forms are those of the encoding");
	test_every_byte("0", zero);
	test_every_byte("-1", ones);
	test_every_byte("e9e9e9e9", jumps);
	test_every_byte("a9a9a9a9", tests);
	ok(insn_site_decode((const uint8_t[]){insn_site_encode(true), 0, 0, 0, 0}) == 1,
	   "what is encoded decodes the same");
	return done();
}
