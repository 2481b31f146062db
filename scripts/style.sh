#!/bin/sh
# What a machine can say about the sources: sizes, layout, left-over marks.
# Prints each finding; fails if there is one.
set -u

bad=0
say() {       # say TITLE TEXT
    [ -n "$2" ] || return 0
    printf 'style: %s (%d)\n' "$1" "$(printf '%s\n' "$2" | wc -l)"
    printf '%s\n' "$2" | head -20
    bad=1
}
sources() { find graph ops autodiff control layers optim session -name '*.[ch]' | sort; }
all() { { sources; find tests examples bench -name '*.[ch]' | sort; echo eddy.h; }; }

say 'more than 600 lines' "$(sources | grep -v '^ops/ops.h$\|^graph/defaults.h$' | xargs wc -l | awk '$2 != "total" && $1 > 600')"
# Columns, not bytes: continuation bytes of UTF-8 do not count.  Headers hold
# tables of declarations, laid out by hand.
say 'more than 100 columns (140 in headers)' "$(all | grep -v '^ops/ops.h$\|^graph/defaults.h$' | while read -r f; do
    LC_ALL=C awk -v f="$f" -v most="$(case $f in *.h) echo 140 ;; *) echo 100 ;; esac)" \
        '{ s = $0; gsub(/[\200-\277]/, "", s) } length(s) > most { print f ":" FNR }' "$f"
done)"
say 'tab, blank at the end of a line' "$(all | xargs grep -nE '	|[ ]+$')"
mark='TO''DO|FIX''ME|XX''X'
say 'left-over marks' "$(all | xargs grep -nE "$mark")"
say 'paths of one machine' "$(find . \( -name .git -o -name build \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.md' -o -name '*.sh' -o -name Makefile -o -path './.ci/*' \) -exec grep -nHE '(^|[^a-zA-Z0-9_.-])/(work|home|root)/' {} +)"

if command -v shellcheck >/dev/null; then
    say 'shellcheck' "$(shellcheck scripts/*.sh .ci/run)"
else
    echo 'style: shellcheck is not installed, scripts not checked'
fi
exit $bad
