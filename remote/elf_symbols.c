/* SPDX-License-Identifier: MIT */
/*
 * Names of functions, for people: from the full symbol table, or from the dynamic one of a stripped
 * file. Names of keys never come from here, so that stripping a file loses none.
 */
#include "elf_file.h"

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

/* ---- functions ---- */

struct function_list {
	struct elf_function *functions; /* NULL: only count */
	size_t count;
};

static bool add_function(void *context, const GElf_Sym *symbol, const char *name)
{
	struct function_list *list = context;
	int type = GELF_ST_TYPE(symbol->st_info);

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF)
		return true;
	if (list->functions)
		list->functions[list->count] = (struct elf_function){symbol->st_value,
								     symbol->st_size, name};
	list->count++;
	return true;
}

static int compare_functions(const void *left, const void *right)
{
	const struct elf_function *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

static void load_functions(struct elf_file *file, uint32_t type)
{
	struct function_list list = {NULL, 0};

	visit_symbols(file, type, add_function, &list);
	list.functions = list.count > 0 ? calloc(list.count, sizeof(*list.functions)) : NULL;
	if (!list.functions)
		return;
	list.count = 0;
	visit_symbols(file, type, add_function, &list);
	qsort(list.functions, list.count, sizeof(*list.functions), compare_functions);
	file->functions = list.functions;
	file->function_count = list.count;
}

const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high;

	if (!file->functions_loaded) {
		file->functions_loaded = true;
		load_functions(file, SHT_SYMTAB);
		if (file->function_count == 0)
			load_functions(file, SHT_DYNSYM);
	}
	high = file->function_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	*offset = address - file->functions[low - 1].address;
	if (*offset >= file->functions[low - 1].bytes)
		return NULL;
	return file->functions[low - 1].name;
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
