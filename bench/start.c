/* SPDX-License-Identifier: MIT */
/*
 * What the start of a program with 10,000 sites costs: the time inside the library, and the time of
 * the whole process, each beside that of the same program with one site. The two programs take
 * turns; they are start_1 and start_10000 beside this one.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define STARTS   300
#define LIMIT_US 1000 /* for the library, with 10,000 sites */
#define PROGRAMS 2

static const char *const names[PROGRAMS] = {"start_1", "start_10000"};

struct times {
	double register_us[STARTS], process_us[STARTS];
};

static void fail(const char *program)
{
	fprintf(stderr, "start: %s does not run; build it with `ninja` first\n", program);
	exit(2);
}

/* In the child. */
static _Noreturn void run_program(const char *path, int output)
{
	char *arguments[] = {(char *)path, NULL};

	(void)dup2(output, STDOUT_FILENO);
	(void)execv(path, arguments);
	_exit(127);
}

static void start_once(const char *path, double *register_us, double *process_us)
{
	char line[32] = "";
	int ends[2], status;
	uint64_t begin_ns = measure_now_ns();
	pid_t child;

	if (pipe(ends) != 0)
		fail(path);
	child = vfork();
	if (child == 0)
		run_program(path, ends[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fail(path);
	*process_us = (double)(measure_now_ns() - begin_ns) * 1e-3;
	if (read(ends[0], line, sizeof(line) - 1) <= 0)
		fail(path);
	*register_us = strtod(line, NULL) * 1e-3;
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static struct measure_summary print_row(const char *name, const char *what, double *us)
{
	struct measure_summary summary = measure_summarize(us, STARTS);

	printf("%-12s %-18s %8.1f us  [%.1f-%.1f] of %u\n", name, what, summary.median,
	       summary.quartile_low, summary.quartile_high, STARTS);
	return summary;
}

int main(void)
{
	static struct times times[PROGRAMS];
	char self[PATH_MAX] = "", path[PATH_MAX + 32];
	struct measure_summary library;
	const char *folder;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fail(self);
	folder = dirname(self);
	setenv("LD_BIND_NOW", "1", 1); /* so that no symbol is looked up in what is timed */
	for (unsigned i = 0; i < STARTS; i++) {
		for (unsigned p = 0; p < PROGRAMS; p++) {
			(void)snprintf(path, sizeof(path), "%s/%s", folder, names[p]);
			start_once(path, &times[p].register_us[i], &times[p].process_us[i]);
		}
	}
	for (unsigned p = 0; p < PROGRAMS; p++) {
		library = print_row(names[p], "inside the library", times[p].register_us);
		(void)print_row(names[p], "the whole process", times[p].process_us);
	}
	printf("inside the library, 10,000 sites: %s %u us\n",
	       library.median <= LIMIT_US ? "at most" : "ABOVE", LIMIT_US);
	return library.median > LIMIT_US;
}
