# SPDX-License-Identifier: MIT
# TAP for the scripts of this folder.
# shellcheck shell=bash

results=0
failures=0

# ok NAME COMMAND...: passes when the command succeeds.
ok()
{
	local name=$1
	shift
	results=$((results + 1))
	if "$@"; then
		printf 'ok %d - %s\n' "$results" "$name"
	else
		failures=$((failures + 1))
		printf 'not ok %d - %s\n# failed: %s\n' "$results" "$name" "$*"
	fi
}

# note TEXT...: lines for people.
note()
{
	printf '%s\n' "$@" | sed 's/^/# /'
}

finish()
{
	printf '1..%d\n' "$results"
	[[ $failures == 0 ]]
}
