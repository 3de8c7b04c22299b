/* SPDX-License-Identifier: MIT */
/*
 * Reads a linked ELF file with libelf; see elf_image.h. All arrays are filled by image_open() and
 * do not change after it.
 */
#include "elf_image.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dormant/static_key.h>

struct image {
	const char *path;
	int fd;
	Elf *elf;
	struct image_section *sections;
	size_t section_count;
	struct image_function *functions;
	size_t function_count;
	struct image_site *sites;
	size_t site_count;
	struct image_operand *operands;
	size_t operand_count;
};

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("site_check: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (!memory)
		die("no memory");
	return memory;
}

const struct image_section *image_section_find(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->section_count; i++)
		if (!strcmp(image->sections[i].name, name))
			return &image->sections[i];
	return NULL;
}

const struct image_section *image_section_at(const struct image *image, uint64_t address,
					     uint64_t size)
{
	for (size_t i = 0; i < image->section_count; i++) {
		const struct image_section *s = &image->sections[i];

		/* .tbss has an address, but no place in memory. */
		if (s->flags & SHF_ALLOC && (s->bytes || !(s->flags & SHF_TLS)) &&
		    address >= s->address && address - s->address + size <= s->size)
			return s;
	}
	return NULL;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, uint64_t size)
{
	const struct image_section *section = image_section_at(image, address, size);

	return section && section->bytes ? section->bytes + (address - section->address) : NULL;
}

static void read_sections(struct image *image)
{
	size_t names, count;
	Elf_Scn *scn = NULL;

	if (elf_getshdrnum(image->elf, &count) || elf_getshdrstrndx(image->elf, &names))
		die("%s: no section headers", image->path);
	image->sections = allocate(count, sizeof(*image->sections));
	while ((scn = elf_nextscn(image->elf, scn))) {
		struct image_section *s = &image->sections[image->section_count++];
		Elf_Data *data = elf_rawdata(scn, NULL);
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header))
			die("%s: a bad section header", image->path);
		s->name = elf_strptr(image->elf, names, header.sh_name);
		s->address = header.sh_addr;
		s->size = header.sh_size;
		s->flags = header.sh_flags;
		s->bytes = header.sh_type != SHT_NOBITS && data ? data->d_buf : NULL;
	}
}

static void add_functions(struct image *image, Elf_Scn *scn, const GElf_Shdr *header)
{
	size_t count = header->sh_size / header->sh_entsize;
	Elf_Data *data = elf_getdata(scn, NULL);

	image->functions = allocate(count, sizeof(*image->functions));
	for (size_t i = 0; i < count; i++) {
		struct image_function *f = &image->functions[image->function_count];
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			die("%s: a bad symbol", image->path);
		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
			continue;
		f->name = elf_strptr(image->elf, header->sh_link, symbol.st_name);
		f->address = symbol.st_value;
		f->size = symbol.st_size;
		image->function_count++;
	}
}

/* A stripped file has none, and its sites have no function then. */
static void read_functions(struct image *image)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(image->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB)
			add_functions(image, scn, &header);
}

const struct image_function *image_function_at(const struct image *image, uint64_t address)
{
	for (size_t i = 0; i < image->function_count; i++)
		if (address - image->functions[i].address < image->functions[i].size)
			return &image->functions[i];
	return NULL;
}

