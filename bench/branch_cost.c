/* SPDX-License-Identifier: MIT */
/*
 * What a branch costs by the place its condition comes from: the workload `branch-cost` by which
 * immediate values were proposed for the kernel in 2007, whose figures are printed beside.
 *
 * Each iteration picks a pseudo-random byte of a large array, and tests a condition that is false:
 * an immediate value, or a byte. The array was written before, so that it is not the zero page, and
 * the walk is random, because a linear one does not defeat the prefetcher. All rows are one text,
 * but for the condition; "base" picks the byte and tests nothing. It does not load it: 77 cycles
 * were much less than a load from the memory of that machine.
 *
 * A processor of today runs ahead of a condition whose outcome it guesses, through dozens of these
 * short iterations, and has many misses under way at a time: what a miss takes is divided by their
 * number. The 559 cycles of 2007 are a whole miss, as a branch in a program meets it: alone. So
 * there are two tables: in the first, each iteration begins when the one before is complete; in the
 * second, they overlap as they may.
 *
 * Rows are run in an order that is shuffled for each test; "above base" is the median of the
 * differences within a test.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dormant/imv.h>

#include "cycles.h"
#include "measure.h"
#include "steps.h"

DEFINE_STATIC_IMV(unsigned, condition) = 0;

/* ---- the rows ---- */

struct walk {
	unsigned char *array;
	uint64_t bytes; /* the array's, or a line's */
	uint64_t state;
	unsigned long branches;
	bool stopped; /* a branch was taken */
};

/* Knuth's MMIX generator. Its high bits choose the byte. */
static inline __attribute__((always_inline)) uint64_t advance(uint64_t state)
{
	return state * 6364136223846793005u + 1442695040888963407u;
}

static inline __attribute__((always_inline)) uint64_t scale(uint64_t state, uint64_t bytes)
{
	return (uint64_t)((unsigned __int128)state * bytes >> 64);
}

/* @condition may use `pointer`; @end ends an iteration. */
#define DEFINE_ROW(name, condition, end)                                              \
	static __attribute__((noinline, aligned(64))) void run_##name(void *argument) \
	{                                                                             \
		struct walk *walk = argument;                                         \
		const unsigned char *array = walk->array, *pointer;                   \
		uint64_t state = walk->state, bytes = walk->bytes;                    \
		unsigned long left = walk->branches;                                  \
                                                                                      \
		while (left > 0) {                                                    \
			state = advance(state);                                       \
			pointer = array + scale(state, bytes);                        \
			__asm__ volatile("" : : "r"(pointer));                        \
			if (__builtin_expect(condition, 0))                           \
				break;                                                \
			end;                                                          \
			left--;                                                       \
		}                                                                     \
		walk->state = state;                                                  \
		walk->stopped |= left > 0;                                            \
	}

