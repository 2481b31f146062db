#!/bin/sh
# Compiles a program against headers that are older than the library: structs of options have
# fewer members there. The program checks that the other members have their defaults.
set -eu

build=${BUILD:-build}
older=$build/older/eddy
rm -rf "$build/older"
for h in "$@"; do
    mkdir -p "$older/$(dirname "$h")"
    # From these members on, the structs end.
    awk '
        /^typedef struct eddy_(random_normal|adagrad|graph)_args \{/ { inside = 1 }
        inside && /^\}/ { inside = cut = 0 }
        inside && /double +(stddev|initial_accumulator_value)|int64_t +seed/ { cut = 1 }
        !cut' "$h" > "$older/$h"
done
rm "$older/graph/defaults.h"
(cd "$older" && find . -name '*.h') | sed "s|^|$older/|" |
    xargs awk -v mode=defaults -f graph/defaults.awk > "$build/older/defaults.h"
mv "$build/older/defaults.h" "$older/graph/defaults.h"
# shellcheck disable=SC2086  # CC and LIBS are words
${CC:-cc} -std=c11 -Wall -Wextra -Werror -I"$build/older" tests/link/old_headers.c "$build/libeddy.a" \
    ${LDFLAGS:-} ${LIBS:-} -o "$build/older/program"
"$build/older/program"
echo 'headers: an older one ok'
