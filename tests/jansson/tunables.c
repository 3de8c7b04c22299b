/* SPDX-License-Identifier: MIT */
/*
 * What can be tuned in patched jansson: the functions that allocate, which change together, and the
 * limit of nesting, also while another thread parses.
 */
#include <pthread.h>
#include <stdlib.h>

#include <jansson.h>

#include "tap.h"
#include "tune.h"

#define SWITCHES 50

static int allocated, released;

static void *count_malloc(size_t bytes)
{
	__atomic_fetch_add(&allocated, 1, __ATOMIC_RELAXED);
	return malloc(bytes);
}

static void count_free(void *pointer)
{
	__atomic_fetch_add(&released, 1, __ATOMIC_RELAXED);
	free(pointer);
}

static bool parses(const char *text)
{
	json_t *document = json_loads(text, 0, NULL);

	json_decref(document);
	return document != NULL;
}

static void test_functions(void)
{
	json_malloc_t allocate;
	json_free_t release;

	json_set_alloc_funcs(count_malloc, count_free);
	json_get_alloc_funcs(&allocate, &release);
	ok(allocate == count_malloc && release == count_free, "the functions set are told");
	ok(parses("{\"a\": [1, \"b\"]}") && allocated > 4 && released == allocated,
	   "they are called: %d times to allocate, %d to free", allocated, released);
	json_set_alloc_funcs(malloc, free);
	json_get_alloc_funcs(&allocate, &release);
	allocated = 0;
	ok(parses("[1]") && allocated == 0 && allocate == malloc && release == free,
	   "set back, they are not");
}

static void test_limit(void)
{
	ok(parses("[[[1]]]"), "nesting is allowed as in jansson");
	ok(jansson_set_max_depth(3) == 0 && !parses("[[[1]]]") && parses("[[1]]"),
	   "with a limit of 3, a document of 4 levels is refused, of 3 not");
	ok(jansson_set_max_depth(4) == 0 && parses("[[[1]]]"), "with a limit of 4 it is not");
}

static bool stop;

/* The result is how many documents were refused that no limit set forbids. */
static void *parse_all_the_time(void *argument)
{
	long refused = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		refused += !parses("[{\"a\": \"b\"}, null]");
	(void)argument;
	return (void *)refused;
}

static void test_beside_a_thread(void)
{
	pthread_t thread;
	void *refused = NULL;
	int failed = 0;

	if (pthread_create(&thread, NULL, parse_all_the_time, NULL) != 0)
		bail("no thread");
	allocated = released = 0;
	for (int i = 0; i < SWITCHES; i++) {
		failed += jansson_set_max_depth(100 + (unsigned)i * 1000003u) != 0;
		json_set_alloc_funcs(count_malloc, count_free);
		failed += !parses("[[[1]]]");
		json_set_alloc_funcs(malloc, free);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	(void)pthread_join(thread, &refused);
	ok(failed == 0 && refused == NULL && allocated > SWITCHES,
	   "both follow beside a thread that parses");
}

int main(void)
{
	plan(7);
	test_functions();
	test_limit();
	test_beside_a_thread();
	return done();
}
