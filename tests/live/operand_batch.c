/* SPDX-License-Identifier: MIT */
/*
 * A batch of keys, values and calls: all or none; of what occurs several times the last counts, and
 * nobody sees the others, neither at a site nor in memory.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include <dormant/batch.h>

#include "deadline.h"
#include "many_sites.h"
#include "own_operands.h"
#include "tap.h"

#define ROUNDS  4000
#define FILLING 40

DEFINE_STATIC_KEY_FALSE(key);
DEFINE_STATIC_KEY_FALSE(counted);
DEFINE_IMV(int, number) = 1;
DEFINE_IMV(double, fraction) = 0.5;
DEFINE_IMV(const char *, text) = "old";
DEFINE_IMV(unsigned, siteless) = 1; /* read from memory only, as a site at home does */

DEFINE_10_SITES(key_sites, &key)

static int one(int x)
{
	return x + 1;
}

static int two(int x)
{
	return x + 2;
}

static int bad_calls;

static int bad(int x)
{
	__atomic_add_fetch(&bad_calls, 1, __ATOMIC_RELAXED);
	return x;
}

DEFINE_STATIC_CALL(call, one);
DEFINE_STATIC_CALL(other_call, one);

__attribute__((noinline)) static int call_it(int x)
{
	return static_call(call)(x);
}

struct state {
	int number;
	double fraction;
	const char *text;
	int called;
	bool on;
	int count;
};

__attribute__((noinline)) static bool is(struct state state)
{
	return imv_read(number) == state.number && imv_get(number) == state.number &&
	       imv_read(fraction) == state.fraction && imv_get(fraction) == state.fraction &&
	       strcmp(imv_read(text), state.text) == 0 && strcmp(imv_get(text), state.text) == 0 &&
	       call_it(0) == state.called && static_call_query(call)(0) == state.called &&
	       key_sites() == 10 * state.on && static_key_enabled(&key) == state.on &&
	       static_key_count(&counted.key) == state.count && dormant_status(NULL) == 0;
}

static void test_all(void)
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(number, 2),
		DORMANT_CHANGE_KEY(&key.key, STATIC_KEY_ENABLE),
		DORMANT_CHANGE_CALL(call, two),
		DORMANT_CHANGE_IMV(fraction, 2.5),
		DORMANT_CHANGE_KEY(&counted.key, STATIC_KEY_INC),
		DORMANT_CHANGE_KEY(&counted.key, STATIC_KEY_INC),
		DORMANT_CHANGE_IMV(text, "new"),
	};

	ok(is((struct state){1, 0.5, "old", 1, false, 0}), "at first");
	ok(dormant_batch(changes, 7, &dormant_object_self, NULL) == 0 &&
		   is((struct state){2, 2.5, "new", 2, true, 2}),
	   "a batch changes keys, values and calls");
	ok(dormant_batch(NULL, 0, NULL, NULL) == 0, "an empty one nothing");
}

/* The state is as after test_all(). */
static bool refuses(const struct dormant_change *changes, size_t count, int expected,
		    struct dormant_error *error)
{
	memset(error, 0, sizeof(*error));
	return dormant_batch(changes, count, NULL, error) == expected && error->code == expected &&
	       error->message[0] != '\0' && is((struct state){2, 2.5, "new", 2, true, 2}) &&
	       *OWN_CALL(call)->cell == (void *)two;
}

