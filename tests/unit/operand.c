/* SPDX-License-Identifier: MIT */
/* The forms of operand sites, at every place in a quadword: what is one, what it becomes, and that
 * no other byte changes. Nothing here is run. */
#include <string.h>

#include "arch/arch.h"
#include "tap.h"

#define GUARD   0x5a
#define OFFSETS 8

/* One site to be: its quadwords, and behind them the load of a value. */
static struct {
	_Alignas(16) uint8_t code[24];
	uint8_t load[8];
} text;

static uint8_t *place(const uint8_t *bytes, size_t count, size_t offset)
{
	memset(text.code, GUARD, sizeof(text.code));
	memcpy(text.code + 8 + offset, bytes, count);
	return text.code + 8 + offset;
}

static void put_rel32(uint8_t *at, uintptr_t target)
{
	int32_t rel = (int32_t)(target - (uintptr_t)(at + 4));

	memcpy(at, &rel, sizeof(rel));
}

static struct insn_operand make_branch(enum dormant_operand_kind kind, uint8_t opcode,
				       size_t offset, uintptr_t home)
{
	const uint8_t bytes[5] = {opcode};
	uint8_t *code = place(bytes, sizeof(bytes), offset);

	put_rel32(code + 1, home);
	return (struct insn_operand){kind, code, home};
}

static struct insn_operand make_value(enum dormant_operand_kind kind, unsigned reg, size_t offset)
{
	struct insn_operand operand;

	text.load[0] = 0x48;
	text.load[1] = 0x8b;
	text.load[2] = (uint8_t)(0x05 | reg << 3);
	operand = make_branch(kind, 0xe9, offset, (uintptr_t)text.load);
	if (kind == DORMANT_OPERAND_VALUE8 && offset <= 3)
		memset((uint8_t *)operand.code + 5, 0, 8);
	return operand;
}

static struct insn_operand make_trampoline(size_t offset, uintptr_t cell)
{
	const uint8_t bytes[6] = {0xff, 0x25};
	uint8_t *code = place(bytes, sizeof(bytes), offset);

	put_rel32(code + 2, cell);
	return (struct insn_operand){DORMANT_OPERAND_TRAMPOLINE, code, cell};
}

/* Makes the site hold @value by the stores of the encoder. False where one of them is not an
 * aligned quadword of the site, or changes what its mask does not hold. */
static bool store(const struct insn_operand *operand, uint64_t value, size_t expected)
{
	struct insn_store stores[INSN_STORES_MAX];
	size_t count = insn_operand_encode(operand, value, stores);
	bool right = count == expected;

	for (size_t i = 0; i < count; i++) {
		uint64_t there;

		if (stores[i].address % 8 != 0 || (stores[i].bits & ~stores[i].mask) != 0 ||
		    stores[i].address < ((uintptr_t)operand->code & ~(uintptr_t)7) ||
		    stores[i].address > (uintptr_t)operand->code + 5)
			return false;
		memcpy(&there, (const void *)stores[i].address, sizeof(there));
		there = (there & ~stores[i].mask) | stores[i].bits;
		memcpy((void *)stores[i].address, &there, sizeof(there));
	}
	return right;
}

static bool holds(const struct insn_operand *operand, const uint8_t *bytes, size_t count)
{
	return memcmp(operand->code, bytes, count) == 0;
}

/* Whether all bytes but the @count of the site are as they were placed. */
static bool is_guarded(const struct insn_operand *operand, size_t count)
{
	for (const uint8_t *at = text.code; at < text.code + sizeof(text.code); at++) {
		if ((at < operand->code || at >= operand->code + count) && *at != GUARD)
			return false;
	}
	return true;
}

/* ---- values ---- */

