/* SPDX-License-Identifier: MIT */
/*
 * The sites of immediate values and static calls, as the table dormant_operands tells them, and
 * what the bytes of one do.
 *
 * An entry for a call says where the compiler may have put one. It is a site only where that is
 * what stands there; elsewhere the call goes by the trampoline, which is right as well.
 */
#ifndef REMOTE_OPERAND_H
#define REMOTE_OPERAND_H

#include <dormant/object.h>

#include "key_list.h"

#define OPERAND_BYTES_MAX 13 /* of an instruction, a value of 8 bytes included */

struct operand {
	uint64_t entry;   /* address of its entry in the table */
	uint64_t address; /* of the instruction */
	uint64_t pointer; /* address of the pointer to its owner */
	uint64_t home; /* a value's load, what a call reaches, a trampoline's cell; 0: not known */
	enum dormant_operand_kind kind;   /* not DORMANT_OPERAND_HOME */
	uint8_t bytes[OPERAND_BYTES_MAX]; /* as in the file; 0 where its memory ends before */
	uint8_t load[3];                  /* of a value: how its load begins */
	bool is_site;                     /* not a call that goes by the trampoline */
	const struct key *key;
};

struct operand_list {
	struct operand *list; /* sorted by address */
	size_t count;
};

struct site_table;

/* Reads the entries and adds what they name to the table's keys. -ENOMEM, or 0: entries that make
 * no sense become damage. */
int operand_list_read(struct site_table *table);

/* Once the table's keys are finished: connects each entry with its key, and drops those without. */
void operand_list_connect(struct site_table *table);
void operand_list_free(struct operand_list *operands);

bool operand_is_value(const struct operand *operand);

/* How much of a value's memory an instruction holds; 0 for calls. */
unsigned int operand_value_bytes(enum dormant_operand_kind kind);

/* ---- what the bytes do; operand_form.c ---- */

enum operand_form {
	OPERAND_FOREIGN,
	OPERAND_BY_MEMORY,      /* a value or a trampoline, as in the file */
	OPERAND_IN_INSTRUCTION, /* a value */
	OPERAND_DIRECT,         /* a call or a trampoline */
	OPERAND_NOTHING,        /* does nothing or returns: there is no function */
	OPERAND_BY_TRAMPOLINE,  /* a call, as in the file */
};

struct operand_look {
	enum operand_form form;
	size_t bytes;    /* length of the instruction */
	uint64_t target; /* where it jumps or calls, or the cell; 0 where it does not */
	uint64_t value;  /* of a value in the instruction */
};

/* What @bytes, OPERAND_BYTES_MAX of them, do at run-time address @operand->address + @bias. */
struct operand_look operand_look_at(const struct operand *operand, const uint8_t *bytes,
				    uint64_t bias);

/* Writes the instruction that holds @value, a value's bits or the address of a function, to @bytes;
 * returns its length. Where the function is too far away, that is the one of the file. */
size_t operand_encode(const struct operand *operand, uint64_t value, uint64_t bias,
		      uint8_t bytes[OPERAND_BYTES_MAX]);

/* Whether the instruction can not hold @function because it is more than 2 GiB away. */
bool operand_is_far(const struct operand *operand, uint64_t function, uint64_t bias);

#endif
