/* SPDX-License-Identifier: MIT */
/*
 * Loops that call an empty function again and again, one for each way of calling it. In one shape
 * there is nothing else ("tight"): then a call and its return take as long as they depend on each
 * other, and what else the processor does is hidden behind. In the other each call stands among
 * loads ("among work"), which keep the processor as busy as it can be: then what a call executes
 * takes time. Each exists at several offsets from the start of a line, so that the place of the
 * code does not decide.
 */
#ifndef BENCH_CALL_LOOPS_H
#define BENCH_CALL_LOOPS_H

/* What is called: lives in a file of its own. */
void call_empty(void);
/* The pointer to it. Any function may change it, so it is loaded for each call. */
extern void (*call_pointer)(void);
/* What the work loads. */
extern unsigned long call_data[8];

struct call_loop {
	unsigned long iterations;
};

typedef void call_loop_function(void *loop);

enum { CALL_TIGHT, CALL_AMONG_WORK, CALL_SHAPES };
#define CALL_OFFSETS 8
#define CALL_CALLS   4 /* in an iteration */

#define CALL_LOAD(i) __asm__ volatile("movq %0, %%rax" : : "m"(call_data[i]) : "rax")
#define CALL_WORK_tight
#define CALL_WORK_among                                            \
	{                                                          \
		CALL_EIGHT_LOADS CALL_EIGHT_LOADS CALL_EIGHT_LOADS \
	}
#define CALL_EIGHT_LOADS \
	CALL_LOAD(0);    \
	CALL_LOAD(1);    \
	CALL_LOAD(2);    \
	CALL_LOAD(3);    \
	CALL_LOAD(4);    \
	CALL_LOAD(5);    \
	CALL_LOAD(6);    \
	CALL_LOAD(7);

/* `call_loop_WAY[CALL_SHAPES][CALL_OFFSETS]`: loops of the statement @call. */
#define DEFINE_CALL_LOOPS(way, call)                                             \
	DEFINE_CALL_SHAPE(tight, way, call)                                      \
	DEFINE_CALL_SHAPE(among, way, call)                                      \
	call_loop_function *const call_loop_##way[CALL_SHAPES][CALL_OFFSETS] = { \
		CALL_LOOPS(tight, way), CALL_LOOPS(among, way)}

#define DEFINE_CALL_SHAPE(shape, way, call)    \
	DEFINE_CALL_LOOP(shape, way, call, 1)  \
	DEFINE_CALL_LOOP(shape, way, call, 10) \
	DEFINE_CALL_LOOP(shape, way, call, 19) \
	DEFINE_CALL_LOOP(shape, way, call, 28) \
	DEFINE_CALL_LOOP(shape, way, call, 37) \
	DEFINE_CALL_LOOP(shape, way, call, 46) \
	DEFINE_CALL_LOOP(shape, way, call, 55) \
	DEFINE_CALL_LOOP(shape, way, call, 64)

#define CALL_LOOPS(shape, way)                                                                 \
	{                                                                                      \
		shape##_##way##_1, shape##_##way##_10, shape##_##way##_19, shape##_##way##_28, \
			shape##_##way##_37, shape##_##way##_46, shape##_##way##_55,            \
			shape##_##way##_64                                                     \
	}

#define DEFINE_CALL_LOOP(shape, way, call, offset)                                   \
	static __attribute__((noinline, aligned(64))) void shape##_##way##_##offset( \
		void *argument)                                                      \
	{                                                                            \
		unsigned long left = ((struct call_loop *)argument)->iterations;     \
                                                                                     \
		__asm__ volatile(".skip " #offset ", 0x90" : "+r"(left));            \
		for (; left > 0; left--) {                                           \
			CALL_WORK_##shape call;                                      \
			CALL_WORK_##shape call;                                      \
			CALL_WORK_##shape call;                                      \
			CALL_WORK_##shape call;                                      \
		}                                                                    \
	}

/* Built with retpolines. */
extern call_loop_function *const call_loop_retpoline[CALL_SHAPES][CALL_OFFSETS];

#endif
