/* SPDX-License-Identifier: MIT */
/*
 * Stepping: with the trap flag set the processor stops after each instruction, and the handler
 * decodes the one that comes next.
 */
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include <Zydis/Zydis.h>

#include "steps.h"

#define INSTRUCTION_BYTES_MAX 15

static struct steps steps;

static bool decode(const void *code, ZydisDecodedInstruction *instruction,
		   ZydisDecodedOperand *operands)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, INSTRUCTION_BYTES_MAX,
						   instruction, operands));
}

bool steps_is_load(const void *code)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!decode(code, &instruction, operands) || instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	for (unsigned i = 0; i < instruction.operand_count_visible; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
			return true;
	}
	return false;
}

void steps_print_instruction(FILE *output, const void *code)
{
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisFormatter formatter;
	char text[96] = "(no instruction)";

	if (decode(code, &instruction, operands) &&
	    ZYAN_SUCCESS(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
		(void)ZydisFormatterFormatInstruction(&formatter, &instruction, operands,
						      instruction.operand_count_visible, text,
						      sizeof(text), (ZyanU64)(uintptr_t)code, NULL);
	fputs(text, output);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *stopped = context;

	(void)signal;
	(void)info;
	steps.instructions++;
	/* NOLINTNEXTLINE(performance-no-int-to-ptr): where the thread stopped */
	steps.loads += steps_is_load((const void *)stopped->uc_mcontext.gregs[REG_RIP]);
}

/* The stack pointer moves over what a function may keep below it. */
#define SET_TRAP_FLAG(operation)                                \
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"          \
			 "pushfq\n\t" operation ", (%%rsp)\n\t" \
			 "popfq\n\t"                            \
			 "leaq 128(%%rsp), %%rsp"               \
			 :                                      \
			 :                                      \
			 : "memory", "cc")

/* Counts a few instructions of its own, the same number each time. */
static __attribute__((noinline)) struct steps step_through(steps_function *function, void *argument)
{
	steps = (struct steps){0, 0};
	SET_TRAP_FLAG("orq $0x100");
	function(argument);
	SET_TRAP_FLAG("andq $~0x100");
	return steps;
}

static void do_nothing(void *argument)
{
	(void)argument;
}

struct steps steps_count(steps_function *function, void *argument)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, before;
	struct steps counted, own;

	(void)sigaction(SIGTRAP, &action, &before);
	own = step_through(do_nothing, argument);
	counted = step_through(function, argument);
	(void)sigaction(SIGTRAP, &before, NULL);
	/* do_nothing() is a return. */
	counted.instructions += 1 - own.instructions;
	counted.loads -= own.loads;
	return counted;
}
