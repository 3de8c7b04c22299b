/* SPDX-License-Identifier: MIT */
/*
 * Building the list of keys: everything is added as it is found, then sorted and merged.
 */
#include "key_list.h"

#include <dormant/object.h>
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
		[KEY_SINGLE] = "key",
		[KEY_ELEMENT] = "element",
		[KEY_PLAIN] = "plain",
		[KEY_ELSEWHERE] = "elsewhere",
	};

	return names[kind];
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

static int initial_state(struct elf_file *file, uint64_t address)
{
	struct static_key key;

	if (!elf_file_initial(file, address, &key, sizeof(key)))
		return -1;
	return key.enabled > 0;
}

/* ---- entries of dormant_keys ---- */

struct definition {
	uint64_t entry; /* address of the entry */
	uint64_t key;
	const char *name;
	uint32_t count;
	uint32_t flags;
};

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
	else if (entry.flags & ~(uint32_t)DORMANT_KEY_TRUE)
		wrong = "it has flags that are not defined";
	else if (key.address % sizeof(int) != 0 ||
		 !elf_file_has(file, key.address,
			       (uint64_t)(entry.count ? entry.count : 1) *
				       sizeof(struct static_key),
			       PF_W))
		wrong = "its key is not in writable memory of the object";
	if (wrong) {
		struct finding *finding = findings_add(
			findings, "an entry of dormant_keys is damaged: %s; link it again", wrong);

		finding->has_address = true;
		finding->address = address;
		if (definition->name)
			snprintf(finding->key, sizeof(finding->key), "%s", definition->name);
	}
	return !wrong;
}

static int add_definition(struct key_list *list, struct elf_file *file,
			  const struct definition *definition)
{
	size_t count = definition->count ? definition->count : 1;

	for (size_t i = 0; i < count; i++) {
		struct key *key = add_key(list);

		if (!key)
			return -ENOMEM;
		key->kind = definition->count ? KEY_ELEMENT : KEY_SINGLE;
		key->address = definition->key + i * sizeof(struct static_key);
		key->element = (uint32_t)i;
		key->defined_true = definition->flags & DORMANT_KEY_TRUE;
		key->initial = initial_state(file, key->address);
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

int key_list_add_pointer(struct key_list *list, struct elf_file *file,
			 const struct elf_pointer *pointer, const char *expression)
{
	struct key *key = add_key(list);

	if (!key)
		return -ENOMEM;
	key->base = expression_name(expression, &key->base_bytes);
	if (pointer->symbol) {
		key->kind = KEY_ELSEWHERE;
		key->symbol = pointer->symbol;
		key->addend = pointer->addend;
		key->initial = -1;
		return 0;
	}
	key->kind = KEY_PLAIN;
	key->address = pointer->address;
	key->initial = initial_state(file, key->address);
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
