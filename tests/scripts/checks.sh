#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The project's own linters find what they are for: each is given a small tree with one mistake.
#
# usage: checks.sh SCRIPTS
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

scripts=$1
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# A command that has to succeed: accept NAME COMMAND...
accept()
{
	local name=$1
	shift
	if "$@" >"$tree/output" 2>&1; then
		pass "$name"
	else
		fail "$name" "$tree/output"
	fi
}

# A command that has to fail and to say TEXT: refuse NAME TEXT COMMAND...
refuse()
{
	local name=$1 text=$2
	shift 2
	if ! "$@" >"$tree/output" 2>&1 && grep -qF -e "$text" "$tree/output"; then
		pass "$name"
	else
		fail "$name" "$tree/output"
	fi
}

# A new tree in which nothing is wrong.
plant()
{
	rm -rf "${tree:?}"/*
	mkdir -p "$tree"/{include/dormant,src/arch,remote,tool}
	touch "$tree"/include/dormant/{static_key,probe,error}.h "$tree"/src/{patch,text}.h \
		"$tree"/src/arch/arch.h "$tree"/remote/elf_file.h
	printf '#include <dormant/static_key.h>\n#include "patch.h"\n' >"$tree/src/static_key.c"
	printf '#include "arch/arch.h"\nint one(void)\n{\n\treturn 1;\n}\n' >"$tree/src/text.c"
	printf '#include "../remote/elf_file.h"\n' >"$tree/tool/main.c"
}

# Adds an include to a file: include FILE LINE
include()
{
	plant
	printf '#include %s\n' "$2" >>"$tree/$1"
}

# Adds a function of this many lines: function FILE LINES
function_of()
{
	plant
	{
		printf 'int long_one(void)\n{\n'
		seq "$(($2 - 3))" | sed 's/.*/\t;/'
		printf '}\n'
	} >"$tree/$1"
}

# Makes a library with the exports of the version script and this body in one of them.
library()
{
	sed -nE 's/^\t(dormant_[a-z_0-9]+);$/void \1(void);void \1(void){}/p' \
		"$scripts/../src/libdormant.map" >"$tree/library.c"
	printf '%s\n' "$1" >>"$tree/library.c"
	gcc -shared -fPIC -w -o "$tree/library.so" "$tree/library.c"
}

plan 14

plant
accept 'includes: a right tree' "$scripts/check-includes" "$tree"
include src/text.c '"patch.h"'
refuse 'includes: a layer above' 'a layer above it' "$scripts/check-includes" "$tree"
include src/static_key.c '<dormant/probe.h>'
refuse 'includes: another front end' 'front end static_key includes front end probe' \
	"$scripts/check-includes" "$tree"
include remote/elf_file.h '"../src/patch.h"'
refuse 'includes: src from remote' 'remote/ may not include src/patch.h' \
	"$scripts/check-includes" "$tree"
include tool/main.c '"text.h"'
refuse 'includes: src from tool' 'tool/ may not include src/text.h' \
	"$scripts/check-includes" "$tree"
plant
touch "$tree/src/strange.h"
printf '#include "strange.h"\n' >>"$tree/src/text.c"
refuse 'includes: a file without a layer' 'src/strange.h: no known layer' \
	"$scripts/check-includes" "$tree"

plant
accept 'sizes: a right tree' "$scripts/check-sizes" "$tree"
function_of include/dormant/error.h 70
accept 'sizes: a function at the limit' "$scripts/check-sizes" "$tree"
function_of include/dormant/error.h 71
refuse 'sizes: a function over it' 'include/dormant/error.h:1: a function of 71 lines' \
	"$scripts/check-sizes" "$tree"
function_of src/text.c 16
refuse 'sizes: a long median' 'the median function has 16 lines' "$scripts/check-sizes" "$tree"
plant
seq 501 | sed 's/.*/;/' >"$tree/src/text.c"
refuse 'sizes: a long file' 'src/text.c: 501 lines' "$scripts/check-sizes" "$tree"

library ''
accept 'symbols: a right library' "$scripts/check-symbols" "$tree/library.so"
library 'void stray(void){}'
refuse 'symbols: an export too many' 'not in src/libdormant.map: stray' \
	"$scripts/check-symbols" "$tree/library.so"
library 'extern char malloc[]; static char *allocate = malloc;'
refuse 'symbols: a call of malloc' 'malloc' "$scripts/check-symbols" "$tree/library.so"
finish
