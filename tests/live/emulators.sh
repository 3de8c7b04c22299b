#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whole test programs under valgrind (without --smc-check) and qemu-user, which both run translations
# of the code: a switch has to change what runs there as well.
#
# usage: emulators.sh PROGRAM...
set -euo pipefail

output=$(mktemp)
trap 'rm -f "$output"' EXIT

count=0
failed=0
# run NAME COMMAND...: the command exits with 0, and says "ok" at least once.
run()
{
	local name=$1 status=0
	shift
	count=$((count + 1))
	if ! command -v "$1" >/dev/null; then
		printf 'ok %d - %s # SKIP %s is not installed\n' "$count" "$name" "$1"
		return
	fi
	"$@" >"$output" 2>&1 || status=$?
	if [[ $status == 0 ]] && grep -q '^ok ' "$output"; then
		printf 'ok %d - %s\n' "$count" "$name"
	else
		printf 'not ok %d - %s: exit status %d\n' "$count" "$name" "$status"
		{ grep -v '^ok ' "$output" || true; } | sed 's/^/# /'
		failed=1
	fi
}

printf '1..%d\n' $((2 * $#))
for program; do
	name=$(basename "$program")
	run "$name under valgrind" valgrind -q "$program"
	run "$name under qemu-user" qemu-x86_64 "$program"
done
exit "$failed"
