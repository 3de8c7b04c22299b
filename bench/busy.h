/* SPDX-License-Identifier: MIT */
/*
 * A thread that runs all the time beside what is measured. Where other processes compete it does
 * not always run; a sample that was taken meanwhile is of another state, and must not be kept:
 *
 *     turns = busy_await();
 *     ... what is measured ...
 *     if (busy_ran_since(turns)) keep the sample
 *
 * Without the thread both say yes at once.
 */
#ifndef BENCH_BUSY_H
#define BENCH_BUSY_H

#include <stdbool.h>

/* Starts the one thread, which calls @visit again and again. */
bool busy_start(void (*visit)(void));
void busy_stop(void);

/* Waits until the thread runs on another processor; its turns so far. */
unsigned long busy_await(void);
bool busy_ran_since(unsigned long turns);

#endif
