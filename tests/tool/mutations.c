/* SPDX-License-Identifier: MIT */
/*
 * Files that lie: a few thousand deterministic mutations of real files are read as every command
 * reads them. Nothing may crash, hang or be read out of bounds (the last needs a build with
 * -Db_sanitize=address,undefined). Each batch runs in a process of its own, so that a crash is a
 * failed result that names the seeds.
 *
 *     mutations FILE...          one result a file and batch
 *     mutations FILE SEED OUT    writes one mutation, to look at it
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "decode.h"
#include "source_lines.h"
#include "verify.h"

#ifndef BATCHES
#define BATCHES 16
#endif
#define BATCH            100
#define DEADLINE_SECONDS 60

#define HOT_MAX 4

/* A file, and where in it the tables are that it has. */
struct image {
	uint8_t *bytes;
	size_t length;
	size_t hot[HOT_MAX];
	size_t hot_length[HOT_MAX];
	size_t hot_count;
};

static void add_hot(struct image *image, const struct elf_file *file, const struct elf_range *range)
{
	if (range->bytes == 0)
		return;
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];
		uint64_t start = range->address - segment->address;

		if (range->address >= segment->address && start < segment->file_bytes)
			image->hot[image->hot_count] = segment->offset + start;
	}
	image->hot_length[image->hot_count++] = range->bytes;
}

static void find_hot(struct image *image, const char *path)
{
	struct remote_error error;
	struct site_table *table;
	struct elf_file *file;

	if (elf_file_open(&file, path, &error) != 0 || site_table_read(&table, file, &error) != 0)
		bail("%s", error.message);
	add_hot(image, file, &table->ranges.sites);
	add_hot(image, file, &table->ranges.operands);
	add_hot(image, file, &table->ranges.keys);
	add_hot(image, file, &file->dynamic);
	site_table_free(table);
	elf_file_close(file);
}

static struct image read_image(const char *path)
{
	struct image image = {0};
	FILE *file = fopen(path, "rb");

	if (!file || fseek(file, 0, SEEK_END) != 0)
		bail("%s: %s", path, strerror(errno));
	image.length = (size_t)ftell(file);
	image.bytes = malloc(image.length);
	rewind(file);
	if (!image.bytes || fread(image.bytes, 1, image.length, file) != image.length)
		bail("%s: can not be read", path);
	fclose(file);
	find_hot(&image, path);
	return image;
}

/* ---- mutating ---- */

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* In the headers, which are at both ends, in the tables, or anywhere. */
static size_t random_place(uint64_t *state, const struct image *image)
{
	size_t window = image->length < 2048 ? image->length : 2048;
	uint64_t choice = random_next(state) % (3 + image->hot_count);

	if (choice == 0)
		return random_next(state) % window;
	if (choice == 1)
		return image->length - 1 - random_next(state) % window;
	if (choice == 2)
		return random_next(state) % image->length;
	return image->hot[choice - 3] + random_next(state) % image->hot_length[choice - 3];
}

static void change_once(uint64_t *state, const struct image *image, uint8_t *bytes)
{
	size_t length = image->length;
	static const uint64_t words[] = {0, 1, UINT64_MAX, INT64_MAX, INT32_MAX, 0xfff, UINT32_MAX};
	size_t at = random_place(state, image);
	uint64_t word = words[random_next(state) % (sizeof(words) / sizeof(*words))];
	size_t size = (size_t)1 << random_next(state) % 4;

	switch (random_next(state) % 4) {
	case 0:
		bytes[at] ^= (uint8_t)(1u << random_next(state) % 8);
		break;
	case 1:
		bytes[at] = (uint8_t)random_next(state);
		break;
	case 2:
		at -= at % size;
		memcpy(bytes + at, &word, size < length - at ? size : length - at);
		break;
	default:
		word = random_next(state) % (2 * length);
		at -= at % size;
		memcpy(bytes + at, &word, size < length - at ? size : length - at);
		break;
	}
}

