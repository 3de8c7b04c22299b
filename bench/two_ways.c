/* SPDX-License-Identifier: MIT */
/*
 * Compares the two ways of changing a value that lies in instructions: what a read costs, what a
 * set costs, and what a thread reads that is stopped in the middle of a read. See two_ways.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dormant/imv.h>

#include "two_ways.h"

DEFINE_STATIC_IMV(uint8_t, value_1);
DEFINE_STATIC_IMV(uint16_t, value_2);
DEFINE_STATIC_IMV(uint32_t, value_4);
DEFINE_STATIC_IMV(uint64_t, value_8);

#define DEFINE_WIDTH(bytes, slot_bytes, slot_type)                                           \
	static __attribute__((noinline)) uint64_t read_operand_##bytes(void)                 \
	{                                                                                    \
		return imv_read(value_##bytes);                                              \
	}                                                                                    \
	static int set_operand_##bytes(uint64_t value, struct dormant_error *error)          \
	{                                                                                    \
		return imv_set_error(value_##bytes, (__typeof__(value_##bytes##__imv))value, \
				     error);                                                 \
	}                                                                                    \
	extern const struct two_slots two_ways_slots_##bytes;                                \
	static __attribute__((noinline)) uint64_t read_slots_##bytes(void)                   \
	{                                                                                    \
		slot_type value;                                                             \
                                                                                             \
		TWO_SLOTS_READ_##slot_bytes(value, "0xa9",                                   \
					    TWO_SLOTS_RECORD("two_ways_slots_" #bytes));     \
		return value;                                                                \
	}

DEFINE_WIDTH(1, 4, uint32_t)
DEFINE_WIDTH(2, 4, uint32_t)
DEFINE_WIDTH(4, 4, uint32_t)
DEFINE_WIDTH(8, 8, uint64_t)

#define WIDTH(bytes)                                                                  \
	{                                                                             \
		bytes, read_operand_##bytes, set_operand_##bytes, read_slots_##bytes, \
			&two_ways_slots_##bytes                                       \
	}

const struct width two_ways_widths[TWO_WAYS_WIDTHS] = {WIDTH(1), WIDTH(2), WIDTH(4), WIDTH(8)};

uint64_t two_ways_pattern(unsigned n, unsigned bytes)
{
	return (n & 0xff) * (UINT64_C(0x0101010101010101) >> (64 - 8 * bytes));
}

bool two_ways_is_whole(uint64_t value, unsigned bytes)
{
	return value == two_ways_pattern((unsigned)value, bytes);
}

int main(int argc, char **argv)
{
	unsigned seconds = 2;

	if (!two_slots_prepare()) {
		fprintf(stderr, "two_ways: needs /proc/self/mem and membarrier; one is refused\n");
		return 2;
	}
	if (argc == 4 && strcmp(argv[1], "--column") == 0)
		return two_ways_measure_column(argv[2], strcmp(argv[3], "busy") == 0);
	if (argc == 3 && strcmp(argv[1], "--seconds") == 0 && atoi(argv[2]) > 0) {
		seconds = (unsigned)atoi(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "usage: two_ways [--seconds N]\n");
		return 2;
	}
	two_ways_print_site_costs();
	two_ways_print_set_costs();
	two_ways_print_stopped();
	two_ways_print_running(seconds);
	two_ways_print_proc_mem(seconds);
	return 0;
}
