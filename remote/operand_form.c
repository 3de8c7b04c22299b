/* SPDX-License-Identifier: MIT */
/*
 * The instructions of operand sites. In the file, and whenever they go by memory:
 *
 *     value of 1, 2, 4 bytes   e9 <rel32>         to a load behind the function
 *     value of 8 bytes         e9 <rel32>         the same; its next quadword is free
 *     call, tail call          e8, e9 <rel32>     of the trampoline
 *     trampoline               ff 25 <disp32>     through the cell
 *
 * and with their value in them:
 *
 *     value of 1, 2, 4 bytes   b8+r <imm32>       zero-extended
 *     value of 8 bytes         2e 2e 2e 48 b8+r <imm64>
 *     call                     e8 <rel32>         of the function; 0f 1f 44 00 00 where there is
 * none tail call, trampoline    e9 <rel32>         to the function; c3 where there is none
 *
 * The register r is that of the load, which begins with 48 8b 05+8*r.
 */
#include "operand.h"

#include <string.h>

#define BRANCH_BYTES     5
#define TRAMPOLINE_BYTES 6 /* in the file */

#define OP_CALL 0xe8
#define OP_JMP  0xe9
#define OP_RET  0xc3
#define OP_MOV  0xb8 /* + register */

static const uint8_t nop[BRANCH_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
static const uint8_t wide[4] = {0x2e, 0x2e, 0x2e, 0x48}; /* before the mov of 8 bytes */

bool operand_is_value(const struct operand *operand)
{
	return operand->kind <= DORMANT_OPERAND_VALUE8;
}

unsigned int operand_value_bytes(enum dormant_operand_kind kind)
{
	return kind <= DORMANT_OPERAND_VALUE8 ? 1u << kind : 0;
}

/* Where an instruction of @length bytes that ends in a distance goes. */
static uint64_t branch_target(const uint8_t *bytes, size_t length, uint64_t address)
{
	int32_t distance;

	memcpy(&distance, bytes + length - sizeof(distance), sizeof(distance));
	return address + length + (uint64_t)(int64_t)distance;
}

/* Writes how a value's instruction begins; returns how many bytes that are. */
static size_t value_opcode(const struct operand *operand, uint8_t *bytes)
{
	uint8_t mov = (uint8_t)(OP_MOV + (operand->load[2] >> 3 & 7));
	size_t prefixes = operand->kind == DORMANT_OPERAND_VALUE8 ? sizeof(wide) : 0;

	memcpy(bytes, wide, prefixes);
	bytes[prefixes] = mov;
	return prefixes + 1;
}

static struct operand_look look_at_value(const struct operand *operand, const uint8_t *bytes,
					 uint64_t bias)
{
	struct operand_look look = {.form = OPERAND_FOREIGN, .bytes = BRANCH_BYTES};
	size_t operand_bytes = operand->kind == DORMANT_OPERAND_VALUE8 ? 8 : 4;
	uint8_t opcode[OPERAND_BYTES_MAX];
	size_t length = value_opcode(operand, opcode);

	if (memcmp(bytes, opcode, length) == 0) {
		look.form = OPERAND_IN_INSTRUCTION;
		look.bytes = length + operand_bytes;
		memcpy(&look.value, bytes + length, operand_bytes);
	} else if (bytes[0] == OP_JMP) {
		look.target = branch_target(bytes, BRANCH_BYTES, operand->address + bias);
		if (look.target == operand->home + bias)
			look.form = OPERAND_BY_MEMORY;
	}
	return look;
}

static struct operand_look look_at_call(const struct operand *operand, const uint8_t *bytes,
					uint64_t bias)
{
	struct operand_look look = {.form = OPERAND_FOREIGN, .bytes = BRANCH_BYTES};
	uint8_t opcode = operand->bytes[0];

	if (!operand->is_site) {
		look.form = OPERAND_BY_TRAMPOLINE;
	} else if (bytes[0] == opcode) {
		look.target = branch_target(bytes, BRANCH_BYTES, operand->address + bias);
		look.form = look.target == operand->home + bias ? OPERAND_BY_TRAMPOLINE
								: OPERAND_DIRECT;
	} else if (opcode == OP_JMP && bytes[0] == OP_RET) {
		look.form = OPERAND_NOTHING;
		look.bytes = 1;
	} else if (opcode == OP_CALL && memcmp(bytes, nop, sizeof(nop)) == 0) {
		look.form = OPERAND_NOTHING;
	}
	return look;
}

static struct operand_look look_at_trampoline(const struct operand *operand, const uint8_t *bytes,
					      uint64_t bias)
{
	struct operand_look look = {.form = OPERAND_FOREIGN, .bytes = TRAMPOLINE_BYTES};
	uint64_t address = operand->address + bias;

	if (bytes[0] == 0xff && bytes[1] == 0x25) {
		look.target = branch_target(bytes, TRAMPOLINE_BYTES, address);
		if (look.target == operand->home + bias)
			look.form = OPERAND_BY_MEMORY;
	} else if (bytes[0] == OP_JMP) {
		look.form = OPERAND_DIRECT;
		look.bytes = BRANCH_BYTES;
		look.target = branch_target(bytes, BRANCH_BYTES, address);
	} else if (bytes[0] == OP_RET) {
		look.form = OPERAND_NOTHING;
		look.bytes = 1;
	}
	return look;
}

struct operand_look operand_look_at(const struct operand *operand, const uint8_t *bytes,
				    uint64_t bias)
{
	if (operand_is_value(operand))
		return look_at_value(operand, bytes, bias);
	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE)
		return look_at_trampoline(operand, bytes, bias);
	return look_at_call(operand, bytes, bias);
}

/* ---- the other way ---- */

static int64_t branch_distance(const struct operand *operand, uint64_t function, uint64_t bias)
{
	return (int64_t)(function - (operand->address + bias + BRANCH_BYTES));
}

bool operand_is_far(const struct operand *operand, uint64_t function, uint64_t bias)
{
	int64_t distance = branch_distance(operand, function, bias);

	return distance != (int32_t)distance;
}

static size_t encode_call(const struct operand *operand, uint64_t function, uint64_t bias,
			  uint8_t *bytes)
{
	bool returns = operand->kind == DORMANT_OPERAND_TRAMPOLINE || operand->bytes[0] == OP_JMP;
	int32_t distance = (int32_t)branch_distance(operand, function, bias);

	if (function == 0 && returns) {
		bytes[0] = OP_RET;
		return 1;
	}
	if (function == 0) {
		memcpy(bytes, nop, sizeof(nop));
		return sizeof(nop);
	}
	if (operand_is_far(operand, function, bias)) {
		memcpy(bytes, operand->bytes, OPERAND_BYTES_MAX);
		return operand->kind == DORMANT_OPERAND_TRAMPOLINE ? TRAMPOLINE_BYTES
								   : BRANCH_BYTES;
	}
	bytes[0] = returns ? OP_JMP : OP_CALL;
	memcpy(bytes + 1, &distance, sizeof(distance));
	return BRANCH_BYTES;
}

size_t operand_encode(const struct operand *operand, uint64_t value, uint64_t bias,
		      uint8_t bytes[OPERAND_BYTES_MAX])
{
	size_t operand_bytes = operand->kind == DORMANT_OPERAND_VALUE8 ? 8 : 4;
	size_t length;

	if (!operand_is_value(operand))
		return encode_call(operand, value, bias, bytes);
	length = value_opcode(operand, bytes);
	memcpy(bytes + length, &value, operand_bytes);
	return length + operand_bytes;
}
