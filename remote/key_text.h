/* SPDX-License-Identifier: MIT */
/*
 * What a key, an immediate value or a static call is, as text: in the file, and in a process.
 *
 *     key          on, off
 *     value        100, -3, true, 0.5; a pointer as 0x4010 or 0x4010 <table+0x8>
 *     call         name, name+0x8, or 0x1139 where it has none; nothing where there is no function
 *
 * "-" stands for what is not known. A type is named int32, uint8, bool, float, double or pointer,
 * or by its size where another object knows it.
 */
#ifndef REMOTE_KEY_TEXT_H
#define REMOTE_KEY_TEXT_H

#include "key_list.h"

#define KEY_TEXT_BYTES 256

/* Of a value; "-" for others. */
void key_type_text(char text[KEY_TEXT_BYTES], const struct key *key);

/* Before the program changes it. */
void key_initial_text(char text[KEY_TEXT_BYTES], struct elf_file *file, const struct key *key);

/* A value's @bits, as a number of @type_class and @bytes; @name is what a pointer points to, or
 * NULL. */
void key_value_text(char text[KEY_TEXT_BYTES], int type_class, unsigned int bytes, uint64_t bits,
		    const char *name);

#endif
