#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Patched Lua behaves as Lua does: the same output with hooks of every kind, and the key counts right.
#
# usage: hooks.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

scripts=("$root"/tests/lua/hooks/*.lua)

# The output and the exit status of a script on a variant: run_script VARIANT SCRIPT
run_script()
{
	local status=0
	(cd "$lua/$1" && timeout 60 ./lua "$2") >"$scratch/$1.out" 2>&1 || status=$?
	printf 'exit %d\n' "$status" >>"$scratch/$1.out"
}

# A script that failed at its start would agree as well: same_output SCRIPT LINES
same_output()
{
	run_script stock "$1" && run_script patched "$1" &&
		[[ $(wc -l <"$scratch/stock.out") -gt $2 && $(tail -n 1 "$scratch/stock.out") == 'exit 0' ]] &&
		diff "$scratch/stock.out" "$scratch/patched.out"
}

same_in_c()
{
	build_program stock c_hooks && build_program patched c_hooks &&
		timeout 60 "$scratch/stock-c_hooks" >"$scratch/stock.out" &&
		timeout 60 "$scratch/patched-c_hooks" >"$scratch/patched.out" &&
		[[ $(wc -l <"$scratch/stock.out") -gt 100 ]] &&
		diff "$scratch/stock.out" "$scratch/patched.out"
}

plan $((${#scripts[@]} + 2))
for script in "${scripts[@]}"; do
	check "the output of $(basename "$script") is that of Lua as it is" same_output "$script" 7
done
check 'so is that of hooks set by C, with yields' same_in_c
check 'the benchmark script too, with hooks off' same_output "$root/programs/lua/call_heavy.lua" 1
finish
