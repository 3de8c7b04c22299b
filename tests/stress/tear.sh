#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tearing stress of bench/ for a few seconds: values of every width and calls, through what the
# library chooses by itself and through each writer. With proc_mem alone, sites load from memory.
#
# usage: tear.sh TEAR
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

tear=$1
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# run WRITER SECONDS: an empty writer leaves the choice to the library.
run()
{
	local status=0
	DORMANT_WRITER=$1 "$tear" --seconds "$2" --min-sets 100 >"$output" 2>&1 || status=$?
	note <"$output"
	return "$status"
}

ok 'as chosen: 3 s without a mixture, an old value after a return, or a refusal' run '' 3
for writer in mprotect remap proc_mem; do
	ok "$writer: 1 s without a mixture, an old value after a return, or a refusal" run "$writer" 1
done

finish
