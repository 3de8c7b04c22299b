/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Objects: how the tables of an executable or shared object reach the library.
 *
 * Every translation unit that includes a dormant header carries a constructor and a destructor.
 * They hand the tables of the object that the unit was linked into (never those of another one:
 * all symbols are hidden) to libdormant, before constructors of ordinary priority run, and take
 * them back after ordinary destructors, before the memory goes. A program does nothing for this.
 *
 * The tables are an ABI between a built file, libdormant and the `dormant` command:
 *
 *  - section dormant_sites: an array of struct dormant_site, 12 bytes each, read-only, without
 *    dynamic relocations; an entry lives and dies with the section of its site (SHF_LINK_ORDER);
 *  - section dormant_operands: an array of struct dormant_operand, 16 bytes each and aligned to 8,
 *    as above: the sites of immediate values and static calls;
 *  - section dormant_keys: an array of struct dormant_key_entry, one for each DEFINE_STATIC_KEY_*,
 *    DEFINE_IMV and DEFINE_STATIC_CALL.
 *
 * A change to one that an older reader would misread gets a new section name.
 */
#ifndef DORMANT_OBJECT_H
#define DORMANT_OBJECT_H

#include <stdint.h>

#include <dormant/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the tables and of struct dormant_object. */
#define DORMANT_ABI 1

/** `dormant_site.key` bit 0: the site jumps when its key is off (static_branch_likely). */
#define DORMANT_SITE_LIKELY 1
/** `dormant_site.key` bit 1: the file holds the jump, because of the key's default. */
#define DORMANT_SITE_JUMP 2

/** One site. Each word counts from its own address, so that the table needs no relocation. */
struct dormant_site {
	int32_t code; /**< to the first byte of the site's instruction */
	int32_t key; /**< to an 8-byte aligned `struct static_key *` in relro data, + DORMANT_SITE_*
		      */
	int32_t name; /**< to the key's expression as written in the source, such as "&trace_key" */
};

/**
 * What an operand site is: the low bits of `dormant_operand.owner`. The owner of a value is the
 * variable NAME__imv, of the size that the kind says; that of a call and of a trampoline is a
 * `struct static_call`.
 */
enum dormant_operand_kind {
	DORMANT_OPERAND_VALUE1 = 0,
	DORMANT_OPERAND_VALUE2 = 1,
	DORMANT_OPERAND_VALUE4 = 2,
	DORMANT_OPERAND_VALUE8 = 3,
	DORMANT_OPERAND_CALL = 4,       /**< where the compiler may have put a call or tail jump */
	DORMANT_OPERAND_TRAMPOLINE = 5, /**< the static call's trampoline */
	DORMANT_OPERAND_HOME = 6, /**< no site: `home` is what its calls reach in this object */
	DORMANT_OPERAND_KIND_MASK = 7,
};

/** One site whose operand changes. In the file it goes by memory, which is right at any time. */
struct dormant_operand {
	int32_t owner; /**< to an 8-byte aligned pointer to its owner in relro data, + kind */
	int32_t code;  /**< to the first byte of the site's instruction */
	int32_t name;  /**< to the owner's name; 0 for a call, which a HOME names */
	int32_t home;  /**< a value's load; else see the kind */
} __attribute__((aligned(8)));

/** `dormant_key_entry.flags`: the key was defined as TRUE. */
#define DORMANT_KEY_TRUE 1
/** The kind of a definition: a static key, an immediate value, a static call. */
#define DORMANT_KEY_KIND(flags) ((flags) >> 8 & 0xff)
#define DORMANT_KEY_KIND_KEY    0 /**< `key` is a struct static_key */
#define DORMANT_KEY_KIND_IMV    1 /**< `key` is the variable; class and size follow */
#define DORMANT_KEY_KIND_CALL   2 /**< `key` is a struct static_call */
/** The class of an immediate value's type. */
#define DORMANT_KEY_CLASS(flags)   ((flags) >> 16 & 0xff)
#define DORMANT_KEY_CLASS_UNSIGNED 0
#define DORMANT_KEY_CLASS_SIGNED   1
#define DORMANT_KEY_CLASS_BOOL     2
#define DORMANT_KEY_CLASS_FLOAT    3
#define DORMANT_KEY_CLASS_POINTER  4
/** The size of an immediate value, in bytes. */
#define DORMANT_KEY_BYTES(flags) ((flags) >> 24)
/** The flags of a definition. */
#define DORMANT_KEY_FLAGS(kind, type_class, bytes) \
	((uint32_t)(kind) << 8 | (uint32_t)(type_class) << 16 | (uint32_t)(bytes) << 24)

/** One definition of a key, of an array of keys, of an immediate value or a static call. */
struct dormant_key_entry {
	void *key;        /**< the key, or element 0 of the array; the value; the static call */
	const char *name; /**< its name in the source */
	uint32_t count;   /**< number of elements; 0 for what is not an array */
	uint32_t flags;   /**< DORMANT_KEY_* */
};

