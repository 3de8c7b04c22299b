/* SPDX-License-Identifier: MIT */
/*
 * The checks of a running process: each site's text against its file and its key.
 *
 *     first byte     the jump if and only if the key's state is not the likely one
 *     other four     as in the file
 *
 * The process goes on running, so a key and its site can not be read at one moment. A site is right
 * when one of several looks found it in agreement; while a key's count is negative the library is
 * switching it, and either instruction is right.
 */
#include <dormant/static_key.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "verify.h"

#define LOOKS    50
#define PAUSE_NS (2 * 1000 * 1000L)

/* One object in the process. */
struct instance {
	const struct process *process;
	const struct mapping *mapping; /* its first page */
	const struct site_table *table;
	uint64_t bias;
};

/* One look at a site; what is wrong, or NULL. */
struct look {
	uint8_t bytes[DORMANT_SITE_BYTES];
	uint8_t expected; /* first byte; 0 while unknown */
	const char *wrong;
};

/* ---- one site ---- */

/* Where the key of a site is in the process; checks the pointer against the file. */
static const char *find_key(const struct instance *instance, const struct site *site,
			    uint64_t *address)
{
	const struct mapping *mapping;

	if (!process_read(instance->process, site->pointer + instance->bias, address,
			  sizeof(*address)))
		return "its key pointer is not mapped";
	mapping = process_mapping(instance->process, *address);
	if (!mapping || !mapping->writable)
		return "its key pointer points to no writable memory";
	return NULL;
}

static void look_at_site(const struct instance *instance, const struct site *site,
			 struct look *look)
{
	struct static_key before, after;
	uint64_t key;

	*look = (struct look){.wrong = find_key(instance, site, &key)};
	if (look->wrong)
		return;
	if (!process_read(instance->process, key, &before, sizeof(before)) ||
	    !process_read(instance->process, site->address + instance->bias, look->bytes,
			  sizeof(look->bytes)) ||
	    !process_read(instance->process, key, &after, sizeof(after))) {
		look->wrong = "it can not be read any more";
		return;
	}
	if (before.enabled == after.enabled && before.enabled >= 0)
		look->expected = (before.enabled > 0) != site->likely ? DORMANT_SITE_OPCODE_ON
								      : DORMANT_SITE_OPCODE_OFF;
	if (!site_byte_is_legal(look->bytes[0]))
		look->wrong = "not a site's instruction: a breakpoint, a probe or another hook; "
			      "remove it";
	else if (memcmp(look->bytes + 1, site->bytes + 1, sizeof(look->bytes) - 1) != 0)
		look->wrong = "the jump's distance is not that of the file";
	else if (look->expected && look->bytes[0] != look->expected)
		look->wrong = "the instruction does not agree with the key";
}

static void report_look(struct verification *verification, const struct instance *instance,
			const struct site *site, const struct look *look)
{
	struct finding *finding = findings_add(&verification->findings, "%s", look->wrong);
	uint8_t expected[DORMANT_SITE_BYTES];

	finding->has_address = true;
	finding->address = site->address + instance->bias;
	site_describe(instance->table, site, finding);
	if (!look->bytes[0])
		return;
	memcpy(expected, site->bytes, sizeof(expected));
	if (look->expected)
		expected[0] = look->expected;
	finding_print_bytes(finding->expected, sizeof(finding->expected), expected,
			    sizeof(expected));
	finding_print_bytes(finding->found, sizeof(finding->found), look->bytes,
			    sizeof(look->bytes));
}

/* ---- all sites of an object ---- */

static void pause_briefly(void)
{
	const struct timespec pause = {0, PAUSE_NS};

	nanosleep(&pause, NULL);
}

/* Looks again at the sites that were wrong until they are right or were wrong LOOKS times. */
static void verify_sites(const struct instance *instance, const struct site **suspects,
			 struct verification *verification)
{
	size_t count = instance->table->site_count;
	struct look look;

