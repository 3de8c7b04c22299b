/* SPDX-License-Identifier: MIT */
/*
 * Objects come and go: bringing the sites of a new one to the keys' state, and leaving nothing of
 * an unloaded one behind.
 *
 * What can go wrong here has no caller to return to: a constructor ignores its result. So it is
 * told to the notice function, outside the lock, and dormant_status() finds it again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "arch/arch.h"
#include "error.h"
#include "holds.h"
#include "operand.h"
#include "patch.h"
#include "registry.h"
#include "static_key.h"
#include "sync.h"
#include "text.h"

/* ---- notices ---- */

static void (*notice_function)(const char *message, void *data);
static void *notice_data;

void dormant_notice_set(void (*function)(const char *message, void *data), void *data)
{
	__atomic_store_n(&notice_function, NULL, __ATOMIC_SEQ_CST);
	__atomic_store_n(&notice_data, data, __ATOMIC_SEQ_CST);
	__atomic_store_n(&notice_function, function, __ATOMIC_SEQ_CST);
}

static void give_notice(const char *message)
{
	void (*function)(const char *, void *) = __atomic_load_n(&notice_function,
								 __ATOMIC_SEQ_CST);

	if (function != NULL && message[0] != '\0')
		function(message, __atomic_load_n(&notice_data, __ATOMIC_SEQ_CST));
}

/* ---- start ---- */

static bool writers_tried; /* guarded by the lock */

static const char switches_nothing[] = "keys can not be switched";

static int refuse_writers(struct dormant_error *error, int code)
{
	error_begin(error, DORMANT_PHASE_WRITE, code);
	error_text(error, "no writer can change text here (");
	text_explain(error);
	error_text(error, "); ");
	error_text(error, switches_nothing);
	error_text(error, ". `dormant doctor` shows what this machine allows");
	return code;
}

/* Finds out, before anything depends on it, which core sync and which writer work. */
static int start_locked(struct dormant_error *error)
{
	int result, writers;

	if (writers_tried)
		return 0;
	writers_tried = true;
	result = sync_start();
	writers = text_start();
	if (result != 0)
		return sync_refuse(error, result, switches_nothing);
	return writers == 0 ? 0 : refuse_writers(error, writers);
}

/* ---- coming ---- */

static int patch_new_sites(struct patch *patch, struct dormant_object *object)
{
	bool trust_file = object_state(object)->known_before == 0;

	for (const struct dormant_site *entry = object->sites; entry < object->sites_end; entry++) {
		struct site site = registry_site(entry);
		bool must_jump, jumps;
		int result;

		if (site.key == NULL) /* a weak key that nobody defines */
			continue;
		must_jump = site_must_jump(site.key, site.likely);
		jumps = trust_file ? site.jumps_in_file
				   : insn_site_decode((const uint8_t *)site.code) == 1;
		result = must_jump == jumps ? 0 : patch_add_site(patch, site.code, must_jump);
		if (result != 0)
			return result;
	}
	return patch_apply(patch);
}

/* What can not be patched stays as in the file, where it goes by memory: that is no failure. */
static void patch_new_operands(struct patch *patch, struct dormant_object *object)
{
	struct dormant_error *error = patch->error;

	operand_index(object);
	patch_clear(patch);
	patch->error = NULL;
	if (operand_add_object(patch, object) == 0)
		(void)patch_apply(patch);
	patch->error = error;
	patch_clear(patch);
}

static int add_locked(struct patch *patch, struct dormant_object *object)
{
	struct object_state *state = object_state(object);
	bool has_sites = object->sites != object->sites_end;
	bool has_operands = object->operands != object->operands_end;
	int result, started;

	registry_add(object);
	if (!has_sites && !has_operands)
		return 0;
	result = registry_check(object, patch->error);
	state->refused = result != 0;
	if (result != 0)
		return result;
	started = start_locked(has_sites ? patch->error : NULL);
	result = patch_new_sites(patch, object);
	if (has_operands)
		patch_new_operands(patch, object);
	state->known_before = 1;
	return result != 0 || !has_sites ? result : started;
}

int dormant_object_register(struct dormant_object *object)
{
	static int fork_handlers;
	struct dormant_error error;
	struct patch patch;
	int result = 0;

	if (object == NULL || object->abi != DORMANT_ABI) {
		give_notice(
			"an object was built with headers of another version of dormant, its keys "
			"do not switch; build it again");
		return -EINVAL;
	}
	if (__atomic_exchange_n(&fork_handlers, 1, __ATOMIC_RELAXED) == 0)
		(void)lock_start(); /* allocates: outside the lock */
	if (__atomic_load_n(&object_state(object)->end, __ATOMIC_RELAXED) == 0)
		registry_locate(object);
	error.message[0] = '\0';
	patch_begin(&patch, &error);
	if (object->users++ == 0)
		result = add_locked(&patch, object);
	patch_end(&patch);
	if (result != 0)
		give_notice(error.message);
	return result;
}

/* ---- going ---- */

