#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant list, show and verify on files with immediate values and static calls: kinds, types, values,
# targets, how each call goes; right with every linker; and each kind of damage is found and named.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"

build_operands_library
build_operands program

# ---- list ----

cat >expected <<'LIST'
KEY KIND TYPE DEFAULT SITES
hook_call call - nothing 1
limit value uint32 100 1
mask value uint64 18446744073709551615 1
mixed_call call - mixed 1
narrow value float 0.100000001 1
nowhere value pointer 0x0 1
offset value int64 -5000000000 1
place value pointer 0xN <table+0x4> 1
plain_call call - plain 2
port value uint16 65000 1
ratio value double 0.5 1
reach call - plain 1
shared_call call - - 1
shared_limit value 2 bytes - 1
tint value uint32 2 1
tiny value int8 -3 1
unread value int32 12 0
verbose value bool true 1
LIST

# lists_all: the file out is the list above, but for spaces and the address of `table`.
lists_all() {
	sed 's/  */ /g; s/0x[0-9a-f]* </0xN </' out | diff expected -
}

run "$dormant" list program
ok 'list names every value and call with kind, type, default and sites' lists_all
is 'list ends with 0' "$status" 0
run "$dormant" list liboperands.so
ok 'list reads a shared object: its value' ended 0 '^shared_limit +value +int16 +-7 +1$'
ok 'list reads a shared object: its call' ended 0 '^shared_call +call +- +library_halve +1$'

run "$dormant" list --json program
is 'list --json: a value' \
	"$(json '[(k["kind"], k["type"], k["default"], k["sites"]) for k in d["keys"] if k["name"] == "tiny"]')" \
	"[('value', 'int8', '-3', 1)]"
is 'list --json: a call' \
	"$(json '[(k["kind"], k["type"], k["default"]) for k in d["keys"] if k["name"] == "plain_call"]')" \
	"[('call', None, 'plain')]"
is 'list --json: what another object decides' \
	"$(json '[(k["default"], k["address"]) for k in d["keys"] if k["name"].startswith("shared")]')" \
	'[(None, None), (None, None)]'

cat >far.c <<'C'
#include <dormant/static_call.h>
#include <stdio.h>
static int after(int x) { return x; }
DEFINE_STATIC_CALL(print_call, puts);
DEFINE_STATIC_CALL(after_call, after);
int print(void) { return static_call(print_call)("x") + static_call(after_call)(1); }
C
build far.so -fPIC -shared far.c
run "$dormant" list far.so
ok 'a target in another object has its name' ended 0 '^print_call +call +puts +1$'

# ---- linkers, and files without symbols ----

for linker in bfd gold lld mold; do
	if ! has_linker "$linker"; then
		skip "ld.$linker" 'not installed'
		continue
	fi
	for flavour in '-pie -fPIE' '-no-pie -fno-pie' '-pie -fPIE -Wl,--gc-sections -ffunction-sections'; do
		# shellcheck disable=SC2086
		build_operands linked $flavour -fuse-ld="$linker"
		run "$dormant" list linked
		ok "ld.$linker $flavour: the same list" lists_all
		run "$dormant" verify linked
		ok "ld.$linker $flavour: right" ended 0 \
			'^linked: 13 values, 5 calls, 18 sites \(1 by trampoline\): right$'
	done
	strip -s linked
	run "$dormant" list linked
	ok "ld.$linker: after strip -s, values and nothing" ended 0 \
		'^hook_call +call +- +nothing +1$'
	ok "ld.$linker: after strip -s, an address for a name" ended 0 \
		'^plain_call +call +- +0x[0-9a-f]+ +2$'
	run "$dormant" verify linked
	ok "ld.$linker: right after strip -s" ended 0 ' 18 sites \(1 by trampoline\): right$'
done
if command -v llvm-strip >/dev/null; then
	cp program bare
	llvm-strip --strip-sections bare
	run "$dormant" verify bare
	ok 'right without section headers' ended 0 ' 18 sites \(1 by trampoline\): right$'
else
	skip 'right without section headers' 'no llvm-strip'
fi
if command -v clang >/dev/null; then
	CC=clang build_operands clang-program
	run "$dormant" list clang-program
	ok 'clang: the same list' lists_all
	run "$dormant" verify clang-program
	ok 'clang: right' ended 0 ' 18 sites \(1 by trampoline\): right$'
else
	skip 'clang: the same list' 'no clang'
	skip 'clang: right' 'no clang'
