/* SPDX-License-Identifier: MIT */
/* Instructions as text. */
#ifndef REMOTE_DECODE_H
#define REMOTE_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Writes the instruction at @bytes, which run at @address, in AT&T syntax, or "(bad)". */
void decode_instruction(char *text, size_t size, const uint8_t *bytes, size_t count,
			uint64_t address);

/* Length of the instruction at @bytes, which holds @count; 1 where it is none. */
size_t decode_length(const uint8_t *bytes, size_t count);

#endif
