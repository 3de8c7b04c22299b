/* SPDX-License-Identifier: MIT */
/* dormant doctor: what this machine allows, and what follows from it. */
#include <dormant/probe.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "output.h"

#define PROBES_MAX 32

/* What was tried, in the order of the output. */
struct diagnosis {
	struct dormant_probe probes[PROBES_MAX];
	size_t probe_count;
	int counters; /* 0, or the negative errno of the first hardware counter */
};

/* ---- finding out ---- */

static int try_counter(uint64_t event)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attributes),
		.config = event,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static void diagnose(struct diagnosis *diagnosis)
{
	size_t count = dormant_probe_all(diagnosis->probes, PROBES_MAX);

	diagnosis->probe_count = count < PROBES_MAX ? count : PROBES_MAX;
	diagnosis->counters = try_counter(PERF_COUNT_HW_INSTRUCTIONS);
	if (diagnosis->counters == 0)
		diagnosis->counters = try_counter(PERF_COUNT_HW_CPU_CYCLES);
}

static size_t count_working(const struct diagnosis *diagnosis, enum dormant_probe_kind kind)
{
	size_t working = 0;

	for (size_t i = 0; i < diagnosis->probe_count; i++)
		working += diagnosis->probes[i].kind == kind && diagnosis->probes[i].result == 0;
	return working;
}

/* The one that the library uses; NULL where none works. */
static const struct dormant_probe *find_chosen(const struct diagnosis *diagnosis,
					       enum dormant_probe_kind kind)
{
	for (size_t i = 0; i < diagnosis->probe_count; i++)
		if (diagnosis->probes[i].kind == kind && diagnosis->probes[i].chosen)
			return &diagnosis->probes[i];
	return NULL;
}

/* The first that changes several bytes at once, as values and calls need, and that the environment
 * permits; NULL where there is none. */
static const struct dormant_probe *find_whole(const struct diagnosis *diagnosis)
{
	const char *only = secure_getenv("DORMANT_WRITER");

	for (size_t i = 0; i < diagnosis->probe_count; i++) {
		const struct dormant_probe *probe = &diagnosis->probes[i];

		if (probe->kind == DORMANT_PROBE_WRITER && probe->whole && probe->result == 0 &&
		    (!only || !*only || strcmp(only, probe->name) == 0))
			return probe;
	}
	return NULL;
}

/* ---- telling ---- */

static const struct output_column columns[] = {
	{"what", "WHAT", false},   {"name", "NAME", false}, {"works", "WORKS", false},
	{"chosen", "USED", false}, {"how", "HOW", false},
};

static const char *describe_failure(const struct dormant_probe *probe)
{
	if (probe->result == 0)
		return NULL;
	if (probe->result != -EOPNOTSUPP)
		return strerror(-probe->result);
	return probe->kind == DORMANT_PROBE_WRITER
		       ? "has no effect on the code that runs: this is an emulator"
		       : "does not apply here";
}

/* What it does, or why it can not. */
static void print_how(struct output *output, const char *how, const char *failure)
{
	char text[256];

	output_string(output, "error", failure);
	if (failure && !output->json)
		snprintf(text, sizeof(text), "%s (%s)", failure, how);
	else
		snprintf(text, sizeof(text), "%s", how);
	output_string(output, "how", text);
}

static void print_probe(struct output *output, const struct dormant_probe *probe)
{
	output_open_item(output);
	if (!output->json)
		output_string(output, "what",
			      probe->kind == DORMANT_PROBE_WRITER ? "writer" : "core sync");
	output_string(output, "name", probe->name);
	output_flag(output, "works", probe->result == 0, "yes", "no");
	output_flag(output, "chosen", probe->chosen != 0, "yes", "-");
	if (output->json && probe->kind == DORMANT_PROBE_WRITER)
		output_flag(output, "whole", probe->whole != 0, "yes", "no");
	print_how(output, probe->leaves, describe_failure(probe));
	output_close(output);
}

static void print_probes(struct output *output, const struct diagnosis *diagnosis,
			 enum dormant_probe_kind kind, const char *list)
{
	output_open_list(output, list);
	for (size_t i = 0; i < diagnosis->probe_count; i++)
		if (diagnosis->probes[i].kind == kind)
			print_probe(output, &diagnosis->probes[i]);
	output_close(output);
}

static void print_counters(struct output *output, int result)
{
	output_open_list(output, "counters");
	output_open_item(output);
	if (!output->json)
		output_string(output, "what", "counters");
	output_string(output, "name", "hardware");
	output_flag(output, "works", result == 0, "yes", "no");
	print_how(output, "perf_event_open: instructions, cycles",
		  result == 0 ? NULL : strerror(-result));
	output_close(output);
	output_close(output);
}

static void print_consequence(struct output *output, const char *text)
{
	output_line(output, "%s", text);
	output_string(output, NULL, text);
}

