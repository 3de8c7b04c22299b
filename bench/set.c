/* SPDX-License-Identifier: MIT */
/*
 * The time of setting immediate values and static calls, by number of sites: through each writer,
 * alone and beside a thread that runs a site all the time. The writer is chosen as a process
 * starts, so the program runs itself once for each column and prints one table; inside a column the
 * rows take turns.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "busy.h"
#include "columns.h"
#include "measure.h"
#include "set_sites.h"

DEFINE_VALUE_SITES(value_1, 1);
DEFINE_VALUE_SITES(value_100, 100);
DEFINE_VALUE_SITES(value_10000, 10000);

#define DEFINE_ONE(n)                           \
	DEFINE_STATIC_IMV(uint32_t, batch_##n); \
	DEFINE_STATIC_CALL(batch_call_##n, return_0);

/* In every change all bytes change, so that no writer may do with one. */
static uint32_t pattern(unsigned n)
{
	return (n & 0xff) * 0x01010101u;
}

static __attribute__((noinline)) unsigned return_0(void)
{
	return 0;
}

static __attribute__((noinline)) unsigned return_1(void)
{
	return 1;
}

HUNDRED(DEFINE_ONE)

/* ---- the rows: each sets to the @n-th state, and checks that sites follow ---- */

#define BATCH 200

static struct dormant_change changes[BATCH];

/* The values, then the calls. */
static void fill_changes(void)
{
	unsigned count = 0;

#define ADD_VALUE(n) changes[count++] = (struct dormant_change)DORMANT_CHANGE_IMV(batch_##n, 0);
#define ADD_CALL(n) \
	changes[count++] = (struct dormant_change)DORMANT_CHANGE_CALL(batch_call_##n, return_0);
	HUNDRED(ADD_VALUE)
	HUNDRED(ADD_CALL)
}

static unsigned read_values(void)
{
	unsigned wrong = 0, first = imv_read(batch_00);

#define CHECK_VALUE(n) wrong += imv_read(batch_##n) != first;
	HUNDRED(CHECK_VALUE)
	return wrong == 0 ? first : ~0u;
}

static unsigned run_calls(void)
{
	unsigned sum = 0;

#define ADD_RESULT(n) sum += static_call(batch_call_##n)();
	HUNDRED(ADD_RESULT)
	return sum;
}

static int set_batch(unsigned n, size_t first, size_t count, struct dormant_error *error)
{
	for (unsigned i = 0; i < BATCH; i++) {
		changes[i].imv.bits = pattern(n);
		changes[i].call.function = (void *)(n % 2 == 0 ? return_0 : return_1);
	}
	return dormant_batch(changes + first, count, &dormant_object_self, error);
}

static int set_1(unsigned n, struct dormant_error *error)
{
	return imv_set_error(value_1, pattern(n), error);
}

static int set_100(unsigned n, struct dormant_error *error)
{
	return imv_set_error(value_100, pattern(n), error);
}

static int set_10000(unsigned n, struct dormant_error *error)
{
	return imv_set_error(value_10000, pattern(n), error);
}

static int set_call(unsigned n, struct dormant_error *error)
{
	return static_call_update_error(batch_call_00, n % 2 == 0 ? return_0 : return_1, error);
}

static int set_values(unsigned n, struct dormant_error *error)
{
	return set_batch(n, 0, BATCH / 2, error);
}

static int set_all(unsigned n, struct dormant_error *error)
{
	return set_batch(n, 0, BATCH, error);
}

static bool follows_1(unsigned n)
{
	return sites_read(value_1_site, 0) == pattern(n);
}

static bool follows_100(unsigned n)
{
	return sites_read(value_100_site, 0) == pattern(n) &&
	       sites_read(value_100_site, 99) == pattern(n);
}

static bool follows_10000(unsigned n)
{
	return sites_read(value_10000_site, 0) == pattern(n) &&
	       sites_read(value_10000_site, 9999) == pattern(n);
}

static bool follows_call(unsigned n)
{
	return static_call(batch_call_00)() == n % 2;
}

static bool follows_values(unsigned n)
{
	return read_values() == pattern(n);
}

static bool follows_all(unsigned n)
{
	return read_values() == pattern(n) && run_calls() == n % 2 * (BATCH / 2);
}

static const struct row {
	const char *name;
	int (*set)(unsigned n, struct dormant_error *error);
	bool (*follows)(unsigned n);
} rows[] = {
	{"imv_set, 1 site", set_1, follows_1},
	{"imv_set, 100 sites", set_100, follows_100},
	{"imv_set, 10,000 sites", set_10000, follows_10000},
	{"static_call_update, 2 sites", set_call, follows_call},
	{"batch: 100 values", set_values, follows_values},
	{"batch: 100 values, 100 calls", set_all, follows_all},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* ---- measuring: in the process of one column ---- */

#define ROUNDS 200

struct samples {
	double us[ROUNDS];
	unsigned count;
};

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "set: %s: %s\n", what, why);
	exit(1);
}

