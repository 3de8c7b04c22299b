/* SPDX-License-Identifier: MIT */
/* Opening the file or process that a command was asked about. */
#include "target.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static int open_file(struct target *target)
{
	struct remote_error error;

	if (elf_file_open(&target->file, target->subject, &error) == 0 &&
	    site_table_read(&target->table, target->file, &error) == 0)
		return EXIT_RIGHT;
	return output_error("%s", error.message);
}

static int open_process(struct target *target)
{
	struct remote_error error;
	long pid = strtol(target->subject, NULL, 10);

	if (pid < 1 || pid > INT_MAX)
		return output_error("%s: no such process; a file of that name is written ./%s",
				    target->subject, target->subject);
	if (process_open(&target->process, (int)pid, &error) == 0 &&
	    process_objects_open(&target->objects, target->process, &error) == 0)
		return EXIT_RIGHT;
	return output_error("%s", error.message);
}

/* A word of digits is a process, also where it is too large for one. */
int target_open(struct target *target, const char *subject)
{
	*target = (struct target){.subject = subject};
	if (!*subject || subject[strspn(subject, "0123456789")] != '\0')
		return open_file(target);
	return open_process(target);
}

void target_close(struct target *target)
{
	site_table_free(target->table);
	elf_file_close(target->file);
	process_objects_close(&target->objects);
	process_close(target->process);
}

bool target_next(struct target *target, size_t *at, struct target_object *object)
{
	size_t i = (*at)++;

	if (target->table) {
		*object = (struct target_object){target, target->file, target->table, NULL, 0};
		return i == 0;
	}
	while (i < target->objects.count && !target->objects.list[i].table)
		i++;
	*at = i + 1;
	if (i >= target->objects.count)
		return false;
	*object = (struct target_object){target, target->objects.list[i].file,
					 target->objects.list[i].table, &target->objects.list[i],
					 target->objects.list[i].bias};
	return true;
}

void target_present_text(char text[KEY_TEXT_BYTES], const struct target_object *object,
			 const struct key *key)
{
	process_key_text(text, &object->target->objects, object->process_object, key);
}

const struct key *target_definition(const struct target_object *object, const struct key *key)
{
	if (!object->process_object)
		return key;
	return process_key_definition(&object->target->objects, object->process_object, key);
}

/* ---- printing ---- */

/* A state of a key, or the text of a value or a call. */
static void print_text(struct output *output, const char *name, const struct key *key,
		       const char *text)
{
	bool known = strcmp(text, "-") != 0;

	if (key_use(key) == KEY_USED_AS_KEY)
		output_flag(output, name, known ? strcmp(text, "on") == 0 : -1, "on", "off");
	else
		output_string(output, name, known ? text : NULL);
}

void target_print_facts(struct output *output, const struct target_object *object,
			const struct key *key)
{
	char text[KEY_TEXT_BYTES];

	output_string(output, "name", key->name);
	output_string(output, "kind", key_kind_name(key->kind));
	key_type_text(text, target_definition(object, key));
	output_string(output, "type", key->kind == KEY_VALUE ? text : NULL);
	key_initial_text(text, object->file, key);
	print_text(output, "default", key, text);
	if (!object->process_object)
		return;
	target_present_text(text, object, key);
	print_text(output, "now", key, text);
}

static int tell_damage(const struct target_object *object)
{
	if (object->table->damage.count == 0)
		return EXIT_RIGHT;
	output_error("%s: its tables are damaged, and this is not all of them; 'dormant verify %s' "
		     "tells what is wrong",
		     object->file->path, object->target->subject);
	return EXIT_WRONG;
}

static void print_object(struct output *output, const struct target_object *object,
			 target_print_fn *print, const void *context)
{
	const char *note = object->process_object ? object->process_object->note : "";

	if (!object->process_object) {
		output_string(output, "file", object->file->path);
		print(output, object, context);
		return;
	}
	output_line(output, "%s:%s%s%s", object->file->path, *note ? " (" : "", note,
		    *note ? ")" : "");
	output_open_item(output);
	output_string(output, "path", object->file->path);
	output_address(output, "bias", object->bias);
	output_string(output, "note", *note ? note : NULL);
	print(output, object, context);
	output_close(output);
}

int target_print(struct target *target, bool json, target_print_fn *print, const void *context)
{
	struct target_object object;
	struct output output;
	int status = EXIT_RIGHT;

	output_begin(&output, json);
	if (target->process) {
		output_number(&output, "process", (uint64_t)target->process->pid);
		output_open_list(&output, "objects");
	}
	for (size_t at = 0; target_next(target, &at, &object);) {
		print_object(&output, &object, print, context);
		if (tell_damage(&object) != EXIT_RIGHT)
			status = EXIT_WRONG;
	}
	if (target->objects.unread > 0) {
		output_error("%zu object%s could not be read: %s", target->objects.unread,
			     target->objects.unread == 1 ? "" : "s", target->objects.first.message);
		status = status == EXIT_RIGHT ? EXIT_NOT_RUN : status;
	}
	if (target->process)
		output_close(&output);
	return output_end(&output, status);
}
