#!/bin/sh
# Checks that folder_order.sh fails for a call and for an include that go up: it plants one of each
# in a tree of two files.
set -eu

check=$PWD/scripts/folder_order.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$tree"
for folder in graph ops autodiff control layers optim session report formats input distributed command build/gen; do
    mkdir -p $folder build/obj/$folder
done
echo 'void high(void); void high(void) { }' >session/high.c
echo 'void high(void);' >session/high.h

# Fails unless the order of the file graph/low.c is refused with "(WHAT)" (or accepted, for "ok").
expect() {
    printf '%s\n' "$2" >graph/low.c
    for f in graph/low session/high; do ${CC:-cc} -I. -c "$f.c" -o "build/obj/$f.o"; done
    if sh "$check" build/obj >said; then answer=ok; else answer=$(sed -n 's/.*(\(.*\))$/\1/p' said); fi
    [ "$answer" = "$1" ] || { echo "folder order: $1 expected for '$2', not: $(cat said)"; exit 1; }
}
expect ok 'void low(void); void low(void) { }'
expect high 'void high(void); void low(void); void low(void) { high(); }'
expect include '#include "session/high.h"'
