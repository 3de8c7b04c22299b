/* SPDX-License-Identifier: MIT */
/*
 * Building the list of keys: everything is added as it is found, then sorted and merged.
 */
#include "key_list.h"

#include <dormant/object.h>
#include <dormant/static_call.h>
#include <dormant/static_key.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements of all arrays together; a table that claims more is damaged. */
#define KEYS_MAX ((size_t)1 << 22)

const char *key_kind_name(enum key_kind kind)
{
	static const char *const names[] = {
		[KEY_SINGLE] = "key",          [KEY_ELEMENT] = "element", [KEY_PLAIN] = "plain",
		[KEY_ELSEWHERE] = "elsewhere", [KEY_VALUE] = "value",     [KEY_CALL] = "call",
	};

	return names[kind];
}

enum key_use key_use(const struct key *key)
{
	return key->kind == KEY_VALUE  ? KEY_USED_AS_VALUE
	       : key->kind == KEY_CALL ? KEY_USED_AS_CALL
				       : KEY_USED_AS_KEY;
}

const char *key_use_name(enum key_use use)
{
	static const char *const names[] = {
		[KEY_USED_AS_KEY] = "key",
		[KEY_USED_AS_VALUE] = "value",
		[KEY_USED_AS_CALL] = "call",
	};

	return names[use];
}

static struct key *add_key(struct key_list *list)
{
	size_t room = list->room ? list->room * 2 : 64;
	struct key *keys = list->keys;

	if (list->count == list->room) {
		keys = reallocarray(list->keys, room, sizeof(*keys));
		if (!keys)
			return NULL;
		list->keys = keys;
		list->room = room;
	}
	memset(&keys[list->count], 0, sizeof(*keys));
	return &keys[list->count++];
}

static int initial_state(struct elf_file *file, const struct key *key)
{
	struct static_key initial;

	if (key_use(key) != KEY_USED_AS_KEY ||
	    !elf_file_initial(file, key->address, &initial, sizeof(initial)))
		return -1;
	return initial.enabled > 0;
}

/* ---- entries of dormant_keys ---- */

struct definition {
	uint64_t entry; /* address of the entry */
	uint64_t key;
	const char *name;
	uint32_t count;
	uint32_t flags;
};

