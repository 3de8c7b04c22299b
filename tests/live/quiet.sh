#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Promise 7, from outside: the system calls of a whole program, from its start to its end.
#
# usage: quiet.sh PROGRAM (built from quiet.c)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

program=$1
trace=$(mktemp)
trap 'rm -f "$trace" "$trace.out"' EXIT

result()
{
	if [[ $2 == 0 ]]; then
		pass "$1"
	else
		fail "$1: $3"
	fi
}

# expect_none NAME PATTERN: no line of the trace matches.
expect_none()
{
	local found
	found=$(grep -E "$2" "$trace" | head -n 1 || true)
	result "$1" "$([[ -z $found ]]; printf '%d' $?)" "$found"
}

if ! strace -o /dev/null true 2>/dev/null; then
	skip_all 'strace can not trace here'
fi
plan 6
status=0
strace -f -o "$trace" "$program" trace >"$trace.out" 2>&1 || status=$?
result 'the traced program does what it has to' "$status" "exit status $status"
result 'it prints nothing' "$([[ ! -s $trace.out ]]; printf '%d' $?)" "$(head -n 1 "$trace.out")"
expect_none 'no thread and no process is started' '^[0-9]+ +(clone3?|v?fork)\(.*= [0-9]+$'
expect_none 'no socket is opened' '^[0-9]+ +(socket|socketpair|connect|bind)\('
expect_none 'no signal handler is installed' '^[0-9]+ +rt_sigaction\([A-Z0-9_]+, \{'
# proc_mem has its own call; whatever goes through write() is output.
expect_none 'nothing is written to a descriptor' '^[0-9]+ +(write|writev|sendto|sendmsg)\('
finish
