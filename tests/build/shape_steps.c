/* SPDX-License-Identifier: MIT */
/*
 * Runs each function of fixtures/shape.c with and without its sites, one instruction at a time
 * (trace.h), decodes every instruction that is executed, and compares. Prints a
 * line for each function and exits 1 when the dormant sites execute a load, a conditional branch or
 * a landing pad that the function without them does not, or when an enabled site is not one jump.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fixtures/shape.h"
#include "trace.h"

struct steps {
	int instructions; /* all but padding and landing pads */
	int loads;        /* reads of memory, without pop and ret */
	int branches;     /* conditional */
	int jumps;        /* unconditional, without those of sites that are on */
	int behind;       /* of those, the ones that directly follow a dormant site */
	int landing_pads;
	int sites_off; /* executed as `test` */
	int sites_on;  /* executed as `jmp` */
};

/* What was executed of the function under test. */
static struct steps steps;
static bool after_site;

static int slow_calls;

DEFINE_STATIC_KEY_FALSE(far_key);

__attribute__((noinline)) void slow(int a, int b)
{
	slow_calls += a != b;
}

__attribute__((noinline)) int slow_value(int a)
{
	return a ^ 1;
}

static bool is_site(uintptr_t address)
{
	for (const struct dormant_site *s = __start_dormant_sites; s < __stop_dormant_sites; s++)
		if ((uintptr_t)&s->code + (uintptr_t)s->code == address)
			return true;
	return false;
}

static void count_site(const ZydisDecodedInstruction *instruction)
{
	bool on = instruction->mnemonic == ZYDIS_MNEMONIC_JMP;

	steps.instructions++;
	steps.sites_on += on;
	steps.sites_off += instruction->mnemonic == ZYDIS_MNEMONIC_TEST;
	after_site = !on;
}

static void count_step(const struct trace_step *step)
{
	const ZydisDecodedInstruction *instruction = &step->instruction;
	bool behind = after_site;

	if (is_site(step->address)) {
		count_site(instruction);
		return;
	}
	after_site = false;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_NOP)
		return;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
		steps.landing_pads++;
		return;
	}
	steps.instructions++;
	steps.loads += trace_step_loads(step);
	steps.branches += instruction->meta.category == ZYDIS_CATEGORY_COND_BR;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_JMP) {
		steps.jumps++;
		steps.behind += behind;
	}
}

typedef int (*shape_function)(int a, int b, const struct node *list);

static struct steps run(shape_function function, int a, int b, const struct node *list, int *value)
{
	after_site = false;
	memset(&steps, 0, sizeof(steps));
	trace_next_call((uintptr_t)function, count_step);
	*value = function(a, b, list);
	return steps;
}

static const struct {
	const char *name;
	shape_function with, without;
} shapes[] = {
#define SHAPE_ROW(name) {#name, name##_with, name##_without},
	SHAPES(SHAPE_ROW)
#undef SHAPE_ROW
};

static struct node nodes[] = {{&nodes[1], 1}, {&nodes[2], 20}, {&nodes[3], 300}, {NULL, 4000}};

static bool compare(size_t i, int a)
{
	int value, expected;
	struct steps without = run(shapes[i].without, a, 3, nodes, &expected);
	struct steps with = run(shapes[i].with, a, 3, nodes, &value);
	bool right = value == expected && with.loads == without.loads &&
		     with.branches == without.branches &&
		     with.landing_pads == without.landing_pads && with.sites_off > 0 &&
		     !with.sites_on && !slow_calls;

	printf("%s sites=%d added=%d jumps=%d behind=%d loads=%d branches=%d pads=%d%s\n",
	       shapes[i].name, with.sites_off, with.instructions - without.instructions,
	       with.jumps - without.jumps, with.behind, with.loads - without.loads,
	       with.branches - without.branches, with.landing_pads - without.landing_pads,
	       right ? "" : " WRONG");
	return right;
}

static bool jumps_when_switched(size_t i, int a)
{
	int value;
	struct steps with = run(shapes[i].with, a, 3, nodes, &value);

	if (with.sites_on > 0 && !with.sites_off)
		return true;
	printf("%s switched: %d sites jump, %d do not\n", shapes[i].name, with.sites_on,
	       with.sites_off);
	return false;
}

int main(void)
{
	size_t count = sizeof(shapes) / sizeof(*shapes);
	bool right = true;

	trace_open();
	for (size_t i = 0; i < count; i++)
		right &= compare(i, 1);
	if (static_branch_enable(&off_key) || static_branch_enable(&far_key) ||
	    static_branch_disable(&on_key))
		return 1;
	for (size_t i = 0; i < count; i++)
		right &= jumps_when_switched(i, 1);
	return !right;
}
