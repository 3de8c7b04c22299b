/* SPDX-License-Identifier: MIT */
/*
 * Every step of a change of values and calls fails once, for each kind, with one thread and with
 * two. Where a site holds the value, the state is kept and the error names it; where it goes by
 * memory, it still does, and the change works. Never does a site hold what was not set.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <dormant/batch.h>

#include "bystander.h"
#include "deadline.h"
#include "fault.h"
#include "from_home.h"
#include "many_sites.h"
#include "own_operands.h"
#include "tap.h"

static uint64_t one(uint64_t x)
{
	return x + 1;
}

static uint64_t two(uint64_t x)
{
	return x + 2;
}

/* What a subject's sites may hold; of a call, the low byte is what its function adds. */
#define FIRST  UINT64_C(0x0101010101010101)
#define SECOND UINT64_C(0x0202020202020202)

/* Returns 0 where two sites differ. */
#define DEFINE_VALUE(type, name)                                        \
	DEFINE_IMV(type, name) = (type)FIRST;                           \
	__attribute__((noinline)) static uint64_t name##_read(void)     \
	{                                                               \
		uint64_t a = imv_read(name), b;                         \
                                                                        \
		__asm__ volatile("" ::: "memory");                      \
		b = imv_read(name);                                     \
		return a == b ? a : 0;                                  \
	}                                                               \
	static uint64_t name##_get(void)                                \
	{                                                               \
		return imv_get(name);                                   \
	}                                                               \
	static int name##_set(uint64_t to, struct dormant_error *error) \
	{                                                               \
		return imv_set_error(name, (type)to, error);            \
	}
#define DEFINE_CALL(name)                                                              \
	DEFINE_STATIC_CALL(name, one);                                                 \
	__attribute__((noinline)) static uint64_t name##_tail(uint64_t x)              \
	{                                                                              \
		return static_call(name)(x);                                           \
	}                                                                              \
	__attribute__((noinline)) static uint64_t name##_read(void)                    \
	{                                                                              \
		uint64_t a = static_call(name)(0) * FIRST, b = name##_tail(0) * FIRST; \
                                                                                       \
		return a == b ? a : 0;                                                 \
	}                                                                              \
	static uint64_t name##_get(void)                                               \
	{                                                                              \
		return static_call_query(name)(0) * FIRST;                             \
	}                                                                              \
	static int name##_set(uint64_t to, struct dormant_error *error)                \
	{                                                                              \
		return static_call_update_error(name, to == FIRST ? one : two, error); \
	}
DEFINE_VALUE(uint8_t, value1)
DEFINE_VALUE(uint16_t, value2)
DEFINE_VALUE(uint32_t, value4)
DEFINE_VALUE(uint64_t, value8)
DEFINE_CALL(call)

/* For what has to begin at home: one a trial. */
#define DEFINE_FRESH(n) DEFINE_VALUE(uint64_t, fresh_##n)
FOR_EACH_OF_20(DEFINE_FRESH)

struct subject {
	const char *name;
	const void *owner;
	uint64_t mask; /* of the bytes it has */
	uint64_t (*read)(void), (*get)(void);
	int (*set)(uint64_t to, struct dormant_error *error);
};

#define VALUE_SUBJECT(name, mask)                                                 \
	{                                                                         \
#name, OWN_VALUE(name), mask, name##_read, name##_get, name##_set \
	}
static const struct subject subjects[] = {
	VALUE_SUBJECT(value1, 0xff),
	VALUE_SUBJECT(value2, 0xffff),
	VALUE_SUBJECT(value4, 0xffffffff),
	VALUE_SUBJECT(value8, UINT64_MAX),
	{"call", OWN_CALL(call), UINT64_MAX, call_read, call_get, call_set},
};
static const struct subject fresh[] = {
#define FRESH_SUBJECT(n) VALUE_SUBJECT(fresh_##n, UINT64_MAX),
	FOR_EACH_OF_20(FRESH_SUBJECT)};

#define SUBJECTS ((int)(sizeof(subjects) / sizeof(subjects[0])))

DEFINE_STATIC_KEY_FALSE(bystander);

static bool is(const struct subject *subject, uint64_t value)
{
	return subject->read() == (value & subject->mask) &&
	       subject->get() == (value & subject->mask);
}

/* ---- sites that hold their value ---- */

struct scenario {
	const char *name;
	struct fault fault;
	int result;
	enum dormant_phase phase;
};

