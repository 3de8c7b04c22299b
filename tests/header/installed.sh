#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `meson install` puts down is enough to build and run a program, in C and in C++, with what
# pkg-config says; and the manual and the completion are there.
#
# usage: installed.sh BUILD-DIRECTORY
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

install_it()
{
	DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
}

# Sets what pkg-config needs to be asked for a prefix below the folder that stands for the root.
find_it()
{
	local pc
	pc=$(find "$root" -name dormant.pc)
	flags=(--define-variable=prefix="$root$(sed -n 's/^prefix=//p' "$pc")" "$pc")
	libdir=$(pkg-config --variable=libdir "${flags[@]}")
}

# build_and_run COMPILER... : the last one of its arguments says how to link.
build_and_run()
{
	local cflags
	rm -f "$root/program"
	read -ra cflags <<<"$(pkg-config --cflags "${flags[@]}")"
	"$@" "${cflags[@]}" -Wall -Wextra -Werror -O2 -o "$root/program" -x "$language" \
		"$root/program.c" -x none "${libraries[@]}"
	LD_LIBRARY_PATH=$libdir "$root/program"
}

with_shared()
{
	read -ra libraries <<<"$(pkg-config --libs "${flags[@]}")"
	build_and_run "$@"
	readelf -d "$root/program" | grep -q 'NEEDED.*libdormant.so.0'
}

with_static()
{
	libraries=("$libdir/libdormant.a")
	build_and_run "$@"
	! readelf -d "$root/program" | grep -q 'NEEDED.*libdormant'
}

lists_key()
{
	local dormant
	dormant=$(find "$root" -path '*/bin/dormant')
	LD_LIBRARY_PATH=$libdir "$dormant" list "$root/program" | grep example_key
}

has_file()
{
	[[ -s $(find "$root" -path "*/$1") ]]
}

cat >"$root/program.c" <<'END'
#include <dormant/static_key_deferred.h>
#include <dormant/probe.h>

static DEFINE_STATIC_KEY_FALSE(example_key);

static int ask(void)
{
	return static_branch_unlikely(&example_key) ? 1 : 0;
}

int main(void)
{
	int off = ask();

	if (static_branch_enable(&example_key) != 0)
		return 1;
	return off == 0 && ask() == 1 ? 0 : 1;
}
END

plan 9
check 'everything is installed' install_it
find_it
language=c
check 'a C program, shared' with_shared gcc -std=c11
check 'a C program, static' with_static gcc -std=c11
language=c++
check 'a C++ program, shared' with_shared g++ -std=c++17
check 'a C++ program, static' with_static clang++ -std=c++11
check 'the command lists its key' lists_key
check 'manual of the command' has_file man1/dormant.1
check 'manual of the library' has_file man3/dormant_static_key.3
check 'completion' has_file bash-completion/completions/dormant
finish