static bool check_narrow(enum dormant_operand_kind kind, unsigned reg, size_t offset)
{
	struct insn_operand operand = make_value(kind, reg, offset);
	const uint8_t first[] = {(uint8_t)(0xb8 + reg), 0x04, 0x03, 0x02, 0x01};
	const uint8_t second[] = {(uint8_t)(0xb8 + reg), 0xff, 0xff, 0xff, 0xff};

	if (insn_operand_form(&operand) != INSN_HOME)
		return false;
	if (offset > 3)
		return !insn_operand_fits(&operand);
	return insn_operand_fits(&operand) && store(&operand, 0x01020304, 1) &&
	       holds(&operand, first, 5) && insn_operand_form(&operand) == INSN_LIVE &&
	       !insn_operand_fits(&operand) && store(&operand, UINT32_MAX, 1) &&
	       holds(&operand, second, 5) && insn_operand_form(&operand) == INSN_LIVE &&
	       is_guarded(&operand, 5);
}

static bool check_wide(unsigned reg, size_t offset)
{
	struct insn_operand operand = make_value(DORMANT_OPERAND_VALUE8, reg, offset);
	const uint8_t first[] = {0x2e, 0x2e, 0x2e, 0x48, (uint8_t)(0xb8 + reg), 8, 7, 6, 5,
				 4,    3,    2,    1};
	const uint8_t second[] = {0x2e, 0x2e, 0x2e, 0x48, (uint8_t)(0xb8 + reg),
				  0xff, 0xff, 0xff, 0xff, 0xff,
				  0xff, 0xff, 0xff};
	struct insn_store stores[INSN_STORES_MAX];

	if (insn_operand_form(&operand) != INSN_HOME)
		return false;
	if (offset != 3)
		return !insn_operand_fits(&operand);
	(void)insn_operand_encode(&operand, 1, stores);
	return insn_operand_fits(&operand) &&
	       stores[0].address == (uintptr_t)operand.code + 5 && /* what is not run yet */
	       store(&operand, 0x0102030405060708, 2) && holds(&operand, first, 13) &&
	       insn_operand_form(&operand) == INSN_LIVE && store(&operand, UINT64_MAX, 1) &&
	       holds(&operand, second, 13) && is_guarded(&operand, 13);
}

static void test_values(void)
{
	static const enum dormant_operand_kind narrow[] = {
		DORMANT_OPERAND_VALUE1, DORMANT_OPERAND_VALUE2, DORMANT_OPERAND_VALUE4};
	int wrong = 0, wrong_wide = 0;

	for (unsigned reg = 0; reg < 8; reg++) {
		for (size_t offset = 0; offset < OFFSETS; offset++) {
			for (size_t kind = 0; kind < 3; kind++)
				wrong += !check_narrow(narrow[kind], reg, offset);
			wrong_wide += !check_wide(reg, offset);
		}
	}
	ok(wrong == 0,
	   "values of 1, 2, 4 bytes: each register, at 0..3 of a quadword only (%d not)", wrong);
	ok(wrong_wide == 0, "values of 8 bytes: each register, before a quadword only (%d not)",
	   wrong_wide);
}

static void test_no_values(void)
{
	struct insn_operand operand = make_value(DORMANT_OPERAND_VALUE4, 3, 2);

	text.load[0] = 0x4c;
	ok(!insn_operand_fits(&operand), "a load into %%r11 is no home: its mov would be longer");
	text.load[0] = 0x48;
	text.load[1] = 0x8d;
	ok(!insn_operand_fits(&operand), "nor is a lea");
	text.load[1] = 0x8b;
	text.load[2] = 0x1c;
	ok(!insn_operand_fits(&operand), "nor is a load of no rip-relative address");
	operand = make_value(DORMANT_OPERAND_VALUE4, 3, 2);
	operand.home++;
	ok(!insn_operand_fits(&operand) && insn_operand_form(&operand) == INSN_FOREIGN,
	   "nor is a jump to elsewhere");
}

/* ---- calls ---- */

/* Below, a home that a branch from `text` reaches. */
static uintptr_t near_home(void)
{
	return (uintptr_t)text.code - 0x12345;
}

