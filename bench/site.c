/* SPDX-License-Identifier: MIT */
/*
 * What a condition costs while it is false, by the way it is written: instructions, time, and time
 * when the line that holds the condition was displaced from the caches.
 *
 * Each way is built into two functions: a small leaf function with one condition ("tight"), and one
 * with 64 conditions in a row ("dense"). Instructions are counted by stepping the processor through
 * them. Times are taken in turns, and compared with those of "nothing" in the same turn.
 */
#include <stdio.h>
#include <x86intrin.h>

#include <dormant/static_key.h>

#include "measure.h"
#include "steps.h"

/* ---- the ways ---- */

#define OWN_LINE __attribute__((aligned(64)))

static OWN_LINE int flag;
static void do_nothing(void);
static OWN_LINE void (*hook)(void) = do_nothing;
static OWN_LINE DEFINE_STATIC_KEY_FALSE(key);
static OWN_LINE char unused_line;

static __attribute__((noinline)) void do_nothing(void)
{
	__asm__ volatile("");
}

/* The condition holds: never reached here, and no compiler knows. */
static __attribute__((noinline)) void do_work(long value)
{
	__asm__ volatile("" : : "r"(value) : "memory");
}

/* The usual site, as in the kernel: its label is not marked as cold, so what a call behind it
 * clobbers may be saved where the function starts. */
static inline __attribute__((always_inline)) int is_patched_in(void)
{
	__asm__ goto(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00" : : : : jump);
	return 0;
jump:
	return 1;
}

/* clang-format off: one line a way */
#define CHECK_nothing(value) ((void)0)
#define CHECK_flag(value)                      \
	do {                                   \
		if (__builtin_expect(flag, 0)) \
			do_work(value);        \
	} while (0)
#define CHECK_atomic(value)                                                        \
	do {                                                                       \
		if (__builtin_expect(__atomic_load_n(&flag, __ATOMIC_RELAXED), 0)) \
			do_work(value);                                            \
	} while (0)
#define CHECK_pointer(value) (hook())
#define CHECK_nop(value)                                  \
	do {                                              \
		if (__builtin_expect(is_patched_in(), 0)) \
			do_work(value);                   \
	} while (0)
#define CHECK_dormant(value)                      \
	do {                                      \
		if (static_branch_unlikely(&key)) \
			do_work(value);           \
	} while (0)
/* clang-format on */

/* Nothing that one condition found may be kept for the next. */
#define SITE(way)           \
	CHECK_##way(value); \
	__asm__ volatile("" : : : "memory");
#define SITES_4(way)  SITE(way) SITE(way) SITE(way) SITE(way)
#define SITES_16(way) SITES_4(way) SITES_4(way) SITES_4(way) SITES_4(way)
#define SITES_64(way) SITES_16(way) SITES_16(way) SITES_16(way) SITES_16(way)

#define DEFINE_WAY(way)                                                                        \
	static __attribute__((noinline, aligned(64))) long tight_##way(long value, long other) \
	{                                                                                      \
		CHECK_##way(value);                                                            \
		return value * 3 + other;                                                      \
	}                                                                                      \
	static __attribute__((noinline, aligned(64))) long dense_##way(long value, long other) \
	{                                                                                      \
		SITES_64(way)                                                                  \
		return value * 3 + other;                                                      \
	}

DEFINE_WAY(nothing)
DEFINE_WAY(flag)
DEFINE_WAY(atomic)
DEFINE_WAY(pointer)
DEFINE_WAY(nop)
DEFINE_WAY(dormant)

typedef long way_function(long value, long other);

static const struct way {
	const char *name;
	way_function *tight, *dense;
	const void *line; /* what the condition reads */
} ways[] = {
	{"nothing", tight_nothing, dense_nothing, &unused_line},
	{"if (global)", tight_flag, dense_flag, &flag},
	{"relaxed atomic load", tight_atomic, dense_atomic, &flag},
	{"call through a pointer", tight_pointer, dense_pointer, &hook},
	{"asm goto and a nop", tight_nop, dense_nop, &unused_line},
	{"dormant", tight_dormant, dense_dormant, &key},
};

#define WAYS  (sizeof(ways) / sizeof(ways[0]))
#define SITES 64

/* ---- instructions ---- */

static void call_way(void *function)
{
	(void)(*(way_function **)function)(1, 2);
}

static long count_instructions(way_function *function)
{
	return steps_count(call_way, (void *)&function).instructions;
}

/* ---- time ---- */

#define ROUNDS      300
#define TIGHT_CALLS 20000
#define DENSE_CALLS 1000
#define COLD_VISITS 200 /* a round */

static double time_calls(way_function *function, unsigned calls)
{
	uint64_t begin_ns = measure_now_ns();
	long value = 0;

	for (unsigned i = 0; i < calls; i++)
		value = function(value, i);
	__asm__ volatile("" : : "r"(value));
	return (double)(measure_now_ns() - begin_ns) / calls;
}

/* The median of single visits, each after the line was displaced; it includes reading the clock. */
static double time_cold_visit(const struct way *way)
{
	double ns[COLD_VISITS];

	for (unsigned i = 0; i < COLD_VISITS; i++) {
		uint64_t begin_ns;

		_mm_clflush(way->line);
		_mm_mfence();
		begin_ns = measure_now_ns();
		_mm_lfence();
		(void)way->tight(1, 2);
		_mm_lfence();
		ns[i] = (double)(measure_now_ns() - begin_ns);
	}
	return measure_summarize(ns, COLD_VISITS).median;
}

struct times {
	double tight_ratio[ROUNDS], dense_ns[ROUNDS], cold_ns[ROUNDS];
};

static void time_round(struct times *times, unsigned round)
{
	double tight_ns[WAYS], dense_ns[WAYS];

	for (unsigned i = 0; i < WAYS; i++) {
		tight_ns[i] = time_calls(ways[i].tight, TIGHT_CALLS);
		dense_ns[i] = time_calls(ways[i].dense, DENSE_CALLS);
		times[i].cold_ns[round] = time_cold_visit(&ways[i]);
	}
	for (unsigned i = 0; i < WAYS; i++) {
		times[i].tight_ratio[round] = tight_ns[i] / tight_ns[0];
		times[i].dense_ns[round] = (dense_ns[i] - dense_ns[0]) / SITES;
	}
}

int main(void)
{
	static struct times times[WAYS];

	for (unsigned round = 0; round < ROUNDS; round++)
		time_round(times, round);
	printf("%-24s %18s %18s %18s %12s %8s\n", "", "tight,", "dense, instr.", "dense,", "tight,",
	       "cold,");
	printf("%-24s %18s %18s %18s %12s %8s\n", "", "instr. added", "added per site",
	       "ns per site", "time ratio", "ns");
	for (unsigned i = 0; i < WAYS; i++) {
		long tight = count_instructions(ways[i].tight) - count_instructions(ways[0].tight);
		long dense = count_instructions(ways[i].dense) - count_instructions(ways[0].dense);

		printf("%-24s %+18ld %18.2f %18.3f %12.2f %8.0f\n", ways[i].name, tight,
		       (double)dense / SITES, measure_summarize(times[i].dense_ns, ROUNDS).median,
		       measure_summarize(times[i].tight_ratio, ROUNDS).median,
		       measure_summarize(times[i].cold_ns, ROUNDS).median);
	}
	return 0;
}
