/* SPDX-License-Identifier: MIT */
/*
 * Decodes operand sites with Zydis; see operand_code.h. What is decoded is a copy of the bytes with
 * their address in the file.
 */
#include "operand_code.h"

#include <elf.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include <dormant/static_call.h>

enum {
	QUADWORD = 8,
	JUMP_BYTES = 5,       /* of e8 and e9 */
	VALUE8_BYTES = 13,    /* three prefixes, movabs and its operand */
	PREFIXES = 4,         /* the most that pad before a site */
	INDIRECT_BYTES = 6,   /* of jmp *cell(%rip) */
	INSTRUCTION_MAX = 15, /* bytes, by the architecture */
};

struct decoded {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address;
};

static bool decode_bytes(const uint8_t *bytes, size_t size, uint64_t address, struct decoded *out)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	out->address = address;
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, bytes, size, &out->instruction, out->operands));
}

/* The instruction at an address of the file's code. */
static bool decode_at(const struct image *image, uint64_t address, struct decoded *out)
{
	const struct image_section *section = image_section_at(image, address, 1);
	uint64_t left;

	if (!section || !section->bytes || !(section->flags & SHF_EXECINSTR))
		return false;
	left = section->address + section->size - address;
	return decode_bytes(section->bytes + (address - section->address),
			    left < INSTRUCTION_MAX ? left : INSTRUCTION_MAX, address, out);
}

static uint64_t end_of(const struct decoded *d)
{
	return d->address + d->instruction.length;
}

