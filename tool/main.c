/* SPDX-License-Identifier: MIT */
/* The command `dormant`: a table of subcommands, and the options that all of them have. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "output.h"

static const struct command *const commands[] = {
	&list_command,
	&show_command,
	&verify_command,
	&doctor_command,
};
#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int finish(void)
{
	struct output output;

	output_begin(&output, false);
	return output_end(&output, EXIT_RIGHT);
}

static int print_help(void)
{
	puts("Usage: dormant COMMAND [--json] [ARGUMENT...]\n"
	     "\n"
	     "Shows and checks the static keys, immediate values and static calls of programs.\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-7s %-12s  %s\n", commands[i]->name, commands[i]->operands,
		       commands[i]->summary);
	puts("\n"
	     "  --json     print one JSON object instead of text\n"
	     "  --help     of a command: what it does, its fields and an example\n"
	     "  --version  print the version\n"
	     "\n"
	     "Exit status: 0 right, 1 found something wrong, 2 could not run.");
	return finish();
}

static int print_command_help(const struct command *command)
{
	printf("Usage: dormant %s [--json]%s%s\n\n%s", command->name, *command->operands ? " " : "",
	       command->operands, command->help);
	return finish();
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	output_error("no command '%s'; 'dormant --help' lists them", name);
	return NULL;
}

static int run_help(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2)
		return print_help();
	command = find_command(argv[1]);
	return command ? print_command_help(command) : EXIT_NOT_RUN;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct arguments arguments = {0};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return print_command_help(command);
		if (option != 'j')
			return output_error("%s: unknown option '%s'; see 'dormant help %s'",
					    command->name, argv[optind - 1], command->name);
		arguments.json = true;
	}
	if (argc - optind != command->operand_count)
		return output_error("%s: takes %s; usage: dormant %s [--json]%s%s", command->name,
				    *command->operands ? command->operands : "no argument",
				    command->name, *command->operands ? " " : "",
				    command->operands);
	arguments.operands = argv + optind;
	return command->run(&arguments);
}

int main(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2)
		return output_error("which command? 'dormant --help' lists them");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "help") == 0)
		return run_help(argc - 1, argv + 1);
	if (strcmp(argv[1], "--version") == 0) {
		puts("dormant " DORMANT_VERSION);
		return finish();
	}
	command = find_command(argv[1]);
	return command ? run_command(command, argc - 1, argv + 1) : EXIT_NOT_RUN;
}
