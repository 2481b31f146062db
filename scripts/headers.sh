#!/bin/sh
# Compiles each public header alone, as a user includes it: in C11 with gcc and clang, in C++17
# and C++20.  A missing compiler is skipped. Then runs a C++ program that uses everything that
# the headers offer to C++.
set -eu

build=${BUILD:-build}
warn="-Wall -Wextra -Wpedantic -Werror -Ibuild/include"
count=0

try() {       # try LANGUAGE COMPILER FLAGS...
    language=$1
    command -v "$2" >/dev/null || return 0
    shift
    # shellcheck disable=SC2086  # flags are words
    printf '#include <eddy/%s>\n' "$header" | "$@" $warn -fsyntax-only -x "$language" -
    count=$((count + 1))
}

for header in "$@"; do
    [ "$header" = graph/defaults.h ] && continue        # macros of graph/options.h
    try c gcc -std=c11
    try c clang -std=c11
    try c++ "${CXX:-c++}" -std=c++11
    try c++ "${CXX:-c++}" -std=c++20
    try c++ clang++ -std=c++14
done
for standard in c++11 c++14 c++17 c++20; do
    command -v "${CXX:-c++}" >/dev/null || break
    program=$build/cplusplus-$standard
    # shellcheck disable=SC2086  # flags are words
    "${CXX:-c++}" -std=$standard $warn ${CFLAGS:-} ${LDFLAGS:-} \
        tests/examples/cplusplus.cpp "$build/libeddy.a" ${LIBS:-} -o "$program"
    "$program"
    count=$((count + 1))
done

# refuse CALL WORD: the call does not compile, and the compiler's message contains the word.
refuse() {
    for compiler in "gcc -std=c11 -x c" "clang -std=c11 -x c" "${CXX:-c++} -std=c++11 -x c++"; do
        command -v "${compiler%% *}" >/dev/null || continue
        # shellcheck disable=SC2086  # flags are words
        if printf '#include <eddy/eddy.h>\nvoid f(eddy_graph *g, eddy_tensor x) { (void)g, (void)x; %s; }\n' "$1" |
            $compiler -Ibuild/include -fsyntax-only - 2> "$build/headers.err"; then
            echo "headers: $1 compiles" >&2
            exit 1
        fi
        grep -q "$2" "$build/headers.err" || { cat "$build/headers.err"; exit 1; }
        count=$((count + 1))
    done
}
refuse 'eddy_adam(g, 0.001)' eddy_write_eddy_scalar_
refuse 'eddy_reshape(x, 3)' eddy_write_EDDY_SHAPE_
refuse 'eddy_reshape(x, EDDY_DIMS(3, 4))' eddy_write_EDDY_SHAPE_
echo "headers: $count compilations ok"
