#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# programs/lua/edit applies to the source it was written for, and to no other.
#
# usage: edits.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

edit=$root/programs/lua/edit
edits=$root/programs/lua/hook_key.edits

# A fresh copy of the source with sed's SCRIPT applied to FILE: alter FILE SCRIPT
alter()
{
	rm -rf "$scratch/altered" "$scratch/before"
	cp -r "$lua/source" "$scratch/altered"
	sed -i "$2" "$scratch/altered/src/$1"
	cp -r "$scratch/altered" "$scratch/before"
}

# The edits are refused with one line that has this text, and no file was changed: refuses TEXT
refuses()
{
	local status=0
	"$edit" "$edits" "$scratch/altered" >"$scratch/output" 2>&1 || status=$?
	cat "$scratch/output"
	[[ $status -eq 1 && $(wc -l <"$scratch/output") -eq 1 ]] &&
		grep -qF -e "$1" "$scratch/output" && diff -r "$scratch/before" "$scratch/altered"
}

applies()
{
	"$edit" "$edits" "$scratch/altered" &&
		[[ $(diff -rq "$scratch/before" "$scratch/altered" | wc -l) -eq 5 ]]
}

# The edits as they are on standard input.
refuses_edits()
{
	local edits=$scratch/edits
	cat >"$edits"
	refuses "$1"
}

plan 9
alter lvm.c ''
check 'applies to the source, and changes five files' applies
cp -r "$scratch/altered/." "$scratch/before"
check 'refuses to apply twice' refuses 'lvm.c'
alter ldo.c 's/if (L->hookmask & LUA_MASKCALL)/if (L->hookmask \& LUA_MASKCALL) /'
check 'refuses a source where a test was changed' refuses 'src/ldo.c is not the source'
alter ldebug.c 's/^  L->hookmask = cast_byte(mask);$/&\n&/'
check 'refuses a source where a text occurs twice' refuses '2 places, not 1'
alter ldo.c 's/int luaD_poscall (/int luaD_postcall (/'
check 'names the text that is missing' refuses 'int luaD_poscall ('
alter lvm.c ''
rm "$scratch"/{altered,before}/src/lstate.c
check 'refuses a source without one of the files' refuses 'lstate.c'
alter lvm.c ''
check 'refuses edits that are cut short' refuses_edits 'no @end' <<<'@file src/lvm.c
@find
#define vmfetch()'
check 'refuses an edit without a text to find' refuses_edits 'needs @file, @find' <<<'@file src/lvm.c
@replace
x
@end'
check 'refuses a file without edits' refuses_edits 'holds no edit' <<<'nothing'
finish
