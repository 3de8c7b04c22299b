/* SPDX-License-Identifier: MIT */
/*
 * The keys that an object defines or has sites of.
 *
 * Two key pointers mean the same key when they hold the same address of this object, or the same
 * symbol and addend of another. A key's name is that of its entry in dormant_keys, or, without one,
 * its expression at a site: never that of a symbol, so that stripping changes nothing.
 */
#ifndef REMOTE_KEY_LIST_H
#define REMOTE_KEY_LIST_H

#include "elf_file.h"
#include "findings.h"

enum key_kind {
	KEY_SINGLE,    /* has an entry */
	KEY_ELEMENT,   /* has an entry, as element of an array */
	KEY_PLAIN,     /* lives in this object without an entry: a struct static_key, a member */
	KEY_ELSEWHERE, /* lives in another object */
};

struct key {
	char *name; /* as in list: "level[3]" */
	enum key_kind kind;
	int initial;        /* 1 on, 0 off, -1 not known from this file */
	bool defined_true;  /* of a key with an entry */
	uint64_t address;   /* 0 for one that lives elsewhere */
	const char *symbol; /* of one that lives elsewhere, else NULL */
	int64_t addend;     /* bytes after the symbol */
	uint32_t element;   /* of an array */
	const char *base;   /* terminated by anything: the name without the element */
	size_t base_bytes;
	size_t site_count;
};

struct key_list {
	struct key *keys; /* sorted by what they are, for key_list_find() */
	size_t count;
	size_t room;
	struct key **by_name; /* sorted for people, after key_list_finish() */
};

/* -ENOMEM, or 0: entries that make no sense become findings. */
int key_list_add_entries(struct key_list *list, struct elf_file *file,
			 const struct elf_range *table, struct findings *findings);

/* Adds what a site's key pointer holds, under the name that its expression gives. -ENOMEM. */
int key_list_add_pointer(struct key_list *list, struct elf_file *file,
			 const struct elf_pointer *pointer, const char *expression);

/* Merges what was added more than once, names and sorts the keys. -ENOMEM. */
int key_list_finish(struct key_list *list);

/* The key that a pointer means; NULL before it was added and finished. */
struct key *key_list_find(const struct key_list *list, const struct elf_pointer *pointer);

void key_list_free(struct key_list *list);

/* "key", "element", "plain" or "elsewhere". */
const char *key_kind_name(enum key_kind kind);

#endif
