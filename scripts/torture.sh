#!/bin/sh
# torture.sh -- runs the long tests of reliability, two at a time, and prints a table: what is
# tested, the figure, and whether it passes.
#
#   torture.sh [ROW ...]        only these rows; `long`: those that take longer than all others
#                               together; `all`: every row
#
# A row is NAME|BAR|COMMAND. Its figure is what follows "figure: " in the last such line that it prints.
# It passes if the command succeeds and the figure is not below the number with which BAR begins. Outputs
# are in $BUILD/torture/NAME.log. FUZZ_SECONDS is the time for each format, GRAPHS the number of random
# graphs, GUARDED those under sanitizers, CALLS the number of `make hostile`, MUTANTS that of `make
# mutants`. Rows that build with sanitizers wait for each other. Long rows come first, so that both
# processors have work to the end. Rows with smaller numbers than by default are below their bars and fail.
#
# Long rows repeat all suites under valgrind, clang's and gcc's other sanitizers, other compilers and
# emulators. Rows that did not run are printed below the others, with their last result and its day.
set -u
BUILD=${BUILD:-build}
t=$BUILD/torture
mkdir -p "$t"
seconds=${FUZZ_SECONDS:-60} graphs=${GRAPHS:-20000} calls=${CALLS:-1000000}
guarded=${GUARDED:-2000} mutants=${MUTANTS:-100} make='make --no-print-directory'

