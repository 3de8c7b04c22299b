#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/count-tests against logs whose totals are known: good, failed, crashed, empty, skipped.
#
# usage: count-tests.sh COUNT-TESTS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

count_tests=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# One test of a meson log: entry NAME RESULT STATUS STDOUT
entry()
{
	printf '{"name": "p:unit / %s", "result": "%s", "returncode": %d, "stdout": "%s"}\n' "$@"
}

# Notes whether the log on standard input gives this exit status, this last line, and a line with
# this text: expect NAME STATUS TOTALS TEXT
expect()
{
	local status=0 last
	cat >"$scratch/log.json"
	"$count_tests" "$scratch/log.json" >"$scratch/output" 2>&1 || status=$?
	last=$(tail -n 1 "$scratch/output")
	if [[ $status == "$2" && $last == "$3" ]] && grep -qF -e "$4" "$scratch/output"; then
		pass "$1"
	else
		printf 'exit status %d\n' "$status" >>"$scratch/output"
		fail "$1" "$scratch/output"
	fi
}

plan 22

expect 'all results ok' 0 \
	'2 passed, 0 failed, 0 skipped' '2 passed' \
	< <(entry good OK 0 '1..2\nok 1 - a\nok 2 - b\n')
expect 'a failed result is named, with the end of its output' 1 \
	'1 passed, 1 failed, 0 skipped' '| # failed at x.c:3' \
	< <(entry bad ERROR 1 '1..2\nok 1 - a\nnot ok 2 - b\n# failed at x.c:3\n')
expect 'a skip is named with its reason' 0 \
	'1 passed, 0 failed, 1 skipped' 'skipped: log: p:unit / skip: two cpus: only one' \
	< <(entry skip OK 0 '1..2\nok 1 - a\nok 2 - two cpus # SKIP only one\n')
expect 'a skip without a reason is a failure' 1 \
	'1 passed, 1 failed, 0 skipped' 'without a reason' \
	< <(entry skip OK 0 '1..2\nok 1 - a\nok 2 - two cpus # SKIP\n')
expect 'a program skipped as a whole' 0 \
	'1 passed, 0 failed, 1 skipped' 'all: no gdb' \
	< <(
	entry all SKIP 0 '1..0 # SKIP no gdb\n'
	entry good OK 0 '1..1\nok 1 - a\n'
)
expect 'nothing but skips is a failure' 1 \
	'0 passed, 1 failed, 1 skipped' 'no test was executed' \
	< <(entry all SKIP 0 '1..0 # SKIP no gdb\n')
expect 'a crash in the middle' 1 \
	'1 passed, 1 failed, 0 skipped' 'killed by signal 4' \
	< <(entry crash ERROR -4 '1..2\nok 1 - a\n')
expect 'a crash after the last result' 1 \
	'1 passed, 1 failed, 0 skipped' 'killed by signal 11' \
	< <(entry crash ERROR -11 '1..1\nok 1 - a\n')
expect 'a plan that was not met' 1 \
	'1 passed, 1 failed, 0 skipped' '3 results planned, 1 printed' \
	< <(entry short ERROR 0 '1..3\nok 1 - a\n')
expect 'more results than planned' 1 \
	'2 passed, 1 failed, 0 skipped' '1 results planned, 2 printed' \
	< <(entry long ERROR 0 '1..1\nok 1 - a\nok 2 - b\n')
expect 'results with wrong numbers' 1 \
	'2 passed, 1 failed, 0 skipped' 'result 2 is numbered 1' \
	< <(entry order ERROR 0 '1..2\nok 1 - a\nok 1 - b\n')
expect 'no plan' 1 \
	'1 passed, 1 failed, 0 skipped' 'no plan' \
	< <(entry plan OK 0 'ok 1 - a\n')
expect 'bail out' 1 \
	'1 passed, 1 failed, 0 skipped' 'FAILED: log: p:unit / bail: Bail out! no fork' \
	< <(entry bail ERROR 99 '1..2\nok 1 - a\nBail out! no fork\n')
expect 'a program that prints nothing' 1 \
	'0 passed, 1 failed, 0 skipped' 'printed no result' \
	< <(entry empty SKIP 0 '')
expect 'a timeout' 1 \
	'1 passed, 1 failed, 0 skipped' 'timeout' \
	< <(entry hang TIMEOUT -15 '1..2\nok 1 - a\n')
expect 'an exit status against the results' 1 \
	'1 passed, 1 failed, 0 skipped' 'exit status 3' \
	< <(entry status ERROR 3 '1..1\nok 1 - a\n')
expect 'an empty log' 1 '0 passed, 1 failed, 0 skipped' 'no test was executed' </dev/null
expect 'a log that is cut off' 1 '0 passed, 1 failed, 0 skipped' 'cannot be read' <<<'{"name": "cut'
expect 'a plain TAP file' 1 '1 passed, 1 failed, 0 skipped' 'FAILED: log: b' \
	<<<$'1..2\nok 1 - a\nnot ok 2 - b'

# Notes whether these logs together fail with this last line: expect_logs NAME TOTALS LOG...
expect_logs()
{
	local name=$1 totals=$2 last
	shift 2
	if ! "$count_tests" "$@" >"$scratch/output" && last=$(tail -n 1 "$scratch/output") &&
		[[ $last == "$totals" ]]; then
		pass "$name"
	else
		fail "$name" "$scratch/output"
	fi
}

printf '1..1\nok 1 - a\n' >"$scratch/good.tap"
touch "$scratch/empty.json"
expect_logs 'one empty log among others is a failure' '1 passed, 1 failed, 0 skipped' \
	"$scratch/good.tap" "$scratch/empty.json"
expect_logs 'one missing log among others is a failure' '1 passed, 1 failed, 0 skipped' \
	"$scratch/good.tap" "$scratch/missing.json"
expect_logs 'no log at all is a failure' '0 passed, 1 failed, 0 skipped'
finish
