/* SPDX-License-Identifier: MIT */
/* See restrictions.h. The filters are written out as BPF, so that no library is needed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "restrictions.h"

#ifndef PR_SET_MDWE
#define PR_SET_MDWE              65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif
#define SYSTEM_CALL_MSEAL 462
#define NOBODY            65534

bool refuse_nothing(void)
{
	return true;
}

/* ---- process attributes ---- */

bool set_mdwe(void)
{
	return prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) == 0;
}

bool become_nobody(void)
{
	return setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

bool set_undumpable(void)
{
	return become_nobody() && prctl(PR_SET_DUMPABLE, 0) == 0;
}

bool set_undumpable_and_close(void)
{
	return set_undumpable() && close_range(3, ~0U, 0) == 0;
}

bool seal_text(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024];
	bool sealed = maps != NULL;

	while (sealed && fgets(line, sizeof(line), maps) != NULL) {
		unsigned long begin, end;
		char access[5];

		if (sscanf(line, "%lx-%lx %4s", &begin, &end, access) == 3 && access[2] == 'x' &&
		    strstr(line, "[vsyscall]") == NULL)
			sealed = syscall(SYSTEM_CALL_MSEAL, begin, end - begin, 0) == 0;
	}
	if (maps != NULL)
		(void)fclose(maps);
	return sealed;
}

/* ---- the file system ---- */

bool unmount_proc(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       umount2("/proc", MNT_DETACH) == 0 && access("/proc/self/mem", F_OK) != 0;
}

bool unmount_proc_with_mdwe(void)
{
	return unmount_proc() && set_mdwe() && close_range(3, ~0U, 0) == 0;
}

bool change_root(void)
{
	return chroot("/var/empty") == 0 || chroot("/sys") == 0 ? chdir("/") == 0 : false;
}

/* ---- system calls ---- */

/* Refuses system call @number with @error where argument @argument has one of @bits; 0 bits: always
 * (all arguments here are ints, so the low half is enough). */
static bool filter(long number, unsigned argument, unsigned bits, int error)
{
	const unsigned value = offsetof(struct seccomp_data, args) + 8 * argument;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, bits != 0 ? 3 : 1),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, value),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (bits == 0) { /* without the test of the argument */
		code[2] = code[4];
		code[3] = code[5];
		program.len = 4;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool refuse_pwrite(void)
{
	return filter(SYS_pwrite64, 0, 0, EPERM);
}

bool refuse_open_write(void)
{
	return filter(SYS_openat, 2, O_RDWR, EACCES) && close_range(3, ~0U, 0) == 0;
}

bool refuse_mprotect(void)
{
	return filter(SYS_mprotect, 2, PROT_EXEC, EPERM);
}

bool refuse_memfd(void)
{
	return filter(SYS_memfd_create, 0, 0, EPERM);
}

bool remove_membarrier(void)
{
	return filter(SYS_membarrier, 0, 0, ENOSYS);
}

bool refuse_membarrier(void)
{
	return filter(SYS_membarrier, 0, 0, EPERM);
}

bool refuse_membarrier_and_proc(void)
{
	return unmount_proc() && refuse_membarrier();
}

bool refuse_two_writers(void)
{
	return refuse_pwrite() && refuse_mprotect();
}

bool refuse_writers(void)
{
	return refuse_two_writers() && refuse_memfd();
}

bool refuse_whole(void)
{
	return refuse_mprotect() && refuse_memfd();
}

bool refuse_syncs(void)
{
	return refuse_membarrier() && filter(SYS_sched_setaffinity, 0, 0, EPERM);
}

bool refuse_all(void)
{
	return refuse_writers() && refuse_syncs();
}
