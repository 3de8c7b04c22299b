/* SPDX-License-Identifier: MIT */
/*
 * The checker that the tests of this folder rest on: it asserts what holds for the tables of a
 * linked file, and prints facts, one a line, for the scripts to compare.
 *
 *     site_check table FILE      checks every entry of every table; prints a line of totals
 *     site_check sites FILE      prints "FUNCTION NAME FLAGS" for each site, in the table's order
 *     site_check operands FILE   prints "FUNCTION NAME WHAT" for each value and call; see
 *                                operand_check.h
 *
 * Exit status: 0 all right, 1 something is wrong (a line on standard error says what), 2 could not
 * be checked.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dormant/static_key.h>

#include "elf_image.h"
#include "expect.h"
#include "operand_check.h"
#include "site_code.h"

static const char *function_name(const struct image *image, uint64_t address)
{
	const struct image_function *function = image_function_at(image, address);

	return function ? function->name : "?";
}

static void check_site(const struct image *image, const struct image_site *site)
{
	const struct image_section *code = image_section_at(image, site->code, DORMANT_SITE_BYTES);
	const struct image_section *pointer = image_section_at(image, site->key_pointer,
							       sizeof(void *));
	const char *where = function_name(image, site->code);
	const char *fault = site_fault(image, site);

	expect(!fault, "%s %s: %s", where, site->name, fault);
	expect(code->flags & SHF_EXECINSTR, "%s %s: lies in %s", where, site->name, code->name);
	expect(pointer && !(pointer->flags & SHF_EXECINSTR) && strcmp(pointer->name, ".bss") != 0,
	       "%s %s: its key pointer is at %#jx", where, site->name,
	       (uintmax_t)site->key_pointer);
	expect(!(site->flags & ~(unsigned)(DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP)),
	       "%s %s: flags %#x", where, site->name, site->flags);
}

static int compare_addresses(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* No two entries for one instruction: the second would be an entry whose site is gone. */
static void check_distinct(const struct image *image)
{
	size_t count = image_site_count(image);
	uint64_t *codes = calloc(count + 1, sizeof(*codes));

	if (!codes)
		die("no memory");
	for (size_t i = 0; i < count; i++)
		codes[i] = image_site(image, i)->code;
	qsort(codes, count, sizeof(*codes), compare_addresses);
	for (size_t i = 1; i < count; i++)
		expect(codes[i - 1] + DORMANT_SITE_BYTES <= codes[i], "two sites overlap at %#jx",
		       (uintmax_t)codes[i]);
	free(codes);
}

static void check_table(const struct image *image)
{
	const struct image_section *table = image_section_find(image, "dormant_sites");
	const struct image_section *keys = image_section_find(image, "dormant_keys");
	struct image_relocations relocations = image_relocations(image);
	uintmax_t key_bytes = keys ? keys->size : 0;

	for (size_t i = 0; i < image_site_count(image); i++)
		check_site(image, image_site(image, i));
	check_distinct(image);
	expect(!table || !(table->flags & (SHF_WRITE | SHF_EXECINSTR)),
	       "dormant_sites is not read-only");
	expect(key_bytes % sizeof(struct dormant_key_entry) == 0, "dormant_keys has %ju bytes",
	       key_bytes);
	expect(!relocations.inside_tables, "%zu relocations inside a table of sites",
	       relocations.inside_tables);
	expect(!relocations.inside_text && !relocations.text_relocation,
	       "%zu relocations of code, TEXTREL %d", relocations.inside_text,
	       relocations.text_relocation);
	check_operands(image);
	printf("sites=%zu table_bytes=%ju keys=%ju relative=%zu symbolic=%zu",
	       image_site_count(image), (uintmax_t)(table ? table->size : 0),
	       key_bytes / sizeof(struct dormant_key_entry), relocations.relative,
	       relocations.symbolic);
	print_operand_totals(image);
	putchar('\n');
}

static void print_sites(const struct image *image)
{
	for (size_t i = 0; i < image_site_count(image); i++) {
		const struct image_site *site = image_site(image, i);

		printf("%s %s %s%s\n", function_name(image, site->code), site->name,
		       site->flags & DORMANT_SITE_LIKELY ? "likely" : "unlikely",
		       site->flags & DORMANT_SITE_JUMP ? ",jump" : "");
	}
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";
	struct image *image;

	if (argc != 3)
		die("usage: site_check table FILE | sites FILE | operands FILE");
	image = image_open(argv[2]);
	if (!strcmp(command, "table"))
		check_table(image);
	else if (!strcmp(command, "sites"))
		print_sites(image);
	else if (!strcmp(command, "operands"))
		print_operands(image);
	else
		die("unknown command %s", command);
	image_close(image);
	return expect_failures() > 0;
}
