# SPDX-License-Identifier: MIT
# One running program at a time, driven by lines. Sourced after fixtures.bash; sets $pid and $answer.
# shellcheck shell=bash disable=SC2034,SC2154

pid=''
stop() {
	[[ -n $pid ]] || return 0
	exec 3>&- 4<&-
	kill "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
	pid=''
}
trap 'stop; rm -rf "$scratch"' EXIT

# start COMMAND...: its commands go to descriptor 3, its answers come from 4.
start() {
	stop
	rm -f to from
	mkfifo -m 666 to from
	"$@" <to >from &
	pid=$!
	exec 3>to 4<from
	read -r _ <&4
}

# tell COMMAND: sets $answer.
tell() {
	echo "$1" >&3
	read -r answer <&4
}

# verified NAME STATUS PATTERN: of the running program.
verified() {
	run "$dormant" verify "$pid"
	ok "$1" ended "$2" "$3"
}
