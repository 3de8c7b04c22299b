#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whole test programs under valgrind (without --smc-check) and qemu-user, which both run translations
# of the code: a switch has to change what runs there as well.
#
# usage: emulators.sh PROGRAM...
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

output=$(mktemp)
trap 'rm -f "$output"' EXIT

# run NAME COMMAND...: the command exits with 0, and says "ok" at least once.
run()
{
	local name=$1 status=0
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name" "$1 is not installed"
		return
	fi
	"$@" >"$output" 2>&1 || status=$?
	if [[ $status == 0 ]] && grep -q '^ok ' "$output"; then
		pass "$name"
	else
		fail "$name: exit status $status"
		{ grep -v '^ok ' "$output" || true; } | note
	fi
}

plan $((2 * $#))
for program; do
	name=$(basename "$program")
	run "$name under valgrind" valgrind -q "$program"
	run "$name under qemu-user" qemu-x86_64 "$program"
done
finish
