# SPDX-License-Identifier: MIT
# What every test of Lua starts with; sourced with the test's own arguments ROOT and BUILD.
# shellcheck shell=bash
#
# Leaves $root, $build, $lua (the folder of the variants, $build/lua), $scratch, and check and plan.
# Ends the test, skipped, where the source of Lua is not to be had.
set -euo pipefail

root=$1
build=$2
lua=$build/lua
results=0
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

plan()
{
	printf '1..%d\n' "$1"
}

# check NAME COMMAND...: one result, ok where the command succeeds; its output follows where not.
check()
{
	local name=$1
	shift
	results=$((results + 1))
	if "$@" >"$scratch/check" 2>&1; then
		printf 'ok %d - %s\n' "$results" "$name"
	else
		failures=$((failures + 1))
		printf 'not ok %d - %s\n' "$results" "$name"
		tail -n 20 "$scratch/check" | sed 's/^/# /'
	fi
}

# Builds a C file of this folder against a variant: build_program VARIANT NAME
build_program()
{
	local variant=$1 libraries=()
	[[ $variant != patched ]] || libraries=("$build/src/libdormant.a")
	gcc -std=gnu11 -Wall -Wextra -Werror -O2 -g -pthread -I"$root/tests" -I"$root/include" \
		-I"$lua/edited/src" -I"$lua/include" "$root/tests/lua/$2.c" \
		"$lua/$variant/liblua.a" "${libraries[@]}" -lm -ldl -o "$scratch/$variant-$2"
}

status=0
"$root/programs/lua/prepare" "$build" >"$scratch/prepare" 2>&1 || status=$?
case $status in
0) ;;
3)
	printf '1..0 # SKIP no source of Lua: %s\n' "$(tail -n 1 "$scratch/prepare")"
	exit 0
	;;
*)
	sed 's/^/# /' "$scratch/prepare"
	printf 'Bail out! Lua does not build\n'
	exit 1
	;;
esac
