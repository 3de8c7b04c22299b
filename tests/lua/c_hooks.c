/* SPDX-License-Identifier: MIT */
/*
 * What only a program in C can do with hooks, written to standard output, to be compared between
 * Lua as it is and patched Lua: hooks that yield, that belong to another state, that change the
 * mask.
 */
#include <stdio.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

static const char script[] = "local function leaf(x)\n"
			     "	return x + 1\n"
			     "end\n"
			     "local sum = 0\n"
			     "for i = 1, 3 do\n"
			     "	sum = sum + leaf(i)\n"
			     "	sum = math.max(sum, i)\n"
			     "end\n"
			     "return sum\n";

static const char *const event_names[] = {"call", "return", "line", "count", "tail call"};

static void print_event(lua_State *L, lua_Debug *event)
{
	lua_getinfo(L, "nSlt", event);
	printf("%s %s:%d name %s%s\n", event_names[event->event], event->what, event->currentline,
	       event->name ? event->name : "?", event->istailcall ? " tail" : "");
}

/* A hook for lines or counts may yield, with no values. */
static void print_and_yield(lua_State *L, lua_Debug *event)
{
	print_event(L, event);
	if (lua_isyieldable(L))
		lua_yield(L, 0);
}

/* Goes through all masks, one an event, and ends by removing itself. */
static void next_mask(lua_State *L, lua_Debug *event)
{
	int mask = lua_gethookmask(L);

	print_event(L, event);
	printf("mask %d count %d\n", mask, lua_gethookcount(L));
	lua_sethook(L, next_mask, mask - 1, 1);
}

static lua_State *other;

static void hook_other(lua_State *L, lua_Debug *event)
{
	int mask = lua_gethookmask(other);

	print_event(L, event);
	lua_sethook(other, print_event, mask ? 0 : LUA_MASKLINE, 0);
	printf("other: %d\n", luaL_dostring(other, "local x = 1\nx = x + 1"));
}

static lua_State *load_script(lua_State *L)
{
	lua_State *thread = lua_newthread(L);

	luaL_loadbuffer(thread, script, sizeof(script) - 1, "=script");
	return thread;
}

static void run_yielding(lua_State *L, int mask, int count)
{
	lua_State *thread = load_script(L);
	int status, resumes = 0;

	printf("== yielding, mask %d, count %d\n", mask, count);
	lua_sethook(thread, print_and_yield, mask, count);
	do {
		status = lua_resume(thread, NULL, 0);
		resumes++;
	} while (status == LUA_YIELD);
	printf("status %d after %d resumes: %lld\n", status, resumes, lua_tointeger(thread, -1));
	lua_settop(L, 0);
}

static void run_with(lua_State *L, const char *name, lua_Hook hook, int mask, int count)
{
	lua_State *thread = load_script(L);
	int status;

	printf("== %s, mask %d, count %d\n", name, mask, count);
	lua_sethook(thread, hook, mask, count);
	status = lua_pcall(thread, 0, 1, 0);
	printf("status %d: %lld, mask %d\n", status, lua_tointeger(thread, -1),
	       lua_gethookmask(thread));
	lua_settop(L, 0);
}

int main(void)
{
	lua_State *L = luaL_newstate();

	other = luaL_newstate();
	luaL_openlibs(L);
	luaL_openlibs(other);
	for (int mask = 0; mask < 16; mask++)
		run_with(L, "printing", print_event, mask, 2);
	run_yielding(L, LUA_MASKLINE, 0);
	for (int count = 1; count < 5; count++)
		run_yielding(L, LUA_MASKCOUNT, count);
	run_yielding(L, LUA_MASKLINE | LUA_MASKCOUNT, 2);
	run_with(L, "next mask", next_mask, 15, 1);
	run_with(L, "hooking another state", hook_other, LUA_MASKLINE, 0);
	lua_close(other);
	lua_close(L);
	return 0;
}
