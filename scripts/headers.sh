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
    try c gcc -std=c11
    try c clang -std=c11
    try c++ "${CXX:-c++}" -std=c++17
    try c++ "${CXX:-c++}" -std=c++20
done
for standard in c++17 c++20; do
    command -v "${CXX:-c++}" >/dev/null || break
    program=$build/cplusplus-$standard
    # The macros leave options out, and g++ knows no way of saying so.
    # shellcheck disable=SC2086  # flags are words
    "${CXX:-c++}" -std=$standard $warn -Wno-missing-field-initializers ${CFLAGS:-} ${LDFLAGS:-} \
        tests/examples/cplusplus.cpp "$build/libeddy.a" ${LIBS:-} -o "$program"
    "$program"
    count=$((count + 1))
done
echo "headers: $count compilations ok"
