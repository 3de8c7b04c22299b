/* SPDX-License-Identifier: MIT */
/*
 * An allocator that toggles keys, sets a value and updates a call: also while threads allocate,
 * while fork() holds the C library's allocator, and while the dynamic linker loads an object.
 *
 * usage: malloc_hook SHARED_OBJECT
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <dormant/imv.h>
#include <dormant/static_call.h>

#include "deadline.h"
#include "many_sites.h"
#include "tap.h"

#define THREADS 3
#define ROUNDS  1000

DEFINE_STATIC_KEY_FALSE(hook_key);
DEFINE_STATIC_KEY_FALSE(thread_key);

DEFINE_10_SITES(hook_sites, &hook_key)
DEFINE_10_SITES(thread_sites, &thread_key)

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

static int armed; /* not before main(): the hook runs from the start of the program */
static int calls, wrong;

#define PATTERN UINT64_C(0x0101010101010101)

DEFINE_IMV(uint64_t, hook_value) = PATTERN;

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

DEFINE_STATIC_CALL(hook_call, one);

/* Other threads do the same: what is read is one of what is set. */
static bool set_value_and_call(unsigned n)
{
	bool set = imv_set(hook_value, (n % 200 + 1) * PATTERN) == 0 &&
		   static_call_update(hook_call, n % 2 == 0 ? one : two) == 0;
	uint64_t value = imv_read(hook_value);
	int called = static_call(hook_call)();

	return set && value == (value & 0xff) * PATTERN && (called == 1 || called == 2);
}

static void hook(void)
{
	unsigned n;

	if (!__atomic_load_n(&armed, __ATOMIC_RELAXED))
		return;
	n = (unsigned)__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
	if (n % 8 == 0 && !set_value_and_call(n))
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
	if (static_branch_inc(&hook_key) != 0 || hook_sites() != 10 ||
	    static_branch_dec(&hook_key) != 0)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	hook();
	return __libc_malloc(size);
}

void free(void *memory)
{
	hook();
	__libc_free(memory);
}

static void *allocate(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *volatile memory = malloc((size_t)i);

		if (static_branch_inc(&thread_key) != 0 || thread_sites() != 10 ||
		    static_branch_dec(&thread_key) != 0)
			__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		free(memory);
	}
	return data;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, allocate, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(calls >= 2 * THREADS * ROUNDS, "the hook ran: %d", calls);
	ok(wrong == 0, "each of its toggles took effect at once (%d not)", wrong);
}

static void test_fork(void)
{
	pthread_t thread;
	int bad = 0;

	pthread_create(&thread, NULL, allocate, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (child == 0) {
			deadline_set(20);
			free(malloc(100));
			/* it keeps the reference that the thread held at the fork */
			_exit(wrong != 0 || hook_sites() != 10 * static_key_count(&hook_key.key));
		}
		bad += deadline_wait(child) != 0;
	}
	pthread_join(thread, NULL);
	ok(bad == 0 && wrong == 0, "also in children that fork() made meanwhile (%d not)", bad);
}

static void test_loading(const char *path)
{
	int (*switch_and_count)(int on) = NULL;
	void *handle = dlopen(path, RTLD_NOW);

	if (handle != NULL)
		*(void **)&switch_and_count = dlsym(handle, "alone_switch");
	ok(switch_and_count != NULL && switch_and_count(1) == 10 && wrong == 0,
	   "also while the dynamic linker allocates");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		bail("usage: %s SHARED_OBJECT", argv[0]);
	deadline_set(60);
	plan(5);
	__atomic_store_n(&armed, 1, __ATOMIC_RELAXED);
	test_threads();
	test_fork();
	test_loading(argv[1]);
	ok(static_key_count(&hook_key.key) == 0 && hook_sites() == 0 &&
		   imv_read(hook_value) == imv_get(hook_value) && dormant_status(NULL) == 0,
	   "afterwards keys, values and sites agree");
	return done();
}
