/* SPDX-License-Identifier: MIT */
/*
 * The time of one toggle, by number of sites and their distance: through each writer, alone and
 * beside a thread that runs a site all the time. The writer is chosen as a process starts, so the
 * program runs itself once for each column and prints one table; inside a column the sizes take
 * turns.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"
#include "columns.h"
#include "measure.h"
#include "sites.h"

/* clang-format off: one line a key */
DEFINE_SITES(dense_1, 1, 64);
DEFINE_SITES(dense_10, 10, 64);
DEFINE_SITES(dense_100, 100, 64);
DEFINE_SITES(dense_1000, 1000, 64);
DEFINE_SITES(dense_5000, 5000, 64);
DEFINE_SITES(dense_10000, 10000, 64);
DEFINE_SITES(dense_100000, 100000, 64);
DEFINE_SITES(page_1, 1, 4096);
DEFINE_SITES(page_100, 100, 4096);
DEFINE_SITES(page_10000, 10000, 4096);
/* clang-format on */

static const struct series {
	const char *name;
	struct static_key_false *key;
	unsigned char *first;
	unsigned long count, stride;
} all_series[] = {
	{"1 site", &dense_1, dense_1_site, 1, DENSE_BYTES},
	{"10 dense", &dense_10, dense_10_site, 10, DENSE_BYTES},
	{"100 dense", &dense_100, dense_100_site, 100, DENSE_BYTES},
	{"1,000 dense", &dense_1000, dense_1000_site, 1000, DENSE_BYTES},
	{"5,000 dense", &dense_5000, dense_5000_site, 5000, DENSE_BYTES},
	{"10,000 dense", &dense_10000, dense_10000_site, 10000, DENSE_BYTES},
	{"100,000 dense", &dense_100000, dense_100000_site, 100000, DENSE_BYTES},
	{"1 alone in a page", &page_1, page_1_site, 1, PAGE_BYTES},
	{"100, one a page", &page_100, page_100_site, 100, PAGE_BYTES},
	{"10,000, one a page", &page_10000, page_10000_site, 10000, PAGE_BYTES},
};

#define SERIES (sizeof(all_series) / sizeof(all_series[0]))
enum { ONE_SITE = 0, DENSE_5000 = 4, DENSE_10000 = 5 };

/* ---- measuring: in the process of one column ---- */

#define ROUNDS     200
#define VISITS_MIN 3
#define BUDGET_NS  2000000000 /* for one series; it gets fewer rounds where it is slow */

struct samples {
	double us[2 * ROUNDS];
	unsigned count;
	uint64_t spent_ns;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "toggle: %s: %s\n", what, why);
	exit(1);
}

/* Switches, and checks that the first and the last site follow. Returns nanoseconds. */
static uint64_t time_toggle(const struct series *series, bool on)
{
	struct dormant_error error;
	uint64_t begin_ns = measure_now_ns(), end_ns;
	int result = on ? dormant_static_key_enable(&series->key->key, &error)
			: dormant_static_key_disable(&series->key->key, &error);

	end_ns = measure_now_ns();
	if (result != 0)
		fail(series->name, error.message);
	if (sites_run(series->first, 0, series->stride) != on ||
	    sites_run(series->first, series->count - 1, series->stride) != on)
		fail(series->name, "a site did not follow its key");
	return end_ns - begin_ns;
}

/* Where other processes compete, the busy thread does not always run: such samples are of another
 * state, and are not kept. */
static void take_sample(const struct series *series, bool on, struct samples *samples)
{
	unsigned long turns = busy_await();
	double us = (double)time_toggle(series, on) * 1e-3;

	if (busy_ran_since(turns))
		samples->us[samples->count++] = us;
}

/* The pair before those that count brings back into the caches what other series displaced. */
static void visit(const struct series *series, struct samples *samples)
{
	uint64_t begin_ns = measure_now_ns();

	(void)time_toggle(series, true);
	(void)time_toggle(series, false);
	take_sample(series, true, samples);
	take_sample(series, false, samples);
	samples->spent_ns += measure_now_ns() - begin_ns;
}

