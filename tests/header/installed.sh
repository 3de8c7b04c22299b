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

lists() # NAME
{
	local dormant
	dormant=$(find "$root" -path '*/bin/dormant')
	LD_LIBRARY_PATH=$libdir "$dormant" list "$root/program" | grep "$1"
}

has_file()
{
	[[ -s $(find "$root" -path "*/$1") ]]
}

cat >"$root/program.c" <<'END'
#include <dormant/batch.h>
#include <dormant/probe.h>
#include <dormant/static_key_deferred.h>

static DEFINE_STATIC_KEY_FALSE(example_key);
DEFINE_IMV(int, example_value) = 3;

static int once(int a)
{
	return a;
}

static int twice(int a)
{
	return 2 * a;
}
DEFINE_STATIC_CALL(example_call, once);

static int ask(void)
{
	return static_branch_unlikely(&example_key) ? 1 : 0;
}

static int compute(void)
{
	return static_call(example_call)(imv_read(example_value));
}

int main(void)
{
	int off = ask(), before = compute();
	struct dormant_change changes[] = {
		DORMANT_CHANGE_KEY(&example_key.key, STATIC_KEY_ENABLE),
		DORMANT_CHANGE_IMV(example_value, 7),
		DORMANT_CHANGE_CALL(example_call, twice),
	};

	if (dormant_batch(changes, 3, &dormant_object_self, NULL) != 0)
		return 1;
	return off == 0 && ask() == 1 && before == 3 && compute() == 14 ? 0 : 1;
}
END

plan 13
check 'everything is installed' install_it
find_it
language=c
check 'a C program, shared' with_shared gcc -std=c11
check 'a C program, static' with_static gcc -std=c11
language=c++
check 'a C++ program, shared' with_shared g++ -std=c++17
check 'a C++ program, static' with_static clang++ -std=c++11
check 'the command lists its key' lists example_key
check 'the command lists its value' lists example_value
check 'the command lists its static call' lists example_call
check 'manual of the command' has_file man1/dormant.1
for page in dormant_static_key dormant_imv dormant_static_call; do
	check "manual of the library, $page" has_file "man3/$page.3"
done
check 'completion' has_file bash-completion/completions/dormant
finish
