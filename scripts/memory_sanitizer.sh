#!/bin/sh
# Compiles and runs the tests with MemorySanitizer (clang), which reports each use of memory that
# was not written. It must see every write. So zlib, libyaml, Check, libpng and libjpeg are compiled
# with it too, from Debian's sources without Debian's patches; tests/msan/ declares what BLAS,
# LAPACK and FFTW read and write.
#
#   BUILD=build/msan memory_sanitizer.sh [SUITE...]
#
#   $EXAMPLES: names of programs in examples/
#   $EDDY_CPU: whose kernels run where no test chooses them; by default those for any processor
#   $OPT: optimization; -O0 compiles in a fifth of the time
#   $ORIGINS: -fsanitize-memory-track-origins says where memory of a report came from; costs time
set -eu
MAKE=${MAKE:-make}
export BUILD
folder=$PWD/$BUILD
prefix=$folder/prefix
cflags="-g1 -fsanitize=memory ${ORIGINS:-} -fno-omit-frame-pointer"
log=$folder/libraries.log
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
for tool in clang cmake; do
    command -v $tool > /dev/null || { echo "make msan needs $tool" >&2; exit 1; }
done

# Fetches sources into a folder. Needs no root permission, and changes no package of the system.
sources() {
    apt=$folder/apt
    mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/parts" "$folder/source"
    : > "$apt/status"
    # The first part lists no security updates, which are not in every copy of the archive.
    awk '!NF { exit } { sub(/^Types:.*/, "Types: deb-src"); print }' \
        /etc/apt/sources.list.d/debian.sources > "$apt/parts/debian.sources"
    for action in update "source --download-only zlib libyaml check libpng1.6 libjpeg-turbo"; do
        # shellcheck disable=SC2086  # the action is words
        (cd "$folder/source" && apt-get -qq -o Dir::Etc::SourceList=/dev/null \
            -o Dir::Etc::SourceParts="$apt/parts" -o Dir::State="$apt" \
            -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
            -o Dir::Cache="$apt" -o Debug::NoLocking=1 $action)
    done
    (cd "$folder/source" && for f in *.orig.tar.*; do tar -xf "$f"; done)
    rm -rf "$apt"
}
libraries() {
    (cd "$folder"/source/zlib-*/ && CC=clang CFLAGS="-O1 $cflags -fPIC" \
        ./configure --prefix="$prefix" && $MAKE install)
    for library in libyaml check libpng libjpeg-turbo; do
        cmake -S "$folder"/source/$library-*/ -B "$folder/$library" -DCMAKE_BUILD_TYPE=None \
            -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS="-O1 $cflags" -DBUILD_SHARED_LIBS=ON \
            -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR:STRING=lib \
            -DCMAKE_INSTALL_RPATH="$prefix/lib" -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_TESTING=OFF \
            -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF -DPNG_HARDWARE_OPTIMIZATIONS=OFF \
            -DHAVE_SUBUNIT=OFF -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF -DENABLE_STATIC=OFF
        $MAKE -C "$folder/$library" install
    done
}
if [ "${1:-}" = --libraries ]; then
    sources
    libraries
    touch "$prefix/complete"
    exit
fi
mkdir -p "$folder"
[ -e "$prefix/complete" ] || sh "$0" --libraries > "$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
build() {       # build ARGUMENTS...: of make
    $MAKE --no-print-directory CC="${CLANG:-clang}" HOSTCC=cc OPT="${OPT:--O1}" BUILD="$BUILD" \
        CFLAGS="$cflags -isystem $prefix/include" "$@"
}
# shellcheck disable=SC2046  # names are words
build CFLAGS="$cflags -isystem $prefix/include -include tests/msan/masked_stores.h" \
    $(grep -rl --include='*.c' _mm256_maskstore_ps ops | sed "s|^\(.*\)c\$|$BUILD/obj/\1o|")
declared="$BUILD/obj/tests/msan/blas.o $BUILD/obj/tests/msan/lapack.o"
# shellcheck disable=SC2086  # names are words
build $declared
# shellcheck disable=SC2086
flags="-L$prefix/lib -Wl,-rpath,$prefix/lib $(nm $declared | sed -n 's/.* T __wrap_/-Wl,--wrap=/p' | tr '\n' ' ')"
libs="$declared $BUILD/libeddy.a -lopenblas -lyaml -lm -pthread"
build "$BUILD/libeddy.a"
# shellcheck disable=SC2086
clang $cflags -Ibuild/include tests/msan/planted.c $flags $libs -o "$BUILD/planted"
# LAPACK compares its own texts with memcmp, which must not check them.
export CK_FORK=no CK_EXCLUDE_TAGS="${CK_EXCLUDE_TAGS-slow many}" OPENBLAS_NUM_THREADS=1 \
    EDDY_CPU="${EDDY_CPU:-baseline}" UNDER='setarch -R' \
    MSAN_OPTIONS=allocator_may_return_null=1:intercept_memcmp=0
# What reads memory that was not written is reported, and nothing else.
$UNDER "$BUILD/planted" none > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
for reader in branch product factors transform; do
    status=0
    $UNDER "$BUILD/planted" $reader > "$log" 2>&1 || status=$?
    if [ "$status" = 0 ] || ! grep -q 'use-of-uninitialized-value' "$log"; then
        echo "not reported: $reader" >&2
        exit 1
    fi
done
for example in ${EXAMPLES:-}; do
    build LDFLAGS="$flags" LIBS="$libs" "$BUILD/examples/$example"
    echo "$example"
    $UNDER "$BUILD/examples/$example" > "$log" 2>&1 || { tail -n 60 "$log"; exit 1; }
done
[ $# -gt 0 ] || exit 0
rm -f "$BUILD/run-tests"        # make does not know that it contains what is declared
build LDFLAGS="$flags" LIBS="$libs" "$BUILD/run-tests"
sh scripts/tests.sh "$BUILD/run-tests" "$@"