/* Returns the length; one in sixteen is cut short. */
static size_t mutate(const struct image *image, uint64_t seed, uint8_t *bytes)
{
	uint64_t state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t changes = 1 + random_next(&state) % 4;

	memcpy(bytes, image->bytes, image->length);
	for (uint64_t i = 0; i < changes; i++)
		change_once(&state, image, bytes);
	if (random_next(&state) % 16 == 0)
		return random_next(&state) % image->length;
	return image->length;
}

/* ---- reading ---- */

static void read_sites(struct elf_file *file, struct site_table *table)
{
	struct source_lines *lines = source_lines_open(file);
	struct source_place place;
	char text[96];

	for (size_t i = 0; i < table->site_count; i++) {
		const struct site *site = &table->sites[i];

		source_lines_find(lines, site->address, &place);
		decode_instruction(text, sizeof(text), site->bytes, sizeof(site->bytes),
				   site->address);
	}
	for (size_t i = 0; i < table->operands.count; i++) {
		const struct operand *operand = &table->operands.list[i];

		source_lines_find(lines, operand->address, &place);
		decode_instruction(text, sizeof(text), operand->bytes,
				   operand_look_at(operand, operand->bytes, 0).bytes,
				   operand->address);
	}
	source_lines_close(lines);
}

static void read_keys(struct elf_file *file, struct site_table *table)
{
	char text[KEY_TEXT_BYTES];

	for (size_t i = 0; i < table->keys.count; i++) {
		key_type_text(text, &table->keys.keys[i]);
		key_initial_text(text, file, &table->keys.keys[i]);
	}
}

static void read_mutation(const uint8_t *bytes, size_t length)
{
	struct verification verification = {0};
	struct remote_error error = {""};
	struct site_table *table = NULL;
	struct elf_file *file = NULL;
	int fd = memfd_create("mutation", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		_exit(99);
	if (elf_file_open_fd(&file, fd, "mutation", &error) == 0 &&
	    site_table_read(&table, file, &error) == 0) {
		read_keys(file, table);
		read_sites(file, table);
		verify_file(table, &verification);
	} else if (!*error.message || strchr(error.message, '\n')) {
		_exit(98);
	}
	verification_free(&verification);
	site_table_free(table);
	elf_file_close(file);
}

static void read_batch(const struct image *image, uint64_t first)
{
	uint8_t *bytes = malloc(image->length);

	alarm(DEADLINE_SECONDS);
	for (uint64_t seed = first; bytes && seed < first + BATCH; seed++)
		read_mutation(bytes, mutate(image, seed, bytes));
	free(bytes);
	_exit(0);
}

static void test_batch(const char *path, const struct image *image, uint64_t first)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		read_batch(image, first);
	waitpid(child, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	   "%s: mutations %llu to %llu are read or refused", name, (unsigned long long)first,
	   (unsigned long long)(first + BATCH - 1));
	if (WIFSIGNALED(status))
		diag("signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		diag("exit status %d", WEXITSTATUS(status));
}

static int write_mutation(const char *path, const char *seed, const char *out)
{
	struct image image = read_image(path);
	uint8_t *bytes = malloc(image.length);
	FILE *file = fopen(out, "wb");
	size_t length;

	if (!bytes || !file)
		bail("%s: %s", out, strerror(errno));
	length = mutate(&image, strtoull(seed, NULL, 10), bytes);
	fwrite(bytes, 1, length, file);
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strspn(argv[2], "0123456789") == strlen(argv[2]))
		return write_mutation(argv[1], argv[2], argv[3]);
	plan((argc - 1) * BATCHES);
	for (int i = 1; i < argc; i++) {
		struct image image = read_image(argv[i]);

		for (uint64_t batch = 0; batch < BATCHES; batch++)
			test_batch(argv[i], &image, batch * BATCH);
		free(image.bytes);
	}
	return done();
}
