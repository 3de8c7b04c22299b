#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# How many system calls a toggle makes, by the number of the key's sites, which stand 64 bytes apart.
#
# usage: syncs.sh SYNCS     the program of syncs.c
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

syncs=$1
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
toggles=4

if ! strace -o "$trace" true; then
	skip_all 'strace can not trace here'
fi

# count CALL SITES TOGGLES: prints how often the program makes the system call.
count()
{
	strace -f -o "$trace" -e trace="$1" "$syncs" "$2" "$3"
	grep -c "$1(" "$trace" || true
}

# count_in_toggles CALL SITES: the same for the toggles alone, without the program's start.
count_in_toggles()
{
	printf '%d' $(($(count "$1" "$2" $toggles) - $(count "$1" "$2" 0)))
}

for sites in 1 1000 100000; do
	found=$(count_in_toggles membarrier "$sites")
	note <<<"$sites sites: $found membarrier in $toggles toggles"
	ok "$sites sites: one core sync a toggle" test "$found" == $toggles
done

for sites in 1 1000 100000; do
	pages=$(((sites * 64 + 4095) / 4096))
	found=$(count_in_toggles pwrite64 "$sites")
	note <<<"$sites sites on $pages pages: $found pwrite in $toggles toggles"
	ok "$sites sites: at least one write a toggle" test "$found" -ge $toggles
	ok "$sites sites: at most one write for each touched page" test "$found" -le $((pages * toggles))
done

finish
