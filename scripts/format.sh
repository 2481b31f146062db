#!/bin/sh
# Breaks the lines of C files that are longer than 100 columns, by .clang-format; all other
# lines keep their manual layout.
set -eu

find graph ops autodiff control layers optim session report formats input distributed command tests examples bench -name '*.c' | while read -r file; do
    for _ in 1 2 3; do      # a broken line may leave another one too long
        # Columns, not bytes: continuation bytes of UTF-8 do not count.
        lines=$(LC_ALL=C awk '{ s = $0; gsub(/[\200-\277]/, "", s) }
            length(s) > 100 { printf " -lines=%d:%d", FNR, FNR }' "$file")
        [ -n "$lines" ] || break
        # shellcheck disable=SC2086  # lines is words
        clang-format $lines -i "$file"
    done
done
