/* SPDX-License-Identifier: MIT */
/*
 * Every definition, branch and switching macro once, at file scope and in functions, in the common
 * subset of C11 and C++11: headers.sh compiles this file as both, without a warning.
 */
#include <dormant/probe.h>
#include <dormant/static_key_deferred.h>

#define CONFIG_USE_ON 1

DEFINE_STATIC_KEY_TRUE(use_true);
DEFINE_STATIC_KEY_FALSE(use_false);
static DEFINE_STATIC_KEY_TRUE(use_static_true);
static DEFINE_STATIC_KEY_FALSE(use_static_false);
DEFINE_STATIC_KEY_MAYBE(CONFIG_USE_ON, use_maybe_on);
DEFINE_STATIC_KEY_MAYBE(CONFIG_USE_OFF, use_maybe_off);
DEFINE_STATIC_KEY_ARRAY_TRUE(use_array_true, 3);
DEFINE_STATIC_KEY_ARRAY_FALSE(use_array_false, 3);
DEFINE_STATIC_KEY_DEFERRED_TRUE(use_deferred_true, 1000);
static DEFINE_STATIC_KEY_DEFERRED_FALSE(use_deferred_false, 1000);
DECLARE_STATIC_KEY_TRUE(use_elsewhere_true);
DECLARE_STATIC_KEY_FALSE(use_elsewhere_false);
DECLARE_STATIC_KEY_MAYBE(CONFIG_USE_ON, use_elsewhere_maybe);
DECLARE_STATIC_KEY_ARRAY_TRUE(use_elsewhere_array_true, 2);
DECLARE_STATIC_KEY_ARRAY_FALSE(use_elsewhere_array_false, 2);

static struct static_key use_plain_true = STATIC_KEY_INIT_TRUE;
static struct static_key use_plain_false = STATIC_KEY_INIT_FALSE;
static struct static_key use_plain = STATIC_KEY_INIT;
static struct static_key_deferred use_plain_deferred;
static struct {
	int other;
	struct static_key_false key;
} use_member = {0, STATIC_KEY_FALSE_INIT};

int use_branches(void);
int use_switches(struct dormant_error *error);
int use_deferred(void);
size_t use_probe(void);

static inline int use_inline(void)
{
	if (static_branch_unlikely(&use_static_false))
		return 1;
	return 0;
}

int use_branches(void)
{
	int taken = use_inline();

	if (static_branch_likely(&use_true))
		taken++;
	if (static_branch_likely(&use_false))
		taken++;
	if (static_branch_unlikely(&use_true) && static_branch_unlikely(&use_static_true))
		taken++;
	if (static_branch_unlikely(&use_array_true[1]) || static_branch_likely(&use_array_false[2]))
		taken++;
	if (static_branch_unlikely(&use_member.key))
		taken++;
	if (static_branch_unlikely(&use_elsewhere_false))
		taken++;
	if (static_branch_likely(&use_elsewhere_array_true[1]))
		taken++;
	if (static_branch_maybe(CONFIG_USE_ON, &use_maybe_on))
		taken++;
	if (static_branch_maybe(CONFIG_USE_OFF, &use_maybe_off))
		taken++;
	if (static_key_true(&use_plain_true))
		taken++;
	if (static_key_false(&use_plain_false))
		taken++;
	if (static_branch_likely(&use_deferred_true.key) ||
	    static_branch_unlikely(&use_deferred_false.key))
		taken++;
	while (static_branch_unlikely(&use_plain))
		taken--;
	return taken;
}

int use_switches(struct dormant_error *error)
{
	const struct static_key_change changes[] = {
		{&use_true.key, STATIC_KEY_DISABLE},
		{&use_array_false[0].key, STATIC_KEY_INC},
	};

	if (static_branch_enable(&use_false) || static_branch_disable(&use_true))
		return -1;
	if (static_branch_inc(&use_array_false[1]) || static_branch_dec(&use_array_false[1]))
		return -1;
	if (static_key_enable(&use_plain) || static_key_disable(&use_plain))
		return -1;
	if (static_key_slow_inc(&use_plain) || static_key_slow_dec(&use_plain))
		return -1;
	if (static_key_batch(changes, 2))
		return -1;
	if (dormant_static_key_enable(&use_plain, error))
		return error->code;
	return static_key_count(&use_plain) + static_key_enabled(&use_member.key) +
	       static_key_enabled(&use_plain);
}

int use_deferred(void)
{
	jump_label_rate_limit(&use_plain_deferred, 1000);
	if (static_branch_deferred_inc(&use_deferred_false) ||
	    static_branch_slow_dec_deferred(&use_deferred_false))
		return -1;
	if (static_key_slow_dec_deferred(&use_plain_deferred))
		return -1;
	if (static_key_deferred_flush(&use_deferred_true))
		return -1;
	return dormant_deferred_run() < 0;
}

size_t use_probe(void)
{
	struct dormant_probe probes[8];

	return dormant_probe_all(probes, 8);
}
