#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Every kind of key, value, static call and place, in C and in C++, with both compilers at every
# level, as a fixed program, a position-independent one and a shared object: builds without a warning,
# has right tables without relocations in them, gives the right values by memory, before the library
# has seen it, and switches.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"

# Compiles one file with the options of the present configuration.
compile() { # SOURCE OBJECT OPTION...
	"$compiler" "${language[@]}" "-O$level" "${warnings[@]}" "${@:3}" -c "$fixtures/$1" -o "$2"
}

# Links the present objects as the configuration tells, checks their tables and runs the program.
link_and_run() { # OBJECT...
	case $kind in
	no-pie | pie)
		"$compiler" "-$kind" main.o "$@" "${library[@]}" "$DORMANT_STATIC" -rdynamic \
			-Wl,-rpath,"$work" -Wl,--no-undefined -o program
		;;
	shared)
		"$compiler" -shared "$@" -o cases.so
		"$SITE_CHECK" table cases.so
		"$compiler" main.o cases.so "${library[@]}" "$DORMANT_STATIC" -rdynamic \
			-Wl,-rpath,"$work" -o program
		;;
	esac
	"$SITE_CHECK" table program
	./program
}

run_c() {
	compile cases_c.c c.o "$pic" -DWITH_LIBRARY
	compile cases_other.c other.o "$pic"
	compile operands_c.c operands.o "$pic" -DWITH_LIBRARY
	compile operands_other.c operands_other.o "$pic"
	link_and_run c.o other.o operands.o operands_other.o
}

build_library() {
	compile cases_library.c library.o -fPIC
	compile operands_library.c operands_library.o -fPIC
	"$compiler" -shared library.o operands_library.o -o library.so
	"$SITE_CHECK" table library.so
}

run_cxx() {
	compile cases_cxx.cc cxx.o "$pic"
	compile cases_cxx_other.cc cxx_other.o "$pic"
	compile operands_cxx.cc operands.o "$pic"
	compile operands_cxx_other.cc operands_other.o "$pic"
	link_and_run cxx.o cxx_other.o operands.o operands_other.o
}

each_kind() { # NAME FUNCTION
	for kind in no-pie pie shared; do
		case $kind in
		no-pie) pic=-fno-pic ;;
		pie) pic=-fPIE ;;
		shared) pic=-fPIC ;;
		esac
		check "$1 -O$level $kind" "$2"
	done
}

gcc -O1 -fPIE "${warnings[@]}" -DWITH_C -DWITH_LIBRARY -c "$fixtures/cases_main.c" -o main.o
library=(./library.so)
language=(-std=c11)
for compiler in gcc clang; do
	for level in 0 1 2 3 s; do
		check "$compiler C11 -O$level, the other object" build_library
		each_kind "$compiler C11" run_c
	done
done

gcc -O1 -fPIE "${warnings[@]}" -DWITH_CXX -c "$fixtures/cases_main.c" -o main.o
library=()
for compiler in g++ clang++; do
	language=(-std=c++17)
	for level in 0 1 2 3 s; do
		each_kind "$compiler C++17" run_cxx
	done
	language=(-std=c++11)
	for level in 0 2; do
		each_kind "$compiler C++11" run_cxx
	done
done

finish
