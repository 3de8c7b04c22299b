/* SPDX-License-Identifier: MIT */
/* Sites at every offset of a cache line; see tear_sites.h. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <dormant/batch.h>

#include "tear_sites.h"

const char *const tear_kind_names[TEAR_KINDS] = {
	"1 byte", "2 bytes", "4 bytes", "8 bytes", "calls", "tail calls",
};

typedef uint64_t read_fn(void);

static uint64_t number_zero(void)
{
	return 0;
}

/* ---- owners ---- */

#define DEFINE_OWNER(n)                                 \
	DEFINE_STATIC_IMV(uint8_t, tear_1_##n);         \
	DEFINE_STATIC_IMV(uint16_t, tear_2_##n);        \
	DEFINE_STATIC_IMV(uint32_t, tear_4_##n);        \
	DEFINE_STATIC_IMV(uint64_t, tear_8_##n);        \
	DEFINE_STATIC_CALL(tear_call_##n, number_zero); \
	DEFINE_STATIC_CALL(tear_tail_##n, number_zero)
DEFINE_OWNER(0);
DEFINE_OWNER(1);
DEFINE_OWNER(2);

/* ---- sites: each function begins at a line, and its site a number of nops behind that ---- */

#define AT           __attribute__((noinline, aligned(64))) static uint64_t
#define SKIP(offset) __asm__ volatile(".rept " #offset "\n nop\n .endr")

#define DEFINE_READ(name, offset, expression) \
	AT name##_at_##offset(void)           \
	{                                     \
		SKIP(offset);                 \
		return expression;            \
	}
/* The result is looked at, so that it is no tail call. */
#define DEFINE_CALL(name, offset)                    \
	AT name##_at_##offset(void)                  \
	{                                            \
		uint64_t number;                     \
		SKIP(offset);                        \
		number = static_call(name)();        \
		__asm__ volatile("" : "+r"(number)); \
		return number;                       \
	}

#define DEFINE_SITES(offset, n)                               \
	DEFINE_READ(tear_1_##n, offset, imv_read(tear_1_##n)) \
	DEFINE_READ(tear_2_##n, offset, imv_read(tear_2_##n)) \
	DEFINE_READ(tear_4_##n, offset, imv_read(tear_4_##n)) \
	DEFINE_READ(tear_8_##n, offset, imv_read(tear_8_##n)) \
	DEFINE_CALL(tear_call_##n, offset)                    \
	DEFINE_READ(tear_tail_##n, offset, static_call(tear_tail_##n)())

/* clang-format off */
#define EACH_OFFSET(m, ...) \
	m(0, __VA_ARGS__) m(1, __VA_ARGS__) m(2, __VA_ARGS__) m(3, __VA_ARGS__) \
	m(4, __VA_ARGS__) m(5, __VA_ARGS__) m(6, __VA_ARGS__) m(7, __VA_ARGS__) \
	m(8, __VA_ARGS__) m(9, __VA_ARGS__) m(10, __VA_ARGS__) m(11, __VA_ARGS__) \
	m(12, __VA_ARGS__) m(13, __VA_ARGS__) m(14, __VA_ARGS__) m(15, __VA_ARGS__) \
	m(16, __VA_ARGS__) m(17, __VA_ARGS__) m(18, __VA_ARGS__) m(19, __VA_ARGS__) \
	m(20, __VA_ARGS__) m(21, __VA_ARGS__) m(22, __VA_ARGS__) m(23, __VA_ARGS__) \
	m(24, __VA_ARGS__) m(25, __VA_ARGS__) m(26, __VA_ARGS__) m(27, __VA_ARGS__) \
	m(28, __VA_ARGS__) m(29, __VA_ARGS__) m(30, __VA_ARGS__) m(31, __VA_ARGS__) \
	m(32, __VA_ARGS__) m(33, __VA_ARGS__) m(34, __VA_ARGS__) m(35, __VA_ARGS__) \
	m(36, __VA_ARGS__) m(37, __VA_ARGS__) m(38, __VA_ARGS__) m(39, __VA_ARGS__) \
	m(40, __VA_ARGS__) m(41, __VA_ARGS__) m(42, __VA_ARGS__) m(43, __VA_ARGS__) \
	m(44, __VA_ARGS__) m(45, __VA_ARGS__) m(46, __VA_ARGS__) m(47, __VA_ARGS__) \
	m(48, __VA_ARGS__) m(49, __VA_ARGS__) m(50, __VA_ARGS__) m(51, __VA_ARGS__) \
	m(52, __VA_ARGS__) m(53, __VA_ARGS__) m(54, __VA_ARGS__) m(55, __VA_ARGS__) \
	m(56, __VA_ARGS__) m(57, __VA_ARGS__) m(58, __VA_ARGS__) m(59, __VA_ARGS__) \
	m(60, __VA_ARGS__) m(61, __VA_ARGS__) m(62, __VA_ARGS__) m(63, __VA_ARGS__)
/* clang-format on */

EACH_OFFSET(DEFINE_SITES, 0)
EACH_OFFSET(DEFINE_SITES, 1)
EACH_OFFSET(DEFINE_SITES, 2)

#define NAME(offset, name) name##_at_##offset,
#define ROW(name)                       \
	{                               \
		EACH_OFFSET(NAME, name) \
	}
#define ROWS(kind)                                          \
	{                                                   \
		ROW(kind##_0), ROW(kind##_1), ROW(kind##_2) \
	}

static read_fn *const reads[TEAR_KINDS][TEAR_OWNERS][TEAR_OFFSETS] = {
	ROWS(tear_1), ROWS(tear_2), ROWS(tear_4), ROWS(tear_8), ROWS(tear_call), ROWS(tear_tail),
};

/* ---- what calls reach ---- */

#define FAR_TARGETS 4
#define STEP_BYTES  0x01010110 /* differs in every byte; code may begin at multiples of 16 */
#define PAGE_BYTES  4096

static read_fn *targets[TEAR_PERIOD];

/* A function that returns @number, at about @where; near it if @near, else as far as the kernel
 * likes. */
static read_fn *make_target(unsigned number, uintptr_t where, bool near)
{
	static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xb8,
				       0,    0,    0,    0,    0xc3}; /* endbr64 */
	uintptr_t page = near ? where & ~(uintptr_t)(PAGE_BYTES - 1) : 0;
	uint8_t *memory = mmap((void *)page, PAGE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | (near ? MAP_FIXED_NOREPLACE : 0), -1,
			       0);
	uint8_t *at;
	read_fn *function;

	if (memory == MAP_FAILED)
		return NULL;
	at = memory + (where & (PAGE_BYTES - 16));
	memset(memory, 0xcc, PAGE_BYTES);
	memcpy(at, code, sizeof(code));
	at[5] = (uint8_t)number;
	if (mprotect(memory, PAGE_BYTES, PROT_READ | PROT_EXEC) != 0)
		return NULL;
	memcpy(&function, &at, sizeof(function));
	return function;
}

int tear_start(void)
{
	uintptr_t where = (uintptr_t)&number_zero & ~(uintptr_t)15;

	for (unsigned i = 0; i < TEAR_PERIOD; i++) {
		bool near = i + FAR_TARGETS < TEAR_PERIOD;

		where -= STEP_BYTES;
		targets[i] = make_target(i, where, near);
		if (targets[i] == NULL) {
			perror("tear: no memory for the functions that calls reach");
			return -1;
		}
	}
	return 0;
}

/* ---- numbers ---- */

#define EVERY_BYTE UINT64_C(0x0101010101010101)

int tear_read(enum tear_kind kind, unsigned owner, unsigned offset)
{
	static const unsigned bytes[TEAR_KINDS] = {1, 2, 4, 8, 8, 8};
	uint64_t value = reads[kind][owner][offset]();
	uint64_t number = value & 0xff;
	uint64_t whole = kind >= TEAR_CALL ? number
					   : number * (EVERY_BYTE >> (64 - 8 * bytes[kind]));

	return value == whole && number < TEAR_PERIOD ? (int)number : TEAR_MIXTURE;
}

#define CASE(value)                                                                           \
	case value:                                                                           \
		c[0] = (struct dormant_change)DORMANT_CHANGE_IMV(tear_1_##value, bits);       \
		c[1] = (struct dormant_change)DORMANT_CHANGE_IMV(tear_2_##value, bits);       \
		c[2] = (struct dormant_change)DORMANT_CHANGE_IMV(tear_4_##value, bits);       \
		c[3] = (struct dormant_change)DORMANT_CHANGE_IMV(tear_8_##value, bits);       \
		c[4] = (struct dormant_change)DORMANT_CHANGE_CALL(tear_call_##value, target); \
		c[5] = (struct dormant_change)DORMANT_CHANGE_CALL(tear_tail_##value, target); \
		break

static void fill_changes(struct dormant_change c[TEAR_KINDS], unsigned owner, unsigned number)
{
	uint64_t bits = number * EVERY_BYTE;
	read_fn *target = targets[number];

	switch (owner) {
		CASE(0);
		CASE(1);
	default:
		CASE(2);
	}
}

int tear_set(enum tear_kind kind, unsigned owner, unsigned number, struct dormant_error *error)
{
	struct dormant_change changes[TEAR_KINDS];

	fill_changes(changes, owner, number);
	return dormant_batch(&changes[kind], 1, NULL, error);
}

int tear_set_all(unsigned owner, unsigned number, struct dormant_error *error)
{
	struct dormant_change changes[TEAR_KINDS];

	fill_changes(changes, owner, number);
	return dormant_batch(changes, TEAR_KINDS, NULL, error);
}
