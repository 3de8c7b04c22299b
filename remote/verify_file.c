/* SPDX-License-Identifier: MIT */
/*
 * The checks of a file: table against text.
 */
#include <dormant/object.h>
#include <dormant/static_key.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "verify.h"

__attribute__((format(printf, 4, 5))) static struct finding *
report_site(struct findings *findings, const struct site_table *table, const struct site *site,
	    const char *format, ...)
{
	struct finding *finding;
	va_list args;

	va_start(args, format);
	finding = site_report(findings, table, site->address, site->key, format, args);
	va_end(args);
	return finding;
}

static void check_opcode(const struct site_table *table, const struct site *site,
			 struct findings *findings)
{
	uint8_t expected = site->jumps ? DORMANT_SITE_OPCODE_ON : DORMANT_SITE_OPCODE_OFF;
	struct finding *finding;

	if (site->bytes[0] == expected)
		return;
	if (site_byte_is_legal(site->bytes[0])) {
		finding = report_site(findings, table, site,
				      "the file holds the other instruction than the table says; "
				      "it was rewritten after linking");
		finding_print_bytes(finding->expected, sizeof(finding->expected), &expected, 1);
	} else {
		finding = report_site(findings, table, site,
				      "not a site's instruction; the file was rewritten after "
				      "linking");
		snprintf(finding->expected, sizeof(finding->expected), "%02x or %02x",
			 DORMANT_SITE_OPCODE_OFF, DORMANT_SITE_OPCODE_ON);
	}
	finding_print_bytes(finding->found, sizeof(finding->found), site->bytes, 1);
}

static void check_pointer(struct site_table *table, const struct site *site,
			  struct findings *findings)
{
	struct elf_file *file = table->file;
	struct elf_pointer pointer;

	elf_file_pointer(file, site->pointer, &pointer);
	if (file->position_independent && !pointer.relocated)
		report_site(findings, table, site, "its key pointer has no relocation");
	if (file->position_independent && !elf_file_has(file, site->pointer, 8, PF_W))
		report_site(findings, table, site,
			    "its key pointer is not in data that can be relocated");
	if (key_use(site->key) != KEY_USED_AS_KEY)
		report_site(findings, table, site, "what it tests is no key");
	if (pointer.symbol)
		return;
	if (pointer.address % sizeof(int) != 0 ||
	    !elf_file_has(file, pointer.address, sizeof(struct static_key), PF_W))
		report_site(findings, table, site,
			    "its key is not in writable memory of the object");
}

static void check_overlap(const struct site_table *table, const struct site *before,
			  const struct site *site, struct findings *findings)
{
	uint64_t distance = site->address - before->address;

	if (distance == 0 && (site->key != before->key || site->likely != before->likely))
		report_site(
			findings, table, site,
			"two keys share this site (%s is the other); do not fold identical code",
			before->key->name);
	else if (distance > 0 && distance < DORMANT_SITE_BYTES)
		report_site(findings, table, site, "overlaps the site before it");
}

static void check_sites(struct site_table *table, struct findings *findings)
{
	for (size_t i = 0; i < table->site_count; i++) {
		const struct site *site = &table->sites[i];

		check_opcode(table, site, findings);
		if (!elf_file_has(table->file, site->target, 1, PF_X))
			report_site(findings, table, site,
				    "it would jump to 0x%" PRIx64 ", which is not code",
				    site->target);
		check_pointer(table, site, findings);
		if (i > 0)
			check_overlap(table, site - 1, site, findings);
	}
}

static void check_keys(const struct site_table *table, struct findings *findings)
{
	for (size_t i = 0; i < table->keys.count; i++) {
		const struct key *key = table->keys.by_name[i];
		struct finding *finding;

		if (key->kind != KEY_SINGLE && key->kind != KEY_ELEMENT)
			continue;
		if (key->initial == key->defined_true)
			continue;
		finding = findings_add(findings, "the key is defined as %s, but its memory says %s",
				       key->defined_true ? "TRUE" : "FALSE",
				       key->initial ? "on" : "off");
		finding->has_address = true;
		finding->address = key->address;
		finding->kind = "key";
		snprintf(finding->key, sizeof(finding->key), "%s", key->name);
	}
}

int verify_file(struct site_table *table, struct verification *verification)
{
	struct findings *findings = &verification->findings;

	if (!verification_add(verification, table, 0))
		return -ENOMEM;
	check_keys(table, findings);
	check_sites(table, findings);
	verify_file_operands(table, verification);
	verification_count(verification);
	return 0;
}
