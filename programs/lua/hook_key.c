/* SPDX-License-Identifier: MIT */
/*
 * Counts the states of a process that have a hook, on the key that stands before Lua's tests.
 *
 * lua_sethook() may be called from a signal handler, at any instruction of another lua_sethook()
 * for the same state. So the mask is changed by an atomic exchange: whoever takes a mask out that
 * is not 0 gives its reference back, and no reference is given back twice or before it was taken.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "hook_key.h"
#include "lstate.h"

DEFINE_STATIC_KEY_FALSE(lua_hook_key);

/* write() and not stdio, because a signal handler may have set the hook. */
static void write_text(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

static void report(const struct dormant_error *error)
{
	int saved_errno = errno;

	write_text("lua: hook not set: ");
	write_text(error->message);
	write_text("\n");
	errno = saved_errno;
}

static int take_reference(void)
{
	struct dormant_error error;
	int status = dormant_static_key_inc(&lua_hook_key.key, &dormant_object_self, &error);

	if (status != 0)
		report(&error);
	return status;
}

/* Where the key can not be switched off it stays on: the tests run, as they do in Lua as it is. */
static void put_mask(struct lua_State *L, int mask)
{
	if (__atomic_exchange_n(&L->hookmask, mask, __ATOMIC_SEQ_CST) != 0)
		(void)static_branch_dec(&lua_hook_key);
}

void hook_key_set_mask(struct lua_State *L, int mask)
{
	if (mask != 0 && take_reference() != 0) {
		L->hook = NULL;
		mask = 0;
	}
	put_mask(L, mask);
}

void hook_key_thread_created(struct lua_State *L)
{
	if (L->hookmask != 0 && take_reference() != 0) {
		L->hook = NULL;
		L->hookmask = 0;
	}
}

void hook_key_state_closed(struct lua_State *L)
{
	L->hook = NULL;
	put_mask(L, 0);
}