static void visit(void)
{
	(void)sites_read(value_1_site, 0);
}

static void take_sample(const struct row *row, unsigned n, struct samples *samples)
{
	struct dormant_error error = {0};
	unsigned long turns;
	uint64_t begin_ns, end_ns;
	int result;

	/* The one before brings back what other rows displaced. */
	if (row->set(n + 1, &error) != 0)
		fail(row->name, error.message);
	turns = busy_await();
	begin_ns = measure_now_ns();
	result = row->set(n, &error);
	end_ns = measure_now_ns();
	if (result != 0)
		fail(row->name, error.message);
	if (!row->follows(n))
		fail(row->name, "a site did not follow");
	if (busy_ran_since(turns))
		samples->us[samples->count++] = (double)(end_ns - begin_ns) * 1e-3;
}

static int measure_column(bool busy)
{
	static struct samples samples[ROWS];

	fill_changes();
	if (busy && !busy_start(visit))
		return 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < ROWS; i++)
			take_sample(&rows[i], round, &samples[i]);
	}
	busy_stop();
	for (unsigned i = 0; i < ROWS; i++) {
		struct measure_summary us = {-1, -1, -1};

		if (samples[i].count > 0)
			us = measure_summarize(samples[i].us, samples[i].count);
		printf("%.3f %.3f %.3f\n", us.median, us.quartile_low, us.quartile_high);
	}
	/* An e9 in memory: the site loads the variable. */
	printf("%d\n", value_1_site[0] == 0xe9);
	return 0;
}

/* ---- the table: in the first process ---- */

struct cells {
	struct measure_summary us[ROWS];
	int by_memory;
};

static bool read_column(const struct column *column, struct cells *cells)
{
	FILE *output;
	bool complete = true;

	output = column_open(column);
	if (output == NULL)
		return false;
	for (unsigned i = 0; i < ROWS; i++)
		complete &= fscanf(output, "%lf %lf %lf", &cells->us[i].median,
				   &cells->us[i].quartile_low, &cells->us[i].quartile_high) == 3;
	complete &= fscanf(output, "%d", &cells->by_memory) == 1;
	return pclose(output) == 0 && complete;
}

static void print_table(const struct cells *cells)
{
	printf("microseconds a set: median [quartiles]\n%-29s", "");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf("  %9s, %-16s", columns[c].writer,
		       columns[c].busy ? "beside a busy" : "alone");
	printf("\n%-29s", "");
	for (unsigned c = 0; c < COLUMNS; c++)
		printf("  %27s", cells[c].by_memory ? "(text as in the file) " : "");
	for (unsigned i = 0; i < ROWS; i++) {
		printf("\n%-29s", rows[i].name);
		for (unsigned c = 0; c < COLUMNS; c++) {
			struct measure_summary us = cells[c].us[i];

			printf("  %9.1f [%6.1f-%6.1f]  ", us.median, us.quartile_low,
			       us.quartile_high);
		}
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static struct cells cells[COLUMNS];

	if (argc == 3 && strcmp(argv[1], "--column") == 0)
		return measure_column(strcmp(argv[2], "busy") == 0);
	if (argc != 1) {
		fprintf(stderr, "usage: set\n");
		return 2;
	}
	for (unsigned c = 0; c < COLUMNS; c++) {
		if (!read_column(&columns[c], &cells[c]))
			fail(columns[c].writer, "could not be measured");
	}
	print_table(cells);
	return 0;
}
