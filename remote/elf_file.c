/* SPDX-License-Identifier: MIT */
/*
 * Opening an ELF file and reading its memory image.
 *
 * Invariant: a segment in `segments` lies within the file and does not wrap around the address
 * space, so that sums of its fields never overflow.
 */
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No address above this one is used by a program; sums of two of them do not overflow. */
#define ADDRESS_LIMIT (UINT64_C(1) << 62)
#define STRING_BYTES  4096

static int refuse_damaged(struct remote_error *error, const char *path, const char *what)
{
	return remote_error_set(error, -ENOEXEC,
				"%s: %s: the file is truncated or damaged; copy or link it again",
				path, what);
}

/* ---- opening ---- */

static int check_regular(int fd, const char *path, struct remote_error *error)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return remote_error_set(error, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return remote_error_set(error, -EISDIR,
					"%s: is a directory; name an executable or a shared object",
					path);
	if (!S_ISREG(status.st_mode))
		return remote_error_set(
			error, -EINVAL,
			"%s: is not a regular file; name an executable or a shared object", path);
	if (status.st_size == 0)
		return remote_error_set(error, -ENOEXEC,
					"%s: is empty; name an executable or a shared object",
					path);
	return 0;
}

static int check_kind(const Elf64_Ehdr *header, const char *path, struct remote_error *error)
{
	switch (header->e_type) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	case ET_REL:
		return remote_error_set(
			error, -ENOEXEC,
			"%s: is an object file, whose tables are not final; link it "
			"and name the result",
			path);
	case ET_CORE:
		return remote_error_set(error, -ENOEXEC,
					"%s: is a core dump; name the executable or shared object",
					path);
	default:
		return remote_error_set(
			error, -ENOEXEC,
			"%s: is ELF, but neither an executable nor a shared object (type %u)", path,
			header->e_type);
	}
}

static int check_identity(const uint8_t *bytes, ssize_t count, const char *path,
			  struct remote_error *error)
{
	Elf64_Ehdr header;

	if (count >= 8 && memcmp(bytes, "!<arch>\n", 8) == 0)
		return remote_error_set(error, -ENOEXEC,
					"%s: is a static library; link it and name the result",
					path);
	if (count < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return remote_error_set(
			error, -ENOEXEC,
			"%s: is not an ELF file; name an executable or a shared object", path);
	if (count < (ssize_t)sizeof(header))
		return refuse_damaged(error, path, "the ELF header is cut short");
	memcpy(&header, bytes, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return remote_error_set(
			error, -ENOEXEC,
			"%s: is not a 64-bit ELF file; only x86-64 is supported so far", path);
	if (header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64)
		return remote_error_set(error, -ENOEXEC,
					"%s: is for another processor (ELF machine %u); only "
					"x86-64 is supported so far",
					path, header.e_machine);
	return check_kind(&header, path, error);
}

static int open_regular(const char *path, struct remote_error *error)
{
	/* O_NONBLOCK: the open of a FIFO without a writer must not hang. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT)
		return remote_error_set(
			error, -ENOENT,
			"%s: no such file; name an ELF file by its path (that of a process: "
			"/proc/PID/exe)",
			path);
	if (errno == EACCES || errno == EPERM)
		return remote_error_set(
			error, -errno, "%s: no permission to read it; run as a user who may", path);
	return remote_error_set(error, -errno, "%s: cannot be opened: %s", path, strerror(errno));
}

/* ---- headers ---- */

static bool segment_is_sane(const GElf_Phdr *header, uint64_t file_bytes)
{
	return header->p_vaddr < ADDRESS_LIMIT && header->p_memsz < ADDRESS_LIMIT &&
	       header->p_filesz <= header->p_memsz && header->p_offset <= file_bytes &&
	       header->p_filesz <= file_bytes - header->p_offset;
}

static int read_segments(struct elf_file *file, uint64_t file_bytes, struct remote_error *error)
{
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(file->elf, &count) != 0 || count > INT32_MAX)
		return refuse_damaged(error, file->path, "its program headers can not be read");
	if (count == 0)
		return refuse_damaged(error, file->path, "it has no program headers");
	file->segments = calloc(count, sizeof(*file->segments));
	if (!file->segments)
		return remote_error_set(error, -ENOMEM, "%s: no memory", file->path);
	for (size_t i = 0; i < count; i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header))
			return refuse_damaged(error, file->path,
					      "its program headers can not be read");
		if (header.p_type != PT_LOAD && header.p_type != PT_DYNAMIC)
			continue;
		if (!segment_is_sane(&header, file_bytes))
			return refuse_damaged(error, file->path, "a segment lies outside the file");
		if (header.p_type == PT_DYNAMIC) {
			file->dynamic = (struct elf_range){header.p_vaddr, header.p_filesz};
			continue;
		}
		file->segments[file->segment_count++] = (struct elf_segment){
			.address = header.p_vaddr,
			.memory_bytes = header.p_memsz,
			.file_bytes = header.p_filesz,
			.offset = header.p_offset,
			.flags = header.p_flags,
		};
	}
	return 0;
}

