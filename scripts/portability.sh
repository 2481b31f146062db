#!/bin/sh
# Runs suites with other compilers, optimizations and standards, with musl, with each instruction
# set, with each BLAS of Debian, for addresses of 32 bits and on an emulated arm64, and prints a table.
# It names the tools that are not installed.
#
#   BUILD=build portability.sh [ROW...]    rows: compilers musl cpu blas i386 arm64
#
#   compilers is gcc-O0 gcc-O2 gcc-O3 clang-O0 clang-O2 clang-O3, which are rows, too.
#   $PORTED_SUITES: of the tests; "all": those in $ALL_SUITES
set -eu
PORTED_SUITES=${PORTED_SUITES:-"graph files session batch_matmul matmul_fused product_blocks linear \
    linear_roots einsum conv optim row_bits"}
[ "$PORTED_SUITES" != all ] || PORTED_SUITES=$ALL_SUITES
MAKE=${MAKE:-make}
[ $# -gt 0 ] || set -- compilers musl cpu blas i386 arm64
folder=$PWD/$BUILD/portability
mkdir -p "$folder"
bad=0
excluded='slow many'            # tags of the cases that do not run

row() { printf '%-44s %s\n' "$1" "$2"; }
have() { command -v "$1" >/dev/null; }
log_of() { echo "$folder/$(echo "$1" | tr ' /,' '___').log"; }
result() {      # result NAME STATUS LOG
    if [ "$2" = 0 ]; then row "$1" "ok${4:+: $4}"; else
        row "$1" "FAILED: $3"
        bad=1
    fi
}
suites() {      # suites NAME PROGRAM COMMAND...: runs the suites of the program under a command
    name=$1
    program=$2
    shift 2
    log=$(log_of "$name")
    status=0
    # shellcheck disable=SC2086  # the suites are words
    UNDER="$*" CK_EXCLUDE_TAGS="$excluded" CK_TIMEOUT_MULTIPLIER=20 sh scripts/tests.sh \
        "$program" $PORTED_SUITES > "$log" 2>&1 || status=1
    ! grep -qs 'suite(s):100%' "$program.logs"/*.log || status=1     # an unknown name
    result "$name" "$status" "$log" "$(grep " suites, " "$log")"
}
# tests_for NAME ARCHITECTURE TRIPLET LOADER FLAGS COMMAND...: compiles the tests for another
# architecture of Debian, and runs them under a command.
tests_for() {
    name=$1 arch=$2 triplet=$3 loader=$4 flags=$5
    shift 5
    gcc=$(echo "$triplet" | sed 's/^i386/i686/')-gcc
    have "$gcc" || { row "$name" "not installed ($gcc)"; return; }
    root=$folder/$arch.root
    log=$(log_of "compiling for $arch")
    sh scripts/debian_root.sh "$arch" "$root" || { result "$name" 1 "$root.log"; return; }
    lib=$root/usr/lib/$triplet blas=$root/usr/lib/$triplet/openblas-serial
    path=$lib:$root/lib/$triplet:$blas
    $MAKE -k OPT=-O1 BUILD="$folder/$arch" HOSTCC=cc CFLAGS="-g1 $flags" \
        CC="$gcc --sysroot=$root -isystem $root/usr/include/$triplet/openblas-serial" \
        LDFLAGS="-B$lib/ -L$lib -L$root/lib/$triplet -L$blas -Wl,-rpath-link,$path \
            -Wl,-rpath,$path -Wl,--disable-new-dtags -Wl,--dynamic-linker=$root/lib/$loader" \
        CHECK_LIBS='-lcheck -lsubunit -lrt -lm' tests > "$log" 2>&1 ||
        { result "$name" 1 "$log"; return; }
    suites "$name" "$folder/$arch/run-tests" "$@"
}
# An OpenBLAS that calls the reference BLAS and LAPACK.
reference_blas() {
    lib=$(dirname "$(cc -print-file-name=libyaml.so)")
    [ -e "$lib/blas/libblas.so.3" ] && [ -e "$lib/lapack/liblapack.so.3" ] || return 1
    mkdir -p "$folder/openblas-reference"
    echo 'extern int eddy_reference_blas; int eddy_reference_blas;' |
        cc -shared -fPIC -x c - -x none -o "$folder/openblas-reference/libopenblas.so.0" \
            -Wl,--no-as-needed -Wl,-soname,libopenblas.so.0 "$lib/lapack/liblapack.so.3" \
            "$lib/blas/libblas.so.3" -Wl,-rpath,"$lib/lapack:$lib/blas" -Wl,--disable-new-dtags
}

# All files have one level, and each compiler has each standard with one of the levels. The examples
# and the program eddy are compiled without a warning, too.
compiler_row() {        # compiler_row COMPILER-LEVEL
    cc=${1%-*}
    case $1 in
        gcc-O0 | clang-O2) flags=-std=c11 ;;
        gcc-O2 | clang-O3) flags=-std=c17 ;;
        *) flags='-std=c2x -mno-sse3' ;;
    esac
    name="$cc -${1#*-} $flags"
    have "$cc" || { row "$name" 'not installed'; return; }
    log=$(log_of "compiling with $1")
    $MAKE -k BUILD="$folder/$1" CC="$cc" HOSTCC=cc CFLAGS="-g1 -${1#*-} $flags" objects tests \
        > "$log" 2>&1 || { result "$name" 1 "$log"; return; }
    suites "$name" "$folder/$1/run-tests"
}
# musl, with the headers and static libraries of Debian and without those of glibc.
musl_row() {
    have musl-gcc || { row musl 'not installed (musl-tools)'; return; }
    mkdir -p "$folder/include" "$folder/lib"
    for library in yaml z png png16 jpeg check subunit; do
        ln -sf "$(cc -print-file-name=lib$library.a)" "$folder/lib/lib$library.a"
    done
    # The test of left-over threads, which the linker puts in the place of pthread_create and
    # pthread_join, counts no threads of other libraries.
    rm -f "$folder/lib/libopenblas.a"
    objcopy --redefine-sym pthread_create=__real_pthread_create \
        --redefine-sym pthread_join=__real_pthread_join \
        "$(cc -print-file-name=libopenblas.a)" "$folder/lib/libopenblas.a" ||
        { result musl 1 'no static OpenBLAS'; return; }
    for h in cblas.h openblas_config.h yaml.h zlib.h zconf.h png.h pngconf.h pnglibconf.h \
             jpeglib.h jerror.h jconfig.h jmorecfg.h check.h check_stdint.h; do
        echo "#include <$h>" | cc -M -include stdio.h -x c - 2>/dev/null | tr ' ' '\n' |
            grep "/$h\$" | head -n 1 | xargs -r -I{} ln -sf {} "$folder/include/$h"
    done
    log=$(log_of "compiling for musl")
    $MAKE -k OPT=-O1 BUILD="$folder/musl" HOSTCC=cc CFLAGS=-g1 \
        CC="musl-gcc -idirafter $folder/include" LDFLAGS="-rdynamic -L$folder/lib" \
        CHECK_LIBS='-lcheck -lsubunit' \
        LIBS="$folder/musl/obj/tests/musl/glibc.o -lz -lopenblas -lyaml -lm -pthread" \
        "$folder/musl/obj/tests/musl/glibc.o" tests > "$log" 2>&1 ||
        { result musl 1 "$log"; return; }
    suites musl "$folder/musl/run-tests" \
        env "EDDY_FFTW=$(dirname "$(cc -print-file-name=libfftw3.so.3)")"
}
cpu_row() {
    for cpu in baseline avx2 avx512; do
        suites "EDDY_CPU=$cpu" "$BUILD/run-tests" env "EDDY_CPU=$cpu"
    done
}
blas_row() {
    reference_blas || row 'reference BLAS' 'not installed (libblas3 liblapack3)'
    for blas in serial pthread openmp reference; do
        at=$(find /usr/lib "$folder" -name libopenblas.so.0 -path "*openblas-$blas*" \
            ! -path '*.root/*' 2>/dev/null | head -n 1)
        [ -n "$at" ] || { row "OpenBLAS $blas" "not installed (libopenblas0-$blas)"; continue; }
        suites "BLAS: $blas" "$BUILD/run-tests" env "LD_LIBRARY_PATH=$(dirname "$at")"
    done
}
# x87 registers would keep more bits than a double has.
i386_row() {
    tests_for '32 bits (i386)' i386 i386-linux-gnu ld-linux.so.2 '-msse2 -mfpmath=sse'
}
# In a process for each case, the emulator would translate the program again. The child of a process
# with threads cannot start one there, and limits of memory have no effect. Operations have the bits
# that they have here (tests/ops/test_row_bits.c).
arm64_row() {
    have qemu-aarch64 || { row 'arm64, emulated' 'not installed (qemu-user)'; return; }
    export CK_FORK=no
    excluded='slow many native'
    bits=$folder/here.bits
    EDDY_CPU=baseline EDDY_WRITE_BITS=$bits CK_RUN_SUITE=row_bits CK_RUN_CASE=files "$BUILD/run-tests" \
        > "$bits.log" 2>&1 || { result 'bits to compare' 1 "$bits.log"; return; }
    export EDDY_COMPARE_BITS="$bits"
    tests_for 'arm64, emulated' arm64 aarch64-linux-gnu ld-linux-aarch64.so.1 '' qemu-aarch64
    excluded='slow many'
    unset CK_FORK EDDY_COMPARE_BITS
}
rows=$(echo " $* " | sed 's/ compilers / gcc-O0 gcc-O2 gcc-O3 clang-O0 clang-O2 clang-O3 /')
for each in $rows; do
    case $each in
        gcc-O[023] | clang-O[023]) compiler_row "$each" ;;
        musl) musl_row ;; cpu) cpu_row ;; blas) blas_row ;;
        i386) i386_row ;; arm64) arm64_row ;;
        *) echo "no row $each" >&2; exit 2 ;;
    esac
done
exit "$bad"
