#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs signals.c: 1,000 SIGINTs while hooks are switched on and off.
#
# usage: signals.sh ROOT BUILD
. "$(dirname "$0")/with_lua.sh"

build_program patched signals
timeout 120 "$scratch/patched-signals"
