/* SPDX-License-Identifier: MIT */
/*
 * The time of one set of one value, in each way, through each writer, alone and beside a thread
 * that runs. The library chooses its writer as a process starts, so the program runs itself once
 * for each writer and column; the two ways take turns inside.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "busy.h"
#include "measure.h"
#include "steps.h"
#include "two_ways.h"

#define ROUNDS  1000
#define WRITERS 3
#define WIDTHS  2

static const char *const writers[WRITERS] = {"proc_mem", "mprotect", "remap"};
enum { OPERAND, SLOTS, WAYS };
static const unsigned widths[WIDTHS] = {2, 3}; /* 4 and 8 bytes, in two_ways_widths */

/* ---- in the process of one column ---- */

struct samples {
	double us[ROUNDS];
	unsigned count;
	unsigned loads; /* of a read afterwards */
};

static void visit(void)
{
	(void)two_ways_widths[0].read_operand();
}

static enum two_slots_writer find_writer(const char *name)
{
	unsigned i = 0;

	while (i < WRITERS - 1 && strcmp(name, writers[i]) != 0)
		i++;
	return (enum two_slots_writer)i;
}

static bool set_operand(const struct width *width, unsigned n, enum two_slots_writer writer)
{
	(void)writer; /* the library's, see main */
	return width->set_operand(two_ways_pattern(n, width->bytes), NULL) == 0;
}

static bool set_slots(const struct width *width, unsigned n, enum two_slots_writer writer)
{
	return two_slots_set(width->slots, two_ways_pattern(n, width->bytes), width->bytes, writer);
}

typedef bool set_function(const struct width *width, unsigned n, enum two_slots_writer writer);

static bool take_sample(set_function *set, const struct width *width, unsigned n,
			enum two_slots_writer writer, struct samples *samples)
{
	unsigned long turns = busy_await();
	uint64_t begin_ns = measure_now_ns(), end_ns;
	bool done = set(width, n, writer);

	end_ns = measure_now_ns();
	if (busy_ran_since(turns))
		samples->us[samples->count++] = (double)(end_ns - begin_ns) * 1e-3;
	return done;
}

static void read_operand_once(void *width)
{
	(void)((const struct width *)width)->read_operand();
}

static void read_slots_once(void *width)
{
	(void)((const struct width *)width)->read_slots();
}

/* Slots are never loaded: what is loaded on the way to the read is the same in both. */
static unsigned count_loads(struct width width)
{
	return (unsigned)(steps_count(read_operand_once, &width).loads -
			  steps_count(read_slots_once, &width).loads);
}

static void print_samples(struct samples *samples)
{
	struct measure_summary us = {-1, -1, -1};

	if (samples->count > 0)
		us = measure_summarize(samples->us, samples->count);
	printf("%.3f %.3f %.3f %u\n", us.median, us.quartile_low, us.quartile_high, samples->loads);
}

int two_ways_measure_column(const char *name, bool busy)
{
	static struct samples samples[WIDTHS][WAYS];
	enum two_slots_writer writer = find_writer(name);

	if (busy && !busy_start(visit))
		return 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < WIDTHS; i++) {
			const struct width *width = &two_ways_widths[widths[i]];
			uint64_t value = two_ways_pattern(round, width->bytes);

			if (!take_sample(set_operand, width, round, writer, &samples[i][OPERAND]) ||
			    !take_sample(set_slots, width, round, writer, &samples[i][SLOTS]) ||
			    width->read_operand() != value || width->read_slots() != value)
				return 1;
		}
	}
	busy_stop();
	for (unsigned i = 0; i < WIDTHS; i++) {
		samples[i][OPERAND].loads = count_loads(two_ways_widths[widths[i]]);
		print_samples(&samples[i][OPERAND]);
		print_samples(&samples[i][SLOTS]);
	}
	return 0;
}

/* ---- the table: in the first process ---- */

enum { ALONE, BUSY, COLUMNS };

struct cell {
	struct measure_summary us;
	unsigned loads;
};

static bool read_column(unsigned writer, unsigned column, struct cell (*cells)[WAYS])
{
	char command[128];
	bool complete = true;
	FILE *output;

	(void)snprintf(command, sizeof(command),
		       "DORMANT_WRITER=%s exec /proc/%d/exe --column %s %s", writers[writer],
		       getpid(), writers[writer], column == BUSY ? "busy" : "alone");
	output = popen(command, "r"); /* NOLINT(cert-env33-c): a fixed command */
	if (output == NULL)
		return false;
	for (unsigned i = 0; i < WIDTHS * WAYS; i++) {
		struct cell *cell = &cells[i / WAYS][i % WAYS];

		complete &= fscanf(output, "%lf %lf %lf %u", &cell->us.median,
				   &cell->us.quartile_low, &cell->us.quartile_high,
				   &cell->loads) == 4;
	}
	return pclose(output) == 0 && complete;
}

static void print_cell(const struct cell *cell)
{
	if (cell->us.median < 0)
		printf("  %-34s", "(not measured)");
	else
		printf("  %8.1f [%5.1f .. %6.1f] %-9s", cell->us.median, cell->us.quartile_low,
		       cell->us.quartile_high, cell->loads > 0 ? "by memory" : "");
}

void two_ways_print_set_costs(void)
{
	static const char *const way_names[WAYS] = {"operand (a)", "two slots (b)"};
	static struct cell cells[WRITERS][COLUMNS][WIDTHS][WAYS];

	for (unsigned i = 0; i < WRITERS * COLUMNS; i++) {
		struct cell(*column)[WAYS] = cells[i / COLUMNS][i % COLUMNS];

		if (!read_column(i / COLUMNS, i % COLUMNS, column))
			column[0][0].us.median = column[0][1].us.median = column[1][0].us.median =
				column[1][1].us.median = -1;
	}
	printf("\ntime of a set of one site, microseconds: median [quartiles]; by memory: the read "
	       "loads the variable, no text is written\n%-34s  %-34s  %s\n",
	       "", "alone", "beside a busy thread");
	for (unsigned i = 0; i < WRITERS * WIDTHS * WAYS; i++) {
		unsigned writer = i / WAYS / WIDTHS, width = i / WAYS % WIDTHS, way = i % WAYS;

		printf("%-10s %u bytes  %-14s", writers[writer],
		       two_ways_widths[widths[width]].bytes, way_names[way]);
		print_cell(&cells[writer][ALONE][width][way]);
		print_cell(&cells[writer][BUSY][width][way]);
		printf("\n");
	}
}
