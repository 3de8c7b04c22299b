/* SPDX-License-Identifier: MIT */
/*
 * 1,000 SIGINTs while hooks are switched on and off: the handler sets a hook as the one of lua.c
 * does, at any instruction of lua_sethook() and of the library, and nothing hangs or is left
 * behind.
 *
 * No line hooks: Lua 5.3.6 as it is dies with them here, about one run in twenty, because an error
 * thrown out of a hook leaves `oldpc` in code that may be collected before the next line event.
 *
 * A child sends the signals, each after the one before was handled, because equal signals coalesce.
 * A second thread switches hooks in a state of its own, so that the library's lock is contended.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#include "sites.h"
#include "tap.h"

#define SIGNALS          1000
#define LIMIT_SECONDS    100
#define SEND_INTERVAL_US 200

static const char toggling[] =
	"local seen = 0\n"
	"local function hook() seen = seen + 1 end\n"
	"for i = 1, 50 do\n"
	"	debug.sethook(hook, i % 2 == 0 and 'r' or 'cr', i % 3 + 1)\n"
	"	local co = coroutine.wrap(function() return coroutine.yield(i) end)\n"
	"	co()\n"
	"	debug.sethook()\n"
	"	co()\n"
	"end\n"
	"collectgarbage()\n";

static lua_State *signalled;              /* as globalL of lua.c */
static volatile sig_atomic_t *handled;    /* shared with the child */
static volatile sig_atomic_t interrupted; /* how often the hook of the handler ran */
static int finished;                      /* atomic */

/* The hook and the handler of lua.c, but that the handler stays. */
static void stop(lua_State *L, lua_Debug *event)
{
	(void)event;
	lua_sethook(L, NULL, 0, 0);
	interrupted++;
	luaL_error(L, "interrupted!");
}

static void on_signal(int number)
{
	(void)number;
	lua_sethook(signalled, stop, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT, 1);
	++*handled;
}

static void run_once(lua_State *L)
{
	if (luaL_dostring(L, toggling) != LUA_OK)
		lua_pop(L, 1);
}

static void *toggle_elsewhere(void *data)
{
	lua_State *L = luaL_newstate();

	(void)data;
	luaL_openlibs(L);
	while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE))
		run_once(L);
	lua_close(L);
	return NULL;
}

/* Sends the signals one after the other; 0 when all were handled. */
static int send_signals(pid_t receiver)
{
	for (int sent = 0; sent < SIGNALS; sent++) {
		if (kill(receiver, SIGINT) != 0)
			return 1;
		for (int waits = 0; *handled <= sent; waits++) {
			if (waits > 10 * 1000 * 1000 / SEND_INTERVAL_US)
				return 1;
			usleep(SEND_INTERVAL_US);
		}
	}
	return 0;
}

static pid_t start_sender(void)
{
	pid_t receiver = getpid();
	pid_t sender = fork();

	if (sender == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(send_signals(receiver));
	}
	return sender;
}

/* The thread inherits a mask in which SIGINT is blocked: the handler is for the main thread. */
static pthread_t start_toggler(void)
{
	pthread_t thread;
	sigset_t block, before;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	if (pthread_create(&thread, NULL, toggle_elsewhere, NULL) != 0)
		bail("no thread");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

static int run_until_sent(pid_t sender)
{
	int status;

	while (waitpid(sender, &status, WNOHANG) == 0)
		run_once(signalled);
	return status;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t toggler;
	int status;

	plan(5);
	alarm(LIMIT_SECONDS);
	handled = mmap(NULL, sizeof(*handled), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (handled == MAP_FAILED)
		bail("no shared memory");
	signalled = luaL_newstate();
	luaL_openlibs(signalled);
	sigaction(SIGINT, &action, NULL);
	toggler = start_toggler();
	status = run_until_sent(start_sender());
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0 && *handled == SIGNALS,
	   "%d of %d signals handled", (int)*handled, SIGNALS);
	ok(interrupted > 0, "the hook of the handler ran %d times", (int)interrupted);
	__atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
	pthread_join(toggler, NULL);
	lua_sethook(signalled, NULL, 0, 0);
	ok(luaL_dostring(signalled, "return math.abs(-1)") == LUA_OK, "the state still works");
	lua_close(signalled);
	ok(static_key_count(&lua_hook_key.key) == 0, "the key's count is 0 at the end");
	ok(count_sites(DORMANT_SITE_OPCODE_OFF) == 4 && count_sites(DORMANT_SITE_OPCODE_ON) == 0,
	   "all four sites are off");
	return done();
}
