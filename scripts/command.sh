#!/bin/sh
# Runs the commands in transcripts and compares what they print with what the transcripts say.
#   [BUILD=build] [EDDY_WRITE_GOLDEN=1] sh scripts/command.sh FILE...
#
# A transcript is a text, or the blocks ```console of a page: a line "$ COMMAND", then what it
# prints, errors included, and "[N]" for an exit status N other than 0. Other lines of a text begin
# with #. In a page, "..." after a command stands for any answer of a command that succeeds. The commands of
# a file run in one empty folder, which has links to data, docs, examples and tests. A file whose first line
# is "# needs PROGRAM" is skipped without it. With EDDY_WRITE_GOLDEN, the transcripts are written again. Then
# checks that the manual has a page for each command with all of its options.
set -eu

root=$(pwd)
build=$(realpath "${BUILD:-build}")
PATH=$build:$PATH
export PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

answers() {     # answers COMMAND: what it prints
    status=0
    (cd "$work/folder" && sh -c "$1") </dev/null 2>&1 || status=$?
    [ "$status" = 0 ] || echo "[$status]"
}

# answer LINE: the answer to the last command, before LINE of the page.
answer() {
    [ -n "$command" ] || return 0
    answers "$command" >"$work/answer"
    command=
    if [ "$page$1" = 1... ] && ! tail -n 1 "$work/answer" | grep -q '^\[[0-9]*\]$'; then
        echo ...
    else
        cat "$work/answer"
    fi
}

# The last digits depend on the processor.
digits() { sed 's/\([0-9]\.[0-9]\{4\}\)[0-9]*/\1/g' "$1"; }

for file in "$@"; do
    rm -rf "$work/folder"
    mkdir "$work/folder"
    ln -s "$root/data" "$root/docs" "$root/examples" "$root/tests" "$work/folder"
    need=$(sed -n '1s/^# needs //p' "$file")
    if [ -n "$need" ] && ! command -v "$need" >/dev/null; then
        echo "command: no $need, $file skipped"
        continue
    fi
    command=
    case $file in *.md) page=1 inside=0 ;; *) page=0 inside=1 ;; esac
    while IFS= read -r line; do
        answer "$line"
        case $page$inside$line in
            ?1'$ '*) printf '%s\n' "$line"; command=${line#??} ;;
            01'#'* | ?0*) printf '%s\n' "$line" ;;
            11'```') echo "$line"; inside=0 ;;
        esac
        # shellcheck disable=SC2016  # backticks of Markdown
        [ "$page$inside$line" != '10```console' ] || inside=1
    done <"$file" >"$work/new"
    answer '' >>"$work/new"
    if [ -n "${EDDY_WRITE_GOLDEN:-}" ]; then
        cp "$work/new" "$file"
    elif ! { digits "$file" >"$work/old"; digits "$work/new" | diff "$work/old" -; }; then
        echo "command: the answers differ from $file" >&2
        bad=1
    fi
done

eddy words | while read -r name options; do
    page=docs/man/eddy-$name.1
    [ "$name" != help ] || page=docs/man/eddy.1
    for option in $options; do
        grep -q -e "Fl Fl ${option#--}\b" "$page" || echo "command: $page lacks $option"
    done
done >"$work/missing"
[ ! -s "$work/missing" ] || { cat "$work/missing" >&2; bad=1; }
[ "$bad" = 0 ] || exit 1
echo "command: $# transcripts ok"