fi
build_operands branch-checked -fcf-protection
run "$dormant" verify branch-checked
ok 'right with endbr64 in front of trampolines' ended 0 ' 18 sites \(1 by trampoline\): right$'
build_operands slow -O0
run "$dormant" verify slow
ok 'right without optimisation' ended 0 ' 18 sites \([0-9]+ by trampoline\): right$'
build_operands plain-build -DDORMANT_NO_PATCHING
run "$dormant" verify plain-build
ok 'right without patching: no sites' ended 0 '^plain-build: 12 values, 4 calls, 0 sites: right$'

# ---- show ----

line=$(grep -n 'line of limit' "$here/operands_program.c" | cut -d: -f1)
run "$dormant" show program limit
ok 'show: what a value is' ended 0 '^limit: value of type uint32, 100 by default, 1 site$'
ok 'show: function, line, bytes, instruction and state of its site' ended 0 \
	" integers +[^ ]*operands_program.c:$line +e9( [0-9a-f]{2}){4} +jmp 0x[0-9a-f]+ +by memory$"
run "$dormant" show program plain_call
ok 'show: what a call is' ended 0 '^plain_call: call, plain by default, 2 sites and the trampoline$'
ok 'show: a call' ended 0 ' calls_direct .* e8( ..){4} +call 0x[0-9a-f]+ +direct$'
ok 'show: a tail call' ended 0 ' calls_tail .* e9( ..){4} +jmp 0x[0-9a-f]+ +tail$'
ok 'show: the trampoline' ended 0 \
	' dormant_trampoline_plain_call .* ff 25( ..){4} +jmp \*0x[0-9a-f]+ +trampoline, by memory$'
run "$dormant" show program mixed_call
ok 'show: a call with something in front of it' ended 0 ' calls_mixed .* by trampoline$'
run "$dormant" show --json program plain_call
is 'show --json: kinds and states of sites' \
	"$(json 'sorted((s["kind"], s["state"]) for s in d["keys"][0]["sites"])')" \
	"[('call', 'direct'), ('call', 'tail'), ('trampoline', 'trampoline, by memory')]"
is 'show --json: calls go to the trampoline' \
	"$(json '[s["target"] == t["address"] for t in d["keys"][0]["sites"] for s in d["keys"][0]["sites"] if t["kind"] == "trampoline" and s["kind"] == "call"]')" \
	'[True, True]'

# The compiler leaves no call where two stores would be needed; this one is written by hand.
cat >split.c <<'C'
#include <dormant/static_call.h>
static int after(int x) { return x; }
DEFINE_STATIC_CALL(after_call, after);
int calls_whole(int x) { return static_call(after_call)(x) + 1; }
__asm__(".pushsection .text\n"
	".balign 8\n"
	".type calls_split,@function\n"
	"calls_split: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
	".Lsplit: jmp dormant_trampoline_after_call@PLT\n"
	".size calls_split, . - calls_split\n"
	".popsection\n"
	".pushsection dormant_operands,\"ao\",@progbits,.Lsplit\n"
	".balign 8\n"
	".long .Ldormant_owner_after_call - . + 4, .Lsplit - ., 0, 0\n"
	".popsection\n");
C
build split.so -fPIC -shared split.c
run "$dormant" show split.so after_call
ok 'show: a call in two quadwords goes by the trampoline' ended 0 \
	' calls_split .* e9( ..){4} +jmp .* by trampoline$'
ok 'show: one in one quadword does not' ended 0 ' calls_whole .* e8( ..){4} +call .* direct$'
run "$dormant" verify split.so
ok 'verify: a call in two quadwords is right' ended 0 \
	'^split.so: 1 call, 2 sites \(1 by trampoline\): right$'

cat >template.cc <<'CC'
#include <dormant/imv.h>
#include <dormant/static_call.h>
namespace inner { DEFINE_IMV(double, template_value) = 1.5; }
static int after(int x) { return x; }
DEFINE_STATIC_CALL(template_call, after);
template <class T> struct holder {
	T get(T x) { return static_cast<T>(imv_read(inner::template_value)) + static_call(template_call)(x); }
};
int use(int x) { return holder<int>().get(x) + static_cast<int>(holder<short>().get(1)); }
CC
CC="${CXX:-c++}" build template.so -fPIC -shared template.cc
run "$dormant" list template.so
ok 'C++: a value, read in each instance of a template' ended 0 \
	'^template_value +value +double +1.5 +2$'
