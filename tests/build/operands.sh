#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What a value and a static call cost where they stand. fixtures/operand_shape.c is run with and
# without them, an instruction at a time (operand_steps.c): a value is one mov of a constant and no
# load, a static call is the plain call. fixtures/calls.c has static calls in every shape: which of
# them are calls that the library changes, and which go by the trampoline, is decided by decoding the
# file, and is the list below.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"

# ---- instructions ----

gcc -D_GNU_SOURCE -O1 "${warnings[@]}" -c "$fixtures/../operand_steps.c" -o steps.o
gcc -D_GNU_SOURCE -O1 "${warnings[@]}" -c "$fixtures/../trace.c" -o trace.o

# Both builds of the shapes, run and compared; the lines are left in `steps`.
run_steps() { # COMPILER OPTION...
	"$1" "${warnings[@]}" "${@:2}" -c "$fixtures/operand_shape.c" -o with.o
	"$1" "${warnings[@]}" "${@:2}" -fno-pic -DWITHOUT -c "$fixtures/operand_shape.c" \
		-o without.o
	gcc -no-pie steps.o trace.o with.o without.o "$DORMANT_STATIC" -lZydis -o operand_steps
	"$SITE_CHECK" table operand_steps
	./operand_steps >steps || {
		cat steps
		return 1
	}
}

# Functions whose sites add more instructions than their kind may: beside the one mov a value of eight
# bytes has a nop or two before it, and clang extends what is narrower than four.
dear() { # COMPILER
	local name added nops

	while read -r name _ added nops _; do
		case $1:$name in
		clang*:value_*int8 | clang*:value_*int16 | clang*:value_bool) ((added <= 1)) ;;
		*) ((added <= 0)) ;;
		esac && case $name in
		value_long | value_double) ((nops <= 2)) ;;
		value_pointer) ((nops <= 2)) ;;
		*) ((nops == 0)) ;;
		esac || echo "$name added=$added nops=$nops"
	done < <(sed 's/[a-z]*=//g' steps)
}

count_added() { # COMPILER
	same "$(dear "$1")" "" "functions that have more instructions than they may"
}

steps() { # NAME COMPILER OPTION...
	check "$1: no value is loaded, no call goes by the trampoline" run_steps "${@:2}"
	check "$1: a value is one mov, a static call the plain call" count_added "$2"
	note <steps
}

for level in 1 2 3 s; do
	steps "gcc -O$level" gcc "-O$level"
	steps "clang -O$level" clang "-O$level"
done
steps "gcc -O2 -fPIC" gcc -O2 -fPIC
for level in 1 2; do
	steps "g++ -O$level" g++ "-O$level" -x c++
	steps "clang++ -O$level" clang++ "-O$level" -x c++
done

# ---- which calls are sites ----

# What is extended behind the place of the call, or needs more than six registers of integers.
never='doubles more_than_6 narrow_arguments structs variadic variadic_double'
# Where a function that saved registers ends in a tail call, they are restored right before the jump.
# clang adds up results of earlier calls there, in some of the copies.
moved() { # COMPILER LEVEL
	[ "$2" = -O1 ] || echo tail_saved
	case $1 in
	clang*) echo inlined_5_times ;;
	esac
}

build_calls() { # COMPILER OPTION...
	"$1" "${warnings[@]}" "${@:2}" "$fixtures/calls.c" -x none "$DORMANT_STATIC" -o calls
	"$SITE_CHECK" table calls
	./calls
	"$SITE_CHECK" operands calls >places
}

# Those of all the shapes that have a call which is not changed: by its entry, or without one.
by_trampoline() { # NAME...
	awk '$3 == "trampoline" { bad[$1] } { seen[$1] } END { for (f in seen) if (!(f in bad)) print f }' \
		places | sort >direct
	same "$(sed -n 's/^SHAPE(\([a-z_0-9]*\)).*/\1/p' "$fixtures/calls.c" | grep -vxFf direct | sort)" \
		"$(printf '%s\n' "$@" | sort)" "functions with a call by the trampoline"
}

# A function that ends in a static call jumps there.
tail_jumps() {
	same "$(awk '$1 ~ /^tail_[0-9]/ && $3 != "tail" { print $1, $3 }' places)" "" \
		"tail calls that are none"
}

# Most of the copies of an inlined call, where some are not.
most_copies() {
	[ "$(awk '$1 == "inlined_5_times" && $3 == "call"' places | wc -l)" -ge 2 ]
}

calls() { # NAME COMPILER LEVEL OPTION...
	local expected

	read -ra expected <<<"$never $(moved "$2" "$3" | tr '\n' ' ')"
	check "$1: static calls in every shape reach their function" build_calls "${@:2}"
	check "$1: those of integers and pointers are sites" by_trampoline "${expected[@]}"
	check "$1: of an inlined one most copies are" most_copies
	note < <(awk '{ print $3 }' places | sort | uniq -c)
}

for compiler in gcc clang g++ clang++; do
	case $compiler in
	*++) language=(-x c++) ;;
	*) language=(-x c) ;;
	esac
	calls "$compiler -O1" "$compiler" -O1 "${language[@]}"
	for level in 2 s; do
		calls "$compiler -O$level" "$compiler" "-O$level" "${language[@]}"
		check "$compiler -O$level: a tail call is one" tail_jumps
	done
	calls "$compiler -O2 -fPIC -fcf-protection=full" "$compiler" -O2 -fPIC \
		-fcf-protection=full "${language[@]}"
	check "$compiler -O0: static calls in every shape reach their function" \
		build_calls "$compiler" -O0 "${language[@]}"
	check "$compiler -O2 -DDORMANT_NO_PATCHING: the same" build_calls "$compiler" -O2 \
		-DDORMANT_NO_PATCHING "${language[@]}"
done

finish
