#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Control-C stops a script of patched Lua as it stops one of Lua: at once, with the same traceback.
#
# usage: interrupt.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

cat >"$scratch/endless.lua" <<'END'
local function spin() while true do end end
io.write("ready\n")
io.flush()
spin()
END
cat >"$scratch/calls.lua" <<'END'
local function leaf() end
local function spin() while true do leaf() end end
io.write("ready\n")
io.flush()
pcall(spin)
io.write("caught, hook ", tostring(debug.gethook()), "\n")
io.flush()
spin()
END
mkfifo "$scratch/output"

# Runs a script on a variant and sends it SIGINTs, each after a line that the script has written.
# Leaves what it printed and its exit status in $scratch/VARIANT: interrupt VARIANT SCRIPT SIGNALS
interrupt()
{
	local variant=$1 signals=$3 status=0 line pid
	# A shell without job control makes background programs ignore SIGINT; env puts that right.
	(cd "$lua/$variant" && exec env --default-signal=INT ./lua "$scratch/$2") \
		>"$scratch/output" 2>"$scratch/$variant.errors" &
	pid=$!
	exec 3<"$scratch/output"
	: >"$scratch/$variant"
	while ((signals-- > 0)) && read -r -t 30 line <&3; do
		printf '%s\n' "$line" >>"$scratch/$variant"
		# Into the loop that follows the line, and not between the two.
		sleep 0.1
		kill -INT "$pid"
	done
	timeout 30 cat <&3 >>"$scratch/$variant" || kill -KILL "$pid"
	exec 3<&-
	wait "$pid" || status=$?
	cat "$scratch/$variant.errors" >>"$scratch/$variant"
	printf 'exit %d\n' "$status" >>"$scratch/$variant"
}

same_when_interrupted()
{
	interrupt stock "$1" "$2"
	interrupt patched "$1" "$2"
	cat "$scratch/patched"
	grep -qF "$3" "$scratch/stock" && diff "$scratch/stock" "$scratch/patched"
}

plan 2
check 'an endless loop is interrupted, with the traceback of Lua as it is' \
	same_when_interrupted endless.lua 1 'endless.lua:4: interrupted!'
check 'a script may catch the interruption; the next one ends it, as lua.c has it' \
	same_when_interrupted calls.lua 2 'caught, hook nil'
finish