static int check_sections(struct elf_file *file, uint64_t file_bytes, struct remote_error *error)
{
	GElf_Ehdr header;
	size_t count;

	if (!gelf_getehdr(file->elf, &header))
		return refuse_damaged(error, file->path, "the ELF header can not be read");
	if (header.e_shoff == 0)
		return 0;
	/* libelf takes headers outside the file for none at all. */
	if (header.e_shoff > file_bytes ||
	    (uint64_t)header.e_shnum * sizeof(Elf64_Shdr) > file_bytes - header.e_shoff ||
	    elf_getshdrnum(file->elf, &count) != 0)
		return refuse_damaged(error, file->path, "the section headers lie outside it");
	file->has_sections = count > 0;
	return 0;
}

static int read_headers(struct elf_file *file, struct remote_error *error)
{
	struct stat status;
	ssize_t count;
	int result = check_regular(file->fd, file->path, error);

	if (result != 0)
		return result;
	count = pread(file->fd, file->header, sizeof(file->header), 0);
	if (count < 0)
		return remote_error_set(error, -errno, "%s: can not be read: %s", file->path,
					strerror(errno));
	result = check_identity(file->header, count, file->path, error);
	if (result != 0)
		return result;
	file->position_independent = ((const Elf64_Ehdr *)file->header)->e_type == ET_DYN;
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || fstat(file->fd, &status) != 0)
		return refuse_damaged(error, file->path, "its headers can not be read");
	result = read_segments(file, (uint64_t)status.st_size, error);
	return result != 0 ? result : check_sections(file, (uint64_t)status.st_size, error);
}

int elf_file_open_fd(struct elf_file **file, int fd, const char *path, struct remote_error *error)
{
	struct elf_file *opened = calloc(1, sizeof(*opened));
	int result;

	if (opened)
		opened->path = strdup(path);
	if (!opened || !opened->path) {
		free(opened);
		close(fd);
		return remote_error_set(error, -ENOMEM, "%s: no memory", path);
	}
	opened->fd = fd;
	result = read_headers(opened, error);
	if (result == 0)
		*file = opened;
	else
		elf_file_close(opened);
	return result;
}

int elf_file_open(struct elf_file **file, const char *path, struct remote_error *error)
{
	int fd = open_regular(path, error);

	return fd < 0 ? fd : elf_file_open_fd(file, fd, path, error);
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	close(file->fd);
	free(file->segments);
	free(file->relocations);
	free(file->functions.list);
	free(file->variables.list);
	free(file->path);
	free(file);
}

/* ---- memory ---- */

static bool segment_covers(const struct elf_segment *segment, uint64_t address, uint64_t bytes)
{
	uint64_t start = address - segment->address;

	return address >= segment->address && start <= segment->memory_bytes &&
	       bytes <= segment->memory_bytes - start;
}

static struct elf_segment *find_segment(const struct elf_file *file, uint64_t address,
					uint64_t bytes)
{
	for (size_t i = 0; i < file->segment_count; i++)
		if (segment_covers(&file->segments[i], address, bytes))
			return &file->segments[i];
	return NULL;
}

/* The part of a segment that the file holds; NULL where it is empty or can not be read. */
static const uint8_t *load_contents(const struct elf_file *file, struct elf_segment *segment)
{
	Elf_Data *data;

	if (!segment->contents && segment->file_bytes > 0) {
		data = elf_getdata_rawchunk(file->elf, (int64_t)segment->offset,
					    segment->file_bytes, ELF_T_BYTE);
		if (data && data->d_size == segment->file_bytes)
			segment->contents = data->d_buf;
	}
	return segment->contents;
}

const uint8_t *elf_file_contents(struct elf_file *file, uint64_t address, uint64_t bytes)
{
	struct elf_segment *segment = find_segment(file, address, bytes);
	uint64_t start;

	if (!segment)
		return NULL;
	start = address - segment->address;
	if (start > segment->file_bytes || bytes > segment->file_bytes - start ||
	    !load_contents(file, segment))
		return NULL;
	return segment->contents + start;
}

bool elf_file_initial(struct elf_file *file, uint64_t address, void *value, size_t bytes)
{
	const struct elf_segment *segment = find_segment(file, address, bytes);
	const uint8_t *contents = elf_file_contents(file, address, bytes);

	if (contents)
		memcpy(value, contents, bytes);
	else if (segment && address - segment->address >= segment->file_bytes)
		memset(value, 0, bytes);
	else
		return false;
	return true;
}

const char *elf_file_string(struct elf_file *file, uint64_t address)
{
	struct elf_segment *segment = find_segment(file, address, 1);
	uint64_t start, longest;

	if (!segment || !load_contents(file, segment))
		return NULL;
	start = address - segment->address;
	if (start >= segment->file_bytes)
		return NULL;
	longest = segment->file_bytes - start;
	if (!memchr(segment->contents + start, 0, longest < STRING_BYTES ? longest : STRING_BYTES))
		return NULL;
	return (const char *)segment->contents + start;
}

bool elf_file_has(const struct elf_file *file, uint64_t address, uint64_t bytes, uint32_t flags)
{
	const struct elf_segment *segment = find_segment(file, address, bytes);

	return segment && (segment->flags & flags) == flags;
}

/* ---- sections ---- */

bool elf_file_section(const struct elf_file *file, const char *name, struct elf_range *range)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	const char *found;
	size_t names;

	if (!file->has_sections || elf_getshdrstrndx(file->elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(file->elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		found = elf_strptr(file->elf, names, header.sh_name);
		if (!found || strcmp(found, name) != 0)
			continue;
		*range = (struct elf_range){header.sh_addr, header.sh_size};
		return true;
	}
	return false;
}
