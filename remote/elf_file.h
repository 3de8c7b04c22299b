/* SPDX-License-Identifier: MIT */
/*
 * One ELF file, read with the assumption that everything in it may be a lie.
 *
 * Addresses are those of the file: a position-independent object's start near 0. Every access goes
 * through functions that check it against the segments, whose contents were checked against the
 * file, so a caller can pass any number it found in the file. Only x86-64 executables and shared
 * objects can be opened. Not for use by several threads at once.
 */
#ifndef REMOTE_ELF_FILE_H
#define REMOTE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "remote_error.h"

/* One PT_LOAD. The contents are read when they are first asked for. */
struct elf_segment {
	uint64_t address;
	uint64_t memory_bytes;
	uint64_t file_bytes; /* at most memory_bytes */
	uint64_t offset;     /* offset + file_bytes lies within the file */
	uint32_t flags;      /* PF_R, PF_W, PF_X */
	const uint8_t *contents;
};

/* A stretch of an object's memory. */
struct elf_range {
	uint64_t address;
	uint64_t bytes;
};

/* A dynamic relocation of one word; elf_relocations.c. */
struct elf_relocation {
	uint64_t address;
	int64_t addend;
	uint32_t type; /* R_X86_64_* */
	uint32_t symbol;
};

/* A function or variable of the file's symbol table; elf_symbols.c. */
struct elf_symbol {
	uint64_t address;
	uint64_t bytes; /* 0 where the file does not say */
	const char *name;
};

/* Symbols of one kind. */
struct elf_symbols {
	bool loaded;
	struct elf_symbol *list; /* sorted by address */
	size_t count;
};

struct elf_file {
	char *path; /* as messages name it */
	int fd;
	Elf *elf;
	uint8_t header[64];        /* as in the file, to recognise it in a process */
	bool position_independent; /* ET_DYN: its addresses are relative */
	bool has_sections;
	struct elf_segment *segments; /* in the file's order */
	size_t segment_count;
	struct elf_range dynamic; /* PT_DYNAMIC, 0 bytes where there is none */

	bool relocations_loaded;
	struct elf_relocation *relocations; /* sorted by address */
	size_t relocation_count;
	struct elf_range dynamic_symbols; /* to the end of its segment: the file gives no count */
	struct elf_range dynamic_strings;

	struct elf_symbols functions;
	struct elf_symbols variables;
};

/*
 * Opens @path, or the file behind @fd (which is then owned by the file, also on failure), for which
 * @path is only a name. -errno: not a regular file, not ELF, truncated, another machine.
 */
int elf_file_open(struct elf_file **file, const char *path, struct remote_error *error);
int elf_file_open_fd(struct elf_file **file, int fd, const char *path, struct remote_error *error);
void elf_file_close(struct elf_file *file);

/* The contents of @bytes at @address as the file holds them, or NULL where it does not. */
const uint8_t *elf_file_contents(struct elf_file *file, uint64_t address, uint64_t bytes);

/* The initial value of memory: as above, and zero where the file leaves memory to be zeroed. */
bool elf_file_initial(struct elf_file *file, uint64_t address, void *value, size_t bytes);

/* A terminated string of less than 4,096 bytes at @address, or NULL. */
const char *elf_file_string(struct elf_file *file, uint64_t address);

/* Whether @bytes at @address are memory of one segment that has all of @flags (PF_R, PF_W, PF_X).
 */
bool elf_file_has(const struct elf_file *file, uint64_t address, uint64_t bytes, uint32_t flags);

/* Finds a section that is part of memory by its name; false where there is none. */
bool elf_file_section(const struct elf_file *file, const char *name, struct elf_range *range);

/* ---- elf_relocations.c ---- */

/* What a pointer in the file will hold once the object is loaded. */
struct elf_pointer {
	bool relocated;     /* a relocation fills it */
	uint64_t address;   /* in this object; 0 where it points to another or to nothing */
	const char *symbol; /* not NULL: what it points to is defined by another object */
	int64_t addend;     /* bytes after the symbol */
};

/* Reads the dynamic relocations, once. -ENOEXEC when they are damaged, -ENOMEM. */
int elf_relocations_load(struct elf_file *file, struct remote_error *error);

/* Reads a pointer of 8 bytes; false where @address is not memory that the file fills. */
bool elf_file_pointer(struct elf_file *file, uint64_t address, struct elf_pointer *pointer);

/* ---- elf_symbols.c ---- */

/* The function that contains @address and how far into it that is; NULL in a stripped file. */
const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *offset);

/* Writes what lies at @address, "name" or "name+0x8", into @text; false where nothing has a name.
 */
bool elf_file_name(struct elf_file *file, uint64_t address, char *text, size_t size);

/* Address of a symbol of the full symbol table; false where it is not there. */
bool elf_file_symbol(struct elf_file *file, const char *name, uint64_t *address);

#endif
