/* SPDX-License-Identifier: MIT */
/*
 * The static key in front of Lua's tests for hooks, as the edits of hook_key.edits use it.
 *
 * While the key is off no state of the process has a hook, so a test of any state's hook mask would
 * fail: the tests are skipped. While it is on they run as Lua wrote them. What holds:
 *
 *   - a state whose hook mask is not 0 holds one reference on the key
 *   - the reference is taken before the mask is set, and given back after it was cleared: so the
 * key is on whenever a mask is set, at every instruction, also for a signal handler
 *
 * With HOOK_KEY_OUT the tests are compiled out altogether, to measure against: hooks never run
 * then.
 */
#ifndef HOOK_KEY_H
#define HOOK_KEY_H

struct lua_State;

#ifdef HOOK_KEY_OUT

#define hook_key_on()                   0
#define hook_key_set_mask(L, mask_byte) ((L)->hookmask = (mask_byte))

#else

#include <dormant/static_key.h>

DECLARE_STATIC_KEY_FALSE(lua_hook_key);

/** True while any state may have a hook; one instruction while none has. */
#define hook_key_on()               static_branch_unlikely(&lua_hook_key)

/**
 * Sets or clears (0) a state's hook mask. Where the key can not be switched on, the state is left
 * without a hook (lua_gethook() returns NULL) and one line on stderr says why. Signals: safe.
 */
void hook_key_set_mask(struct lua_State *L, int mask);

/** Takes the reference of a thread that has just inherited the hook of its creator. */
void hook_key_thread_created(struct lua_State *L);

/** Gives back the reference of a state that is about to be freed, if it holds one. */
void hook_key_state_closed(struct lua_State *L);

/* Lua calls these for every thread it makes or frees, and for the main thread when it closes. */
#define luai_userstatethread(L, L1) hook_key_thread_created(L1)
#define luai_userstatefree(L, L1)   hook_key_state_closed(L1)
#define luai_userstateclose(L)      hook_key_state_closed(L)

#endif

/** The function that a hot function leaves to when the key is on: see README.md. */
#define hook_key_cold __attribute__((cold, noinline, unused))
/** The hot function: what it calls is laid into it, also where the cold one calls the same. */
#define hook_key_hot __attribute__((flatten))

#endif