static int32_t word_at(const uint8_t *bytes)
{
	int32_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* The name's bytes up to its end, which must lie in the same section. */
static const char *text_at(const struct image *image, uint64_t address)
{
	const struct image_section *section = image_section_at(image, address, 1);
	const char *text = (const char *)image_bytes(image, address, 1);

	if (!text || !memchr(text, '\0', section->size - (address - section->address)))
		die("%s: the name of a site is at %#jx, which is no text", image->path,
		    (uintmax_t)address);
	return text;
}

static void read_site(struct image *image, const struct image_section *table, size_t index)
{
	uint64_t offset = index * sizeof(struct dormant_site);
	uint64_t at = table->address + offset;
	const uint8_t *entry = table->bytes + offset;
	struct image_site *site = &image->sites[index];
	uint64_t key, name;
	const uint8_t *code;

	site->code = at + offsetof(struct dormant_site, code) +
		     (uint64_t)word_at(entry + offsetof(struct dormant_site, code));
	key = at + offsetof(struct dormant_site, key) +
	      (uint64_t)word_at(entry + offsetof(struct dormant_site, key));
	name = at + offsetof(struct dormant_site, name) +
	       (uint64_t)word_at(entry + offsetof(struct dormant_site, name));
	site->flags = key & 7;
	site->key_pointer = key & ~UINT64_C(7);
	site->name = text_at(image, name);
	code = image_bytes(image, site->code, DORMANT_SITE_BYTES);
	if (!code)
		die("%s: site %zu points to %#jx, which is nowhere", image->path, index,
		    (uintmax_t)site->code);
	site->opcode = code[0];
	site->target = site->code + DORMANT_SITE_BYTES + (uint64_t)word_at(code + 1);
}

static void read_sites(struct image *image)
{
	const struct image_section *table = image_section_find(image, "dormant_sites");

	if (!table)
		return;
	if (table->size % sizeof(struct dormant_site))
		die("%s: dormant_sites has %ju bytes, which is no multiple of %zu", image->path,
		    (uintmax_t)table->size, sizeof(struct dormant_site));
	image->site_count = table->size / sizeof(struct dormant_site);
	image->sites = allocate(image->site_count, sizeof(*image->sites));
	for (size_t i = 0; i < image->site_count; i++)
		read_site(image, table, i);
}

size_t image_site_count(const struct image *image)
{
	return image->site_count;
}

const struct image_site *image_site(const struct image *image, size_t index)
{
	return &image->sites[index];
}

/* ---- pointers in data, and operands ---- */

/* Fills in what the symbol of a relocation is. */
static void resolve_symbol(const struct image *image, size_t table, const GElf_Rela *rela,
			   struct image_pointer *pointer)
{
	Elf_Scn *scn = elf_getscn(image->elf, table);
	GElf_Shdr header;
	GElf_Sym symbol;

	if (!scn || !gelf_getshdr(scn, &header) ||
	    !gelf_getsym(elf_getdata(scn, NULL), (int)GELF_R_SYM(rela->r_info), &symbol))
		die("%s: a relocation without a symbol", image->path);
	if (symbol.st_shndx == SHN_UNDEF)
		pointer->symbol = elf_strptr(image->elf, header.sh_link, symbol.st_name);
	else
		pointer->value = symbol.st_value + (uint64_t)rela->r_addend;
}

/* Whether a table of relocations has one for the word at the address. */
static bool find_rela(const struct image *image, Elf_Data *data, const GElf_Shdr *header,
		      uint64_t address, struct image_pointer *pointer)
{
	for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela) || rela.r_offset != address)
			continue;
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			pointer->value = (uint64_t)rela.r_addend;
		else
			resolve_symbol(image, header->sh_link, &rela, pointer);
		return true;
	}
	return false;
}

struct image_pointer image_pointer(const struct image *image, uint64_t address)
{
	const uint8_t *bytes = image_bytes(image, address, sizeof(uint64_t));
	struct image_pointer pointer = {0, NULL};
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(image->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_ALLOC &&
		    header.sh_type == SHT_RELA &&
		    find_rela(image, elf_getdata(scn, NULL), &header, address, &pointer))
			return pointer;
	if (!bytes)
		die("%s: a pointer is at %#jx, which is nowhere", image->path, (uintmax_t)address);
	memcpy(&pointer.value, bytes, sizeof(pointer.value));
	return pointer;
}

bool image_pointers_equal(const struct image_pointer *a, const struct image_pointer *b)
{
	if (a->symbol && b->symbol)
		return !strcmp(a->symbol, b->symbol);
	return a->symbol == b->symbol && a->value == b->value;
}

/* The address that a word of a table counts to from its own, or 0 for a word of 0. */
static uint64_t follow(const uint8_t *word, uint64_t at)
{
	return word_at(word) ? at + (uint64_t)word_at(word) : 0;
}

static void read_operand(struct image *image, const struct image_section *table, size_t index)
{
	uint64_t offset = index * sizeof(struct dormant_operand);
	uint64_t at = table->address + offset, owner, name;
	const uint8_t *entry = table->bytes + offset;
	struct image_operand *operand = &image->operands[index];

	operand->code = follow(entry + offsetof(struct dormant_operand, code),
			       at + offsetof(struct dormant_operand, code));
	owner = follow(entry + offsetof(struct dormant_operand, owner),
		       at + offsetof(struct dormant_operand, owner));
	name = follow(entry + offsetof(struct dormant_operand, name),
		      at + offsetof(struct dormant_operand, name));
	operand->home = follow(entry + offsetof(struct dormant_operand, home),
			       at + offsetof(struct dormant_operand, home));
	operand->kind = owner & DORMANT_OPERAND_KIND_MASK;
	operand->pointer = owner & ~(uint64_t)DORMANT_OPERAND_KIND_MASK;
	operand->owner = image_pointer(image, operand->pointer);
	operand->name = name ? text_at(image, name) : NULL;
}

