/* SPDX-License-Identifier: MIT */
/*
 * The count of Lua's hook key is the number of states that have a hook, whatever becomes of them,
 * and a hook that can not be set is refused and reported.
 *
 * usage: key_count SCRIPT...    each script is run, and must leave the key off when its state
 * closes
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#include "sites.h"
#include "tap.h"

#define SITES 4

static int key_count(void)
{
	return static_key_count(&lua_hook_key.key);
}

/* The count, and the instructions agree with it. */
static bool key_is(int count)
{
	unsigned char opcode = count > 0 ? DORMANT_SITE_OPCODE_ON : DORMANT_SITE_OPCODE_OFF;

	if (key_count() == count && count_sites(opcode) == SITES)
		return true;
	diag("count %d, %d sites on, %d off", key_count(), count_sites(DORMANT_SITE_OPCODE_ON),
	     count_sites(DORMANT_SITE_OPCODE_OFF));
	return false;
}

static void ignore(lua_State *L, lua_Debug *event)
{
	(void)L;
	(void)event;
}

static void remove_itself(lua_State *L, lua_Debug *event)
{
	(void)event;
	lua_sethook(L, NULL, 0, 0);
}

static void raise_error(lua_State *L, lua_Debug *event)
{
	(void)event;
	luaL_error(L, "from a hook");
}

static lua_State *open_state(void)
{
	lua_State *L = luaL_newstate();

	if (L == NULL)
		bail("no memory for a Lua state");
	luaL_openlibs(L);
	return L;
}

static void test_masks(void)
{
	lua_State *L = open_state();

	ok(key_is(0), "off at the start");
	lua_sethook(L, ignore, LUA_MASKCALL, 0);
	ok(key_is(1), "a hook switches it on");
	lua_sethook(L, ignore, LUA_MASKCALL | LUA_MASKLINE, 0);
	lua_sethook(L, remove_itself, LUA_MASKRET, 0);
	ok(key_is(1), "another mask or hook is no second reference");
	lua_sethook(L, NULL, 0, 0);
	ok(key_is(0), "no hook switches it off");
	lua_sethook(L, NULL, 0, 0);
	lua_sethook(L, ignore, 0, 0);
	lua_sethook(L, NULL, LUA_MASKLINE, 0);
	ok(key_is(0), "removing a hook that is not there changes nothing");
	lua_sethook(L, ignore, LUA_MASKCOUNT, 1000);
	lua_close(L);
	ok(key_is(0), "closing a state with a hook switches it off");
}

static void test_threads(void)
{
	lua_State *L = open_state();
	lua_State *thread;

	lua_sethook(L, ignore, LUA_MASKCALL, 0);
	thread = lua_newthread(L);
	ok(key_is(2), "a thread that inherits a hook counts");
	lua_newthread(thread);
	ok(key_is(3), "and one that inherits it from that");
	lua_sethook(L, NULL, 0, 0);
	ok(key_is(2), "they keep their hooks when the creator loses its own");
	lua_newthread(L);
	ok(key_is(2), "a thread without a hook does not count");
	lua_sethook(thread, NULL, 0, 0);
	ok(key_is(1), "a thread's hook is removed");
	lua_settop(L, 0);
	lua_gc(L, LUA_GCCOLLECT, 0);
	ok(key_is(0), "collecting a thread gives its reference back");
	lua_sethook(L, ignore, LUA_MASKLINE, 0);
	for (int i = 0; i < 5; i++)
		lua_newthread(L);
	ok(key_is(6), "six states with a hook");
	lua_close(L);
	ok(key_is(0), "closing gives back all of them");
}

static void test_inside_hooks(void)
{
	lua_State *L = open_state();
	lua_State *other = open_state();

	lua_sethook(L, remove_itself, LUA_MASKCOUNT, 1);
	ok(luaL_dostring(L, "local x = 1; x = x + 1") == LUA_OK && key_is(0),
	   "a hook that removes itself switches the key off");
	lua_sethook(L, raise_error, LUA_MASKCALL, 0);
	ok(luaL_dostring(L, "return math.abs(1)") != LUA_OK && key_is(1),
	   "an error in a hook leaves the hook and its reference");
	lua_sethook(other, ignore, LUA_MASKCALL, 0);
	ok(key_is(2), "a second, unrelated state counts");
	lua_close(L);
	ok(key_is(1), "closing one leaves the other's");
	ok(luaL_dostring(other, "debug.sethook()") == LUA_OK && key_is(0),
	   "a script removes a hook that C set");
	lua_close(other);
}

