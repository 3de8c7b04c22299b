/* SPDX-License-Identifier: MIT */
/*
 * Where code comes from, by libdw; debug information that is kept apart is found by its build ID.
 *
 * With clang a site is the body of the inlined dormant_site_() of a public header: what a user
 * wants to see is where that was called.
 */
#include "source_lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SITE_FUNCTION "dormant_site_"
#define DEPTH_MAX     32 /* of namespaces and types */

struct source_lines {
	struct elf_file *file;
	Dwfl *dwfl; /* NULL where libdw can not use the file */
	Dwfl_Module *module;
	Dwarf_Addr bias; /* libdw's address - the file's */

	/* Of the last place: the next is likely to be in the same. */
	Dwarf_Die *unit;
	Dwarf_Addr unit_bias;
	Dwarf_Die function;
	bool has_function;
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool open_module(struct source_lines *lines)
{
	int fd = dup(lines->file->fd);
	GElf_Addr bias;

	if (fd < 0)
		return false;
	lines->module = dwfl_report_offline(lines->dwfl, lines->file->path, lines->file->path, fd);
	if (!lines->module) {
		close(fd);
		return false;
	}
	dwfl_report_end(lines->dwfl, NULL, NULL);
	if (!dwfl_module_getelf(lines->module, &bias))
		return false;
	lines->bias = bias;
	return true;
}

struct source_lines *source_lines_open(struct elf_file *file)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	lines->file = file;
	lines->dwfl = dwfl_begin(&callbacks);
	if (lines->dwfl && !open_module(lines)) {
		dwfl_end(lines->dwfl);
		lines->dwfl = NULL;
	}
	return lines;
}

void source_lines_close(struct source_lines *lines)
{
	if (lines && lines->dwfl)
		dwfl_end(lines->dwfl);
	free(lines);
}

/* ---- one place ---- */

static void find_line(Dwarf_Die *unit, Dwarf_Addr address, struct source_place *place)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);

	if (!line || dwarf_lineno(line, &place->line) != 0)
		return;
	place->file = dwarf_linesrc(line, NULL, NULL);
}

/* The place that an inlined function was called from. */
static void take_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct source_place *place)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	size_t count;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) != 0 ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) != 0 ||
	    dwarf_getsrcfiles(unit, &files, &count) != 0 || file >= count)
		return;
	place->file = dwarf_filesrc(files, file, NULL, NULL);
	place->line = (int)line;
}

static bool holds_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block;
}

static bool holds_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* Forwards only: a damaged file can not make a loop. */
static bool next_sibling(Dwarf_Die *die)
{
	const void *before = die->addr;

	return dwarf_siblingof(die, die) == 0 && (const char *)die->addr > (const char *)before;
}

/* Finds the function that holds @address, among the children of @parent and of its namespaces. */
static bool find_function(Dwarf_Die *parent, Dwarf_Addr address, int depth, Dwarf_Die *function)
{
	Dwarf_Die child;

	if (depth == 0 || dwarf_child(parent, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) {
			*function = child;
			return true;
		}
		if (holds_functions(tag) && find_function(&child, address, depth - 1, function))
			return true;
	} while (next_sibling(&child));
	return false;
}

/* Follows the scopes of a function that hold @address inwards: the last inlined function counts. */
static void follow_scopes(Dwarf_Die *unit, Dwarf_Die *scope, Dwarf_Addr address,
			  struct source_place *place)
{
	Dwarf_Die child;
	bool found = dwarf_child(scope, &child) == 0;

	while (found) {
		int tag = dwarf_tag(&child);
		const char *name;

		if (!holds_code(tag) || dwarf_haspc(&child, address) <= 0) {
			found = next_sibling(&child);
			continue;
		}
		name = tag == DW_TAG_inlined_subroutine ? dwarf_diename(&child) : NULL;
		if (name && strcmp(name, SITE_FUNCTION) == 0)
			take_call(unit, &child, place);
		else if (name)
			place->inlined = name;
		found = dwarf_child(&child, &child) == 0;
	}
}

/* ---- finding it ---- */

/* The unit that holds libdw's @address; clang writes no index of them. */
static bool find_unit(struct source_lines *lines, Dwarf_Addr address)
{
	Dwarf_Die *unit = lines->unit;

	if (unit && dwarf_haspc(unit, address - lines->unit_bias) > 0)
		return true;
	lines->has_function = false;
	unit = dwfl_module_addrdie(lines->module, address, &lines->unit_bias);
	if (!unit)
		do
			unit = dwfl_module_nextcu(lines->module, unit, &lines->unit_bias);
		while (unit && dwarf_haspc(unit, address - lines->unit_bias) <= 0);
	lines->unit = unit;
	return unit != NULL;
}

static void find_place(struct source_lines *lines, Dwarf_Addr address, struct source_place *place)
{
	find_line(lines->unit, address, place);
	if (!lines->has_function || dwarf_haspc(&lines->function, address) <= 0)
		lines->has_function = find_function(lines->unit, address, DEPTH_MAX,
						    &lines->function);
	if (!lines->has_function)
		return;
	place->function = dwarf_diename(&lines->function);
	follow_scopes(lines->unit, &lines->function, address, place);
}

void source_lines_find(struct source_lines *lines, uint64_t address, struct source_place *place)
{
	uint64_t offset;

	*place = (struct source_place){0};
	if (lines && lines->dwfl && find_unit(lines, address + lines->bias))
		find_place(lines, address + lines->bias - lines->unit_bias, place);
	if (lines && !place->function)
		place->function = elf_file_function(lines->file, address, &offset);
}
