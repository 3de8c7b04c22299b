#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/debian-source: what it says when it can not, that it needs no network twice, and that it
# leaves the machine's apt as it was.
#
# usage: debian_source.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

get=$root/scripts/debian-source
kept=${DORMANT_SOURCE_CACHE:-$root/build/debian-source}

# An apt-get that knows the machine's repositories and reaches none of them.
mkdir "$scratch/offline"
cat >"$scratch/offline/apt-get" <<END
#!/bin/sh
[ "\$1" != indextargets ] || exec $(command -v apt-get) "\$@"
echo 'E: there is no network' >&2
exit 100
END
chmod +x "$scratch/offline/apt-get"

# Runs the script offline with a cache: one line that has TEXT, and STATUS: fails CACHE STATUS TEXT ARGUMENT...
fails()
{
	local cache=$1 expected=$2 text=$3 status=0
	shift 3
	DORMANT_SOURCE_CACHE=$cache PATH=$scratch/offline:$PATH "$get" "$@" >"$scratch/output" 2>&1 ||
		status=$?
	cat "$scratch/output"
	[[ $status -eq $expected && $(wc -l <"$scratch/output") -eq 1 ]] &&
		grep -qF -e "$text" "$scratch/output"
}

works_offline()
{
	DORMANT_SOURCE_CACHE=$kept PATH=$scratch/offline:$PATH \
		"$get" lua5.3 5.3.6-2 "$scratch/again" && diff -r "$lua/source" "$scratch/again"
}

# No folder of a download that did not succeed, and no destination.
left_nothing()
{
	[[ -z $(find "$scratch/empty" -mindepth 1 ! -name .lock) && ! -e $scratch/none ]]
}

damaged_is_named()
{
	cp -r "$kept" "$scratch/damaged"
	truncate -s -1 "$scratch"/damaged/lua5.3_5.3.6-2/*.orig.tar.gz
	fails "$scratch/damaged" 1 'lua5.3_5.3.6-2 is damaged' lua5.3 5.3.6-2 "$scratch/none"
}

# Everything of apt's that a download could have touched, with its times.
apt_state()
{
	find /etc/apt /var/lib/apt /var/cache/apt -printf '%p %s %T@ %C@\n' | sort
}

# A download into an empty cache, with the state of apt before and after it.
download()
{
	apt_state >"$scratch/apt.before"
	DORMANT_SOURCE_CACHE=$scratch/fresh "$get" lua5.3 5.3.6-2 "$scratch/fresh/source" \
		2>"$scratch/reason" || return
	apt_state >"$scratch/apt.after"
}

same_and_apt_alone()
{
	diff -r "$lua/source" "$scratch/fresh/source" && diff "$scratch"/apt.{before,after}
}

plan 7
check 'wrong usage' fails "$scratch/empty" 2 'usage:' lua5.3
check 'no network: the reason, in one line' \
	fails "$scratch/empty" 1 'can not download lua5.3 5.3.6-2: there is no network' \
	lua5.3 5.3.6-2 "$scratch/none"
check 'and nothing is left of it' left_nothing
check 'a second time needs no network' works_offline
check 'a destination that exists is not written to' \
	fails "$kept" 1 'exists' lua5.3 5.3.6-2 "$scratch/again"
check 'a damaged download is named' damaged_is_named
name="a download leaves the machine's apt as it was"
if download; then
	check "$name" same_and_apt_alone
else
	skip "$name" "no network: $(cat "$scratch/reason")"
fi
finish
