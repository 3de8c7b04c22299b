/* SPDX-License-Identifier: MIT */
/*
 * What a process may have given up, or been denied, and changes of values and calls: before it
 * starts and after, alone and beside a thread that reads. In each case a change works, by whatever
 * way, or is a named error that changes nothing; and the thread never reads a mixture. What was
 * denied before the start leaves sites in memory, where a change always works.
 *
 * Every case runs in a process of its own: `operand_restricted probe NUMBER MODE`.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <dormant/batch.h>

#include "restricted_process.h"
#include "restrictions.h"
#include "tap.h"
#include "writable_text.h"

/* Every mixture of bytes of the two is another value. */
#define OLD UINT64_C(0x1111111111111111)
#define NEW UINT64_C(0x2222222222222222)

DEFINE_IMV(uint64_t, value8) = OLD;
DEFINE_IMV(uint32_t, value4) = (uint32_t)OLD;

/* Where the two differ in more than one byte of a distance. */
int one(int x) __attribute__((visibility("hidden")));
int two(int x) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".balign 16\n"
	".hidden one\n"
	".globl one\n"
	".type one,@function\n"
	"one:	leal 1(%rdi),%eax\n"
	"	ret\n"
	".size one, . - one\n"
	".skip 0x1835, 0xcc\n"
	".hidden two\n"
	".globl two\n"
	".type two,@function\n"
	"two:	leal 2(%rdi),%eax\n"
	"	ret\n"
	".size two, . - two\n"
	".popsection\n");

DEFINE_STATIC_CALL(call, one);

enum outcome { WORKS = 0, REFUSED = 1, WRONG = 2, NOT_HERE = RESTRICTED_NOT_HERE, EITHER = -1 };

struct restriction {
	const char *name;
	bool (*apply)(void); /* false: this machine can not */
	const char *writer;  /* DORMANT_WRITER, or NULL */
	int late_alone;      /* expected where it comes after the start; before it, all works */
	int late_beside;     /* the same beside a thread */
	const char *message; /* to be found in the error */
	bool late_only;      /* would keep a program from starting */
};

static const struct restriction restrictions[] = {
	{"nothing", refuse_nothing, NULL, WORKS, WORKS, NULL, false},
	{"PR_SET_MDWE", set_mdwe, NULL, WORKS, WORKS, NULL, false},
	{"another user", become_nobody, NULL, WORKS, WORKS, NULL, false},
	{"not dumpable, descriptors closed", set_undumpable_and_close, NULL, WORKS, WORKS, NULL,
	 true},
	{"no /proc", unmount_proc, NULL, WORKS, WORKS, NULL, false},
	{"no /proc and MDWE", unmount_proc_with_mdwe, NULL, WORKS, WORKS, NULL, false},
	{"sealed text", seal_text, NULL, EITHER, REFUSED, "EPERM", true},
	{"pwrite64 refused", refuse_pwrite, NULL, WORKS, WORKS, NULL, false},
	{"mprotect refused", refuse_mprotect, NULL, WORKS, WORKS, NULL, false},
	{"memfd_create refused", refuse_memfd, NULL, WORKS, WORKS, NULL, false},
	{"membarrier EPERM", refuse_membarrier, NULL, WORKS, WORKS, NULL, false},
	{"mprotect and memfd_create refused", refuse_whole, NULL, WORKS, REFUSED,
	 "no writer here changes more than one byte", false},
	{"pwrite64 and mprotect refused", refuse_two_writers, NULL, REFUSED, REFUSED, "EPERM",
	 false},
	{"all writers refused", refuse_writers, NULL, REFUSED, REFUSED, "EPERM", false},
	{"all core syncs refused", refuse_syncs, NULL, REFUSED, REFUSED, "sched_setaffinity",
	 false},
	{"all writers and core syncs refused", refuse_all, NULL, REFUSED, REFUSED, "EPERM", false},
	{"writer proc_mem", refuse_nothing, "proc_mem", WORKS, WORKS, NULL, false},
	{"writer proc_mem, pwrite64 refused", refuse_pwrite, "proc_mem", WORKS, WORKS, NULL, false},
	{"writer mprotect", refuse_nothing, "mprotect", WORKS, WORKS, NULL, false},
	{"writer mprotect, refused", refuse_mprotect, "mprotect", REFUSED, REFUSED,
	 "mprotect: EPERM", false},
	{"writer remap", refuse_nothing, "remap", WORKS, WORKS, NULL, false},
	{"writer remap, refused", refuse_memfd, "remap", REFUSED, REFUSED, "remap: EPERM", false},
	{"a writer that does not exist", refuse_nothing, "magic", WORKS, WORKS, NULL, false},
};

#define RESTRICTIONS ((int)(sizeof(restrictions) / sizeof(restrictions[0])))

/* ---- in the process with the restriction ---- */

__attribute__((noinline)) static int call_it(void)
{
	return static_call(call)(0);
}

static bool is(uint64_t value)
{
	return imv_read(value8) == value && imv_get(value8) == value &&
	       imv_read(value4) == (uint32_t)value && imv_get(value4) == (uint32_t)value &&
	       call_it() == (value == OLD ? 1 : 2) &&
	       static_call_query(call) == (value == OLD ? one : two);
}

static int mixtures, stop;

