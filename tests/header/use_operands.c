/* SPDX-License-Identifier: MIT */
/*
 * Every macro of immediate values, static calls and batches, and the types and arguments that they
 * must take, in the common subset of C11 and C++11: headers.sh compiles this file as both, without
 * a warning.
 */
#include <dormant/batch.h>

enum use_colour { USE_RED, USE_GREEN };
struct use_node {
	struct use_node *next;
	int number;
};
struct use_pair {
	int first, second;
};
struct use_bits {
	unsigned low : 3;
};
typedef int use_function(int);

DEFINE_IMV(double, use_ratio) = 1.5;
DEFINE_IMV(float, use_factor) = 1;
DEFINE_IMV(enum use_colour, use_colour) = USE_RED;
DEFINE_IMV(bool, use_flag) = true;
DEFINE_IMV(const char *, use_text) = "text";
DEFINE_IMV(char *, use_buffer) = NULL;
DEFINE_IMV(void *, use_pointer) = NULL;
DEFINE_IMV(struct use_node *, use_table) = NULL;
DEFINE_IMV(use_function *, use_callback) = NULL;
DEFINE_IMV(char, use_char) = 'c';
DEFINE_IMV(unsigned char, use_byte) = 200;
DEFINE_IMV(short, use_short) = -3;
DEFINE_IMV(unsigned, use_limit) = 7;
DEFINE_IMV(long long, use_wide) = -1;
DEFINE_IMV(size_t, use_size) = 3;
DECLARE_IMV(int, use_elsewhere);

static int use_add(int a, long b)
{
	return a + (int)b;
}
static int use_subtract(int a, long b)
{
	return a - (int)b;
}
static void use_nothing(void)
{
}
static void use_note(const char *text)
{
	(void)text;
}
static int use_variadic(const char *format, ...)
{
	return format[0];
}
static double use_half(double x, float y)
{
	return x / 2 + (double)y;
}
static long use_seven(int a, int b, int c, int d, int e, int f, long g)
{
	return a + b + c + d + e + f + g;
}
static struct use_pair use_by_value(struct use_pair pair, int more)
{
	pair.first += more;
	return pair;
}
static int use_narrow(enum use_colour a, bool b, char c, short d, unsigned char e, unsigned f)
{
	return (int)a + b + c + d + e + (int)f;
}
static int use_apply(use_function *function, const struct use_node *node, void *data)
{
	return function(node == NULL) + (data != NULL);
}
static int use_negate(int a)
{
	return -a;
}

DEFINE_STATIC_CALL(use_call, use_add);
DEFINE_STATIC_CALL(use_by_address, &use_add);
DEFINE_STATIC_CALL(use_call_nothing, use_nothing);
DEFINE_STATIC_CALL(use_call_variadic, use_variadic);
DEFINE_STATIC_CALL(use_call_half, use_half);
DEFINE_STATIC_CALL(use_call_seven, use_seven);
DEFINE_STATIC_CALL(use_call_by_value, use_by_value);
DEFINE_STATIC_CALL(use_call_narrow, use_narrow);
DEFINE_STATIC_CALL(use_call_apply, use_apply);
DEFINE_STATIC_CALL_NULL(use_call_null, use_note);
DECLARE_STATIC_CALL(use_call_elsewhere, use_add);

double use_values(void);
int use_sets(struct use_node *node, struct dormant_error *error);
int use_calls(struct use_node *node, int a, short b, struct use_bits *bits);
int use_updates(struct dormant_error *error);

double use_values(void)
{
	return imv_read(use_ratio) + (double)imv_read(use_factor) + (int)imv_read(use_colour) +
	       imv_read(use_flag) + imv_read(use_text)[0] + imv_read(use_char) +
	       imv_read(use_byte) + imv_read(use_short) + imv_read(use_limit) +
	       imv_read(use_table)->number + imv_read(use_callback)(3) + imv_get(use_ratio) +
	       imv_read(use_elsewhere);
}

int use_sets(struct use_node *node, struct dormant_error *error)
{
	struct imv_change changes[] = {
		IMV_CHANGE(use_ratio, 2),
		IMV_CHANGE(use_text, "other"),
		IMV_CHANGE(use_flag, node != NULL),
	};

	return imv_set(use_ratio, 2) | imv_set(use_factor, 2.5f) | imv_set(use_colour, USE_GREEN) |
	       imv_set(use_flag, node) | imv_set(use_text, "b") | imv_set(use_text, NULL) |
	       imv_set(use_text, imv_read(use_buffer)) | imv_set(use_pointer, node) |
	       imv_set(use_table, 0) | imv_set(use_table, node) |
	       imv_set(use_callback, use_negate) | imv_set(use_callback, NULL) |
	       imv_set(use_char, 'd') | imv_set(use_byte, 7) | imv_set(use_short, 9) |
	       imv_set(use_limit, imv_read(use_limit) + 1) | imv_set(use_wide, 5) |
	       imv_set(use_size, sizeof(int)) | imv_set_error(use_wide, 7, error) |
	       imv_set(use_elsewhere, imv_read(use_elsewhere) + 1) |
	       dormant_imv_batch(changes, 3, error);
}

int use_calls(struct use_node *node, int a, short b, struct use_bits *bits)
{
	struct use_pair pair = {1, 2};
	int sum = 0;

	static_call(use_call_nothing)();
	static_call_cond(use_call_null)("text");
	static_call_cond(use_call_null)(NULL);
	sum += static_call(use_call)(a, 3) + static_call(use_call)(b, a) +
	       static_call(use_by_address)(1, 2) + static_call(use_call_elsewhere)(a, b);
	sum += static_call(use_call)(static_call(use_call)(a, 1), imv_read(use_limit));
	sum += static_call(use_call)((int)bits->low, bits->low);
	sum += static_call(use_call_variadic)("x") +
	       static_call(use_call_variadic)("x", a, 2.0, "s", node);
	sum += (int)static_call(use_call_half)(a, 0.5f) + (int)static_call(use_call_half)(2.0, b);
	sum += (int)static_call(use_call_seven)(1, 2, 3, 4, 5, 6, 7);
	sum += static_call(use_call_by_value)(pair, 3).first;
	sum += static_call(use_call_narrow)(USE_GREEN, true, 'c', b, (unsigned char)a, 3u);
	sum += static_call(use_call_apply)(use_negate, node, NULL) +
	       static_call(use_call_apply)(&use_negate, NULL, node);
	return sum;
}

int use_updates(struct dormant_error *error)
{
	struct dormant_change changes[] = {
		DORMANT_CHANGE_IMV(use_limit, 100),
		DORMANT_CHANGE_CALL(use_call, use_subtract),
		DORMANT_CHANGE_CALL(use_call_null, NULL),
	};
	struct static_call_change calls[] = {STATIC_CALL_CHANGE(use_call, use_subtract)};

	return static_call_update(use_call, use_subtract) | static_call_update(use_call, &use_add) |
	       static_call_update(use_call_null, NULL) |
	       static_call_update_error(use_call_null, use_note, error) |
	       dormant_static_call_batch(calls, 1, error) |
	       dormant_batch(changes, 3, &dormant_object_self, error) |
	       (static_call_query(use_call) == use_add);
}
