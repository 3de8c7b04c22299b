/* SPDX-License-Identifier: MIT */
/* Core sync and its fallback; see sync.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "error.h"
#include "inject.h"
#include "sync.h"

static const struct sync_way *chosen; /* guarded by the lock */

/* ---- membarrier ---- */

static int call_membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0) == 0 ? 0 : -errno;
}

static int run_membarrier(void)
{
	int result = call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);

	if (result != -EPERM)
		return result;
	/* not registered yet: at start, and in a process that lost the registration */
	result = call_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
	return result != 0 ? result : call_membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

/* ---- alone ---- */

bool sync_is_alone(void)
{
	struct stat status;

	/* the kernel counts a link for each thread, after those of any directory */
	return stat("/proc/self/task", &status) == 0 && status.st_nlink == 3;
}

/* ---- walk ---- */

#define CPUS_MAX  8192
#define CPU_WORDS (CPUS_MAX / (8 * sizeof(unsigned long)))

/* Sets of CPUs as the kernel takes them: static, because they are large for a signal stack. */
static unsigned long allowed[CPU_WORDS], wanted[CPU_WORDS], single[CPU_WORDS];

/* The raw calls: the C library's version of the first one hides how many bytes are valid. */
static long get_affinity(long thread, unsigned long *set)
{
	memset(set, 0, sizeof(allowed));
	return syscall(SYS_sched_getaffinity, thread, sizeof(allowed), set);
}

static int set_affinity(const unsigned long *set)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof(allowed), set) == 0 ? 0 : -errno;
}

struct kernel_dirent {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

static void add_thread(const char *name)
{
	static unsigned long set[CPU_WORDS];
	long thread = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		thread = 10 * thread + (*name - '0');
	if (*name != '\0' || thread == 0 || get_affinity(thread, set) < 0)
		return; /* ended meanwhile */
	for (size_t i = 0; i < CPU_WORDS; i++)
		wanted[i] |= set[i];
}

/* Adds the CPUs of every thread to `wanted`, and returns true. Without /proc: every CPU that may be
 * there, and false. */
static bool collect_cpus(void)
{
	static _Alignas(struct kernel_dirent) char buffer[4096];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long bytes;

	if (fd < 0) {
		memset(wanted, 0xff, sizeof(wanted));
		return false;
	}
	while ((bytes = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0) {
		for (long at = 0; at < bytes;) {
			const struct kernel_dirent *entry = (const void *)(buffer + at);

			add_thread(entry->name);
			at += entry->length;
		}
	}
	(void)close(fd);
	return true;
}

static bool is_in(const unsigned long *set, size_t cpu)
{
	return (set[cpu / (8 * sizeof(*set))] >> cpu % (8 * sizeof(*set)) & 1) != 0;
}

/* The kernel says -EINVAL for a CPU that is not running, and for one that a cpuset closes to this
 * thread. A thread's own set holds only CPUs that run, so there it is the latter. */
static int visit_cpus(bool threads_known)
{
	for (size_t cpu = 0; cpu < CPUS_MAX; cpu++) {
		int result;

		if (!is_in(wanted, cpu))
			continue;
		memset(single, 0, sizeof(single));
		single[cpu / (8 * sizeof(*single))] = 1UL << cpu % (8 * sizeof(*single));
		result = set_affinity(single);
		if (result != 0 && (result != -EINVAL || threads_known))
			return result;
	}
	return 0;
}

static int run_walk(void)
{
	int result, restored;

	if (get_affinity(0, allowed) < 0)
		return -errno;
	memcpy(wanted, allowed, sizeof(wanted));
	result = visit_cpus(collect_cpus());
	restored = set_affinity(allowed);
	return result != 0 ? result : restored;
}

/* ---- none ---- */

static int run_none(void)
{
	return live_is_serialized() ? 0 : -EOPNOTSUPP;
}

/* ---- the choice ---- */

static const struct sync_way none = {
	"none", "only where one thread runs at a time, as under valgrind", run_none};
static const struct sync_way membarrier = {
	"membarrier", "interrupts the CPUs that run the process; leaves nothing", run_membarrier};
static const struct sync_way walk = {
	"walk", "moves the calling thread to each CPU in turn; its affinity is restored", run_walk};

const struct sync_way *const sync_ways[] = {&none, &membarrier, &walk};
const size_t sync_ways_count = sizeof(sync_ways) / sizeof(sync_ways[0]);

int sync_start(void)
{
	int result = -ENOSYS;

	chosen = NULL;
	for (size_t i = 0; i < sync_ways_count; i++) {
		result = sync_ways[i]->run();
		if (result == 0) {
			chosen = sync_ways[i];
			break;
		}
	}
	return result;
}

int sync_ready(void)
{
	return chosen != NULL ? 0 : sync_start();
}

int sync_cores(void)
{
	int result = INJECT(INJECT_SYNC);

	if (result != 0)
		return result;
	if (chosen != NULL && chosen->run() == 0)
		return 0;
	return sync_start();
}

int sync_refuse(struct dormant_error *error, int code, const char *outcome)
{
	error_begin(error, DORMANT_PHASE_SYNC, code);
	error_text(error, "other threads can not be made to see new code (");
	error_errno(error, code);
	error_text(error, "); ");
	error_text(error, outcome);
	error_text(error, ". Allow membarrier or sched_setaffinity");
	return code;
}

const struct sync_way *sync_chosen(void)
{
	return chosen;
}
