/* SPDX-License-Identifier: MIT */
/* The texts of keys, values and calls. */
#include "key_text.h"

#include <dormant/object.h>
#include <dormant/static_call.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- types ---- */

void key_type_text(char text[KEY_TEXT_BYTES], const struct key *key)
{
	if (key->kind != KEY_VALUE) {
		snprintf(text, KEY_TEXT_BYTES, "-");
		return;
	}
	switch (key->type_class) {
	case DORMANT_KEY_CLASS_UNSIGNED:
		snprintf(text, KEY_TEXT_BYTES, "uint%u", key->bytes * 8);
		break;
	case DORMANT_KEY_CLASS_SIGNED:
		snprintf(text, KEY_TEXT_BYTES, "int%u", key->bytes * 8);
		break;
	case DORMANT_KEY_CLASS_BOOL:
		snprintf(text, KEY_TEXT_BYTES, "bool");
		break;
	case DORMANT_KEY_CLASS_FLOAT:
		snprintf(text, KEY_TEXT_BYTES, "%s", key->bytes == 4 ? "float" : "double");
		break;
	case DORMANT_KEY_CLASS_POINTER:
		snprintf(text, KEY_TEXT_BYTES, "pointer");
		break;
	default:
		snprintf(text, KEY_TEXT_BYTES, "%u byte%s", key->bytes, key->bytes == 1 ? "" : "s");
	}
}

/* ---- values ---- */

static int64_t extend_sign(uint64_t bits, unsigned int bytes)
{
	unsigned int unused = 64 - 8 * bytes;

	return (int64_t)(bits << unused) >> unused;
}

static void print_float(char *text, unsigned int bytes, uint64_t bits)
{
	double wide;
	float narrow;

	if (bytes == sizeof(narrow)) {
		memcpy(&narrow, &bits, sizeof(narrow));
		snprintf(text, KEY_TEXT_BYTES, "%.9g", (double)narrow);
	} else {
		memcpy(&wide, &bits, sizeof(wide));
		snprintf(text, KEY_TEXT_BYTES, "%.17g", wide);
	}
}

void key_value_text(char text[KEY_TEXT_BYTES], int type_class, unsigned int bytes, uint64_t bits,
		    const char *name)
{
	switch (type_class) {
	case DORMANT_KEY_CLASS_UNSIGNED:
		snprintf(text, KEY_TEXT_BYTES, "%" PRIu64, bits);
		break;
	case DORMANT_KEY_CLASS_SIGNED:
		snprintf(text, KEY_TEXT_BYTES, "%" PRId64, extend_sign(bits, bytes));
		break;
	case DORMANT_KEY_CLASS_BOOL:
		if (bits <= 1)
			snprintf(text, KEY_TEXT_BYTES, "%s", bits ? "true" : "false");
		else
			snprintf(text, KEY_TEXT_BYTES, "0x%" PRIx64, bits);
		break;
	case DORMANT_KEY_CLASS_FLOAT:
		print_float(text, bytes, bits);
		break;
	default:
		if (name && bits)
			snprintf(text, KEY_TEXT_BYTES, "0x%" PRIx64 " <%s>", bits, name);
		else
			snprintf(text, KEY_TEXT_BYTES, "0x%" PRIx64, bits);
	}
}

/* ---- in the file ---- */

/* What a pointer of the file will point to, by its name; false where it has none. */
static bool pointer_name(char *text, size_t size, struct elf_file *file,
			 const struct elf_pointer *pointer)
{
	if (!pointer->symbol)
		return elf_file_name(file, pointer->address, text, size);
	if (pointer->addend == 0)
		snprintf(text, size, "%s", pointer->symbol);
	else
		snprintf(text, size, "%s+0x%" PRIx64, pointer->symbol, (uint64_t)pointer->addend);
	return true;
}

static void print_initial_call(char text[KEY_TEXT_BYTES], struct elf_file *file,
			       const struct key *key)
{
	struct elf_pointer function;

	if (!elf_file_pointer(file, key->address + offsetof(struct static_call, function),
			      &function))
		snprintf(text, KEY_TEXT_BYTES, "-");
	else if (!function.symbol && function.address == 0)
		snprintf(text, KEY_TEXT_BYTES, "nothing");
	else if (!pointer_name(text, KEY_TEXT_BYTES, file, &function))
		snprintf(text, KEY_TEXT_BYTES, "0x%" PRIx64, function.address);
}

static void print_initial_value(char text[KEY_TEXT_BYTES], struct elf_file *file,
				const struct key *key)
{
	struct elf_pointer pointer = {0};
	char name[KEY_TEXT_BYTES - 4];
	bool known, named;

	if (key->bytes == sizeof(uint64_t))
		known = elf_file_pointer(file, key->address, &pointer);
	else
		known = elf_file_initial(file, key->address, &pointer.address, key->bytes);
	if (!known) {
		snprintf(text, KEY_TEXT_BYTES, "-");
		return;
	}
	named = (key->type_class == DORMANT_KEY_CLASS_POINTER || pointer.symbol) &&
		pointer_name(name, sizeof(name), file, &pointer);
	if (pointer.symbol)
		snprintf(text, KEY_TEXT_BYTES, "<%s>", name);
	else
		key_value_text(text, key->type_class, key->bytes, pointer.address,
			       named ? name : NULL);
}

void key_initial_text(char text[KEY_TEXT_BYTES], struct elf_file *file, const struct key *key)
{
	snprintf(text, KEY_TEXT_BYTES, "%s", key->initial < 0 ? "-" : key->initial ? "on" : "off");
	if (key->symbol)
		return;
	if (key->kind == KEY_CALL)
		print_initial_call(text, file, key);
	else if (key->kind == KEY_VALUE)
		print_initial_value(text, file, key);
}
