#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the start of a program with 10,000 sites writes to its text: nothing, unless a key differs
# from what the file's instructions assume.
#
# usage: start.sh START START_KEY_ON     start.c, built without and with KEY_IS_ON
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

trace=$(mktemp)
trap 'rm -f "$trace"' EXIT

# count_writes BEGIN END: the writes to /proc/self/mem in the trace that lie there.
count_writes()
{
	sed -nE 's/.*pwrite64\(.*, ([0-9]+)\) = .*/\1/p' "$trace" |
		awk -v begin="$1" -v end="$2" '$1 >= begin && $1 < end { n++ } END { print n + 0 }'
}

# inspect PROGRAM: sets $dirty_kb and, where strace works, $writes.
inspect()
{
	local begin end
	read -r begin end dirty_kb < <("$1")
	writes=
	if strace -o "$trace" true; then
		read -r begin end dirty_kb < <(strace -f -o "$trace" -e trace=pwrite64 "$1")
		writes=$(count_writes "$begin" "$end")
	fi
	note <<<"$(basename "$1"): $dirty_kb kB of text private and dirty, ${writes:-unknown} writes"
}

inspect "$1"
ok 'keys as in the file: no page of text was made private' test "$dirty_kb" == 0
ok 'keys as in the file: nothing was written to the text' test "${writes:-0}" == 0
inspect "$2"
ok 'a key that differs: a page of text was made private' test "$dirty_kb" -gt 0
ok 'a key that differs: its site was written' test "${writes:-1}" == 1

finish