/* An allocator that fails once its budget is spent. Lua relies on a block to shrink without fail.
 */
static void *allocate(void *budget, void *block, size_t old_bytes, size_t new_bytes)
{
	if (new_bytes == 0) {
		free(block);
		return NULL;
	}
	if (block == NULL || new_bytes > old_bytes) {
		if (*(int *)budget == 0)
			return NULL;
		--*(int *)budget;
	}
	return realloc(block, new_bytes);
}

static int make_hooked_threads(lua_State *L)
{
	lua_sethook(L, ignore, LUA_MASKCALL, 0);
	for (int i = 0; i < 8; i++)
		lua_newthread(L);
	return 0;
}

static bool survives_budget(int budget)
{
	lua_State *L = lua_newstate(allocate, &budget);

	if (L == NULL)
		return key_count() == 0;
	lua_pushcfunction(L, make_hooked_threads);
	lua_pcall(L, 0, 0, 0);
	lua_close(L);
	return key_count() == 0;
}

static void test_no_memory(void)
{
	bool balanced = true;
	int budget;

	for (budget = 0; budget < 80 && balanced; budget++)
		balanced = survives_budget(budget);
	ok(balanced && key_is(0), "balanced whichever of %d allocations fails", budget);
}

/* `cmp $imm32,%eax`: as long and as harmless as a site that is off, and none of its instructions.
 */
#define FOREIGN_OPCODE 0x3d

static void write_opcode(unsigned char *code, unsigned char opcode)
{
	int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (memory < 0 || pwrite(memory, &opcode, 1, (off_t)(uintptr_t)code) != 1)
		bail("/proc/self/mem can not be written");
	close(memory);
}

/* Runs lua_sethook() with stderr going to @output. */
static void set_hook_captured(lua_State *L, char *output, size_t output_bytes)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	dup2(fileno(file), STDERR_FILENO);
	lua_sethook(L, ignore, LUA_MASKCALL, 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	output[fread(output, 1, output_bytes - 1, file)] = '\0';
	fclose(file);
}

static void test_refusal(void)
{
	lua_State *L = open_state();
	unsigned char *site = find_site();
	char output[1024];

	write_opcode(site, FOREIGN_OPCODE);
	set_hook_captured(L, output, sizeof(output));
	ok(lua_gethook(L) == NULL && lua_gethookmask(L) == 0 && key_count() == 0,
	   "a foreign instruction in a site: the hook is not set");
	ok(strncmp(output, "lua: hook not set: ", 19) == 0 &&
		   strchr(output, '\n') == output + strlen(output) - 1 &&
		   strstr(output, "3d") != NULL,
	   "and one line says so and names the byte");
	diag("%.*s", (int)strcspn(output, "\n"), output);
	ok(count_sites(DORMANT_SITE_OPCODE_OFF) == SITES - 1, "the other sites are as before");
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
	ok(luaL_dostring(L, "debug.sethook(print, 'c')") != LUA_OK &&
		   strstr(lua_tostring(L, -1), "hook not set") != NULL,
	   "debug.sethook raises an error");
	write_opcode(site, DORMANT_SITE_OPCODE_OFF);
	lua_sethook(L, ignore, LUA_MASKCALL, 0);
	ok(key_is(1) && lua_gethook(L) == ignore, "once the site is right the hook is set");
	lua_close(L);
	ok(key_is(0), "and the key is off at the end");
}

static int print_nothing(lua_State *L)
{
	(void)L;
	return 0;
}

/* What the script prints is another test's; here it would stand between the results. */
static bool script_leaves_key_off(const char *path)
{
	lua_State *L = open_state();
	int status;

	lua_register(L, "print", print_nothing);
	status = luaL_dofile(L, path);

	if (status != LUA_OK)
		diag("%s", lua_tostring(L, -1));
	lua_close(L);
	return status == LUA_OK && key_is(0);
}

static void test_scripts(int count, char **paths)
{
	for (int i = 0; i < count; i++) {
		const char *slash = strrchr(paths[i], '/');

		ok(script_leaves_key_off(paths[i]), "off after %s", slash ? slash + 1 : paths[i]);
	}
}

int main(int argc, char **argv)
{
	plan(26 + argc - 1);
	test_masks();
	test_threads();
	test_inside_hooks();
	test_no_memory();
	test_scripts(argc - 1, argv + 1);
	test_refusal();
	return done();
}