static bool check_call(uint8_t opcode, size_t offset)
{
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	struct insn_operand operand = make_branch(DORMANT_OPERAND_CALL, opcode, offset,
						  near_home());
	const uintptr_t end = (uintptr_t)operand.code + 5;
	uint8_t target[5] = {opcode, 0x44, 0x33, 0x22, 0x11},
		none[5] = {0xc3, 0x44, 0x33, 0x22, 0x11};

	if (insn_operand_fits(&operand) != (offset <= 3) ||
	    insn_operand_form(&operand) != INSN_HOME || offset > 3)
		return offset > 3;
	return store(&operand, end + 0x11223344, 1) && holds(&operand, target, 5) &&
	       insn_operand_form(&operand) == INSN_LIVE && store(&operand, 0, 1) &&
	       holds(&operand, opcode == 0xe8 ? nop : none, 5) &&
	       insn_operand_form(&operand) == INSN_LIVE && store(&operand, end + 0x11223344, 1) &&
	       holds(&operand, target, 5) && is_guarded(&operand, 5);
}

/* A target at @distance from the end of the instruction is reached directly, or not. */
static bool check_distance(struct insn_operand operand, int64_t distance, bool direct)
{
	uint8_t before[6], branch[5] = {operand.code[0] == 0xe8 ? 0xe8 : 0xe9};
	const int32_t rel = (int32_t)distance;
	bool right;

	memcpy(before, operand.code, sizeof(before));
	memcpy(branch + 1, &rel, sizeof(rel));
	right = store(&operand, (uintptr_t)operand.code + 5 + (uintptr_t)distance, 1) &&
		(direct ? holds(&operand, branch, 5) : holds(&operand, before, 6)) &&
		insn_operand_form(&operand) == (direct ? INSN_LIVE : INSN_HOME);
	/* and back from there */
	return right &&
	       store(&operand,
		     operand.kind == DORMANT_OPERAND_CALL ? operand.home : (uintptr_t)INT64_MAX,
		     1) &&
	       holds(&operand, before, 6);
}

static int count_wrong_distances(struct insn_operand (*make)(size_t offset))
{
	int wrong = 0;

	for (size_t offset = 0; offset <= 3; offset++) {
		wrong += !check_distance(make(offset), INT32_MAX, true);
		wrong += !check_distance(make(offset), INT32_MIN, true);
		wrong += !check_distance(make(offset), (int64_t)INT32_MAX + 1, false);
		wrong += !check_distance(make(offset), (int64_t)INT32_MIN - 1, false);
		wrong += !check_distance(make(offset), INT64_C(0x7fff00000000), false);
		wrong += !check_distance(make(offset), INT64_C(0x100000000), false);
	}
	return wrong;
}

static struct insn_operand make_call(size_t offset)
{
	return make_branch(DORMANT_OPERAND_CALL, 0xe8, offset, near_home());
}

static struct insn_operand make_tail_call(size_t offset)
{
	return make_branch(DORMANT_OPERAND_CALL, 0xe9, offset, near_home());
}

static struct insn_operand make_any_trampoline(size_t offset)
{
	return make_trampoline(offset, near_home());
}

static void test_calls(void)
{
	struct insn_operand operand;
	int wrong = 0, wrong_tail = 0;

	for (size_t offset = 0; offset < OFFSETS; offset++) {
		wrong += !check_call(0xe8, offset);
		wrong_tail += !check_call(0xe9, offset);
	}
	ok(wrong == 0, "a call, a nop of five bytes, and back (%d not)", wrong);
	ok(wrong_tail == 0, "a tail call, a return, and back (%d not)", wrong_tail);
	ok(count_wrong_distances(make_call) == 0,
	   "a call reaches 2 GiB to each side, to the byte; beyond it goes home");
	ok(count_wrong_distances(make_tail_call) == 0, "a tail call as well");
	ok(count_wrong_distances(make_any_trampoline) == 0,
	   "a trampoline as well: its home is all six bytes of the file");
	operand = make_call(2);
	operand.home += 8;
	ok(!insn_operand_fits(&operand), "a call of something else is no site");
	operand = make_branch(DORMANT_OPERAND_CALL, 0xeb, 2, near_home());
	ok(!insn_operand_fits(&operand), "nor is a short jump");
}

