/* SPDX-License-Identifier: MIT */
/*
 * Every step of a patch fails once, for a patch of one site, of 1,000 sites, and of 2,000 sites in
 * two objects. After each the state is as before, nothing is locked, and the next toggle works.
 *
 * usage: faults SHARED_OBJECT (built from second_object.c)
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "deadline.h"
#include "fault.h"
#include "many_sites.h"
#include "second_object.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(key_of_one);
DEFINE_STATIC_KEY_FALSE(key_of_many);
DEFINE_STATIC_KEY_FALSE(key_of_both);
DEFINE_STATIC_KEY_FALSE(bystander);

DEFINE_1000_SITES(many_sites, &key_of_many)
DEFINE_1000_SITES(first_sites, &key_of_both)

static int (*second_sites_of)(void);

static int one_site(void)
{
	return static_branch_unlikely(&key_of_one) ? 1 : 0;
}

static int both_sites(void)
{
	return first_sites() + second_sites_of();
}

struct subject {
	const char *name;
	struct static_key *key;
	int (*sites)(void);
	int count;
};

static const struct subject subjects[] = {
	{"1 site", &key_of_one.key, one_site, 1},
	{"1,000 sites", &key_of_many.key, many_sites, 1000},
	{"2,000 sites of two objects", &key_of_both.key, both_sites, 2000},
};

#define SUBJECTS ((int)(sizeof(subjects) / sizeof(subjects[0])))

struct scenario {
	const char *name;
	struct fault fault;
	int result;               /* what the toggle returns */
	enum dormant_phase phase; /* of its error */
	bool keeps_text;          /* nothing is changed */
};

static const struct scenario scenarios[] = {
	{"every write refused",
	 {INJECT_WRITE, -EPERM, 0, INT_MAX, false},
	 -EPERM,
	 DORMANT_PHASE_WRITE,
	 true},
	{"every write short",
	 {INJECT_SHORT, 1, 0, INT_MAX, false},
	 -EIO,
	 DORMANT_PHASE_WRITE,
	 true},
	{"the first write refused, the others not",
	 {INJECT_WRITE, -EIO, 0, 1, false},
	 0,
	 DORMANT_PHASE_NONE,
	 false},
	{"the first write short, the others not",
	 {INJECT_SHORT, 1, 0, 1, false},
	 0,
	 DORMANT_PHASE_NONE,
	 false},
	{"the core sync fails",
	 {INJECT_SYNC, -ENOMEM, 0, INT_MAX, false},
	 -ENOMEM,
	 DORMANT_PHASE_SYNC,
	 true},
	{"the core sync fails, putting back too",
	 {INJECT_SYNC, -EPERM, 0, INT_MAX, true},
	 -EPERM,
	 DORMANT_PHASE_ROLLBACK,
	 false},
};

#define SCENARIOS ((int)(sizeof(scenarios) / sizeof(scenarios[0])))

static bool is(const struct subject *subject, int count)
{
	return static_key_count(subject->key) == count &&
	       subject->sites() == (count > 0) * subject->count;
}

static bool error_fits(const struct dormant_error *error, const struct scenario *scenario)
{
	return error->code == scenario->result && error->phase == scenario->phase &&
	       (error->message[0] != '\0') == (scenario->result != 0) &&
	       strchr(error->message, '\n') == NULL;
}

/* @on: the direction that fails. */
static void test_failure(const struct subject *subject, const struct scenario *scenario, bool on)
{
	struct dormant_error error = {0};
	int result;

	fault_set(scenario->fault);
	result = on ? dormant_static_key_inc(subject->key, NULL, &error)
		    : dormant_static_key_dec(subject->key, NULL, &error);
	fault_clear();
	ok(result == scenario->result && error_fits(&error, scenario), "%s, %s: %s (%d)",
	   subject->name, scenario->name, result == 0 ? "works by another writer" : error.message,
	   result);
	if (result != 0)
		ok(static_key_count(subject->key) == !on &&
			   (!scenario->keeps_text || is(subject, !on)),
		   "%s, %s: the state is kept", subject->name, scenario->name);
	else
		ok(is(subject, on), "%s, %s: the state is the new one", subject->name,
		   scenario->name);
	ok(fault_left_nothing_locked(&bystander.key), "%s, %s: nothing is left locked",
	   subject->name, scenario->name);
	if (result != 0)
		result = on ? static_key_slow_inc(subject->key) : static_key_slow_dec(subject->key);
	ok(result == 0 && is(subject, on) && dormant_status(NULL) == 0,
	   "%s, %s: the next toggle works, keys and branches agree", subject->name, scenario->name);
}

/* First of all, while every list has to be made. */
static void test_memory(const struct subject *subject)
{
	struct dormant_error error = {0};
	int result;

	fault_set((struct fault){INJECT_MEMORY, -ENOMEM, 0, INT_MAX, false});
	result = dormant_static_key_enable(subject->key, &error);
	fault_clear();
	ok(result == -ENOMEM && error.code == -ENOMEM && error.phase == DORMANT_PHASE_MEMORY,
	   "%s, no memory: %s (%d)", subject->name, error.message, result);
	ok(is(subject, 0) && fault_left_nothing_locked(&bystander.key),
	   "%s, no memory: the state is kept, nothing is left locked", subject->name);
	ok(static_key_enable(subject->key) == 0 && is(subject, 1) &&
		   static_key_disable(subject->key) == 0 && is(subject, 0),
	   "%s, no memory: the next toggle works", subject->name);
}

/* Row 48: the second of two objects can not be written. */
static void test_second_object(void)
{
	const struct subject *both = &subjects[2];
	struct dormant_error error = {0};
	int writes, result;

	fault_set((struct fault){INJECT_POINTS, 0, 0, 0, false});
	(void)static_key_enable(both->key);
	writes = fault_seen[INJECT_WRITE];
	(void)static_key_disable(both->key);
	ok(writes >= 2, "a patch of two objects takes %d writes", writes);
	for (int bad = 1; bad < writes; bad++) {
		fault_set((struct fault){INJECT_WRITE, -EACCES, bad, INT_MAX, false});
		result = dormant_static_key_enable(both->key, &error);
		if (result != -EACCES || fault_seen[INJECT_ROLLBACK] == 0 || !is(both, 0))
			break;
	}
	fault_clear();
	ok(is(both, 0) && error.code == -EACCES && error.phase == DORMANT_PHASE_WRITE,
	   "the second can not be written: the first is as before: %s", error.message);
	ok(static_key_enable(both->key) == 0 && is(both, 1) && static_key_disable(both->key) == 0 &&
		   is(both, 0),
	   "the next toggle works");
}

static void load(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);

	if (handle != NULL)
		*(void **)&second_sites_of = dlsym(handle, "second_sites");
	if (second_sites_of == NULL)
		bail("%s: %s", path, dlerror());
}

int main(int argc, char **argv)
{
	if (argc != 2)
		bail("usage: %s SHARED_OBJECT", argv[0]);
	load(argv[1]);
	deadline_set(100);
	plan(3 * SUBJECTS + 3 + SUBJECTS * SCENARIOS * 8);
	/* the one with most sites last: what a smaller one needed is kept for it */
	test_memory(&subjects[0]);
	test_memory(&subjects[1]);
	test_memory(&subjects[2]);
	test_second_object();
	for (int i = 0; i < SUBJECTS; i++) {
		for (int j = 0; j < SCENARIOS; j++) {
			test_failure(&subjects[i], &scenarios[j], true);
			test_failure(&subjects[i], &scenarios[j], false);
		}
	}
	return done();
}
