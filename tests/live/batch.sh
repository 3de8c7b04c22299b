#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One core sync for a batch of 100 keys, whatever the number of sites: counted by strace.
#
# usage: batch.sh PROGRAM (built from batch.c)
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../tap.bash
. "$(dirname "$0")/../tap.bash"

program=$1
name='a batch of 100 keys synchronises the cores once'
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT

plan 1
if ! strace -o /dev/null true 2>/dev/null; then
	skip "$name" 'strace can not trace here'
	finish
fi
# The leak check of a sanitized build refuses to run under strace.
ASAN_OPTIONS=detect_leaks=0 strace -o "$trace" -e trace=membarrier,write "$program" trace
# Between the two writes that fail.
count=$(sed -n '/write(-1, "begin"/,/write(-1, "end"/p' "$trace" | grep -c '^membarrier' || true)
if [[ $count == 1 ]]; then
	pass "$name"
else
	fail "$name: $count times"
fi
finish
