#!/bin/sh
# Counts the instructions of a step of each workload under callgrind and compares them with
# stored counts, which do not depend on the load of the machine.
#
#   [UPDATE=1] sh scripts/instructions.sh PROGRAM COUNTS [NAME...]
#
# valgrind does not support AVX-512, so this measures the AVX2 kernels. Fails if a count has
# grown by more than 3 %. UPDATE=1 stores the new counts.
set -eu

program=$1
kept=$2
shift 2
known='logreg mlp_b128 mlp_small lenet resnet lstm lstm_unrolled lstm_scan gru_ragged cond_loop
       write_lstm write_gpt gpt elementwise_1e6 scalars hvp adam_1e7'
there=" $("$program" | tr '\n' ' ')"
names=${*:-$known}
export OPENBLAS_CORETYPE=Haswell OPENBLAS_NUM_THREADS=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

count() {     # count NAME: a step's, of few examples: valgrind is slow where products are
    steps=1 size=0
    case $1 in
        logreg | mlp_small | scalars) steps=10 ;;
        mlp_b128 | hvp) size=32 ;;
        lenet | resnet | lstm* | gru*) size=2 ;;
        write_*) size=50 ;;
        gpt) size=1 ;;
        *_1e?) size=100000 ;;
    esac
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" --collect-atstart=no \
        --toggle-collect=warm_run "$program" "$1" --warm-up 1 --steps "$steps" --size "$size" \
        >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    awk -v n="$steps" '$1 == "summary:" || $1 == "totals:" { c = $2 } END { printf "%.0f\n", c / n }' \
        "$folder/out"
}

bad=0
: >"$folder/new"
printf '%-16s %14s %14s  %s\n' workload instructions kept change
for name in $names; do
    case $there in *" $name "*) ;; *) continue ;; esac
    now=$(count "$name")
    before=$(sed -n 's/^ *"'"$name"'": *\([0-9]*\),*$/\1/p' "$kept" 2>/dev/null || true)
    echo "$name $now" >>"$folder/new"
    awk -v name="$name" -v now="$now" -v before="${before:-0}" 'BEGIN {
        change = before > 0 ? 100 * (now - before) / before : 0
        printf "%-16s %14d %14d  %+.2f %%%s\n", name, now, before, change,
               (change > 3 ? "  worse" : change < -3 ? "  better" : "")
        exit (change > 3) }' || bad=1
done
if [ "${UPDATE:-}" = 1 ]; then
    # The stored counts, replaced or extended by the new ones.
    { sed -n 's/^ *"\([a-z0-9_]*\)": *\([0-9]*\),*$/\1 \2/p' "$kept" 2>/dev/null || true
      cat "$folder/new"; } |
        awk '!($1 in count) { name[n++] = $1 } { count[$1] = $2 }
             END { print "{"
                   for (i = 0; i < n; i++)
                       printf "  \"%s\": %s%s\n", name[i], count[name[i]], i < n - 1 ? "," : ""
                   print "}" }' >"$folder/kept"
    cp "$folder/kept" "$kept"
    exit 0
fi
exit $bad
