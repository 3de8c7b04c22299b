/* SPDX-License-Identifier: MIT */
/*
 * What the pointers of a file will hold: dynamic relocations, found as the dynamic linker finds
 * them, through PT_DYNAMIC, so that a file without section headers reads the same.
 */
#include "elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The entries of the dynamic section that matter here. */
struct dynamic_tables {
	struct elf_range rela;
	struct elf_range relr;
	uint64_t symbols;
	struct elf_range strings;
};

static int refuse(const struct elf_file *file, struct remote_error *error)
{
	return remote_error_set(error, -ENOEXEC,
				"%s: its dynamic relocations are damaged; copy or link it again",
				file->path);
}

static void read_dynamic(struct elf_file *file, struct dynamic_tables *tables)
{
	const uint8_t *bytes = elf_file_contents(file, file->dynamic.address, file->dynamic.bytes);
	size_t count = bytes ? file->dynamic.bytes / sizeof(Elf64_Dyn) : 0;
	Elf64_Dyn entry;

	memset(tables, 0, sizeof(*tables));
	for (size_t i = 0; i < count; i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		switch (entry.d_tag) {
		case DT_RELA:
			tables->rela.address = entry.d_un.d_ptr;
			break;
		case DT_RELASZ:
			tables->rela.bytes = entry.d_un.d_val;
			break;
		case DT_RELR:
			tables->relr.address = entry.d_un.d_ptr;
			break;
		case DT_RELRSZ:
			tables->relr.bytes = entry.d_un.d_val;
			break;
		case DT_SYMTAB:
			tables->symbols = entry.d_un.d_ptr;
			break;
		case DT_STRTAB:
			tables->strings.address = entry.d_un.d_ptr;
			break;
		case DT_STRSZ:
			tables->strings.bytes = entry.d_un.d_val;
			break;
		case DT_NULL:
			return;
		}
	}
}

/* ---- DT_RELA ---- */

static void read_rela(struct elf_file *file, const uint8_t *bytes, size_t count)
{
	Elf64_Rela rela;

	for (size_t i = 0; i < count; i++) {
		memcpy(&rela, bytes + i * sizeof(rela), sizeof(rela));
		file->relocations[file->relocation_count++] = (struct elf_relocation){
			.address = rela.r_offset,
			.addend = rela.r_addend,
			.type = ELF64_R_TYPE(rela.r_info),
			.symbol = (uint32_t)ELF64_R_SYM(rela.r_info),
		};
	}
}

/* ---- DT_RELR: a word is an address, or (bit 0) a bitmap of the 63 words after the last ---- */

#define RELR_BITS 63

static void add_relr(struct elf_file *file, uint64_t address)
{
	uint64_t value;

	/* The addend is in place. */
	if (elf_file_initial(file, address, &value, sizeof(value)))
		file->relocations[file->relocation_count++] = (struct elf_relocation){
			.address = address,
			.addend = (int64_t)value,
			.type = R_X86_64_RELATIVE,
		};
}

static void read_relr(struct elf_file *file, const uint8_t *bytes, size_t count)
{
	uint64_t next = 0, word;

	for (size_t i = 0; i < count; i++) {
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		if ((word & 1) == 0) {
			add_relr(file, word);
			next = word + sizeof(word);
			continue;
		}
		for (unsigned int bit = 0; bit < RELR_BITS; bit++)
			if (word >> (bit + 1) & 1)
				add_relr(file, next + bit * sizeof(word));
		next += RELR_BITS * sizeof(word);
	}
}

static size_t count_relr(const uint8_t *bytes, size_t count)
{
	size_t total = 0;
	uint64_t word;

	for (size_t i = 0; i < count; i++) {
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		total += (word & 1) == 0 ? 1 : (size_t)__builtin_popcountll(word >> 1);
	}
	return total;
}

/* ---- loading ---- */

