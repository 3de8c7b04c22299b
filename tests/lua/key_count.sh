#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs key_count.c: the key's count is the number of states that have a hook.
#
# usage: key_count.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

build_program patched key_count
timeout 60 "$scratch/patched-key_count" "$root"/tests/lua/hooks/*.lua
