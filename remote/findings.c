/* SPDX-License-Identifier: MIT */
/* A bounded list of what is wrong. */
#include "findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where findings go that are counted but not stored. */
static struct finding overflow;

struct finding *findings_add(struct findings *findings, const char *format, ...)
{
	struct finding *finding = &overflow;
	va_list args;

	if (!findings->list)
		findings->list = calloc(FINDINGS_MAX, sizeof(*findings->list));
	findings->count++;
	if (findings->list && findings->stored < FINDINGS_MAX)
		finding = &findings->list[findings->stored++];
	memset(finding, 0, sizeof(*finding));
	va_start(args, format);
	vsnprintf(finding->message, sizeof(finding->message), format, args);
	va_end(args);
	return finding;
}

void findings_free(struct findings *findings)
{
	free(findings->list);
	*findings = (struct findings){0};
}

void finding_print_bytes(char *text, size_t size, const uint8_t *bytes, size_t count)
{
	text[0] = '\0';
	for (size_t i = 0; i < count && i * 3 + 3 <= size; i++)
		snprintf(text + i * 3, size - i * 3, "%02x%s", bytes[i],
			 i + 1 < count && i * 3 + 6 <= size ? " " : "");
}
