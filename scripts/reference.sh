#!/bin/sh
# Writes the reference of operations: a page for each folder of ops/, and index.md, by task and
# by name.
#   sh scripts/reference.sh FOLDER      FOLDER: where to, build/docs/reference
# Fails if ops/calls_by_task.txt omits a call or names one that does not exist.
set -eu

out=$1
mkdir -p "$out"
for folder in ops/*/; do
    folder=$(basename "$folder")
    [ "$folder" != kernels ] || continue
    awk -v mode=docs -v folder="$folder" -f ops/declared.awk -f ops/gen.awk ops/"$folder"/*.c > "$out/$folder.md"
done
# Functions outside these folders read and write graphs.
awk -v mode=docs -v folder=graphs -f ops/declared.awk -f ops/gen.awk ops/*.c > "$out/graphs.md"

awk -v mode=index -f ops/declared.awk -f ops/gen.awk ops/*.c ops/*/*.c | sed 's/\tops\t/\tgraphs\t/' |
    LC_ALL=C sort > "$out/calls"
awk -F '\t' '
    function complain(what) { print "ops/calls_by_task.txt: " what > "/dev/stderr"; bad = 1 }
    # Text between backticks stays; the rest must not read as markup.
    function plain(text,    part, n, i, all) {
        n = split(text, part, "`")
        for (i = 1; i <= n; i++) {
            if (i % 2) gsub(/[*<_|]/, "\\\\&", part[i])
            all = all (i > 1 ? "`" : "") part[i]
        }
        return all
    }
    function link(name) { return "[`" name "`](" folder[name] ".md#" name ")" }
    function print_task(    at, i, n, name, line) {
        if (task == "") return
        at = index(task, ": ")
        n = split(substr(task, at + 2), name, /, */)
        for (i = 1; i <= n; i++) {
            if (!(name[i] in folder)) complain("there is no " name[i])
            told[name[i]]
            line = line (i > 1 ? ", " : "") link(name[i])
        }
        print "- " substr(task, 1, at) " " line
        task = ""
    }
    FILENAME ~ /calls$/ {
        folder[$1] = $2
        order[++calls] = $1
        by_name[calls] = "- [`" $1 "(" $3 ")`](" $2 ".md#" $1 "): " plain($4)
        next
    }
    FNR == 1 {
        gsub(/ /, "\n- ", folders)
        print "# Operations\n\n" calls " calls, by task and then by name. There is one page per folder:\n\n- " folders
    }
    /^#/ { next }
    /^ / { sub(/^ +/, ""); task = task " " $0; next }
    { print_task() }
    /^\[/ { gsub(/[][]/, ""); print "\n## " $0 "\n"; next }
    { task = $0 }
    END {
        print_task()
        print "\n## By name\n"
        for (i = 1; i <= calls; i++) {
            if (!(order[i] in told)) complain("no task for " order[i])
            print by_name[i]
        }
        exit bad
    }' folders="$(cd "$out" && for page in *.md; do
        case $page in index.md | catalog.md) ;; *) printf '[%s](%s) ' "${page%.md}" "$page" ;; esac
    done | sed 's/ $//')" "$out/calls" ops/calls_by_task.txt > "$out/index.md"
rm "$out/calls"