static const struct scenario scenarios[] = {
	{"every write refused",
	 {INJECT_WRITE, -EPERM, 0, INT_MAX, false},
	 -EPERM,
	 DORMANT_PHASE_WRITE},
	{"every write short", {INJECT_SHORT, 1, 0, INT_MAX, false}, -EIO, DORMANT_PHASE_WRITE},
	{"the first write refused, the others not",
	 {INJECT_WRITE, -EIO, 0, 1, false},
	 0,
	 DORMANT_PHASE_NONE},
	{"the first write short, the others not",
	 {INJECT_SHORT, 1, 0, 1, false},
	 0,
	 DORMANT_PHASE_NONE},
	{"the core sync fails",
	 {INJECT_SYNC, -ENOMEM, 0, INT_MAX, false},
	 -ENOMEM,
	 DORMANT_PHASE_SYNC},
	{"the core sync fails, putting back too",
	 {INJECT_SYNC, -EPERM, 0, INT_MAX, true},
	 -EPERM,
	 DORMANT_PHASE_ROLLBACK},
};

#define SCENARIOS ((int)(sizeof(scenarios) / sizeof(scenarios[0])))

static bool error_fits(const struct dormant_error *error, const struct scenario *scenario,
		       const struct subject *subject)
{
	const bool names = scenario->phase == DORMANT_PHASE_WRITE ||
			   scenario->phase == DORMANT_PHASE_ROLLBACK;

	return error->code == scenario->result && error->phase == scenario->phase &&
	       strchr(error->message, '\n') == NULL &&
	       (!names || (error->key == subject->owner && error->site != 0 &&
			   strcmp(error->key_name, subject->name) == 0 &&
			   strstr(error->message, subject->name) != NULL));
}

/* After a failure to put back: each site holds what was set before or what was to be set. */
static bool is_old_or_new(const struct subject *subject)
{
	const uint64_t now = subject->read();

	return subject->get() == (FIRST & subject->mask) &&
	       (now == (FIRST & subject->mask) || now == (SECOND & subject->mask) || now == 0);
}

static void test_failure(const struct subject *subject, const struct scenario *scenario,
			 const char *threads)
{
	struct dormant_error error = {0};
	int result;
	bool kept;

	fault_set(scenario->fault);
	result = subject->set(SECOND, &error);
	fault_clear();
	ok(result == scenario->result && error_fits(&error, scenario, subject), "%s, %s, %s: %s",
	   subject->name, threads, scenario->name,
	   result == 0 ? "works by another writer" : error.message);
	if (scenario->phase == DORMANT_PHASE_ROLLBACK)
		kept = is_old_or_new(subject);
	else
		kept = is(subject, result == 0 ? SECOND : FIRST);
	ok(kept, "%s, %s, %s: the state is %s", subject->name, threads, scenario->name,
	   result == 0 ? "the new one" : "kept");
	ok(fault_left_nothing_locked(&bystander.key) && subject->set(SECOND, NULL) == 0 &&
		   is(subject, SECOND) && subject->set(FIRST, NULL) == 0 && is(subject, FIRST) &&
		   dormant_status(NULL) == 0,
	   "%s, %s, %s: the next changes work", subject->name, threads, scenario->name);
}

static void test_live(const char *threads)
{
	for (int i = 0; i < SUBJECTS; i++) {
		for (int j = 0; j < SCENARIOS; j++)
			test_failure(&subjects[i], &scenarios[j], threads);
	}
}

static void test_memory(void)
{
	struct dormant_error error = {0};
	int result = 0;

	/* More than there is room for at hand: 20 values with two sites of two quadwords. */
	const struct imv_change changes[] = {
#define FRESH_CHANGE(n) IMV_CHANGE(fresh_##n, SECOND),
		FOR_EACH_OF_20(FRESH_CHANGE)};
	fault_set((struct fault){INJECT_MEMORY, -ENOMEM, 0, INT_MAX, false});
	result = dormant_imv_batch(changes, 20, &error);
	fault_clear();
	ok(result == -ENOMEM && error.phase == DORMANT_PHASE_MEMORY && is(&fresh[0], FIRST) &&
		   is(&fresh[19], FIRST) && fault_left_nothing_locked(&bystander.key),
	   "no memory for the list: %s", error.message);
}

/* ---- sites that go by memory ---- */

static int live_sites(const struct subject *subject)
{
	int all;

	return own_operand_count_live(subject->owner, &all);
}

/* The change works; the sites stay where they are, or come into the instruction. */
static void test_home(const struct subject *subject, struct fault fault_to_set, const char *name)
{
	int result;

	fault_set(fault_to_set);
	result = subject->set(SECOND, NULL);
	fault_clear();
	ok(result == 0 && is(subject, SECOND),
	   "by memory, %s: the value is set (%d, %d sites in the instruction)", name, result,
	   live_sites(subject));
	ok(subject->set(FIRST, NULL) == 0 && is(subject, FIRST) && live_sites(subject) == 2,
	   "by memory, %s: and comes into its instructions with the next", name);
}

