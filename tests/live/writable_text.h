/* SPDX-License-Identifier: MIT */
/* Whether a page was left writable and executable. */
#ifndef WRITABLE_TEXT_H
#define WRITABLE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* False also where /proc does not tell. */
static inline bool is_text_writable(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[1024], access[5];
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL)
		found = sscanf(line, "%*s %4s", access) == 1 && access[1] == 'w' &&
			access[2] == 'x';
	if (maps != NULL)
		(void)fclose(maps);
	return found;
}

#endif
