/* SPDX-License-Identifier: MIT */
/* The text of an error: numbers, cutting at the end of a field, and a NULL error. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "error.h"
#include "tap.h"

static void test_append(void)
{
	char field[12];

	memset(field, 'x', sizeof(field));
	field[0] = '\0';
	text_append(field, 8, "abc");
	ok(strcmp(field, "abc") == 0, "an empty field takes text");
	text_append(field, 8, "");
	ok(strcmp(field, "abc") == 0, "nothing appended changes nothing");
	text_append(field, 8, "defg");
	ok(strcmp(field, "abcdefg") == 0, "a text that just fits is whole");
	text_append(field, 8, "h");
	ok(strcmp(field, "abcdefg") == 0, "a full field stays as it is");
	ok(field[8] == 'x' && field[9] == 'x', "nothing is written past the field's size");
	field[0] = '\0';
	text_append(field, 8, "0123456789");
	ok(strcmp(field, "0123456") == 0, "a longer text is cut and terminated");
	field[0] = '\0';
	text_append(field, 1, "abc");
	ok(field[0] == '\0', "a field of one byte stays empty");
}

static void test_numbers(void)
{
	static const struct {
		uint64_t value;
		unsigned base;
		const char *text;
	} cases[] = {
		{0, 10, "0"},
		{0, 16, "0"},
		{9, 10, "9"},
		{10, 10, "10"},
		{0xdeadbeef, 16, "deadbeef"},
		{UINT64_MAX, 10, "18446744073709551615"},
		{UINT64_MAX, 16, "ffffffffffffffff"},
		{UINT64_MAX, 2, "1111111111111111111111111111111111111111111111111111111111111111"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char field[80] = "=";

		text_append_number(field, sizeof(field), cases[i].value, cases[i].base);
		ok(strcmp(field + 1, cases[i].text) == 0, "%s in base %u", cases[i].text,
		   cases[i].base);
	}
}

static void test_begin(void)
{
	struct dormant_error error;

	memset(&error, 'x', sizeof(error));
	ok(error_begin(&error, DORMANT_PHASE_VERIFY, -EILSEQ) == -EILSEQ,
	   "beginning an error returns its code");
	ok(error.code == -EILSEQ && error.phase == DORMANT_PHASE_VERIFY && error.key == NULL &&
		   error.site == 0 && error.found == 0 && error.key_name[0] == '\0' &&
		   error.object[0] == '\0' && error.message[0] == '\0',
	   "it clears what an earlier failure left");
}

static void test_message(void)
{
	struct dormant_error error;

	error_begin(&error, DORMANT_PHASE_WRITE, -EPERM);
	error_text(&error, "at 0x");
	error_hex(&error, 0x1f);
	error_text(&error, ", ");
	error_number(&error, 1000);
	error_text(&error, " sites: ");
	error_errno(&error, -EPERM);
	ok(strcmp(error.message, "at 0x1f, 1000 sites: EPERM") == 0,
	   "a message is built in order: %s", error.message);
	for (int i = 0; i < 100; i++)
		error_text(&error, "0123456789");
	ok(strlen(error.message) == sizeof(error.message) - 1, "a message is cut at its end");
}

static void test_errno_names(void)
{
	struct dormant_error error;

	error_begin(&error, DORMANT_PHASE_SYNC, -ENOSYS);
	error_errno(&error, -ENOSYS);
	ok(strcmp(error.message, "ENOSYS") == 0, "ENOSYS is named");
	error.message[0] = '\0';
	error_errno(&error, -EBADF);
	ok(strcmp(error.message, "EBADF") == 0, "EBADF is named: %s", error.message);
	error.message[0] = '\0';
	error_errno(&error, -3000);
	ok(strcmp(error.message, "errno 3000") == 0, "an errno without a name is a number: %s",
	   error.message);
}

static void test_null(void)
{
	error_text(NULL, "text");
	error_hex(NULL, 1);
	error_number(NULL, 1);
	error_errno(NULL, -EPERM);
	ok(error_begin(NULL, DORMANT_PHASE_WRITE, -EPERM) == -EPERM, "a NULL error is accepted");
}

static void test_phases(void)
{
	static const char *const names[] = {"none",   "argument", "object", "memory",
					    "verify", "write",    "sync",   "rollback"};

	for (int i = 0; i < 8; i++)
		ok(strcmp(dormant_phase_name((enum dormant_phase)i), names[i]) == 0,
		   "phase %d is called %s", i, names[i]);
	ok(strcmp(dormant_phase_name((enum dormant_phase)8), "unknown") == 0 &&
		   strcmp(dormant_phase_name((enum dormant_phase) - 1), "unknown") == 0,
	   "what is no phase is called unknown");
}

int main(void)
{
	plan(7 + 8 + 2 + 2 + 3 + 1 + 9);
	test_append();
	test_numbers();
	test_begin();
	test_message();
	test_errno_names();
	test_null();
	test_phases();
	return done();
}
