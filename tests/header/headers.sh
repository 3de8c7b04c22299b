#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header alone, and every macro once (use*.c, in C++ use*.cc too), must compile without a
# warning in C11 to C++20, with gcc and clang, whatever the optimisation, with and without patching.
#
# usage: headers.sh INCLUDE-DIRECTORY HEADER...
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

include=$1
shift
folder=$(dirname "$0")
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
refuse_part() # PART WHOLE
{
	local output
	output=$(gcc -fsyntax-only -x c "-I$include" - <<<"#include <dormant/$1>" 2>&1) && return 1
	grep -q "include <dormant/$2>" <<<"$output"
}

languages=('gcc c11' 'gcc c17' 'gcc gnu11' 'clang c11' 'clang c17' 'g++ c++11' 'g++ c++17' 'g++ c++20'
	'clang++ c++11' 'clang++ c++17' 'clang++ c++20')
flags=('-O0' '-O2 -fPIC' '-Os -DDORMANT_NO_PATCHING')

for language in "${languages[@]}"; do
	read -r compiler standard <<<"$language"
	for header in "${headers[@]}"; do
		printf '#include <%s>\n' "$header" >"$scratch/alone.c"
		compile "$header alone" "$scratch/alone.c" "$compiler" "$standard" -O2
	done
	uses=("$folder"/use*.c)
	[[ $compiler != *++ ]] || uses+=("$folder"/use*.cc)
	for flag in "${flags[@]}"; do
		for use in "${uses[@]}"; do
			# shellcheck disable=SC2086 # a list of words
			compile "$(basename "$use")" "$use" "$compiler" "$standard" $flag
		done
	done
done
check 'static_branch.h alone names the header to include' refuse_part static_branch.h static_key.h
check 'static_call_site.h alone names the header to include' \
	refuse_part static_call_site.h static_call.h
finish
