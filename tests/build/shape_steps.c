/* SPDX-License-Identifier: MIT */
/*
 * Runs each function of fixtures/shape.c with and without its sites, one instruction at a time
 * (the processor's trap flag), decodes every instruction that is executed, and compares. Prints a
 * line for each function and exits 1 when the dormant sites execute a load, a conditional branch or
 * a landing pad that the function without them does not, or when an enabled site is not one jump.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <Zydis/Zydis.h>

#include "fixtures/shape.h"

enum { TRAP_FLAG = 0x100 };

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

/* The trace, written by the trap handler only while `active`. */
static struct {
	uintptr_t start;
	uintptr_t end; /* where the call returns to */
	bool active;
	bool after_site;
	struct steps steps;
	ZydisDecoder decoder;
} trace;

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

static bool reads_memory(const ZydisDecodedInstruction *instruction,
			 const ZydisDecodedOperand *operands)
{
	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA)
		return false;
	for (unsigned i = 0; i < instruction->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			return true;
	return false;
}

static void count_site(struct steps *steps, const ZydisDecodedInstruction *instruction)
{
	bool on = instruction->mnemonic == ZYDIS_MNEMONIC_JMP;

	steps->instructions++;
	steps->sites_on += on;
	steps->sites_off += instruction->mnemonic == ZYDIS_MNEMONIC_TEST;
	trace.after_site = !on;
}

static void count_step(struct steps *steps, uintptr_t address)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	bool behind = trace.after_site;

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&trace.decoder, (void *)address,
					       ZYDIS_MAX_INSTRUCTION_LENGTH, &instruction,
					       operands)))
		abort();
	if (is_site(address)) {
		count_site(steps, &instruction);
		return;
	}
	trace.after_site = false;
	if (instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
		return;
	if (instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
		steps->landing_pads++;
		return;
	}
	steps->instructions++;
	steps->loads += reads_memory(&instruction, operands);
	steps->branches += instruction.meta.category == ZYDIS_CATEGORY_COND_BR;
	if (instruction.mnemonic == ZYDIS_MNEMONIC_JMP) {
		steps->jumps++;
		steps->behind += behind;
	}
}

/* Runs before the instruction at RIP. */
static void on_trap(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t address = (uintptr_t)registers[REG_RIP];

	(void)number;
	(void)info;
	if (!trace.active && address == trace.start) {
		trace.active = true;
		memcpy(&trace.end, (void *)registers[REG_RSP], sizeof(trace.end));
	}
	if (trace.active && address == trace.end) {
		trace.active = false;
		registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	}
	if (trace.active)
		count_step(&trace.steps, address);
}

typedef int (*shape_function)(int a, int b, const struct node *list);

static struct steps run(shape_function function, int a, int b, const struct node *list, int *value)
{
	trace.start = (uintptr_t)function;
	trace.after_site = false;
	memset(&trace.steps, 0, sizeof(trace.steps));
	__asm__ volatile("pushfq\n\torl $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
	*value = function(a, b, list);
	return trace.steps;
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
	struct steps steps = run(shapes[i].with, a, 3, nodes, &value);

	if (steps.sites_on > 0 && !steps.sites_off)
		return true;
	printf("%s switched: %d sites jump, %d do not\n", shapes[i].name, steps.sites_on,
	       steps.sites_off);
	return false;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	size_t count = sizeof(shapes) / sizeof(*shapes);
	bool right = true;

	ZydisDecoderInit(&trace.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	sigaction(SIGTRAP, &action, NULL);
	for (size_t i = 0; i < count; i++)
		right &= compare(i, 1);
	if (static_branch_enable(&off_key) || static_branch_enable(&far_key) ||
	    static_branch_disable(&on_key))
		return 1;
	for (size_t i = 0; i < count; i++)
		right &= jumps_when_switched(i, 1);
	return !right;
}
