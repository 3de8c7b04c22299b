/* SPDX-License-Identifier: MIT */
/*
 * The keys, immediate values and static calls that an object defines or has sites of. All are
 * called keys here: what their sites follow.
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
	KEY_VALUE,     /* an immediate value */
	KEY_CALL,      /* a static call */
};

/* What the site of a key is, so what the key has to be. */
enum key_use {
	KEY_USED_AS_KEY,
	KEY_USED_AS_VALUE,
	KEY_USED_AS_CALL,
};

struct key {
	char *name; /* as in list: "level[3]" */
	enum key_kind kind;
	bool defined;       /* has an entry */
	int initial;        /* 1 on, 0 off, -1 not known from this file */
	bool defined_true;  /* of a key with an entry */
	int type_class;     /* of a value: DORMANT_KEY_CLASS_*, -1 without an entry */
	unsigned int bytes; /* of a value */
	uint64_t address;   /* 0 for one that lives elsewhere */
	const char *symbol; /* of one that lives elsewhere, else NULL */
	int64_t addend;     /* bytes after the symbol */
	uint32_t element;   /* of an array */
	uint64_t
		pointer; /* address of a word that holds, once loaded, where the first element is */
	uint64_t home;   /* of a call: what calls reach in the file, 0 where nothing says so */
	const char *base; /* terminated by anything: the name without the element */
	size_t base_bytes;
	size_t site_count;
	size_t trampoline_count; /* of a call */
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

/* What a site says of its key. */
struct key_reference {
	uint64_t address; /* of the key pointer */
	struct elf_pointer pointer;
	const char *expression; /* names the key */
	enum key_use use;
	unsigned int bytes; /* of a value */
};

/* Adds what a site's key pointer holds, under the name that its expression gives. -ENOMEM. */
int key_list_add_reference(struct key_list *list, struct elf_file *file,
			   const struct key_reference *reference);

/* Merges what was added more than once, names and sorts the keys. -ENOMEM. */
int key_list_finish(struct key_list *list);

/* The key that a pointer means; NULL before it was added and finished. */
struct key *key_list_find(const struct key_list *list, const struct elf_pointer *pointer);

void key_list_free(struct key_list *list);

/* What sites of such a key are; "key" for all kinds of static keys. */
enum key_use key_use(const struct key *key);
const char *key_use_name(enum key_use use);

/* "key", "element", "plain", "elsewhere", "value" or "call". */
const char *key_kind_name(enum key_kind kind);

#endif
