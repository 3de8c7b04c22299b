/* SPDX-License-Identifier: MIT */
/*
 * References that are given back later. Those that wait form a list under the lock; a waiting one
 * is still in its key's count, so the key stays on and needs nothing until it is due.
 */
#include <errno.h>
#include <stddef.h>
#include <time.h>

#include "error.h"
#include "holds.h"
#include "patch.h"
#include "registry.h"
#include "static_key.h"

static struct dormant_deferred *waiting; /* changed under the lock */

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_locked(struct dormant_deferred *work, struct static_key *key)
{
	uint64_t now = now_ns();

	work->due_ns = work->interval_ns > UINT64_MAX - now ? UINT64_MAX : now + work->interval_ns;
	work->key = key;
	work->next = waiting;
	__atomic_store_n(&waiting, work, __ATOMIC_RELEASE);
}

static void unwait_locked(struct dormant_deferred *work)
{
	struct dormant_deferred **link = &waiting;

	while (*link != NULL && *link != work)
		link = &(*link)->next;
	if (*link != NULL)
		__atomic_store_n(link, work->next, __ATOMIC_RELEASE);
	work->due_ns = 0;
}

/* Gives a waiting reference back; it waits again where that fails. One that somebody else has given
 * back meanwhile is done. */
static int give_back_locked(struct patch *patch, struct dormant_deferred *work)
{
	struct static_key_change change = {work->key, STATIC_KEY_DEC};
	int result;

	unwait_locked(work);
	result = key_change_locked(patch, &change, 1);
	if (result != 0 && result != -ERANGE)
		wait_locked(work, change.key);
	return result == -ERANGE ? 0 : result;
}

static int refuse_second(const struct static_key *key, struct dormant_error *error)
{
	error_begin(error, DORMANT_PHASE_ARGUMENT, -ERANGE);
	registry_name_key(key, error);
	error_text(error, ": its only reference was given back already and waits for its interval; "
			  "nothing was changed");
	return -ERANGE;
}

static int dec_or_wait_locked(struct patch *patch, struct static_key *key,
			      struct dormant_deferred *work)
{
	struct static_key_change change = {key, STATIC_KEY_DEC};

	if (work->interval_ns == 0 || static_key_count(key) != 1)
		return key_change_locked(patch, &change, 1);
	if (work->due_ns != 0)
		return refuse_second(key, patch->error);
	wait_locked(work, key);
	return 0;
}

int dormant_static_key_deferred_dec(struct static_key *key, struct dormant_deferred *work,
				    struct dormant_object *holder, struct dormant_error *error)
{
	struct patch patch;
	int result;

	if (key == NULL || work == NULL) {
		error_begin(error, DORMANT_PHASE_ARGUMENT, -EINVAL);
		error_text(error, "the key or its deferred work is NULL; nothing was changed");
		return -EINVAL;
	}
	patch_begin(&patch, error);
	result = dec_or_wait_locked(&patch, key, work);
	patch_end(&patch);
	if (result == 0 && holder != NULL)
		holds_add(holder, key, -1);
	return result;
}

int dormant_static_key_deferred_flush(struct dormant_deferred *work, struct dormant_error *error)
{
	struct patch patch;
	int result = 0;

	if (work == NULL)
		return error_begin(error, DORMANT_PHASE_ARGUMENT, -EINVAL);
	patch_begin(&patch, error);
	if (work->due_ns != 0)
		result = give_back_locked(&patch, work);
	patch_end(&patch);
	return result;
}

/* The reference that has to go first, or NULL. */
static struct dormant_deferred *find_earliest(void)
{
	struct dormant_deferred *earliest = waiting;

	for (struct dormant_deferred *work = waiting; work != NULL; work = work->next) {
		if (work->due_ns < earliest->due_ns)
			earliest = work;
	}
	return earliest;
}

int64_t dormant_deferred_run(void)
{
	struct dormant_deferred *work;
	struct patch patch;
	int64_t left_ns = -1;
	uint64_t now;

	if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) == NULL)
		return -1;
	patch_begin(&patch, NULL);
	now = now_ns();
	/* one that fails waits for another interval, which ends after `now`: the loop ends */
	while ((work = find_earliest()) != NULL && work->due_ns <= now)
		(void)give_back_locked(&patch, work);
	if (work != NULL)
		left_ns = work->due_ns - now > INT64_MAX ? INT64_MAX
							 : (int64_t)(work->due_ns - now);
	patch_end(&patch);
	return left_ns;
}

void deferred_forget_locked(struct patch *patch, const struct object_state *state)
{
	struct dormant_deferred *next;

	for (struct dormant_deferred *work = waiting; work != NULL; work = next) {
		next = work->next;
		if (object_covers(state, work->key)) {
			unwait_locked(work);
		} else if (object_covers(state, work)) {
			(void)give_back_locked(patch, work);
			unwait_locked(work); /* also where that failed: the key then stays on */
		}
	}
}
