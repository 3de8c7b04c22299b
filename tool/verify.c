/* SPDX-License-Identifier: MIT */
/* dormant verify FILE|PID: whether tables, text and keys agree. */
#include "verify.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "target.h"

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static void print_finding_line(struct output *output, const char *object,
			       const struct finding *finding)
{
	char address[32] = "";

	if (finding->has_address)
		snprintf(address, sizeof(address), " 0x%" PRIx64, finding->address);
	output_line(output, "%s:%s%s%s%s%s%s %s%s%s%s%s", object, address,
		    *finding->place ? " " : "", finding->place, *finding->key ? " key " : "",
		    finding->key, finding->has_address || *finding->key ? ":" : "",
		    finding->message, *finding->expected ? "; expected " : "", finding->expected,
		    *finding->found ? ", found " : "", finding->found);
}

static void print_findings(struct output *output, const struct verification *verification)
{
	const struct findings *findings = &verification->findings;

	output_open_list(output, "findings");
	for (size_t i = 0; i < findings->stored; i++) {
		const struct finding *finding = &findings->list[i];
		const char *object = verification->objects[finding->object].path;

		print_finding_line(output, object, finding);
		output_open_item(output);
		output_string(output, "object", object);
		if (finding->has_address)
			output_address(output, "address", finding->address);
		else
			output_string(output, "address", NULL);
		output_string(output, "place", text_or_null(finding->place));
		output_string(output, "key", text_or_null(finding->key));
		output_string(output, "expected", text_or_null(finding->expected));
		output_string(output, "found", text_or_null(finding->found));
		output_string(output, "message", finding->message);
		output_close(output);
	}
	output_close(output);
	if (findings->count > findings->stored)
		output_line(output, "... and %zu more", findings->count - findings->stored);
}

static void print_object_line(struct output *output, const struct verified_object *object)
{
	char wrong[32] = "right";

	if (object->wrong > 0)
		snprintf(wrong, sizeof(wrong), "%zu wrong", object->wrong);
	output_line(output, "%s: %zu key%s, %zu site%s: %s%s%s%s", object->path, object->keys,
		    object->keys == 1 ? "" : "s", object->sites, object->sites == 1 ? "" : "s",
		    wrong, *object->note ? " (" : "", object->note, *object->note ? ")" : "");
}

static void print_objects(struct output *output, const struct verification *verification)
{
	output_open_list(output, "objects");
	for (size_t i = 0; i < verification->object_count; i++) {
		const struct verified_object *object = &verification->objects[i];

		print_object_line(output, object);
		output_open_item(output);
		output_string(output, "path", object->path);
		output_address(output, "bias", object->bias);
		output_number(output, "keys", object->keys);
		output_number(output, "sites", object->sites);
		output_number(output, "wrong", object->wrong);
		output_string(output, "note", text_or_null(object->note));
		output_close(output);
	}
	output_close(output);
}

static int print_verification(const struct verification *verification, const char *subject,
			      bool json)
{
	struct output output;
	int status = EXIT_RIGHT;

	if (verification->findings.count > 0)
		status = EXIT_WRONG;
	else if (verification->unread > 0)
		status = EXIT_NOT_RUN;
	output_begin(&output, json);
	output_string(&output, "subject", subject);
	print_findings(&output, verification);
	print_objects(&output, verification);
	output_number(&output, "findings_total", verification->findings.count);
	output_number(&output, "unread", verification->unread);
	output_flag(&output, "right", status == EXIT_RIGHT, "yes", "no");
	if (verification->unread > 0)
		output_error("%zu object%s could not be verified: %s", verification->unread,
			     verification->unread == 1 ? "" : "s", verification->first.message);
	return output_end(&output, status);
}

/* ---- a file ---- */

static int verify_target(const char *path, bool json)
{
	struct verification verification = {0};
	struct target target;
	int status = target_open(&target, path);

	if (status == EXIT_RIGHT) {
		if (verify_file(target.table, &verification) == 0)
			status = print_verification(&verification, path, json);
		else
			status = output_error("%s: no memory", path);
	}
	target_close(&target);
	verification_free(&verification);
	return status;
}

/* ---- a process ---- */

static int verify_pid(int pid, const char *subject, bool json)
{
	struct verification verification = {0};
	struct process *process = NULL;
	struct remote_error error;
	int status;

	if (process_open(&process, pid, &error) == 0 &&
	    verify_process(process, &verification, &error) == 0)
		status = print_verification(&verification, subject, json);
	else
		status = output_error("%s", error.message);
	process_close(process);
	verification_free(&verification);
	return status;
}

/* A word of digits is a process, also where it is too large for one. */
static int run_verify(const struct arguments *arguments)
{
	const char *subject = arguments->operands[0];
	long pid;

	if (!*subject || subject[strspn(subject, "0123456789")] != '\0')
		return verify_target(subject, arguments->json);
	pid = strtol(subject, NULL, 10);
	if (pid < 1 || pid > INT_MAX)
		return output_error("%s: no such process; a file of that name is written ./%s",
				    subject, subject);
	return verify_pid((int)pid, subject, arguments->json);
}

const struct command verify_command = {
	.name = "verify",
	.operands = "FILE|PID",
	.operand_count = 1,
	.summary = "whether the tables, the code and the keys agree",
	.help = "Checks, and changes nothing. A word of digits is a process; a file of such a name "
		"is\n"
		"written ./123.\n"
		"\n"
		"A file: each site lies in code, holds the instruction that the table says and "
		"jumps\n"
		"into code; each key pointer is relocated and points to a key; names, sizes and "
		"the\n"
		"keys' defaults are sane; and no table was dropped.\n"
		"A process: each site of each object holds the instruction that its key's state "
		"asks\n"
		"for, and the rest of it is as in the file. The process keeps running: what does "
		"not\n"
		"agree is looked at again for a moment before it is reported.\n"
		"\n"
		"JSON: subject, findings: object, address, place, key, expected, found, message;\n"
		"objects: path, bias, keys, sites, wrong, note; findings_total, unread, right.\n"
		"\n"
		"Example: dormant verify $(pidof server)\n",
	.run = run_verify,
};
