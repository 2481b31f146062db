#!/bin/sh
# Runs test suites, as many processes at a time as there are processors, and prints the number of
# checks and the output of failed suites. A process runs a few of them: with sanitizers, to begin and end
# one takes longer than many a suite.
#
#   tests.sh PROGRAM SUITES...        $UNDER: what runs the program, as valgrind
#                                     $JOBS: processes at a time
#                                     $SUITES_AT_ONCE: of a process; 1 to keep them apart
#
# A process may take a quarter of an hour, or two hours under another program. Without a process for each
# test (CK_FORK=yes), Check's limits of time for single tests have no effect.
set -eu
export UNDER="${UNDER:-}" CK_FORK="${CK_FORK:-no}"
limit=900
at_once=${SUITES_AT_ONCE:-6}
[ -z "$UNDER" ] || limit=7200 at_once=1

program=$1
shift
[ -z "${CK_RUN_SUITE:-}" ] || set -- "$CK_RUN_SUITE"
logs=$program.logs
rm -rf "$logs"
mkdir -p "$logs"

# Some suites. timeout puts them into a process group of its own, to which Ctrl-C does not come.
# shellcheck disable=SC2016  # the inner shell expands them
some='
program=$1 logs=$2 limit=$3 log=$2/$4.log
shift 3
timeout -k 60 "$limit" $UNDER "$program" "$@" > "$log" 2>&1 & suites=$!
trap "kill $suites; exit 130" INT TERM HUP
status=0
wait "$suites" || status=$?
case $status in 124 | 137) echo "ended after $limit seconds" >> "$log" ;; esac
[ "$status" = 0 ] || echo "$*" >> "$logs/failed"
echo " $*"'
# The slowest suites first, each by itself.
slowest='ranks vmap sweep winograd conv stop lapack_blocks long_calls segments extract_quantized product_blocks'
{ for s in $slowest; do case " $* " in *" $s "*) echo "$s" ;; esac; done
  for s in "$@"; do case " $slowest " in *" $s "*) ;; *) echo "$s" ;; esac; done | xargs -r -n "$at_once"
} > "$logs/groups"
xargs -P "${JOBS:-$(nproc)}" -L 1 sh -c "$some" tests "$program" "$logs" "$limit" < "$logs/groups" || true

# A process that crashed has written no last line, and suites that do not exist have no checks.
checks='^[0-9]*%: Checks: [1-9]'
[ -z "${CK_EXCLUDE_TAGS:-}${CK_INCLUDE_TAGS:-}${CK_RUN_CASE:-}" ] || checks='^[0-9]*%: Checks: '
while read -r s; do
    grep -qs "$checks" "$logs/${s%% *}.log" || echo "$s" >> "$logs/failed"
done < "$logs/groups"
cat "$logs"/*.log | awk '/^[0-9]+%: Checks: / { n += $3; bad += $5 + $7 }
    END { printf "%d suites, %d checks: %d passed, %d failed\n", suites, n, n - bad, bad }' \
    suites=$#
[ ! -e "$logs/failed" ] && exit 0
sort -u "$logs/failed" | while read -r s; do
    echo "----- $s"
    tail -n 60 "$logs/${s%% *}.log"
done
exit 1