static void run_site(void)
{
	(void)sites_run(dense_1_site, 0, DENSE_BYTES);
}

static int measure_column(bool busy)
{
	static struct samples samples[SERIES];

	if (busy && !busy_start(run_site))
		return 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < SERIES; i++) {
			if (round < VISITS_MIN || samples[i].spent_ns < BUDGET_NS)
				visit(&all_series[i], &samples[i]);
		}
	}
	for (unsigned i = 0; i < SERIES; i++) {
		struct measure_summary us;

		if (samples[i].count == 0)
			fail(all_series[i].name, "the busy thread never ran beside it");
		us = measure_summarize(samples[i].us, samples[i].count);
		printf("%u %.3f %.3f %.3f\n", samples[i].count, us.median, us.quartile_low,
		       us.quartile_high);
	}
	busy_stop();
	return 0;
}

/* ---- the table: in the first process ---- */

struct cell {
	unsigned count;
	struct measure_summary us;
};

static bool read_column(const struct column *column, struct cell *cells)
{
	FILE *output;
	bool complete = true;

	output = column_open(column);
	if (output == NULL)
		return false;
	for (unsigned i = 0; i < SERIES; i++) {
		struct cell *cell = &cells[i];

		complete &= fscanf(output, "%u %lf %lf %lf", &cell->count, &cell->us.median,
				   &cell->us.quartile_low, &cell->us.quartile_high) == 4;
	}
	return pclose(output) == 0 && complete;
}

static void print_table(struct cell (*cells)[SERIES])
{
	printf("microseconds a toggle: median [quartiles] of n\n%-20s", "");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf("  %9s, %-19s", columns[c].writer,
		       columns[c].busy ? "beside a busy" : "alone");
	for (unsigned i = 0; i < SERIES; i++) {
		printf("\n%-20s", all_series[i].name);
		for (unsigned c = 0; c < COLUMNS; c++) {
			const struct cell *cell = &cells[c][i];

			printf("  %9.1f [%.1f-%.1f] %u", cell->us.median, cell->us.quartile_low,
			       cell->us.quartile_high, cell->count);
		}
	}
	printf("\n");
}

/* What others need alone, as measured elsewhere on such a machine: quoted, not run here. */
static void print_quoted(const struct cell *alone)
{
	static const struct {
		const char *name;
		double us;
		unsigned series;
	} quoted[] = {
		{"multiverse, 5,000 sites (quoted)", 211, DENSE_5000},
		{"XRay, 10,000 sites, all at once (quoted)", 407, DENSE_10000},
		{"nbdd static-key, 10,000 sites (quoted)", 239, DENSE_10000},
	};

	printf("\nalone, default writer, beside others\n");
	for (unsigned i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
		double us = alone[quoted[i].series].us.median;

		printf("%-42s %6.0f us   here %6.1f us   %s\n", quoted[i].name, quoted[i].us, us,
		       us < quoted[i].us ? "below" : "ABOVE");
	}
}

static void print_ratios(struct cell (*cells)[SERIES])
{
	printf("\n10,000 dense sites against 1 site, through the same writer (at most 10 beside a "
	       "busy thread)\n");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf("%-9s %-5s %6.1f\n", columns[c].writer, columns[c].busy ? "busy" : "alone",
		       cells[c][DENSE_10000].us.median / cells[c][ONE_SITE].us.median);
}

int main(int argc, char **argv)
{
	static struct cell cells[COLUMNS][SERIES];

	if (argc == 3 && strcmp(argv[1], "--column") == 0)
		return measure_column(strcmp(argv[2], "busy") == 0);
	if (argc != 1) {
		fprintf(stderr, "usage: toggle\n");
		return 2;
	}
	for (unsigned c = 0; c < COLUMNS; c++) {
		if (!read_column(&columns[c], cells[c]))
			fail(columns[c].writer, "could not be measured");
	}
	print_table(cells);
	print_quoted(cells[0]);
	print_ratios(cells);
	return 0;
}
