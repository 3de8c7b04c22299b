#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What 10,000 sites cost in a shared object: 12 bytes of read-only table each, without relocations,
# and at most one relocation each beside it (and two for the bounds of the table), which is a relative
# one unless the key is preemptible.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"

build() { # OPTION...
	"$compiler" "$level" -fPIC -shared "${warnings[@]}" "$@" "$fixtures/many.c" -o many.so
	"$compiler" -O0 -fPIC -shared "${warnings[@]}" "$@" -DDORMANT_NO_PATCHING \
		"$fixtures/many.c" -o none.so
	"$SITE_CHECK" table many.so
}

# How many relocations of the kinds named the sites have added.
added() { # KIND...
	local sum=0 kind

	for kind in "$@"; do
		sum=$((sum + $(fact "$kind" many.so) - $(fact "$kind" none.so)))
	done
	echo "$sum"
}

at_most() { # FOUND LIMIT
	echo "$1 relocations"
	[ "$1" -le "$2" ]
}

for compiler in gcc clang; do
	# The levels that are quickest with so many sites.
	case $compiler in
	gcc) level=-O1 ;;
	clang) level=-O0 ;;
	esac
	check "$compiler: builds, no relocation inside dormant_sites" build -fvisibility=hidden
	check "$compiler: 10,000 sites" same "$(fact sites many.so)" 10000 "sites"
	check "$compiler: 12 bytes each" same "$(fact table_bytes many.so)" 120000 "bytes"
	check "$compiler: at most one relative relocation each" at_most "$(added relative)" 10002
	check "$compiler: no symbolic relocation" same "$(added symbolic)" 0 "symbolic relocations"
done
compiler=gcc
level=-O1
check "gcc, a preemptible key: builds" build
check "gcc, a preemptible key: at most one relocation each" \
	at_most "$(added relative symbolic)" 10002

finish