struct leak {
	char message[384]; /* "" while nothing was found */
};

/* Whether somebody gave back references that others had taken, so that nobody can tell whose are
 * left. */
static bool is_disputed(const struct static_key *key)
{
	struct dormant_object *other = registry_first();

	while (other != NULL && holds_count(other, key) >= 0)
		other = registry_next(other);
	return other != NULL;
}

static void describe_leak(struct leak *leak, const struct object_state *state,
			  const struct static_key *key, int references, const char *outcome)
{
	const size_t size = sizeof(leak->message);

	if (leak->message[0] != '\0')
		text_append(leak->message, size, "; ");
	text_append(leak->message, size, state->path);
	text_append(leak->message, size, " was unloaded while it held ");
	text_append_number(leak->message, size, (uint64_t)references, 10);
	text_append(leak->message, size, " reference(s) on key ");
	registry_key_name(key, leak->message + strlen(leak->message), size - strlen(leak->message));
	text_append(leak->message, size, outcome);
}

/* The object is no longer in the registry. */
static void repair_leaks(struct patch *patch, struct dormant_object *object, struct leak *leak)
{
	const struct object_state *state = object_state(object);
	struct static_key *key;

	for (size_t n = 0; (key = holds_key(object, n)) != NULL; n++) {
		int references = holds_count(object, key);

		if (references <= 0 || object_covers(state, key))
			continue;
		if (is_disputed(key))
			describe_leak(leak, state, key, references, ", or others gave them back");
		else if (key_give_back_locked(patch, key, references) == 0)
			describe_leak(leak, state, key, references, "; they were given back");
		else
			describe_leak(leak, state, key, references, ", which stays on");
	}
}

static bool exiting; /* guarded by the lock */

/* It is unregistered when the process exits only, and its memory stays. */
static bool is_executable(const struct object_state *state)
{
	return object_covers(state, (const void *)getauxval(AT_PHDR));
}

static void forget_locked(struct patch *patch, struct dormant_object *object, struct leak *leak)
{
	const struct object_state *state = object_state(object);
	struct dormant_object *other;

	registry_remove(object);
	operand_forget(object);
	if (!exiting) /* what is held then is no leak, and nobody may be left to tell */
		repair_leaks(patch, object, leak);
	holds_forget(object);
	for (other = registry_first(); other != NULL; other = registry_next(other))
		holds_forget_keys(other, state);
	deferred_forget_locked(patch, state);
	if (registry_first() == NULL)
		text_stop();
}

void dormant_object_unregister(struct dormant_object *object)
{
	struct leak leak = {""};
	struct patch patch;

	if (object == NULL)
		return;
	patch_begin(&patch, NULL);
	if (registry_has(object)) {
		/* Threads may still run and toggle while destructors do. */
		if (is_executable(object_state(object)))
			exiting = true;
		else if (--object->users == 0)
			forget_locked(&patch, object, &leak);
	}
	patch_end(&patch);
	give_notice(leak.message);
}

/* ---- status ---- */

/* " at +0x1234" */
static void add_place(struct dormant_object *object, uintptr_t code, struct dormant_error *error)
{
	error_text(error, " at +0x");
	error_hex(error, code - object_state(object)->bias);
}

static int find_stale(struct dormant_object *object, struct dormant_error *error)
{
	const void *owner;
	uintptr_t code;

	for (const struct dormant_site *entry = object->sites; entry < object->sites_end; entry++) {
		struct site site = registry_site(entry);

		if (site.key == NULL || insn_site_decode((const uint8_t *)site.code) ==
						(int)site_must_jump(site.key, site.likely))
			continue;
		error_begin(error, DORMANT_PHASE_OBJECT, -ESTALE);
		error_text(error, object_state(object)->path);
		error_text(error, ": the site of ");
		error_text(error, site.name);
		add_place(object, site.code, error);
		error_text(error, " does not follow its key; toggle the key to try again");
		return -ESTALE;
	}
	code = operand_find_stale(object, &owner);
	if (code == 0)
		return 0;
	error_begin(error, DORMANT_PHASE_OBJECT, -ESTALE);
	error_text(error, object_state(object)->path);
	error_text(error, ": the site of ");
	registry_name_key(owner, error);
	add_place(object, code, error);
	error_text(error, " does not hold it; set it to try again");
	return -ESTALE;
}

int dormant_status(struct dormant_error *error)
{
	struct dormant_object *object = NULL;
	struct patch patch;
	int result = 0;

	patch_begin(&patch, error);
	if (writers_tried && sync_chosen() == NULL)
		result = sync_refuse(error, -EOPNOTSUPP, switches_nothing);
	else if (writers_tried && text_chosen() == NULL)
		result = refuse_writers(error, -EOPNOTSUPP);
	for (object = registry_first(); object != NULL && result == 0;
	     object = registry_next(object))
		result = object_state(object)->refused != 0 ? registry_check(object, error)
							    : find_stale(object, error);
	patch_end(&patch);
	return result;
}
