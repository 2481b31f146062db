#!/bin/sh
# Processor seconds for compiling the libraries, and the files that take longest.
#   sh scripts/compile_times.sh [COUNT]      the COUNT slowest, default 25; bound: 110 for libeddy
#
# A busy machine inflates the figures.  CC may be set, but not to a compiler cache.
set -eu

if [ "${1:-}" = -compile ]; then      # -compile COMPILER ARGUMENTS...: as a compiler, for make
    shift
    for source; do case $source in *.c) break ;; esac; done
    case $source in *.c) ;; *) exec "$@" ;; esac      # it links
    "$@"
    times > "$TIMES.$$"               # not in a pipe: that would be another process
    awk -v file="$source" 'FNR == 2 {
        gsub(/[ms]/, " "); print $1 * 60 + $2 + $3 * 60 + $4, file }' "$TIMES.$$" >> "$TIMES"
    exit
fi

count=${1:-25}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TIMES="$folder/times"
make --no-print-directory BUILD="$folder/build" CC="sh scripts/compile_times.sh -compile ${CC:-cc}" \
    lib > "$folder/log" 2>&1 || { tail -n 20 "$folder/log" >&2; exit 1; }
sort -rn "$TIMES" | head -n "$count" | awk '{ printf "%7.2f  %s\n", $1, $2 }'
awk '{ name = $2 ~ /^(formats|input)\// ? "libeddy_" substr($2, 1, index($2, "/") - 1) : "libeddy"
       time[name] += $1; files[name]++ }
    END { for (name in time) printf "%7.2f  %s, of %d files\n", time[name], name, files[name]
          exit time["libeddy"] > 110 }' "$TIMES"