static void read_operands(struct image *image)
{
	const struct image_section *table = image_section_find(image, "dormant_operands");

	if (!table)
		return;
	if (table->size % sizeof(struct dormant_operand))
		die("%s: dormant_operands has %ju bytes, which is no multiple of %zu", image->path,
		    (uintmax_t)table->size, sizeof(struct dormant_operand));
	image->operand_count = table->size / sizeof(struct dormant_operand);
	image->operands = allocate(image->operand_count, sizeof(*image->operands));
	for (size_t i = 0; i < image->operand_count; i++)
		read_operand(image, table, i);
}

size_t image_operand_count(const struct image *image)
{
	return image->operand_count;
}

const struct image_operand *image_operand(const struct image *image, size_t index)
{
	return &image->operands[index];
}

/* ---- relocations ---- */

static void count_relocation(const struct image *image, struct image_relocations *count,
			     uint64_t address)
{
	const struct image_section *section = image_section_at(image, address, 1);

	if (!section)
		die("%s: a relocation at %#jx, which is nowhere", image->path, (uintmax_t)address);
	count->inside_tables += !strcmp(section->name, "dormant_sites") ||
				!strcmp(section->name, "dormant_operands");
	count->inside_text += !!(section->flags & SHF_EXECINSTR);
}

static void count_rela(const struct image *image, struct image_relocations *count, Elf_Data *data,
		       size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		GElf_Rela rela;

		if (!gelf_getrela(data, (int)i, &rela))
			die("%s: a bad relocation", image->path);
		if (GELF_R_TYPE(rela.r_info) == R_X86_64_RELATIVE)
			count->relative++;
		else
			count->symbolic++;
		count_relocation(image, count, rela.r_offset);
	}
}

/* An even word is an address; an odd one says which of the 63 words after the last one count. */
static void count_relr(const struct image *image, struct image_relocations *count,
		       const uint8_t *bytes, size_t entries)
{
	uint64_t base = 0, entry;

	for (size_t i = 0; i < entries; i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (!(entry & 1)) {
			count->relative++;
			count_relocation(image, count, entry);
			base = entry + sizeof(entry);
			continue;
		}
		for (unsigned bit = 1; bit < 64; bit++) {
			if (!(entry >> bit & 1))
				continue;
			count->relative++;
			count_relocation(image, count, base + (bit - 1) * sizeof(entry));
		}
		base += 63 * sizeof(entry);
	}
}

static void read_dynamic(struct image_relocations *count, Elf_Data *data, size_t entries)
{
	for (size_t i = 0; i < entries; i++) {
		GElf_Dyn dyn;

		if (!gelf_getdyn(data, (int)i, &dyn))
			return;
		if (dyn.d_tag == DT_TEXTREL ||
		    (dyn.d_tag == DT_FLAGS && dyn.d_un.d_val & DF_TEXTREL))
			count->text_relocation = true;
	}
}

struct image_relocations image_relocations(const struct image *image)
{
	struct image_relocations count = {0};
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) ||
		    !header.sh_entsize)
			continue;
		size_t entries = header.sh_size / header.sh_entsize;

		if (header.sh_type == SHT_RELA)
			count_rela(image, &count, elf_getdata(scn, NULL), entries);
		else if (header.sh_type == SHT_RELR)
			count_relr(image, &count, elf_rawdata(scn, NULL)->d_buf, entries);
		else if (header.sh_type == SHT_DYNAMIC)
			read_dynamic(&count, elf_getdata(scn, NULL), entries);
	}
	return count;
}

struct image *image_open(const char *path)
{
	struct image *image = allocate(1, sizeof(*image));

	image->path = path;
	elf_version(EV_CURRENT);
	image->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (image->fd < 0)
		die("%s: cannot be opened", path);
	image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
	if (!image->elf || gelf_getclass(image->elf) != ELFCLASS64)
		die("%s: not a 64-bit ELF file", path);
	read_sections(image);
	read_functions(image);
	read_sites(image);
	read_operands(image);
	return image;
}

void image_close(struct image *image)
{
	elf_end(image->elf);
	close(image->fd);
	free(image->sections);
	free(image->functions);
	free(image->sites);
	free(image->operands);
	free(image);
}
