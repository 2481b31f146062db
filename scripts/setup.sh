#!/bin/sh
# Installs missing packages on Debian and related systems.
#
#   sh scripts/setup.sh [build|check|valgrind|determinism|portability|machines|scale|ci|shells|
#                        browser]
#
# Prints nothing if nothing is missing. Without permission to install (neither root nor sudo
# without a password), it prints the command to run and fails.
set -eu

need=${1:-build}
cc=${CC:-cc}
missing=

want() {      # want PACKAGE TEST...: the package is missing if the test fails
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1"; }
browser() { have chromium || have chromium-browser || have google-chrome; }
# shellcheck disable=SC2086  # cc is words
header() { printf '#include <%s>\n' "$1" | $cc -E -x c -; }

want make have make
case ${cc%% *} in
    cc | gcc) want gcc have "${cc%% *}" ;;
    *) want "${cc%% *}" have "${cc%% *}" ;;
esac
want libc6-dev header stdio.h
# shellcheck disable=SC2086
library() { echo 'int main(void) { return 0; }' | $cc -x c - -o /dev/null "-l$2" && header "$1"; }
# shellcheck disable=SC2086
library_file() { [ -e "$($cc -print-file-name="$1")" ]; }
want libopenblas-dev library cblas.h openblas
want libyaml-dev library yaml.h yaml
if [ "$need" != build ] && [ "$need" != determinism ]; then
    want pkg-config have pkg-config
    want check header check.h
    want python3 have python3
    # FFTW is loaded at run time, by its file name.
    want libfftw3-single3 library_file libfftw3f.so.3
    want libfftw3-double3 library_file libfftw3.so.3
    want g++ have c++
    # Readers of compressed files and of images; without them these readers say so.
    want zlib1g-dev library zlib.h z
    want libpng-dev library png.h png
    want libjpeg-dev library jpeglib.h jpeg
fi
if [ "$need" = valgrind ]; then
    want valgrind have valgrind
fi
if [ "$need" = determinism ]; then
    # It runs programs as on other processors of the kind.
    [ "$(uname -m)" != x86_64 ] || want qemu-user have qemu-x86_64
fi
if [ "$need" = portability ] && [ "$(uname -m)" = x86_64 ]; then
    # Other compilers, architectures and libraries; without one, its rows say so.
    want clang have clang
    want musl-tools have musl-gcc
    want gcc-i686-linux-gnu have i686-linux-gnu-gcc
    want gcc-aarch64-linux-gnu have aarch64-linux-gnu-gcc
    want qemu-user have qemu-aarch64
    for blas in serial pthread openmp; do
        want "libopenblas0-$blas" library_file "openblas-$blas/libopenblas.so.0"
    done
    want libblas3 library_file blas/libblas.so.3
    want liblapack3 library_file lapack/liblapack.so.3
fi
if [ "$need" = machines ]; then
    want libopenmpi-dev have "${MPICC:-mpicc}"
    want openmpi-bin have mpirun
    want patch have patch
fi
if [ "$need" = scale ]; then
    want libsimgrid-dev have smpicc
fi
if [ "$need" = ci ]; then
    want clang have clang
    want shellcheck have shellcheck
    want cmake have cmake
    want mandoc have mandoc
    want gdb have gdb
    # eddy show --graph calls it.
    want graphviz have dot
    # The tests read event files with it.
    want python3-protobuf /usr/bin/python3 -c "import google.protobuf"
    want libonnx-testdata [ -d /usr/share/libonnx-testdata ]
fi
# Where these are, the tests complete commands in other shells and open a report, too.
if [ "$need" = shells ]; then
    want zsh have zsh
    want fish have fish
fi
if [ "$need" = browser ]; then
    want chromium browser
    want nodejs have node
fi
[ -n "$missing" ] || exit 0

line="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null; then
    echo "missing (Debian's names):$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root() { "$@"; }
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root() { sudo "$@"; }
else
    printf 'missing:%s\nplease run:  sudo sh -c "apt-get update && %s"\n' "$missing" "$line" >&2
    exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # the line is words
if ! { as_root apt-get update && as_root env DEBIAN_FRONTEND=noninteractive $line; } >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
