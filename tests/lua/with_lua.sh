# SPDX-License-Identifier: MIT
# What every test of Lua starts with; sourced with the test's own arguments ROOT and BUILD.
# shellcheck shell=bash
#
# Leaves $root, $build, $lua (the folder of the variants, $build/lua), $scratch, and tap.bash.
# Ends the test, skipped, where the source of Lua is not to be had.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../tap.bash"

root=$1
build=$2
lua=$build/lua
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

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
	skip_all "no source of Lua: $(tail -n 1 "$scratch/prepare")"
	;;
*)
	note <"$scratch/prepare"
	printf 'Bail out! Lua does not build\n'
	exit 1
	;;
esac
