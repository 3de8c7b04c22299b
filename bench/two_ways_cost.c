/* SPDX-License-Identifier: MIT */
/*
 * What a read costs at its site, in each way, above nothing: in a loop of reads ("tight"), and in
 * one in which a chain of multiplications takes longer ("bound"). Each loop exists at several
 * offsets from the start of a line, so that the place of the code does not decide.
 */
#include <stdio.h>

#include <dormant/imv.h>

#include "cycles.h"
#include "measure.h"
#include "steps.h"
#include "two_ways.h"

DEFINE_STATIC_IMV(uint8_t, cost_1);
DEFINE_STATIC_IMV(uint16_t, cost_2);
DEFINE_STATIC_IMV(uint32_t, cost_4);
DEFINE_STATIC_IMV(uint64_t, cost_8);
static uint8_t memory_1;
static uint16_t memory_2;
static uint32_t memory_4;
static uint64_t memory_8;

/* ---- the ways ---- */

/* clang-format off: one line a way */
#define READ_nothing(output, bytes) __asm__ volatile("" : "=R"(output))
#define READ_operand(output, bytes) output = imv_read(cost_##bytes)
#define READ_slot_b(output, bytes)  TWO_SLOTS_READ_##bytes(output, "0xa9", TWO_SLOTS_NO_RECORD)
#define READ_slot_a(output, bytes)  TWO_SLOTS_READ_##bytes(output, "0xe9", TWO_SLOTS_NO_RECORD)
#define READ_load(output, bytes)    output = __atomic_load_n(&memory_##bytes, __ATOMIC_RELAXED)
/* clang-format on */
#define TWO_SLOTS_READ_1 TWO_SLOTS_READ_4
#define TWO_SLOTS_READ_2 TWO_SLOTS_READ_4

#define SITES      8 /* an iteration */
#define FOUR(site) site site site site

struct loop_argument {
	unsigned long iterations;
};

#define SITE_tight(way, type, bytes)                  \
	{                                             \
		type output;                          \
		READ_##way(output, bytes);            \
		__asm__ volatile("" : : "r"(output)); \
	}
#define SITE_bound(way, type, bytes)                                  \
	{                                                             \
		type output;                                          \
		READ_##way(output, bytes);                            \
		__asm__ volatile("imulq $3, %0, %0" : "+r"(product)); \
		__asm__ volatile("" : : "r"(output));                 \
	}

