/* SPDX-License-Identifier: MIT */
/*
 * Finding the objects of a process among its mappings.
 */
#include "process_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_object(const struct process *process, const struct mapping *mapping)
{
	char magic[SELFMAG];

	return mapping->inode != 0 && mapping->offset == 0 &&
	       process_read(process, mapping->start, magic, sizeof(magic)) &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* Programs for 32 bits and the like are no failure: they have no keys that this could read. */
static bool is_foreign(const struct process *process, const struct mapping *mapping)
{
	Elf64_Ehdr header;

	return process_read(process, mapping->start, &header, sizeof(header)) &&
	       (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 ||
		(header.e_type != ET_EXEC && header.e_type != ET_DYN));
}

static struct process_object *add_object(struct process_objects *objects)
{
	struct process_object *list = reallocarray(objects->list, objects->count + 1,
						   sizeof(*objects->list));

	if (!list)
		return NULL;
	objects->list = list;
	list += objects->count++;
	*list = (struct process_object){0};
	return list;
}

static void close_object(struct process_object *object)
{
	site_table_free(object->table);
	elf_file_close(object->file);
	object->table = NULL;
	object->file = NULL;
}

/* Few objects have tables, and a process may have more objects than descriptors: those without are
 * closed again. */
static int read_object(struct process_objects *objects, const struct mapping *mapping,
		       struct remote_error *error)
{
	struct process_object object = {.mapping = mapping}, *added;
	int result = process_open_object(objects->process, mapping, &object.file, object.note,
					 sizeof(object.note), error);

	if (result != 0)
		return result;
	if (!process_object_place(objects->process, mapping, object.file, &object.bias,
				  &object.end)) {
		close_object(&object);
		return 0;
	}
	result = site_table_read(&object.table, object.file, error);
	added = add_object(objects);
	if (result != 0 || !added)
		close_object(&object);
	if (!added)
		return remote_error_set(error, -ENOMEM, "%s: no memory", mapping->path);
	*added = object;
	objects->with_table += object.table != NULL;
	return result == -ENODATA ? 0 : result;
}

static void read_objects(struct process_objects *objects)
{
	const struct process *process = objects->process;
	uint64_t end = 0; /* of the last object */

	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct mapping *mapping = &process->mappings[i];
		size_t before = objects->count;
		struct remote_error failure;

		/* A small file's first page is mapped again as its code and as its data. */
		if (mapping->start < end)
			continue;
		if (!is_object(process, mapping) || is_foreign(process, mapping))
			continue;
		if (read_object(objects, mapping, &failure) != 0 && objects->unread++ == 0)
			objects->first = failure;
		if (objects->count > before)
			end = objects->list[before].end;
	}
}

int process_objects_open(struct process_objects *objects, struct process *process,
			 struct remote_error *error)
{
	*objects = (struct process_objects){.process = process};
	read_objects(objects);
	if (!process_is_there(process))
		return process_refuse_gone(process, error);
	if (objects->with_table > 0)
		return 0;
	if (objects->unread > 0) {
		if (error)
			*error = objects->first;
		return -EACCES;
	}
	return remote_error_set(error, -ENODATA,
				"process %d: no object in it has keys, values or calls; start a "
				"program that was built with a header of <dormant/>",
				process->pid);
}

void process_objects_close(struct process_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		close_object(&objects->list[i]);
	free(objects->list);
	objects->list = NULL;
	objects->count = 0;
}

bool process_object_is_there(const struct process_objects *objects,
			     const struct process_object *object)
{
	return is_object(objects->process, object->mapping);
}

/* ---- names ---- */

static struct process_object *find_object(struct process_objects *objects, uint64_t address)
{
	for (size_t i = 0; i < objects->count; i++)
		if (address >= objects->list[i].mapping->start && address < objects->list[i].end)
			return &objects->list[i];
	return NULL;
}

bool process_objects_name(struct process_objects *objects, uint64_t address, char *text,
			  size_t size)
{
	struct process_object *object = find_object(objects, address);
	char note[sizeof(object->note)];

	if (!object)
		return false;
	if (!object->file && process_open_object(objects->process, object->mapping, &object->file,
						 note, sizeof(note), NULL) != 0)
		return false;
	return elf_file_name(object->file, address - object->bias, text, size);
}
