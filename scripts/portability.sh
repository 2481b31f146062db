#!/bin/sh
# Compiles the libraries with other compilers, standards and C libraries, runs suites with each BLAS
# of Debian and on an emulated arm64, and prints a table. What is not installed is named.
#
#   BUILD=build portability.sh        $SUITES: of the tests; $ROOT_ARM64: a Debian root for arm64
#                                     with the -dev packages of check, libyaml and OpenBLAS
set -eu
SUITES=${SUITES:-"graph files session batch_matmul matmul_fused product_blocks linear conv optim"}
MAKE=${MAKE:-make}
folder=$BUILD/portability
mkdir -p "$folder"
bad=0

row() { printf '%-44s %s\n' "$1" "$2"; }
have() { command -v "$1" >/dev/null; }
result() {      # result NAME STATUS LOG
    if [ "$2" = 0 ]; then row "$1" ok; else
        row "$1" "FAILED: $3"
        bad=1
    fi
}
compile() {     # compile NAME COMPILER FLAGS
    log=$folder/$(echo "$1" | tr ' /' '__').log
    status=0
    $MAKE -k OPT=-O1 BUILD="$folder/syntax" CC="$2 -fsyntax-only" HOSTCC=cc CFLAGS="$3" objects \
        > "$log" 2>&1 || status=$?
    result "$1" "$status" "$log"
}
suites() {      # suites NAME COMMAND...: runs the suites under a command
    name=$1
    shift
    log=$folder/$(echo "$name" | tr ' /' '__').log
    status=0
    : > "$log"
    for s in $SUITES; do
        CK_RUN_SUITE=$s CK_EXCLUDE_TAGS='slow many' "$@" >> "$log" 2>&1 || status=1
    done
    ! grep 'Checks: 0,' "$log" || status=1      # Check runs a suite of an unknown name without a word
    result "$name" "$status" "$log"
}

for cc in gcc clang; do
    have "$cc" || { row "$cc" 'not installed'; continue; }
    for std in c11 c17 c2x; do compile "$cc -std=$std" "$cc" "-std=$std"; done
    for flags in -O0 -O3 -mno-sse3; do compile "$cc $flags" "$cc" "$flags"; done
done
if have musl-gcc; then
    compile 'musl-gcc' musl-gcc "-idirafter $folder/include"
else row musl-gcc 'not installed'; fi

for cpu in baseline avx2 avx512; do suites "EDDY_CPU=$cpu" env EDDY_CPU=$cpu "$BUILD/run-tests"; done
for blas in serial pthread openmp; do
    at=$(find /usr/lib "$folder" -name libopenblas.so.0 -path "*openblas-$blas*" 2>/dev/null | head -n 1)
    [ -n "$at" ] || { row "OpenBLAS $blas" "not installed (libopenblas0-$blas)"; continue; }
    suites "OpenBLAS $blas" env LD_LIBRARY_PATH="$(dirname "$at")" "$BUILD/run-tests"
done

if have qemu-aarch64 && [ -n "${ROOT_ARM64:-}" ] && [ -x "$BUILD/arm64/run-tests" ]; then
    lib=$ROOT_ARM64/usr/lib/aarch64-linux-gnu
    export QEMU_LD_PREFIX="$ROOT_ARM64" \
        QEMU_SET_ENV="LD_LIBRARY_PATH=$lib:$lib/openblas-serial:$ROOT_ARM64/lib/aarch64-linux-gnu"
    suites 'arm64, emulated' qemu-aarch64 "$BUILD/arm64/run-tests"
else row 'arm64, emulated' "needs qemu-aarch64, ROOT_ARM64 and $BUILD/arm64/run-tests"; fi
row '32 bits' 'not supported: refused while compiling'
exit "$bad"
