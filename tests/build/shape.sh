#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A dormant site is one instruction: each function of fixtures/shape.c is run with and without its
# sites, an instruction at a time (see shape_steps.c). With every compiler and level a dormant site
# adds no load, no conditional branch and no landing pad, and an enabled one is one jump. How many
# instructions a site adds besides itself depends on what the compiler keeps alive across the call
# that it guards: where that is nothing, it is asserted; else it is noted.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"

gcc -D_GNU_SOURCE -O1 "${warnings[@]}" -c "$fixtures/../shape_steps.c" -o steps.o
gcc -D_GNU_SOURCE -O1 "${warnings[@]}" -c "$fixtures/../trace.c" -o trace.o

# Both builds of the shapes, run and compared; the lines are left in `steps`.
run() { # COMPILER OPTION...
	local compiler=$1
	shift
	"$compiler" "${warnings[@]}" "$@" -c "$fixtures/shape.c" -o with.o
	"$compiler" "${warnings[@]}" "$@" -DWITHOUT -c "$fixtures/shape.c" -o without.o
	gcc steps.o trace.o with.o without.o "$DORMANT_STATIC" -lZydis -o shape_steps
	"$SITE_CHECK" table shape_steps
	./shape_steps >steps
}

# The functions to which their sites add nothing but themselves.
alone() {
	sed -n 's/^\([a-z_]*\) sites=\([0-9]*\) added=\2 .*/\1/p' steps
}

# Those that must be among them, as patterns of `case`.
expect_alone() { # PATTERN...
	local missing
	alone >functions
	missing=$(cut -d' ' -f1 steps | grep -E "^($1)\$" | grep -vxFf functions || :)
	same "$missing" "" "functions to which a site adds more than itself"
}

nothing_behind() {
	! grep -v ' behind=0 ' steps
}

shapes() { # NAME PATTERN COMPILER OPTION...
	check "$1: no load, no conditional branch, no landing pad; on, one jump" run "${@:3}"
	check "$1: exactly one instruction where nothing lives across the cold call" \
		expect_alone "$2"
	sed 's/ loads=.*//' steps | note
}

# gcc marks the label cold, which lets it save registers there and not at the function's entry.
gcc_2='leaf_(statement|extern_key|not_likely)|tail_.*|loop_nested|value_(returned|likely|chosen)|call_around'
# At -O1 and -Os gcc does not save there, and lays blocks without regard to an asm goto.
gcc_1='leaf_or_first|tail_(likely|else)|value_chosen'
gcc_s='tail_(return|likely)|loop_(leave|nested)|value_returned'
gcc_1_stc='leaf_or(_first)?|tail_.*|loop_(leave|nested)|value_chosen|call_around'
# clang saves at the entry, as for any other unlikely branch around a call.
clang_2='leaf_or(_first)?|tail_.*|loop_leave|value_(returned|likely|chosen)|call_around'
clang_1='leaf_or(_first)?|value_(returned|likely|chosen)|call_around'

shapes "gcc -O1" "$gcc_1" gcc -O1
shapes "gcc -O1 -freorder-blocks-algorithm=stc" "$gcc_1_stc" gcc -O1 \
	-freorder-blocks-algorithm=stc
check "gcc -O1 -freorder-blocks-algorithm=stc: no jump behind a site" nothing_behind
for level in 2 3; do
	shapes "gcc -O$level" "$gcc_2" gcc "-O$level"
	check "gcc -O$level: no jump behind a site" nothing_behind
done
shapes "gcc -Os" "$gcc_s" gcc -Os
shapes "g++ -O2" "$gcc_2" g++ -O2 -x c++
check "g++ -O2: no jump behind a site" nothing_behind
shapes "gcc -O2 -fPIC -fcf-protection=full" "$gcc_2" gcc -O2 -fPIC -fcf-protection=full

shapes "clang -O1" "$clang_1" clang -O1
for level in 2 3 s; do
	shapes "clang -O$level" "$clang_2" clang "-O$level"
done
shapes "clang++ -O1" "$clang_1" clang++ -O1 -x c++
shapes "clang++ -O2" "$clang_2" clang++ -O2 -x c++
shapes "clang -O2 -fPIC -fcf-protection=full" "$clang_2" clang -O2 -fPIC -fcf-protection=full

finish
