/* SPDX-License-Identifier: MIT */
/*
 * A program with START_SITES sites that prints how long the library took to make them known, in
 * nanoseconds. It stands between its own constructor and the library: the constructor calls the
 * function of this file, because the executable comes first when a name is looked up.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "measure.h"
#include "sites.h"

DEFINE_SITES(start_key, START_SITES, 64);

static uint64_t register_ns;

int dormant_object_register(struct dormant_object *object)
{
	int (*real)(struct dormant_object *) =
		(int (*)(struct dormant_object *))dlsym(RTLD_NEXT, "dormant_object_register");
	uint64_t begin_ns = measure_now_ns();
	int result = real(object);

	register_ns += measure_now_ns() - begin_ns;
	return result;
}

int main(void)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)register_ns);

	return write(STDOUT_FILENO, line, (size_t)length) != length ||
	       dormant_object_self.users != 1;
}
