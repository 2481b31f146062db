#!/bin/sh
# excerpts.sh PAGE ... -- checks that each ```LANGUAGE file=PATH of these Markdown files stands in the
# file at PATH, line by line, whatever its indentation.
awk '
    function lead(s) { match(s, /^ */); return RLENGTH }
    function same(s, e, shift) {
        if (s ~ /^ *$/ || e ~ /^ *$/) return s ~ /^ *$/ && e ~ /^ *$/
        return lead(s) == lead(e) + shift && substr(s, lead(s) + 1) == substr(e, lead(e) + 1)
    }
    function stands(    n, i, k, s, source, got) {
        while ((got = (getline s < path)) > 0) source[++n] = s
        close(path)
        if (got < 0 && path ~ /^ops\/[a-z]*\.h$/) return 1    # generated, and not built yet
        for (i = 1; count > 0 && i + count - 1 <= n; i++) {
            for (k = 0; k < count; k++)
                if (!same(source[i + k], excerpt[k + 1], lead(source[i]) - lead(excerpt[1]))) break
            if (k == count) return 1
        }
        return 0
    }
    FNR == 1 { path = "" }
    /^ *```[a-z]* file=/ { path = $0; sub(/.*file=/, "", path); count = 0; line = FNR; next }
    /^ *```$/ && path != "" {
        excerpts++
        if (!stands()) {
            printf "%s:%d: this is not in %s\n", FILENAME, line, path
            bad = 1
        }
        path = ""
    }
    path != "" { excerpt[++count] = $0 }
    END { printf "docs: %d excerpts%s\n", excerpts, bad ? "" : " ok"; exit bad }
' "$@"
