#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header alone, and every macro once (use.c), must compile without a warning in C11 to
# C++17, with gcc and clang, whatever the optimisation, with and without patching.
#
# usage: headers.sh INCLUDE-DIRECTORY USE.C HEADER...
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

include=$1
use=$2
shift 2
headers=("$@")
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Werror)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Compiles one file in one language: compile NAME FILE COMPILER STANDARD FLAG...
compile()
{
	local name=$1 file=$2 compiler=$3 standard=$4 language=c
	shift 4
	case $standard in
	c++*) language=c++ ;;
	esac
	check "$name, $compiler -std=$standard $*" "$compiler" -x "$language" "-std=$standard" \
		"${warnings[@]}" "-I$include" "$@" -c -o "$scratch/out.o" "$file"
}

# A header that is a part of another one says so, rather than failing in a puzzling way.
refuse_part()
{
	local output
	output=$(gcc -fsyntax-only -x c "-I$include" - <<<'#include <dormant/static_branch.h>' 2>&1) &&
		return 1
	grep -q 'include <dormant/static_key.h>' <<<"$output"
}

languages=('gcc c11' 'gcc c17' 'clang c11' 'clang c17' 'g++ c++11' 'g++ c++17' 'clang++ c++11'
	'clang++ c++17')
flags=('-O0' '-O2' '-O2 -fPIC' '-Os -DDORMANT_NO_PATCHING')

plan $((${#languages[@]} * (${#headers[@]} + ${#flags[@]}) + 1))
for language in "${languages[@]}"; do
	read -r compiler standard <<<"$language"
	for header in "${headers[@]}"; do
		printf '#include <%s>\n' "$header" >"$scratch/alone.c"
		compile "$header alone" "$scratch/alone.c" "$compiler" "$standard" -O2
	done
	for flag in "${flags[@]}"; do
		# shellcheck disable=SC2086 # a list of words
		compile 'every macro' "$use" "$compiler" "$standard" $flag
	done
done
check 'static_branch.h alone names the header to include' refuse_part
finish