static void print_writer_consequence(struct output *output, const struct diagnosis *diagnosis)
{
	const struct dormant_probe *writer = find_chosen(diagnosis, DORMANT_PROBE_WRITER);
	size_t working = count_working(diagnosis, DORMANT_PROBE_WRITER);
	char text[256];

	if (!writer && working > 0) {
		print_consequence(output,
				  "No key can be switched: DORMANT_WRITER names a writer that "
				  "does not work or is none; unset it, or name one above.");
		return;
	}
	if (!writer) {
		print_consequence(
			output, "No key can be switched: allow /proc/self/mem or mprotect (seccomp "
				"filters, MemoryDenyWriteExecute, proc_mem.force_override).");
		return;
	}
	snprintf(text, sizeof(text), "Keys are switched by %s: it %s.", writer->name,
		 writer->leaves);
	print_consequence(output, text);
	if (working == 1)
		print_consequence(output,
				  "There is no second writer: a program that loses this one "
				  "(setuid, PR_SET_DUMPABLE, a seccomp filter) gets errors.");
}

/* Values and calls are right without as well. */
static void print_whole_consequence(struct output *output, const struct diagnosis *diagnosis)
{
	const struct dormant_probe *writer = find_whole(diagnosis);
	char text[256];

	if (!writer) {
		print_consequence(
			output, "Values are loaded from memory and calls go by their trampolines: "
				"what may write here changes one byte at a time; allow mprotect "
				"or remap.");
		return;
	}
	snprintf(text, sizeof(text), "Values and calls in the code of threads are changed by %s.",
		 writer->name);
	print_consequence(output, text);
}

static void print_sync_consequence(struct output *output, const struct diagnosis *diagnosis)
{
	const struct dormant_probe *sync = find_chosen(diagnosis, DORMANT_PROBE_SYNC);
	char text[256];

	if (!sync) {
		print_consequence(output, "No key can be switched: threads could go on running old "
					  "code; allow membarrier or sched_setaffinity.");
		return;
	}
	snprintf(text, sizeof(text), "Threads are brought up to date by %s: it %s.", sync->name,
		 sync->leaves);
	print_consequence(output, text);
}

static void print_counter_consequence(struct output *output, int result)
{
	if (result == 0)
		print_consequence(output, "Instructions and branches can be counted by hardware.");
	else if (result == -EACCES || result == -EPERM)
		print_consequence(
			output,
			"Hardware counters are refused: set kernel.perf_event_paranoid to 2 "
			"or less, or count by emulation (valgrind --tool=callgrind).");
	else
		print_consequence(output,
				  "There are no hardware counters: instructions and branches "
				  "are counted by emulation (valgrind --tool=callgrind "
				  "--smc-check=all, qemu-user), and time by the clock.");
}

static int run_doctor(const struct arguments *arguments)
{
	struct diagnosis diagnosis = {0};
	struct output output;
	bool right;

	diagnose(&diagnosis);
	right = find_chosen(&diagnosis, DORMANT_PROBE_WRITER) &&
		find_chosen(&diagnosis, DORMANT_PROBE_SYNC);
	output_begin(&output, arguments->json);
	output_table(&output, columns, sizeof(columns) / sizeof(*columns));
	print_probes(&output, &diagnosis, DORMANT_PROBE_WRITER, "writers");
	print_probes(&output, &diagnosis, DORMANT_PROBE_SYNC, "core_syncs");
	print_counters(&output, diagnosis.counters);
	output_print_table(&output);
	output_open_list(&output, "follows");
	output_line(&output, "%s", "");
	print_writer_consequence(&output, &diagnosis);
	print_whole_consequence(&output, &diagnosis);
	print_sync_consequence(&output, &diagnosis);
	print_counter_consequence(&output, diagnosis.counters);
	output_close(&output);
	output_flag(&output, "right", right, "yes", "no");
	return output_end(&output, right ? EXIT_RIGHT : EXIT_WRONG);
}

const struct command doctor_command = {
	.name = "doctor",
	.operands = "",
	.operand_count = 0,
	.summary = "what this machine allows, and what follows",
	.help = "Tries every way to change code and to bring threads up to date, on code of its "
		"own, and\n"
		"the hardware counters; says what follows. Run it where the program will run: in "
		"the\n"
		"same container, as the same user, under the same service manager.\n"
		"\n"
		"Exit status 1: no key could be switched here.\n"
		"\n"
		"JSON: writers, core_syncs, counters: name, works, chosen, error (or null), how; "
		"of "
		"writers\n"
		"also whole, which says that they change several bytes of a site at once, as "
		"values "
		"and\n"
		"calls need; follows (sentences), right.\n"
		"\n"
		"Example: dormant doctor\n",
	.run = run_doctor,
};
