#!/bin/sh
# Size of static programs, exported symbols and completeness.
#
# 1. Links the first program of README.md and a small network with Adam from libeddy.a, without
#    options, runs and strips them, and compares their sizes with the bounds below.
# 2. Links a plugin (tests/link/plugin.c) from the archive; it may export only its own function.
# 3. Links each formula of tests/link/parts.c twice, from the archive, which gives the program
#    only the operations of that formula, and with the shared library, which has all: the plans
#    of the sessions and all bits must be equal.  A difference means that a pass needs an
#    operation that was not linked; ops/weak_ops.h explains what to do.
#
# MAP=PREFIX also writes the linker's map of both programs, which begins with the reason why
# each object was linked.
set -eu

cc=${CC:-cc}
build=${BUILD:-build}
libs=${LIBS:--lopenblas -lyaml -lm -pthread}
out=$build/size
formulas=$(sed -n 's/^FORMULA \([a-z_]*\)(.*/\1/p' tests/link/parts.c)
bad=0
equal=0
mkdir -p "$out"

link() {      # link OUTPUT SOURCE OPTIONS...
    output=$1 source=$2
    shift 2
    # shellcheck disable=SC2086  # compilers, flags and libraries are words
    $cc -std=c11 -O1 -Ibuild/include "$source" "$@" ${LDFLAGS:-} $libs -o "$output"
}

program() {   # program BYTES SOURCE
    name=$(basename "$2" .c)
    link "$out/$name" "$2" "$build/libeddy.a" ${MAP:+-Wl,-Map="$MAP.$name"}
    "$out/$name" > "$out/$name.out"
    strip "$out/$name"
    bytes=$(wc -c < "$out/$name")
    printf 'size: %-18s %8d bytes, at most %d\n' "$name" "$bytes" "$1"
    [ "$bytes" -le "$1" ] || bad=1
}

program 1500000 examples/linear_regression.c
program 2520000 tests/link/mlp_adam.c

link "$out/plugin.so" tests/link/plugin.c -shared -fPIC "$build/libeddy.a"
nm -D "$out/plugin.so" | grep -q ' T plugin_twice$'
exported=$(nm -D "$out/plugin.so" | awk '$NF ~ /^eddy_/ { n++ } END { print n + 0 }')
printf 'size: a plugin exports %d symbols of the library, at most 0\n' "$exported"
[ "$exported" -eq 0 ] || bad=1

for formula in $formulas; do
    link "$out/static" tests/link/parts.c -DPART="$formula" "$build/libeddy.a"
    link "$out/shared" tests/link/parts.c -DPART="$formula" "$build/libeddy.so" \
        -Wl,-rpath,"$(cd "$build" && pwd)"
    "$out/static" > "$out/static.txt"
    "$out/shared" > "$out/shared.txt"
    if cmp -s "$out/static.txt" "$out/shared.txt"; then
        equal=$((equal + 1))
        continue
    fi
    echo "size: $formula gives another plan or other bits when linked alone:"
    diff "$out/static.txt" "$out/shared.txt" | head -20
    bad=1
done
printf 'size: %d of %d formulas give the same plans and bits when linked alone\n' "$equal" \
    "$(echo "$formulas" | wc -w)"
exit $bad
