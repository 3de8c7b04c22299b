/* SPDX-License-Identifier: MIT */
/*
 * A child is made behind fork()'s back at each step of a patch, and so inherits it half done and
 * locked. Its first call puts text and keys in agreement; its toggles work.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "deadline.h"
#include "fault.h"
#include "many_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(key);
DEFINE_STATIC_KEY_FALSE(other);
DEFINE_STATIC_KEY_FALSE(siteless); /* in a table, but without a site */

DEFINE_1000_SITES(sites, &key)
DEFINE_10_SITES(other_sites, &other)

static enum inject_point where;
static int status; /* of the last child */

static bool agree(void)
{
	return sites() == 1000 * (static_key_count(&key.key) > 0) &&
	       other_sites() == 10 * (static_key_count(&other.key) > 0) &&
	       dormant_status(NULL) == 0;
}

/* In the child: 0 when all is right, else which step was not. */
static int check_child(void)
{
	int count, before;
	sigset_t none;

	deadline_set(20);
	dormant_inject = NULL;
	sigemptyset(&none); /* the hook is called with all of them blocked */
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	if (dormant_status(NULL) != 0 || !agree())
		return 1;
	count = static_key_count(&key.key);
	before = static_key_count(&siteless.key);
	if (static_branch_inc(&key) != 0 || static_key_count(&key.key) != count + 1 || !agree())
		return 2;
	if (static_branch_dec(&key) != 0 || static_key_count(&key.key) != count || !agree())
		return 3;
	if (static_branch_enable(&other) != 0 || other_sites() != 10)
		return 4;
	if (static_branch_inc(&siteless) != 0 || static_key_count(&siteless.key) != before + 1)
		return 5;
	return fault_left_nothing_locked(&other.key) ? 0 : 6;
}

static int make_child(enum inject_point point)
{
	pid_t child;

	if (point != where)
		return point == INJECT_SYNC && where == INJECT_ROLLBACK ? -EPERM : 0;
	where = INJECT_POINTS; /* once */
	child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0)
		_exit(check_child());
	status = deadline_wait(child);
	return 0;
}

static void test_point(enum inject_point point, const char *name, bool on)
{
	const struct static_key_change changes[] = {
		{&key.key, on ? STATIC_KEY_INC : STATIC_KEY_DEC},
		{&siteless.key, on ? STATIC_KEY_INC : STATIC_KEY_DEC}};
	int result;

	where = point;
	status = -1;
	dormant_inject = make_child;
	result = static_key_batch(changes, 2);
	dormant_inject = NULL;
	if (result != 0) /* the point was that of a patch that is taken back */
		(void)static_key_batch(changes, 2);
	ok(status == 0, "%s, %s: the child is repaired and can toggle (status %d)", name,
	   on ? "on" : "off", status);
	ok(agree() && static_key_count(&key.key) == on && static_key_count(&siteless.key) == on,
	   "%s, %s: the parent's patch is completed", name, on ? "on" : "off");
}

int main(void)
{
	static const struct {
		enum inject_point point;
		const char *name;
	} points[] = {
		{INJECT_VERIFIED, "before the first write"},    {INJECT_WRITE, "at a write"},
		{INJECT_WRITTEN, "before the core sync"},       {INJECT_SYNC, "at the core sync"},
		{INJECT_ROLLBACK, "before bytes are put back"},
	};
	const size_t count = sizeof(points) / sizeof(points[0]);

	plan((int)count * 4);
	for (size_t i = 0; i < count; i++) {
		test_point(points[i].point, points[i].name, true);
		test_point(points[i].point, points[i].name, false);
	}
	return done();
}
