#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What immediate values and static calls must not take is an error of every compiler, in C and in
# C++, without any option that asks for it, with and without patching; and what a plain call would be
# warned of, a static call is warned of too.
#
# usage: types.sh INCLUDE-DIRECTORY
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

include=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/frame.h" <<'END'
#include <dormant/batch.h>
struct node { struct node *next; int number; };
struct small { int number; };
union both { int number; float fraction; };
typedef int vector __attribute__((vector_size(8)));
typedef int row[2];
typedef int function(void);
int some_int;
struct node some_struct;
DEFINE_IMV(struct node *, table);
DEFINE_IMV(const char *, text);
DEFINE_IMV(char *, buffer);
DEFINE_IMV(int, number);
int target(int a, const char *b);
long other_result(int a, const char *b);
int other_parameter(long a, const char *b);
int too_many(int a, const char *b, int c);
void nothing(void);
DEFINE_STATIC_CALL(call, target);
DEFINE_STATIC_CALL(none, nothing);
void test(void);
END

# Whether all four compilers take the text, with the options; what they say is shown where not.
taken_by() { # TEXT COMPILER OPTION...
	local text=$1 language=c standard=gnu11
	shift
	case $1 in
	*++)
		language=c++
		standard=c++17
		;;
	esac
	printf '#include "frame.h"\n%s\n' "$text" >"$scratch/try.c"
	"$1" -x "$language" "-std=$standard" "-I$include" "-I$scratch" "${@:2}" -fsyntax-only \
		"$scratch/try.c"
}

# refuse_all TEXT OPTION...: no compiler takes it, nor fails for another reason than an error in it.
refuse_all() {
	local compiler text=$1
	shift
	for compiler in gcc clang g++ clang++; do
		if taken_by "$text" "$compiler" "$@" 2>"$scratch/said"; then
			echo "$compiler $* takes it"
			return 1
		fi
		grep -q 'error:' "$scratch/said"
	done
}

take_all() { # TEXT OPTION...
	local compiler text=$1
	shift
	for compiler in gcc clang g++ clang++; do
		taken_by "$text" "$compiler" "$@"
	done
}

in_function() { # STATEMENT
	printf 'void test(void) { %s; }' "$1"
}

refuse() { # NAME STATEMENT
	check "refused: $1" refuse_all "$(in_function "$2")"
}

refuse_definition() { # TYPE
	check "refused: DEFINE_IMV($1)" refuse_all "DEFINE_IMV($1, wrong);"
}

warn() { # NAME STATEMENT
	check "warned of: $1" refuse_all "$(in_function "$2")" -Werror
}

check 'the frame is right' take_all "$(in_function '(void)0')" -Wall -Wextra -Werror
check 'the frame is right without patching' take_all "$(in_function '(void)0')" -Wall -Wextra \
	-Werror -DDORMANT_NO_PATCHING

refuse 'imv_set of a pointer to another type' 'imv_set(table, &some_int)'
refuse 'imv_set of an integer for a pointer' 'imv_set(table, 5)'
refuse 'imv_set of a pointer for an integer' 'imv_set(number, &some_int)'
refuse 'imv_set of a struct' 'imv_set(number, some_struct)'
refuse 'imv_set of what is not there' 'imv_set(not_there, 1)'
refuse 'imv_read of what is not there' '(void)imv_read(not_there)'
refuse 'IMV_CHANGE of a pointer to another type' '(void)IMV_CHANGE(table, &some_int)'
refuse 'static_call_update with another result' 'static_call_update(call, other_result)'
refuse 'static_call_update with another parameter' 'static_call_update(call, other_parameter)'
refuse 'static_call_update with one more parameter' 'static_call_update(call, too_many)'
refuse 'static_call_update with an object' 'static_call_update(call, &some_int)'
refuse 'static_call_update with a number' 'static_call_update(call, 5)'
refuse 'STATIC_CALL_CHANGE with another result' '(void)STATIC_CALL_CHANGE(call, other_result)'
refuse 'too few arguments' 'static_call(call)(1)'
refuse 'no argument' 'static_call(call)()'
refuse 'too many arguments' 'static_call(call)(1, "a", 3)'
refuse 'an argument for a function without' 'static_call(none)(1)'
refuse 'a struct for an integer' 'static_call(call)(some_struct, "a")'
refuse 'a result where there is none' '(void)(1 + static_call(none)())'
refuse 'a call of what is not there' 'static_call(not_there)(1)'
check 'refused without patching: a function of another type' refuse_all \
	"$(in_function 'static_call_update(call, other_result)')" -DDORMANT_NO_PATCHING
check 'refused without patching: a pointer to another type' refuse_all \
	"$(in_function 'imv_set(table, &some_int)')" -DDORMANT_NO_PATCHING

for type in 'struct node' 'struct small' 'union both' 'long double' '__int128' '_Complex float' \
	row vector function void 'volatile int'; do
	refuse_definition "$type"
done

warn 'a pointer for an integer' 'static_call(call)(&some_int, "a")'
warn 'a pointer to another type' 'static_call(call)(1, &some_int)'
warn 'an integer for a pointer' 'static_call(call)(1, 5)'
warn 'imv_set without the const' 'imv_set(buffer, text__imv)'

returns_reference() {
	local compiler
	for compiler in g++ clang++; do
		! taken_by 'int &first(int &a); DEFINE_STATIC_CALL(wrong, first);
			int use(int a); int use(int a) { return static_call(wrong)(a); }' \
			"$compiler" 2>"$scratch/said" || return 1
		grep -q 'can not return a reference; return a pointer' "$scratch/said"
	done
}
check 'refused: a function that returns a reference, with what to write instead' returns_reference

finish
