#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a debugger sees of patched text: function names, a core dump with the current code, and
# breakpoints that can be set on it.
#
# usage: debuggers.sh PROGRAM (built from debugged.c)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

program=$1
work=$(mktemp -d)
pid=
stop()
{
	if [[ -n $pid ]]; then
		kill -KILL "$pid"
		wait "$pid" || true
	fi 2>/dev/null
	rm -rf "$work"
}
trap stop EXIT

# expect NAME FILE PATTERN: some line of the file matches.
expect()
{
	if grep -Eq "$3" "$2"; then
		pass "$1"
	else
		fail "$1" "$2"
	fi
}

if ! command -v gdb >/dev/null; then
	skip_all 'gdb is not installed'
fi
"$program" >"$work/out" &
pid=$!
for ((i = 0; i < 200; i++)); do
	[[ -s $work/out ]] && break
	sleep 0.05
done
site=$(sed -n 's/^site //p' "$work/out")
export DEBUGINFOD_URLS=
gdb -nx -batch -p "$pid" -ex 'bt' -ex "info symbol $site" -ex "x/1xb $site" \
	-ex "generate-core-file $work/core" -ex "break *$site" -ex 'detach' >"$work/live" 2>&1 || true
if grep -qiE 'ptrace: (Operation not permitted|Inappropriate)|Could not attach' "$work/live"; then
	skip_all "gdb can not attach here: $(grep -m1 -i 'ptrace' "$work/live")"
fi
gdb -nx -batch "$program" "$work/core" -ex 'bt' -ex "info symbol $site" -ex "x/1xb $site" \
	-ex "x/1i $site" >"$work/dead" 2>&1 || true

plan 8
expect 'attached, the stack names the function behind the site' "$work/live" ' wait_on_path \('
expect 'and the function with the site' "$work/live" ' function_with_site \('
expect 'the address of the site has the name of its function' "$work/live" \
	'^function_with_site( \+ [0-9]+)? in section \.text'
expect 'the site reads as the jump it is' "$work/live" ':[[:space:]]+0xe9$'
expect 'a breakpoint can be set on it' "$work/live" '^Breakpoint 1 at 0x'
expect 'in a core dump, the stack has the same names' "$work/dead" ' function_with_site \('
expect 'the dump holds the current code, not the file'"'"'s' "$work/dead" ':[[:space:]]+0xe9$'
expect 'which decodes as a jump' "$work/dead" '[[:space:]]jmp '
finish
