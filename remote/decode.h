/* SPDX-License-Identifier: MIT */
/* Instructions as text. */
#ifndef REMOTE_DECODE_H
#define REMOTE_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the instruction at @bytes, which run at @address, in AT&T syntax, or "(bad)". */
void decode_instruction(char *text, size_t size, const uint8_t *bytes, size_t count,
			uint64_t address);

#endif
