/* SPDX-License-Identifier: MIT */
/*
 * Reading /proc/PID/maps, /proc/PID/mem and the files behind mappings.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DELETED " (deleted)"

/* ---- mappings ---- */

static bool parse_mapping(char *line, struct mapping *mapping)
{
	char permissions[5];
	int path_at = 0;
	char *path;
	size_t length;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &mapping->inode,
		   &path_at) != 5)
		return false;
	path = line + path_at;
	length = strlen(path);
	if (length > strlen(DELETED) && strcmp(path + length - strlen(DELETED), DELETED) == 0) {
		mapping->deleted = true;
		path[length - strlen(DELETED)] = '\0';
	}
	mapping->writable = permissions[1] == 'w';
	mapping->executable = permissions[2] == 'x';
	mapping->path = strdup(path);
	return mapping->path != NULL;
}

static bool add_mapping(struct process *process, char *line)
{
	struct mapping *mappings = reallocarray(process->mappings, process->mapping_count + 1,
						sizeof(*process->mappings));
	struct mapping mapping = {0};

	if (!mappings)
		return false;
	process->mappings = mappings;
	if (!parse_mapping(line, &mapping))
		return false;
	mappings[process->mapping_count++] = mapping;
	return true;
}

static int refuse_open(struct remote_error *error, int pid, int code)
{
	switch (code) {
	case ENOENT:
	case ESRCH:
		return remote_error_set(error, -ESRCH,
					"%d: no such process; a file of that name is written ./%d",
					pid, pid);
	case EACCES:
	case EPERM:
		return remote_error_set(
			error, -EACCES,
			"process %d: no permission to read its memory; run as root with "
			"CAP_SYS_PTRACE "
			"(its own user may not where kernel.yama.ptrace_scope is set)",
			pid);
	default:
		return remote_error_set(error, -code, "process %d: can not be read: %s", pid,
					strerror(code));
	}
}

static int read_mappings(struct process *process, struct remote_error *error)
{
	char path[64];
	char *line = NULL;
	size_t room = 0;
	bool parsed = true;
	int code;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", process->pid);
	maps = fopen(path, "re");
	if (!maps)
		return refuse_open(error, process->pid, errno);
	errno = 0;
	while (parsed && getline(&line, &room, maps) > 0)
		parsed = add_mapping(process, line);
	code = ferror(maps) && errno ? errno : 0;
	free(line);
	fclose(maps);
	if (code != 0)
		return refuse_open(error, process->pid, code);
	if (!parsed)
		return remote_error_set(error, -EIO, "process %d: %s has an unknown form",
					process->pid, path);
	if (process->mapping_count == 0)
		return remote_error_set(
			error, -ESRCH,
			"process %d: has no memory: it has ended, or is part of the kernel",
			process->pid);
	return 0;
}

static int read_process(struct process *process, struct remote_error *error)
{
	char path[64];
	int result;

	if (access("/proc/self/maps", F_OK) != 0)
		return remote_error_set(error, -ENOENT,
					"process %d: /proc is not mounted; mount it", process->pid);
	result = read_mappings(process, error);
	if (result != 0)
		return result;
	snprintf(path, sizeof(path), "/proc/%d/mem", process->pid);
	process->memory = open(path, O_RDONLY | O_CLOEXEC);
	return process->memory < 0 ? refuse_open(error, process->pid, errno) : 0;
}

int process_open(struct process **process, int pid, struct remote_error *error)
{
	struct process *opened = calloc(1, sizeof(*opened));
	int result;

	if (!opened)
		return remote_error_set(error, -ENOMEM, "process %d: no memory", pid);
	opened->pid = pid;
	opened->memory = -1;
	result = read_process(opened, error);
	if (result == 0)
		*process = opened;
	else
		process_close(opened);
	return result;
}

void process_close(struct process *process)
{
	if (!process)
		return;
	for (size_t i = 0; i < process->mapping_count; i++)
		free(process->mappings[i].path);
	free(process->mappings);
	if (process->memory >= 0)
		close(process->memory);
	free(process);
}

/* ---- memory ---- */

bool process_read(const struct process *process, uint64_t address, void *value, size_t bytes)
{
	return address <= INT64_MAX &&
	       pread(process->memory, value, bytes, (off_t)address) == (ssize_t)bytes;
}

bool process_is_there(const struct process *process)
{
	char byte;

	for (size_t i = 0; i < process->mapping_count; i++)
		if (process_read(process, process->mappings[i].start, &byte, sizeof(byte)))
			return true;
	return false;
}

int process_refuse_gone(const struct process *process, struct remote_error *error)
{
	return remote_error_set(error, -ESRCH,
				"process %d: ended, or started another program, while it was "
				"looked at; try again",
				process->pid);
}

const struct mapping *process_mapping(const struct process *process, uint64_t address)
{
	size_t low = 0, high = process->mapping_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (process->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == process->mapping_count || process->mappings[low].start > address)
		return NULL;
	return &process->mappings[low];
}

/* ---- files ---- */

/* A device must not be opened; inode 0 means any. */
static int open_regular(const char *path, uint64_t inode)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (inode != 0 && status.st_ino != inode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* A descriptor, or -1: by the mapping itself, which only root may use, or by one of its names. */
static int open_mapped(const struct process *process, const struct mapping *mapping)
{
	char path[4096 + 64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, process->pid,
		 mapping->start, mapping->end);
	fd = open_regular(path, 0);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/exe", process->pid);
		fd = open_regular(path, mapping->inode);
	}
	if (fd < 0 && !mapping->deleted) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", process->pid, mapping->path);
		fd = open_regular(path, mapping->inode);
	}
	return fd;
}

static bool same_header(const struct process *process, const struct mapping *mapping,
			const struct elf_file *file)
{
	uint8_t header[sizeof(file->header)];

	return process_read(process, mapping->start, header, sizeof(header)) &&
	       memcmp(header, file->header, sizeof(header)) == 0;
}

int process_open_object(const struct process *process, const struct mapping *mapping,
			struct elf_file **file, char *note, size_t note_bytes,
			struct remote_error *error)
{
	int fd = open_mapped(process, mapping);
	int result;

	snprintf(note, note_bytes, "%s",
		 mapping->deleted ? "deleted or replaced since; read from the process" : "");
	if (fd < 0)
		return remote_error_set(error, -EACCES,
					"%s: the file that process %d runs can not be opened%s; "
					"run as root",
					mapping->path, process->pid,
					mapping->deleted ? ", it was deleted or replaced" : "");
	result = elf_file_open_fd(file, fd, mapping->path, error);
	if (result != 0 || same_header(process, mapping, *file))
		return result;
	elf_file_close(*file);
	return remote_error_set(
		error, -ESTALE,
		"%s: was overwritten after process %d had started; restart the process",
		mapping->path, process->pid);
}

bool process_object_place(const struct process *process, const struct mapping *mapping,
			  const struct elf_file *file, uint64_t *bias, uint64_t *end)
{
	const struct elf_segment *first = NULL;
	uint64_t last = mapping->end;

	for (size_t i = 0; i < file->segment_count && !first; i++)
		if (file->segments[i].offset < (uint64_t)sysconf(_SC_PAGESIZE))
			first = &file->segments[i];
	if (!first)
		return false;
	*bias = mapping->start - (first->address - first->offset);
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t address = *bias + segment->address;
		const struct mapping *code = process_mapping(process, address);

		/* A debugger maps files as data. */
		if ((segment->flags & PF_X) && (!code || !code->executable))
			return false;
		if (address + segment->memory_bytes > last)
			last = address + segment->memory_bytes;
	}
	*end = last;
	return true;
}
