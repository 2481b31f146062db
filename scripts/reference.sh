#!/bin/sh
# Writes the reference of operations: a page for each room of ops/, and index.md, by task and
# by name.
#   sh scripts/reference.sh FOLDER      FOLDER: where to, build/docs/reference
# Fails when ops/tasks.txt misses a call or has one that does not exist.
set -eu

out=$1
mkdir -p "$out"
for room in ops/*/; do
    room=$(basename "$room")
    [ "$room" != kernels ] || continue
    awk -v mode=docs -v room="$room" -f ops/declared.awk -f ops/gen.awk ops/"$room"/*.c > "$out/$room.md"
done
# What is in no room reads and writes graphs.
awk -v mode=docs -v room=graphs -f ops/declared.awk -f ops/gen.awk ops/*.c > "$out/graphs.md"

awk -v mode=index -f ops/declared.awk -f ops/gen.awk ops/*.c ops/*/*.c | sed 's/\tops\t/\tgraphs\t/' |
    LC_ALL=C sort > "$out/calls"
awk -F '\t' '
    function complain(what) { print "ops/tasks.txt: " what > "/dev/stderr"; bad = 1 }
    # Text between backticks stays; the rest must not read as markup.
    function plain(text,    part, n, i, all) {
        n = split(text, part, "`")
        for (i = 1; i <= n; i++) {
            if (i % 2) gsub(/[*<_|]/, "\\\\&", part[i])
            all = all (i > 1 ? "`" : "") part[i]
        }
        return all
    }
    function link(name) { return "[`" name "`](" room[name] ".md#" name ")" }
    function print_task(    at, i, n, name, line) {
        if (task == "") return
        at = index(task, ": ")
        n = split(substr(task, at + 2), name, /, */)
        for (i = 1; i <= n; i++) {
            if (!(name[i] in room)) complain("there is no " name[i])
            told[name[i]]
            line = line (i > 1 ? ", " : "") link(name[i])
        }
        print "- " substr(task, 1, at) " " line
        task = ""
    }
    FILENAME ~ /calls$/ {
        room[$1] = $2
        order[++calls] = $1
        by_name[calls] = "- [`" $1 "(" $3 ")`](" $2 ".md#" $1 "): " plain($4)
        next
    }
    FNR == 1 { print "# Operations\n\n" calls " calls, first by task, then by name; a page a room: " rooms "." }
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
    }' rooms="$(cd "$out" && for page in *.md; do
        case $page in index.md | catalogue.md) ;; *) printf '[%s](%s) ' "${page%.md}" "$page" ;; esac
    done | sed 's/ $//; s/) /), /g')" "$out/calls" ops/tasks.txt > "$out/index.md"
rm "$out/calls"
