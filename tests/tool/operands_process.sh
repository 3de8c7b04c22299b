#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant list, show and verify on a process with immediate values and static calls: what they are now,
# how each site is, and what was written behind the library's back.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"
# shellcheck source-path=SCRIPTDIR source=process.bash
source "$here/process.bash"

# lists PATTERN...: each matches a line of what list says of the process; spaces count as one.
lists() {
	local pattern

	run "$dormant" list "$pid"
	sed -i 's/  */ /g' out
	[[ $status == 0 ]] || return 1
	for pattern; do
		grep -qE -- "^$pattern\$" out || return 1
	done
}

# shows NAME PATTERN...: the same of what show says of a key; "|" stands for the columns' gaps.
shows() {
	local name=$1 pattern

	shift
	run "$dormant" show "$pid" "$name"
	sed -i 's/   */|/g' out
	[[ $status == 0 ]] || return 1
	for pattern; do
		grep -qE -- "$pattern" out || return 1
	done
}

build_operands_library
build_operands pie -pie -fPIE
build_operands nopie -no-pie -fno-pie

for program in pie nopie; do
	# One has something in front of it, and one is of a shared object, which is always far away.
	right="^$scratch/$program: 13 values, 5 calls, 18 sites \(2 by trampoline\): right$"
	library_right="^$scratch/liboperands.so: 1 value, 1 call, 2 sites: right$"

	start "./$program"
	verified "$program: right after the start" 0 "$right"
	verified "$program: its shared object as well" 0 "$library_right"
	ok "$program: list tells defaults and what is now" lists \
		'KEY KIND TYPE DEFAULT NOW SITES' "$scratch/$program:" "$scratch/liboperands.so:" \
		'limit value uint32 100 100 1' 'mask value uint64 (18446744073709551615 ?){2} 1' \
		'narrow value float 0.100000001 0.100000001 1' 'verbose value bool true true 1' \
		'place value pointer 0x[0-9a-f]+ <table\+0x4> 0x[0-9a-f]+ <table\+0x4> 1' \
		'nowhere value pointer 0x0 0x0 1' 'hook_call call - nothing nothing 1' \
		'plain_call call - plain plain 2' 'shared_call call - - library_halve 1'
	ok "$program: list knows the type of what another object defines" lists \
		'shared_limit value int16 - -7 1' 'shared_limit value int16 -7 -7 1'

	tell change
	is "$program: values and calls are changed" "$answer" 'done'
	verified "$program: right after values and calls were changed" 0 "$right"
	verified "$program: its shared object as well" 0 "$library_right"
	ok "$program: list tells what was set" lists 'tiny value int8 -3 4 1' \
		'port value uint16 65000 80 1' 'limit value uint32 100 200 1' \
		'offset value int64 -5000000000 6000000000 1' \
		'mask value uint64 18446744073709551615 255 1' 'verbose value bool true false 1' \
		'tint value uint32 2 1 1' 'narrow value float 0.100000001 2.5 1' \
		'ratio value double 0.5 -0.25 1' 'unread value int32 12 -1 0' \
		'place value pointer 0x[0-9a-f]+ <table\+0x4> 0x[0-9a-f]+ <table> 1' \
		'hook_call call - nothing hook 1' 'plain_call call - plain other 2' \
		'shared_limit value int16 - 9 1' 'shared_limit value int16 -7 9 1'

	# shellcheck disable=SC2016 # literal dollars
	ok "$program: show: a value in the instruction" shows limit \
		'^limit: value of type uint32, 100 by default, 200 now, 1 site$' \
		'integers\|.*b[89a-f] c8 00 00 00\|mov \$0xc8, %e..\|in the instruction$'
	# shellcheck disable=SC2016
	ok "$program: show: a value of 8 bytes in the instruction" shows mask \
		'2e 2e 2e 48 b[89a-f] ff( 00){7}\|mov \$0xff, %r..\|in the instruction$'
	ok "$program: show: calls and the trampoline" shows plain_call \
		'^plain_call: call, plain by default, other now, 2 sites and the trampoline$' \
		'calls_direct\|.*\|call 0x[0-9a-f]+\|direct$' 'calls_tail\|.*\|jmp 0x[0-9a-f]+\|tail$' \
		'\|jmp 0x[0-9a-f]+\|trampoline, direct$'
	ok "$program: show: a call by the trampoline" shows mixed_call '\|by trampoline$'
	ok "$program: show: of a shared object" shows shared_call \
		"^$scratch/$program:" "^$scratch/liboperands.so:" 'calls_shared\|.*\|far$' \
		'library_work\|.*\|direct$'

	run "$dormant" list --json "$pid"
	is "$program: list --json: default and now" \
		"$(json '[(k["default"], k["now"]) for k in d["objects"][0]["keys"] if k["name"] in ("limit", "plain_call")]')" \
		"[('100', '200'), ('plain', 'other')]"
	run "$dormant" show --json "$pid" limit
	site=$(json 'd["objects"][0]["keys"][0]["sites"][0]["address"]')
	bias=$(json 'd["objects"][0]["bias"]')
	run "$dormant" show --json "$program" limit
	is "$program: show --json: the address is that of the file and the bias" $((site)) \
		$(($(json 'd["keys"][0]["sites"][0]["address"]') + bias))

	tell far
	is "$program: a target far away is accepted" "$answer" 'done'
	verified "$program: right with a target far away" 0 \
		"^$scratch/$program: .* \(3 by trampoline\): right"
	ok "$program: show: a call that is too far" shows reach 'calls_far\|.*\|far$' \
		'\|trampoline, far$' 'call, plain by default, 0x100000000000 now'
	tell empty
	verified "$program: right without functions" 0 "$right"
	ok "$program: show: calls of nothing" shows plain_call 'calls_direct\|.*\|nothing$' \
		'calls_tail\|.*\|c3\|ret\|nothing$' '\|c3\|ret\|trampoline, nothing$' 'nothing now'

	# ---- behind the library's back ----

	tell 'write limit 0 0 cc'
	verified "$program: a foreign byte: address, place, kind, name and bytes" 1 \
		"^$scratch/$program: $site integers\+0x[0-9a-f]+ value limit: not a site's instruction.*; expected b[89a-f] c8 00 00 00, found cc c8 00 00 00$"
	ok "$program: show calls it foreign" shows limit '\|int3\|foreign$'
	tell change
	is "$program: the library refuses to write over it" "$answer" 'failed'

	start "./$program"
	tell 'write limit 0 1 65'
	verified "$program: another value in the instruction" 1 \
		'value limit: the instruction does not hold the present value; expected b. 64 .*, found b. 65'
	tell 'write mask 0 9 01'
	verified "$program: another value in the instruction, of 8 bytes" 1 \
		'value mask: .*present value; expected 2e 2e 2e 48 b.( ff){8}, found 2e 2e 2e 48 b.( ff){4} 01( ff){3}'
	start "./$program"
	tell store
	verified "$program: a value that was stored without the library" 1 \
		'value limit: the instruction does not hold the present value; expected b. 4d'
	start "./$program"
	for index in 0 1 2; do
		tell "write plain_call $index 4 7f"
	done
	run "$dormant" verify "$pid"
	is "$program: calls and a trampoline to somewhere else" \
		"$(grep -cE 'call plain_call: it does not call the present function; expected e[89]' out)" 3
