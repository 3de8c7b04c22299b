/* SPDX-License-Identifier: MIT */
/* dormant verify FILE|PID: whether tables, text and keys agree. */
#include "verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "target.h"

#define COUNTS_BYTES 192

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
	output_line(output, "%s:%s%s%s%s%s%s%s%s %s%s%s%s%s", object, address,
		    *finding->place ? " " : "", finding->place, *finding->key ? " " : "",
		    *finding->key ? finding->kind : "", *finding->key ? " " : "", finding->key,
		    finding->has_address || *finding->key ? ":" : "", finding->message,
		    *finding->expected ? "; expected " : "", finding->expected,
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
		output_string(output, "kind", finding->kind);
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

__attribute__((format(printf, 2, 3))) static void append(char text[COUNTS_BYTES],
							 const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, COUNTS_BYTES - used, format, args);
	va_end(args);
}

/* Appends ", 2 values". */
static void append_count(char text[COUNTS_BYTES], size_t count, const char *what)
{
	append(text, "%s%zu %s%s", *text ? ", " : "", count, what, count == 1 ? "" : "s");
}

/* "8 keys, 2 values, 5 sites (1 by trampoline)": what an object has none of is left out, but keys
 * where it has nothing. */
static void print_counts(char text[COUNTS_BYTES], const struct verified_object *object)
{
	*text = '\0';
	if (object->keys > 0 || object->values + object->calls == 0)
		append_count(text, object->keys, "key");
	if (object->values > 0)
		append_count(text, object->values, "value");
	if (object->calls > 0)
		append_count(text, object->calls, "call");
	append_count(text, object->sites, "site");
	if (object->by_memory > 0)
		append(text, " (%zu by memory%s", object->by_memory,
		       object->by_trampoline > 0 ? ", " : ")");
	if (object->by_trampoline > 0)
		append(text, "%s%zu by trampoline)", object->by_memory > 0 ? "" : " (",
		       object->by_trampoline);
}

static void print_object_line(struct output *output, const struct verified_object *object)
{
	char wrong[32] = "right", counts[COUNTS_BYTES];

	if (object->wrong > 0)
		snprintf(wrong, sizeof(wrong), "%zu wrong", object->wrong);
	print_counts(counts, object);
	output_line(output, "%s: %s: %s%s%s%s", object->path, counts, wrong,
		    *object->note ? " (" : "", object->note, *object->note ? ")" : "");
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
		output_number(output, "values", object->values);
		output_number(output, "calls", object->calls);
		output_number(output, "sites", object->sites);
		output_number(output, "by_memory", object->by_memory);
		output_number(output, "by_trampoline", object->by_trampoline);
		output_number(output, "wrong", object->wrong);
		output_string(output, "note", text_or_null(object->note));
		output_close(output);
	}
	output_close(output);
}

static int print_verification(const struct verification *verification, const struct target *target,
			      bool json)
{
	const struct process_objects *objects = &target->objects;
	struct output output;
	int status = EXIT_RIGHT;

	if (verification->findings.count > 0)
		status = EXIT_WRONG;
	else if (objects->unread > 0)
		status = EXIT_NOT_RUN;
	output_begin(&output, json);
	output_string(&output, "subject", target->subject);
	print_findings(&output, verification);
	print_objects(&output, verification);
	output_number(&output, "findings_total", verification->findings.count);
	output_number(&output, "unread", objects->unread);
	output_flag(&output, "right", status == EXIT_RIGHT, "yes", "no");
	if (objects->unread > 0)
		output_error("%zu object%s could not be verified: %s", objects->unread,
			     objects->unread == 1 ? "" : "s", objects->first.message);
	return output_end(&output, status);
}

static int verify_target(struct target *target, struct verification *verification)
{
	struct remote_error error;

	if (target->process) {
		if (verify_process(&target->objects, verification, &error) != 0)
			return output_error("%s", error.message);
	} else if (verify_file(target->table, verification) != 0) {
		return output_error("%s: no memory", target->subject);
	}
	return EXIT_RIGHT;
}

static int run_verify(const struct arguments *arguments)
{
	struct verification verification = {0};
	struct target target;
	int status = target_open(&target, arguments->operands[0]);

	if (status == EXIT_RIGHT)
		status = verify_target(&target, &verification);
	if (status == EXIT_RIGHT)
		status = print_verification(&verification, &target, arguments->json);
	target_close(&target);
	verification_free(&verification);
	return status;
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
		"Sites of values and calls go by memory there, and lie so that one store changes "
		"them.\n"
		"A process: each site of each object holds the instruction that its key's state "
		"asks\n"
		"for, and the rest of it is as in the file; that of a value or a call is as in the "
		"file,\n"
		"or holds the present value or function. The process keeps running: what does not\n"
		"agree is looked at again for a moment before it is reported.\n"
		"\n"
		"\"By memory\" and \"by trampoline\" count sites that are right, but cost a load "
		"or a jump.\n"
		"\n"
		"JSON: subject, findings: object, address, place, kind (key, value, call), key, "
		"expected,\n"
		"found, message; objects: path, bias, keys, values, calls, sites, by_memory,\n"
		"by_trampoline, wrong, note; findings_total, unread, right.\n"
		"\n"
		"Example: dormant verify $(pidof server)\n",
	.run = run_verify,
};
