/* SPDX-License-Identifier: MIT */
/*
 * What running threads read while another sets: a value that was never set (torn), or one that was
 * replaced before the read began (bygone). And whether a write of several bytes to
 * /proc/self/mem is seen torn: the kernel promises nothing but each byte.
 *
 * None of these counts proves that something can not happen. The rows whose operand crosses a line
 * show that what does happen is found.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "two_ways.h"

#define READERS 4

static bool stop;

static bool is_stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

/* Runs @threads of @function for as long as @set, called again and again, returns true. */
static bool run_threads(void *(*function)(void *), void *argument, unsigned threads,
			unsigned seconds, bool (*set)(unsigned n), unsigned *sets)
{
	pthread_t thread[READERS];
	unsigned started = 0, n = 0;
	uint64_t end_ns;

	__atomic_store_n(&stop, false, __ATOMIC_RELAXED);
	while (started < threads && pthread_create(&thread[started], NULL, function, argument) == 0)
		started++;
	end_ns = measure_now_ns() + seconds * UINT64_C(1000000000);
	while (measure_now_ns() < end_ns && set(n + 1))
		n++;
	*sets = n;
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(thread[i], NULL);
	return started == threads && n > 0;
}

/* ---- both ways ---- */

#define DISTINCT \
	200 /* sets during one read: with more, an old value could not be told from a new */

static const struct width *width;
static uint64_t (*read_value)(void);
static bool uses_slots;
static unsigned begun, completed; /* sets */
static unsigned long reads, torn, bygone;

static void *check_reads(void *argument)
{
	unsigned long own_reads = 0, own_torn = 0, own_bygone = 0;

	while (!is_stopped()) {
		unsigned first = __atomic_load_n(&completed, __ATOMIC_ACQUIRE), last;
		uint64_t value = read_value();

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		last = __atomic_load_n(&begun, __ATOMIC_ACQUIRE);
		own_reads++;
		if (!two_ways_is_whole(value, width->bytes))
			own_torn++;
		else if (last - first < DISTINCT && (uint8_t)(value - first) > last - first)
			own_bygone++;
	}
	__atomic_fetch_add(&reads, own_reads, __ATOMIC_RELAXED);
	__atomic_fetch_add(&torn, own_torn, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bygone, own_bygone, __ATOMIC_RELAXED);
	return argument;
}

static bool set_checked(unsigned n)
{
	uint64_t value = two_ways_pattern(n, width->bytes);
	bool done;

	__atomic_store_n(&begun, n, __ATOMIC_SEQ_CST);
	done = uses_slots ? two_slots_set(width->slots, value, width->bytes, TWO_SLOTS_PROC_MEM)
			  : width->set_operand(value, NULL) == 0;
	__atomic_store_n(&completed, n, __ATOMIC_SEQ_CST);
	return done;
}

static void print_running_row(unsigned seconds)
{
	unsigned sets;
	bool done;

	reads = torn = bygone = 0;
	begun = completed = 0;
	read_value = uses_slots ? width->read_slots : width->read_operand;
	done = set_checked(0) &&
	       run_threads(check_reads, NULL, READERS, seconds, set_checked, &sets);
	printf("%-6u %-24s", width->bytes, uses_slots ? "two slots (b)" : "operand, one store (a)");
	if (done)
		printf(" %14lu %9u %8lu %8lu\n", reads, sets, torn, bygone);
	else
		printf(" refused: no writer here changes it while threads run\n");
}

void two_ways_print_running(unsigned seconds)
{
	printf("\n%d readers run beside one setter, %u s each (two slots through proc_mem)\n"
	       "%-6s %-24s %14s %9s %8s %8s\n",
	       READERS, seconds, "bytes", "", "reads", "sets", "torn", "bygone");
	for (unsigned i = 0; i < TWO_WAYS_WIDTHS * 2; i++) {
		width = &two_ways_widths[i / 2];
		uses_slots = i % 2 == 1;
		print_running_row(seconds);
	}
}

/* ---- several bytes through /proc/self/mem ---- */

#define DEFINE_READ(name, skip, move)                 \
	__asm__(".pushsection .text\n"                \
		"  .balign 64, 0xcc\n"                \
		"  .skip " skip ", 0x90\n" name ":\n" \
		"  " move "\n"                        \
		"  ret\n"                             \
		"  .popsection\n")

DEFINE_READ("read_aligned_4", "3", "movl $0, %eax");
DEFINE_READ("read_aligned_8", "6", "movabsq $0, %rax");
DEFINE_READ("read_across_4", "61", "movl $0, %eax");
DEFINE_READ("read_across_8", "58", "movabsq $0, %rax");
uint64_t read_aligned_4(void);
uint64_t read_aligned_8(void);
uint64_t read_across_4(void);
uint64_t read_across_8(void);

static const struct place {
	const char *name;
	uint64_t (*read)(void);
	unsigned bytes;
} places[] = {
	{"4 bytes, aligned", read_aligned_4, 4},
	{"8 bytes, aligned", read_aligned_8, 8},
	{"4 bytes, across a line", read_across_4, 4},
	{"8 bytes, across a line", read_across_8, 8},
};

static const struct place *place;
static bool executes;

static unsigned char *find_operand(void)
{
	return (unsigned char *)(uintptr_t)place->read + (place->bytes == 8 ? 2 : 1);
}

static uint64_t load_operand(void)
{
	unsigned char *operand = find_operand();

	return place->bytes == 8 ? *(volatile uint64_t *)(void *)operand
				 : *(volatile uint32_t *)(void *)operand;
}

static void *check_operand(void *argument)
{
	unsigned long own_reads = 0, own_torn = 0;

	while (!is_stopped()) {
		uint64_t value = executes ? place->read() : load_operand();

		own_reads++;
		own_torn += !two_ways_is_whole(value, place->bytes);
	}
	__atomic_fetch_add(&reads, own_reads, __ATOMIC_RELAXED);
	__atomic_fetch_add(&torn, own_torn, __ATOMIC_RELAXED);
	return argument;
}

static bool write_operand(unsigned n)
{
	uint64_t value = two_ways_pattern(n, place->bytes);

	return two_slots_write_text(find_operand(), &value, place->bytes);
}

void two_ways_print_proc_mem(unsigned seconds)
{
	printf("\none pwrite() to /proc/self/mem of an operand, beside 2 readers, %u s each\n"
	       "%-24s %-10s %14s %9s %8s\n",
	       seconds, "", "read by", "reads", "writes", "torn");
	for (unsigned i = 0; i < 2 * sizeof(places) / sizeof(places[0]); i++) {
		unsigned writes = 0;

		place = &places[i / 2];
		executes = i % 2 == 0;
		reads = torn = 0;
		if (!run_threads(check_operand, NULL, 2, seconds, write_operand, &writes))
			printf("(refused)\n");
		printf("%-24s %-10s %14lu %9u %8lu\n", place->name,
		       executes ? "executing" : "a load", reads, writes, torn);
	}
}
