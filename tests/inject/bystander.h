/* SPDX-License-Identifier: MIT */
/* A second thread that does nothing, so that the process is not alone. */
#ifndef BYSTANDER_H
#define BYSTANDER_H

#include <pthread.h>
#include <unistd.h>

static pthread_t bystander_thread;
static int bystander_stop;

static inline void *bystander_wait(void *data)
{
	while (!__atomic_load_n(&bystander_stop, __ATOMIC_ACQUIRE))
		usleep(1000);
	return data;
}

static inline void bystander_start(void)
{
	(void)pthread_create(&bystander_thread, NULL, bystander_wait, NULL);
}

static inline void bystander_end(void)
{
	__atomic_store_n(&bystander_stop, 1, __ATOMIC_RELEASE);
	(void)pthread_join(bystander_thread, NULL);
}

#endif
