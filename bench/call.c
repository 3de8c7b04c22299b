/* SPDX-License-Identifier: MIT */
/*
 * What a call of an empty function costs, by the way it is called, against a direct call. Ways take
 * turns, loop by loop; a ratio is of two loops at the same offset, in the same round.
 */
#include <stdio.h>
#include <string.h>

#include <dormant/static_call.h>

#include "call_loops.h"
#include "cycles.h"
#include "measure.h"
#include "steps.h"

DEFINE_STATIC_CALL(call_static, call_empty);
DEFINE_STATIC_CALL_NULL(call_none, call_empty);

DEFINE_CALL_LOOPS(nothing, __asm__ volatile(""));
DEFINE_CALL_LOOPS(direct, call_empty());
DEFINE_CALL_LOOPS(static, static_call(call_static)());
DEFINE_CALL_LOOPS(trampoline, dormant_trampoline_call_static());
DEFINE_CALL_LOOPS(pointer, call_pointer());
DEFINE_CALL_LOOPS(none, static_call_cond(call_none)());

enum { NOTHING, DIRECT, STATIC, TRAMPOLINE, POINTER, RETPOLINE, NONE, WAYS };

static const struct way {
	const char *name;
	call_loop_function *const (*loops)[CALL_OFFSETS]; /* of each shape */
} ways[WAYS] = {
	{"(nothing: the loop)", call_loop_nothing},
	{"direct call", call_loop_direct},
	{"static_call", call_loop_static},
	{"the same, by its trampoline", call_loop_trampoline},
	{"through a pointer", call_loop_pointer},
	{"the same, with retpolines", call_loop_retpoline},
	{"static_call_cond, no function", call_loop_none},
};

#define ROUNDS     400
#define ITERATIONS 2000
#define SAMPLES    (ROUNDS * CALL_OFFSETS)

static double cycles_per_call[CALL_SHAPES][WAYS][SAMPLES];
static bool have_core;

/* The core's cycles, where they can be read. */
static double time_loop(call_loop_function *loop)
{
	struct call_loop argument = {ITERATIONS};
	struct cycles begin, end;
	uint64_t cycles;

	loop(&argument);
	begin = cycles_read(have_core);
	loop(&argument);
	end = cycles_read(have_core);
	cycles = have_core ? end.core - begin.core : end.tsc - begin.tsc;
	return (double)cycles / ITERATIONS / CALL_CALLS;
}

/* Forwards in one round, backwards in the next, so that a drift meets all ways alike. */
static void measure_round(unsigned round)
{
	for (unsigned i = 0; i < CALL_SHAPES * CALL_OFFSETS; i++) {
		unsigned shape = i % CALL_SHAPES, offset = i / CALL_SHAPES;

		for (unsigned turn = 0; turn < WAYS; turn++) {
			unsigned way = round % 2 == 0 ? turn : WAYS - 1 - turn;

			cycles_per_call[shape][way][round * CALL_OFFSETS + offset] =
				time_loop(ways[way].loops[shape][offset]);
		}
	}
}

static struct measure_summary summarize(const double *values)
{
	static double sorted[SAMPLES];

	memcpy(sorted, values, sizeof(sorted));
	return measure_summarize(sorted, SAMPLES);
}

static struct measure_summary summarize_ratio(unsigned shape, unsigned way, unsigned to)
{
	static double ratios[SAMPLES];

	for (unsigned i = 0; i < SAMPLES; i++)
		ratios[i] = cycles_per_call[shape][way][i] / cycles_per_call[shape][to][i];
	return measure_summarize(ratios, SAMPLES);
}

/* What one call adds to the loop. */
static struct steps count_call(unsigned way)
{
	struct call_loop once = {1}, twice = {2};
	struct steps steps = steps_count(ways[way].loops[CALL_TIGHT][0], &once);
	struct steps more = steps_count(ways[way].loops[CALL_TIGHT][0], &twice);

	more.instructions -= steps.instructions;
	more.loads -= steps.loads;
	return more;
}

static void print_row(unsigned way)
{
	struct steps nothing = count_call(NOTHING), steps = count_call(way);

	printf("%-30s %6.2f %5.2f", ways[way].name,
	       (double)(steps.instructions - nothing.instructions) / CALL_CALLS,
	       (double)(steps.loads - nothing.loads) / CALL_CALLS);
	for (unsigned shape = 0; shape < CALL_SHAPES; shape++) {
		struct measure_summary cycles = summarize(cycles_per_call[shape][way]);
		struct measure_summary ratio = summarize_ratio(shape, way, DIRECT);

		printf("  %6.2f [%5.2f .. %5.2f] %6.3f [%5.3f .. %5.3f]", cycles.median,
		       cycles.quartile_low, cycles.quartile_high, ratio.median, ratio.quartile_low,
		       ratio.quartile_high);
	}
	printf("\n");
}

static void print_table(void)
{
	const char *unit = have_core ? "core cycles" : "TSC cycles";

	printf("a call of an empty function, the loop included: %u rounds at %u offsets; median "
	       "[quartiles]\n%-30s %6s %5s  %-45s  %s\n%-42s",
	       ROUNDS, CALL_OFFSETS, "", "", "", "tight", "among 24 loads", "");
	for (unsigned shape = 0; shape < CALL_SHAPES; shape++)
		printf("  %-22s %-22s", unit, "x a direct call");
	printf("\n%-30s %6s %5s\n", "", "instr.", "loads");
	for (unsigned way = NOTHING; way < WAYS; way++)
		print_row(way);
}

static void print_bar(const char *name, const char *what, double figure, const char *verdict)
{
	printf("%-10s %-52s %8.3f  %s\n", name, what, figure, verdict);
}

/* A ratio that differs from 1 by less than this is that of two ways that take the same time. */
#define SAME 0.005

static const char *judge_below(double ratio)
{
	if (ratio > 1 - SAME && ratio < 1 + SAME)
		return "EQUAL";
	return ratio < 1 ? "met" : "NOT MET";
}

static void print_bars_of(unsigned shape, const char *name)
{
	double direct = summarize_ratio(shape, STATIC, DIRECT).median;
	double pointer = summarize_ratio(shape, STATIC, POINTER).median;
	double retpoline = summarize_ratio(shape, STATIC, RETPOLINE).median;

	print_bar(name, "at most 1.02 x a direct call", direct, direct <= 1.02 ? "met" : "NOT MET");
	print_bar(name, "below a call through a pointer, x that", pointer, judge_below(pointer));
	print_bar(name, "below the same with retpolines, x that", retpoline,
		  judge_below(retpoline));
}

static void print_bars(void)
{
	long more = count_call(STATIC).instructions - count_call(DIRECT).instructions;

	printf("\nbars for static_call\n");
	print_bar("", "instructions more than a direct call", (double)more / CALL_CALLS,
		  more == 0 ? "met" : "NOT MET");
	print_bars_of(CALL_TIGHT, "tight");
	print_bars_of(CALL_AMONG_WORK, "among work");
}

int main(void)
{
	have_core = cycles_have_core();
	for (unsigned round = 0; round < ROUNDS; round++)
		measure_round(round);
	print_table();
	print_bars();
	return 0;
}
