/* SPDX-License-Identifier: MIT */
/* Instructions as text, by Zydis. */
#include "decode.h"

#include <Zydis/Zydis.h>
#include <stdio.h>

size_t decode_length(const uint8_t *bytes, size_t count)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, count, &instruction)))
		return 1;
	return instruction.length;
}

void decode_instruction(char *text, size_t size, const uint8_t *bytes, size_t count,
			uint64_t address)
{
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, count, &instruction, operands)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
							instruction.operand_count_visible, text,
							size, address, NULL)))
		snprintf(text, size, "(bad)");
}
