/* SPDX-License-Identifier: MIT */
/* What was verified, and what was found wrong with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify.h"

static void take_damage(struct findings *findings, const struct findings *damage, uint64_t bias)
{
	for (size_t i = 0; i < damage->stored; i++) {
		struct finding *finding = findings_add(findings, "%s", "");

		*finding = damage->list[i];
		finding->address += bias;
	}
	findings->count += damage->count - damage->stored;
}

static void count_keys(const struct site_table *table, struct verified_object *object)
{
	for (size_t i = 0; i < table->keys.count; i++) {
		enum key_use use = key_use(&table->keys.keys[i]);

		object->keys += use == KEY_USED_AS_KEY;
		object->values += use == KEY_USED_AS_VALUE;
		object->calls += use == KEY_USED_AS_CALL;
	}
	for (size_t i = 0; i < table->operands.count; i++)
		object->sites += table->operands.list[i].kind != DORMANT_OPERAND_TRAMPOLINE;
}

struct verified_object *verification_add(struct verification *verification,
					 const struct site_table *table, uint64_t bias)
{
	struct verified_object *object = reallocarray(verification->objects,
						      verification->object_count + 1,
						      sizeof(*verification->objects));

	if (!object)
		return NULL;
	verification->objects = object;
	object += verification->object_count++;
	*object = (struct verified_object){
		.bias = bias,
		.sites = table->site_count,
		.first_finding = verification->findings.count,
	};
	snprintf(object->path, sizeof(object->path), "%s", table->file->path);
	count_keys(table, object);
	take_damage(&verification->findings, &table->damage, bias);
	return object;
}

void verification_count(struct verification *verification)
{
	struct verified_object *object = &verification->objects[verification->object_count - 1];
	struct findings *findings = &verification->findings;

	object->wrong = findings->count - object->first_finding;
	for (size_t i = object->first_finding; i < findings->stored; i++)
		findings->list[i].object = verification->object_count - 1;
}

void verification_free(struct verification *verification)
{
	free(verification->objects);
	findings_free(&verification->findings);
	*verification = (struct verification){0};
}
