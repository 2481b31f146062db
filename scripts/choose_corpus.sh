#!/bin/sh
# Chooses the inputs that tests/fuzz/corpus keeps: of the small ones of `make fuzz`, those that reach
# most that no smaller one reaches. Inputs that found a defect have names in words and stay.
#
#   choose_corpus.sh BUILD NUMBER FORMAT...      NUMBER: inputs of each format
set -eu

build=$1 number=$2
shift 2
for format; do
    kept=tests/fuzz/corpus/$format
    work=$build/chosen/$format
    rm -rf "$work"
    mkdir -p "$work/small" "$work/all" "$kept"
    find "$kept" "$build/seeds/$format" "$build/corpus/$format" -type f -size -4097c -size +0c |
        while read -r f; do
            cp "$f" "$work/small/$(sha1sum < "$f" | cut -c 1-12)"
        done
    # Each line FT of the control file is an input and what it is the first to reach.
    "$build/fuzz/$format" -merge=1 -merge_control_file="$work/control" -max_len=4096 \
        "$work/all" "$work/small" > "$work/log" 2>&1
    find "$kept" -type f ! -name '*_*' -exec rm {} +
    awk -v small="$work/small/" 'index($0, small) { path[n++] = $0 }
        $1 == "FT" { print NF - 2, path[$2] }' "$work/control" | sort -rn | head -n "$number" |
        while read -r _ path; do cp "$path" "$kept"; done
    echo "$format: $(find "$kept" -type f | wc -l) inputs, $(cat "$kept"/* | wc -c) bytes"
done
