# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
#
# Sourced by the scripts of this folder: the tools and files that they all use. The plan is printed
# last.

# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../tap.bash"

: "${DORMANT_INCLUDE:?the folder of the public headers}"
: "${DORMANT_STATIC:?the static library}"
: "${SITE_CHECK:?the checker of this folder}"

fixtures=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/fixtures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# What a careful program is built with.
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror "-I$DORMANT_INCLUDE")

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
