/* SPDX-License-Identifier: MIT */
/* Ways to take something away from the calling process. Each returns false where this machine, or
 * the process, can not. What they take can not be given back. */
#ifndef RESTRICTIONS_H
#define RESTRICTIONS_H

#include <stdbool.h>

bool refuse_nothing(void);

/* Process attributes. */
bool set_mdwe(void);
bool become_nobody(void);
bool set_undumpable(void);
bool set_undumpable_and_close(void); /* every descriptor above 2 */
bool seal_text(void);                /* mseal() on every executable mapping */

/* The file system. */
bool unmount_proc(void);
bool unmount_proc_with_mdwe(void);
bool change_root(void);

/* System calls, through a filter: EPERM where the name does not say otherwise. */
bool refuse_pwrite(void);
bool refuse_open_write(void); /* open for reading and writing */
bool refuse_mprotect(void);   /* with PROT_EXEC */
bool refuse_memfd(void);
bool remove_membarrier(void); /* ENOSYS */
bool refuse_membarrier(void);
bool refuse_membarrier_and_proc(void);
bool refuse_two_writers(void); /* pwrite64 and mprotect */
bool refuse_writers(void);     /* and memfd_create */
bool refuse_whole(void);       /* mprotect and memfd_create */
bool refuse_syncs(void);       /* membarrier and sched_setaffinity */
bool refuse_all(void);         /* both of these */

#endif