ok 'C++: a call' ended 0 '^template_call +call +- +_ZL5afteri +2$'
run "$dormant" verify template.so
ok 'C++: right' ended 0 '^template.so: 1 value, 1 call, 4 sites.*: right$'

# ---- wrong ----

# damaged NAME PATTERN: file `bad` is found wrong with a line that matches, and without a crash.
damaged() {
	run "$dormant" verify bad
	ok "$1" ended 1 "^bad: .*$2"
}

# place_of NAME INDEX FIELD: of a site, as a number; in `fixed`, code lies at its offset.
place_of() {
	"$dormant" show --json fixed "$1" >out
	echo $(($(json "sorted(d['keys'][0]['sites'], key=lambda s: (s['kind'], s['state']))[$2]['$3']")))
}

build_operands fixed -pie -fPIE -fuse-ld=bfd
limit=$(place_of limit 0 address)
load=$(place_of limit 0 target)
mask=$(place_of mask 0 address)
direct=$(place_of plain_call 0 address)
trampoline=$(place_of plain_call 2 address)
is 'the test finds the sites in the file' \
	"$(for at in "$limit" "$mask" "$direct" "$trampoline"; do
		od -An -tx1 -j "$at" -N 1 fixed
	done | tr -d '\n')" ' e9 e9 e8 ff'

cp fixed bad
poke bad "$limit" '\xcc'
damaged 'a foreign byte at a value: named with place, kind, name and bytes' \
	'0x[0-9a-f]+ integers\+0x[0-9a-f]+ value limit: not the jump.*; expected e9, found cc( ..){4}$'
run "$dormant" verify --json bad
is 'verify --json: the kind of what is wrong' \
	"$(json '[(f["kind"], f["key"]) for f in d["findings"]]')" "[('value', 'limit')]"
is 'verify --json: the counts' \
	"$(json '[d["objects"][0][n] for n in ("keys", "values", "calls", "sites", "by_trampoline")]')" \
	'[0, 13, 5, 18, 1]'
run "$dormant" show bad limit
ok 'show calls it foreign' ended 0 'int3 +foreign$'

cp fixed bad
poke bad $((limit + 1)) '\x00\x00\x00\x00'
damaged 'a jump to something else than the load' 'value limit: not the jump to the value.s load'
cp fixed bad
poke bad $((load + 2)) '\x00'
damaged 'a load that is another instruction' 'value limit: its load at 0x[0-9a-f]+ does not begin'
cp fixed bad
poke bad $((load + 3)) '\x00\x00\x00\x00'
damaged 'a load of another pointer' 'value limit: its load at 0x[0-9a-f]+ does not begin'
cp fixed bad
poke bad $((mask + 7)) '\x01'
damaged 'bytes in the place of an operand' 'value mask: the place of its operand is not free'
cp fixed bad
poke bad "$trampoline" '\x90'
damaged 'a trampoline that is something else' \
	'call plain_call: not the jump through the static call.s cell; .*expected ff 25, found 90'
cp fixed bad
poke bad $((trampoline + 2)) '\x00\x00\x00\x00'
damaged 'a trampoline through another cell' 'call plain_call: not the jump through'

# A call that was moved is no failure: it is right, and counted.
cp fixed bad
poke bad "$direct" '\x90'
run "$dormant" verify bad
ok 'what is no call of the trampoline counts as by trampoline' ended 0 \
	' 18 sites \(2 by trampoline\): right$'

# ---- damaged entries: the owner, code, name and home of one ----

read -r operands size < <(section fixed dormant_operands)
is 'the test finds the table' $((size % 16)) 0

# entry KIND: offset of the first entry of that kind; a pointer to an owner is 8-byte aligned.
entry() {
	local at

	for ((at = operands; at < operands + size; at += 16)); do
		if (((at + $(od -An -td4 -j "$at" -N 4 fixed)) % 8 == $1)); then
			echo "$at"
			return
		fi
	done
}