static void *read_for_ever(void *data)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t eight = imv_read(value8);
		uint32_t four = imv_read(value4);
		int called = call_it();

		mixtures += (eight != OLD && eight != NEW) ||
			    (four != (uint32_t)OLD && four != (uint32_t)NEW) ||
			    (called != 1 && called != 2);
	}
	return data;
}

static bool is_named(const struct dormant_error *error, int result, const char *message)
{
	bool named = result != 0 && error->code == result && error->message[0] != '\0' &&
		     strchr(error->message, '\n') == NULL &&
		     (error->phase == DORMANT_PHASE_WRITE || error->phase == DORMANT_PHASE_SYNC) &&
		     (message == NULL || strstr(error->message, message) != NULL);

	if (!named)
		diag("error %d, phase %s: %s", result, dormant_phase_name(error->phase),
		     error->message);
	return named;
}

static int set_all(uint64_t to, struct dormant_error *error)
{
	const struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(value4, (uint32_t)to),
		DORMANT_CHANGE_CALL(call, to == OLD ? one : two),
		DORMANT_CHANGE_IMV(value8, to),
	};

	return dormant_batch(changes, 3, NULL, error);
}

/* Each of them is refused as the first was. */
static int judge_refusal(const char *message)
{
	struct dormant_error error = {0};
	bool named = is_named(&error, imv_set_error(value8, NEW, &error), message);

	named = is_named(&error, imv_set_error(value4, (uint32_t)NEW, &error), message) && named;
	named = is_named(&error, static_call_update_error(call, two, &error), message) && named;
	named = is_named(&error, set_all(NEW, &error), message) && named;
	return named && is(OLD) ? REFUSED : WRONG;
}

static int probe_once(const char *message)
{
	struct dormant_error error = {0};

	if (imv_set_error(value8, NEW, &error) != 0)
		return judge_refusal(message);
	if (imv_set(value4, (uint32_t)NEW) != 0 || static_call_update(call, two) != 0 || !is(NEW))
		return WRONG;
	if (static_call_update(call, one) != 0 || set_all(OLD, &error) != 0 || !is(OLD) ||
	    set_all(NEW, &error) != 0 || !is(NEW))
		return WRONG;
	return set_all(OLD, &error) == 0 && is(OLD) ? WORKS : WRONG;
}

/* Three times: what fails leaves nothing behind that makes the next another one. */
static int probe(const struct restriction *restriction, bool late, bool beside)
{
	int outcome;
	pthread_t thread;

	deadline_set(30);
	if (!is(OLD))
		return WRONG;
	if (late && !restriction->apply())
		return NOT_HERE;
	if (beside && pthread_create(&thread, NULL, read_for_ever, NULL) != 0)
		return NOT_HERE;
	outcome = probe_once(restriction->message);
	for (int i = 0; i < 2; i++) {
		if (probe_once(restriction->message) != outcome)
			return WRONG;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	if (beside)
		pthread_join(thread, NULL);
	if (mixtures != 0 || is_text_writable()) {
		diag("%d mixtures; text left writable: %d", mixtures, is_text_writable());
		return WRONG;
	}
	return outcome;
}

/* ---- in the test ---- */

struct mode {
	const char *argument, *name;
	bool late, beside;
};

static const struct mode modes[] = {
	{"before-alone", "before the start, alone", false, false},
	{"before-beside", "before the start, beside a thread", false, true},
	{"after-alone", "after the start, alone", true, false},
	{"after-beside", "after the start, beside a thread", true, true},
};

#define MODES 4

static int expected_outcome(const struct restriction *restriction, const struct mode *mode)
{
	if (mode->late)
		return mode->beside ? restriction->late_beside : restriction->late_alone;
	/* sites that a lone thread brought into their instruction, and that other threads run now
	 */
	return restriction->apply == refuse_whole && mode->beside ? REFUSED : WORKS;
}

static void test_restriction(const char *program, int number, const struct mode *mode)
{
	const struct restriction *restriction = &restrictions[number];
	const int expected = expected_outcome(restriction, mode);
	char name[128], text[16];
	int outcome;

	snprintf(name, sizeof(name), "%s, %s", restriction->name, mode->name);
	snprintf(text, sizeof(text), "%d", number);
	if (!mode->late && restriction->late_only) {
		skip(name, "a program could not start, or it is undone by exec");
		return;
	}
	outcome = restricted_run(program, text, mode->argument, restriction->writer,
				 mode->late ? NULL : restriction->apply);
	if (outcome == NOT_HERE)
		skip(name, "this machine can not do that");
	else if (expected == EITHER)
		ok(outcome == WORKS || outcome == REFUSED, "%s: %s", name,
		   outcome == WORKS ? "works" : "refused");
	else
		ok(outcome == expected, "%s: %s (status %d)", name,
		   expected == WORKS ? "works" : "a named error, state kept", outcome);
}

static int probe_by_name(const char *number, const char *argument)
{
	for (int i = 0; i < MODES; i++) {
		if (strcmp(modes[i].argument, argument) == 0)
			return probe(&restrictions[atoi(number)], modes[i].late, modes[i].beside);
	}
	return WRONG;
}

int main(int argc, char **argv)
{
	if (argc == 4)
		_exit(probe_by_name(argv[2], argv[3]));
	plan(MODES * RESTRICTIONS);
	for (int i = 0; i < RESTRICTIONS; i++) {
		for (int j = 0; j < MODES; j++)
			test_restriction(argv[0], i, &modes[j]);
	}
	return done();
}
