#!/bin/sh
# Compares the bits of trainings, and of every operation: in one process (tests/determinism/main.c), in
# another process, and with pinned instructions (docs/guide/bits.md) on other processors, which qemu
# emulates.
#
#   BUILD=build STEPS=1000 determinism.sh
set -eu
program=$BUILD/determinism
out=$BUILD/determinism.out
few=$((STEPS < 50 ? STEPS : 50))     # of emulated processors, which are slow
bad=0

"$program" "$STEPS" || bad=1

pinned() {
    EDDY_CPU=baseline OPENBLAS_CORETYPE=Prescott GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-AVX2,-FMA4 "$@"
}
same() {
    if cmp -s "$out.want" "$out.got"; then echo "$1: the same bits"; else
        echo "$1: OTHER BITS"
        diff "$out.want" "$out.got" || true
        bad=1
    fi
}
# Operations one by one (tests/ops/test_row_bits.c).
rows() { CK_FORK=no CK_RUN_SUITE=row_bits CK_RUN_CASE=files "$@" "$BUILD/run-tests" > "$out.rows" 2>&1; }
same_rows() {       # same_rows NAME COMMAND...
    name=$1
    shift
    if EDDY_COMPARE_BITS=$out.bits rows "$@"; then echo "$name, operations: the same bits"; else
        echo "$name, operations: OTHER BITS"
        cat "$out.rows"
        bad=1
    fi
}

"$program" --hashes "$few" > "$out.want"
"$program" --hashes "$few" > "$out.got"
same 'another process'
OPENBLAS_NUM_THREADS=2 "$program" --hashes "$few" > "$out.got"
same 'OPENBLAS_NUM_THREADS=2'
EDDY_WRITE_BITS=$out.bits rows env
same_rows 'other instructions of OpenBLAS and the C library, as documented' pinned

pinned "$program" --hashes "$few" > "$out.want"
EDDY_WRITE_BITS=$out.bits rows pinned
if [ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null; then
    export EDDY_BITS_CHANGE=PINNED
    for cpu in qemu64 Nehalem Haswell max; do
        pinned qemu-x86_64 -cpu "$cpu" "$program" --hashes "$few" > "$out.got" 2> "$out.err" ||
            cat "$out.err"
        same "pinned, on an emulated $cpu"
    done
    same_rows 'pinned, on an emulated max' pinned qemu-x86_64 -cpu max      # it takes minutes
else
    echo 'no qemu-x86_64 (Debian: qemu-user) on an x86-64: other processors are not compared'
fi
exit "$bad"
