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
value=$(sed -n 's/^value //p' "$work/out")
export DEBUGINFOD_URLS=
gdb -nx -batch -p "$pid" -ex 'bt' -ex "info symbol $site" -ex "x/1xb $site" \
	-ex "info symbol $value" -ex "x/1i $value" \
	-ex "generate-core-file $work/core" -ex "break *$site" -ex 'detach' >"$work/live" 2>&1 || true
if grep -qiE 'ptrace: (Operation not permitted|Inappropriate)|Could not attach' "$work/live"; then
	skip_all "gdb can not attach here: $(grep -m1 -i 'ptrace' "$work/live")"
fi
gdb -nx -batch "$program" "$work/core" -ex 'bt' -ex "info symbol $site" -ex "x/1xb $site" \
	-ex "x/1i $site" -ex "x/1i $value" >"$work/dead" 2>&1 || true
# A breakpoint on the value's site, while the program sets it and reads it; then without it.
gdb -nx -batch "$program" -ex 'set breakpoint pending off' -ex 'break ready' -ex 'run stop' \
	-ex 'break *value_site' -ex 'continue' -ex "x/1i \$pc" -ex 'continue' -ex 'delete 2' \
	-ex 'continue' -ex 'continue' >"$work/stopped" 2>&1 || true

plan 14
expect 'attached, the stack names the function behind the site' "$work/live" ' wait_on_path \('
expect 'and the function with the site' "$work/live" ' function_with_site \('
expect 'the address of the site has the name of its function' "$work/live" \
	'^function_with_site( \+ [0-9]+)? in section \.text'
expect 'the site reads as the jump it is' "$work/live" ':[[:space:]]+0xe9$'
expect 'a breakpoint can be set on it' "$work/live" '^Breakpoint 1 at 0x'
expect 'in a core dump, the stack has the same names' "$work/dead" ' function_with_site \('
expect 'the dump holds the current code, not the file'"'"'s' "$work/dead" ':[[:space:]]+0xe9$'
expect 'which decodes as a jump' "$work/dead" '[[:space:]]jmp '
expect 'the address of a value'"'"'s site has the name of its function' "$work/live" \
	'^function_with_value( \+ [0-9]+)? in section \.text'
expect 'where the value is seen in the instruction' "$work/live" '[[:space:]]mov +.0x2222,%e'
expect 'also in a core dump' "$work/dead" '[[:space:]]mov +.0x2222,%e'
expect 'a breakpoint on it refuses a change, and the old value is read' "$work/stopped" \
	'^set -84 read 0x2222 got 0x2222$'
expect 'by the instruction that the debugger steps over' "$work/stopped" \
	'^=> 0x[0-9a-f]+ <function_with_value(\+[0-9]+)?>:[[:space:]]+mov +.0x2222,%e'
expect 'without it, the change works' "$work/stopped" '^set 0 read 0x3333 got 0x3333$'
finish
