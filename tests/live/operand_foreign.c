/* SPDX-License-Identifier: MIT */
/*
 * A foreign byte in the site of a value or a call: a change is refused before anything is written,
 * and says where and why; a byte beside the site is kept by changes that work.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <dormant/batch.h>

#include "deadline.h"
#include "many_sites.h"
#include "own_operands.h"
#include "own_sites.h"
#include "tap.h"

DEFINE_IMV(unsigned char, value1) = 1;
DEFINE_IMV(unsigned short, value2) = 1;
DEFINE_IMV(unsigned, value4) = 1;
DEFINE_IMV(unsigned long, value8) = 1;
DEFINE_STATIC_KEY_FALSE(key);

DEFINE_10_SITES(key_sites, &key)

static unsigned long one(unsigned long x)
{
	return x + 1;
}

static unsigned long two(unsigned long x)
{
	return x + 2;
}

DEFINE_STATIC_CALL(call, one);

/* Three sites of each: the one in the middle is hooked. */
#define DEFINE_THREE(name)                                                                 \
	__attribute__((noinline)) static bool name##_is(unsigned long expected)            \
	{                                                                                  \
		bool right = imv_read(name) == expected;                                   \
                                                                                           \
		__asm__ volatile("" ::: "memory");                                         \
		right = (imv_read(name) == expected) && right;                             \
		__asm__ volatile("" ::: "memory");                                         \
		return (imv_read(name) == expected) && right && imv_get(name) == expected; \
	}                                                                                  \
	static int name##_set(unsigned long to, struct dormant_error *error)               \
	{                                                                                  \
		return imv_set_error(name, (__typeof__(name##__imv))to, error);            \
	}
DEFINE_THREE(value1)
DEFINE_THREE(value2)
DEFINE_THREE(value4)
DEFINE_THREE(value8)

__attribute__((noinline)) static bool call_is(unsigned long expected)
{
	bool right = static_call(call)(0) + 1000 == expected + 1000;

	right = (static_call(call)(expected) == 2 * expected) && right;
	return right && static_call_query(call)(0) == expected;
}

static int call_set(unsigned long to, struct dormant_error *error)
{
	return static_call_update_error(call, to == 1 ? one : two, error);
}

static const struct subject {
	const char *name;
	const void *owner;
	enum dormant_operand_kind kind;
	size_t entry;  /* which of its sites */
	size_t opcode; /* how many of its first bytes do not change with the value */
	bool (*is)(unsigned long expected);
	int (*set)(unsigned long to, struct dormant_error *error);
} subjects[] = {
	{"value1", OWN_VALUE(value1), DORMANT_OPERAND_VALUE1, 1, 1, value1_is, value1_set},
	{"value2", OWN_VALUE(value2), DORMANT_OPERAND_VALUE2, 1, 1, value2_is, value2_set},
	{"value4", OWN_VALUE(value4), DORMANT_OPERAND_VALUE4, 1, 1, value4_is, value4_set},
	{"value8", OWN_VALUE(value8), DORMANT_OPERAND_VALUE8, 1, 5, value8_is, value8_set},
	{"call", OWN_CALL(call), DORMANT_OPERAND_CALL, 0, 1, call_is, call_set},
	{"call", OWN_CALL(call), DORMANT_OPERAND_TRAMPOLINE, 0, 1, call_is, call_set},
};

#define SUBJECTS ((int)(sizeof(subjects) / sizeof(subjects[0])))

static bool error_says_all(const struct dormant_error *error, const struct subject *subject,
			   const uint8_t *code)
{
	return error->code == -EILSEQ && error->phase == DORMANT_PHASE_VERIFY &&
	       error->key == subject->owner && error->site == (uintptr_t)code &&
	       error->found == *code && strcmp(error->key_name, subject->name) == 0 &&
	       strstr(error->object, "operand_foreign") != NULL &&
	       strstr(error->message, subject->name) != NULL &&
	       strstr(error->message, "found ") != NULL && strchr(error->message, '\n') == NULL;
}

/* What the other sites hold, as the hooked one can not be run. */
static bool others_hold(const struct subject *subject, const uint8_t *hooked, uint64_t was[8])
{
	const struct dormant_operand *entry;
	bool right = true, note = was[7] == 0;

	for (size_t n = 0;
	     n < 7 && (entry = own_operand_find(subject->owner, OWN_ANY_KIND, n)) != NULL; n++) {
		uint64_t now;

		memcpy(&now, own_operand_code(entry), sizeof(now));
		if (note)
			was[n] = now;
		right = right && (own_operand_code(entry) == hooked || was[n] == now);
	}
	was[7] = 1;
	return right;
}

static void test_subject(const struct subject *subject, const char *when)
{
	const struct dormant_operand *entry = own_operand_find(subject->owner, subject->kind,
							       subject->entry);
	uint8_t *code = own_operand_code(entry);
	struct dormant_error error = {0};
	uint64_t was[8] = {0};
	int refused = 0;

	for (size_t i = 0; i < subject->opcode; i++) {
		const uint8_t original = code[i];

		(void)own_site_poke(code + i, 0xcc);
		(void)others_hold(subject, code, was);
		refused += subject->set(2, &error) == -EILSEQ && code[i] == 0xcc &&
			   error_says_all(&error, subject, code) &&
			   others_hold(subject, code, was) && dormant_status(NULL) != 0;
		(void)own_site_poke(code + i, original);
		refused -= !subject->is(1) || dormant_status(NULL) != 0;
	}
	ok(refused == (int)subject->opcode,
	   "%s, kind %d, %s: a breakpoint is refused, the state kept: %s", subject->name,
	   subject->kind, when, error.message);
	ok(subject->set(2, NULL) == 0 && subject->is(2) && subject->set(1, NULL) == 0 &&
		   subject->is(1),
	   "%s, kind %d, %s: when it is gone, it can be changed", subject->name, subject->kind,
	   when);
}

/* Bytes before and behind the site. */
static void test_neighbours(const struct subject *subject, const char *when)
{
	const struct dormant_operand *entry = own_operand_find(subject->owner, subject->kind,
							       subject->entry);
	uint8_t *code = own_operand_code(entry);
	const size_t length = subject->kind == DORMANT_OPERAND_VALUE8 ? 13 : 5;
	const uint8_t before = code[-1], behind = code[length];
	bool kept;

	(void)own_site_poke(code - 1, 0xcc);
	(void)own_site_poke(code + length, 0xcc);
	kept = subject->set(2, NULL) == 0 && code[-1] == 0xcc && code[length] == 0xcc;
	kept = subject->set(1, NULL) == 0 && kept && code[-1] == 0xcc && code[length] == 0xcc;
	(void)own_site_poke(code - 1, before);
	(void)own_site_poke(code + length, behind);
	ok(kept && subject->is(1), "%s, kind %d, %s: a breakpoint beside the site is kept",
	   subject->name, subject->kind, when);
}

static void test_batch(void)
{
	uint8_t *code = own_operand_code(own_operand_find(OWN_VALUE(value8), OWN_ANY_KIND, 2));
	const uint8_t original = *code;
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_KEY(&key.key, STATIC_KEY_ENABLE), DORMANT_CHANGE_IMV(value4, 7),
		DORMANT_CHANGE_CALL(call, two), DORMANT_CHANGE_IMV(value1, 7),
		DORMANT_CHANGE_IMV(value8, 7)};
	struct dormant_error error = {0};

	(void)own_site_poke(code, 0xcc);
	ok(dormant_batch(changes, 5, NULL, &error) == -EILSEQ &&
		   strstr(error.message, "value8") != NULL && !static_key_enabled(&key) &&
		   key_sites() == 0 && value4_is(1) && value1_is(1) && call_is(1) &&
		   *OWN_CALL(call)->cell == (void *)one && imv_get(value8) == 1,
	   "a batch is refused as a whole: %s", error.message);
	(void)own_site_poke(code, original);
	ok(dormant_batch(changes, 5, NULL, NULL) == 0 && static_key_enabled(&key) &&
		   key_sites() == 10 && value4_is(7) && value1_is(7) && call_is(2) && value8_is(7),
	   "and done as a whole when the byte is gone");
}

static int stop;

static void *wait_for_it(void *data)
{
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE))
		usleep(1000);
	return data;
}

static void test_all(const char *when)
{
	for (int i = 0; i < SUBJECTS; i++) {
		test_subject(&subjects[i], when);
		test_neighbours(&subjects[i], when);
	}
}

int main(void)
{
	pthread_t thread;

	deadline_set(60);
	if (own_operand_find(OWN_CALL(call), DORMANT_OPERAND_CALL, 0) == NULL ||
	    own_operand_count_direct(OWN_CALL(call), (void *)one) < 2)
		skip_all("calls are no sites in this build, or writers are restricted");
	if (own_site_poke(own_site_find(&key.key, 0), 0xa9) != 0)
		skip_all("no /proc/self/mem to write foreign bytes with");
	plan(2 * 3 * SUBJECTS + 2);
	test_all("one thread");
	pthread_create(&thread, NULL, wait_for_it, NULL);
	test_all("two threads");
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	test_batch();
	return done();
}