static void test_none(void)
{
	struct dormant_change changes[] = {
		DORMANT_CHANGE_CALL(call, one),
		DORMANT_CHANGE_IMV(number, 3),
		DORMANT_CHANGE_KEY(&key.key, STATIC_KEY_DISABLE),
		DORMANT_CHANGE_IMV(text, "newer"),
		DORMANT_CHANGE_KEY(&key.key, STATIC_KEY_DEC),
	};
	struct dormant_error error;

	ok(refuses(changes, 5, -ERANGE, &error), "a key that can not be lowered: none (%s)",
	   error.message);
	changes[4] = (struct dormant_change){.kind = DORMANT_CHANGES_IMV};
	ok(refuses(changes, 5, -EINVAL, &error), "no value: none (%s)", error.message);
	changes[4] = (struct dormant_change){.kind = DORMANT_CHANGES_CALL};
	ok(refuses(changes, 5, -EINVAL, &error), "no call: none (%s)", error.message);
	changes[4] = (struct dormant_change){.kind = DORMANT_CHANGES_KEY};
	ok(refuses(changes, 5, -EINVAL, &error), "no key: none (%s)", error.message);
	changes[4] = (struct dormant_change){.kind = (enum dormant_change_kind)9};
	ok(refuses(changes, 5, -EINVAL, &error), "no kind: none (%s)", error.message);
	changes[1].imv.bytes = 5;
	changes[4] = (struct dormant_change)DORMANT_CHANGE_IMV(number, 4);
	ok(refuses(changes, 5, -EINVAL, &error),
	   "a size that is none, of one that would not count "
	   "(%s)",
	   error.message);
	ok(refuses(NULL, 1, -EINVAL, &error), "no list: none (%s)", error.message);
}

static void test_duplicates(void)
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(number, 90),   DORMANT_CHANGE_CALL(call, NULL),
		DORMANT_CHANGE_IMV(text, "none"), DORMANT_CHANGE_IMV(number, 1),
		DORMANT_CHANGE_CALL(call, bad),   DORMANT_CHANGE_IMV(text, "old"),
		DORMANT_CHANGE_CALL(call, one),
	};

	ok(dormant_batch(changes, 7, NULL, NULL) == 0 &&
		   is((struct state){1, 2.5, "old", 1, true, 2}) && bad_calls == 0,
	   "of what occurs several times, the last counts");
}

/* ---- what others see meanwhile: instruction by instruction ---- */

static const struct imv_change values[] = {
	{OWN_VALUE(siteless), 99, 4}, {OWN_VALUE(siteless), 98, 4}, {OWN_VALUE(siteless), 2, 4}};
static const struct static_call_change calls[] = {{OWN_CALL(other_call), (void *)bad},
						  {OWN_CALL(other_call), NULL},
						  {OWN_CALL(other_call), (void *)two}};

static int set_values(void)
{
	return dormant_imv_batch(values, 3, NULL);
}

static int update_calls(void)
{
	return dormant_static_call_batch(calls, 3, NULL);
}

static int set_mixed(void)
{
	struct dormant_change changes[6];

	for (int i = 0; i < 3; i++) {
		changes[2 * i] = (struct dormant_change){.kind = DORMANT_CHANGES_IMV,
							 .imv = values[i]};
		changes[2 * i + 1] = (struct dormant_change){.kind = DORMANT_CHANGES_CALL,
							     .call = calls[i]};
	}
	return dormant_batch(changes, 6, NULL, NULL);
}

static uint64_t peek(pid_t child, const void *address)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, child, address, NULL);
}

/* Whether another thread would find only what was before and what is to be. */
static bool sees_old_or_new(pid_t child)
{
	const uint64_t value = peek(child, OWN_VALUE(siteless)) & UINT32_MAX;
	const uint64_t function = peek(child, &OWN_CALL(other_call)->function);
	const uint64_t cell = peek(child, OWN_CALL(other_call)->cell);

	return (value == 1 || value == 2) &&
	       (function == (uintptr_t)one || function == (uintptr_t)two) &&
	       (cell == (uintptr_t)one || cell == (uintptr_t)two);
}

static void test_meanwhile(const char *name, int (*change)(void))
{
	long steps = 0, wrong = 0;
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(99);
		(void)raise(SIGSTOP);
		_exit(change() != 0);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		wrong += !sees_old_or_new(child);
		steps++;
		(void)ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
	}
	if (steps < 20)
		skip(name, "a child can not be followed here");
	else
		ok(wrong == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
		   "%s: what does not count is never seen (after %ld of %ld instructions)", name,
		   wrong, steps);
}

int main(void)
{
	deadline_set(60);
	plan(3 + 7 + 1 + 3);
	test_all();
	test_none();
	test_duplicates();
	test_meanwhile("values", set_values);
	test_meanwhile("calls", update_calls);
	test_meanwhile("both", set_mixed);
	return done();
}
