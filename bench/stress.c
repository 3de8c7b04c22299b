/* SPDX-License-Identifier: MIT */
/*
 * The stress test as a program: options, the verdict and its printing. A fault ends the process
 * that has it, because executors block all signals, so the run (stress_run.c) is made in a child.
 */
#include <errno.h>
#include <getopt.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stress_run.h"
#include "stress_sites.h"

struct options {
	unsigned seconds, executors;
	bool json, no_membarrier, allow_writable, allow_growth;
	unsigned long long min_executions, min_toggles;
};

/* ---- the verdict ---- */

static bool has_grown(const struct stress_outcome *outcome)
{
	return outcome->after.all > outcome->before.all ||
	       outcome->after.executable > outcome->executable_at_start;
}

static bool is_bad(const struct options *options, const struct stress_outcome *outcome)
{
	return outcome->illegal != 0 || outcome->stale != 0 || outcome->failures != 0 ||
	       (!options->allow_writable && outcome->writable_executable != 0) ||
	       outcome->after.writable_executable != 0 || outcome->looks == 0 ||
	       outcome->checked == 0 || outcome->changed_bytes != 0 ||
	       (!options->allow_growth && has_grown(outcome)) ||
	       outcome->executions < options->min_executions ||
	       outcome->toggles < options->min_toggles;
}

static void print_text(const struct options *options, const struct stress_outcome *outcome)
{
	printf("%.1f s, %u executors, 3 togglers, %u sites of each of %u keys; writer %s, core "
	       "sync %s\n",
	       outcome->seconds, options->executors, STRESS_SITES, STRESS_KEYS, outcome->writer,
	       outcome->sync);
	printf("executions           %llu (checked against a settled key: %llu)\n",
	       outcome->executions, outcome->checked);
	printf("toggles              %llu (and %llu calls for the shared key)\n", outcome->toggles,
	       outcome->shared_calls);
	printf("refused toggles      %llu\n", outcome->failures);
	printf("illegal              %llu\n", outcome->illegal);
	printf("stale after return   %llu\n", outcome->stale);
	printf("W+X mappings seen    %llu in %llu looks%s\n", outcome->writable_executable,
	       outcome->looks, options->allow_writable ? " (allowed)" : "");
	printf("mappings             %u before, %u after\n", outcome->before.all,
	       outcome->after.all);
	printf("executable mappings  %u at start, %u after%s\n", outcome->executable_at_start,
	       outcome->after.executable, options->allow_growth ? " (allowed)" : "");
	printf("text unlike file     %ld bytes\n", outcome->changed_bytes);
	printf("%s\n", is_bad(options, outcome) ? "FAILED" : "passed");
}

static void print_json(const struct options *options, const struct stress_outcome *outcome)
{
	printf("{\"seconds\": %.1f, \"executors\": %u, \"writer\": \"%s\", \"sync\": \"%s\", ",
	       outcome->seconds, options->executors, outcome->writer, outcome->sync);
	printf("\"executions\": %llu, \"checked\": %llu, \"toggles\": %llu, \"shared_calls\": "
	       "%llu, ",
	       outcome->executions, outcome->checked, outcome->toggles, outcome->shared_calls);
	printf("\"refused\": %llu, \"illegal\": %llu, \"stale\": %llu, ", outcome->failures,
	       outcome->illegal, outcome->stale);
	printf("\"looks\": %llu, \"writable_executable\": %llu, ", outcome->looks,
	       outcome->writable_executable);
	printf("\"mappings_before\": %u, \"mappings_after\": %u, ", outcome->before.all,
	       outcome->after.all);
	printf("\"executable_before\": %u, \"executable_after\": %u, ",
	       outcome->executable_at_start, outcome->after.executable);
	printf("\"changed_bytes\": %ld, \"passed\": %s}\n", outcome->changed_bytes,
	       is_bad(options, outcome) ? "false" : "true");
}

/* ---- the processes around it ---- */

/* In the child: its exit status. */
static int run_and_print(const struct options *options)
{
	static struct stress_outcome outcome;

	if (stress_run(options->seconds, options->executors, &outcome) != 0)
		return 1;
	(options->json ? print_json : print_text)(options, &outcome);
	(void)fflush(stdout);
	return is_bad(options, &outcome);
}

static int run_in_child(const struct options *options)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		exit(run_and_print(options));
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("stress: no child");
		return 2;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (options->json)
		printf("{\"illegal\": 1, \"signal\": %d, \"passed\": false}\n", WTERMSIG(status));
	else
		printf("illegal              a thread died of %s\nFAILED\n",
		       strsignal(WTERMSIG(status)));
	return 1;
}

/* Starts this program again under a filter that refuses membarrier, so that the library finds it
 * refused from the start. */
static int restart_without_membarrier(char **arguments)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
		(void)execv("/proc/self/exe", arguments);
	perror("stress: membarrier can not be refused here");
	return 2;
}

static bool is_membarrier_refused(void)
{
	return syscall(SYS_membarrier, 0, 0, 0) < 0;
}

/* ---- options ---- */

static const char usage[] =
	"usage: stress [--seconds N] [--executors N] [--json] [--no-membarrier]\n"
	"              [--min-executions N] [--min-toggles N]\n"
	"DORMANT_WRITER in the environment chooses the writer; what another than the default\n"
	"one leaves behind by its nature is only reported.\n"
	"Exit status 0: all is right; 1: something is wrong; 2: it could not run.\n";

static int parse_options(struct options *options, int argc, char **argv)
{
	static const struct option known[] = {
		{"seconds", required_argument, NULL, 's'},
		{"executors", required_argument, NULL, 'e'},
		{"json", no_argument, NULL, 'j'},
		{"no-membarrier", no_argument, NULL, 'n'},
		{"min-executions", required_argument, NULL, 'x'},
		{"min-toggles", required_argument, NULL, 't'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		unsigned long long number = optarg == NULL ? 0 : strtoull(optarg, NULL, 10);

		switch (option) {
		case 's':
			options->seconds = (unsigned)number;
			break;
		case 'e':
			options->executors = (unsigned)number;
			break;
		case 'j':
			options->json = true;
			break;
		case 'n':
			options->no_membarrier = true;
			break;
		case 'x':
			options->min_executions = number;
			break;
		case 't':
			options->min_toggles = number;
			break;
		default:
			return -EINVAL;
		}
	}
	return optind < argc || options->seconds == 0 || options->executors == 0 ||
			       options->executors > STRESS_EXECUTORS_MAX
		       ? -EINVAL
		       : 0;
}

int main(int argc, char **argv)
{
	struct options options = {
		.seconds = 60, .executors = 16, .min_executions = 1, .min_toggles = 1};
	const char *writer = getenv("DORMANT_WRITER");

	if (parse_options(&options, argc, argv) != 0) {
		fputs(usage, stderr);
		return 2;
	}
	if (writer != NULL && writer[0] != '\0') {
		options.allow_writable = strcmp(writer, "mprotect") == 0;
		options.allow_growth = strcmp(writer, "proc_mem") != 0;
	}
	if (options.no_membarrier && !is_membarrier_refused())
		return restart_without_membarrier(argv);
	return run_in_child(&options);
}