/** An object's tables, and room for what the library keeps about it. One a linked file. */
struct dormant_object {
	uint32_t abi;                         /**< DORMANT_ABI of the headers it was built with */
	uint32_t users;                       /**< the library's: units that have registered it */
	const struct dormant_site *sites;     /**< NULL where the object has none */
	const struct dormant_site *sites_end; /**< one past the last */
	const struct dormant_key_entry *keys; /**< NULL where the object has none */
	const struct dormant_key_entry *keys_end; /**< one past the last */
	const void *sites_built; /**< not NULL: its source has sites, so a table is due */
	const struct dormant_operand *operands;     /**< NULL where the object has none */
	const struct dormant_operand *operands_end; /**< one past the last */
	void *reserved[12];                         /**< the library's */
};

/**
 * Makes an object's sites known and brings them to their keys' current state. Called by the
 * constructor that this header defines, not by hand: the tables must lie in a loaded object.
 * Counted: the n-th call for an object only notes a further user.
 *
 * Units: none. Errors: -EINVAL for a NULL or unknown ABI, -ENOEXEC for a table that points outside
 * the object's code, else as for static_branch_enable(); the object stays known, its stale sites
 * are retried with their key's next change, and dormant_status() reports it. Threads: any.
 * Signals: not from a handler. Blocks: on the library's lock. Since: 0.1.
 * Source: the kernel's jump_label_init() and jump_label_add_module().
 */
DORMANT_API int dormant_object_register(struct dormant_object *object);

/**
 * Forgets an object when its last user is gone: its sites, and the references that its code took
 * on keys of other objects and did not give back (they are given back, and reported to the
 * function set by dormant_notice_set()). Called by the destructor that this header defines.
 *
 * Units: none. Errors: none; an unknown object is ignored. Threads: any. Signals: not from a
 * handler. Blocks: on the library's lock. Since: 0.1. Source: the kernel's
 * jump_label_del_module().
 */
DORMANT_API void dormant_object_unregister(struct dormant_object *object);

/**
 * Whether every known object's sites agree with their keys. Not so only when an object could not
 * be patched as it was loaded, which has no caller to return an error to.
 *
 * Units: none. Errors: 0, or the failure of the first object that is still stale, with @p error
 * filled where it is not NULL. Threads: any. Signals: safe. Blocks: on the library's lock.
 * Since: 0.1. Source: dormant.
 */
DORMANT_API int dormant_status(struct dormant_error *error);

/**
 * Sets the function that is told what no caller can be: a failure while an object is loaded, and a
 * reference that an unloaded object had kept. NULL, the default, means nobody. It is called without
 * the library's lock, on the thread that loads or unloads, and may toggle keys.
 *
 * Units: none. Errors: none. Threads: any. Signals: safe to call. Blocks: never. Since: 0.1.
 * Source: dormant.
 */
DORMANT_API void dormant_notice_set(void (*function)(const char *message, void *data), void *data);

#if defined(__has_attribute)
#if __has_attribute(retain)
#define DORMANT_RETAIN_ __attribute__((used, retain))
#endif
#endif
#ifndef DORMANT_RETAIN_
#define DORMANT_RETAIN_ __attribute__((used))
#endif

/* The entry by which the `dormant` command knows a name, also in a stripped file. */
#define DORMANT_KEY_ENTRY_(name, first, count, flags)                                        \
	static const struct dormant_key_entry dormant_key_entry_##name DORMANT_RETAIN_       \
		__attribute__((section("dormant_keys"), aligned(8))) = {first, #name, count, \
									flags}

/* ---- what follows is how a translation unit finds its own object; not for use by hand ---- */

extern const struct dormant_site __start_dormant_sites[]
	__attribute__((weak, visibility("hidden")));
extern const struct dormant_site __stop_dormant_sites[] __attribute__((weak, visibility("hidden")));
extern const struct dormant_operand __start_dormant_operands[]
	__attribute__((weak, visibility("hidden")));
extern const struct dormant_operand __stop_dormant_operands[]
	__attribute__((weak, visibility("hidden")));
extern const struct dormant_key_entry __start_dormant_keys[]
	__attribute__((weak, visibility("hidden")));
extern const struct dormant_key_entry __stop_dormant_keys[]
	__attribute__((weak, visibility("hidden")));

/* An absolute symbol that every site sets: a table that a linker script or a tool dropped is
 * missed, and not taken for an object without sites. */
extern const char dormant_sites_built[] __attribute__((weak, visibility("hidden")));

/** The object this translation unit is linked into: weak and hidden, so one a linked file. */
extern struct dormant_object dormant_object_self __attribute__((visibility("hidden")));

#ifndef DORMANT_LIBRARY /* libdormant has no sites of its own */
__attribute__((weak, visibility("hidden"))) struct dormant_object dormant_object_self = {
	DORMANT_ABI,
	0,
	__start_dormant_sites,
	__stop_dormant_sites,
	__start_dormant_keys,
	__stop_dormant_keys,
	dormant_sites_built,
	__start_dormant_operands,
	__stop_dormant_operands,
	{0},
};

/* 101 is the first priority that the compilers leave to programs: sites are right before any
 * ordinary constructor runs, and are forgotten after the last ordinary destructor. */
__attribute__((constructor(101))) static void dormant_object_load_(void)
{
	(void)dormant_object_register(&dormant_object_self);
}

__attribute__((destructor(101))) static void dormant_object_unload_(void)
{
	dormant_object_unregister(&dormant_object_self);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
