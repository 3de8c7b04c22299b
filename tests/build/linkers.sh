#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The same objects through each linker, dropping and folding what it can: the table has the sites of
# all functions that are in the file, and every key switches its own.
#
# Which functions are in the file after --gc-sections differs: lld always, and bfd with -z
# start-stop-gc, drop a function that nobody calls together with its sites. For the others the use
# of __start_dormant_sites keeps the whole table, and the table keeps the function.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"

files=(cases_main cases_c cases_other cases_linker operands_c operands_other)

compile_all() { # COMPILER PREFIX OPTION...
	local file

	for file in "${files[@]}"; do
		"$1" -std=c11 -O2 "${warnings[@]}" -fPIE -ffunction-sections -fdata-sections \
			-DWITH_C -DWITH_LINKER "${@:3}" -c "$fixtures/$file.c" -o "$2_$file.o"
	done
}

# The names of a file's sites and operands: every copy; and each once, whether a call is one that is
# changed or not.
copies() {
	{ "$SITE_CHECK" sites "$1" && "$SITE_CHECK" operands "$1"; } | cut -d' ' -f2- | sort
}
kinds() {
	copies "$1" | sed -E 's/ (call|tail|trampoline)$/ call/' | sort -u
}
# The same without those of functions that nobody calls.
live_kinds() {
	kinds "$1" | grep -vE '^(&dead_key|dead_value) '
}

has_site() { # FILE NAME
	kinds "$1" | grep -q -- "$2"
}

link() { # PROGRAM PREFIX OPTION...
	local objects=("${files[@]/#/$2_}")

	"$compiler" "${objects[@]/%/.o}" "$DORMANT_STATIC" "${@:3}" -o "$1"
	"$SITE_CHECK" table "$1"
	"./$1"
}

# All sites, also those of functions that nobody calls.
link_all() { # PREFIX OPTION...
	link program "$@"
	has_site program '&dead_key'
	has_site program '^dead_value value8'
	same "$(copies program)" "$(copies "reference_$1")" "sites"
	same "$(fact keys program)" "$(fact keys "reference_$1")" "keys"
}

# Without those of functions that nobody calls: the same ones for each linker.
link_live() { # PREFIX OPTION...
	link program "$@"
	same "$(kinds program)" "$(live_kinds "reference_$1")" "names with sites"
	same "$(fact keys program)" "$(fact keys "reference_$1")" "keys"
	[ -e "live_$1" ] || copies program >"live_$1"
	same "$(copies program)" "$(cat "live_$1")" "sites"
}

# After folding, copies of what is the same in every respect may be gone, but no key.
link_folded() { # PREFIX OPTION...
	link program "$@"
	same "$(live_kinds program)" \
		"$(live_kinds "reference_$1")" "names with sites"
}

# The optimiser makes its own copies.
link_lto() { # PREFIX OPTION...
	link program "$@"
	same "$(live_kinds program)" "$(live_kinds "reference_$compiler")" "names with sites"
}

for compiler in gcc clang; do
	compile_all "$compiler" "$compiler"
	check "$compiler, the reference" link "reference_$compiler" "$compiler"
	for linker in bfd gold lld mold; do
		check "$compiler $linker" link_all "$compiler" "-fuse-ld=$linker"
	done
	for linker in bfd gold mold; do
		check "$compiler $linker gc-sections" link_all "$compiler" "-fuse-ld=$linker" \
			-Wl,--gc-sections
	done
	check "$compiler lld gc-sections" link_live "$compiler" -fuse-ld=lld -Wl,--gc-sections
	for linker in bfd lld; do
		check "$compiler $linker gc-sections start-stop-gc" link_live "$compiler" \
			"-fuse-ld=$linker" -Wl,--gc-sections -Wl,-z,start-stop-gc
	done
	for linker in gold lld mold; do
		check "$compiler $linker gc-sections icf=all" link_folded "$compiler" \
			"-fuse-ld=$linker" -Wl,--gc-sections -Wl,--icf=all
	done
	check "$compiler lld -O2" link_all "$compiler" -fuse-ld=lld -Wl,-O2
done

compiler=gcc
compile_all gcc gcc_lto -flto
for linker in bfd gold mold; do
	check "gcc LTO $linker" link_lto gcc_lto -flto -O2 "-fuse-ld=$linker"
	check "gcc LTO $linker gc-sections" link_lto gcc_lto -flto -O2 "-fuse-ld=$linker" \
		-Wl,--gc-sections
