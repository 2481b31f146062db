#!/bin/sh
# Unpacks Debian's packages for another architecture into a folder, with everything that compiling
# and testing need, for a cross compiler and an emulator. Needs no root permission, and changes no
# package of the system.
#
#   debian_root.sh ARCHITECTURE FOLDER
set -eu
arch=$1
root=$2
[ ! -e "$root/complete" ] || exit 0

apt=$root.apt
mkdir -p "$root" "$apt/lists/partial" "$apt/archives/partial"
: > "$apt/status"
get() {
    apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" -o Dir::State::status="$apt/status" \
        -o Dir::Cache="$apt" -o Dir::Cache::archives="$apt/archives" -o Debug::NoLocking=1 "$@"
}
{
    get update
    get install -y --no-install-recommends --download-only libc6-dev libgcc-12-dev \
        libopenblas-serial-dev libyaml-dev check libfftw3-single3 libfftw3-double3 \
        zlib1g-dev libpng-dev libjpeg-dev
    for package in "$apt"/archives/*.deb; do dpkg -x "$package" "$root"; done
} > "$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; exit 1; }
find "$root" -type l | while read -r link; do
    case $(readlink "$link") in /*) ln -sfn "$root$(readlink "$link")" "$link" ;; esac
done
rm -rf "$apt"
touch "$root/complete"