/* Calls of one point: which of them fail. */
static struct {
	unsigned syncs, rollbacks; /* bits by number */
	int seen_syncs, seen_rollbacks;
} some;

static int fail_some(enum inject_point point)
{
	if (point == INJECT_SYNC)
		return (some.syncs >> some.seen_syncs++ & 1) != 0 ? -ENOMEM : 0;
	if (point == INJECT_ROLLBACK)
		return (some.rollbacks >> some.seen_rollbacks++ & 1) != 0 ? -EPERM : 0;
	return 0;
}

/* The second of the two rounds of a value of 8 bytes fails, and is put back or not. */
static void test_second_round(const struct subject *subject, unsigned syncs, unsigned rollbacks,
			      const char *name)
{
	struct dormant_error error = {0};
	bool right;
	int result;

	memset(&some, 0, sizeof(some));
	some.syncs = syncs;
	some.rollbacks = rollbacks;
	dormant_inject = fail_some;
	result = subject->set(SECOND, &error);
	dormant_inject = NULL;
	if (rollbacks == 0)
		right = result == 0 && is(subject, SECOND) && dormant_status(NULL) == 0;
	else
		right = result == -EPERM && error.phase == DORMANT_PHASE_ROLLBACK &&
			subject->get() == FIRST &&
			(subject->read() == FIRST || subject->read() == SECOND);
	ok(right, "%s: %s (%d, reads %llx)", name,
	   rollbacks == 0 ? "the value is set" : error.message, result,
	   (unsigned long long)subject->read());
	ok(subject->set(FIRST, NULL) == 0 && is(subject, FIRST) && live_sites(subject) == 2,
	   "%s: and can be changed", name);
}

static void test_homes(int from)
{
	const struct subject *next = &fresh[from];

	test_home(next++, (struct fault){INJECT_WRITE, -EPERM, 0, INT_MAX, false},
		  "every write refused");
	test_home(next++, (struct fault){INJECT_SHORT, 1, 0, INT_MAX, false}, "every write short");
	test_home(next++, (struct fault){INJECT_SYNC, -EPERM, 0, INT_MAX, false},
		  "every sync refused");
	test_home(next++, (struct fault){INJECT_WRITE, -EPERM, 1, INT_MAX, false},
		  "the second round's write refused");
	test_second_round(next++, 1, 0, "the first round's sync fails");
	test_second_round(next++, 2, 0, "the second round's sync fails");
	test_second_round(next++, 1, 1, "the first round's sync fails, putting back too");
	test_second_round(next++, 2, 1, "the second round's sync fails, putting back too");
	test_second_round(next++, 2, 3, "the second round's sync fails, putting both back too");
}

#define HOMES 9

/* A batch of what holds its value and what does not: all or none. */
static void test_batch(const struct subject *home)
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_KEY(&bystander.key, STATIC_KEY_ENABLE),
		DORMANT_CHANGE_IMV(value4, (uint32_t)SECOND), DORMANT_CHANGE_IMV(fresh_19, SECOND),
		DORMANT_CHANGE_CALL(call, two), DORMANT_CHANGE_IMV(value8, SECOND)};
	struct dormant_error error = {0};
	int result;

	memset(&some, 0, sizeof(some));
	some.syncs = ~0U;
	dormant_inject = fail_some;
	result = dormant_batch(changes, 5, NULL, &error);
	dormant_inject = NULL;
	ok(result == -ENOMEM && error.phase == DORMANT_PHASE_SYNC && is(home, FIRST) &&
		   is(&subjects[2], FIRST) && is(&subjects[3], FIRST) && is(&subjects[4], FIRST) &&
		   !static_key_enabled(&bystander) && *OWN_CALL(call)->cell == (void *)one,
	   "a batch that fails changes neither key, nor value, nor call, nor its cell: %s (%d)",
	   error.message, result);
	ok(dormant_batch(changes, 5, NULL, NULL) == 0 && is(home, SECOND) &&
		   is(&subjects[2], SECOND) && is(&subjects[3], SECOND) &&
		   is(&subjects[4], SECOND) && static_key_enabled(&bystander),
	   "and then all of them");
}

int main(void)
{
	from_home_end();
	deadline_set(100);
	plan(1 + 2 * SUBJECTS * SCENARIOS * 3 + 2 * HOMES * 2 + 2);
	test_memory();
	for (int i = 0; i < SUBJECTS; i++) /* into their instructions */
		(void)(subjects[i].set(SECOND, NULL) + subjects[i].set(FIRST, NULL));
	test_live("one thread");
	test_homes(0);
	bystander_start();
	test_live("two threads");
	test_homes(HOMES);
	test_batch(&fresh[19]);
	bystander_end();
	return done();
}
