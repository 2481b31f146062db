#!/bin/sh
# Runs the session of docs/guide/seeing.md in gdb and compares what it prints of tensors.
#   sh scripts/gdb.sh PROGRAM       PROGRAM: tests/gdb/debugged.c, compiled with -g
# Without gdb, or where it may not trace a process, nothing is compared.
set -eu

command -v gdb >/dev/null || { echo "gdb: nothing compared: gdb is not installed"; exit 0; }
gdb -nx -batch -ex 'python 1' >/dev/null 2>&1 || { echo "gdb: nothing compared: gdb has no Python"; exit 0; }
said=$(gdb -nx -batch -x tests/gdb/session.txt "$1" 2>&1) || :
case $said in
    *"ould not trace"* | *"ouldn't trace"* | *"Operation not permitted"*)
        echo "gdb: nothing compared: gdb may not trace processes"; exit 0 ;;
esac
printf '%s\n' "$said" | sed -n -e 's/^#[0-9]* *0x[0-9a-f]* in //p' -e '/^\$/p' | diff tests/gdb/expected.txt - ||
    { printf '%s\n' "$said"; echo "gdb: the session prints something else"; exit 1; }
