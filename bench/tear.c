/* SPDX-License-Identifier: MIT */
/*
 * The tearing stress: threads run sites of every width and of calls, at every offset of a cache
 * line, while two others set them. What a site gives must be a number that was set; after a set
 * returned, no execution that begins later may give an older one.
 *
 * A reader knows that because a setter notes the number of its turn before and after each set of an
 * owner that is its own: what is read lies between the turn that had ended before and the one that
 * had begun after.
 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dormant/object.h>
#include <dormant/probe.h>

#include "tear_sites.h"

#define READERS_MAX 64

static unsigned seconds = 60, readers = 4;
static unsigned long long min_sets = 1;

/* Turns of the setters, by kind and owner. */
static unsigned begun[TEAR_KINDS][TEAR_SETTERS], ended[TEAR_KINDS][TEAR_SETTERS];
static bool stop;

struct reader {
	pthread_t thread;
	uint64_t random;
	unsigned long long reads, checked, mixtures, stale;
};

struct setter {
	pthread_t thread;
	unsigned owner;
	unsigned long long sets, refused;
	char refusal[sizeof(((struct dormant_error *)0)->message)];
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- reading ---- */

static void read_own(struct reader *reader, enum tear_kind kind, unsigned owner, unsigned offset)
{
	unsigned from = __atomic_load_n(&ended[kind][owner], __ATOMIC_ACQUIRE);
	int number = tear_read(kind, owner, offset);
	unsigned to = __atomic_load_n(&begun[kind][owner], __ATOMIC_ACQUIRE);

	if (number == TEAR_MIXTURE) {
		reader->mixtures++;
		return;
	}
	if (to - from >= TEAR_PERIOD - 1) /* this thread slept for longer than numbers go round */
		return;
	reader->checked++;
	if (((unsigned)number - from) % TEAR_PERIOD > to - from)
		reader->stale++;
}

static void *run_reader(void *data)
{
	struct reader *reader = data;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t random = next_random(&reader->random);
		enum tear_kind kind = (enum tear_kind)(random % TEAR_KINDS);
		unsigned owner = (unsigned)(random >> 8) % TEAR_OWNERS;
		unsigned offset = (unsigned)(random >> 16) % TEAR_OFFSETS;

		reader->reads++;
		if (owner != TEAR_SHARED)
			read_own(reader, kind, owner, offset);
		else if (tear_read(kind, owner, offset) == TEAR_MIXTURE)
			reader->mixtures++;
	}
	return NULL;
}

/* ---- setting ---- */

static void note_set(struct setter *setter, int result, const struct dormant_error *error)
{
	setter->sets++;
	if (result == 0)
		return;
	setter->refused++;
	memcpy(setter->refusal, error->message, sizeof(setter->refusal));
}

static void set_own(struct setter *setter, enum tear_kind kind, unsigned turn)
{
	struct dormant_error error = {0};
	unsigned owner = setter->owner;

	__atomic_store_n(&begun[kind][owner], turn, __ATOMIC_SEQ_CST);
	note_set(setter, tear_set(kind, owner, turn % TEAR_PERIOD, &error), &error);
	__atomic_store_n(&ended[kind][owner], turn, __ATOMIC_SEQ_CST);
}

static void set_all_own(struct setter *setter, unsigned turn)
{
	struct dormant_error error = {0};

	for (unsigned kind = 0; kind < TEAR_KINDS; kind++)
		__atomic_store_n(&begun[kind][setter->owner], turn, __ATOMIC_SEQ_CST);
	note_set(setter, tear_set_all(setter->owner, turn % TEAR_PERIOD, &error), &error);
	for (unsigned kind = 0; kind < TEAR_KINDS; kind++)
		__atomic_store_n(&ended[kind][setter->owner], turn, __ATOMIC_SEQ_CST);
}

static void *run_setter(void *data)
{
	struct setter *setter = data;

	for (unsigned turn = 1; !__atomic_load_n(&stop, __ATOMIC_RELAXED); turn++) {
		struct dormant_error error = {0};
		enum tear_kind shared = (enum tear_kind)(turn / 2 % TEAR_KINDS);

		if (turn % 4 == 0) {
			set_all_own(setter, turn);
		} else {
			for (unsigned kind = 0; kind < TEAR_KINDS; kind++)
				set_own(setter, (enum tear_kind)kind, turn);
		}
		note_set(setter, tear_set(shared, TEAR_SHARED, turn * 7 % TEAR_PERIOD, &error),
			 &error);
	}
	return NULL;
}

