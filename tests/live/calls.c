/* SPDX-License-Identifier: MIT */
/*
 * Static calls: the function that was set is reached, with its arguments and its result, directly
 * where the compiler's call is a site; and changes from everywhere: from the function itself, from
 * a constructor, in atfork handlers. From signal handlers: operand_signals.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dormant/static_call.h>

#include "deadline.h"
#include "own_operands.h"
#include "tap.h"

#define NOINLINE __attribute__((noinline))

/* ---- functions to be reached ---- */

static int add_one(int x)
{
	return x + 1;
}

static int add_two(int x)
{
	return x + 2;
}

DEFINE_STATIC_CALL(step, add_one);

NOINLINE static int call_step(int x)
{
	return static_call(step)(x) * 10;
}

NOINLINE static int tail_call_step(int x)
{
	return static_call(step)(x);
}

/* As a program does: from a constructor of ordinary priority. */
static int in_constructor;

__attribute__((constructor)) static void construct(void)
{
	in_constructor = call_step(1);
	in_constructor = in_constructor * 100 +
			 (static_call_update(step, add_two) == 0 ? call_step(1) : 0);
	(void)static_call_update(step, add_one);
}

static void test_target(void)
{
	ok(in_constructor == 2030, "a constructor calls and changes (%d)", in_constructor);
	ok(call_step(1) == 20 && tail_call_step(1) == 2 && static_call_query(step) == add_one,
	   "the function of the definition is reached");
	ok(static_call_update(step, add_two) == 0 && call_step(1) == 30 && tail_call_step(1) == 3 &&
		   static_call_query(step) == add_two,
	   "and then the one that was set");
	ok(static_call_update(step, add_one) == 0 && call_step(1) == 20 && tail_call_step(1) == 2,
	   "and then the first again");
}

/* Only what is compiled with optimisation has its arguments where the call takes them. */
static void test_direct(void)
{
	const char *name = "the call and the tail call reach the function by themselves";
	const struct dormant_operand *trampoline = own_operand_find(OWN_CALL(step),
								    DORMANT_OPERAND_TRAMPOLINE, 0);
	const char *writer = getenv("DORMANT_WRITER");

#ifdef DORMANT_SANITIZED
	const bool sanitized = true;
#else
	const bool sanitized = false;
#endif

	if (sanitized || (writer != NULL && strcmp(writer, "proc_mem") == 0)) {
		skip(name, "%s",
		     sanitized ? "a sanitizer's code stands before a call"
			       : "DORMANT_WRITER=proc_mem: they go by memory");
		return;
	}
	ok(own_operand_count_direct(OWN_CALL(step), (void *)add_one) >= 2 &&
		   own_operand_target(trampoline) == (uintptr_t)add_one,
	   "%s", name);
}

/* ---- none ---- */

static int seen;

static void see(int number, const char *text)
{
	seen += number + (int)strlen(text);
}

DEFINE_STATIC_CALL_NULL(report, see);

static int evaluated;

static int evaluate(int x)
{
	evaluated++;
	return x;
}

NOINLINE static void call_report(void)
{
	static_call_cond(report)(evaluate(5), "two");
	evaluated += 100;
}

NOINLINE static void tail_call_report(int number, const char *text)
{
	static_call_cond(report)(number, text);
}

static bool reports(int expected)
{
	seen = evaluated = 0;
	call_report();
	if (evaluated != 101 || seen != expected)
		return false;
	tail_call_report(5, "two");
	return seen == 2 * expected;
}

static void test_null(void)
{
	ok(reports(0) && static_call_query(report) == NULL,
	   "a call of nothing does nothing, but evaluates its arguments");
	ok(static_call_update(report, see) == 0 && reports(8), "it is given a function");
	ok(static_call_update(report, NULL) == 0 && reports(0), "and loses it");
	ok(static_call_update(report, see) == 0 && reports(8) &&
		   static_call_update(report, NULL) == 0 && reports(0),
	   "and again");
}

/* ---- far, and with a landing pad ---- */

DEFINE_STATIC_CALL(absolute, add_one);

NOINLINE static int call_absolute(int x)
{
	return static_call(absolute)(x) + 1000;
}

NOINLINE static int tail_call_absolute(int x)
{
	return static_call(absolute)(x);
}

static void test_far(void)
{
	const struct dormant_operand *trampoline = own_operand_find(OWN_CALL(absolute),
								    DORMANT_OPERAND_TRAMPOLINE, 0);
	const uint8_t *code = own_operand_code(trampoline);
	int wrong = 0;

	for (int i = 0; i < 20; i++) {
		wrong += static_call_update(absolute, abs) != 0 || call_absolute(-i) != 1000 + i ||
			 tail_call_absolute(-i) != i || static_call_query(absolute) != abs;
		if (i == 0)
			diag("the C library is %s", code[0] == 0xff ? "far" : "near");
		wrong += static_call_update(absolute, i % 2 == 0 ? add_one : NULL) != 0;
		if (i % 2 == 0)
			wrong += call_absolute(i) != 1001 + i || tail_call_absolute(i) != i + 1;
	}
	ok(wrong == 0, "a function of the C library, and back, and none (%d wrong)", wrong);
}