/* Where a jump or call of five bytes goes, or 0. */
static uint64_t direct_target(const struct decoded *d)
{
	if ((d->instruction.mnemonic != ZYDIS_MNEMONIC_JMP &&
	     d->instruction.mnemonic != ZYDIS_MNEMONIC_CALL) ||
	    d->instruction.length != JUMP_BYTES ||
	    d->operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return 0;
	return end_of(d) + (uint64_t)d->operands[0].imm.value.s;
}

/* The address of an operand that is in memory at a fixed distance, or 0. */
static uint64_t fixed_memory(const struct decoded *d, unsigned operand)
{
	const ZydisDecodedOperandMem *memory = &d->operands[operand].mem;

	if (d->operands[operand].type != ZYDIS_OPERAND_TYPE_MEMORY ||
	    memory->base != ZYDIS_REGISTER_RIP)
		return 0;
	return end_of(d) + (uint64_t)memory->disp.value;
}

/* The number of the register that is written, or -1 where it has none that fits an opcode byte. */
static int register_number(const struct decoded *d, unsigned bits)
{
	ZyanI8 number;

	if (d->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER || d->operands[0].size != bits)
		return -1;
	number = ZydisRegisterGetId(d->operands[0].reg.value);
	return number < 8 ? number : -1;
}

/* A load of @bytes bytes from (%r), zero-extended, into the register %r that has this number. */
static bool loads_through(const struct decoded *d, unsigned bytes, int number)
{
	const ZydisDecodedOperand *from = &d->operands[1];

	return (d->instruction.mnemonic == ZYDIS_MNEMONIC_MOV ||
		(d->instruction.mnemonic == ZYDIS_MNEMONIC_MOVZX && bytes < 4)) &&
	       register_number(d, bytes == 8 ? 64 : 32) == number &&
	       from->type == ZYDIS_OPERAND_TYPE_MEMORY && from->size == bytes * 8 &&
	       ZydisRegisterGetId(from->mem.base) == number &&
	       from->mem.index == ZYDIS_REGISTER_NONE && from->mem.disp.value == 0;
}

/* The load behind the function; puts the register's number into @number. */
static const char *home_fault(const struct image *image, const struct image_operand *operand,
			      unsigned bytes, int *number)
{
	uint64_t back = operand->code + (bytes == 8 ? VALUE8_BYTES : JUMP_BYTES);
	struct decoded d;

	if (!decode_at(image, operand->home, &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    fixed_memory(&d, 1) != operand->pointer)
		return "its load does not begin with the pointer to its owner";
	*number = register_number(&d, 64);
	if (*number < 0)
		return "its register does not fit an opcode byte";
	if (!decode_at(image, end_of(&d), &d) || !loads_through(&d, bytes, *number))
		return "its load does not read its size through the same register";
	if (!decode_at(image, end_of(&d), &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    d.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    end_of(&d) + (uint64_t)d.operands[0].imm.value.s != back)
		return "its load does not jump back behind it";
	return NULL;
}

/* Once patched: one mov of the operand into the register. */
static bool is_mov_when_live(uint64_t address, unsigned bytes, int number)
{
	uint8_t code[VALUE8_BYTES] = {0x2e, 0x2e, 0x2e, 0x48, (uint8_t)(0xb8 + number)};
	struct decoded d;
	size_t size = bytes == 8 ? VALUE8_BYTES : JUMP_BYTES;

	if (bytes < 8)
		memmove(code, code + 4, 1);
	memset(code + size - (bytes == 8 ? 8 : 4), 0x7f, bytes == 8 ? 8 : 4);
	return decode_bytes(code, size, address, &d) && d.instruction.length == size &&
	       d.instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       register_number(&d, bytes == 8 ? 64 : 32) == number &&
	       d.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       d.operands[1].imm.value.u ==
		       (bytes == 8 ? UINT64_C(0x7f7f7f7f7f7f7f7f) : UINT64_C(0x7f7f7f7f));
}

/* What is special about eight bytes: the operand is the next quadword, and what must be skipped to
 * get there is a nop. */
static const char *value8_fault(const struct image *image, const struct image_operand *operand)
{
	static const uint8_t around[16] = {0x0f, 0x1f, 0x00, 0xe9};
	const uint8_t *bytes = image_bytes(image, operand->code - 3, sizeof(around));

	if (operand->code % QUADWORD != QUADWORD - JUMP_BYTES)
		return "its operand is not an aligned quadword";
	if (!bytes || memcmp(bytes, around, 4) != 0 ||
	    memcmp(bytes + QUADWORD, around + QUADWORD, QUADWORD) != 0)
		return "it is not a nop, a jump and eight zero bytes";
	return NULL;
}

const char *value_fault(const struct image *image, const struct image_operand *operand)
{
	unsigned bytes = 1u << operand->kind;
	const char *fault;
	struct decoded d;
	int number;

	if (operand->code % QUADWORD > QUADWORD - JUMP_BYTES)
		return "it crosses the end of a quadword";
	if (!decode_at(image, operand->code, &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    direct_target(&d) != operand->home)
		return "in the file it does not jump to its load";
	fault = home_fault(image, operand, bytes, &number);
	if (!fault && bytes == 8)
		fault = value8_fault(image, operand);
	if (!fault && !is_mov_when_live(operand->code, bytes, number))
		fault = "patched, it is not one mov";
	return fault;
}

const char *trampoline_fault(const struct image *image, const struct image_operand *operand)
{
	uint64_t call = operand->owner.value;
	struct image_pointer cell = image_pointer(image, call + offsetof(struct static_call, cell));
	struct image_pointer start = image_pointer(image,
						   call + offsetof(struct static_call, trampoline));
	struct image_pointer nothing = image_pointer(image,
						     call + offsetof(struct static_call, nothing));
	struct decoded d;

	if (operand->code % QUADWORD > QUADWORD - INDIRECT_BYTES)
		return "it crosses the end of a quadword";
	if (!decode_at(image, operand->code, &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_JMP ||
	    d.instruction.length != INDIRECT_BYTES || fixed_memory(&d, 0) != cell.value)
		return "in the file it does not jump through its cell";
	if (start.value != operand->code &&
	    (!decode_at(image, start.value, &d) ||
	     d.instruction.mnemonic != ZYDIS_MNEMONIC_ENDBR64 || operand->code - start.value != 8))
		return "it is not what the static call has as its trampoline";
	if (!decode_at(image, nothing.value, &d) || d.instruction.mnemonic != ZYDIS_MNEMONIC_RET)
		return "what does nothing is not a return";
	return NULL;
}

enum operand_call decode_call(const struct image *image, const struct image_operand *operand,
			      uint64_t home, const char **fault)
{
	struct decoded d;

	*fault = NULL;
	if (!decode_at(image, operand->code, &d)) {
		*fault = "what stands there is no instruction";
		return CALL_BY_TRAMPOLINE;
	}
	if (d.instruction.length + PREFIXES > INSTRUCTION_MAX)
		*fault = "what stands there is too long for the prefixes before it";
	if (direct_target(&d) != home)
		return CALL_BY_TRAMPOLINE;
	if (operand->code % QUADWORD > QUADWORD - JUMP_BYTES)
		*fault = "the call crosses the end of a quadword";
	return d.instruction.mnemonic == ZYDIS_MNEMONIC_CALL ? CALL_DIRECT : CALL_TAIL;
}