	for (size_t i = 0; i < count; i++)
		suspects[i] = &instance->table->sites[i];
	for (int round = 1; count > 0; round++) {
		size_t left = 0;

		for (size_t i = 0; i < count; i++) {
			look_at_site(instance, suspects[i], &look);
			if (!look.wrong)
				continue;
			if (round == LOOKS)
				report_look(verification, instance, suspects[i], &look);
			suspects[left++] = suspects[i];
		}
		count = round == LOOKS ? 0 : left;
		if (count > 0)
			pause_briefly();
	}
}

static bool is_object(const struct process *process, const struct mapping *mapping)
{
	char magic[SELFMAG];

	return mapping->inode != 0 && mapping->offset == 0 &&
	       process_read(process, mapping->start, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Takes back what was found in an object that was unloaded, or whose process ended, meanwhile. */
static void forget_last(struct verification *verification)
{
	struct findings *findings = &verification->findings;

	findings->count = verification->objects[--verification->object_count].first_finding;
	if (findings->stored > findings->count)
		findings->stored = findings->count;
}

static int verify_instance(const struct instance *instance, const char *note,
			   struct verification *verification)
{
	const struct site_table *table = instance->table;
	const struct site **suspects = calloc(table->site_count + 1, sizeof(*suspects));
	struct verified_object *object = verification_add(verification, table, instance->bias);

	if (!object || !suspects) {
		free(suspects);
		return -ENOMEM;
	}
	snprintf(object->note, sizeof(object->note), "%s", note);
	verify_sites(instance, suspects, verification);
	verification_count(verification);
	if (!is_object(instance->process, instance->mapping))
		forget_last(verification);
	free(suspects);
	return 0;
}

/* ---- all objects of a process ---- */

static int verify_object(struct process *process, const struct mapping *mapping, uint64_t *end,
			 struct verification *verification, struct remote_error *error)
{
	struct instance instance = {.process = process, .mapping = mapping};
	struct site_table *table = NULL;
	struct elf_file *file;
	char note[128];
	int result = process_open_object(process, mapping, &file, note, sizeof(note), error);

	if (result != 0)
		return result;
	if (process_object_place(process, mapping, file, &instance.bias, end)) {
		result = site_table_read(&table, file, error);
		if (result == 0) {
			instance.table = table;
			result = verify_instance(&instance, note, verification);
		}
		if (result == -ENODATA)
			result = 0;
	}
	site_table_free(table);
	elf_file_close(file);
	return result;
}

/* Programs for 32 bits and the like are no failure: they have no keys that this could read. */
static bool is_foreign(const struct process *process, const struct mapping *mapping)
{
	Elf64_Ehdr header;

	return process_read(process, mapping->start, &header, sizeof(header)) &&
	       (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
		(header.e_type != ET_EXEC && header.e_type != ET_DYN));
}

int verify_process(struct process *process, struct verification *verification,
		   struct remote_error *error)
{
	uint64_t end = 0; /* of the last object */

	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct mapping *mapping = &process->mappings[i];
		struct remote_error failure;

		/* A small file's first page is mapped again as its code and as its data. */
		if (mapping->start < end)
			continue;
		if (!is_object(process, mapping) || is_foreign(process, mapping))
			continue;
		if (verify_object(process, mapping, &end, verification, &failure) == 0)
			continue;
		if (verification->unread++ == 0)
			verification->first = failure;
	}
	if (!process_is_there(process))
		return remote_error_set(
			error, -ESRCH,
			"process %d: ended, or started another program, while it was "
			"looked at; try again",
			process->pid);
	if (verification->object_count > 0)
		return 0;
	if (verification->unread > 0) {
		if (error)
			*error = verification->first;
		return -EACCES;
	}
	return remote_error_set(error, -ENODATA,
				"process %d: no object in it has keys; start a program that was "
				"built with <dormant/static_key.h>",
				process->pid);
}
