/* SPDX-License-Identifier: MIT */
/* Looking at the own mappings and text; see process_text.h. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "process_text.h"

/* ---- mappings ---- */

/* The place in a line "begin-end rwxp ...": a read may end anywhere. */
struct line {
	unsigned permission; /* how many characters after the first space were read */
	bool in_permissions;
	bool writable, executable;
};

static void read_character(struct line *line, char c, struct mapping_counts *counts)
{
	if (c == '\n') {
		counts->all++;
		counts->executable += line->executable;
		counts->writable_executable += line->writable && line->executable;
		*line = (struct line){0};
	} else if (c == ' ') {
		line->in_permissions = line->permission == 0;
	} else if (line->in_permissions) {
		line->permission++;
		line->writable |= line->permission == 2 && c == 'w';
		line->executable |= line->permission == 3 && c == 'x';
	}
}

int process_count_mappings(struct mapping_counts *counts)
{
	char buffer[4096];
	struct line line = {0};
	ssize_t bytes;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*counts = (struct mapping_counts){0};
	while ((bytes = read(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < bytes; i++)
			read_character(&line, buffer[i], counts);
	}
	(void)close(fd);
	return bytes < 0 ? -errno : 0;
}

/* ---- text ---- */

static long compare_segment(int fd, const ElfW(Phdr) * header, const unsigned char *text)
{
	unsigned char buffer[4096];
	long changed = 0;

	for (size_t at = 0; at < header->p_filesz;) {
		size_t want = header->p_filesz - at;
		ssize_t bytes = pread(fd, buffer, want < sizeof(buffer) ? want : sizeof(buffer),
				      (off_t)(header->p_offset + at));

		if (bytes <= 0)
			return -1;
		for (ssize_t i = 0; i < bytes; i++)
			changed += text[at + (size_t)i] != buffer[i];
		at += (size_t)bytes;
	}
	return changed;
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *path = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
	long *changed = data;
	int fd;

	(void)size;
	if (path[0] != '/') /* the vdso */
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t i = 0; i < info->dlpi_phnum && *changed >= 0; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		long more;

		if (header->p_type != PT_LOAD || (header->p_flags & PF_X) == 0)
			continue;
		more = fd < 0 ? -1
			      : compare_segment(
					fd, header,
					(const unsigned char *)(info->dlpi_addr + header->p_vaddr));
		*changed = more < 0 ? -1 : *changed + more;
	}
	if (fd >= 0)
		(void)close(fd);
	return 0;
}

long process_count_changed_bytes(void)
{
	long changed = 0;

	(void)dl_iterate_phdr(compare_object, &changed);
	return changed;
}
