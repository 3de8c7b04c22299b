#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant list and show: names, kinds, defaults, places and instructions; the same after strip -s and
# with every linker.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"

build_library
build_program program

cat >expected <<'LIST'
KEY              KIND       DEFAULT  SITES
level[0]         element    on           0
level[1]         element    on           0
level[2]         element    on           0
level[3]         element    on           1
quiet_key        key        off          1
settings.member  plain      off          1
shared_key       elsewhere  -            1
trace_key        key        off          1
LIST
run "$dormant" list program
ok 'list names every key with kind, default and number of sites' cmp out expected
is 'list ends with 0' "$status" 0

run "$dormant" list libfixture.so
ok 'list reads a shared object' ended 0 '^shared_key +key +on +1$'

run "$dormant" list --json program
is 'list --json is JSON with all keys' "$(json 'len(d["keys"])')" 8
is 'list --json has kind, default and sites' \
	"$(json '[(k["kind"], k["default"], k["sites"]) for k in d["keys"] if k["name"] == "trace_key"]')" \
	"[('key', False, 1)]"
is 'list --json knows no default and no address of a key elsewhere' \
	"$(json '[(k["default"], k["address"]) for k in d["keys"] if k["kind"] == "elsewhere"]')" \
	'[(None, None)]'

# ---- linkers, and files without symbols ----

for linker in bfd gold lld mold; do
	if ! has_linker "$linker"; then
		skip "ld.$linker" 'not installed'
		continue
	fi
	for flavour in '-pie -fPIE' '-no-pie -fno-pie'; do
			# shellcheck disable=SC2086
		build_program linked $flavour -fuse-ld="$linker"
		run "$dormant" list linked
		ok "ld.$linker $flavour: the same list" cmp out expected
		"$dormant" show linked trace_key | sed 's/  */ /g' | cut -d' ' -f2,5- |
			grep -o 'a9.*' >before
		strip -s linked
		run "$dormant" list linked
		ok "ld.$linker $flavour: the same list after strip -s" cmp out expected
		"$dormant" show linked trace_key | grep -o 'a9.*' | sed 's/  */ /g' >after
		ok "ld.$linker $flavour: the same sites after strip -s" cmp before after
	done
done

cp program bare
if command -v llvm-strip >/dev/null; then
	llvm-strip --strip-sections bare
	run "$dormant" list bare
	ok 'without section headers: the same list' cmp out expected
else
	skip 'without section headers: the same list' 'no llvm-strip'
fi

build_program relr -Wl,-z,pack-relative-relocs
ok 'the packed file has DT_RELR' grep -q RELR <(readelf -d relr)
run "$dormant" list relr
ok 'packed relative relocations: the same list' cmp out expected

# ---- show ----

line=$(grep -n 'line of check' "$here/program.c" | cut -d: -f1)

run "$dormant" show program trace_key
ok 'show tells function, inlined function and line' ended 0 \
	"check \(inlined in work\) +[^ ]*program.c:$line +unlikely"
# shellcheck disable=SC2016 # a literal dollar
ok 'show tells bytes, instruction and state' ended 0 \
	'a9( [0-9a-f]{2}){4} +test \$0x[0-9a-f]+, %eax +falls through'

run "$dormant" show libfixture.so shared_key
ok 'show tells likely' ended 0 'library_work .* likely +a9'

run "$dormant" show --json program 'level[3]'
is 'show --json is JSON with the site' \
	"$(json 'd["keys"][0]["sites"][0]["function"], d["keys"][0]["sites"][0]["branch"]')" \
	"('work', 'likely')"
is 'show --json has five bytes' "$(json 'len(d["keys"][0]["sites"][0]["bytes"].split())')" 5

run "$dormant" show --json program level
is 'the name of an array shows all elements' "$(json 'len(d["keys"])')" 4

cat >twice.c <<'C'
#include <dormant/static_key.h>
static DEFINE_STATIC_KEY_FALSE(same);
int NAME(void) { return static_branch_unlikely(&same); }
C
for name in first second; do
	"${CC:-cc}" -O2 -g -fPIC -I"$include" -DNAME="$name" -c twice.c -o "$name.o"
done
build twice.so -shared first.o second.o
run "$dormant" show --json twice.so same
is 'two keys of one name: both are shown' \
	"$(json 'sorted(k["sites"][0]["function"] for k in d["keys"])')" "['first', 'second']"

if command -v clang >/dev/null; then
	CC=clang build_program clang-program
	run "$dormant" show clang-program trace_key
	ok 'clang: the line is that of the test, not of the header' ended 0 \
		"check \(inlined in work\) +[^ ]*program.c:$line +unlikely"
else
	skip 'clang: the line is that of the test, not of the header' 'no clang'
fi

cat >template.cc <<'CC'
#include <dormant/static_key.h>
namespace inner { DEFINE_STATIC_KEY_FALSE(template_key); }
template <class T> struct holder {
	T get(T x) { return static_branch_unlikely(&inner::template_key) ? x : 2; }
};
int use(int x) { return holder<int>().get(x) + static_cast<int>(holder<long>().get(x)); }
CC
CC="${CXX:-c++}" build template.so -fPIC -shared template.cc
run "$dormant" list template.so
ok 'C++: a key of a namespace, tested in each instance of a template' ended 0 \
	'^template_key +key +off +2$'

cp program stripped
strip -s stripped
run "$dormant" show stripped trace_key
ok 'a stripped file: no function, no line, all else' ended 0 '0x[0-9a-f]+  - +- +unlikely +a9 .*test'

# ---- keys that do not exist ----

refused 'an unknown key: says what to run and what is near' \
	"has no key 'trace_kye' \(is it 'trace_key'\?\); 'dormant list program'" \
	"$dormant" show program trace_kye
refused 'an unknown key, nothing near' "has no key 'zzzzzzzz'; 'dormant list program'" \
	"$dormant" show program zzzzzzzz

finish
