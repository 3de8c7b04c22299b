/* SPDX-License-Identifier: MIT */
/*
 * What a process may have given up, or been denied: before it starts and after. In each case a
 * toggle either works, or is a named error that changes nothing, and the program goes on.
 *
 * Every case runs in a process of its own, because most can not be undone: this program forks and
 * executes itself as `restricted probe NUMBER before|after`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "many_sites.h"
#include "restricted_process.h"
#include "restrictions.h"
#include "tap.h"
#include "writable_text.h"

DEFINE_STATIC_KEY_FALSE(key);

DEFINE_10_SITES(sites, &key)

/* How a probe ends. */
enum outcome { WORKS = 0, REFUSED = 1, WRONG = 2, NOT_HERE = RESTRICTED_NOT_HERE };

struct restriction {
	const char *name;
	bool (*apply)(void); /* false: this machine can not */
	const char *writer;  /* DORMANT_WRITER, or NULL */
	int expected;        /* WORKS or REFUSED; -1: either */
	const char *message; /* to be found in the error, where it is refused */
	bool late_only;      /* would keep a program from starting */
};

static const struct restriction restrictions[] = {
	{"nothing", refuse_nothing, NULL, WORKS, NULL, false},
	{"PR_SET_MDWE", set_mdwe, NULL, WORKS, NULL, false},
	{"another user", become_nobody, NULL, WORKS, NULL, false},
	{"not dumpable", set_undumpable, NULL, WORKS, NULL, true},
	{"not dumpable, descriptors closed", set_undumpable_and_close, NULL, WORKS, NULL, true},
	{"no /proc", unmount_proc, NULL, WORKS, NULL, false},
	{"a root without /proc", change_root, NULL, WORKS, NULL, true},
	{"no /proc and MDWE", unmount_proc_with_mdwe, NULL, WORKS, NULL, false},
	{"sealed text", seal_text, NULL, -1, "EPERM", true},
	{"sealed text, mprotect", seal_text, "mprotect", REFUSED, "mprotect: EPERM", true},
	{"sealed text, remap", seal_text, "remap", REFUSED, "remap: EPERM", true},
	{"pwrite64 refused", refuse_pwrite, NULL, WORKS, NULL, false},
	{"open for writing refused", refuse_open_write, NULL, WORKS, NULL, false},
	{"mprotect refused", refuse_mprotect, NULL, WORKS, NULL, false},
	{"memfd_create refused", refuse_memfd, NULL, WORKS, NULL, false},
	{"membarrier ENOSYS", remove_membarrier, NULL, WORKS, NULL, false},
	{"membarrier EPERM", refuse_membarrier, NULL, WORKS, NULL, false},
	{"membarrier refused, no /proc", refuse_membarrier_and_proc, NULL, WORKS, NULL, false},
	{"pwrite64 and mprotect refused", refuse_two_writers, NULL, REFUSED, "EPERM", false},
	{"all writers refused", refuse_writers, NULL, REFUSED, "EPERM", false},
	{"all core syncs refused", refuse_syncs, NULL, REFUSED, "sched_setaffinity", false},
	{"all writers and core syncs refused", refuse_all, NULL, REFUSED, "EPERM", false},
	{"writer proc_mem", refuse_nothing, "proc_mem", WORKS, NULL, false},
	{"writer mprotect", refuse_nothing, "mprotect", WORKS, NULL, false},
	{"writer remap", refuse_nothing, "remap", WORKS, NULL, false},
	{"writer proc_mem, pwrite64 refused", refuse_pwrite, "proc_mem", REFUSED,
	 "only DORMANT_WRITER=proc_mem", false},
	{"writer mprotect, refused", refuse_mprotect, "mprotect", REFUSED, "mprotect: EPERM",
	 false},
	{"a writer that does not exist", refuse_nothing, "magic", REFUSED,
	 "no writer is called DORMANT_WRITER=magic", false},
};

#define RESTRICTIONS ((int)(sizeof(restrictions) / sizeof(restrictions[0])))

/* ---- in the process with the restriction ---- */

static int judge_error(const struct dormant_error *error, int result, const char *message)
{
	bool state_kept = static_key_count(&key.key) == 0 && sites() == 0;
	bool named = error->code == result && error->message[0] != '\0' &&
		     (error->phase == DORMANT_PHASE_WRITE || error->phase == DORMANT_PHASE_SYNC) &&
		     (message == NULL || strstr(error->message, message) != NULL);
	struct dormant_error status = {0};
	bool reported = dormant_status(&status) != 0 && status.message[0] != '\0';

	if (!named || !state_kept || !reported)
		diag("error %d, phase %s, count %d, sites on %d: %s; status: %s", result,
		     dormant_phase_name(error->phase), static_key_count(&key.key), sites(),
		     error->message, status.message);
	return named && state_kept && reported ? REFUSED : WRONG;
}

static int probe_once(const char *message)
{
	struct dormant_error error = {0};
	int result = dormant_static_key_enable(&key.key, &error);

	if (result != 0)
		return judge_error(&error, result, message);
	if (sites() != 10 || static_key_count(&key.key) != 1)
		return WRONG;
	result = dormant_static_key_disable(&key.key, &error);
	if (result != 0)
		diag("off: %s", error.message);
	return result == 0 && sites() == 0 && static_key_count(&key.key) == 0 ? WORKS : WRONG;
}

/* Twice: the first failure leaves nothing behind that makes the second another one. */
static int probe(const struct restriction *restriction, bool late)
{
	int outcome;

	deadline_set(30);
	if (late && !restriction->apply())
		return NOT_HERE;
	outcome = probe_once(restriction->message);
	if (probe_once(restriction->message) != outcome)
		return WRONG;
	if (is_text_writable()) {
		diag("text was left writable and executable");
		return WRONG;
	}
	return outcome;
}

/* ---- in the test ---- */

static int run_probe(const char *program, int number, bool late)
{
	const struct restriction *restriction = &restrictions[number];
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return restricted_run(program, text, late ? "after" : "before", restriction->writer,
			      late ? NULL : restriction->apply);
}

static void test_restriction(const char *program, int number, bool late)
{
	const struct restriction *restriction = &restrictions[number];
	char name[128];
	int outcome;

	snprintf(name, sizeof(name), "%s, %s the start", restriction->name,
		 late ? "after" : "before");
	if (!late && restriction->late_only) {
		skip(name, "a program could not start, or it is undone by exec");
		return;
	}
	outcome = run_probe(program, number, late);
	if (outcome == NOT_HERE)
		skip(name, "this machine can not do that");
	else if (restriction->expected == -1)
		ok(outcome == WORKS || outcome == REFUSED, "%s: %s", name,
		   outcome == WORKS ? "works" : "refused");
	else
		ok(outcome == restriction->expected, "%s: %s (status %d)", name,
		   restriction->expected == WORKS ? "works" : "a named error, state kept", outcome);
}

int main(int argc, char **argv)
{
	if (argc == 4)
		_exit(probe(&restrictions[atoi(argv[2])], strcmp(argv[3], "after") == 0));
	plan(2 * RESTRICTIONS);
	for (int i = 0; i < RESTRICTIONS; i++) {
		test_restriction(argv[0], i, false);
		test_restriction(argv[0], i, true);
	}
	return done();
}
