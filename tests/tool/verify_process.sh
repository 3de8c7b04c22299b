#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant verify PID: executables and shared objects of a running process, what was written behind
# the library's back, files that were replaced, and who may look.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"
# shellcheck source-path=SCRIPTDIR source=process.bash
source "$here/process.bash"

build_library
build_program pie -pie -fPIE
build_program nopie -no-pie -fno-pie

for program in pie nopie; do
	right="^$scratch/$program: 8 keys, 5 sites: right"
	library_right="^$scratch/libfixture.so: 1 key, 1 site: right"

	start "./$program"
	verified "$program: right after the start" 0 "$right"
	verified "$program: its shared object as well" 0 "$library_right"

	tell enable
	tell swap
	verified "$program: right after keys were switched" 0 "$right"
	verified "$program: its shared object as well" 0 "$library_right"
	tell disable

	run "$dormant" verify --json "$pid"
	is "$program: --json is JSON with both objects" \
		"$(json '[o["path"].split("/")[-1] for o in d["objects"]], d["right"]')" \
		"(['$program', 'libfixture.so'], True)"
	bias=$(json 'd["objects"][0]["bias"]')
	library_bias=$(json 'd["objects"][1]["bias"]')
	"$dormant" show --json "$program" trace_key >out
	site=$(json 'd["keys"][0]["sites"][0]["address"]')
	tell 'where &trace_key'
	where=$answer
	is "$program: address in the file + bias is that in the process" \
		$((site + bias)) $((where))
	is "$program: the bias of the shared object is where it is mapped" $((library_bias)) \
		$((16#$(grep -m 1 libfixture.so "/proc/$pid/maps" | cut -d- -f1)))

	tell 'write 0 cc'
	verified "$program: a foreign byte is named with address, place, key and bytes" 1 \
		"^$scratch/$program: $where work[^ ]*\+0x[0-9a-f]+ key trace_key: .*expected a9( ..){4}, found cc"
	tell 'write 0 a9'
	verified "$program: right again" 0 "$right"

	tell 'write 0 e9'
	verified "$program: an instruction that is not the key's" 1 \
		'key trace_key: the instruction does not agree with the key; expected a9.*found e9'
	tell 'write 0 a9'
	tell 'write 3 7f'
	verified "$program: a distance that is not the file's" 1 'distance is not that of the file'
done

# ---- other writers leave other mappings, other linkers other segments ----

for writer in mprotect remap; do
	start env DORMANT_WRITER="$writer" ./pie
	tell enable
	is "$writer switches the key" "$answer" 'done'
	verified "right after $writer wrote the text" 0 '/pie: 8 keys, 5 sites: right'
done

for linker in gold lld mold; do
	if ! has_linker "$linker"; then
		skip "ld.$linker: right after a key was switched" 'not installed'
		continue
	fi
	build_program "$linker" -pie -fPIE -fuse-ld="$linker"
	start "./$linker"
	tell enable
	verified "ld.$linker: right after a key was switched" 0 "/$linker: 8 keys, 5 sites: right"
done

# ---- a process that goes on switching ----

start ./pie
tell toggle
for _ in 1 2 3; do
	verified 'right while a thread toggles' 0 "/pie: 8 keys, 5 sites: right"
done

# A debugger that steps over its breakpoint: what is right at one of several looks is right.
start ./pie
tell flicker
for _ in 1 2 3 4 5; do
	verified 'right while a foreign byte comes and goes' 0 "/pie: 8 keys, 5 sites: right"
done

# ---- files that changed ----

start ./pie
tell enable
cp pie other && mv other pie
verified 'a replaced file is read from the process' 0 'sites: right \(deleted or replaced'
tell 'write 0 cc'
verified 'and a foreign byte found in it' 1 'key trace_key: .*found cc'

cp pie gone && start ./gone
rm gone
verified 'a deleted file likewise' 0 'sites: right \(deleted or replaced'

cp pie stripped && strip -s stripped && start ./stripped
verified 'a stripped program' 0 '/stripped: 8 keys, 5 sites: right'
tell 'write 0 cc'
verified 'a stripped program: a foreign byte, without a place' 1 \
	'/stripped: 0x[0-9a-f]+ key trace_key: .*found cc'

# ---- who is no process, and who may look ----

ended_pid=$pid
stop
refused 'a process that ended' "$ended_pid: no such process; .*written ./$ended_pid" \
	"$dormant" verify "$ended_pid"
refused 'a number that is no PID' '99999999999: no such process' "$dormant" verify 99999999999
refused 'process 0' '0: no such process' "$dormant" verify 0

cp pie 123456
run "$dormant" verify ./123456
ok 'a file with such a name is written ./123456' ended 0 '8 keys, 5 sites: right'

sleep 600 3>&- 4<&- &
pid=$!
refused 'a process without keys' "process $pid: no object in it has keys" "$dormant" verify "$pid"
kill "$pid"
wait "$pid" 2>/dev/null || true
pid=''

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [[ $(id -u) != 0 ]] || ! "${nobody[@]}" true 2>/dev/null; then
	skip 'another user is refused' 'needs root'
	skip 'the same user may look, also without root' 'needs root'
else
	# The build folder may be closed to others.
	cp "$dormant" dormant
	cp "$library" libdormant.so.0
	open=("${nobody[@]}" env "LD_LIBRARY_PATH=$scratch")

	start ./pie
	refused 'another user is refused' "process $pid: no permission to read its memory" \
		"${open[@]}" ./dormant verify "$pid"
	start "${open[@]}" ./pie
	tell enable
	if grep -qs '^[1-9]' /proc/sys/kernel/yama/ptrace_scope; then
		skip 'the same user may look, also without root' 'kernel.yama.ptrace_scope forbids it'
	else
		run "${open[@]}" ./dormant verify "$pid"
		ok 'the same user may look, also without root' ended 0 \
			'/pie: 8 keys, 5 sites: right'
	fi
fi

stop
finish
