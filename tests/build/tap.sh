# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# Sourced by the scripts of this folder: TAP lines, and the tools and files that they all use.
# The plan is printed last. A failed command's output follows its line as comments.

: "${DORMANT_INCLUDE:?the folder of the public headers}"
: "${DORMANT_STATIC:?the static library}"
: "${SITE_CHECK:?the checker of this folder}"

fixtures=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/fixtures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# What a careful program is built with.
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror "-I$DORMANT_INCLUDE")

results=0
failures=0

pass() {
	results=$((results + 1))
	echo "ok $results - $1"
}

fail() {
	results=$((results + 1))
	failures=$((failures + 1))
	echo "not ok $results - $1"
}

skip() {
	results=$((results + 1))
	echo "ok $results - $1 # SKIP $2"
}

# check NAME COMMAND...: passes when the command succeeds. In a subshell that stops at the first
# failure, which a condition of `if` would not.
check() {
	local name=$1 status
	shift
	set +e
	(
		set -e
		"$@"
	) >"$work/output" 2>&1
	status=$?
	set -e
	if [ "$status" -eq 0 ]; then
		pass "$name"
	else
		fail "$name"
		sed 's/^/# /' "$work/output" | head -n 60
	fi
}

# Lines for people about what was found.
note() {
	sed 's/^/# /'
}

# same FOUND EXPECTED WHAT: the texts are equal, or the difference is shown and it fails.
same() {
	if [ "$1" != "$2" ]; then
		echo "$3, found (-) and expected (+):"
		diff -u0 <(echo "$1") <(echo "$2") | tail -n +3
		return 1
	fi
}

# fact NAME FILE: one of the totals that the checker prints for a file.
fact() {
	"$SITE_CHECK" table "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

finish() {
	echo "1..$results"
	[ "$failures" -eq 0 ]
}
