#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# dormant doctor: every writer, core sync and the counters, and what follows, as text and JSON.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=fixtures.bash
source "$(dirname "$0")/fixtures.bash"

run "$dormant" doctor
ok 'tells of each writer' grep -qE '^writer +proc_mem +(yes|no)' out
ok 'tells of another writer' grep -qE '^writer +mprotect +(yes|no)' out
ok 'tells of core syncs' grep -qE '^core sync +membarrier +(yes|no)' out
ok 'tells of counters' grep -qE '^counters +hardware +(yes|no)' out
ok 'says in words what follows' grep -qE '^(Keys are switched by|No key can be switched)' out
ok 'says in words how things are counted' grep -qE 'counters|counted' out

if grep -qE '^writer.* yes ' out && grep -qE '^core sync.* yes ' out; then
	is 'ends with 0 where keys can be switched' "$status" 0
else
	is 'ends with 1 where no key can be switched' "$status" 1
fi

run "$dormant" doctor --json
is '--json is JSON with the same writers' \
	"$(json 'sorted(w["name"] for w in d["writers"])[:2]')" "['mprotect', 'proc_mem']"
is '--json has at most one writer in use' \
	"$(json 'sum(w["chosen"] for w in d["writers"]) <= 1')" True
is '--json says why something does not work' \
	"$(json 'all(w["works"] == (w["error"] is None) for w in d["writers"] + d["core_syncs"])')" True
is '--json has the sentences' "$(json 'len(d["follows"]) >= 3')" True

# The library's own switch: only the writer named is used, and one that does not exist leaves none.
run env DORMANT_WRITER=mprotect "$dormant" doctor --json
is 'follows DORMANT_WRITER' \
	"$(json '[w["name"] for w in d["writers"] if w["chosen"]]')" "['mprotect']"
ok 'says what changes values and calls' grep -q 'threads are changed by mprotect' out
run env DORMANT_WRITER=proc_mem "$dormant" doctor --json
is 'one writer changes a byte at a time only' \
	"$(json '[w["whole"] for w in d["writers"] if w["chosen"]]')" '[False]'
ok 'then values and calls go by memory' grep -q 'Values are loaded from memory' out
run env DORMANT_WRITER=none "$dormant" doctor
is 'a DORMANT_WRITER that is none leaves no key to switch: ends with 1' "$status" 1
ok 'and says that it is the cause' grep -q 'DORMANT_WRITER names a writer' out

finish
