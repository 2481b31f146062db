#!/bin/sh
# Checks that operations do not reach files, programs or networks (SECURITY.md): objects of operations,
# gradients, layers and optimizers refer neither to such functions of the system nor to the
# library's own readers and writers of files.
#   sh scripts/closed_operations.sh OBJECTS      OBJECTS: the folder of the object files, build/obj
#
# Two objects are left out: fftw.o loads FFTW as a library, and load_graph.o is the function that
# reads a graph file; no operation calls it.
set -eu
cd "${1:-build/obj}"

find ops autodiff control layers optim graph/files graph/base/files.o graph/base/file_bytes.o \
    -name '*.o' ! -path ops/kernels/libraries/fftw.o ! -path ops/load_graph.o -exec nm -A {} + |
awk '
    { object = $0; sub(/:.*/, "", object); kind = $(NF - 1) }
    object ~ /^graph/ { if (kind ~ /^[TDRBVW]$/) of_files[$NF]; next }
    kind ~ /^[Uw]$/ { uses[++n] = $NF; by[n] = object }
    END {
        for (i = 1; i <= n; i++)
            if (uses[i] in of_files || uses[i] ~ /^(f?open(at|dir)?|creat|popen|system|exec[lv]p?e?|v?fork|posix_spawnp?|socket|connect|dlopen|mmap|unlink|rename)(64)?(@.*)?$/) {
                print "reaches files, programs or networks: " by[i] " (" uses[i] ")"
                bad = 1
            }
        if (n == 0) { print "no objects of operations"; bad = 1 }
        exit bad
    }'
