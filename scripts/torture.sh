#!/bin/sh
# torture.sh -- runs the long tests of reliability, two at a time, and prints a table: what is
# tested, the figure, and whether it passes.
#
#   torture.sh [ROW ...]        only these rows
#
# A row is NAME|BAR|COMMAND. It passes if the command succeeds; its figure is what follows "figure: " in
# the last such line that it prints. Outputs are in $BUILD/torture/NAME.log. FUZZ_SECONDS is the time
# for each format, GRAPHS the number of random graphs, CALLS that of `make hostile`.
set -u
BUILD=${BUILD:-build}
t=$BUILD/torture
seconds=${FUZZ_SECONDS:-60} graphs=${GRAPHS:-20000} calls=${CALLS:-1000000}

rows="
memory|100 000 calls fail for want of memory|$t/memory ${MOST:-600}
faults|5 000 failing calls of file systems|$t/files faults
crashes|10 000 images of crashes|$t/files crashes 60
kills|500 saving processes are killed|$t/files kills 504
resume|200 killed trainings end in the same bits|EDDY_KILLS=200 CK_RUN_SUITE=resume $BUILD/run-tests && echo 'figure: 200 kills'
limits|every published limit, on both sides|CK_RUN_SUITE=limits $BUILD/run-tests && echo 'figure: all limits'
passes|20 000 random graphs, with and without passes|EDDY_GRAPHS=$graphs CK_RUN_SUITE=passes $BUILD/run-tests && echo 'figure: $graphs graphs'
hostile|1 million wrong calls, under sanitizers|make --no-print-directory hostile CALLS=$calls
fuzz|damaged files of 14 formats, under sanitizers|make --no-print-directory fuzz FUZZ_SECONDS=$seconds > $t/fuzz.out 2>&1 && awk -f scripts/torture_fuzz.awk $t/fuzz.out
"

mkdir -p "$t"
export t
# One row: leaves NAME.log and NAME.row. The shells of the rows expand it.
# shellcheck disable=SC2016
run='
name=${1%%|*} rest=${1#*|}
bar=${rest%%|*} command=${rest#*|}
begin=$(date +%s)
if sh -c "set -e; $command" > "$t/$name.log" 2>&1; then result=pass; else result=FAIL; fi
figure=$(sed -n "s/^figure: //p" "$t/$name.log" | tail -n 1)
[ -n "$figure" ] || result=FAIL
printf "%-9s %-46s %-70s %5ss  %s\n" "$name" "$bar" "${figure:-none}" $(($(date +%s) - begin)) \
    $result | tee "$t/$name.row"
'
names=$*
chosen=$(printf '%s\n' "$rows" | while IFS= read -r row; do
    name=${row%%|*}
    [ -n "$row" ] || continue
    if [ -n "$names" ]; then case " $names " in *" $name "*) ;; *) continue ;; esac; fi
    rm -f "$t/$name.row"
    printf '%s\n' "$row"
done)
printf '%s\n' "$chosen" | tr '\n' '\0' | xargs -0 -n 1 -P 2 sh -c "$run" torture > "$t/order.log"
bad=0
printf '%s\n' "$chosen" > "$t/chosen"
while IFS= read -r row; do
    cat "$t/${row%%|*}.row" || bad=1
    grep -q 'FAIL$' "$t/${row%%|*}.row" && bad=1
done < "$t/chosen"
exit $bad
