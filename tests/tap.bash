# SPDX-License-Identifier: MIT
# TAP for the tests that are shell scripts, as tap.h is for those in C. Sourced.
#
#     . "$(dirname "$0")/../tap.bash"
#     plan 2                               # first; or, where the number is not known, finish alone
#     ok 'the file is there' test -e "$file"
#     check 'it compiles' build_it         # a function: stops at its first failure, says its output
#     finish
#
# shellcheck shell=bash

tap_planned=
tap_results=0
tap_failures=0

# Files whose lines follow a failed result as comments, where they exist and are not empty.
tap_evidence=()

# plan NUMBER: how many results there will be.
plan()
{
	tap_planned=$1
	printf '1..%d\n' "$tap_planned"
}

# Lines for people, from the standard input.
note()
{
	sed 's/^/# /'
}

pass()
{
	tap_results=$((tap_results + 1))
	printf 'ok %d - %s\n' "$tap_results" "$1"
}

# fail NAME [FILE...]: the end of each file follows, and of $tap_evidence.
fail()
{
	local name=$1 file
	shift
	tap_results=$((tap_results + 1))
	tap_failures=$((tap_failures + 1))
	printf 'not ok %d - %s\n' "$tap_results" "$name"
	for file in "$@" "${tap_evidence[@]}"; do
		[[ ! -s $file ]] || tail -n 60 "$file" | note
	done
}

# skip NAME REASON
skip()
{
	tap_results=$((tap_results + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_results" "$1" "$2"
}

# skip_all REASON: ends a script of which nothing can be run. Instead of a plan.
skip_all()
{
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

# ok NAME COMMAND...: passes when the command succeeds. In this shell: it may set variables; a
# function that is meant to stop at its first failure belongs to check.
ok()
{
	local name=$1
	shift
	if "$@"; then
		pass "$name"
	else
		fail "$name"
		printf '# failed: %s\n' "$*"
	fi
}

# check NAME COMMAND...: passes when the command succeeds, whose output is shown where not. In a
# subshell that stops at the first failure, which a condition of `if` would not.
check()
{
	local name=$1 output status=0
	shift
	set +e
	output=$(
		set -e
		"$@" 2>&1
	)
	status=$?
	set -e
	if ((status == 0)); then
		pass "$name"
	else
		fail "$name"
		printf '%s\n' "failed with $status: $*" "$output" | tail -n 60 | note
	fi
}

# The end of the script: its status is 0 when all results are ok and as many as planned.
finish()
{
	if [[ -z $tap_planned ]]; then
		plan "$tap_results"
	elif ((tap_results != tap_planned)); then
		printf '%d results, but %d were planned\n' "$tap_results" "$tap_planned" | note
		exit 1
	fi
	exit $((tap_failures > 0))
}
