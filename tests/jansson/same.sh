#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Patched jansson behaves as jansson does: it writes the same documents, and passes jansson's own
# tests; and what can be tuned in it follows.
#
# usage: same.sh ROOT BUILD
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

root=$1
build=$2
jansson=$build/jansson
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# meson sets it to the folders of this build.
unset LD_LIBRARY_PATH

status=0
"$root/programs/jansson/prepare" "$build" >"$scratch/prepare" 2>&1 || status=$?
case $status in
0) ;;
3)
	skip_all "no source of jansson: $(tail -n 1 "$scratch/prepare")"
	;;
*)
	note <"$scratch/prepare"
	printf 'Bail out! jansson does not build\n'
	exit 1
	;;
esac

variants=(memory patched stock-retpoline memory-retpoline patched-retpoline)
own_tests=(array copy dump equal load loadb memory_funcs number object pack simple unpack)

# compile VARIANT SOURCE FLAG...: leaves $scratch/program
compile()
{
	local variant=$1 source=$2
	shift 2
	gcc -std=gnu11 -g -O1 -DHAVE_CONFIG_H -I"$jansson/include" \
		-I"$jansson/edited/src" "$@" "$source" "$jansson/$variant/libjansson.so" \
		-Wl,-rpath,"$jansson/$variant" -lm -pthread -o "$scratch/program"
}

same_documents()
{
	"$jansson/stock/parse" >"$scratch/stock"
	grep -q '^5000 records' "$scratch/stock"
	"$jansson/$1/parse" | diff "$scratch/stock" -
}

# Each of jansson's tests exits with 1 at its first failure.
passes_own_test()
{
	compile patched "$jansson/source/test/suites/api/test_$1.c" -w
	timeout 60 "$scratch/program"
}

follows()
{
	compile "$1" "$root/tests/jansson/tunables.c" -Wall -Wextra -Werror -I"$root/tests"
	timeout 60 "$scratch/program"
}

plan $((${#variants[@]} + ${#own_tests[@]} + 3))
for variant in "${variants[@]}"; do
	check "$variant writes the documents that jansson as it is writes" same_documents "$variant"
done
for name in "${own_tests[@]}"; do
	check "jansson's own test of $name passes" passes_own_test "$name"
done
check 'functions and limit follow, patched' follows patched
check 'functions and limit follow, patched, with retpolines' follows patched-retpoline
check 'functions and limit follow, in memory' follows memory
finish