static bool check_trampoline(size_t offset)
{
	struct insn_operand operand = make_trampoline(offset, near_home());
	const uintptr_t end = (uintptr_t)operand.code + 5;
	const uint8_t direct[] = {0xe9, 0x44, 0x33, 0x22, 0x11, operand.code[5]};
	uint8_t home[6];

	memcpy(home, operand.code, sizeof(home));
	if (offset > 3)
		return !insn_operand_fits(&operand);
	return insn_operand_fits(&operand) && insn_operand_form(&operand) == INSN_HOME &&
	       store(&operand, end + 0x11223344, 1) && holds(&operand, direct, 6) &&
	       insn_operand_form(&operand) == INSN_LIVE && store(&operand, 0, 1) &&
	       operand.code[0] == 0xc3 && insn_operand_form(&operand) == INSN_LIVE &&
	       store(&operand, end + (UINT64_C(1) << 40), 1) && holds(&operand, home, 6) &&
	       store(&operand, 0, 1) && operand.code[0] == 0xc3 && /* from home as well */
	       store(&operand, end + 0x11223344, 1) && holds(&operand, direct, 6) &&
	       is_guarded(&operand, 6);
}

static void test_trampolines(void)
{
	struct insn_operand operand;
	int wrong = 0;

	for (size_t offset = 0; offset < OFFSETS; offset++)
		wrong += !check_trampoline(offset);
	ok(wrong == 0, "a trampoline: direct, a return, by its cell (%d not)", wrong);
	operand = make_trampoline(0, near_home());
	operand.home += 8;
	ok(!insn_operand_fits(&operand), "one that jumps by another cell is none");
}

/* ---- foreign bytes ---- */

/* For how many first bytes the site has one of its forms. */
static int count_forms(struct insn_operand operand)
{
	uint8_t *code = (uint8_t *)operand.code;
	const uint8_t before = *code;
	int count = 0;

	for (int byte = 0; byte < 256; byte++) {
		*code = (uint8_t)byte;
		count += insn_operand_form(&operand) != INSN_FOREIGN;
	}
	*code = before;
	return count;
}

static int count_breakpoints_seen(struct insn_operand operand, size_t bytes)
{
	uint8_t *code = (uint8_t *)operand.code;
	int seen = 0;

	for (size_t i = 0; i < bytes; i++) {
		const uint8_t before = code[i];

		code[i] = 0xcc;
		seen += insn_operand_form(&operand) == INSN_FOREIGN;
		code[i] = before;
	}
	return seen;
}

static void test_foreign(void)
{
	struct insn_operand operand = make_value(DORMANT_OPERAND_VALUE4, 6, 1);

	ok(count_forms(operand) == 2, "254 first bytes of a value's site are foreign");
	ok(count_breakpoints_seen(operand, 5) == 5, "at home, a breakpoint on any byte is seen");
	(void)store(&operand, 7, 1);
	ok(count_breakpoints_seen(operand, 1) == 1 && count_forms(operand) == 1,
	   "live, on the first: those that follow are the value");
	operand = make_value(DORMANT_OPERAND_VALUE8, 6, 3);
	(void)store(&operand, 7, 2);
	ok(count_breakpoints_seen(operand, 5) == 5, "of a value of 8 bytes, on the first five");
	operand = make_call(3);
	ok(count_forms(operand) == 3, "253 first bytes of a call's site are: not e8, e9, c3");
	(void)store(&operand, 0, 1);
	ok(count_breakpoints_seen(operand, 5) == 5, "on any byte of a call of nothing");
	operand = make_any_trampoline(0);
	ok(count_forms(operand) == 3, "253 first bytes of a trampoline are: not ff, e9, c3");
}

int main(void)
{
	plan(2 + 4 + 7 + 2 + 7);
	test_values();
	test_no_values();
	test_calls();
	test_trampolines();
	test_foreign();
	return done();
}
