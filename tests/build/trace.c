/* SPDX-License-Identifier: MIT */
/* Traces by the trap flag; see trace.h. */
#include "trace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { TRAP_FLAG = 0x100 };

/* Written by the trap handler only while `active`. */
static struct {
	uintptr_t start;
	uintptr_t end; /* where the call returns to */
	bool active;
	trace_visit *visit;
	ZydisDecoder decoder;
} trace;

static void show(uintptr_t address)
{
	struct trace_step step = {.address = address};

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&trace.decoder, (void *)address,
					       ZYDIS_MAX_INSTRUCTION_LENGTH, &step.instruction,
					       step.operands)))
		abort();
	trace.visit(&step);
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
		show(address);
}

void trace_open(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};

	ZydisDecoderInit(&trace.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	sigaction(SIGTRAP, &action, NULL);
}

void trace_next_call(uintptr_t start, trace_visit *visit)
{
	trace.start = start;
	trace.visit = visit;
	__asm__ volatile("pushfq\n\torl $0x100,(%%rsp)\n\tpopfq" ::: "memory", "cc");
}

bool trace_step_loads(const struct trace_step *step)
{
	if (step->instruction.mnemonic == ZYDIS_MNEMONIC_LEA)
		return false;
	for (unsigned i = 0; i < step->instruction.operand_count; i++)
		if (step->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    step->operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
		    step->operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			return true;
	return false;
}