done

# ---- by memory: the one writer that is permitted changes a byte at a time ----

start env DORMANT_WRITER=proc_mem ./pie
tell thread
verified 'proc_mem: values by memory, calls by trampolines' 0 \
	'/pie: 13 values, 5 calls, 18 sites \(12 by memory, 6 by trampoline\): right$'
ok 'show: a value by memory' shows limit '\|jmp 0x[0-9a-f]+\|by memory$'
ok 'show: a call by the trampoline' shows plain_call 'calls_direct\|.*\|by trampoline$' \
	'\|jmp \*0x[0-9a-f]+\|trampoline, by memory$'
tell change
is 'they are changed all the same' "$answer" 'done'
verified 'and are right' 0 '\(12 by memory, 6 by trampoline\): right$'
ok 'list tells what was set' lists 'limit value uint32 100 200 1' 'plain_call call - plain other 2'
tell 'write limit 0 1 00'
verified 'a jump to something else than the load' 1 "value limit: not a site's instruction"

# ---- other writers, other linkers ----

for writer in mprotect remap; do
	start env DORMANT_WRITER="$writer" ./pie
	tell change
	is "$writer changes values and calls" "$answer" 'done'
	verified "right after $writer wrote the text" 0 '/pie: .* 18 sites \(2 by trampoline\): right'
	ok "$writer: names of what is in replaced pages" lists 'plain_call call - plain other 2'
done
for linker in gold lld mold; do
	if ! has_linker "$linker"; then
		skip "ld.$linker: right after a change" 'not installed'
		continue
	fi
	build_operands "$linker" -pie -fPIE -fuse-ld="$linker"
	start "./$linker"
	tell change
	verified "ld.$linker: right after a change" 0 "/$linker: .* \(2 by trampoline\): right"
done

# ---- a process that goes on changing ----

start ./pie
tell turn
for _ in 1 2 3; do
	verified 'right while a thread changes a value and a call' 0 '/pie: .*: right$'
done

# ---- files that changed ----

cp pie stripped && strip -s stripped && start ./stripped
tell change
verified 'a stripped program' 0 '/stripped: .* 18 sites \(2 by trampoline\): right'
ok 'a stripped program: an address for a name' lists 'plain_call call - 0x[0-9a-f]+ 0x[0-9a-f]+ 2'
start ./pie
cp pie new && mv new pie
run "$dormant" list "$pid"
ok 'a replaced file is read from the process' ended 0 '/pie: \(deleted or replaced'

# ---- keys of a process ----

build_library
build_program keys
start ./keys
tell enable
ok 'keys: default and now' lists 'trace_key key off on 1' 'quiet_key key off off 1' \
	'level\[3\] element on on 1' 'shared_key elsewhere - on 1'
ok 'keys: the instruction that is there now' shows trace_key \
	'^trace_key: key, off by default, on now, 1 site$' 'e9( ..){4}\|jmp 0x[0-9a-f]+\|jumps$'
refused 'an unknown key of a process' \
	"process $pid: has no key 'trace_kye' \(is it 'trace_key'\?\); 'dormant list $pid'" \
	"$dormant" show "$pid" trace_kye
ended_pid=$pid
stop
refused 'list of a process that ended' "$ended_pid: no such process" "$dormant" list "$ended_pid"
refused 'show of a process that ended' "$ended_pid: no such process" "$dormant" show "$ended_pid" x

finish
