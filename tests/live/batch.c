/* SPDX-License-Identifier: MIT */
/*
 * A batch changes all of its keys or none. With the argument "trace" the program makes one batch of
 * 100 keys between two writes to descriptor -1: batch.sh counts what strace sees in between.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "many_sites.h"
#include "tap.h"

#define KEYS 100

DEFINE_STATIC_KEY_FALSE(one);
DEFINE_STATIC_KEY_FALSE(two);
DEFINE_STATIC_KEY_TRUE(three);
DEFINE_STATIC_KEY_ARRAY_FALSE(keys, KEYS);

DEFINE_10_SITES(sites_of_one, &one)
DEFINE_10_SITES(sites_of_two, &two)
DEFINE_10_SITES(sites_of_three, &three)
DEFINE_10_SITES(sites_of_first, &keys[0])
DEFINE_10_SITES(sites_of_last, &keys[KEYS - 1])

static bool are(int first, int second, int third)
{
	return static_key_count(&one.key) == first && static_key_count(&two.key) == second &&
	       static_key_count(&three.key) == third && sites_of_one() == (first > 0) * 10 &&
	       sites_of_two() == (second > 0) * 10 && sites_of_three() == (third > 0) * 10;
}

#define BATCH(...)                                                                 \
	static_key_batch((const struct static_key_change[]){__VA_ARGS__},          \
			 sizeof((const struct static_key_change[]){__VA_ARGS__}) / \
				 sizeof(struct static_key_change))

static void test_together(void)
{
	ok(BATCH({&one.key, STATIC_KEY_ENABLE}, {&two.key, STATIC_KEY_INC},
		 {&three.key, STATIC_KEY_DISABLE}) == 0 &&
		   are(1, 1, 0),
	   "three keys change together");
	ok(BATCH({&one.key, STATIC_KEY_DISABLE}, {&two.key, STATIC_KEY_DEC},
		 {&three.key, STATIC_KEY_ENABLE}) == 0 &&
		   are(0, 0, 1),
	   "and back");
}

static void test_repeated(void)
{
	ok(BATCH({&one.key, STATIC_KEY_INC}, {&one.key, STATIC_KEY_INC},
		 {&one.key, STATIC_KEY_INC}) == 0 &&
		   are(3, 0, 1),
	   "a key may occur several times");
	ok(BATCH({&one.key, STATIC_KEY_DEC}, {&one.key, STATIC_KEY_DEC},
		 {&one.key, STATIC_KEY_DISABLE}) == 0 &&
		   are(0, 0, 1),
	   "each change starts from what those before it left");
	ok(BATCH({&one.key, STATIC_KEY_INC}, {&one.key, STATIC_KEY_DEC}) == 0 && are(0, 0, 1),
	   "a change and its opposite leave the key as it was");
	ok(BATCH({&one.key, STATIC_KEY_DEC}, {&one.key, STATIC_KEY_INC}) == -ERANGE && are(0, 0, 1),
	   "but each must be possible at its turn");
}

static void test_none(void)
{
	struct dormant_error error;
	const struct static_key_change bad[] = {{&one.key, STATIC_KEY_INC},
						{&three.key, STATIC_KEY_DISABLE},
						{&two.key, STATIC_KEY_DEC},
						{&one.key, STATIC_KEY_INC}};
	const struct static_key_change null[] = {{&one.key, STATIC_KEY_INC},
						 {NULL, STATIC_KEY_INC}};
	const struct static_key_change unknown[] = {{&one.key, STATIC_KEY_INC},
						    {&two.key, (enum static_key_operation)77}};

	ok(dormant_static_key_batch(bad, 4, NULL, &error) == -ERANGE && are(0, 0, 1),
	   "an impossible change undoes those before it");
	ok(error.code == -ERANGE && error.key == &two.key && strcmp(error.key_name, "two") == 0,
	   "the error names the key that is to blame: %s", error.message);
	ok(dormant_static_key_batch(null, 2, NULL, &error) == -EINVAL && error.key == NULL &&
		   are(0, 0, 1),
	   "NULL for a key: %s", error.message);
	ok(dormant_static_key_batch(unknown, 2, NULL, &error) == -EINVAL && error.key == &two.key &&
		   are(0, 0, 1),
	   "an unknown operation: %s", error.message);
	ok(dormant_static_key_batch(NULL, 0, NULL, &error) == 0 && are(0, 0, 1),
	   "no change is no failure");
	ok(dormant_static_key_batch(bad, 0, NULL, &error) == 0 && are(0, 0, 1),
	   "none of a list neither");
	ok(dormant_static_key_batch(NULL, 1, NULL, &error) == -EINVAL && error.code == -EINVAL,
	   "NULL for the list: %s", error.message);
	ok(static_branch_inc(&one) == 0 && are(1, 0, 1) && static_branch_dec(&one) == 0,
	   "the keys can be switched afterwards");
}

static int switch_all(enum static_key_operation operation)
{
	struct static_key_change changes[KEYS];

	for (int i = 0; i < KEYS; i++)
		changes[i] = (struct static_key_change){&keys[i].key, operation};
	return static_key_batch(changes, KEYS);
}

static void test_many(void)
{
	ok(switch_all(STATIC_KEY_ENABLE) == 0 && sites_of_first() == 10 && sites_of_last() == 10,
	   "a hundred keys go on in one patch");
	ok(switch_all(STATIC_KEY_INC) == 0 && static_key_count(&keys[50].key) == 2,
	   "are counted in one");
	ok(switch_all(STATIC_KEY_DISABLE) == -EBUSY && sites_of_first() == 10, "refused in one");
	ok(switch_all(STATIC_KEY_DEC) == 0 && switch_all(STATIC_KEY_DEC) == 0 &&
		   sites_of_first() == 0 && sites_of_last() == 0,
	   "and go off in one");
}

/* A write that fails marks the place in the trace and reaches nothing. */
static int trace_batch(void)
{
	int result;

	(void)!write(-1, "begin", 5);
	result = switch_all(STATIC_KEY_ENABLE);
	(void)!write(-1, "end", 3);
	return result == 0 && sites_of_first() == 10 ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "trace") == 0)
		return trace_batch();
	plan(2 + 4 + 8 + 4 + 1);
	test_together();
	test_repeated();
	test_none();
	test_many();
	ok(dormant_status(NULL) == 0, "keys and branches agree");
	return done();
}
