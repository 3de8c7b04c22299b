/* SPDX-License-Identifier: MIT */
/*
 * Immediate values of every width and class: what is read is what was set, down to the last bit, at
 * sites in the text and from memory; before, during and after the life of threads.
 */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dormant/imv.h>

#include "deadline.h"
#include "own_operands.h"
#include "tap.h"

enum colour { RED = 3, GREEN = -7, BLUE = INT_MAX };
struct node {
	struct node *next;
};

/* Type, name, value in the file, and values to be set. */
#define FOR_EACH_VALUE(X)                                                                      \
	X(_Bool, a_bool, true, false, true, false)                                             \
	X(char, a_char, 'x', CHAR_MIN, CHAR_MAX, 0)                                            \
	X(signed char, an_int8, -1, SCHAR_MIN, SCHAR_MAX, 0)                                   \
	X(unsigned char, a_uint8, 200, 0, UCHAR_MAX, 0x80)                                     \
	X(short, an_int16, -300, SHRT_MIN, SHRT_MAX, -1)                                       \
	X(unsigned short, a_uint16, 60000, 0, USHRT_MAX, 0x8000)                               \
	X(int, an_int32, -70000, INT_MIN, INT_MAX, -1)                                         \
	X(unsigned, a_uint32, 4000000000, 0, UINT_MAX, 0x80000000)                             \
	X(enum colour, an_enum, RED, GREEN, BLUE, RED)                                         \
	X(long, an_int64, -5000000000, LONG_MIN, LONG_MAX, -1)                                 \
	X(unsigned long long, a_uint64, 0x0123456789abcdef, 0, ULLONG_MAX, 0x8000000000000000) \
	X(float, a_float, 1.5F, -FLT_MAX, FLT_TRUE_MIN, -0.0F)                                 \
	X(double, a_double, 2.5, -DBL_MAX, DBL_TRUE_MIN, -0.0)                                 \
	X(struct node *, a_pointer, NULL, (struct node *)UINTPTR_MAX,                          \
	  (struct node *)0x7fff12345678, NULL)                                                 \
	X(const char *, a_string, "file", "other", NULL, "third")

/* Each has a reader of its own with three sites, in registers that the compiler chooses. */
#define DEFINE_ONE(type, name, in_file, ...)                                   \
	DEFINE_IMV(type, name) = in_file;                                      \
	static bool name##_is(type expected)                                   \
	{                                                                      \
		type first = imv_read(name);                                   \
		type second = imv_read(name);                                  \
		type got = imv_get(name);                                      \
		type third = imv_read(name);                                   \
                                                                               \
		return memcmp(&first, &expected, sizeof(type)) == 0 &&         \
		       memcmp(&second, &expected, sizeof(type)) == 0 &&        \
		       memcmp(&third, &expected, sizeof(type)) == 0 &&         \
		       memcmp(&got, &expected, sizeof(type)) == 0;             \
	}                                                                      \
	static bool name##_can_be(type to)                                     \
	{                                                                      \
		return imv_set(name, to) == 0 && name##_is(to);                \
	}                                                                      \
	static bool name##_follows(void)                                       \
	{                                                                      \
		type const values[] = {__VA_ARGS__};                           \
                                                                               \
		return name##_can_be(values[0]) && name##_can_be(values[1]) && \
		       name##_can_be(values[2]) && name##_can_be(in_file);     \
	}
FOR_EACH_VALUE(DEFINE_ONE)

static void test_all_followed(const char *when)
{
#define TEST_ONE(type, name, ...) ok(name##_follows(), #type ", %s: holds what was set", when);
	FOR_EACH_VALUE(TEST_ONE)
#undef TEST_ONE
}

static void test_in_file(void)
{
#define TEST_ONE(type, name, in_file, ...) ok(name##_is(in_file), #type ": the value in the file");
	FOR_EACH_VALUE(TEST_ONE)
#undef TEST_ONE
}

#define VALUES 15

/* Every site in an optimised program comes to hold its value; under DORMANT_WRITER=proc_mem none.
 */