static int compare_relocations(const void *left, const void *right)
{
	const struct elf_relocation *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int read_relocations(struct elf_file *file, const struct dynamic_tables *tables,
			    struct remote_error *error)
{
	const uint8_t *rela = elf_file_contents(file, tables->rela.address, tables->rela.bytes);
	const uint8_t *relr = elf_file_contents(file, tables->relr.address, tables->relr.bytes);
	size_t rela_count = tables->rela.bytes / sizeof(Elf64_Rela);
	size_t relr_count = tables->relr.bytes / sizeof(uint64_t);

	if ((!rela && rela_count > 0) || (!relr && relr_count > 0))
		return refuse(file, error);
	file->relocations = calloc(rela_count + count_relr(relr, relr_count) + 1,
				   sizeof(*file->relocations));
	if (!file->relocations)
		return remote_error_set(error, -ENOMEM, "%s: no memory", file->path);
	read_rela(file, rela, rela_count);
	read_relr(file, relr, relr_count);
	qsort(file->relocations, file->relocation_count, sizeof(*file->relocations),
	      compare_relocations);
	return 0;
}

int elf_relocations_load(struct elf_file *file, struct remote_error *error)
{
	struct dynamic_tables tables;
	int result;

	if (file->relocations_loaded)
		return 0;
	read_dynamic(file, &tables);
	result = read_relocations(file, &tables, error);
	file->relocations_loaded = result == 0;
	file->dynamic_symbols.address = tables.symbols;
	file->dynamic_strings = tables.strings;
	return result;
}

/* ---- resolving ---- */

/* The last relocation at or before @address. */
static const struct elf_relocation *find_relocation(const struct elf_file *file, uint64_t address)
{
	size_t low = 0, high = file->relocation_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->relocations[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &file->relocations[low - 1] : NULL;
}

static bool read_symbol(struct elf_file *file, uint32_t index, Elf64_Sym *symbol)
{
	const uint8_t *bytes = elf_file_contents(
		file, file->dynamic_symbols.address + (uint64_t)index * sizeof(*symbol),
		sizeof(*symbol));

	if (bytes)
		memcpy(symbol, bytes, sizeof(*symbol));
	return bytes != NULL;
}

static const char *symbol_name(struct elf_file *file, const Elf64_Sym *symbol)
{
	const char *name = NULL;

	if (symbol->st_name < file->dynamic_strings.bytes)
		name = elf_file_string(file, file->dynamic_strings.address + symbol->st_name);
	return name ? name : "?";
}

/* A variable of another object that the linker copied into this one (R_X86_64_COPY). */
static void resolve_copied(struct elf_file *file, struct elf_pointer *pointer)
{
	const struct elf_relocation *copy = find_relocation(file, pointer->address);
	Elf64_Sym symbol;

	if (!copy || copy->type != R_X86_64_COPY || !read_symbol(file, copy->symbol, &symbol) ||
	    pointer->address - copy->address >= symbol.st_size)
		return;
	pointer->symbol = symbol_name(file, &symbol);
	pointer->addend = (int64_t)(pointer->address - copy->address);
}

static void resolve_symbol(struct elf_file *file, const struct elf_relocation *relocation,
			   struct elf_pointer *pointer)
{
	Elf64_Sym symbol;

	if (!read_symbol(file, relocation->symbol, &symbol))
		return;
	if (symbol.st_shndx != SHN_UNDEF) {
		pointer->address = symbol.st_value + (uint64_t)relocation->addend;
		return;
	}
	pointer->symbol = symbol_name(file, &symbol);
	pointer->addend = relocation->addend;
}

bool elf_file_pointer(struct elf_file *file, uint64_t address, struct elf_pointer *pointer)
{
	const struct elf_relocation *relocation = find_relocation(file, address);

	*pointer = (struct elf_pointer){0};
	if (!elf_file_initial(file, address, &pointer->address, sizeof(pointer->address)))
		return false;
	if (relocation && relocation->address == address) {
		pointer->relocated = true;
		pointer->address = 0;
		if (relocation->type == R_X86_64_RELATIVE)
			pointer->address = (uint64_t)relocation->addend;
		else if (relocation->type == R_X86_64_64)
			resolve_symbol(file, relocation, pointer);
	}
	if (!pointer->symbol)
		resolve_copied(file, pointer);
	return true;
}
