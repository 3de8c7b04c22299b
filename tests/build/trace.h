/* SPDX-License-Identifier: MIT */
/*
 * Runs a function one instruction at a time, by the processor's trap flag, and shows each decoded
 * instruction before it is executed, those of the functions that it calls included. One at a time.
 */
#ifndef TRACE_H
#define TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include <Zydis/Zydis.h>

struct trace_step {
	uintptr_t address;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

typedef void trace_visit(const struct trace_step *step);

/* Once, before the first trace. */
void trace_open(void);

/* The next call of the function at @start shows its steps to @visit, until it returns. */
void trace_next_call(uintptr_t start, trace_visit *visit);

/* Whether an instruction loads from memory that it names; not what only pops or returns. */
bool trace_step_loads(const struct trace_step *step);

#endif
