/* SPDX-License-Identifier: MIT */
/*
 * Decodes sites with Zydis; see site_code.h.
 */
#include "site_code.h"

#include <elf.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include <dormant/static_key.h>

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* One instruction that takes all the bytes. */
static bool decode(const uint8_t *bytes, size_t size, struct decoded *out)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &out->instruction,
						   out->operands)) &&
	       out->instruction.length == size;
}

static bool names_memory(const struct decoded *d)
{
	for (unsigned i = 0; i < d->instruction.operand_count; i++)
		if (d->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return true;
	return false;
}

static bool jumps_to(const struct decoded *d, uint64_t address, uint64_t target)
{
	return d->instruction.mnemonic == ZYDIS_MNEMONIC_JMP &&
	       d->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       address + d->instruction.length + (uint64_t)d->operands[0].imm.value.s == target;
}

const char *site_fault(const struct image *image, const struct image_site *site)
{
	const struct image_section *section = image_section_at(image, site->target, 1);
	uint8_t bytes[DORMANT_SITE_BYTES];
	struct decoded d;

	memcpy(bytes, image_bytes(image, site->code, sizeof(bytes)), sizeof(bytes));
	if (bytes[0] !=
	    (site->flags & DORMANT_SITE_JUMP ? DORMANT_SITE_OPCODE_ON : DORMANT_SITE_OPCODE_OFF))
		return "the opcode in the file is not the one that its flags tell";
	if (!section || !(section->flags & SHF_EXECINSTR))
		return "its target is not code";
	bytes[0] = DORMANT_SITE_OPCODE_OFF;
	if (!decode(bytes, sizeof(bytes), &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_TEST ||
	    names_memory(&d))
		return "off, it is not one instruction of five bytes without a load";
	bytes[0] = DORMANT_SITE_OPCODE_ON;
	if (!decode(bytes, sizeof(bytes), &d) || !jumps_to(&d, site->code, site->target))
		return "on, it is not one direct jump of five bytes";
	return NULL;
}
