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

/* A word of a table counts from its own address. */
static uintptr_t follow(const int32_t *word, int32_t flags)
{
	return (uintptr_t)word + (uintptr_t)(intptr_t)(*word & ~flags);
}

struct site registry_site(const struct dormant_site *entry)
{
	const int32_t flags = DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP;
	struct site site = {
		.code = follow(&entry->code, 0),
		.key = *(struct static_key *const *)follow(&entry->key, flags),
		.likely = (entry->key & DORMANT_SITE_LIKELY) != 0,
		.jumps_in_file = (entry->key & DORMANT_SITE_JUMP) != 0,
		.name = (const char *)follow(&entry->name, 0),
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

int registry_check(struct dormant_object *object, struct dormant_error *error)
{
	const struct object_state *state = object_state(object);
	const int32_t flags = DORMANT_SITE_LIKELY | DORMANT_SITE_JUMP;

	for (const struct dormant_site *entry = object->sites; entry < object->sites_end; entry++) {
		uintptr_t pointer = follow(&entry->key, flags);

		if (is_inside(state, follow(&entry->code, 0), sizeof(int32_t) + 1) &&
		    is_inside(state, pointer, sizeof(struct static_key *)) &&
		    pointer % sizeof(struct static_key *) == 0)
			continue;
		error_begin(error, DORMANT_PHASE_OBJECT, -ENOEXEC);
		if (error != NULL)
			text_append(error->object, sizeof(error->object), state->path);
		error_text(error, state->path);
		error_text(error, ": entry ");
		error_number(error, (uint64_t)(entry - object->sites));
		error_text(error, " of dormant_sites points outside the object; its keys do not "
				  "switch. Run `dormant verify` on the file and link it again");
		return -ENOEXEC;
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

/* The first entry of the index whose first word is not below @value. */
static size_t find_first(const struct object_state *state, uintptr_t value)
{
	size_t low = 0, high = state->index_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (state->index[middle].first < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	first = find_first(state, (uintptr_t)key);
	end = find_first(state, (uintptr_t)(key + 1));
	*run = &state->index[first];
	*count = end - first;
	return 0;
}

/* ---- names ---- */

static bool name_from_definition(const struct dormant_object *object, const struct static_key *key,
				 char *name, size_t size)
{
	for (const struct dormant_key_entry *entry = object->keys; entry < object->keys_end;
	     entry++) {
		size_t elements = entry->count == 0 ? 1 : entry->count;

		if (key < entry->key || key >= entry->key + elements)
			continue;
		text_append(name, size, entry->name);
		if (entry->count != 0) {
			text_append(name, size, "[");
			text_append_number(name, size, (uint64_t)(key - entry->key), 10);
			text_append(name, size, "]");
		}
		return true;
	}
	return false;
}

static const struct dormant_site *find_site(struct dormant_object *object, uintptr_t code,
					    const struct static_key *key)
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

void registry_key_name(const struct static_key *key, char *name, size_t size)
{
	struct dormant_object *object;

	name[0] = '\0';
	for (object = objects; object != NULL; object = registry_next(object)) {
		if (name_from_definition(object, key, name, size))
			return;
	}
	for (object = objects; object != NULL; object = registry_next(object)) {
		const struct dormant_site *entry = find_site(object, 0, key);

		if (entry != NULL) {
			const char *text = registry_site(entry).name;

			text_append(name, size, text[0] == '&' ? text + 1 : text);
			return;
		}
	}
}

void registry_name_key(const struct static_key *key, struct dormant_error *error)
{
	if (error == NULL)
		return;
	error->key = key;
	error->key_name[0] = '\0';
	if (key != NULL)
		registry_key_name(key, error->key_name, sizeof(error->key_name));
	error_text(error, "key ");
	error_text(error, error->key_name[0] == '\0' ? "?" : error->key_name);
}

struct static_key *registry_site_key(uintptr_t code)
{
	struct dormant_object *object = registry_object_at(code);
	const struct dormant_site *entry = object == NULL ? NULL : find_site(object, code, NULL);

	return entry == NULL ? NULL : registry_site(entry).key;
}
