/* SPDX-License-Identifier: MIT */
/*
 * The keys, values and calls of a process as they are now. Where one is comes from a pointer of the
 * process itself: the dynamic linker may have chosen another object's.
 */
#include <dormant/object.h>
#include <dormant/static_call.h>
#include <dormant/static_key.h>
#include <inttypes.h>
#include <stdio.h>

#include "process_objects.h"

bool process_key_address(const struct process_objects *objects, const struct process_object *object,
			 const struct key *key, uint64_t *address)
{
	if (!process_read(objects->process, key->pointer + object->bias, address,
			  sizeof(*address)) ||
	    *address == 0)
		return false;
	*address += key->element * sizeof(struct static_key);
	return true;
}

/* A value of @bytes at @address, or the function of the static call there where that is 0. */
static bool read_bits(const struct process *process, uint64_t address, unsigned int bytes,
		      uint64_t *bits)
{
	*bits = 0;
	if (bytes > 0)
		return process_read(process, address, bits, bytes);
	return process_read(process, address + offsetof(struct static_call, function), bits,
			    sizeof(*bits));
}

bool process_key_bits(const struct process_objects *objects, const struct process_object *object,
		      const struct key *key, uint64_t *bits)
{
	uint64_t address;

	return process_key_address(objects, object, key, &address) &&
	       read_bits(objects->process, address, key->kind == KEY_VALUE ? key->bytes : 0, bits);
}

bool process_operand_bits(const struct process_objects *objects,
			  const struct process_object *object, const struct operand *operand,
			  uint64_t *bits)
{
	uint64_t address;

	return process_read(objects->process, operand->pointer + object->bias, &address,
			    sizeof(address)) &&
	       read_bits(objects->process, address, operand_value_bytes(operand->kind), bits);
}

static void print_state(char text[KEY_TEXT_BYTES], const struct process_objects *objects,
			const struct process_object *object, const struct key *key)
{
	struct static_key state;
	uint64_t address;

	if (!process_key_address(objects, object, key, &address) ||
	    !process_read(objects->process, address, &state, sizeof(state)))
		snprintf(text, KEY_TEXT_BYTES, "-");
	else
		snprintf(text, KEY_TEXT_BYTES, "%s", state.enabled > 0 ? "on" : "off");
}

const struct key *process_key_definition(const struct process_objects *objects,
					 const struct process_object *object, const struct key *key)
{
	uint64_t wanted, address;

	if (key->defined || !process_key_address(objects, object, key, &wanted))
		return key;
	for (size_t i = 0; i < objects->count; i++) {
		const struct process_object *other = &objects->list[i];

		for (size_t j = 0; other->table && j < other->table->keys.count; j++) {
			const struct key *candidate = &other->table->keys.keys[j];

			if (candidate->defined && candidate->kind == key->kind &&
			    process_key_address(objects, other, candidate, &address) &&
			    address == wanted)
				return candidate;
		}
	}
	return key;
}

static void print_call(char text[KEY_TEXT_BYTES], struct process_objects *objects,
		       uint64_t function)
{
	if (function == 0)
		snprintf(text, KEY_TEXT_BYTES, "nothing");
	else if (!process_objects_name(objects, function, text, KEY_TEXT_BYTES))
		snprintf(text, KEY_TEXT_BYTES, "0x%" PRIx64, function);
}

void process_key_text(char text[KEY_TEXT_BYTES], struct process_objects *objects,
		      const struct process_object *object, const struct key *key)
{
	const struct key *definition;
	char name[KEY_TEXT_BYTES];
	uint64_t bits;
	bool named;

	if (key_use(key) == KEY_USED_AS_KEY) {
		print_state(text, objects, object, key);
	} else if (!process_key_bits(objects, object, key, &bits)) {
		snprintf(text, KEY_TEXT_BYTES, "-");
	} else if (key->kind == KEY_CALL) {
		print_call(text, objects, bits);
	} else {
		definition = process_key_definition(objects, object, key);
		named = definition->type_class == DORMANT_KEY_CLASS_POINTER &&
			process_objects_name(objects, bits, name, sizeof(name));
		key_value_text(text, definition->type_class, key->bytes, bits, named ? name : NULL);
	}
}
