/* SPDX-License-Identifier: MIT */
/* dormant show FILE|PID KEY: the sites of a key, a value or a call. */
#include <string.h>

#include "command.h"
#include "show_sites.h"

/* ---- which key ---- */

/* The name itself, or that of the array that the key is an element of. */
static bool is_wanted(const struct key *key, const char *name)
{
	return strcmp(key->name, name) == 0 ||
	       (key->kind == KEY_ELEMENT && strlen(name) == key->base_bytes &&
		memcmp(key->base, name, key->base_bytes) == 0);
}

/* How many characters must be changed, added or removed; names longer than the row are far away. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	if (length >= sizeof(row) / sizeof(*row))
		return SIZE_MAX;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[length];
}

/* The name that is nearest to @name, less than *@best changes away; that or @nearest. */
static const char *find_nearest(const struct key_list *keys, const char *name, size_t *best,
				const char *nearest)
{
	for (size_t i = 0; i < keys->count; i++) {
		const char *candidate = keys->by_name[i]->name;
		size_t distance = edit_distance(name, candidate);

		if (distance < *best) {
			*best = distance;
			nearest = candidate;
		}
	}
	return nearest;
}

static int refuse_unknown(struct target *target, const char *name)
{
	size_t best = strlen(name) / 3 + 2;
	const char *near = NULL;
	struct target_object object;

	for (size_t at = 0; target_next(target, &at, &object);)
		near = find_nearest(&object.table->keys, name, &best, near);
	return output_error("%s%s: has no key '%s'%s%s%s; 'dormant list %s' lists its keys",
			    target->process ? "process " : "", target->subject, name,
			    near ? " (is it '" : "", near ? near : "", near ? "'?)" : "",
			    target->subject);
}

static bool has_wanted(const struct target_object *object, const char *name)
{
	const struct key_list *keys = &object->table->keys;

	for (size_t i = 0; i < keys->count; i++)
		if (is_wanted(keys->by_name[i], name))
			return true;
	return false;
}

static void print_wanted(struct output *output, const struct target_object *object,
			 const void *name)
{
	const struct key_list *keys = &object->table->keys;
	struct source_lines *lines = source_lines_open(object->file);

	output_open_list(output, "keys");
	for (size_t i = 0; i < keys->count; i++)
		if (is_wanted(keys->by_name[i], name))
			show_key(output, object, lines, keys->by_name[i]);
	output_close(output);
	source_lines_close(lines);
}

static int run_show(const struct arguments *arguments)
{
	const char *name = arguments->operands[1];
	struct target target;
	struct target_object object;
	int status = target_open(&target, arguments->operands[0]);
	bool known = false;

	if (status == EXIT_RIGHT) {
		for (size_t at = 0; !known && target_next(&target, &at, &object);)
			known = has_wanted(&object, name);
		status = known ? target_print(&target, arguments->json, print_wanted, name)
			       : refuse_unknown(&target, name);
	}
	target_close(&target);
	return status;
}

const struct command show_command = {
	.name = "show",
	.operands = "FILE|PID KEY",
	.operand_count = 2,
	.summary = "the sites of a key, value or call: where, and what is there",
	.help = "Shows each site of KEY, named as in 'dormant list'. The name of an array means "
		"all\n"
		"its elements; where several keys have one name, all are shown. Of a process: the "
		"sites\n"
		"in all its objects, and what stands there now.\n"
		"\n"
		"  ADDRESS      in the file; of a process, in its memory\n"
		"  FUNCTION     whose code it is; - in a stripped file\n"
		"  SOURCE       file:line; - without debug information\n"
		"  BRANCH       likely or unlikely, as the source says; of a key\n"
		"  BYTES        of the instruction; of a key's only the first ever changes\n"
		"  INSTRUCTION  decoded\n"
		"  STATE        key:    falls through, jumps\n"
		"               value:  by memory (loads it, as always in a file), in the "
		"instruction\n"
		"               call:   direct, tail (a direct jump), nothing (there is no "
		"function),\n"
		"                       by trampoline (one jump more), far (over 2 GiB away: the "
		"same)\n"
		"               all:    foreign, for what the library did not write\n"
		"\n"
		"In a file, a call is shown as the library will make it. Where the compiler put\n"
		"something before the call, or its place does not permit one store, it stays one "
		"of "
		"the\n"
		"trampoline, which is a further row.\n"
		"\n"
		"JSON: file, keys: name, kind, type, default, sites: address, function, inlined, "
		"file,\n"
		"line, branch or kind (value, call, trampoline), bytes, instruction, state, target "
		"(where\n"
		"it jumps or calls). Of a process: process, objects: path, bias, note, keys: the "
		"same, and\n"
		"now.\n"
		"\n"
		"Example: dormant show /usr/sbin/server trace_key\n",
	.run = run_show,
};