/* What the flags say, or NULL where they are not defined. */
static const char *flags_damage(uint32_t flags)
{
	uint32_t bytes = DORMANT_KEY_BYTES(flags), type_class = DORMANT_KEY_CLASS(flags);
	bool good;

	switch (DORMANT_KEY_KIND(flags)) {
	case DORMANT_KEY_KIND_KEY:
		good = (flags & ~(uint32_t)DORMANT_KEY_TRUE) == 0;
		break;
	case DORMANT_KEY_KIND_IMV:
		good = (flags & 0xff) == 0 && type_class <= DORMANT_KEY_CLASS_POINTER &&
		       (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
		       (type_class != DORMANT_KEY_CLASS_POINTER || bytes == 8) &&
		       (type_class != DORMANT_KEY_CLASS_FLOAT || bytes >= 4) &&
		       (type_class != DORMANT_KEY_CLASS_BOOL || bytes == 1);
		break;
	case DORMANT_KEY_KIND_CALL:
		good = (flags & 0xff) == 0 && type_class == 0 && bytes == sizeof(void *);
		break;
	default:
		good = false;
	}
	return good ? NULL : "it has flags that are not defined";
}

/* Memory that a definition is about. */
static uint64_t definition_bytes(uint32_t count, uint32_t flags)
{
	switch (DORMANT_KEY_KIND(flags)) {
	case DORMANT_KEY_KIND_IMV:
		return DORMANT_KEY_BYTES(flags);
	case DORMANT_KEY_KIND_CALL:
		return sizeof(struct static_call);
	default:
		return (uint64_t)(count ? count : 1) * sizeof(struct static_key);
	}
}

static bool read_definition(struct elf_file *file, uint64_t address, struct definition *definition,
			    struct findings *findings)
{
	struct elf_pointer key, name;
	struct dormant_key_entry entry;
	const char *wrong = NULL;

	if (!elf_file_initial(file, address, &entry, sizeof(entry)) ||
	    !elf_file_pointer(file, address + offsetof(struct dormant_key_entry, key), &key) ||
	    !elf_file_pointer(file, address + offsetof(struct dormant_key_entry, name), &name))
		return false;
	*definition = (struct definition){address, key.address, NULL, entry.count, entry.flags};
	definition->name = name.address ? elf_file_string(file, name.address) : NULL;
	if (file->position_independent && (!key.relocated || !name.relocated))
		wrong = "it has no relocation";
	else if (!definition->name)
		wrong = "its name is not a terminated string";
	else if (flags_damage(entry.flags))
		wrong = flags_damage(entry.flags);
	else if (entry.count > 0 && DORMANT_KEY_KIND(entry.flags) != DORMANT_KEY_KIND_KEY)
		wrong = "it is an array of what has none";
	else if (key.address % sizeof(int) != 0 ||
		 !elf_file_has(file, key.address, definition_bytes(entry.count, entry.flags), PF_W))
		wrong = "its key is not in writable memory of the object";
	if (wrong) {
		struct finding *finding = findings_add(
			findings, "an entry of dormant_keys is damaged: %s; link it again", wrong);

		finding->has_address = true;
		finding->address = address;
		finding->kind = "key";
		if (definition->name)
			snprintf(finding->key, sizeof(finding->key), "%s", definition->name);
	}
	return !wrong;
}

static enum key_kind definition_kind(const struct definition *definition)
{
	switch (DORMANT_KEY_KIND(definition->flags)) {
	case DORMANT_KEY_KIND_IMV:
		return KEY_VALUE;
	case DORMANT_KEY_KIND_CALL:
		return KEY_CALL;
	default:
		return definition->count ? KEY_ELEMENT : KEY_SINGLE;
	}
}

static int add_definition(struct key_list *list, struct elf_file *file,
			  const struct definition *definition)
{
	size_t count = definition->count ? definition->count : 1;

	for (size_t i = 0; i < count; i++) {
		struct key *key = add_key(list);

		if (!key)
			return -ENOMEM;
		key->defined = true;
		key->kind = definition_kind(definition);
		key->pointer = definition->entry + offsetof(struct dormant_key_entry, key);
		key->address = definition->key + i * sizeof(struct static_key);
		key->element = (uint32_t)i;
		key->defined_true = definition->flags & DORMANT_KEY_TRUE;
		key->type_class = (int)DORMANT_KEY_CLASS(definition->flags);
		key->bytes = DORMANT_KEY_BYTES(definition->flags);
		key->initial = initial_state(file, key);
		key->base = definition->name;
		key->base_bytes = strlen(definition->name);
	}
	return 0;
}

int key_list_add_entries(struct key_list *list, struct elf_file *file,
			 const struct elf_range *table, struct findings *findings)
{
	struct definition definition;
	int result = 0;

	for (uint64_t at = 0; table->bytes - at >= sizeof(struct dormant_key_entry) && result == 0;
	     at += sizeof(struct dormant_key_entry)) {
		if (!read_definition(file, table->address + at, &definition, findings))
			continue;
		if (definition.count > KEYS_MAX - list->count)
			findings_add(findings, "dormant_keys claims more than %zu keys", KEYS_MAX);
		else
			result = add_definition(list, file, &definition);
	}
	return result;
}

/* ---- what sites point to ---- */

/* "&obj.k", "& (obj.k)" and "(&obj.k)" name the key obj.k. */
static const char *expression_name(const char *expression, size_t *bytes)
{
	const char *start = expression;
	const char *end = start + strlen(start);

	for (;;) {
		while (*start == ' ')
			start++;
		while (end > start && end[-1] == ' ')
			end--;
		if (*start == '&') {
			start++;
		} else if (*start == '(' && end[-1] == ')' &&
			   !memchr(start + 1, '(', (size_t)(end - start - 1))) {
			start++;
			end--;
		} else {
			break;
		}
	}
	*bytes = (size_t)(end - start);
	return start;
}

static enum key_kind reference_kind(const struct key_reference *reference)
{
	switch (reference->use) {
	case KEY_USED_AS_VALUE:
		return KEY_VALUE;
	case KEY_USED_AS_CALL:
		return KEY_CALL;
	default:
		return reference->pointer.symbol ? KEY_ELSEWHERE : KEY_PLAIN;
	}
}

int key_list_add_reference(struct key_list *list, struct elf_file *file,
			   const struct key_reference *reference)
{
	struct key *key = add_key(list);

	if (!key)
		return -ENOMEM;
	key->base = expression_name(reference->expression, &key->base_bytes);
	key->kind = reference_kind(reference);
	key->pointer = reference->address;
	key->type_class = -1;
	key->bytes = reference->bytes;
	key->initial = -1;
	if (reference->pointer.symbol) {
		key->symbol = reference->pointer.symbol;
		key->addend = reference->pointer.addend;
		return 0;
	}
	key->address = reference->pointer.address;
	key->initial = initial_state(file, key);
	return 0;
}

/* ---- sorting and merging ---- */

/* Which key it is. */
static int compare_identity(const struct key *a, const struct key *b)
{
	int order;

	if (!a->symbol || !b->symbol) {
		if (a->symbol || b->symbol)
			return a->symbol ? 1 : -1;
		return a->address < b->address ? -1 : a->address > b->address;
	}
	order = strcmp(a->symbol, b->symbol);
	if (order != 0)
		return order;
	return a->addend < b->addend ? -1 : a->addend > b->addend;
}

static int compare_bases(const struct key *a, const struct key *b)
{
	size_t shorter = a->base_bytes < b->base_bytes ? a->base_bytes : b->base_bytes;
	int order = memcmp(a->base, b->base, shorter);

	if (order != 0)
		return order;
	return a->base_bytes < b->base_bytes ? -1 : a->base_bytes > b->base_bytes;
}

/* Of those that are the same key, first the one to keep: one with an entry, then the shortest name,
 * so that the order in which a linker laid out the sites does not matter. */
static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = compare_identity(a, b);

	if (order != 0)
		return order;
	if (a->defined != b->defined)
		return a->defined ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->base_bytes != b->base_bytes)
		return a->base_bytes < b->base_bytes ? -1 : 1;
	return compare_bases(a, b);
}