#define BYTE (*(const volatile unsigned char *)pointer != 0)
#define BOTH_WAYS(name, condition)                 \
	DEFINE_ROW(name##_overlapped, condition, ) \
	DEFINE_ROW(name##_alone, condition, _mm_lfence())

BOTH_WAYS(base, 0)
BOTH_WAYS(immediate, imv_read(condition) != 0)
BOTH_WAYS(byte, BYTE)

#define LINE_BYTES 64

enum { BASE, IMMEDIATE, LINE, MEMORY, ROWS };
enum { ALONE, OVERLAPPED, WAYS };

static const struct row {
	const char *name, *short_name;
	steps_function *run[WAYS];
	double cycles_2007;
} rows[ROWS] = {
	{"base: pick a byte, test nothing", "base", {run_base_alone, run_base_overlapped}, 77.50},
	{"an immediate value", "immediate", {run_immediate_alone, run_immediate_overlapped}, 85.34},
	{"a byte of one line, in L1", "line", {run_byte_alone, run_byte_overlapped}, 89.64},
	{"a byte of the array, in memory", "memory", {run_byte_alone, run_byte_overlapped}, 636.61},
};

/* ---- the array ---- */

struct options {
	unsigned long tests, branches, megabytes;
	bool huge;
};

static _Noreturn void fail(const char *message)
{
	fprintf(stderr, "branch_cost: %s\n", message);
	exit(2);
}

static unsigned long count_resident_bytes(void)
{
	unsigned long all_pages = 0, pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL || fscanf(file, "%lu %lu", &all_pages, &pages) != 2)
		fail("/proc/self/statm can not be read");
	(void)fclose(file);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

/* Every byte is written: zeros, on pages of their own. */
static unsigned char *make_array(const struct options *options)
{
	size_t bytes = options->megabytes * 1000000, before = count_resident_bytes();
	unsigned long free_bytes = (unsigned long)sysconf(_SC_AVPHYS_PAGES) *
				   (unsigned long)sysconf(_SC_PAGESIZE);
	unsigned char *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (array == MAP_FAILED || free_bytes < bytes)
		fail("memory is short; try --megabytes with less than 500");
	(void)madvise(array, bytes, options->huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(array, 0, bytes);
	if (count_resident_bytes() - before < bytes / 100 * 99)
		fail("the array is not all in memory; try --megabytes with less than 500");
	return array;
}

/* ---- measuring ---- */

#define TESTS_MAX 1000

/* Cycles per iteration, one figure a test. */
struct samples {
	double tsc[TESTS_MAX], core[TESTS_MAX];
};

static struct samples all_samples[WAYS][ROWS];
static bool have_core;

/* The branches before those that count bring code and line into the caches. */
static void measure_row(const struct walk *walk, unsigned way, unsigned row, unsigned long test)
{
	struct samples *samples = &all_samples[way][row];
	struct walk warm = *walk, timed;
	struct cycles begin, end;

	if (row == LINE)
		warm.bytes = LINE_BYTES;
	timed = warm;
	warm.branches = warm.branches / 100 + 1;
	rows[row].run[way](&warm);
	timed.state = warm.state;
	begin = cycles_read(have_core);
	rows[row].run[way](&timed);
	end = cycles_read(have_core);
	samples->tsc[test] = (double)(end.tsc - begin.tsc) / (double)timed.branches;
	samples->core[test] = (double)(end.core - begin.core) / (double)timed.branches;
	if (timed.stopped || warm.stopped)
		fail("a branch was taken: a condition is not false");
}

/* Runs all rows in both ways, in a random order and from random places. */
static void measure_test(struct walk *walk, unsigned long test)
{
	unsigned order[WAYS * ROWS];

	for (unsigned i = 0; i < WAYS * ROWS; i++) {
		unsigned other;

		walk->state = advance(walk->state);
		other = (unsigned)scale(walk->state, i + 1);
		order[i] = order[other];
		order[other] = i;
	}
	for (unsigned i = 0; i < WAYS * ROWS; i++) {
		walk->state = advance(walk->state ^ i);
		measure_row(walk, order[i] / ROWS, order[i] % ROWS, test);
	}
}

/* ---- the tables ---- */

/* Instructions and loads of one iteration. */
static struct steps count_iteration(const struct walk *walk, const struct row *row)
{
	struct walk once = *walk, twice = *walk;
	struct steps steps, more;

	once.branches = 1;
	twice.branches = 2;
	steps = steps_count(row->run[OVERLAPPED], &once);
	more = steps_count(row->run[OVERLAPPED], &twice);
	more.instructions -= steps.instructions;
	more.loads -= steps.loads;
	return more;
}

static struct measure_summary summarize(const double *values, unsigned long tests)
{
	double sorted[TESTS_MAX];

	memcpy(sorted, values, tests * sizeof(*values));
	return measure_summarize(sorted, tests);
}

/* What is above the base, within each test. */
static struct measure_summary summarize_above(const double *values, const double *base,
					      unsigned long tests)
{
	double above[TESTS_MAX];

	for (unsigned long i = 0; i < tests; i++)
		above[i] = values[i] - base[i];
	return measure_summarize(above, tests);
}

static void print_summary(struct measure_summary summary)
{
	char quartiles[32];

	(void)snprintf(quartiles, sizeof(quartiles), "[%.2f .. %.2f]", summary.quartile_low,
		       summary.quartile_high);
	printf("  %8.2f %-20s", summary.median, quartiles);
}

static void print_table(const char *title, const struct samples *samples, unsigned long tests)
{
	printf("\n%s\n%-31s  %-29s  %-29s", title, "", "TSC cycles", "above base");
	printf("%s\n", have_core ? "  core cycles above base" : "");
	for (unsigned row = 0; row < ROWS; row++) {
		printf("%-31s", rows[row].name);
		print_summary(summarize(samples[row].tsc, tests));
		print_summary(summarize_above(samples[row].tsc, samples[BASE].tsc, tests));
		if (have_core)
			print_summary(
				summarize_above(samples[row].core, samples[BASE].core, tests));
		printf("\n");
	}
}

/* What one iteration executes, and the figures of 2007. */
static void print_counts(const struct walk *walk)
{
	struct steps base = count_iteration(walk, &rows[BASE]);

	printf("\n%-31s  %12s  %6s  %28s\n", "above base, in one iteration", "instructions",
	       "loads", "2007 (Pentium 4): cycles");
	for (unsigned row = 0; row < ROWS; row++) {
		struct steps steps = count_iteration(walk, &rows[row]);

		printf("%-31s  %+12ld  %+6ld  %14.2f  %+12.2f\n", rows[row].name,
		       steps.instructions - base.instructions, steps.loads - base.loads,
		       rows[row].cycles_2007, rows[row].cycles_2007 - rows[BASE].cycles_2007);
	}
}

/* The share of a processor that so many such branches a second would take; 2007 counted 15,348
 * executions of a marker a second on a machine at work. */
static void print_shares(double tsc_per_second, unsigned long tests)
{
	static const double rates[] = {15348, 100 * 15348};

	printf("\nshare of a processor of %.0f MHz (TSC), alone and above base\n",
	       tsc_per_second * 1e-6);
	for (unsigned i = 0; i < 2; i++) {
		printf("%9.0f branches a second:", rates[i]);
		for (unsigned row = IMMEDIATE; row < ROWS; row++) {
			double cycles = summarize_above(all_samples[ALONE][row].tsc,
							all_samples[ALONE][BASE].tsc, tests)
						.median;

			printf("  %s %.4f %%%s", rows[row].short_name,
			       100 * rates[i] * cycles / tsc_per_second, row < MEMORY ? "," : "");
		}
		printf("\n");
	}
}

/* The first site of this program: all are of one value. Where no writer may change it, it is still
 * the jump of the file. */
static void print_site(void)
{
	const struct dormant_operand *site = __start_dormant_operands;
	const unsigned char *code = (const unsigned char *)&site->code + site->code;

	printf("\nimv_read(), as it stands in memory: ");
	steps_print_instruction(stdout, code);
	if (*code == DORMANT_SITE_OPCODE_ON)
		printf(" (to a load: text can not be changed here)\n");
	else
		printf(" (1 instruction, %d loads)\n", steps_is_load(code));
}

static void print_bar(const char *what, double cycles, bool met)
{
	printf("%-68s %8.2f  %s\n", what, cycles, met ? "met" : "NOT MET");
}

static void print_bars(unsigned long tests)
{
	double median[WAYS][ROWS];

	for (unsigned way = 0; way < WAYS; way++) {
		for (unsigned row = 0; row < ROWS; row++)
			median[way][row] = summarize_above(all_samples[way][row].tsc,
							   all_samples[way][BASE].tsc, tests)
						   .median;
	}
	printf("\nbars, in TSC cycles above base\n");
	print_bar("immediate, alone: at most 4", median[ALONE][IMMEDIATE],
		  median[ALONE][IMMEDIATE] <= 4);
	print_bar("immediate, alone: at most the 7.84 of 2007", median[ALONE][IMMEDIATE],
		  median[ALONE][IMMEDIATE] <= 7.84);
	print_bar("memory, alone: at least 60", median[ALONE][MEMORY], median[ALONE][MEMORY] >= 60);
	print_bar("immediate, overlapped: at most 4", median[OVERLAPPED][IMMEDIATE],
		  median[OVERLAPPED][IMMEDIATE] <= 4);
	print_bar("memory, overlapped: at least 60", median[OVERLAPPED][MEMORY],
		  median[OVERLAPPED][MEMORY] >= 60);
}

/* ---- the command line ---- */

static unsigned long read_number(const char *text, unsigned long max)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*end != '\0' || number == 0 || number > max)
		fail("--tests is 1 to 1000; --branches and --megabytes are numbers above 0");
	return number;
}

static struct options read_options(int argc, char **argv)
{
	static const struct option known[] = {{"tests", required_argument, NULL, 't'},
					      {"branches", required_argument, NULL, 'b'},
					      {"megabytes", required_argument, NULL, 'm'},
					      {"huge", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	struct options options = {100, 100000, 500, false};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't')
			options.tests = read_number(optarg, TESTS_MAX);
		else if (option == 'b')
			options.branches = read_number(optarg, 1000000000);
		else if (option == 'm')
			options.megabytes = read_number(optarg, 1000000);
		else if (option == 'h')
			options.huge = true;
		else
			fail("usage: branch_cost [--tests N] [--branches N] [--megabytes N] "
			     "[--huge]");
	}
	return options;
}

int main(int argc, char **argv)
{
	struct options options = read_options(argc, argv);
	struct walk walk = {.bytes = options.megabytes * 1000000, .branches = options.branches};

	uint64_t begin_ns, begin_tsc;
	double tsc_per_second;

	have_core = cycles_have_core();
	walk.array = make_array(&options);
	begin_ns = measure_now_ns();
	begin_tsc = cycles_read(false).tsc;
	for (unsigned long test = 0; test < options.tests; test++)
		measure_test(&walk, test);
	tsc_per_second = (double)(cycles_read(false).tsc - begin_tsc) /
			 ((double)(measure_now_ns() - begin_ns) * 1e-9);
	printf("%lu tests of %lu branches; %lu MB written before, in %s pages; cycles of one "
	       "iteration: median [quartiles]\n",
	       options.tests, options.branches, options.megabytes, options.huge ? "huge" : "small");
	print_table("each iteration alone: begins when the one before is complete",
		    all_samples[ALONE], options.tests);
	print_table("iterations overlap as the processor likes", all_samples[OVERLAPPED],
		    options.tests);
	print_counts(&walk);
	print_shares(tsc_per_second, options.tests);
	print_site();
	print_bars(options.tests);
	return 0;
}
