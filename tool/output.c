/* SPDX-License-Identifier: MIT */
/*
 * Text and JSON. Running out of memory is noted and reported at the end, so that commands need not
 * check each fact.
 */
#include "output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* ---- safe strings ---- */

/* Bytes of the UTF-8 sequence of a printable character at @text, 0 where there is none. */
static size_t printable_bytes(const unsigned char *text)
{
	size_t length = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	static const uint32_t least[] = {0, 0x20, 0xa0, 0x800, 0x10000};
	uint32_t code = length == 1 ? text[0] : text[0] & (0x7fu >> length);

	if ((text[0] >= 0x80 && text[0] < 0xc2) || text[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code == 0x7f || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000) || (code >= 0x2028 && code < 0x202f))
		return 0;
	return length;
}

/* A copy that a terminal and JSON accept; NULL where there is no memory. */
static char *make_safe(const char *text)
{
	char *safe = malloc(strlen(text) * 4 + 1);
	char *end = safe;

	while (safe && *text) {
		size_t length = printable_bytes((const unsigned char *)text);

		if (length == 0) {
			end += sprintf(end, "\\x%02x", (unsigned char)*text++);
			continue;
		}
		memcpy(end, text, length);
		end += length;
		text += length;
	}
	if (safe)
		*end = '\0';
	return safe;
}

static void print_safe(FILE *stream, const char *prefix, const char *format, va_list args)
{
	char *text = NULL, *safe = NULL;

	if (vasprintf(&text, format, args) >= 0) {
		safe = make_safe(text);
		free(text);
	}
	fprintf(stream, "%s%s\n", prefix, safe ? safe : "(no memory)");
	free(safe);
}

void output_line(struct output *output, const char *format, ...)
{
	va_list args;

	if (output->json)
		return;
	va_start(args, format);
	print_safe(stdout, "", format, args);
	va_end(args);
}

int output_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_safe(stderr, "dormant: ", format, args);
	va_end(args);
	return EXIT_NOT_RUN;
}

/* ---- containers ---- */

void output_begin(struct output *output, bool json)
{
	*output = (struct output){.json = json};
	if (json) {
		output->containers[output->depth++] = json_object();
		output->failed = !output->containers[0];
	}
}

/* Takes @value over. */
static void add_value(struct output *output, const char *name, json_t *value)
{
	json_t *container = output->containers[output->depth - 1];
	int result;

	if (json_is_array(container))
		result = json_array_append_new(container, value);
	else
		result = json_object_set_new(container, name, value);
	output->failed |= result != 0;
}

static void open_container(struct output *output, const char *name, json_t *container)
{
	add_value(output, name, container);
	output->containers[output->depth++] = container;
}

void output_open_list(struct output *output, const char *name)
{
	if (output->json)
		open_container(output, name, json_array());
}

void output_open_item(struct output *output)
{
	char **cells;
	size_t used = output->row_count * output->column_count;

	if (output->json)
		open_container(output, NULL, json_object());
	if (output->json || !output->columns)
		return;
	cells = reallocarray(output->cells, used + output->column_count, sizeof(*cells));
	if (!cells) {
		output->failed = true;
		return;
	}
	memset(cells + used, 0, output->column_count * sizeof(*cells));
	output->cells = cells;
	output->row_count++;
}

void output_close(struct output *output)
{
	if (output->json)
		output->depth--;
}

/* ---- facts ---- */

/* Puts text into the column of that name, if there is one, of the last row. */
static void set_cell(struct output *output, const char *name, const char *text)
{
	if (output->row_count == 0)
		return;
	for (size_t i = 0; i < output->column_count; i++) {
		char **cell = &output->cells[(output->row_count - 1) * output->column_count + i];

		if (strcmp(output->columns[i].name, name) != 0)
			continue;
		free(*cell);
		*cell = make_safe(text);
		output->failed |= !*cell;
	}
}

void output_string(struct output *output, const char *name, const char *value)
{
	char *safe;

	if (!output->json) {
		set_cell(output, name, value ? value : "-");
		return;
	}
	safe = value ? make_safe(value) : NULL;
	add_value(output, name, safe ? json_string(safe) : json_null());
	free(safe);
}

void output_number(struct output *output, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	if (output->json)
		add_value(output, name, json_integer((json_int_t)value));
	else
		set_cell(output, name, text);
}

void output_address(struct output *output, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	output_string(output, name, text);
}

void output_flag(struct output *output, const char *name, int state, const char *yes,
		 const char *no)
{
	if (!output->json)
		set_cell(output, name, state < 0 ? "-" : state ? yes : no);
	else
		add_value(output, name, state < 0 ? json_null() : json_boolean(state));
}

/* ---- tables ---- */

void output_table(struct output *output, const struct output_column *columns, size_t count)
{
	output->columns = columns;
	output->column_count = count;
}

/* Characters, as far as each takes one place. */
static int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_cell(const struct output_column *column, const char *text, int width, bool last)
{
	int space = width - text_width(text);

	if (column->right)
		printf("%*s%s", space, "", text);
	else
		printf("%s%*s", text, last ? 0 : space, "");
	fputs(last ? "\n" : "  ", stdout);
}

static const char *cell_text(const struct output *output, size_t row, size_t column)
{
	const char *text = output->cells[row * output->column_count + column];

	return text ? text : "-";
}

static int column_width(const struct output *output, size_t column)
{
	int width = text_width(output->columns[column].title);

	for (size_t row = 0; row < output->row_count; row++) {
		int cell = text_width(cell_text(output, row, column));

		width = cell > width ? cell : width;
	}
	return width;
}

static void print_rows(const struct output *output)
{
	size_t count = output->column_count;
	int *widths = calloc(count, sizeof(*widths));

	for (size_t i = 0; widths && i < count; i++)
		widths[i] = column_width(output, i);
	for (size_t i = 0; widths && i < count; i++)
		print_cell(&output->columns[i], output->columns[i].title, widths[i],
			   i + 1 == count);
	for (size_t row = 0; widths && row < output->row_count; row++)
		for (size_t i = 0; i < count; i++)
			print_cell(&output->columns[i], cell_text(output, row, i), widths[i],
				   i + 1 == count);
	free(widths);
}

void output_print_table(struct output *output)
{
	if (output->row_count > 0)
		print_rows(output);
	for (size_t i = 0; i < output->row_count * output->column_count; i++)
		free(output->cells[i]);
	free(output->cells);
	output->cells = NULL;
	output->row_count = output->column_count = 0;
	output->columns = NULL;
}

/* ---- the end ---- */

int output_end(struct output *output, int status)
{
	if (output->json && !output->failed) {
		output->failed = json_dumpf(output->containers[0], stdout, JSON_INDENT(2)) != 0;
		putchar('\n');
	}
	json_decref(output->containers[0]);
	if (fflush(stdout) != 0 || ferror(stdout))
		return output_error("standard output can not be written; nothing is known to have "
				    "arrived");
	if (output->failed)
		return output_error("no memory for the output");
	return status;
}
