#!/bin/sh
# Compiles each public header alone, as a user includes it: in C11 with gcc and
# clang, in C++17 and C++20.  A compiler that is not there is passed over.
set -eu

warn="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -Ibuild/include"
count=0

try() {       # try LANGUAGE COMPILER FLAGS...
    language=$1
    command -v "$2" >/dev/null || return 0
    shift
    # shellcheck disable=SC2086  # flags are words
    printf '#include <eddy/%s>\n' "$header" | "$@" $warn -x "$language" -
    count=$((count + 1))
}

for header in "$@"; do
    try c gcc -std=c11
    try c clang -std=c11
    try c++ "${CXX:-c++}" -std=c++17
    try c++ "${CXX:-c++}" -std=c++20
done
echo "headers: $count compilations ok"