done
compiler=clang
for kind in full thin; do
	compile_all clang "clang_$kind" "-flto=$kind"
	check "clang $kind LTO lld" link_lto "clang_$kind" "-flto=$kind" -O2 -fuse-ld=lld
	check "clang $kind LTO lld gc-sections icf=all" link_lto "clang_$kind" "-flto=$kind" -O2 \
		-fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all
done
if [ -e /usr/lib/bfd-plugins/LLVMgold-14.so ] || [ -e /usr/lib/llvm-14/lib/LLVMgold.so ]; then
	check "clang full LTO gold" link_lto clang_full -flto=full -O2 -fuse-ld=gold
	check "clang full LTO bfd" link_lto clang_full -flto=full -O2 -fuse-ld=bfd
else
	skip "clang full LTO gold and bfd" "there is no LLVMgold.so"
fi

# ---- kinds of programs ----

compiler=gcc
for options in -static "-static-pie -fPIE" -no-pie "-pie -Wl,-z,relro,-z,now" \
	"-pie -Wl,--no-undefined" "-pie -Wl,-z,norelro" "-pie -Wl,-z,separate-code" \
	"-pie -Wl,-z,noseparate-code" "-pie -Wl,--build-id=none,--hash-style=sysv"; do
	read -ra words <<<"$options"
	check "gcc bfd $options" link_all gcc "${words[@]}"
done
check "gcc lld -static" link_all gcc -static -fuse-ld=lld
check "gcc gold -static" link_all gcc -static -fuse-ld=gold
check "gcc mold -static-pie" link_all gcc -static-pie -fuse-ld=mold

packed() { # OPTION...
	link_all gcc -pie "$@"
	readelf -SW program | grep RELR
}
check "gcc bfd pack-relative-relocs" packed -Wl,-z,pack-relative-relocs

# ---- a program that exports its symbols, and a shared object, each with its own table ----

two_objects() { # LINKER
	local program_sites objects=("${files[@]/#/both_}")

	"$compiler" -shared library.o operands_library.o "-fuse-ld=$1" -o library.so
	"$SITE_CHECK" table library.so
	"$compiler" "${objects[@]/%/.o}" library.so "$DORMANT_STATIC" \
		"-fuse-ld=$1" -rdynamic -Wl,-rpath,"$work" -o program
	"$SITE_CHECK" table program
	./program
	same "$(fact sites library.so)" 5 "sites of the shared object"
	program_sites=$(fact sites program)
	[ "$program_sites" -gt 40 ]
	# bfd writes hidden bounds of a section into .dynsym, where nothing finds them.
	{ readelf --dyn-syms -W program && readelf --dyn-syms -W library.so; } >symbols
	grep -E '_dormant_(sites|operands|keys)|dormant_(object_self|cell)' symbols | grep -v HIDDEN >exported || :
	same "$(cat exported)" "" "exported symbols"
	"$compiler" "${warnings[@]}" "$fixtures/no_sites.c" library.so other_plain.o \
		both_operands_other.o "$DORMANT_STATIC" "-fuse-ld=$1" -rdynamic -Wl,-rpath,"$work" -o bare
	./bare
}
for compiler in gcc clang; do
	options=(-std=c11 -O2 -DWITH_C -DWITH_LINKER -DWITH_LIBRARY "${warnings[@]}")
	for file in cases_library operands_library; do
		"$compiler" "${options[@]}" -fPIC -c "$fixtures/$file.c" -o "${file#cases_}.o"
	done
	for file in "${files[@]}"; do
		"$compiler" "${options[@]}" -fPIE -c "$fixtures/$file.c" -o "both_$file.o"
	done
	"$compiler" "${options[@]}" -fPIE -DDORMANT_NO_PATCHING -c "$fixtures/cases_other.c" \
		-o other_plain.o
	for linker in bfd gold lld mold; do
		check "$compiler $linker -rdynamic program and shared object" two_objects "$linker"
	done
done

# ---- stripped ----

strip_all() { # LINKER
	local before

	compiler=gcc
	link_all gcc "-fuse-ld=$1"
	before=$(copies program)
	strip -s program
	same "$(copies program)" "$before" "sites"
	same "$(fact keys program)" "$(fact keys reference_gcc)" "keys"
	./program
}
for linker in bfd gold lld mold; do
	check "strip -s after $linker" strip_all "$linker"
done

finish
