/* SPDX-License-Identifier: MIT */
/* Opening the file that a command was asked about. */
#include "target.h"

#include "command.h"

int target_open(struct target *target, const char *path)
{
	struct remote_error error;

	*target = (struct target){0};
	if (elf_file_open(&target->file, path, &error) == 0 &&
	    site_table_read(&target->table, target->file, &error) == 0)
		return EXIT_RIGHT;
	return output_error("%s", error.message);
}

void target_close(struct target *target)
{
	site_table_free(target->table);
	elf_file_close(target->file);
}

int target_tell_damage(const struct target *target)
{
	if (target->table->damage.count == 0)
		return EXIT_RIGHT;
	output_error("%s: its tables are damaged, and this is not all of them; 'dormant verify %s' "
		     "tells what is wrong",
		     target->file->path, target->file->path);
	return EXIT_WRONG;
}
