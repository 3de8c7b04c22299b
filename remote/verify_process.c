/* SPDX-License-Identifier: MIT */
/*
 * The checks of a running process: each site's text against its file and its key.
 *
 *     first byte     the jump if and only if the key's state is not the likely one
 *     other four     as in the file
 *
 * and each operand site's: as in the file, or with the present value or function in it.
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
	const struct process_objects *objects;
	const struct process *process;
	const struct process_object *object;
	const struct site_table *table;
	uint64_t bias;
	struct verified_object *verified;
	size_t *suspects; /* as many as the object has sites of either sort */
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
	site_describe(instance->table, site->address, site->key, finding);
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

/* Whether the site of that index is right at one look. Reports it, where @verification is given. */
typedef bool check_fn(const struct instance *instance, size_t index,
		      struct verification *verification);

static bool check_site(const struct instance *instance, size_t index,
		       struct verification *verification)
{
	const struct site *site = &instance->table->sites[index];
	struct look look;

	look_at_site(instance, site, &look);
	if (look.wrong && verification)
		report_look(verification, instance, site, &look);
	return !look.wrong;
}

/* Looks again at the sites that were wrong until they are right or were wrong LOOKS times. */
static void verify_sites(const struct instance *instance, size_t count, check_fn *check,
			 struct verification *verification)
{
	size_t *suspects = instance->suspects;

	for (size_t i = 0; i < count; i++)
		suspects[i] = i;
	for (int round = 1; count > 0; round++) {
		bool last = round == LOOKS;
		size_t left = 0;

		for (size_t i = 0; i < count; i++)
			if (!check(instance, suspects[i], last ? verification : NULL))
				suspects[left++] = suspects[i];
		count = last ? 0 : left;
		if (count > 0)
			pause_briefly();
	}
}

/* ---- operand sites ---- */

static void report_sight(struct verification *verification, const struct instance *instance,
			 const struct operand *operand, const struct operand_sight *sight)
{
	struct finding *finding = findings_add(&verification->findings, "%s", sight->wrong);

	finding->has_address = true;
	finding->address = operand->address + instance->bias;
	site_describe(instance->table, operand->address, operand->key, finding);
	finding_print_bytes(finding->expected, sizeof(finding->expected), sight->expected,
			    sight->expected_bytes);
	finding_print_bytes(finding->found, sizeof(finding->found), sight->bytes,
			    sight->bytes_read);
}

static bool check_operand(const struct instance *instance, size_t index,
			  struct verification *verification)
{
	const struct operand *operand = &instance->table->operands.list[index];
	struct verified_object *object = instance->verified;
	struct operand_sight sight;

	verify_operand(instance->objects, instance->object, operand, &sight);
	if (sight.wrong && verification)
		report_sight(verification, instance, operand, &sight);
	if (sight.wrong)
		return false;
	object->by_memory += operand_is_value(operand) && sight.form == OPERAND_BY_MEMORY;
	object->by_trampoline += sight.form == OPERAND_BY_TRAMPOLINE;
	return true;
}

/* ---- all objects of a process ---- */

/* Takes back what was found in an object that was unloaded, or whose process ended, meanwhile. */
static void forget_last(struct verification *verification)
{
	struct findings *findings = &verification->findings;

	findings->count = verification->objects[--verification->object_count].first_finding;
	if (findings->stored > findings->count)
		findings->stored = findings->count;
}

static int verify_object(const struct process_objects *objects, const struct process_object *object,
			 struct verification *verification)
{
	const struct site_table *table = object->table;
	struct instance instance = {
		.objects = objects,
		.process = objects->process,
		.object = object,
		.table = table,
		.bias = object->bias,
		.suspects = calloc(table->site_count + table->operands.count + 1, sizeof(size_t)),
	};

	if (instance.suspects)
		instance.verified = verification_add(verification, table, object->bias);
	if (!instance.verified) {
		free(instance.suspects);
		return -ENOMEM;
	}
	snprintf(instance.verified->note, sizeof(instance.verified->note), "%s", object->note);
	verify_sites(&instance, table->site_count, check_site, verification);
	verify_sites(&instance, table->operands.count, check_operand, verification);
	verification_count(verification);
	if (!process_object_is_there(objects, object))
		forget_last(verification);
	free(instance.suspects);
	return 0;
}

int verify_process(struct process_objects *objects, struct verification *verification,
		   struct remote_error *error)
{
	const struct process *process = objects->process;

	for (size_t i = 0; i < objects->count; i++)
		if (objects->list[i].table &&
		    verify_object(objects, &objects->list[i], verification) != 0)
			return remote_error_set(error, -ENOMEM, "process %d: no memory",
						process->pid);
	if (!process_is_there(process))
		return process_refuse_gone(process, error);
	return 0;
}
