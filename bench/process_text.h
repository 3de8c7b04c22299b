/* SPDX-License-Identifier: MIT */
/*
 * What a patch must leave alone in this process: the protection and number of its mappings, and,
 * with all keys off, the bytes of its text. Allocates nothing, so that looking changes nothing.
 */
#ifndef BENCH_PROCESS_TEXT_H
#define BENCH_PROCESS_TEXT_H

struct mapping_counts {
	unsigned all, executable, writable_executable;
};

/* Counts the lines of /proc/self/maps. 0 or a negative errno. */
int process_count_mappings(struct mapping_counts *counts);

/* How many bytes of text, in all loaded objects that have a file, differ from that file; -1 when a
 * file can not be read. */
long process_count_changed_bytes(void);

#endif
