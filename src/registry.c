/* SPDX-License-Identifier: MIT */
/* The objects of the process and their sites; see registry.h. */
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "error.h"
#include "memory.h"
#include "registry.h"

static struct dormant_object *objects;

/* ---- one site ---- */

uintptr_t registry_follow(const int32_t *word, int32_t flags)
{
	return (uintptr_t)word + (uintptr_t)(intptr_t)(*word & ~flags);
}

struct site registry_site(const struct dormant_site *entry)
{
	const int32_t flags = DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP;
	struct site site = {
		.code = registry_follow(&entry->code, 0),
		.key = *(struct static_key *const *)registry_follow(&entry->key, flags),
		.likely = (entry->key & DORMANT_SITE_LIKELY) != 0,
		.jumps_in_file = (entry->key & DORMANT_SITE_JUMP) != 0,
		.name = (const char *)registry_follow(&entry->name, 0),
	};

	return site;
}

/* ---- objects ---- */

struct place {
	uintptr_t address;
	struct object_state *state;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct place *place = data;
	uintptr_t begin = UINTPTR_MAX, end = 0;
	bool holds = false; /* not begin to end: another object may lie in a gap between segments */

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		begin = start < begin ? start : begin;
		end = start + header->p_memsz > end ? start + header->p_memsz : end;
		holds = holds || place->address - start < header->p_memsz;
	}
	if (!holds)
		return 0;
	place->state->begin = begin;
	place->state->end = end;
	place->state->bias = info->dlpi_addr;
	place->state->path = info->dlpi_name;
	return 1;
}

void registry_locate(struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	struct place place = {(uintptr_t)object, state};

	(void)dl_iterate_phdr(match_object, &place);
	if (state->path == NULL || state->path[0] == '\0') /* the executable has no name there */
		state->path = (const char *)getauxval(AT_EXECFN);
	if (state->path == NULL)
		state->path = "the executable";
}

static bool is_inside(const struct object_state *state, uintptr_t address, size_t bytes)
{
	return address >= state->begin && address <= state->end && state->end - address >= bytes;
}

static bool is_site_inside(const struct object_state *state, const struct dormant_site *entry)
{
	uintptr_t pointer = registry_follow(&entry->key, DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP);

	return is_inside(state, registry_follow(&entry->code, 0), sizeof(int32_t) + 1) &&
	       is_inside(state, pointer, sizeof(struct static_key *)) &&
	       pointer % sizeof(struct static_key *) == 0;
}

/* The longest instruction of an operand site has 13 bytes; a value's load is looked at as well. */
static bool is_operand_inside(const struct object_state *state, const struct dormant_operand *entry)
{
	uintptr_t pointer = registry_follow(&entry->owner, DORMANT_OPERAND_KIND_MASK);
	int kind = entry->owner & DORMANT_OPERAND_KIND_MASK;

	return kind <= DORMANT_OPERAND_HOME &&
	       is_inside(state, registry_follow(&entry->code, 0), 13) &&
	       is_inside(state, pointer, sizeof(void *)) && pointer % sizeof(void *) == 0 &&
	       (kind > DORMANT_OPERAND_VALUE8 ||
		is_inside(state, registry_follow(&entry->home, 0), sizeof(int32_t)));
}

static int refuse_entry(const struct object_state *state, const char *table, size_t number,
			struct dormant_error *error)
{
	error_begin(error, DORMANT_PHASE_OBJECT, -ENOEXEC);
	if (error != NULL)
		text_append(error->object, sizeof(error->object), state->path);
	error_text(error, state->path);
	error_text(error, ": entry ");
	error_number(error, number);
	error_text(error, " of ");
	error_text(error, table);
	error_text(error, " points outside the object; its keys do not switch. Run `dormant "
			  "verify` on the file and link it again");
	return -ENOEXEC;
}

int registry_check(struct dormant_object *object, struct dormant_error *error)
{
	const struct object_state *state = object_state(object);

	for (const struct dormant_site *entry = object->sites; entry < object->sites_end; entry++) {
		if (!is_site_inside(state, entry))
			return refuse_entry(state, "dormant_sites", (size_t)(entry - object->sites),
					    error);
	}
	for (const struct dormant_operand *entry = object->operands; entry < object->operands_end;
	     entry++) {
		if (!is_operand_inside(state, entry))
			return refuse_entry(state, "dormant_operands",
					    (size_t)(entry - object->operands), error);
	}
	return 0;
}

void registry_add(struct dormant_object *object)
{
	object_state(object)->next = objects;
	objects = object;
}

void registry_remove(struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	struct dormant_object **link = &objects;

	while (*link != NULL && *link != object)
		link = &object_state(*link)->next;
	if (*link != NULL)
		*link = state->next;
	memory_unmap(state->index, state->index_count * sizeof(*state->index));
	state->index = NULL;
	state->index_count = 0;
}

struct dormant_object *registry_first(void)
{
	return objects;
}

struct dormant_object *registry_next(struct dormant_object *object)
{
	return object_state(object)->next;
}

bool registry_has(const struct dormant_object *object)
{
	struct dormant_object *other = objects;

	while (other != NULL && other != object)
		other = registry_next(other);
	return other != NULL;
}

struct dormant_object *registry_without_table(void)
{
	struct dormant_object *object = objects;

	while (object != NULL &&
	       (object->sites_built == NULL || object->sites != object->sites_end))
		object = registry_next(object);
	return object;
}

struct dormant_object *registry_object_at(uintptr_t address)
{
	struct dormant_object *object = objects;

	while (object != NULL && !object_covers(object_state(object), (const void *)address))
		object = registry_next(object);
	return object;
}

