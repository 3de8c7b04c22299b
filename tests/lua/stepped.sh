#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs stepped.c: lua_sethook() from a signal handler at any instruction of lua_sethook().
#
# usage: stepped.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

build_program patched stepped
timeout 120 "$scratch/patched-stepped"
