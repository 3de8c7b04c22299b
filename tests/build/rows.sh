#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Reports from the field that are about building: a key that is a parameter, programs that read the
# source without compiling it, sites where pages meet, sites that run before relocation.
# shellcheck disable=SC1091,SC2154 # fixtures.bash assigns what it says
set -euo pipefail
source "$(dirname "$0")/fixtures.bash"
: "${TAP_INCLUDE:?the folder of tap.h}"

# ---- a key that is a parameter: refused with a message that says what to write ----

hint=key_must_be_an_address_constant__write_a_macro_not_a_function

refused_with_hint() { # COMPILER OPTION...
	if "$@" "-I$DORMANT_INCLUDE" -c "$fixtures/parameter.c" -o parameter.o 2>message; then
		echo "it builds"
		return 1
	fi
	cat message
	grep "$hint" message >/dev/null
}
for level in 0 2; do
	for compiler in gcc clang; do
		check "$compiler -O$level: a parameter is refused with a hint" \
			refused_with_hint "$compiler" "-O$level"
	done
	for compiler in g++ clang++; do
		check "$compiler -O$level: a parameter is refused with a hint" \
			refused_with_hint "$compiler" "-O$level" -x c++
	done
done

# ---- analysers: no crash, nothing to say ----

silent() { # COMMAND...
	"$@" >said 2>&1 || {
		cat said
		return 1
	}
	grep -E 'warning:|error:|note:|style:' said >remarks || :
	same "$(cat remarks)" "" "remarks"
}
analyse() { # NAME TOOL COMMAND...
	if command -v "$2" >/dev/null; then
		check "$1" silent "${@:2}"
	else
		skip "$1" "there is no $2"
	fi
}
sources=("$fixtures"/shape.c "$fixtures"/cases_other.c)
includes=("-I$DORMANT_INCLUDE")
analyse "clang --analyze" clang --analyze -std=c11 "${warnings[@]}" "${sources[@]}"
analyse "clang --analyze, C++" clang++ --analyze -std=c++17 "${warnings[@]}" \
	"$fixtures/cases_cxx_other.cc"
for level in 0 2; do
	for source in "${sources[@]}"; do
		analyse "gcc -O$level -fanalyzer, $(basename "$source")" gcc -fanalyzer \
			"-O$level" -std=c11 "${warnings[@]}" -c "$source" -o analysed.o
	done
done
analyse "cppcheck" cppcheck --quiet --error-exitcode=1 --std=c11 --language=c \
	--enable=warning,portability --inline-suppr "${includes[@]}" "${sources[@]}"
analyse "clang-tidy" clang-tidy --quiet --warnings-as-errors='*' \
	--checks='-*,clang-analyzer-*,clang-diagnostic-*' "${sources[@]}" -- -std=c11 \
	-Wall -Wextra "${includes[@]}"
analyse "clang-tidy, optimised" clang-tidy --quiet --warnings-as-errors='*' \
	--checks='-*,clang-analyzer-*,clang-diagnostic-*' "${sources[@]}" -- -std=c11 -O2 \
	-Wall -Wextra "${includes[@]}"

# ---- where pages meet ----

pages() { # COMPILER OPTION...
	"$@" "${warnings[@]}" -Wno-unused-function "-I$TAP_INCLUDE" "$fixtures/pages.c" \
		"$DORMANT_STATIC" -o pages
	"$SITE_CHECK" table pages
	./pages
}
for compiler in gcc clang; do
	for options in "-fno-pic -no-pie" "-fPIE -pie"; do
		read -ra words <<<"$options"
		check "$compiler $options: sites at, before and across the end of a page" \
			pages "$compiler" -O2 "${words[@]}"
	done
done

# ---- before relocation ----

early() { # COMPILER OPTION...
	"$1" -shared "-O$level" -fPIC "${warnings[@]}" -DLIBRARY "$fixtures/early.c" -Wl,-z,now \
		-o early.so
	"$SITE_CHECK" table early.so
	"$1" "-O$level" "${warnings[@]}" "${@:2}" -DWITH_LIBRARY "$fixtures/early.c" ./early.so \
		"$DORMANT_STATIC" -rdynamic -o early
	"$SITE_CHECK" table early
	./early
}
early_static() { # COMPILER OPTION...
	"$1" "-O$level" "${warnings[@]}" "${@:2}" "$fixtures/early.c" "$DORMANT_STATIC" -o early
	"$SITE_CHECK" table early
	./early
}
for compiler in gcc clang; do
	for level in 0 2; do
		name="$compiler -O$level: in an ifunc resolver and .preinit_array"
		check "$name, -pie" early "$compiler" -fPIE -pie
		check "$name, -pie -z now" early "$compiler" -fPIE -pie -Wl,-z,now
		check "$name, -no-pie" early "$compiler" -fno-pic -no-pie
		check "$name, -static" early_static "$compiler" -static
		check "$name, -static-pie" early_static "$compiler" -fPIE -static-pie
	done
done

finish
