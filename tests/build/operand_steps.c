/* SPDX-License-Identifier: MIT */
/*
 * Runs each function of fixtures/operand_shape.c with and without its values and static calls, one
 * instruction at a time (trace.h), and compares. Prints a line for each function:
 *
 *     NAME sites=N added=N nops=N loads=N
 *
 * sites are the operand sites that were executed, added is how many instructions there are more
 * than without (padding apart, which is nops), loads how many more loads. Exits 1 when a result is
 * wrong, when a value was loaded, or when a call went by the trampoline.
 */
#include <stdio.h>
#include <string.h>

#include "fixtures/operand_shape.h"
#include "trace.h"

const long s_numbers[4] = {20, 30, 40, 50};

DEFINE_IMV(int, s_int) = 5;
DEFINE_IMV(unsigned, s_unsigned) = 6;
DEFINE_IMV(int8_t, s_int8) = -7;
DEFINE_IMV(uint8_t, s_uint8) = 8;
DEFINE_IMV(bool, s_bool) = true;
DEFINE_IMV(int16_t, s_int16) = -9;
DEFINE_IMV(uint16_t, s_uint16) = 10;
DEFINE_IMV(long, s_long) = 11;
DEFINE_IMV(const long *, s_pointer) = s_numbers;
DEFINE_IMV(float, s_float) = 3;
DEFINE_IMV(double, s_double) = 4;

__attribute__((noinline)) long s_none(void)
{
	__asm__ volatile("");
	return 40;
}
__attribute__((noinline)) long s_two(long a, long b)
{
	__asm__ volatile("");
	return a + 2 * b;
}
__attribute__((noinline)) int s_ints(int a, int b)
{
	__asm__ volatile("");
	return a - b;
}
DEFINE_STATIC_CALL(c_none, s_none);
DEFINE_STATIC_CALL(c_two, s_two);
DEFINE_STATIC_CALL(c_ints, s_ints);

struct steps {
	int instructions; /* all but padding */
	int nops;
	int loads;
	int sites;   /* of values and calls */
	int by_load; /* of these, values in memory, and calls by the trampoline */
};

static struct steps steps;

/* The site whose bytes are inside an instruction, behind its prefixes; a home is no site. */
static const struct dormant_operand *find_operand(const struct trace_step *step)
{
	for (const struct dormant_operand *o = dormant_object_self.operands;
	     o < dormant_object_self.operands_end; o++)
		if ((uintptr_t)&o->code + (uintptr_t)o->code - step->address <
			    step->instruction.length &&
		    (o->owner & DORMANT_OPERAND_KIND_MASK) != DORMANT_OPERAND_HOME)
			return o;
	return NULL;
}

static void count_operand(const struct dormant_operand *operand, const struct trace_step *step)
{
	switch (operand->owner & DORMANT_OPERAND_KIND_MASK) {
	case DORMANT_OPERAND_CALL:
		steps.sites++;
		break;
	case DORMANT_OPERAND_TRAMPOLINE:
		steps.by_load++;
		break;
	default:
		steps.sites++;
		steps.by_load += step->instruction.mnemonic != ZYDIS_MNEMONIC_MOV;
	}
}

static void count_step(const struct trace_step *step)
{
	const struct dormant_operand *operand = find_operand(step);

	if (operand)
		count_operand(operand, step);
	if (step->instruction.mnemonic == ZYDIS_MNEMONIC_NOP) {
		steps.nops++;
		return;
	}
	steps.instructions++;
	steps.loads += trace_step_loads(step);
}

typedef long (*shape_function)(long a, long b, int c, const long *p);

static struct steps run(shape_function function, long *value)
{
	memset(&steps, 0, sizeof(steps));
	trace_next_call((uintptr_t)function, count_step);
	*value = function(3, 4, 50, s_numbers);
	return steps;
}

static const struct {
	const char *name;
	shape_function with, without;
} shapes[] = {
#define SHAPE_ROW(name) {#name, name##_with, name##_without},
	OPERAND_SHAPES(SHAPE_ROW)
#undef SHAPE_ROW
};

static bool compare(size_t i)
{
	long value, expected;
	struct steps without = run(shapes[i].without, &expected);
	struct steps with = run(shapes[i].with, &value);
	bool right = value == expected && with.sites > 0 && !with.by_load &&
		     with.loads == without.loads;

	printf("%s sites=%d added=%d nops=%d loads=%d%s\n", shapes[i].name, with.sites,
	       with.instructions - without.instructions, with.nops - without.nops,
	       with.loads - without.loads, right ? "" : " WRONG");
	if (!right)
		printf("%s: %ld, expected %ld; by memory %d\n", shapes[i].name, value, expected,
		       with.by_load);
	return right;
}

int main(void)
{
	bool right = true;

	trace_open();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		right &= compare(i);
	return !right;
}
