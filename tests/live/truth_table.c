/* SPDX-License-Identifier: MIT */
/*
 * Every kind of key with every branch macro, in one table: each branch has to follow its key from
 * the default through off and on and back. Also linked statically and as a static-pie.
 */
#include <dormant/static_key_deferred.h>

#include "tap.h"

DEFINE_STATIC_KEY_TRUE(global_true);
DEFINE_STATIC_KEY_FALSE(global_false);
static DEFINE_STATIC_KEY_TRUE(static_true);
static DEFINE_STATIC_KEY_FALSE(static_false);
DEFINE_STATIC_KEY_ARRAY_TRUE(array_true, 4);
DEFINE_STATIC_KEY_ARRAY_FALSE(array_false, 4);

#define CONFIG_ONE 1
#define CONFIG_NONE
DEFINE_STATIC_KEY_MAYBE(CONFIG_ONE, maybe_true);
DEFINE_STATIC_KEY_MAYBE(CONFIG_NONE, maybe_false);

static struct {
	long before;
	struct static_key_true on;
	struct static_key_false off;
	struct static_key plain;
} members = {0, STATIC_KEY_TRUE_INIT, STATIC_KEY_FALSE_INIT, STATIC_KEY_INIT_TRUE};

static struct static_key plain_true = STATIC_KEY_INIT_TRUE;
static struct static_key plain_false = STATIC_KEY_INIT_FALSE;
static struct static_key plain_default = STATIC_KEY_INIT;

DEFINE_STATIC_KEY_DEFERRED_TRUE(deferred_true, 1000000000);
DEFINE_STATIC_KEY_DEFERRED_FALSE(deferred_false, 1000000000);

/* KEY(name, expression, default) */
#define TYPED_KEYS                                   \
	KEY(global_true, &global_true, true)         \
	KEY(global_false, &global_false, false)      \
	KEY(static_true, &static_true, true)         \
	KEY(static_false, &static_false, false)      \
	KEY(array_true_0, &array_true[0], true)      \
	KEY(array_true_3, &array_true[3], true)      \
	KEY(array_false_0, &array_false[0], false)   \
	KEY(array_false_3, &array_false[3], false)   \
	KEY(maybe_true, &maybe_true, true)           \
	KEY(maybe_false, &maybe_false, false)        \
	KEY(member_on, &members.on, true)            \
	KEY(member_off, &members.off, false)         \
	KEY(deferred_true, &deferred_true.key, true) \
	KEY(deferred_false, &deferred_false.key, false)
#define PLAIN_KEYS                                \
	KEY(plain_true, &plain_true, true)        \
	KEY(plain_false, &plain_false, false)     \
	KEY(plain_default, &plain_default, false) \
	KEY(member_plain, &members.plain, true)

/* One function for each key and branch, two of them with the branch in a condition. */
#define KEY(name, x, initial)                                \
	static bool name##_likely(void)                      \
	{                                                    \
		return static_branch_likely(x);              \
	}                                                    \
	static bool name##_unlikely(void)                    \
	{                                                    \
		return static_branch_unlikely(x);            \
	}                                                    \
	static bool name##_likely_maybe(void)                \
	{                                                    \
		return static_branch_maybe(CONFIG_ONE, x);   \
	}                                                    \
	static bool name##_unlikely_maybe(void)              \
	{                                                    \
		return static_branch_maybe(CONFIG_NONE, x);  \
	}                                                    \
	static bool name##_in_condition(void)                \
	{                                                    \
		if (!static_branch_likely(x))                \
			return false;                        \
		return static_branch_unlikely(x) || initial; \
	}
TYPED_KEYS PLAIN_KEYS
#undef KEY
#define KEY(name, x, initial)               \
	static bool name##_old_true(void)   \
	{                                   \
		return static_key_true(x);  \
	}                                   \
	static bool name##_old_false(void)  \
	{                                   \
		return static_key_false(x); \
	}
	PLAIN_KEYS
#undef KEY

	struct row {
	const char *name;
	bool (*branch)(void);
	struct static_key *key;
	bool initial;
};

#define ROW(key, branch, x, initial) {#key " " #branch, key##_##branch, DORMANT_KEY_(x), initial},
#define KEY(name, x, initial)                 \
	ROW(name, likely, x, initial)         \
	ROW(name, unlikely, x, initial)       \
	ROW(name, likely_maybe, x, initial)   \
	ROW(name, unlikely_maybe, x, initial) \
	ROW(name, in_condition, x, initial)
static const struct row typed_rows[] = {TYPED_KEYS PLAIN_KEYS};
#undef KEY
#define KEY(name, x, initial) ROW(name, old_true, x, initial) ROW(name, old_false, x, initial)
static const struct row plain_rows[] = {PLAIN_KEYS};
#undef KEY

#define ROWS(rows) ((int)(sizeof(rows) / sizeof(rows[0])))

static bool is(const struct row *row, bool on)
{
	return row->branch() == on && static_key_enabled(row->key) == on &&
	       static_key_count(row->key) == (on ? 1 : 0);
}

static void test_row(const struct row *row)
{
	const bool initial = row->initial;
	int (*const leave)(struct static_key *) = initial ? static_key_disable : static_key_enable;
	int (*const enter)(struct static_key *) = initial ? static_key_enable : static_key_disable;

	ok(is(row, initial), "%s: %s by default", row->name, initial ? "on" : "off");
	ok(leave(row->key) == 0 && is(row, !initial) && enter(row->key) == 0 && is(row, initial),
	   "%s: follows the key there and back", row->name);
	ok((initial ? static_key_slow_dec : static_key_slow_inc)(row->key) == 0 &&
		   is(row, !initial) &&
		   (initial ? static_key_slow_inc : static_key_slow_dec)(row->key) == 0 &&
		   is(row, initial),
	   "%s: follows the count there and back", row->name);
}

/* All at once, so that no row passes because of the state of another key. */
static void test_independence(const struct row *rows, int count)
{
	bool right = true;

	for (int i = 0; i < count; i++) {
		(void)static_key_enable(rows[i].key);
		for (int j = 0; j < count; j++)
			right = right && rows[j].branch() == static_key_enabled(rows[j].key);
		(void)static_key_disable(rows[i].key);
		for (int j = 0; j < count; j++)
			right = right && rows[j].branch() == static_key_enabled(rows[j].key);
	}
	ok(right, "a key switches its own branches only");
}

int main(void)
{
	plan(3 * (ROWS(typed_rows) + ROWS(plain_rows)) + 2);
	for (int i = 0; i < ROWS(typed_rows); i++)
		test_row(&typed_rows[i]);
	for (int i = 0; i < ROWS(plain_rows); i++)
		test_row(&plain_rows[i]);
	test_independence(typed_rows, ROWS(typed_rows));
	ok(dormant_status(NULL) == 0, "keys and branches agree");
	return done();
}