/* ---- the run ---- */

/* Sites that do not give what was set last, when all is quiet. */
static unsigned count_wrong(void)
{
	unsigned wrong = 0;

	for (unsigned kind = 0; kind < TEAR_KINDS; kind++) {
		for (unsigned owner = 0; owner < TEAR_SETTERS; owner++) {
			int last = (int)(ended[kind][owner] % TEAR_PERIOD);

			for (unsigned offset = 0; offset < TEAR_OFFSETS; offset++)
				wrong += tear_read((enum tear_kind)kind, owner, offset) != last;
		}
	}
	return wrong;
}

static void run_threads(struct reader *all_readers, struct setter *all_setters)
{
	struct timespec pause = {(time_t)seconds, 0};
	sigset_t signals;

	sigfillset(&signals);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
	for (unsigned i = 0; i < readers; i++) {
		all_readers[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
		if (pthread_create(&all_readers[i].thread, NULL, run_reader, &all_readers[i]) != 0)
			abort();
	}
	for (unsigned i = 0; i < TEAR_SETTERS; i++) {
		all_setters[i].owner = i;
		if (pthread_create(&all_setters[i].thread, NULL, run_setter, &all_setters[i]) != 0)
			abort();
	}
	nanosleep(&pause, NULL);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < readers; i++)
		pthread_join(all_readers[i].thread, NULL);
	for (unsigned i = 0; i < TEAR_SETTERS; i++)
		pthread_join(all_setters[i].thread, NULL);
}

static int report(const struct reader *all_readers, const struct setter *all_setters)
{
	unsigned long long reads = 0, checked = 0, mixtures = 0, stale = 0, sets = 0, refused = 0;
	unsigned wrong = count_wrong();
	struct dormant_error error = {0};
	bool bad;

	for (unsigned i = 0; i < readers; i++) {
		reads += all_readers[i].reads;
		checked += all_readers[i].checked;
		mixtures += all_readers[i].mixtures;
		stale += all_readers[i].stale;
	}
	for (unsigned i = 0; i < TEAR_SETTERS; i++) {
		sets += all_setters[i].sets;
		refused += all_setters[i].refused;
	}
	bad = mixtures != 0 || stale != 0 || refused != 0 || wrong != 0 || checked == 0 ||
	      sets < min_sets || dormant_status(&error) != 0;
	printf("%u s, %u readers, %u setters, %u offsets of each of %u kinds\n", seconds, readers,
	       TEAR_SETTERS, TEAR_OFFSETS, TEAR_KINDS);
	printf("reads     %llu (checked against turns: %llu)\n", reads, checked);
	printf("sets      %llu\nrefused   %llu %s\n", sets, refused,
	       refused != 0 ? all_setters[all_setters[0].refused == 0].refusal : "");
	printf("mixtures  %llu\nstale     %llu\nwrong at the end  %u %s\n", mixtures, stale, wrong,
	       error.message);
	printf("%s\n", bad ? "FAILED" : "passed");
	return bad;
}

static int run(void)
{
	static struct reader all_readers[READERS_MAX];
	static struct setter all_setters[TEAR_SETTERS];

	if (tear_start() != 0)
		return 2;
	for (unsigned owner = 0; owner < TEAR_OWNERS; owner++) {
		if (tear_set_all(owner, 0, NULL) != 0)
			return 2;
	}
	run_threads(all_readers, all_setters);
	return report(all_readers, all_setters);
}

/* A fault ends the process that has it: readers block all signals. */
static int run_in_child(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		exit(run());
	if (child < 0 || waitpid(child, &status, 0) != child) {
		perror("tear: no child");
		return 2;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	printf("a thread died of %s\nFAILED\n", strsignal(WTERMSIG(status)));
	return 1;
}

static const char usage[] =
	"usage: tear [--seconds N] [--readers N] [--min-sets N]\n"
	"DORMANT_WRITER in the environment chooses the writer.\n"
	"Exit status 0: all is right; 1: something is wrong; 2: it could not run.\n";

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{"seconds", required_argument, NULL, 's'},
		{"readers", required_argument, NULL, 'r'},
		{"min-sets", required_argument, NULL, 'm'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 's')
			seconds = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'r')
			readers = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'm')
			min_sets = strtoull(optarg, NULL, 10);
		else
			readers = 0;
	}
	if (optind < argc || seconds == 0 || readers == 0 || readers > READERS_MAX) {
		fputs(usage, stderr);
		return 2;
	}
	return run_in_child();
}
