/* SPDX-License-Identifier: MIT */
/* dormant list FILE|PID: the keys, values and calls of a file, or of each object of a process. */
#include <string.h>

#include "command.h"
#include "target.h"

/* A type only where there are values, a present state only in a process. */
static const struct output_column all_columns[] = {
	{"name", "KEY", false},        {"kind", "KIND", false}, {"type", "TYPE", false},
	{"default", "DEFAULT", false}, {"now", "NOW", false},   {"sites", "SITES", true},
};
#define COLUMN_COUNT (sizeof(all_columns) / sizeof(*all_columns))

static bool has_values(const struct key_list *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->keys[i].kind == KEY_VALUE)
			return true;
	return false;
}

static size_t choose_columns(struct output_column columns[COLUMN_COUNT],
			     const struct target_object *object)
{
	bool types = has_values(&object->table->keys);
	size_t count = 0;

	for (size_t i = 0; i < COLUMN_COUNT; i++) {
		if (strcmp(all_columns[i].name, "type") == 0 && !types)
			continue;
		if (strcmp(all_columns[i].name, "now") == 0 && !object->process_object)
			continue;
		columns[count++] = all_columns[i];
	}
	return count;
}

static void print_key(struct output *output, const struct target_object *object,
		      const struct key *key)
{
	output_open_item(output);
	target_print_facts(output, object, key);
	output_number(output, "sites", key->site_count);
	if (key->symbol)
		output_string(output, "address", NULL);
	else
		output_address(output, "address", key->address);
	output_close(output);
}

static void print_keys(struct output *output, const struct target_object *object,
		       const void *context)
{
	const struct key_list *keys = &object->table->keys;
	struct output_column columns[COLUMN_COUNT];

	(void)context;
	output_open_list(output, "keys");
	output_table(output, columns, choose_columns(columns, object));
	for (size_t i = 0; i < keys->count; i++)
		print_key(output, object, keys->by_name[i]);
	output_close(output);
	output_print_table(output);
}

static int run_list(const struct arguments *arguments)
{
	struct target target;
	int status = target_open(&target, arguments->operands[0]);

	if (status == EXIT_RIGHT)
		status = target_print(&target, arguments->json, print_keys, NULL);
	target_close(&target);
	return status;
}

const struct command list_command = {
	.name = "list",
	.operands = "FILE|PID",
	.operand_count = 1,
	.summary = "the keys, values and calls of a file or process",
	.help = "Lists the keys, immediate values and static calls that FILE, or each object of a\n"
		"process, defines or has sites of. Nothing is run; a stripped file gives the same "
		"list,\n"
		"but for the names of functions and variables. A word of digits is a process.\n"
		"\n"
		"  KEY      its name in the source; an element of an array as name[3]\n"
		"  KIND     key        defined by DEFINE_STATIC_KEY_*\n"
		"           element    of an array defined by DEFINE_STATIC_KEY_ARRAY_*\n"
		"           plain      a struct static_key or a member; named as its sites write "
		"it\n"
		"           elsewhere  lives in another object; named as the sites write it\n"
		"           value      defined by DEFINE_IMV\n"
		"           call       defined by DEFINE_STATIC_CALL*\n"
		"  TYPE     of a value: int32, uint8, bool, float, double, pointer and so on\n"
		"  DEFAULT  before the program changes it: on or off; the value; the function that "
		"is\n"
		"           called, or nothing; - when another object decides\n"
		"  NOW      the same, as it is now; only of a process\n"
		"  SITES    how many places in the code of FILE test it, read it or call it\n"
		"\n"
		"JSON: file, keys: name, kind, type (of a value, or null), default (true, false or "
		"null of\n"
		"a key, a string or null of the others), sites, address (or null). Of a process: "
		"process,\n"
		"objects: path, bias, note, keys: the same, and now.\n"
		"\n"
		"Example: dormant list /usr/sbin/server\n",
	.run = run_list,
};
