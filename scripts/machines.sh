#!/bin/sh
# Runs programs on several ranks of this machine.
#   sh scripts/machines.sh digits    trains on 2 and 4 ranks
#   sh scripts/machines.sh check     collectives, trainings, and ranks that differ, end or are killed
#   sh scripts/machines.sh kills     kills a rank at some moment, KILLS times (100)
#   sh scripts/machines.sh valgrind  the programs of `check` on two ranks under valgrind
#
# BUILD is the folder of the programs.
set -eu

build=${BUILD:-build}
log=$(mktemp)
group=
trap 'rm -f "$log"; [ -z "$group" ] || kill $group 2>/dev/null' EXIT

# A rank has one thread, since there are more ranks than processors.
ranks() {     # ranks N PROGRAM...
    n=$1
    shift
    # Root may run programs in a container. Messages go through memory, and ranks that wait do not spin.
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1 \
        OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OPENBLAS_NUM_THREADS=1 \
        timeout 1200 mpirun --oversubscribe -n "$n" "$@"
}

# Must fail within 10 seconds, of the time that a rank prints if it does, and say so.
fails() {     # fails TEXT N PROGRAM...
    text=$1
    shift
    begun=$(date +%s)
    if ranks "$@" >"$log" 2>&1; then echo "machines: $* does not fail" && exit 1; fi
    ended=$(date +%s)
    begun=$(sed -n 's/^killed at //p' "$log" | grep . || echo "$begun")
    took=$((ended - begun))
    grep -q "$text" "$log" || { cat "$log"; echo "machines: no '$text'"; exit 1; }
    [ "$took" -le 10 ] || { echo "machines: $* took $took s to fail"; exit 1; }
    echo "  $3 ends all ranks within $took s: $(grep "$text" "$log" | head -n 1)"
}

# Kills rank $1 of three that train, $2 hundredths of a second after they began; all must end within 10
# seconds, and the log must name the rank.
kill_one() {
    : >"$log"
    ranks 3 "$build/mpi/ranks" endless >"$log" 2>&1 &
    group=$!
    until [ "$(grep -c 'is process' "$log")" = 3 ]; do
        kill -0 $group 2>/dev/null || { cat "$log"; echo "machines: the ranks do not begin"; exit 1; }
        sleep 0.05
    done
    sleep "0.$2"
    kill -9 "$(sed -n "s/.*rank $1 is process \([0-9]*\).*/\1/p" "$log" | head -n 1)"
    begun=$(date +%s)
    wait $group && echo "machines: killing rank $1 does not fail" && exit 1
    group=
    took=$(($(date +%s) - begun))
    grep -q "process rank $1 .*signal 9" "$log" || { cat "$log"; echo "machines: rank $1 is not named"; exit 1; }
    [ "$took" -le 10 ] || { echo "machines: the ranks took $took s to end"; exit 1; }
    [ "$took" -le "$longest" ] || longest=$took
}

# Runs a program on two ranks under valgrind, with the suppressions that come with OpenMPI. They do not
# name all that it does when it starts and ends, so reports from within these calls and from its
# threads for processes (PMIx) are counted, and any other one is an error.
under_valgrind() {     # under_valgrind PROGRAM...
    rm -f "$build"/mpi/valgrind.*
    ranks 2 valgrind -q --leak-check=full --num-callers=50 --log-file="$build/mpi/valgrind.%p" \
        --suppressions="$(ompi_info --path pkgdatadir | sed 's/.*: //')/openmpi-valgrind.supp" "$@"
    cat "$build"/mpi/valgrind.* | sed 's/^==[0-9]*== *//' | awk -v RS= '
        /MPI_Init_thread|MPI_Finalize|ompi_mpi_finalize|libpmix|event_base_loop/ { inside++; next }
        !/ / { next }
        { others++; print }
        END { printf "%d reports from within MPI, %d others\n", inside, others; exit others > 0 }'
}

case ${1:-check} in
    valgrind)
        export OPENBLAS_CORETYPE=Haswell
        under_valgrind "$build/mpi/ranks"
        under_valgrind "$build/mpi/ranks" stopped
        ;;
    kills)
        longest=0
        i=0
        while [ $i -lt "${KILLS:-100}" ]; do
            kill_one $((i % 3)) "$(printf %02d $((i * 37 % 100)))"
            i=$((i + 1))
        done
        echo "$i times a rank was killed; all ended within $longest s"
        ;;
    digits)
        for n in 2 4; do
            ranks $n "$build/mpi/digits" --epochs 20 --out "$build/mpi" >"$log" 2>&1 || { tail -n 20 "$log"; exit 1; }
            echo "$n ranks: $(grep 'test accuracy' "$log")"
        done
        ;;
    check)
        for n in 1 2 4; do
            echo "$n ranks"
            ranks $n "$build/mpi/ranks"
        done
        echo "6 ranks, in levels"
        ranks 6 "$build/mpi/ranks" levels
        echo "2 ranks, as if on two machines"
        EDDY_SHARED_MEMORY=no ranks 2 "$build/mpi/ranks"
        echo "2 ranks, and messages of more bytes than MPI can count"
        EDDY_SHARED_MEMORY=no ranks 2 "$build/mpi/ranks" long
        ranks 4 "$build/mpi/ranks" stopped
        ranks 4 "$build/mpi/ranks" windowless
        ranks 4 "$build/mpi/ranks" lockless
        fails 'MPI: another rank cannot join; MPI has ended' 4 "$build/mpi/ranks" memoryless
        fails 'rank 1: .*the ranks do not agree: rank 0 has AllReduce(float32\[3\], sum)' 4 "$build/mpi/ranks" disagrees
        fails 'SendReceive.*: the ranks do not agree: .* 0 waits in SendReceive.* for rank 5' 6 "$build/mpi/ranks" circle
        fails 'rank 0: .*rank 1 has ended' 4 "$build/mpi/ranks" leaves
        fails 'rank 1 .*signal 9' 4 "$build/mpi/ranks" killed
        fails 'rank 1 .*signal 9' 2 "$build/mpi/ranks" killed
        export EDDY_SHARED_MEMORY=no
        ranks 4 "$build/mpi/ranks" stopped
        fails 'rank 1: .*: the ranks do not agree: .* 0 waits in SendReceive.* for rank 5' 6 "$build/mpi/ranks" circle
        fails 'rank 0: .*rank 1 has ended' 4 "$build/mpi/ranks" leaves
        ;;
    *)
        echo "machines: digits, check, kills or valgrind expected" >&2
        exit 2
        ;;
esac
