/* SPDX-License-Identifier: MIT */
/*
 * What a thread reads that is stopped in the middle of a read while sets pass. No core sync reaches
 * a thread that does not run, and none can: what it executed before it was stopped is done.
 *
 * Nothing is left to chance: the reader steps through its read by the trap flag, and waits in the
 * handler in front of its n-th instruction, for each n, until the sets have been made. With two
 * slots the last set may be half done when the reader goes on: some of the bytes of the slot are
 * written. With one store there is no such state.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "two_ways.h"

#define TRAP_FLAG 0x100

/* ---- the reader ---- */

static struct {
	uint64_t (*read)(void);
	int steps_left; /* until it stops */
	bool stopped, go, ended;
	uint64_t value;
} reader;

static bool load_flag(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *stopped = context;

	(void)signal;
	(void)info;
	if (reader.steps_left-- > 0)
		return;
	stopped->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	__atomic_store_n(&reader.stopped, true, __ATOMIC_RELEASE);
	while (!load_flag(&reader.go))
		(void)sched_yield();
}

/* The flag is set right before the call, and cleared in the handler or behind the call. */
static void *run_reader(void *argument)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 :
			 :
			 : "memory", "cc");
	reader.value = reader.read();
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
			 "leaq 128(%%rsp), %%rsp"
			 :
			 :
			 : "memory", "cc");
	__atomic_store_n(&reader.ended, true, __ATOMIC_RELEASE);
	return argument;
}

/* ---- one case ---- */

struct counts {
	unsigned cases, torn, bygone, refused;
};

struct way {
	const char *name;
	bool (*set)(const struct width *width, unsigned n);
	/* A set of which only some bytes are written, and its end; NULL where there is none. */
	bool (*begin)(const struct width *width, unsigned n, unsigned bytes);
	bool (*end)(const struct width *width, unsigned n);
};

static bool set_operand(const struct width *width, unsigned n)
{
	return width->set_operand(two_ways_pattern(n, width->bytes), NULL) == 0;
}

static bool set_slots(const struct width *width, unsigned n)
{
	return two_slots_set(width->slots, two_ways_pattern(n, width->bytes), width->bytes,
			     TWO_SLOTS_PROC_MEM);
}

static bool begin_slots(const struct width *width, unsigned n, unsigned bytes)
{
	return two_slots_write(width->slots, two_ways_pattern(n, width->bytes), bytes,
			       TWO_SLOTS_PROC_MEM);
}

static const struct way ways[] = {{"operand, one store (a)", set_operand, NULL, NULL},
				  {"two slots (b)", set_slots, begin_slots, set_slots}};

static unsigned next_value;

/*
 * The value is @n when the read begins; the reader is stopped after @steps instructions; @sets sets
 * are made, and @bytes bytes of another. Returns whether it was stopped before the end of its read.
 */
static bool try_case(const struct width *width, const struct way *way, unsigned n, int steps,
		     unsigned sets, unsigned bytes, struct counts *counts)
{
	pthread_t thread;
	bool was_stopped, done = true;
	unsigned first = n, last = n + sets + (bytes > 0);

	memset(&reader, 0, sizeof(reader));
	reader.read = way->set == set_operand ? width->read_operand : width->read_slots;
	reader.steps_left = steps;
	if (pthread_create(&thread, NULL, run_reader, NULL) != 0)
		return false;
	while (!load_flag(&reader.stopped) && !load_flag(&reader.ended))
		(void)sched_yield();
	was_stopped = !load_flag(&reader.ended);
	for (unsigned i = 1; was_stopped && i <= sets; i++)
		done &= way->set(width, n + i);
	if (was_stopped && bytes > 0)
		done &= way->begin(width, last, bytes);
	__atomic_store_n(&reader.go, true, __ATOMIC_RELEASE);
	(void)pthread_join(thread, NULL);
	if (was_stopped && bytes > 0)
		done &= way->end(width, last);
	counts->cases += was_stopped;
	counts->refused += !done;
	if (!two_ways_is_whole(reader.value, width->bytes))
		counts->torn++;
	else if ((uint8_t)(reader.value - first) > last - first)
		counts->bygone++;
	return was_stopped;
}

static bool is_second(const struct width *width)
{
	return *(volatile unsigned char *)width->slots->flip == TWO_SLOTS_FLIP_B;
}

/* The value becomes @n, after others, and lies in the slot that is wanted. */
static void prepare_case(const struct width *width, const struct way *way, unsigned n, bool second)
{
	(void)way->set(width, n - 2);
	(void)way->set(width, n - 1);
	if (way->begin != NULL && is_second(width) == second)
		(void)way->set(width, n - 1);
	(void)way->set(width, n);
}

/* Each instruction. */
static void try_steps(const struct width *width, const struct way *way, bool second, unsigned sets,
		      unsigned bytes, struct counts *counts)
{
	int steps = 0;

	do {
		next_value += 8;
		prepare_case(width, way, next_value, second);
	} while (try_case(width, way, next_value, steps++, sets, bytes, counts));
}

/* Both states of the flip, each number of sets, each number of bytes. */
static void try_all(const struct width *width, const struct way *way, struct counts *counts)
{
	unsigned bytes_max = way->begin != NULL ? width->bytes - 1 : 0;

	for (unsigned second = 0; second < 2; second++) {
		for (unsigned sets = 1; sets <= 2; sets++) {
			for (unsigned bytes = 0; bytes <= bytes_max; bytes++)
				try_steps(width, way, second == 1, sets, bytes, counts);
		}
	}
}

void two_ways_print_stopped(void)
{
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};

	(void)sigaction(SIGTRAP, &action, NULL);
	printf("\nreader stopped in front of each instruction while one or two sets pass\n"
	       "%-6s %-24s %8s %8s %30s %8s\n",
	       "bytes", "", "cases", "torn", "older than when the read began", "refused");
	for (unsigned i = 0; i < TWO_WAYS_WIDTHS * 2; i++) {
		const struct width *width = &two_ways_widths[i / 2];
		const struct way *way = &ways[i % 2];
		struct counts counts = {0, 0, 0, 0};

		try_all(width, way, &counts);
		printf("%-6u %-24s %8u %8u %30u %8u\n", width->bytes, way->name, counts.cases,
		       counts.torn, counts.bygone, counts.refused);
	}
}
