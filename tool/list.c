/* SPDX-License-Identifier: MIT */
/* dormant list FILE: the keys of a file. */
#include "command.h"
#include "target.h"

static const struct output_column columns[] = {
	{"name", "KEY", false},
	{"kind", "KIND", false},
	{"default", "DEFAULT", false},
	{"sites", "SITES", true},
};

static void print_key(struct output *output, const struct key *key)
{
	output_open_item(output);
	output_string(output, "name", key->name);
	output_string(output, "kind", key_kind_name(key->kind));
	output_flag(output, "default", key->initial, "on", "off");
	output_number(output, "sites", key->site_count);
	if (key->symbol)
		output_string(output, "address", NULL);
	else
		output_address(output, "address", key->address);
	output_close(output);
}

static int run_list(const struct arguments *arguments)
{
	struct output output;
	struct target target;
	int status = target_open(&target, arguments->operands[0]);

	if (status == EXIT_RIGHT) {
		const struct key_list *keys = &target.table->keys;

		output_begin(&output, arguments->json);
		output_string(&output, "file", target.file->path);
		output_open_list(&output, "keys");
		output_table(&output, columns, sizeof(columns) / sizeof(*columns));
		for (size_t i = 0; i < keys->count; i++)
			print_key(&output, keys->by_name[i]);
		output_close(&output);
		output_print_table(&output);
		status = output_end(&output, target_tell_damage(&target));
	}
	target_close(&target);
	return status;
}

const struct command list_command = {
	.name = "list",
	.operands = "FILE",
	.operand_count = 1,
	.summary = "the keys of an executable or shared object",
	.help = "Lists the keys that FILE defines or tests. Nothing is run, and a stripped file "
		"gives the\n"
		"same list.\n"
		"\n"
		"  KEY      its name in the source; an element of an array as name[3]\n"
		"  KIND     key        defined by DEFINE_STATIC_KEY_*\n"
		"           element    of an array defined by DEFINE_STATIC_KEY_ARRAY_*\n"
		"           plain      a struct static_key or a member; named as its sites write "
		"it\n"
		"           elsewhere  lives in another object; named as the sites write it\n"
		"  DEFAULT  on or off, before the program switches it; - when another object "
		"decides\n"
		"  SITES    how many places in the code of FILE test it\n"
		"\n"
		"JSON: file, keys: name, kind, default (true, false, null), sites, address (or "
		"null).\n"
		"\n"
		"Example: dormant list /usr/sbin/server\n",
	.run = run_list,
};