/* ---- sites of a key ---- */

static int build_index(struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	size_t count = (size_t)(object->sites_end - object->sites);
	struct word_pair *index = memory_map(count * sizeof(*index));

	if (index == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct site site = registry_site(&object->sites[i]);

		index[i].first = (uintptr_t)site.key | (site.likely ? DORMANT_SITE_LIKELY : 0);
		index[i].second = site.code;
	}
	sort_pairs(index, count);
	state->index_count = count;
	/* last: a child of clone() may inherit this half done */
	__atomic_store_n(&state->index, index, __ATOMIC_RELEASE);
	return 0;
}

int registry_sites(struct dormant_object *object, const struct static_key *key,
		   const struct word_pair **run, size_t *count)
{
	struct object_state *state = object_state(object);
	size_t first, end;
	int result;

	*count = 0;
	if (state->refused != 0 || object->sites == object->sites_end)
		return 0;
	if (state->index == NULL) {
		result = build_index(object);
		if (result != 0)
			return result;
	}
	first = sort_find(state->index, state->index_count, (uintptr_t)key);
	end = sort_find(state->index, state->index_count, (uintptr_t)(key + 1));
	*run = &state->index[first];
	*count = end - first;
	return 0;
}

/* ---- names ---- */

/* The definition of @key in the object, or NULL. */
static const struct dormant_key_entry *find_definition(const struct dormant_object *object,
						       const void *key)
{
	const struct dormant_key_entry *entry = object->keys;

	for (; entry < object->keys_end; entry++) {
		size_t elements = entry->count == 0 ? 1 : entry->count;

		if ((uintptr_t)key - (uintptr_t)entry->key < elements * sizeof(struct static_key))
			return entry;
	}
	return NULL;
}

static void name_from_definition(const struct dormant_key_entry *entry, const void *key, char *name,
				 size_t size)
{
	text_append(name, size, entry->name);
	if (entry->count != 0) {
		uintptr_t offset = (uintptr_t)key - (uintptr_t)entry->key;

		text_append(name, size, "[");
		text_append_number(name, size, offset / sizeof(struct static_key), 10);
		text_append(name, size, "]");
	}
}

static const struct dormant_site *find_site(struct dormant_object *object, uintptr_t code,
					    const void *key)
{
	const struct dormant_site *entry = object->sites;

	if (object_state(object)->refused != 0)
		return NULL;
	for (; entry < object->sites_end; entry++) {
		struct site site = registry_site(entry);

		if (site.code == code || site.key == key)
			return entry;
	}
	return NULL;
}

/* The name that a site of @key gives it, or NULL. */
static const char *name_from_site(struct dormant_object *object, const void *key)
{
	const struct dormant_site *site = find_site(object, 0, key);
	const struct dormant_operand *operand = object->operands;

	if (site != NULL)
		return registry_site(site).name;
	for (; object_state(object)->refused == 0 && operand < object->operands_end; operand++) {
		uintptr_t owner = registry_follow(&operand->owner, DORMANT_OPERAND_KIND_MASK);

		if (operand->name != 0 && *(void *const *)owner == key)
			return (const char *)registry_follow(&operand->name, 0);
	}
	return NULL;
}

void registry_key_name(const void *key, char *name, size_t size)
{
	struct dormant_object *object;

	name[0] = '\0';
	for (object = objects; object != NULL; object = registry_next(object)) {
		const struct dormant_key_entry *entry = find_definition(object, key);

		if (entry != NULL) {
			name_from_definition(entry, key, name, size);
			return;
		}
	}
	for (object = objects; object != NULL; object = registry_next(object)) {
		const char *text = name_from_site(object, key);

		if (text != NULL) {
			text_append(name, size, text[0] == '&' ? text + 1 : text);
			return;
		}
	}
}

/* The definition of @key in any object, or NULL. */
static const struct dormant_key_entry *find_anywhere(const void *key)
{
	const struct dormant_key_entry *entry = NULL;
	struct dormant_object *object;

	for (object = objects; object != NULL && entry == NULL; object = registry_next(object))
		entry = find_definition(object, key);
	return entry;
}

size_t registry_value_bytes(const void *value)
{
	const struct dormant_key_entry *entry = find_anywhere(value);

	return entry == NULL || DORMANT_KEY_KIND(entry->flags) != DORMANT_KEY_KIND_IMV
		       ? 0
		       : DORMANT_KEY_BYTES(entry->flags);
}

/* "key ", "value " or "static call ", by the definition. */
static const char *kind_of(const void *key)
{
	static const char *const kinds[] = {"key ", "value ", "static call "};
	const struct dormant_key_entry *entry = find_anywhere(key);
	unsigned kind = entry == NULL ? DORMANT_KEY_KIND_KEY : DORMANT_KEY_KIND(entry->flags);

	return kinds[kind <= DORMANT_KEY_KIND_CALL ? kind : DORMANT_KEY_KIND_KEY];
}

void registry_name_key(const void *key, struct dormant_error *error)
{
	if (error == NULL)
		return;
	error->key = key;
	error->key_name[0] = '\0';
	if (key != NULL)
		registry_key_name(key, error->key_name, sizeof(error->key_name));
	error_text(error, kind_of(key));
	error_text(error, error->key_name[0] == '\0' ? "?" : error->key_name);
}

struct static_key *registry_site_key(uintptr_t code)
{
	struct dormant_object *object = registry_object_at(code);
	const struct dormant_site *entry = object == NULL ? NULL : find_site(object, code, NULL);

	return entry == NULL ? NULL : registry_site(entry).key;
}
