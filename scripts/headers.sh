#!/bin/sh
# Compiles each public header alone, as a user includes it: in C11 with gcc and
# clang, in C++17 and C++20.  A compiler that is not there is passed over.  Then
# runs a program in C++ that uses what they offer to it.
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

# A number in place of a tensor does not compile, and the message says what to write.
for compiler in "gcc -std=c11 -x c" "clang -std=c11 -x c" "${CXX:-c++} -std=c++11 -x c++"; do
    command -v "${compiler%% *}" >/dev/null || continue
    # shellcheck disable=SC2086  # flags are words
    if printf '#include <eddy/eddy.h>\nvoid f(eddy_graph *g) { eddy_adam(g, 0.001); }\n' |
        $compiler -Ibuild/include -fsyntax-only - 2> "$build/headers.err"; then
        echo "headers: eddy_adam(g, 0.001) compiles" >&2
        exit 1
    fi
    grep -q eddy_write_eddy_scalar_ "$build/headers.err" || { cat "$build/headers.err"; exit 1; }
    count=$((count + 1))
done
echo "headers: $count compilations ok"
