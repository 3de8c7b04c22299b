/* SPDX-License-Identifier: MIT */
/* Text of failures, built without snprintf(), which may allocate and take the locale's lock. */
#include <errno.h>
#include <string.h>

#include "error.h"

void text_append(char *field, size_t size, const char *text)
{
	size_t used = strlen(field);

	while (*text != '\0' && used + 1 < size)
		field[used++] = *text++;
	field[used] = '\0';
}

void text_append_number(char *field, size_t size, uint64_t value, unsigned base)
{
	char digits[65];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	text_append(field, size, at);
}

int error_begin(struct dormant_error *error, enum dormant_phase phase, int code)
{
	if (error != NULL) {
		memset(error, 0, sizeof(*error));
		error->code = code;
		error->phase = phase;
	}
	return code;
}

void error_text(struct dormant_error *error, const char *text)
{
	if (error != NULL)
		text_append(error->message, sizeof(error->message), text);
}

void error_hex(struct dormant_error *error, uint64_t value)
{
	if (error != NULL)
		text_append_number(error->message, sizeof(error->message), value, 16);
}

void error_number(struct dormant_error *error, uint64_t value)
{
	if (error != NULL)
		text_append_number(error->message, sizeof(error->message), value, 10);
}

void error_errno(struct dormant_error *error, int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{EPERM, "EPERM"},   {ENOENT, "ENOENT"},       {EIO, "EIO"},
		{ENOMEM, "ENOMEM"}, {EACCES, "EACCES"},       {EFAULT, "EFAULT"},
		{EBUSY, "EBUSY"},   {EINVAL, "EINVAL"},       {EMFILE, "EMFILE"},
		{ENFILE, "ENFILE"}, {ENOSPC, "ENOSPC"},       {EROFS, "EROFS"},
		{ERANGE, "ERANGE"}, {ENOSYS, "ENOSYS"},       {ENOEXEC, "ENOEXEC"},
		{EILSEQ, "EILSEQ"}, {EOVERFLOW, "EOVERFLOW"}, {EOPNOTSUPP, "EOPNOTSUPP"},
		{ESRCH, "ESRCH"},   {EBADF, "EBADF"},         {EAGAIN, "EAGAIN"},
		{EINTR, "EINTR"},   {ESTALE, "ESTALE"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].code == -code) {
			error_text(error, names[i].name);
			return;
		}
	}
	error_text(error, "errno ");
	error_number(error, (uint64_t)-code);
}

const char *dormant_phase_name(enum dormant_phase phase)
{
	static const char *const names[] = {
		[DORMANT_PHASE_NONE] = "none",     [DORMANT_PHASE_ARGUMENT] = "argument",
		[DORMANT_PHASE_OBJECT] = "object", [DORMANT_PHASE_MEMORY] = "memory",
		[DORMANT_PHASE_VERIFY] = "verify", [DORMANT_PHASE_WRITE] = "write",
		[DORMANT_PHASE_SYNC] = "sync",     [DORMANT_PHASE_ROLLBACK] = "rollback",
	};

	if ((unsigned)phase >= sizeof(names) / sizeof(names[0]))
		return "unknown";
	return names[phase];
}
