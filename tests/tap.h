/* SPDX-License-Identifier: MIT */
/*
 * A test harness in one header: writes TAP lines on standard output.
 *
 *     #include "tap.h"
 *
 *     int main(void)
 *     {
 *             plan(2);
 *             ok(1 + 1 == 2, "one and one is two");
 *             skip("both processors agree", "there is only one here");
 *             return done();
 *     }
 *
 * Every line is written out at once, so that nothing is lost in a crash and a forked child has
 * nothing left to print a second time. Safe to use from several threads; a child reports through
 * its exit status, never by ok().
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* All guarded by the lock of stdout. */
static struct {
	int planned; /* -1: no plan yet */
	int run;
	int failed;
} tap = {-1, 0, 0};

__attribute__((format(printf, 2, 0))) static inline void tap_print(const char *prefix,
								   const char *format, va_list args)
{
	fputs(prefix, stdout);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
}

/* How many ok() and skip() lines there will be; call it first. */
static inline void plan(int count)
{
	flockfile(stdout);
	tap.planned = count;
	printf("1..%d\n", count);
	fflush(stdout);
	funlockfile(stdout);
}

/* A line for people, which is no result. */
__attribute__((format(printf, 1, 2))) static inline void diag(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	flockfile(stdout);
	tap_print("# ", format, args);
	funlockfile(stdout);
	va_end(args);
}

__attribute__((format(printf, 5, 6))) static inline bool
tap_ok(bool passed, const char *condition, const char *file, int line, const char *format, ...)
{
	char prefix[32];
	va_list args;

	va_start(args, format);
	flockfile(stdout);
	tap.run++;
	tap.failed += !passed;
	snprintf(prefix, sizeof(prefix), "%s %d - ", passed ? "ok" : "not ok", tap.run);
	tap_print(prefix, format, args);
	if (!passed)
		printf("# failed at %s:%d: %s\n", file, line, condition);
	fflush(stdout);
	funlockfile(stdout);
	va_end(args);
	return passed;
}

/* One result: ok(condition, "what holds", printf arguments...). Returns the condition. */
#define ok(condition, ...) tap_ok(!!(condition), #condition, __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static inline void tap_skip(const char *name,
								  const char *format, ...)
{
	char prefix[256];
	va_list args;

	va_start(args, format);
	flockfile(stdout);
	snprintf(prefix, sizeof(prefix), "ok %d - %s # SKIP ", ++tap.run, name);
	tap_print(prefix, format, args);
	funlockfile(stdout);
	va_end(args);
}

/* One result that could not be had: skip("what would hold", "why not", printf arguments...). */
#define skip(name, ...) tap_skip(name, __VA_ARGS__)

/* Ends a program of which nothing can be run: skip_all("why not"). Use it instead of plan(). */
#define skip_all(...)                   \
	do {                            \
		printf("1..0 # SKIP "); \
		printf(__VA_ARGS__);    \
		putchar('\n');          \
		exit(0);                \
	} while (0)

/* Ends a program that cannot go on, as a failure: bail("why", printf arguments...). */
#define bail(...)                     \
	do {                          \
		printf("Bail out! "); \
		printf(__VA_ARGS__);  \
		putchar('\n');        \
		exit(99);             \
	} while (0)

/* The exit status of the program: 0 when the plan was met and every result was ok. */
static inline int done(void)
{
	if (tap.run != tap.planned)
		diag("%d results, but %d were planned", tap.run, tap.planned);
	return tap.failed > 0 || tap.run != tap.planned;
}

#endif
