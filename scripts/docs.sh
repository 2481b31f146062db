#!/bin/sh
# Checks the given Markdown files against the library.
#   ```c with a main         must compile, run and end with success; the README's first
#                            program must be examples/linear_regression.c
#   ```text output           must be the output of the program above it
#   ```LANGUAGE file=PATH    must stand in that file, line by line, whatever its indentation
#   ```diff                  must apply to the file that it names
#   a word eddy_name         must be declared in a public header; in docs/inside/, in any
#                            header; eddy_name_* is the beginning of such names, and
#                            eddy_NAME is one of the reader's own
#   Absent: `name` ...       up to a blank line: there must be no eddy_name
set -eu

build=${BUILD:-build}
out=$build/docs/programs
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
    /^```text output$/ { want = file; sub(/c$/, "want", want); next }
    /^```$/ && want != "" { close(want); want = "" }
    want != "" { print > want }
' "$@" > "$out/list"

# Compiled as many at a time as there are processors, and run one after the other: some write files.
cat > "$out/compile.sh" <<'END'
build=$1 libraries=$2 file=$3 where=$4
# shellcheck disable=SC2086  # CC and the libraries are words
${CC:-cc} -std=c11 -Wall -Wextra -Ibuild/include "$file" "$build/libeddy_distributed.a" "$build/libeddy_input.a" "$build/libeddy_formats.a" "$build/libeddy.a" -o "${file%.c}" $libraries ||
    { echo "$where: does not compile" >&2; exit 1; }
END
export CC
[ ! -s "$out/list" ] || xargs -n 2 -P "$(nproc)" sh "$out/compile.sh" "$build" "$LIBS" < "$out/list"
while read -r file where; do
    program=${file%.c}
    "$program" > "$program.out" 2>&1 </dev/null ||
        { cat "$program.out"; echo "$where: fails" >&2; exit 1; }
    [ ! -f "$program.want" ] || diff "$program.want" "$program.out" ||
        { echo "$where: prints other output" >&2; exit 1; }
done < "$out/list"

first=$out/README_md_1.c
if [ -f "$first" ] && ! cmp -s "$first" examples/linear_regression.c; then
    echo "README.md: its program is not examples/linear_regression.c" >&2
    exit 1
fi

here=$(dirname "$0")
sh "$here/excerpts.sh" "$@"
echo "docs: $(wc -l < "$out/list") programs ok"

# The lines that a hunk keeps or removes must stand together in the file.
awk '
    function stands(    n, i, k, s, source) {
        while ((getline s < path) > 0) source[++n] = s
        close(path)
        for (i = 1; i + count - 1 <= n; i++) {
            for (k = 0; k < count && source[i + k] == old[k + 1]; k++) continue
            if (k == count) return 1
        }
        return 0
    }
    function end_hunk() {
        if (count > 0 && !stands()) {
            printf "%s:%d: this change does not apply to %s\n", FILENAME, line, path
            bad = 1
        }
        count = 0
    }
    /^```diff$/ { inside = 1; count = 0; next }
    inside && /^```$/ { end_hunk(); inside = 0 }
    inside && /^--- / { path = $2; next }
    inside && /^@@ / { end_hunk(); line = FNR; hunks++; next }
    inside && /^[- ]/ { old[++count] = substr($0, 2) }
    END { printf "docs: %d hunks of changes%s\n", hunks, bad ? "" : " ok"; exit bad }
' "$@"

names() { grep -o 'eddy_[a-z0-9_]*' | sort -u; }
# A program can use the names that remain in the headers after preprocessing, and the macros.
printf '#include <eddy/%s>\n' eddy.h formats.h input.h distributed.h distributed/mpi/mpi_ranks.h graph/op.h ops/short_names.h |
    ${CC:-cc} -std=c11 -Ibuild/include -E -dD -x c - | names > "$out/public"
find graph ops autodiff control layers optim session report formats input distributed -name "*.h" -exec cat {} + |
    grep -v '^ *\(/\*\|\*\)' | names > "$out/inside"

awk '
    FILENAME ~ /\/public$/ { public[$0]; next }
    FILENAME ~ /\/inside$/ { inside[$0]; next }
    function begins(word,    name) {
        for (name in public) if (index(name, word) == 1) return 1
        return 0
    }
    function known(word, next_letter) {
        if (word in public || (pages_inside && word in inside)) return 1
        return (word ~ /_$/ || next_letter == "*") && begins(word)
    }
    FNR == 1 { quoted = absent = 0; pages_inside = FILENAME ~ /^docs\/inside\// }
    /^Absent: / { absent = 1 }
    /^$/ { absent = 0 }
    absent {
        for (rest = $0; match(rest, /`[a-z0-9_]+`/); rest = substr(rest, RSTART + RLENGTH)) {
            word = "eddy_" substr(rest, RSTART + 1, RLENGTH - 2)
            if (word ~ /^eddy_eddy_/ || !(word in public)) continue
            printf "%s:%d: listed as absent, but exists: %s\n", FILENAME, FNR, word
            bad = 1
        }
    }
    /^ *```[a-z]* file=/ { quoted = 1 }
    /^ *```$/ { quoted = 0 }
    !quoted {
        for (rest = $0; match(rest, /eddy_[a-z0-9_]+/); rest = substr(rest, RSTART + RLENGTH)) {
            word = substr(rest, RSTART, RLENGTH)
            words++
            if (known(word, substr(rest, RSTART + RLENGTH, 1))) continue
            printf "%s:%d: no public header declares %s\n", FILENAME, FNR, word
            bad = 1
        }
    }
    END { printf "docs: %d names%s\n", words, bad ? "" : " ok"; exit bad }
' "$out/public" "$out/inside" "$@"
