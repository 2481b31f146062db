#!/bin/sh
# What a program pays for: its size, what it shows to others, and that it lacks nothing.
#
# 1. Links the first program of README.md and a small network with Adam from libeddy.a, with no
#    options, runs and strips them, and holds their sizes against the bounds below.
# 2. Links a plugin (tests/link/plugin.c) from the archive; it may export its own function alone.
# 3. Links each formula of tests/link/parts.c twice, from the archive, which gives the program
#    only the operations of that formula, and with the shared library, which has all: the plans
#    of the sessions and all bits must be equal.  A difference means that a pass would make an
#    operation that was not linked; ops/weak_ops.h says what to do.
#
# MAP=PREFIX also writes the linker's map of both programs, which begins with what linked what.
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
program 2500000 tests/link/mlp_adam.c

link "$out/plugin.so" tests/link/plugin.c -shared -fPIC "$build/libeddy.a"
nm -D "$out/plugin.so" | grep -q ' T plugin_twice$'
exported=$(nm -D "$out/plugin.so" | awk '$NF ~ /^eddy_/ { n++ } END { print n + 0 }')
printf 'size: a plugin shows %d symbols of the library, at most 0\n' "$exported"
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
    echo "size: $formula runs otherwise in a program that has nothing else:"
    diff "$out/static.txt" "$out/shared.txt" | head -20
    bad=1
done
printf 'size: %d of %d formulas make the same plans and bits alone\n' "$equal" \
    "$(echo "$formulas" | wc -w)"
exit $bad
