#!/bin/sh
# Compiles and runs every program in the given Markdown files: each ```c block
# that has a main.  The README's first one is examples/linear_regression.c.
set -eu

build=${BUILD:-build}
out=$build/docs
rm -rf "$out"
mkdir -p "$out"

awk -v out="$out" '
    FNR == 1 { name = FILENAME; gsub(/[\/.]/, "_", name); n = 0; inside = 0 }
    /^```c$/ { inside = 1; text = ""; line = FNR; next }
    /^```$/ && inside {
        inside = 0
        if (text ~ /int main\(/) {
            file = sprintf("%s/%s_%d.c", out, name, ++n)
            printf "%s", text > file
            close(file)
            printf "%s %s:%d\n", file, FILENAME, line
        }
    }
    inside { text = text $0 "\n" }
' "$@" > "$out/list"

while read -r file where; do
    program=${file%.c}
    # shellcheck disable=SC2086  # CC and LIBS are words
    ${CC:-cc} -std=c11 -Wall -Wextra -Ibuild/include "$file" "$build/libeddy.a" -o "$program" $LIBS ||
        { echo "$where: does not compile" >&2; exit 1; }
    "$program" > "$program.out" 2>&1 </dev/null ||
        { cat "$program.out"; echo "$where: fails" >&2; exit 1; }
done < "$out/list"

first=$out/README_md_1.c
if [ -f "$first" ] && ! cmp -s "$first" examples/linear_regression.c; then
    echo "README.md: its program is not examples/linear_regression.c" >&2
    exit 1
fi
echo "docs: $(wc -l < "$out/list") programs ok"
