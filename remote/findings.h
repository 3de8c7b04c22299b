/* SPDX-License-Identifier: MIT */
/*
 * What a check found wrong: a list that is bounded, because a damaged table is wrong everywhere.
 */
#ifndef REMOTE_FINDINGS_H
#define REMOTE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing that is wrong. Text that does not apply is "". */
struct finding {
	size_t object;     /* index of the object it is about */
	bool has_address;  /* in a process the run-time address */
	uint64_t address;  /* of the site, or of the entry of a table */
	char place[128];   /* function+0xoffset of a site */
	const char *kind;  /* "key", "value" or "call"; NULL where there is no key */
	char key[128];     /* the key's name */
	char expected[40]; /* bytes in hexadecimal */
	char found[40];    /* bytes in hexadecimal */
	char message[256]; /* what is wrong, and what to do where that is not plain */
};

#define FINDINGS_MAX 1000

/* Starts as {0}. */
struct findings {
	size_t count; /* all, also those that are not stored */
	size_t stored;
	struct finding *list;
};

/*
 * Adds a finding with its message; the caller fills the other fields of what is returned, which is
 * never NULL and good until the next call.
 */
__attribute__((format(printf, 2, 3))) struct finding *findings_add(struct findings *findings,
								   const char *format, ...);
void findings_free(struct findings *findings);

/* Writes bytes as "a9 00 10"; @size is that of @text, which is cut short where they do not fit. */
void finding_print_bytes(char *text, size_t size, const uint8_t *bytes, size_t count);

#endif
