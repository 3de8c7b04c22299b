#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant verify FILE: right files are right, and each kind of damage is found and named.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"

build_library
is_right='8 keys, 5 sites: right'

# ---- right ----

run "$dormant" verify libfixture.so
ok 'a shared object is right' ended 0 ': 1 key, 1 site: right$'

for linker in bfd gold lld mold; do
	if ! has_linker "$linker"; then
		skip "ld.$linker" 'not installed'
		continue
	fi
	for flavour in '-pie -fPIE' '-no-pie -fno-pie' '-pie -fPIE -Wl,--gc-sections -ffunction-sections'; do
		# shellcheck disable=SC2086
		build_program linked $flavour -fuse-ld="$linker"
		run "$dormant" verify linked
		ok "ld.$linker $flavour: right" ended 0 "$is_right"
	done
done
build_program program

# ---- wrong ----

# damaged NAME PATTERN: file `bad` is found wrong with a line that matches, and without a crash.
damaged() {
	run "$dormant" verify bad
	ok "$1" ended 1 "^bad: .*$2"
}

# Offset of trace_key's site in the file: in `program`, code lies at its address.
"$dormant" show --json program trace_key >out
site=$(($(json 'd["keys"][0]["sites"][0]["address"]')))
is 'the test finds the site in the file' "$(od -An -tx1 -j "$site" -N 1 program | tr -d ' ')" a9

cp program bad
poke bad "$site" '\xcc'
damaged 'a foreign byte: named with place, key and bytes' \
	'0x[0-9a-f]+ work[^ ]*\+0x[0-9a-f]+ key trace_key: .*; expected a9 or e9, found cc$'
run "$dormant" verify --json bad
is 'verify --json is JSON with the finding' \
	"$(json '[(f["key"], f["expected"], f["found"]) for f in d["findings"]], d["right"]')" \
	"([('trace_key', 'a9 or e9', 'cc')], False)"
run "$dormant" show bad trace_key
ok 'show calls it foreign' ended 0 'int3 +foreign$'

cp program bad
poke bad "$site" '\xe9'
damaged 'the other legal byte' 'key trace_key: .*other instruction.*; expected a9, found e9$'

cp program bad
poke bad $((site + 1)) '\xff\xff\xff\x7f'
damaged 'a jump out of the code' 'key trace_key: it would jump to 0x[0-9a-f]+, which is not code'

read -r table table_size < <(section program dormant_sites)
is 'the test finds the table' "$table_size" 60

cp program bad
poke bad "$table" '\xff\xff\xff\x7f'
damaged 'a site outside the code' 'dormant_sites is damaged: it points outside the object'
run "$dormant" list bad
ok 'list lists the rest, warns and ends with 1' ended 1 'trace_key|verify bad'

cp program bad
poke bad $((table + 4)) '\xff\xff\xff\x7f'
damaged 'a key pointer outside the data' 'dormant_sites is damaged: .*(flags|key pointer)'

cp program bad
poke bad $((table + 8)) '\xff\xff\xff\x7f'
damaged 'a name outside the file' 'dormant_sites is damaged: its name is not a terminated string'

# The first entry gets the site of the second, which belongs to another key.
second=$(($(od -An -td4 -j $((table + 12)) -N 4 program) + 12))
cp program bad
poke bad "$table" "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((second & 255)) \
	$((second >> 8 & 255)) $((second >> 16 & 255)) $((second >> 24 & 255)))"
damaged 'two keys with one site' 'two keys share this site'
second=$((second + 1))
poke bad "$table" "$(printf '\\x%02x' $((second & 255)))"
damaged 'sites that overlap' 'overlaps the site before it'

read -r keys keys_size < <(section program dormant_keys)
is 'the test finds the keys' "$keys_size" 72
cp program bad
case $(od -An -tx1 -j $((keys + 20)) -N 1 program) in
' 00') poke bad $((keys + 20)) '\x01' ;;
*) poke bad $((keys + 20)) '\x00' ;;
esac
damaged 'a default that is not the memory' 'key (trace_key|quiet_key|level.*): the key is defined as'
cp program bad
poke bad $((keys + 20)) '\x08'
damaged 'flags that are not defined' 'dormant_keys is damaged: it has flags'
cp program bad
poke bad $((keys + 16)) '\xff\xff\xff\xff'
damaged 'an array longer than the data' 'dormant_keys is damaged: its key is not in writable memory'

# The relocation of a key pointer becomes R_X86_64_NONE.
read -r rela _ < <(section program '\.rela\.dyn')
"$dormant" list --json program >out
address=$(json '[k["address"] for k in d["keys"] if k["name"] == "quiet_key"][0]')
index=$(readelf -rW program | sed -n '/rela.dyn/,/^$/p' | grep '^[0-9a-f]\{16\}' |
	grep -n "RELATIVE *${address#0x}\$" | head -n 1 | cut -d: -f1)
cp program bad
poke bad $((rela + (index - 1) * 24 + 8)) '\0'
damaged 'a pointer without its relocation' '(has no relocation|points to no key)'

# ---- missing tables ----

cp program bad
objcopy --remove-section dormant_sites bad
damaged 'a removed table' 'section dormant_sites is missing'
strip -s bad
damaged 'a removed table, stripped' 'section dormant_sites is missing'
run "$dormant" list bad
ok 'list of it does not end with 0' ended 1 "tables are damaged"

head -c 50 /dev/zero >short
cp program bad
objcopy --update-section dormant_sites=short bad 2>/dev/null
damaged 'a table that is not a whole number of entries' 'not a multiple of 12'

cat >discard.ld <<'LD'
SECTIONS { /DISCARD/ : { *(dormant_sites) } }
INSERT BEFORE .text;
LD
if build_program bad -fuse-ld=bfd -Wl,-T,discard.ld 2>/dev/null; then
	damaged 'a table that the linker dropped' 'the file has none'
else
	skip 'a table that the linker dropped' 'the linker refuses it'
fi

# ---- keys without sites are no failure ----

echo '#include <dormant/static_key.h>
DEFINE_STATIC_KEY_FALSE(lonely_key);' >lonely.c
build lonely.so -fPIC -shared lonely.c
run "$dormant" verify lonely.so
ok 'keys whose sites are elsewhere are right' ended 0 '1 key, 0 sites: right'

finish