value=$(entry 2)
call=$(entry 4)
home=$(entry 6)
cp fixed bad
poke bad $((value + 4)) '\xff\xff\xff\x7f'
damaged 'a site outside the code' 'dormant_operands is damaged: it points outside the object'
run "$dormant" list bad
ok 'list lists the rest, warns and ends with 1' ended 1 'hook_call|verify bad'
cp fixed bad
poke bad "$value" '\xf8\xff\xff\x7f'
damaged 'a pointer to an owner outside the data' 'dormant_operands is damaged: .*(owner|kind)'
cp fixed bad
poke bad $((value + 8)) '\xff\xff\xff\x7f'
damaged 'a name outside the file' 'dormant_operands is damaged: its name is not a terminated string'
cp fixed bad
poke bad $((value + 12)) '\xff\xff\xff\x7f'
damaged 'a load outside the code' 'dormant_operands is damaged: what it goes to by memory'
cp fixed bad
owner=$(od -An -td4 -j "$value" -N 4 fixed)
poke bad "$value" "$(little_endian $((owner + 5)))"
damaged 'a kind that is not defined' 'dormant_operands is damaged: it is of a kind'
cp fixed bad
poke bad "$value" "$(little_endian $((owner - 1)))"
damaged 'a site of another size than its value' 'it reads 2 bytes of a value of 4'
cp fixed bad
poke bad "$value" "$(little_endian $((owner + 1)))"
damaged 'a value of 8 bytes where its operand has no place' 'it reads 8 bytes of a value of 4'
cp fixed bad
poke bad "$value" "$(little_endian $((owner + 3)))"
damaged 'a value that is said to be a trampoline' '(no static call, but a value|not the jump through)'
cp fixed bad
code=$(od -An -td4 -j $((value + 4)) -N 4 fixed)
poke bad $((value + 4)) "$(little_endian $((code + 4)))"
damaged 'a site that lies in two quadwords' 'does not lie in one quadword'
# goes_to ENTRY: where its last word points to.
goes_to() {
	echo $(($1 + 12 + $(od -An -td4 -j $(($1 + 12)) -N 4 fixed)))
}

cp fixed bad
next=$((home + 16))
while (((next + $(od -An -td4 -j "$next" -N 4 fixed)) % 8 != 6 || $(goes_to "$next") == $(goes_to "$home"))); do
	next=$((next + 16))
done
# Its HOME becomes one of the next HOME's owner.
other=$(od -An -td4 -j "$next" -N 4 fixed)
poke bad "$home" "$(little_endian $((other + next - home)))"
damaged 'a HOME that belongs to another call' 'dormant_operands is damaged: (two say|nothing names)'
cp fixed bad
owner=$(od -An -td4 -j "$value" -N 4 fixed)
poke bad "$call" "$(little_endian $((value + owner - 2 + 4 - call)))"
damaged 'a call whose owner is a value' 'what it calls is no static call, but a value'

# ---- definitions ----

read -r keys keys_size < <(section fixed dormant_keys)
is 'the test finds the definitions' "$keys_size" 384
# definition NAME: sets $definition to the offset of its entry, told by its flags.
definition=$keys
while [[ $(od -An -tx4 -j $((definition + 20)) -N 4 fixed) != ' 04000100' ]]; do
	definition=$((definition + 24))
done
cp fixed bad
poke bad $((definition + 21)) '\x03'
damaged 'a definition of no kind' 'dormant_keys is damaged: it has flags'
cp fixed bad
poke bad $((definition + 22)) '\x05'
damaged 'a definition of no class' 'dormant_keys is damaged: it has flags'
cp fixed bad
poke bad $((definition + 23)) '\x03'
damaged 'a definition of no size' 'dormant_keys is damaged: it has flags'
cp fixed bad
poke bad $((definition + 16)) '\x02'
damaged 'an array of values' 'dormant_keys is damaged: it is an array of what has none'
cp fixed bad
poke bad $((definition + 20)) '\x00\x00\x00\x00'
damaged 'a value that is defined as a key' 'what it reads is no value, but a key'

# ---- missing tables ----

cp fixed bad
objcopy --remove-section dormant_operands bad
damaged 'a removed table' 'section dormant_operands is missing'
damaged 'a removed table: calls without their trampoline' 'call plain_call: its trampoline has no entry'
strip -s bad
damaged 'a removed table, stripped' 'section dormant_operands is missing'
head -c 50 /dev/zero >short
cp fixed bad
objcopy --update-section dormant_operands=short bad 2>/dev/null
damaged 'a table that is not a whole number of entries' 'not a multiple of 16'

cat >discard.ld <<'LD'
SECTIONS { /DISCARD/ : { *(dormant_operands) } }
INSERT BEFORE .text;
LD
if build_operands bad -fuse-ld=bfd -Wl,-T,discard.ld 2>/dev/null; then
	damaged 'a table that the linker dropped' 'its trampoline has no entry in dormant_operands'
else
	skip 'a table that the linker dropped' 'the linker refuses it'
fi

finish