/* Row 59. */
int begins_with_endbr64(int x) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	".hidden begins_with_endbr64\n"
	".globl begins_with_endbr64\n"
	".type begins_with_endbr64,@function\n"
	"begins_with_endbr64:\n"
	"	.byte 0xf3, 0x0f, 0x1e, 0xfa\n" /* endbr64 */
	"	leal 77(%rdi),%eax\n"
	"	ret\n"
	".size begins_with_endbr64, . - begins_with_endbr64\n"
	".popsection\n");

static void test_endbr64(void)
{
	ok(static_call_update(step, begins_with_endbr64) == 0 && call_step(1) == 780 &&
		   tail_call_step(1) == 78,
	   "a function that begins with endbr64 is reached");
	(void)static_call_update(step, add_one);
	ok(call_step(1) == 20, "and left again");
}

/* ---- changes from inside ---- */

static int leave(int depth);
static int recur(int depth);

DEFINE_STATIC_CALL(recursion, recur);

static int leave(int depth)
{
	return -depth;
}

/* Calls itself; at 5 it replaces itself. */
static int recur(int depth)
{
	if (depth == 5)
		(void)static_call_update(recursion, leave);
	return static_call(recursion)(depth + 1) - 1;
}

/* The same, with the call in its tail. */
static int recur_in_tail(int depth)
{
	if (depth == 5000)
		(void)static_call_update(recursion, leave);
	return static_call(recursion)(depth + 1);
}

static void test_inside(void)
{
	ok(static_call(recursion)(0) == -6 - 6 && static_call_query(recursion) == leave,
	   "a function calls itself, and replaces itself while it runs");
	ok(static_call_update(recursion, recur_in_tail) == 0 && static_call(recursion)(0) == -5001,
	   "and by tail calls");
	(void)static_call_update(recursion, recur);
	ok(static_call(recursion)(3) == -6 - 3, "and once more");
}

/* ---- many arguments ---- */

struct large {
	long numbers[5];
};

static double sum(int a, double b, struct large c, const char *d, long e, long f, long g, long h)
{
	return a + b + (double)c.numbers[4] + (double)strlen(d) + (double)(e + f + g + h);
}

static double negative_sum(int a, double b, struct large c, const char *d, long e, long f, long g,
			   long h)
{
	return -sum(a, b, c, d, e, f, g, h);
}

DEFINE_STATIC_CALL(sum_up, sum);

static int six(int a, long b, char c, void *d, unsigned e, short f)
{
	return a + (int)b + c + (d != NULL) + (int)e + f;
}

static int seven(int a, long b, char c, void *d, unsigned e, short f)
{
	return six(a, b, c, d, e, f) + 1;
}

DEFINE_STATIC_CALL(in_registers, six);

static void test_arguments(void)
{
	const struct large large = {{0, 0, 0, 0, 50}};

	ok(static_call(sum_up)(1, 0.5, large, "abc", 1, 2, 3, 4) == 64.5,
	   "arguments on the stack, in vector registers, by value");
	ok(static_call_update(sum_up, negative_sum) == 0 &&
		   static_call(sum_up)(1, 0.5, large, "abc", 1, 2, 3, 4) == -64.5,
	   "also of another function");
	ok(static_call(in_registers)(1, -2, 3, &seen, 4, -5) == 2 &&
		   static_call_update(in_registers, seven) == 0 &&
		   static_call(in_registers)(1, -2, 3, &seen, 4, -5) == 3,
	   "six arguments, each in its register");
}

/* ---- at fork, and without a call ---- */

static int fork_wrong;

static void before_fork(void)
{
	fork_wrong += static_call_update(step, add_two) != 0 || tail_call_step(1) != 3;
}

static void after_fork(void)
{
	fork_wrong += tail_call_step(1) != 3 || static_call_update(step, add_one) != 0 ||
		      tail_call_step(1) != 2;
}

static void test_fork_handlers(void)
{
	pid_t child;

	pthread_atfork(before_fork, after_fork, after_fork);
	child = fork();
	if (child == 0)
		_exit(fork_wrong != 0 || call_step(1) != 20 || dormant_status(NULL) != 0);
	ok(deadline_wait(child) == 0 && fork_wrong == 0,
	   "handlers of fork change calls, in parent and child");
}

static void test_refusals(void)
{
	struct dormant_error error = {0};

	ok(dormant_static_call_update(NULL, NULL, &error) == -EINVAL && error.message[0] != '\0',
	   "NULL is refused: %s", error.message);
	ok(dormant_static_call_batch(NULL, 1, &error) == -EINVAL &&
		   dormant_static_call_batch(NULL, 0, NULL) == 0,
	   "a batch of nothing is none, and works");
}

int main(void)
{
	deadline_set(60);
	plan(4 + 1 + 4 + 1 + 2 + 3 + 3 + 1 + 2 + 1);
	test_target();
	test_direct();
	test_null();
	test_far();
	test_endbr64();
	test_inside();
	test_arguments();
	(void)static_call_update(step, add_one);
	test_fork_handlers();
	test_refusals();
	ok(dormant_status(NULL) == 0, "calls and functions agree");
	return done();
}
