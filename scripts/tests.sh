#!/bin/sh
# Runs each test suite in its own process, as many at a time as there are processors, and prints
# the number of checks and the output of failed suites.
#
#   tests.sh PROGRAM SUITES...        $UNDER: what runs the program, as valgrind
#                                     $JOBS: processes at a time
#
# A suite may take a quarter of an hour, or two hours under another program. Without a process for each
# test (CK_FORK=yes), Check's limits of time for single tests have no effect.
set -eu
export UNDER="${UNDER:-}" CK_FORK="${CK_FORK:-no}"
limit=900
[ -z "$UNDER" ] || limit=7200

program=$1
shift
[ -z "${CK_RUN_SUITE:-}" ] || set -- "$CK_RUN_SUITE"
logs=$program.logs
rm -rf "$logs"
mkdir -p "$logs"

# One suite. timeout puts it into a process group of its own, to which Ctrl-C does not come.
# shellcheck disable=SC2016  # the inner shell expands them
one='
CK_RUN_SUITE=$4 timeout -k 60 "$3" $UNDER "$1" > "$2/$4.log" 2>&1 & suite=$!
trap "kill $suite; exit 130" INT TERM HUP
status=0
wait "$suite" || status=$?
case $status in 124 | 137) echo "ended after $3 seconds" >> "$2/$4.log" ;; esac
[ "$status" = 0 ] || echo "$4" >> "$2/failed"
echo " $4"'
# The slowest suites first.
first='ranks vmap sweep winograd conv stop lapack_blocks long_calls segments'
{ for s in $first; do case " $* " in *" $s "*) echo "$s" ;; esac; done
  for s in "$@"; do case " $first " in *" $s "*) ;; *) echo "$s" ;; esac; done
} | xargs -P "${JOBS:-$(nproc)}" -n 1 sh -c "$one" tests "$program" "$logs" "$limit" || true

# A suite that crashed has no last line, and an unknown suite has no checks.
some='^[0-9]*%: Checks: [1-9]'
[ -z "${CK_EXCLUDE_TAGS:-}${CK_INCLUDE_TAGS:-}${CK_RUN_CASE:-}" ] || some='^[0-9]*%: Checks: '
for s in "$@"; do
    grep -qs "$some" "$logs/$s.log" || echo "$s" >> "$logs/failed"
done
cat "$logs"/*.log | awk '/^[0-9]+%: Checks: / { n += $3; bad += $5 + $7 }
    END { printf "%d suites, %d checks: %d passed, %d failed\n", suites, n, n - bad, bad }' \
    suites=$#
[ ! -e "$logs/failed" ] && exit 0
sort -u "$logs/failed" | while read -r s; do
    echo "----- $s"
    tail -n 60 "$logs/$s.log"
done
exit 1
