#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What can not be read is refused by one line that says what it is and what to do, with status 2.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"

build_library
build_program program

# every NAME PATTERN FILE: refused by each command that takes a file, in time.
every() {
	refused "list: $1" "$2" timeout 10 "$dormant" list "$3"
	refused "show: $1" "$2" timeout 10 "$dormant" show "$3" trace_key
	refused "verify: $1" "$2" timeout 10 "$dormant" verify "$3"
	refused "list --json: $1" "$2" timeout 10 "$dormant" list --json "$3"
}

every 'no such file' 'missing: no such file; name' ./missing
every 'a directory' 'is a directory; name' .
mkfifo fifo
every 'a FIFO without a writer' 'fifo: is not a regular file; name' fifo
every 'a device' '/dev/null: is not a regular file; name' /dev/null
: >empty
every 'an empty file' 'empty: is empty; name' empty
echo 'int x;' >text.c
every 'a text file' 'text.c: is not an ELF file; name' text.c

"${CC:-cc}" -c text.c -o text.o
every 'an object file' 'text.o: is an object file, .*; link it' text.o
ar rc text.a text.o
every 'a static library' 'text.a: is a static library; link it' text.a
cp program 32
poke 32 4 '\x01'
every '32-bit ELF' '32: is not a 64-bit ELF file; only x86-64' ./32
cp program foreign
poke foreign 18 '\xb7'
every 'another processor' 'foreign: is for another processor \(ELF machine 183\)' foreign
cp program core
poke core 16 '\x04'
every 'a core dump' 'core: is a core dump; name' core
echo 'int main(void) { return 0; }' >none.c
"${CC:-cc}" none.c -o none
every 'no keys' 'none: has no keys, values or calls; build it with a header of <dormant/>' none

size=$(stat -c %s program)
for length in 3 30 100 3000 $((size - 100)); do
	head -c "$length" program >part
	every "cut to $length bytes" 'part: .*(not an ELF file|truncated or damaged)' part
done
cp program lying
poke lying 40 '\xff\xff\xff\xff\xff\xff\xff\x7f'
every 'section headers past the end' 'lying: .*section headers lie outside.*; copy' lying
cp program lying
poke lying 32 '\xff\xff\xff\xff\xff\xff\xff\x7f'
every 'program headers past the end' 'lying: .*(damaged|no program headers)' lying
cp program lying
poke lying 56 '\xff\xff'
every 'too many program headers' 'lying: .*damaged' lying

if [[ $(id -u) != 0 ]] || ! setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	skip 'a file of another user' 'needs root'
else
	cp "$dormant" dormant
	cp "$library" libdormant.so.0
	chmod 600 program
	refused 'a file of another user' 'program: no permission to read it; run as' \
		setpriv --reuid=65534 --regid=65534 --clear-groups \
		env "LD_LIBRARY_PATH=$scratch" ./dormant list program
	chmod 755 program
fi

# ---- usage ----

refused 'no command' "which command\? 'dormant --help'" "$dormant"
refused 'an unknown command' "no command 'switsch'; 'dormant --help'" "$dormant" switsch
refused 'no operand' 'list: takes FILE\|PID; usage: dormant list' "$dormant" list
refused 'too many operands' 'list: takes FILE\|PID; usage' "$dormant" list program program
refused 'too few operands' 'show: takes FILE\|PID KEY; usage' "$dormant" show program
refused 'doctor takes none' 'doctor: takes no argument; usage' "$dormant" doctor program
refused 'an unknown option' "list: unknown option '--jason'; see 'dormant help list'" \
	"$dormant" list --jason program
# shellcheck disable=SC2016 # the inner shell expands them
refused 'a full disk' 'standard output can not be written' \
	bash -c '"$1" list "$2" >/dev/full' - "$dormant" program

for command in list show verify doctor; do
	run "$dormant" "$command" --help
	ok "$command --help" ended 0 "^Usage: dormant $command"
	cp out help
	run "$dormant" help "$command"
	ok "help $command says the same" cmp out help
	run "$dormant" --help
	ok "--help lists $command" ended 0 "^  $command "
done
run "$dormant" --version
ok '--version' ended 0 '^dormant [0-9]+\.[0-9]+'

# A name from a file can not drive the terminal.
cp program escape
name=$(grep -abo -m 1 'quiet_key' escape | head -n 1 | cut -d: -f1)
poke escape "$name" '\x1b[2J\n'
run "$dormant" list escape
ok 'unprintable bytes of a name are shown as \xNN' grep -qF '\x1b[2J\x0a' out

finish
