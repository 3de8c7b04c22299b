#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the checks for hooks cost while no hook is set, counted by emulation: the branches are gone, and
# an executed site adds at most 1.2 instructions to Lua with the checks compiled out.
#
# usage: cost.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

script=$root/programs/lua/call_heavy.lua
sites=$("$build/tool/dormant" show --json "$lua/patched/lua" lua_hook_key |
	sed -n 's/.*"address": "\(0x[0-9a-f]*\)".*/\1/p' | paste -sd,)

# Sets instructions[VARIANT], branches[VARIANT] and executions[VARIANT].
declare -A instructions branches executions
count()
{
	local variant=$1 counts
	counts=$("$root/programs/lua/count" -s "$sites" "$lua/$variant/lua" "$script")
	read -r "instructions[$variant]" "branches[$variant]" "executions[$variant]" <<<"$counts"
	printf '# %-8s %s instructions, %s conditional branches\n' "$variant" \
		"${instructions[$variant]}" "${branches[$variant]}"
}

repeats()
{
	local again
	again=$("$root/programs/lua/count" -s "$sites" "$lua/out/lua" "$script")
	printf '%s\n' "$again"
	[[ $again == "${instructions[out]} ${branches[out]} ${executions[out]}" ]]
}

plan 6
count stock
count out
count patched
executed=${executions[patched]}
printf '# %s executions of the sites %s\n' "$executed" "$sites"
check 'counting twice gives the same counts' repeats
check 'the sites are executed often, or the rest would say nothing' test "$executed" -gt 1000000
check 'stock Lua executes a branch for each of them' \
	test $((branches[stock] - branches[out])) -ge $((executed * 99 / 100))
# The library's start is 3,000 branches.
check 'patched Lua executes the branches of compiled-out Lua, to 0.1 %' \
	test $((branches[patched] - branches[out])) -le $((branches[out] / 1000))
check 'at most 1.2 instructions for an execution of a site' \
	test $(((instructions[patched] - instructions[out]) * 10)) -le $((executed * 12))
check 'fewer instructions than stock Lua' test "${instructions[patched]}" -lt "${instructions[stock]}"
finish
