#!/bin/sh
# What a machine can say about the sources: generated files, layers, sizes,
# layout, left-over marks.  Prints each finding; fails if there is one.
set -u

bad=0
say() {       # say TITLE TEXT
    [ -n "$2" ] || return 0
    printf 'style: %s (%d)\n' "$1" "$(printf '%s\n' "$2" | wc -l)"
    printf '%s\n' "$2" | head -20
    bad=1
}
sources() { find graph ops autodiff layers optim session -name '*.[ch]' | sort; }
all() { { sources; find tests examples bench -name '*.[ch]' | sort; echo eddy.h; }; }

# The header and the reference of operations are what gen.awk makes of ops/*.c.
for pair in header:ops/ops.h docs:docs/ops.md; do
    # shellcheck disable=SC2086  # OPSRC is words
    awk -v mode="${pair%%:*}" -f ops/gen.awk ${OPSRC:-ops/*.c} 2>&1 | cmp -s - "${pair#*:}" ||
        say 'stale, run make and commit it' "${pair#*:}"
done

# Data flows one way: graph -> ops -> autodiff -> layers, optim, and graph, ops -> session.
layer() {     # layer FOLDER ALLOWED: an alternation of folders
    find "$1" -name '*.[ch]' -exec grep -nHE '#include "(\.\./)?[a-z]+/' {} + |
        grep -vE "\"(\.\./)?($1|$2)/|\"build/gen/"
}
say 'graph may include only graph' "$(layer graph graph)"
say 'ops may include only graph' "$(layer ops graph)"
# A check of gradients runs them; the session knows nothing of autodiff, so no circle arises.
say 'autodiff may include only graph, ops' "$(layer autodiff 'graph|ops' |
    grep -v '^autodiff/check\.h:.*"\.\./session/session\.h"')"
say 'layers may include only graph, ops, autodiff' "$(layer layers 'graph|ops|autodiff')"
# So does what drives a graph to the least value of its loss.
say 'optim may include only graph, ops, autodiff' "$(layer optim 'graph|ops|autodiff' |
    grep -v '^optim/lbfgs\.h:.*"\.\./session/session\.h"')"
say 'session may include only graph, ops' "$(layer session 'graph|ops')"

say 'more than 600 lines' "$(sources | grep -v '^ops/ops.h$' | xargs wc -l | awk '$2 != "total" && $1 > 600')"
# Columns, not bytes: continuation bytes of UTF-8 do not count.  Headers hold
# tables of declarations, laid out by hand.
say 'more than 100 columns (140 in headers)' "$(all | grep -v '^ops/ops.h$' | while read -r f; do
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
