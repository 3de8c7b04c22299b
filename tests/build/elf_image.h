/* SPDX-License-Identifier: MIT */
/*
 * A linked ELF file as the checkers see it: its bytes by address, its functions, its relocations
 * and its tables. Everything here ends the program with a message when the file is not what a
 * linker writes: the checkers are run on files that the tests have just built.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_section {
	const char *name;
	uint64_t address;
	uint64_t size;
	uint64_t flags; /* SHF_* */
	const uint8_t *bytes;
};

struct image_function {
	const char *name;
	uint64_t address;
	uint64_t size;
};

/* One entry of dormant_sites, with its words resolved to addresses of the file. */
struct image_site {
	uint64_t code;
	uint64_t target; /* where the jump goes when the site jumps */
	uint64_t key_pointer;
	unsigned flags; /* DORMANT_SITE_* */
	uint8_t opcode; /* the first byte in the file */
	const char *name;
};

/* What a relocated word of data will hold. */
struct image_pointer {
	uint64_t value;     /* an address of the file; 0 where another object defines it */
	const char *symbol; /* the name by which it is looked up elsewhere, or NULL */
};

/* One entry of dormant_operands, with its words resolved to addresses of the file. */
struct image_operand {
	uint64_t code;
	uint64_t pointer; /* address of the pointer to its owner */
	uint64_t home;    /* 0 where the word is 0 */
	unsigned kind;    /* enum dormant_operand_kind */
	const char *name; /* NULL where the word is 0 */
	struct image_pointer owner;
};

struct image_relocations {
	size_t relative;      /* R_X86_64_RELATIVE and packed ones */
	size_t symbolic;      /* all other dynamic ones */
	size_t inside_tables; /* those that change a word of dormant_sites or dormant_operands */
	size_t inside_text;   /* those that change code */
	bool text_relocation; /* DT_TEXTREL or DF_TEXTREL */
};

struct image;

struct image *image_open(const char *path);
void image_close(struct image *image);

/* NULL when there is none of that name. */
const struct image_section *image_section_find(const struct image *image, const char *name);
/* The allocated section that holds the whole range, or NULL. */
const struct image_section *image_section_at(const struct image *image, uint64_t address,
					     uint64_t size);
const uint8_t *image_bytes(const struct image *image, uint64_t address, uint64_t size);

/* The function whose symbol covers the address, or NULL. */
const struct image_function *image_function_at(const struct image *image, uint64_t address);

size_t image_site_count(const struct image *image);
const struct image_site *image_site(const struct image *image, size_t index);

size_t image_operand_count(const struct image *image);
const struct image_operand *image_operand(const struct image *image, size_t index);

/* The pointer at this address of data, and whether two are to the same thing. */
struct image_pointer image_pointer(const struct image *image, uint64_t address);
bool image_pointers_equal(const struct image_pointer *a, const struct image_pointer *b);

struct image_relocations image_relocations(const struct image *image);

__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

#endif