#define DEFINE_LOOP(shape, way, type, bytes, offset)                                              \
	static __attribute__((noinline, aligned(64))) void shape##_##way##_##bytes##_##offset(    \
		void *argument)                                                                   \
	{                                                                                         \
		unsigned long left = ((struct loop_argument *)argument)->iterations, product = 1; \
                                                                                                  \
		__asm__ volatile(".skip " #offset ", 0x90" : "+r"(product));                      \
		for (; left > 0; left--) {                                                        \
			FOUR(SITE_##shape(way, type, bytes))                                      \
			FOUR(SITE_##shape(way, type, bytes))                                      \
		}                                                                                 \
	}

#define OFFSETS 4
#define DEFINE_SHAPE(shape, way, type, bytes)    \
	DEFINE_LOOP(shape, way, type, bytes, 1)  \
	DEFINE_LOOP(shape, way, type, bytes, 20) \
	DEFINE_LOOP(shape, way, type, bytes, 38) \
	DEFINE_LOOP(shape, way, type, bytes, 57)
#define DEFINE_WAY(way, type, bytes)          \
	DEFINE_SHAPE(tight, way, type, bytes) \
	DEFINE_SHAPE(bound, way, type, bytes)
#define DEFINE_WIDTH(operand_type, type, bytes)  \
	DEFINE_WAY(nothing, type, bytes)         \
	DEFINE_WAY(operand, operand_type, bytes) \
	DEFINE_WAY(slot_b, type, bytes)          \
	DEFINE_WAY(slot_a, type, bytes)          \
	DEFINE_WAY(load, operand_type, bytes)

DEFINE_WIDTH(uint8_t, uint32_t, 1)
DEFINE_WIDTH(uint16_t, uint32_t, 2)
DEFINE_WIDTH(uint32_t, uint32_t, 4)
DEFINE_WIDTH(uint64_t, uint64_t, 8)

enum { NOTHING, WAYS = 5 };
enum { TIGHT, BOUND, SHAPES };

static const char *const way_names[WAYS] = {"nothing", "operand, one store (a)",
					    "two slots, the second (b)", "two slots, the first (b)",
					    "load of a variable"};

#define LOOPS(shape, way, bytes)                                                   \
	{                                                                          \
		shape##_##way##_##bytes##_1, shape##_##way##_##bytes##_20,         \
			shape##_##way##_##bytes##_38, shape##_##way##_##bytes##_57 \
	}
#define LOOPS_OF_WAY(way, bytes)                                   \
	{                                                          \
		LOOPS(tight, way, bytes), LOOPS(bound, way, bytes) \
	}
#define LOOPS_OF_WIDTH(bytes)                                                     \
	{                                                                         \
		LOOPS_OF_WAY(nothing, bytes), LOOPS_OF_WAY(operand, bytes),       \
			LOOPS_OF_WAY(slot_b, bytes), LOOPS_OF_WAY(slot_a, bytes), \
			LOOPS_OF_WAY(load, bytes)                                 \
	}

static steps_function *const loops[TWO_WAYS_WIDTHS][WAYS][SHAPES][OFFSETS] = {
	LOOPS_OF_WIDTH(1), LOOPS_OF_WIDTH(2), LOOPS_OF_WIDTH(4), LOOPS_OF_WIDTH(8)};

/* ---- measuring ---- */

#define ROUNDS     60
#define ITERATIONS 4000

static double above[TWO_WAYS_WIDTHS][WAYS][SHAPES][ROUNDS * OFFSETS];
static bool have_core;

/* Cycles per site: the core's where they can be read. */
static double time_loop(steps_function *loop)
{
	struct loop_argument argument = {ITERATIONS};
	struct cycles begin = cycles_read(have_core), end;
	uint64_t cycles;

	loop(&argument);
	end = cycles_read(have_core);
	cycles = have_core ? end.core - begin.core : end.tsc - begin.tsc;
	return (double)cycles / ITERATIONS / SITES;
}

static void measure_round(unsigned round)
{
	for (unsigned width = 0; width < TWO_WAYS_WIDTHS; width++) {
		for (unsigned i = 0; i < SHAPES * OFFSETS; i++) {
			unsigned shape = i % SHAPES, offset = i / SHAPES;
			double nothing = 0;

			for (unsigned way = 0; way < WAYS; way++) {
				double cycles = time_loop(loops[width][way][shape][offset]);

				if (way == NOTHING)
					nothing = cycles;
				above[width][way][shape][round * OFFSETS + offset] = cycles -
										     nothing;
			}
		}
	}
}

static struct steps count_iteration(steps_function *loop)
{
	struct loop_argument once = {1}, twice = {2};
	struct steps steps = steps_count(loop, &once), more = steps_count(loop, &twice);

	more.instructions -= steps.instructions;
	more.loads -= steps.loads;
	return more;
}

static void print_cell(double *values)
{
	struct measure_summary cycles = measure_summarize(values, ROUNDS * OFFSETS);

	printf("  %6.2f [%5.2f .. %5.2f]", cycles.median, cycles.quartile_low,
	       cycles.quartile_high);
}

static void print_row(unsigned width, unsigned way)
{
	struct steps nothing = count_iteration(loops[width][NOTHING][TIGHT][0]);
	struct steps steps = count_iteration(loops[width][way][TIGHT][0]);

	printf("%u  %-26s %12.2f %6.2f", two_ways_widths[width].bytes, way_names[way],
	       (double)(steps.instructions - nothing.instructions) / SITES,
	       (double)(steps.loads - nothing.loads) / SITES);
	print_cell(above[width][way][TIGHT]);
	print_cell(above[width][way][BOUND]);
	printf("\n");
}

void two_ways_print_site_costs(void)
{
	have_core = cycles_have_core();
	for (unsigned round = 0; round < ROUNDS; round++)
		measure_round(round);
	printf("cost of a read above nothing, %s cycles: median [quartiles]\n",
	       have_core ? "core" : "TSC");
	printf("%-29s %12s %6s  %-23s  %-23s\n", "bytes", "instructions", "loads", "tight loop",
	       "latency-bound loop");
	for (unsigned width = 0; width < TWO_WAYS_WIDTHS; width++) {
		for (unsigned way = NOTHING + 1; way < WAYS; way++)
			print_row(width, way);
	}
}
