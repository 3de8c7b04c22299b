# SPDX-License-Identifier: MIT
# What the scripts of this folder share: the files they test, and ways to say what a command has to
# do. Sourced with the script's arguments:
#
#     SCRIPT DORMANT INCLUDE LIBDORMANT     the command, the headers' folder, libdormant.so
#
# Sets $scratch (removed at the end), $dormant, $include, $library; ends with finish.
# shellcheck shell=bash disable=SC2034

# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../tap.bash"

dormant=$(realpath "$1")
include=$(realpath "$2")
library=$(realpath "$3")
here=$(realpath "$(dirname "${BASH_SOURCE[0]}")")
scratch=$(mktemp -d)
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit

# meson points it at its own build of libdormant; what is built here finds the one it was linked with.
unset LD_LIBRARY_PATH

tap_evidence=(out err)

# is NAME FOUND EXPECTED
is() {
	ok "$1" test "$2" = "$3"
	[[ $2 == "$3" ]] || printf '# found:    %q\n# expected: %q\n' "$2" "$3"
}

# run COMMAND...: into the files out and err, and $status.
run() {
	status=0
	"$@" >out 2>err || status=$?
}

# Right when run ended with this status and out or err match (grep -E).
ended() {
	[[ $status == "$1" ]] && { [[ $# == 1 ]] || grep -qE -- "$2" out err; }
}

# refused NAME PATTERN COMMAND...: status 2, nothing on stdout, one line that matches on stderr.
refused() {
	local name=$1 pattern=$2

	shift 2
	run "$@"
	ok "$name" is_refusal "$pattern"
}

is_refusal() {
	[[ $status == 2 && ! -s out && $(wc -l <err) == 1 ]] && grep -qE "^dormant: .*$1" err
}

# json EXPRESSION: what Python's EXPRESSION says about the file out, as d; empty if it is not JSON.
json() {
	python3 -c 'import json, sys; d = json.load(open("out")); print(eval(sys.argv[1]))' "$1" \
		2>/dev/null || true
}

# build OUTPUT FLAG...: one of the fixtures, linked with libdormant.
build() {
	local output=$1

	shift
	"${CC:-cc}" -O2 -g -I"$include" "$@" -o "$output" "$library" \
		-Wl,-rpath,"$scratch:$(dirname "$library")" -pthread
}

build_library() {
	build libfixture.so -fPIC -shared "$here/library.c" -Wl,-soname,libfixture.so
}

# build_program OUTPUT FLAG...
build_program() {
	local output=$1

	shift
	build "$output" "$@" "$here/program.c" libfixture.so
}

# The same with immediate values and static calls.
build_operands_library() {
	build liboperands.so -fPIC -shared "$here/operands_library.c" -Wl,-soname,liboperands.so
}

build_operands() {
	local output=$1

	shift
	build "$output" "$@" "$here/operands_program.c" liboperands.so
}

has_linker() {
	command -v "ld.$1" >/dev/null
}

# section FILE NAME: its offset and size in the file, decimal.
section() {
	local offset size

	read -r offset size < <(readelf -SW "$1" |
		sed -n "s/^ *\[ *[0-9]*\] $2 *[A-Z_]* *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\) .*/\1 \2/p")
	echo $((16#$offset)) $((16#$size))
}

# little_endian NUMBER: its four bytes, for poke.
little_endian() {
	printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) \
		$(($1 >> 24 & 255))
}

# poke FILE OFFSET BYTES: overwrites; BYTES as for printf.
poke() {
	# shellcheck disable=SC2059
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
