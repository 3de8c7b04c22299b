#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The options that change how code and tables are laid down: with each, the cases in C and in C++
# build without a warning, have a right table, and switch.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"
: "${DORMANT_SOURCE:?the folder of the library sources}"

build_c() { # COMPILER OPTION...
	local compiler=$1
	shift
	"$compiler" -std=c11 "${warnings[@]}" "$@" -DWITH_C "$fixtures"/cases_{main,c,other}.c \
		"$fixtures"/operands_{c,other}.c \
		"$DORMANT_STATIC" -o program
	"$SITE_CHECK" table program
	./program
}

build_cxx() { # COMPILER OPTION...
	local compiler=$1
	shift
	"$compiler" -std=c++17 "${warnings[@]}" "$@" "$fixtures"/cases_cxx{,_other}.cc \
		"$fixtures"/operands_cxx{,_other}.cc main_cxx.o "$DORMANT_STATIC" -o program
	"$SITE_CHECK" table program
	./program
}

gcc -O1 -fPIE "${warnings[@]}" -DWITH_CXX -c "$fixtures/cases_main.c" -o main_cxx.o

check_c() { # OPTIONS
	local compiler words

	read -ra words <<<"$1"
	for compiler in gcc clang; do
		check "$compiler -O2 $1" build_c "$compiler" -O2 "${words[@]}"
	done
}

check_cxx() { # OPTIONS
	local compiler words

	read -ra words <<<"$1"
	for compiler in g++ clang++; do
		check "$compiler -O2 $1" build_cxx "$compiler" -O2 "${words[@]}"
	done
}

for options in "-fcf-protection=full" \
	"-ffunction-sections -fdata-sections -Wl,--gc-sections" \
	"-fno-plt -fPIC" \
	"-fvisibility=hidden -fPIE -pie" \
	"-fno-pic -no-pie -mcmodel=large" \
	"-DDORMANT_NO_PATCHING"; do
	check_c "$options"
	check_cxx "$options"
done
for options in "-pg" \
	"-g3 -fstack-protector-strong -fno-omit-frame-pointer" \
	"-ftrivial-auto-var-init=pattern" \
	"-fno-semantic-interposition -fPIC" \
	"--coverage" \
	"-fno-pic -no-pie -mcmodel=medium" \
	"-march=native -ffast-math -funroll-loops"; do
	check_c "$options"
done

# Without values and calls, whose cases take addresses of static functions: clang 14 puts these into
# such code with relocations of the code.
build_keys() { # COMPILER OPTION...
	"$1" -std=c11 "${warnings[@]}" "${@:2}" -DWITH_C -DWITHOUT_OPERANDS \
		"$fixtures"/cases_{main,c,other}.c "$DORMANT_STATIC" -o program
	"$SITE_CHECK" table program
	./program
}
medium=(-O2 -fPIE -pie -mcmodel=medium)
check "gcc ${medium[*]}" build_c gcc "${medium[@]}"
check "clang ${medium[*]}, keys alone" build_keys clang "${medium[@]}"

for level in 0 1 2; do
	for compiler in gcc clang; do
		check "$compiler -O$level -fsanitize=address,undefined" build_c "$compiler" \
			"-O$level" -fsanitize=address,undefined -fno-sanitize-recover=all
	done
done
check "g++ -O1 -fsanitize=address,undefined" build_cxx g++ -O1 -fsanitize=address,undefined \
	-fno-sanitize-recover=all
check "clang++ -O1 -fsanitize=address,undefined" build_cxx clang++ -O1 \
	-fsanitize=address,undefined -fno-sanitize-recover=all
check "gcc -O2 -fno-toplevel-reorder" build_c gcc -O2 -fno-toplevel-reorder
check "gcc -O3 -fprofile-generate" build_c gcc -O3 -fprofile-generate

# musl has its own start-up code and loader, and its compiler is gcc with other paths.
# musl-gcc has no kernel headers; those of the system stand behind its own.
kernel=(-idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu)

build_musl() {
	local source objects=()

	for source in "$DORMANT_SOURCE"/*.c "$DORMANT_SOURCE"/arch/x86_64/*.c; do
		case $source in
		*/inject.c) continue ;;
		esac
		objects+=("musl_$(basename "$source" .c).o")
		musl-gcc -O1 -fPIC -D_GNU_SOURCE -DDORMANT_LIBRARY "${kernel[@]}" \
			-I"$DORMANT_INCLUDE" -I"$DORMANT_SOURCE" -c "$source" -o "${objects[-1]}"
	done
	ar rcs libdormant_musl.a "${objects[@]}"
}

run_musl() { # OPTION...
	musl-gcc -std=c11 -O2 "${warnings[@]}" "$@" -DWITH_C "$fixtures"/cases_{main,c,other}.c \
		"$fixtures"/operands_{c,other}.c \
		libdormant_musl.a -o program
	"$SITE_CHECK" table program
	./program
}

if command -v musl-gcc >/dev/null; then
	check "musl-gcc builds the library" build_musl
	check "musl-gcc, dynamic" run_musl
	check "musl-gcc -static" run_musl -static
	check "musl-gcc -static-pie" run_musl -static-pie -fPIE
else
	skip "musl" "there is no musl-gcc"
fi

finish
