/* SPDX-License-Identifier: MIT */
/*
 * Parses a document again and again, and frees it: for counting what one value of a document costs.
 * It does the same work in every run: no clock, no random number.
 *
 * usage: parse [TIMES]     once is some 50,000 values
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#define RECORDS 5000

/* Records of ten small values each: strings, numbers, constants, an array. */
static char *make_document(void)
{
	char *text = malloc(RECORDS * 200ul), *end = text;

	if (text == NULL)
		return NULL;
	end += sprintf(end, "[");
	for (unsigned i = 0; i < RECORDS; i++)
		end += sprintf(end,
			       "%s{\"id\":%u,\"name\":\"record %u\",\"active\":%s,\"score\":%u,"
			       "\"tags\":[\"a\",\"b%u\",\"c\"],\"next\":null}",
			       i > 0 ? "," : "", i, i * 7, i % 3 == 0 ? "true" : "false",
			       i * 2654435761u >> 8, i % 10);
	(void)sprintf(end, "]");
	return text;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a */

	for (; *text != '\0'; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211u;
	return hash;
}

static int parse_once(const char *text, int print)
{
	json_error_t error;
	json_t *document = json_loads(text, 0, &error);

	if (document == NULL) {
		fprintf(stderr, "parse: %s\n", error.text);
		return 1;
	}
	if (print) {
		char *written = json_dumps(document, JSON_COMPACT);

		printf("%zu records, written back: %016llx\n", json_array_size(document),
		       (unsigned long long)hash_text(written));
		free(written);
	}
	json_decref(document);
	return 0;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1, status = 0;
	char *text = make_document();

	/* The seed of the hash of object keys, else random. */
	json_object_seed(1);
	for (int i = 0; i < times && status == 0; i++)
		status = text == NULL ? 1 : parse_once(text, i == 0);
	free(text);
	return status;
}
