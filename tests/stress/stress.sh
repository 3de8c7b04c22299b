#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The stress test of bench/ for a few seconds: with what the library chooses by itself, through each
# writer, and with the core sync that is used where membarrier is refused.
#
# usage: stress.sh STRESS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

stress=$1
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Prints one field of the last result.
field()
{
	sed -nE "s/.*\"$1\": \"?([^\",}]*).*/\1/p" "$output"
}

# run SECONDS ARGUMENT...: the status is that of the program.
run()
{
	local status=0
	"$stress" --json --seconds "$@" >"$output" 2>&1 || status=$?
	note <<<"$(<"$output")"
	return "$status"
}

is()
{
	[[ $(field "$1") == "$2" ]]
}

ok 'as chosen: 5 s without a stale or illegal execution, W+X, growth or a changed byte' run 5
ok 'as chosen: text is written through /proc/self/mem' is writer proc_mem
ok 'as chosen: cores are synchronised by membarrier' is sync membarrier

for writer in mprotect remap; do
	export DORMANT_WRITER=$writer
	ok "$writer: 2 s without a stale or illegal execution" run 2
	ok "$writer: was the writer" is writer "$writer"
	[[ $writer == remap ]] || ok 'mprotect: the watcher sees its W+X mappings' \
		test "$(field writable_executable)" -gt 0
	unset DORMANT_WRITER
done

ok 'membarrier refused: 2 s without a stale or illegal execution' run 2 --no-membarrier
ok 'membarrier refused: cores were synchronised by walking over them' is sync walk

finish
