#!/bin/sh
# Runs the workloads, in turns with PyTorch (bench.py). Without Python, runs them one after the
# other.
#
#   sh scripts/bench.sh PROGRAM [option of bench.py | name]...
set -eu

if command -v python3 >/dev/null; then
    exec python3 scripts/bench.py "$@"
fi
echo 'bench: python3 is not installed: no comparison with PyTorch' >&2
for name in $("$1"); do
    for threads in 1 2; do
        OPENBLAS_NUM_THREADS=$threads "$1" "$name" --threads "$threads"
    done
done