static int compare_names(const void *left, const void *right)
{
	const struct key *a = *(struct key *const *)left, *b = *(struct key *const *)right;
	int order = compare_bases(a, b);

	if (order != 0)
		return order;
	if (a->element != b->element)
		return a->element < b->element ? -1 : 1;
	return compare_identity(a, b);
}

static void merge_keys(struct key_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (kept == 0 || compare_identity(&list->keys[kept - 1], &list->keys[i]) != 0)
			list->keys[kept++] = list->keys[i];
	list->count = kept;
}

static char *full_name(const struct key *key)
{
	char *name;
	int printed;

	if (key->kind == KEY_ELEMENT)
		printed = asprintf(&name, "%.*s[%u]", (int)key->base_bytes, key->base,
				   key->element);
	else
		printed = asprintf(&name, "%.*s", (int)key->base_bytes, key->base);
	return printed < 0 ? NULL : name;
}

int key_list_finish(struct key_list *list)
{
	if (list->count == 0)
		return 0;
	qsort(list->keys, list->count, sizeof(*list->keys), compare_keys);
	merge_keys(list);
	list->by_name = calloc(list->count, sizeof(struct key *));
	if (!list->by_name)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		list->by_name[i] = &list->keys[i];
		list->keys[i].name = full_name(&list->keys[i]);
		if (!list->keys[i].name)
			return -ENOMEM;
	}
	qsort(list->by_name, list->count, sizeof(struct key *), compare_names);
	return 0;
}

static int compare_to_wanted(const void *wanted, const void *candidate)
{
	return compare_identity(wanted, candidate);
}

struct key *key_list_find(const struct key_list *list, const struct elf_pointer *pointer)
{
	struct key wanted = {.symbol = pointer->symbol, .addend = pointer->addend};

	if (!pointer->symbol)
		wanted.address = pointer->address;
	if (list->count == 0)
		return NULL;
	return bsearch(&wanted, list->keys, list->count, sizeof(wanted), compare_to_wanted);
}

void key_list_free(struct key_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->keys[i].name);
	free(list->keys);
	free(list->by_name);
	*list = (struct key_list){0};
}
