/* SPDX-License-Identifier: MIT */
/*
 * Names of functions and variables, for people: from the full symbol table, or from the dynamic one
 * of a stripped file. Names of keys never come from here, so that stripping a file loses none.
 */
#include "elf_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls @visit for each symbol of each table of @type until it returns false. */
static void visit_symbols(struct elf_file *file, uint32_t type,
			  bool (*visit)(void *context, const GElf_Sym *symbol, const char *name),
			  void *context)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while (file->has_sections && (section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;
		size_t count;

		if (!gelf_getshdr(section, &header) || header.sh_type != type)
			continue;
		data = elf_getdata(section, NULL);
		count = data && data->d_type == ELF_T_SYM ? data->d_size / sizeof(Elf64_Sym) : 0;
		for (size_t i = 0; i < count && i < INT32_MAX; i++) {
			const char *name = NULL;

			if (gelf_getsym(data, (int)i, &symbol))
				name = elf_strptr(file->elf, header.sh_link, symbol.st_name);
			if (name && !visit(context, &symbol, name))
				return;
		}
	}
}

/* ---- by address ---- */

struct symbol_list {
	bool (*wanted)(const GElf_Sym *symbol);
	struct elf_symbol *list; /* NULL: only count */
	size_t count;
};

/* One of another object has an address where calls of it go through this one. */
static bool is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       (symbol->st_shndx != SHN_UNDEF || symbol->st_value != 0);
}

static bool is_variable(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF;
}

static bool add_symbol(void *context, const GElf_Sym *symbol, const char *name)
{
	struct symbol_list *list = context;

	if (!list->wanted(symbol))
		return true;
	if (list->list)
		list->list[list->count] = (struct elf_symbol){symbol->st_value, symbol->st_size,
							      name};
	list->count++;
	return true;
}

/* Of several at one address the last is used: the largest, and of these the one that a source is
 * most likely to name: puts, not _IO_puts. */
static int compare_symbols(const void *left, const void *right)
{
	const struct elf_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? -1 : 1;
	if ((a->name[0] == '_') != (b->name[0] == '_'))
		return a->name[0] == '_' ? -1 : 1;
	return strcmp(b->name, a->name);
}

static void load_table(struct elf_file *file, struct elf_symbols *symbols, uint32_t type,
		       bool (*wanted)(const GElf_Sym *symbol))
{
	struct symbol_list list = {.wanted = wanted};

	visit_symbols(file, type, add_symbol, &list);
	list.list = list.count > 0 ? calloc(list.count, sizeof(*list.list)) : NULL;
	if (!list.list)
		return;
	list.count = 0;
	visit_symbols(file, type, add_symbol, &list);
	qsort(list.list, list.count, sizeof(*list.list), compare_symbols);
	symbols->list = list.list;
	symbols->count = list.count;
}

static void load_symbols(struct elf_file *file, struct elf_symbols *symbols,
			 bool (*wanted)(const GElf_Sym *symbol))
{
	if (symbols->loaded)
		return;
	symbols->loaded = true;
	load_table(file, symbols, SHT_SYMTAB, wanted);
	if (symbols->count == 0)
		load_table(file, symbols, SHT_DYNSYM, wanted);
}

/* The symbol that contains @address, also one at it that has no size; NULL where there is none. */
static const char *find_symbol(const struct elf_symbols *symbols, uint64_t address,
			       uint64_t *offset)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	*offset = address - symbols->list[low - 1].address;
	if (*offset > 0 && *offset >= symbols->list[low - 1].bytes)
		return NULL;
	return symbols->list[low - 1].name;
}

const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *offset)
{
	load_symbols(file, &file->functions, is_function);
	return find_symbol(&file->functions, address, offset);
}

bool elf_file_name(struct elf_file *file, uint64_t address, char *text, size_t size)
{
	uint64_t offset;
	const char *name = elf_file_function(file, address, &offset);
	int length;

	load_symbols(file, &file->variables, is_variable);
	if (!name)
		name = find_symbol(&file->variables, address, &offset);
	if (!name)
		return false;
	/* What follows an @ is a version. */
	length = (int)strcspn(name, "@");
	if (offset == 0)
		snprintf(text, size, "%.*s", length, name);
	else
		snprintf(text, size, "%.*s+0x%" PRIx64, length, name, offset);
	return true;
}

/* ---- by name ---- */

struct wanted_symbol {
	const char *name;
	uint64_t address;
	bool found;
};

static bool match_symbol(void *context, const GElf_Sym *symbol, const char *name)
{
	struct wanted_symbol *wanted = context;

	if (symbol->st_shndx == SHN_UNDEF || strcmp(name, wanted->name) != 0)
		return true;
	wanted->address = symbol->st_value;
	wanted->found = true;
	return false;
}

bool elf_file_symbol(struct elf_file *file, const char *name, uint64_t *address)
{
	struct wanted_symbol wanted = {name, 0, false};

	visit_symbols(file, SHT_SYMTAB, match_symbol, &wanted);
	*address = wanted.address;
	return wanted.found;
}
