/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: a test can make each step of a patch fail, fall short or wait. In a production
 * build every hook is the constant 0 and leaves no instruction.
 */
#ifndef DORMANT_SRC_INJECT_H
#define DORMANT_SRC_INJECT_H

enum inject_point {
	INJECT_MEMORY,   /* before memory for sites is mapped */
	INJECT_VERIFIED, /* after every site was verified, before the first write */
	INJECT_WRITE,    /* before each write of a writer: an errno refuses it */
	INJECT_SHORT,    /* each write: non-zero makes it fall short */
	INJECT_WRITTEN,  /* after the last write, before the core sync */
	INJECT_SYNC,     /* in place of each core sync */
	INJECT_ROLLBACK, /* before each write that puts bytes back */
	INJECT_POINTS,
};

#ifdef DORMANT_INJECTION
/* Set by a test: returns 0 or a negative errno; may sleep, fork, or do what another thread could.
 */
extern int (*dormant_inject)(enum inject_point point);
#define INJECT(point) (dormant_inject != 0 ? dormant_inject(point) : 0)
#else
#define INJECT(point) 0
#endif

#endif
