/* SPDX-License-Identifier: MIT */
/* The subcommands of `dormant`: what each is given, and how it ends. */
#ifndef TOOL_COMMAND_H
#define TOOL_COMMAND_H

#include <stdbool.h>

#include "remote_error.h"

/* Exit status; in the manual. */
enum {
	EXIT_RIGHT = 0,   /* it was done, and nothing is wrong */
	EXIT_WRONG = 1,   /* it was done, and something is wrong */
	EXIT_NOT_RUN = 2, /* it could not be done */
};

struct arguments {
	bool json;
	char **operands; /* as many as the command takes */
};

struct command {
	const char *name;
	const char *operands; /* as in the usage */
	int operand_count;
	const char *summary; /* one line */
	const char *help;    /* what follows the usage */
	int (*run)(const struct arguments *arguments);
};

extern const struct command list_command, show_command, verify_command, doctor_command;

#endif
