/* SPDX-License-Identifier: MIT */
/*
 * A byte at a site that is neither of its two instructions (a debugger's breakpoint, a uprobe,
 * another library's hook): the patch is refused before anything is written, and says where and why.
 */
#include <errno.h>
#include <string.h>

#include "many_sites.h"
#include "own_sites.h"
#include "tap.h"

DEFINE_STATIC_KEY_FALSE(hooked);
DEFINE_STATIC_KEY_FALSE(clean);

DEFINE_1000_SITES(hooked_sites, &hooked)
DEFINE_10_SITES(clean_sites, &clean)

#define SITES 1000

static uint8_t bytes_before[SITES];

static void remember_bytes(void)
{
	for (size_t i = 0; i < SITES; i++)
		bytes_before[i] = *own_site_find(&hooked.key, i);
}

static bool bytes_are_as_before(void)
{
	for (size_t i = 0; i < SITES; i++) {
		if (*own_site_find(&hooked.key, i) != bytes_before[i])
			return false;
	}
	return true;
}

static bool error_says_all(const struct dormant_error *error, const uint8_t *site, uint8_t found)
{
	char text[16];

	snprintf(text, sizeof(text), "found %x", found);
	return error->code == -EILSEQ && error->phase == DORMANT_PHASE_VERIFY &&
	       error->key == &hooked.key && error->site == (uintptr_t)site &&
	       error->found == found && error->expected[0] == 0xa9 && error->expected[1] == 0xe9 &&
	       strcmp(error->key_name, "hooked") == 0 && strstr(error->object, "foreign") != NULL &&
	       strstr(error->message, "foreign") != NULL &&
	       strstr(error->message, "hooked") != NULL && strstr(error->message, text) != NULL &&
	       strchr(error->message, '\n') == NULL;
}

/* One foreign byte at site @n, met by a toggle that would switch the key to @on. */
static void test_byte(uint8_t byte, size_t n, bool on)
{
	uint8_t *site = own_site_find(&hooked.key, n);
	const uint8_t original = *site;
	struct dormant_error error;
	int result;

	(void)own_site_poke(site, byte);
	remember_bytes();
	memset(&error, 0, sizeof(error));
	result = on ? dormant_static_key_enable(&hooked.key, &error)
		    : dormant_static_key_disable(&hooked.key, &error);
	ok(result == -EILSEQ && error_says_all(&error, site, byte),
	   "%02x at site %zu refuses %s: %s", byte, n, on ? "on" : "off", error.message);
	ok(bytes_are_as_before() && static_key_count(&hooked.key) == !on,
	   "%02x at site %zu: no byte and no count has changed", byte, n);
	(void)own_site_poke(site, original);
	ok((on ? static_branch_enable(&hooked) : static_branch_disable(&hooked)) == 0 &&
		   hooked_sites() == on * SITES,
	   "%02x at site %zu: with the byte gone, it works", byte, n);
}

static void test_batch(void)
{
	uint8_t *site = own_site_find(&hooked.key, 500);
	const struct static_key_change changes[] = {{&clean.key, STATIC_KEY_ENABLE},
						    {&hooked.key, STATIC_KEY_INC}};
	struct dormant_error error;

	(void)own_site_poke(site, 0xcc);
	ok(dormant_static_key_batch(changes, 2, NULL, &error) == -EILSEQ &&
		   error_says_all(&error, site, 0xcc) && clean_sites() == 0 &&
		   static_key_count(&clean.key) == 0 && static_key_count(&hooked.key) == 0,
	   "a batch is refused as a whole: %s", error.message);
	ok(static_branch_enable(&clean) == 0 && clean_sites() == 10 &&
		   static_branch_disable(&clean) == 0,
	   "a key whose sites are clean can be switched meanwhile");
	ok(dormant_status(&error) != 0 && error.message[0] != '\0', "the status reports it: %s",
	   error.message);
	(void)own_site_poke(site, 0xa9);
	ok(dormant_status(NULL) == 0, "until it is gone");
}

/* A key that is on takes further references without a look at its sites. */
static void test_counting(void)
{
	uint8_t *site = own_site_find(&hooked.key, 0);

	(void)static_branch_enable(&hooked);
	(void)own_site_poke(site, 0xcc);
	ok(static_branch_inc(&hooked) == 0 && static_branch_dec(&hooked) == 0 &&
		   static_key_count(&hooked.key) == 1,
	   "references that change no branch are not refused");
	ok(static_branch_dec(&hooked) == -EILSEQ && static_key_count(&hooked.key) == 1,
	   "the last is, and is kept");
	(void)own_site_poke(site, 0xe9);
	ok(static_branch_dec(&hooked) == 0 && hooked_sites() == 0, "until the byte is gone");
}

/* A site that was switched by somebody else to one of its two forms is no foreign byte. */
static void test_own_form(void)
{
	uint8_t *site = own_site_find(&hooked.key, 3);

	(void)own_site_poke(site, 0xe9);
	ok(hooked_sites() == 1 && dormant_status(NULL) != 0, "a site that disagrees is reported");
	ok(static_branch_enable(&hooked) == 0 && hooked_sites() == SITES &&
		   static_branch_disable(&hooked) == 0 && hooked_sites() == 0 &&
		   dormant_status(NULL) == 0,
	   "and follows its key with the next toggles");
}

int main(void)
{
	static const uint8_t bytes[] = {0xcc, 0xe8, 0xeb, 0x0f, 0x90, 0x00, 0xff, 0xa8};
	const size_t count = sizeof(bytes) / sizeof(bytes[0]);

	if (own_site_find(&hooked.key, SITES - 1) == NULL || own_site_poke(bytes_before, 0) != 0)
		skip_all("no /proc/self/mem to write foreign bytes with, or sites were merged");
	plan((int)count * 6 + 4 + 3 + 2);
	for (size_t i = 0; i < count; i++) {
		test_byte(bytes[i], i * 142, true);
		test_byte(bytes[i], SITES - 1 - i * 142, false);
	}
	test_batch();
	test_counting();
	test_own_form();
	return done();
}