rows="
coverage|95 % of lines, 90 % of branches, all of readers|$make cover > $t/cover.out 2>&1 && awk '/^readers/ { all = \$8 } /^total/ { printf \"figure: %s %% of lines, %s %% of branches, %s %% of readers\\n\", \$3, \$6, all; exit \$3 < 95 || \$6 < 90 || all < 100 }' $t/cover.out
mutants|95 % of changes are noticed|flock $t/sanitize.lock $make sanitized-tests > $t/mutants.out 2>&1 && $make mutants MUTANTS=$mutants > $t/mutants.out 2>&1 && sed -n 's/^\([0-9]* mutants: .*\)/figure: \1/p' $t/mutants.out && awk -F'[(%]' '/ mutants: / { exit \$2 < 95 }' $t/mutants.out
passes|20 000 random graphs, with and without passes|EDDY_GRAPHS=$graphs CK_RUN_SUITE=passes $BUILD/run-tests && echo 'figure: $graphs graphs'
guarded|2 000 random graphs, under sanitizers|flock $t/sanitize.lock $make sanitized-tests && EDDY_FIRST=$graphs EDDY_GRAPHS=$guarded CK_RUN_SUITE=passes CK_FORK=no build/sanitize/run-tests && echo 'figure: $guarded graphs'
sanitizers|no report over all suites|CK_EXCLUDE_TAGS=slow flock $t/sanitize.lock $make sanitize > $t/sanitize.out 2>&1 && sed -n 's/^\([0-9]* suites, .*\)/figure: \1/p' $t/sanitize.out
fuzz|damaged files of 15 formats, under sanitizers|$make fuzz FUZZ_SECONDS=$seconds > $t/fuzz.out 2>&1 && awk -f scripts/torture_fuzz.awk $t/fuzz.out
memory|100 000 calls fail for want of memory|$t/memory ${MOST:-300}
cancel|99 % within 5 ms of the processor, all within 20|$make $BUILD/bench/cancel && $BUILD/bench/cancel ${CANCELS:-100} > $t/cancel.out && awk -f scripts/torture_cancel.awk $t/cancel.out
threads|8 threads, 10 000 runs each, ThreadSanitizer|$make threads > $t/threads.out 2>&1 && awk '/ threads, / { n += \$1 * \$3; k++ } END { printf \"figure: %d runs, half of them under ThreadSanitizer\\n\", n; exit k != 2 }' $t/threads.out
hostile|1 000 000 wrong calls, under sanitizers|flock $t/sanitize.lock $make hostile CALLS=$calls
determinism|the same bits in 1000 steps|$make determinism > $t/determinism.out 2>&1 && awk '/the same bits/ { n++ } END { printf \"figure: %d comparisons\\n\", n; exit n == 0 }' $t/determinism.out
faults|5 000 failing calls of file systems|$t/files faults
crashes|10 000 images of crashes|$t/files crashes 60
again|10 000 failures after a crash|$t/files again
kills|500 saving processes are killed|$t/files kills 504
resume|200 killed trainings end in the same bits|EDDY_KILLS=200 CK_RUN_SUITE=resume $BUILD/run-tests && echo 'figure: 200 kills'
train|200 killed runs of eddy train, the same bytes|$make command && sh scripts/kill_training.sh 200
limits|every published limit, on both sides|EDDY_LARGE=1 CK_RUN_SUITE=limits $BUILD/run-tests && echo 'figure: all limits'
known|other systems' failures: 100 ms, 64 MiB|EDDY_TIMED=1 CK_RUN_SUITE=known_failures $BUILD/run-tests > $t/known.out && awk '/ ms / { n++; if (\$2 > most) most = \$2 } END { printf \"figure: %d, at most %.1f ms\\n\", n, most; exit n == 0 }' $t/known.out
"

# The last count of suites and checks in what a command printed, and whether everything was installed.
cat > "$t/suites.awk" <<'EOF'
match($0, /[0-9]+ suites, .*/) { figure = substr($0, RSTART) }
/not installed/ { print; missing = 1 }
END { print "figure: " (figure == "" ? "none" : figure); exit missing || figure == "" }
EOF
suites="awk -f $t/suites.awk"
ported="PORTED_SUITES=all JOBS=1 $make portability PORTABILITY"
long_rows="
valgrind|no report over all suites|JOBS=1 $make valgrind > $t/valgrind.out 2>&1 && $suites $t/valgrind.out
msan|no report over all suites, MemorySanitizer|JOBS=1 $make msan > $t/msan.out 2>&1 && $suites $t/msan.out
tsan|no report over all suites, ThreadSanitizer|JOBS=1 $make tsan > $t/tsan.out 2>&1 && $suites $t/tsan.out
arm64|all suites, emulated|$ported=arm64 > $t/arm64.out 2>&1 && $suites $t/arm64.out
i386|all suites, addresses of 32 bits|$ported=i386 > $t/i386.out 2>&1 && $suites $t/i386.out
musl|all suites, with musl|$ported=musl > $t/musl.out 2>&1 && $suites $t/musl.out
gcc|all suites at -O0, -O2, -O3|$ported='gcc-O0 gcc-O2 gcc-O3' > $t/gcc.out 2>&1 && $suites $t/gcc.out
clang|all suites at -O0, -O2, -O3|$ported='clang-O0 clang-O2 clang-O3' > $t/clang.out 2>&1 && $suites $t/clang.out
cpu|suites of kernels with each instruction set|JOBS=1 $make portability PORTABILITY=cpu > $t/cpu.out 2>&1 && $suites $t/cpu.out
blas|suites of kernels with each BLAS|JOBS=1 $make portability PORTABILITY=blas > $t/blas.out 2>&1 && $suites $t/blas.out
"

export t
# One row: leaves NAME.log and NAME.row. The shells of the rows expand it.
# shellcheck disable=SC2016
run='
name=${1%%|*} rest=${1#*|}
bar=${rest%%|*} command=${rest#*|}
begin=$(date +%s)
if sh -c "set -e; $command" > "$t/$name.log" 2>&1; then result=pass; else result=FAIL; fi
figure=$(sed -n "s/^figure: //p" "$t/$name.log" | tail -n 1)
awk -v bar="$bar" -v figure="$figure" -f scripts/torture_bar.awk || result=FAIL
printf "%-11s %-48s %-70s %5ss  %s\n" "$name" "$bar" "${figure:-none}" $(($(date +%s) - begin)) \
    $result | tee "$t/$name.row"
'
names=$*
case " $names " in
    '  ') chosen=$rows ;;
    ' long ') chosen=$long_rows ;;
    ' all ') chosen=$rows$long_rows ;;
    *) chosen=$(printf '%s\n' "$rows$long_rows" | while IFS= read -r row; do
           case " $names " in *" ${row%%|*} "*) printf '%s\n' "$row" ;; esac
       done) ;;
esac
for name in $names; do
    case $name in all | long) [ "$name" = "$names" ] && continue ;; esac
    printf '%s\n' "$rows$long_rows" | grep -q "^$name|" || { echo "torture: no row $name" >&2; exit 2; }
done
printf '%s\n' "$rows$long_rows" | sed '/^$/d' > "$t/rows"
printf '%s\n' "$chosen" | sed '/^$/d' > "$t/chosen"
while IFS= read -r row; do rm -f "$t/${row%%|*}.row"; done < "$t/chosen"
tr '\n' '\0' < "$t/chosen" | xargs -0 -n 1 -P 2 sh -c "$run" torture > "$t/order.log"
bad=0
while IFS= read -r row; do
    cat "$t/${row%%|*}.row" || bad=1
    grep -q 'FAIL$' "$t/${row%%|*}.row" && bad=1
done < "$t/chosen"
grep -vxFf "$t/chosen" "$t/rows" | while IFS= read -r row; do
    name=${row%%|*}
    if [ -e "$t/$name.row" ]; then echo "$(cat "$t/$name.row")  $(date -r "$t/$name.row" +%F)"
    else echo "$name: not run here"; fi
done
exit $bad