static void test_live(void)
{
	const char *name = "every site holds its value in the instruction";
	const char *writer = getenv("DORMANT_WRITER");
	int all = 0, live = 0, some;

	if (writer != NULL && strcmp(writer, "proc_mem") == 0) {
		skip(name, "DORMANT_WRITER=proc_mem: they load it");
		return;
	}

#define COUNT_ONE(type, name, ...)                              \
	live += own_operand_count_live(OWN_VALUE(name), &some); \
	all += some;
	FOR_EACH_VALUE(COUNT_ONE)
#undef COUNT_ONE
	diag("%d of %d sites hold their value", live, all);
	ok(all >= 3 * VALUES && live == all, "%s", name);
}

static void test_nan(void)
{
	const double payload = __builtin_nan("0x5a5a5");
	const float quiet = __builtin_nanf("0x5a5");

	ok(a_double_can_be(payload) && a_float_can_be(quiet) && a_double_can_be(INFINITY),
	   "bits of a float are kept: NaN with a payload, infinity");
}

static void test_conversions(void)
{
	volatile unsigned large = 0x1234;

	ok(imv_set(a_uint8, large) == 0 && imv_read(a_uint8) == 0x34 &&
		   imv_set(a_bool, large & 0xff00) == 0 && imv_read(a_bool) == true &&
		   imv_set(an_int64, -1) == 0 && imv_read(an_int64) == -1 &&
		   imv_set(a_double, 3) == 0 && imv_read(a_double) == 3.0,
	   "a value is converted as by an assignment");
	ok(imv_set(an_int8, -1) == 0 && imv_read(an_int8) == -1 && imv_read(an_int8) >> 1 == -1,
	   "a negative value of one byte is negative where it is read");
}

/* Neighbours: a set touches nothing else. */
DEFINE_IMV(unsigned char, left) = 1;
DEFINE_IMV(unsigned char, right) = 2;

static unsigned pair(void)
{
	return imv_read(left) * 256U + imv_read(right);
}

static void test_neighbours(void)
{
	int wrong = 0;

	for (unsigned i = 0; i < 256; i++) {
		wrong += imv_set(left, (unsigned char)i) != 0 || pair() != i * 256 + 2;
		wrong += imv_set(left, 1) != 0;
		wrong += imv_set(right, (unsigned char)i) != 0 || pair() != 256 + i;
		wrong += imv_set(right, 2) != 0;
	}
	ok(wrong == 0, "each of the 256 values of a byte, beside another (%d not)", wrong);
}

static void test_arguments(void)
{
	struct dormant_error error = {0};
	const struct imv_change bad[] = {{OWN_VALUE(an_int32), 1, 3}, {OWN_VALUE(an_int32), 7, 4}};

	(void)imv_set(an_int32, 5);
	ok(dormant_imv_set(NULL, 1, 4, &error) == -EINVAL && error.message[0] != '\0',
	   "NULL is refused: %s", error.message);
	ok(dormant_imv_set(OWN_VALUE(an_int32), 1, 3, &error) == -EINVAL &&
		   strstr(error.message, "an_int32") != NULL && an_int32_is(5),
	   "a size that is none is refused: %s", error.message);
	ok(dormant_imv_set(OWN_VALUE(an_int32), 1, 8, &error) == -EINVAL &&
		   strstr(error.message, "declare it with the type") != NULL && an_int32_is(5),
	   "a size that is another's is refused: %s", error.message);
	ok(dormant_imv_batch(bad, 2, &error) == -EINVAL && an_int32_is(5),
	   "also where a later change of the batch would count");
	ok(dormant_imv_set(OWN_VALUE(a_uint8), 0x1234, 1, NULL) == 0 && a_uint8_is(0x34) &&
		   dormant_status(NULL) == 0,
	   "of the bits those count that the size has");
	ok(dormant_imv_batch(NULL, 1, &error) == -EINVAL && dormant_imv_batch(NULL, 0, NULL) == 0,
	   "a batch of nothing is none, and works");
}

static int stop;

static void *wait_for_it(void *data)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		(void)pair();
	return data;
}

int main(void)
{
	pthread_t thread;

	deadline_set(60);
	plan(3 * VALUES + 1 + 1 + 2 + 1 + 6 + 1 + 1);
	test_in_file();
	test_live();
	test_all_followed("one thread");
	test_nan();
	test_conversions();
	test_neighbours();
	test_arguments();
	pthread_create(&thread, NULL, wait_for_it, NULL);
	test_all_followed("two threads");
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	ok(dormant_status(NULL) == 0, "sites and values agree");
	ok(a_string_can_be("last"), "and follow each other with one thread again");
	return done();
}
