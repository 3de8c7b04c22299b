/* SPDX-License-Identifier: MIT */
/*
 * The two forms of a key's site on x86-64:
 *
 *     a9 <rel32>    test $imm32,%eax    falls through
 *     e9 <rel32>    jmp  rel32          jumps
 *
 * and those of operand sites, of which five bytes in one quadword change, and a value's next
 * quadword:
 *
 *                   home                          live
 *     value 1,2,4   e9 <rel32>     jmp load       b8+r <imm32>            mov    $imm,%r
 *     value 8       e9 <rel32>     jmp load       2e 2e 2e 48 b8+r <..>   movabs $imm,%r
 *     call          e8 <rel32>     call home      e8 <rel32>              call   function
 *                                                 0f 1f 44 00 00          nop    without a function
 *     tail call     e9 <rel32>     jmp home       e9 <rel32>, c3 (ret)    the same
 *     trampoline    ff 25 <rel32>  jmp *cell      e9 <rel32>, c3          the same
 *
 * A value's register is that of its load, which begins with mov disp32(%rip),%r: 48 8b 05+8*r.
 */
#include <string.h>

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

/* ---- operand sites ---- */

#define CODE_BYTES INSN_OPERAND_BYTES

#define OP_CALL   0xe8
#define OP_JMP    0xe9
#define OP_RET    0xc3
#define OP_MOV    0xb8 /* + register */
#define OP_PREFIX 0x2e
#define OP_REX_W  0x48

static const uint8_t nop[CODE_BYTES] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

static bool is_value(enum dormant_operand_kind kind)
{
	return kind <= DORMANT_OPERAND_VALUE8;
}

static int32_t read_rel32(const uint8_t *at)
{
	int32_t rel;

	memcpy(&rel, at, sizeof(rel));
	return rel;
}

/* Where a branch of @bytes bytes that ends in a rel32 goes; also what rip-relative memory is at. */
static uintptr_t branch_target(const uint8_t *code, size_t bytes)
{
	return (uintptr_t)code + bytes + (uintptr_t)(intptr_t)read_rel32(code + bytes - 4);
}

/* The register of a value's load, or -1. */
static int home_register(const struct insn_operand *operand)
{
	const uint8_t *load = (const uint8_t *)operand->home;

	if (load[0] != OP_REX_W || load[1] != 0x8b || (load[2] & 0xc7) != 0x05)
		return -1;
	return load[2] >> 3 & 7;
}

/* The first bytes of a value's instruction, and how many they are. */
static size_t value_opcode(const struct insn_operand *operand, uint8_t opcode[CODE_BYTES])
{
	uint8_t mov = (uint8_t)(OP_MOV + home_register(operand));

	if (operand->kind != DORMANT_OPERAND_VALUE8) {
		opcode[0] = mov;
		return 1;
	}
	memset(opcode, OP_PREFIX, 3);
	opcode[3] = OP_REX_W;
	opcode[4] = mov;
	return CODE_BYTES;
}

static bool is_home(const struct insn_operand *operand)
{
	const uint8_t *code = operand->code;

	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE)
		return code[0] == 0xff && code[1] == 0x25 &&
		       branch_target(code, 6) == operand->home;
	if (is_value(operand->kind) ? code[0] != OP_JMP : code[0] != OP_JMP && code[0] != OP_CALL)
		return false;
	return branch_target(code, CODE_BYTES) == operand->home;
}

static bool is_live(const struct insn_operand *operand)
{
	const uint8_t *code = operand->code;

	if (is_value(operand->kind)) {
		uint8_t opcode[CODE_BYTES];
		size_t bytes = value_opcode(operand, opcode);

		return memcmp(code, opcode, bytes) == 0;
	}
	if (code[0] == OP_JMP || code[0] == OP_RET)
		return true;
	return operand->kind == DORMANT_OPERAND_CALL &&
	       (code[0] == OP_CALL || memcmp(code, nop, sizeof(nop)) == 0);
}

bool insn_operand_fits(const struct insn_operand *operand)
{
	uintptr_t offset = (uintptr_t)operand->code & 7;

	if (!is_home(operand) || offset + CODE_BYTES > 8)
		return false;
	if (operand->kind == DORMANT_OPERAND_VALUE8 && offset + CODE_BYTES != 8)
		return false;
	return !is_value(operand->kind) || home_register(operand) >= 0;
}

enum insn_form insn_operand_form(const struct insn_operand *operand)
{
	if (is_home(operand))
		return INSN_HOME;
	return is_live(operand) ? INSN_LIVE : INSN_FOREIGN;
}

/* The store of the instruction's five bytes. */
static struct insn_store store_code(const struct insn_operand *operand,
				    const uint8_t bytes[CODE_BYTES])
{
	unsigned shift = 8 * ((uintptr_t)operand->code & 7);
	uint64_t bits = 0;

	memcpy(&bits, bytes, CODE_BYTES);
	return (struct insn_store){(uintptr_t)operand->code & ~(uintptr_t)7,
				   UINT64_C(0xffffffffff) << shift, bits << shift};
}

static size_t encode_value(const struct insn_operand *operand, uint64_t value,
			   struct insn_store stores[INSN_STORES_MAX])
{
	uint8_t bytes[CODE_BYTES];

	(void)value_opcode(operand, bytes);
	if (operand->kind != DORMANT_OPERAND_VALUE8) {
		memcpy(bytes + 1, &value, 4);
		stores[0] = store_code(operand, bytes);
		return 1;
	}
	stores[0] = (struct insn_store){(uintptr_t)operand->code + CODE_BYTES, UINT64_MAX, value};
	stores[1] = store_code(operand, bytes);
	return is_home(operand) ? 2 : 1;
}

/* A direct branch to @target; false where it is too far away. */
static bool encode_branch(const struct insn_operand *operand, uint8_t opcode, uintptr_t target,
			  uint8_t bytes[CODE_BYTES])
{
	intptr_t distance = (intptr_t)(target - ((uintptr_t)operand->code + CODE_BYTES));
	int32_t rel = (int32_t)distance;

	bytes[0] = opcode;
	memcpy(bytes + 1, &rel, sizeof(rel));
	return rel == distance;
}

static void encode_home(const struct insn_operand *operand, uint8_t opcode,
			uint8_t bytes[CODE_BYTES])
{
	if (operand->kind == DORMANT_OPERAND_TRAMPOLINE) {
		int32_t rel = (int32_t)(operand->home - ((uintptr_t)operand->code + 6));

		bytes[0] = 0xff;
		bytes[1] = 0x25;
		memcpy(bytes + 2, &rel, CODE_BYTES - 2); /* its last byte is never changed */
	} else {
		(void)encode_branch(operand, opcode, operand->home, bytes);
	}
}

size_t insn_operand_encode(const struct insn_operand *operand, uint64_t value,
			   struct insn_store stores[INSN_STORES_MAX])
{
	const uint8_t *code = operand->code;
	bool jumps = operand->kind == DORMANT_OPERAND_TRAMPOLINE || code[0] == OP_JMP ||
		     code[0] == OP_RET;
	uint8_t opcode = jumps ? OP_JMP : OP_CALL;
	uint8_t bytes[CODE_BYTES];

	if (is_value(operand->kind))
		return encode_value(operand, value, stores);
	memcpy(bytes, jumps ? code : nop, CODE_BYTES);
	if (value == 0 && jumps)
		bytes[0] = OP_RET;
	else if (value != 0 && !encode_branch(operand, opcode, (uintptr_t)value, bytes))
		encode_home(operand, opcode, bytes);
	stores[0] = store_code(operand, bytes);
	return 1;
}
