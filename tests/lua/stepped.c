/* SPDX-License-Identifier: MIT */
/*
 * A signal handler may call lua_sethook() at any instruction of another lua_sethook(): a parent
 * steps its child through the call, and interrupts it once after each number of instructions.
 * Whatever the two leave as the hook mask, the key's count agrees with it.
 *
 * All of the first instructions are tried, where Lua's own state changes; later ones, in the patch
 * that switches the key, at growing distances.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"

#include "sites.h"
#include "tap.h"

#define LIMIT_SECONDS 120
/* One way in which two calls can meet. */
struct meeting {
	const char *name;
	int before;    /* the mask of the state at the start */
	int called;    /* the mask that the interrupted call sets */
	int handler;   /* the mask that the handler sets */
	int elsewhere; /* references that another state holds: 0 means that the key is switched */
};

static const struct meeting meetings[] = {
	{"set, interrupted by remove", 0, LUA_MASKCALL, 0, 1},
	{"changed, interrupted by remove", LUA_MASKLINE, LUA_MASKCALL, 0, 1},
	{"removed, interrupted by set", LUA_MASKLINE, 0, LUA_MASKCOUNT, 1},
	{"set and switched on, interrupted by remove", 0, LUA_MASKCALL, 0, 0},
	{"removed and switched off, interrupted by set", LUA_MASKLINE, 0, LUA_MASKCOUNT, 0},
};

/* Shared by parent and child. */
struct report {
	bool finished; /* the parent: the call was stepped to its end */
	int handled;   /* the child: signals handled */
	int wrong;     /* the child: rounds after which the count was wrong */
};

static struct report *report;
static lua_State *state;
static int handler_mask;

static void ignore(lua_State *L, lua_Debug *event)
{
	(void)L;
	(void)event;
}

static void on_signal(int number)
{
	(void)number;
	lua_sethook(state, ignore, handler_mask, 1000);
	report->handled++;
}

static bool count_is_right(int elsewhere)
{
	int count = elsewhere + (lua_gethookmask(state) != 0);

	return static_key_count(&lua_hook_key.key) == count &&
	       count_sites(count > 0 ? DORMANT_SITE_OPCODE_ON : DORMANT_SITE_OPCODE_OFF) == 4;
}

/* The child: makes the same call again and again, and stops before and after it for the parent. */
static int run_child(const struct meeting *meeting)
{
	struct sigaction action = {.sa_handler = on_signal};
	lua_State *other = luaL_newstate();

	state = luaL_newstate();
	handler_mask = meeting->handler;
	sigaction(SIGINT, &action, NULL);
	lua_sethook(other, ignore, meeting->elsewhere ? LUA_MASKCALL : 0, 0);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		return 1;
	while (!report->finished) {
		lua_sethook(state, ignore, meeting->before, 1000);
		raise(SIGSTOP);
		lua_sethook(state, ignore, meeting->called, 1000);
		raise(SIGSTOP);
		report->wrong += !count_is_right(meeting->elsewhere);
		lua_sethook(state, NULL, 0, 0);
		report->wrong += !count_is_right(meeting->elsewhere);
	}
	return 0;
}

/* Steps the stopped child; false where it reached the end of the call before. */
static bool step(pid_t child, int steps)
{
	int status;

	while (steps-- > 0) {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			bail("the child can not be stepped");
		if (WSTOPSIG(status) == SIGSTOP)
			return false;
	}
	return true;
}

/*
 * Lets the child run, with a signal or 0, to where it stops itself, or its end. A signal that it
 * has blocked is reported anew when it unblocks it, and delivered then.
 */
static int resume(pid_t child, int signal_number)
{
	int status = 0;

	do {
		ptrace(PTRACE_CONT, child, NULL, signal_number);
		if (waitpid(child, &status, 0) != child)
			bail("the child is gone");
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == signal_number);
	return status;
}

/* The parent: one interruption a round. Returns how many there were. */
static int interrupt_each(pid_t child)
{
	int rounds = 0;

	for (int steps = 1; step(child, steps); steps += 1 + steps / 200 * (steps / 40)) {
		if (!WIFSTOPPED(resume(child, SIGINT)) || !WIFSTOPPED(resume(child, 0)))
			bail("the child ended after %d instructions and a signal", steps);
		rounds++;
	}
	return rounds;
}

static void test_meeting(const struct meeting *meeting)
{
	int status, rounds;
	pid_t child;

	memset(report, 0, sizeof(*report));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(run_child(meeting));
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
		skip(meeting->name, "ptrace is refused here");
		return;
	}
	rounds = interrupt_each(child);
	report->finished = true;
	status = resume(child, 0);
	ok(rounds > 50 && report->handled == rounds && report->wrong == 0 && WIFEXITED(status),
	   "%s", meeting->name);
	diag("%d interruptions, %d handled, %d counts wrong", rounds, report->handled,
	     report->wrong);
}

int main(void)
{
	int count = sizeof(meetings) / sizeof(meetings[0]);

	plan(count);
	alarm(LIMIT_SECONDS);
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		bail("no shared memory");
	for (int i = 0; i < count; i++)
		test_meeting(&meetings[i]);
	return done();
}
