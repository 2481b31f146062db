#!/bin/sh
# Checks the order of folders: which folder may use which, by #include and by call.
#   sh scripts/folder_order.sh OBJECTS      OBJECTS: the folder of the object files, build/obj
#
# Includes are read from the sources.  Calls are read from the object files with nm: a file that
# refers to a symbol uses the folder of the file that defines it.  Prints each violation; fails
# if there is one.
set -eu

objects=${1:-build/obj}

# FOLDER: the folders it may use, besides its own and what those may use in turn.
# Folders on one line are peers and may use each other: the gradient of an operation is
# made of operations from every folder.
order='
graph/base:
graph: graph/base
graph/files: graph
ops/kernels: graph
ops/kernels/arrays: ops/kernels
ops/kernels/elementwise: ops/kernels
ops/kernels/images: ops/kernels
ops/kernels/libraries: ops/kernels
ops/kernels/normalization: ops/kernels
ops/kernels/pooling: ops/kernels/elementwise
ops/kernels/random: ops/kernels
ops/kernels/special: ops/kernels/elementwise
ops/kernels/matmul: ops/kernels/elementwise ops/kernels/libraries
ops/kernels/convolution: ops/kernels/arrays ops/kernels/matmul
ops/kernels/reduction: ops/kernels/elementwise
ops/kernels/sequences: ops/kernels/arrays ops/kernels/matmul
ops ops/math ops/arrays ops/reduce ops/linear ops/nets ops/images ops/signal ops/random ops/state build/gen: ops/kernels/convolution ops/kernels/images ops/kernels/libraries ops/kernels/normalization ops/kernels/pooling ops/kernels/random ops/kernels/reduction ops/kernels/sequences ops/kernels/special graph/files
ops/formulas: ops/math
autodiff: ops/formulas
control: autodiff
autodiff/jacobians: control
layers: control
optim: autodiff
optim/rules optim/schedules: optim
optim/wrappers: optim/rules control
session/state: ops
session/compile: session/state
session/passes: session/compile
session/profile: session/compile
session/run: session/compile
session/stages: session/run session/profile
session: session/stages session/passes
session/extract: session
session/checkpoints: session
report: graph
autodiff/check: autodiff session
autodiff/sparse: autodiff/jacobians session
optim/minimizers: optim autodiff/jacobians session
formats: layers optim/wrappers autodiff/jacobians autodiff/check optim/minimizers session/checkpoints
formats/onnx formats/onnx/operators: formats
formats/onnx/writer formats/onnx/writer/rules: formats/onnx
formats/tensorflow formats/tensorflow/operators: formats
formats/torch: formats
formats/keras: formats
formats/tensorboard: formats
formats/training_report: formats/tensorboard
input: session/checkpoints layers optim/wrappers autodiff/jacobians autodiff/check optim/minimizers
input/readers: input
distributed: session/checkpoints layers optim/wrappers autodiff/jacobians autodiff/check optim/minimizers
distributed/mpi: distributed
command command/train build/gen/command: formats/onnx/writer formats/tensorflow formats/torch formats/keras formats/training_report input/readers distributed report session/extract'

# Permitted exceptions: file|used file|why.  A * stands for any file.
admitted='
*|graph/status.h|statuses, errors, allocators; declarations only
*|graph/array.h|element types, shapes, arrays; declarations only
*|graph/graph.h|the public types: shapes, element types, arrays, tensors; declarations only
*|graph/op.h|the public contract of an operation; declarations only
formats/formats.h|eddy.h|the whole public interface
session/state/watches.h|session/watch.h|the functions and values that callers give
input/dataset.h|eddy.h|the same
input/readers.h|eddy.h|the same
distributed/communicator.h|eddy.h|the same
session/state/internal.h|session/session.h|the public options and reports that a session keeps
build/gen/table.c|control/definitions.c|the generated table lists all operations, for the reader of graph files
build/gen/table.c|control/tensor_array_ops.c|the same
build/gen/weak_ops.c|control/definitions.c|the same list for sessions, by weak references
build/gen/weak_ops.c|control/tensor_array_ops.c|the same
session/extract/extract_freeze.c|control/definitions.c|recognizes arguments of functions, by a weak reference
ops/kernels/matmul/matmul_threads.c|ops/math/binary.c|the fused product takes the loop of Add, for the same bits'

includes() {
    {
        find . build/gen -name '*.[ch]' ! -path './build/*' | sed 's|^\./||; s/^/file /'
        find graph ops autodiff control layers optim session report formats input distributed command -name '*.[ch]' |
            sort | xargs grep -nE '^ *#include "' | sed -E 's/:[0-9]+: *#include "/ /; s/".*//; s/^/use /'
    } | awk '
        function plain(path,    n, part, i, kept) {         # a/b/../c is a/c
            n = split(path, part, "/")
            for (i = 1; i <= n; i++)
                if (part[i] == "..") sub(/\/?[^\/]*$/, "", kept)
                else if (part[i] != ".") kept = kept (kept == "" ? "" : "/") part[i]
            return kept
        }
        $1 == "file" { exists[$2]; next }
        $3 !~ /^build\// {
            beside = $2
            sub(/[^\/]*$/, "", beside)
            header = $3 ~ /\// && $3 in exists ? $3 : plain(beside $3)
            if (header in exists) print "use", $2, header, "include"
        }'
}

# Without the objects of a folder its calls would not be checked.
for folder in $(find graph ops autodiff control layers optim session report formats input distributed command build/gen \
    -name '*.c' ! -path 'distributed/mpi/*' -exec dirname {} + | sort -u); do
    [ -d "$objects/$folder" ] && continue
    echo "folder order: $objects/$folder is missing; build the library and the program eddy first"
    exit 1
done

symbols() {
    find "$objects/graph" "$objects/ops" "$objects/autodiff" "$objects/control" "$objects/layers" "$objects/optim" \
        "$objects/session" "$objects/report" "$objects/formats" "$objects/input" "$objects/distributed" "$objects/command" "$objects/build/gen" -name '*.o' | while read -r object; do
        source=${object#"$objects"/}
        source=${source%.o}.c
        [ ! -f "$source" ] || echo "$object"        # not the object of a file that is gone
    done | xargs nm -A | awk -v objects="$objects/" '
        {
            end = index($0, ".o:")
            source = substr($0, length(objects) + 1, end - length(objects)) "c"
            n = split(substr($0, end + 3), word, " ")
        }
        n == 2 && word[1] ~ /[Uw]/ { print "needs", source, word[2] }
        n == 3 && word[2] ~ /[TDRBVW]/ { print "has", source, word[3] }'
}

{ includes; symbols; } | awk -v order="$order" -v admitted="$admitted" '
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    function may(from, to) { return from == to || (from, to) in below }
    BEGIN {
        n = split(order, line, "\n")
        for (i = 1; i <= n; i++) {
            if (split(line[i], side, ":") < 1) continue
            peers = split(side[1], peer, " ")
            lower = split(side[2], low, " ")
            for (j = 1; j <= peers; j++) {
                known[peer[j]]
                for (k = 1; k <= peers; k++) below[peer[j], peer[k]]
                for (k = 1; k <= lower; k++) {
                    below[peer[j], low[k]]
                    for (f in known) if ((low[k], f) in below) below[peer[j], f]
                }
            }
        }
        n = split(admitted, line, "\n")
        for (i = 1; i <= n; i++)
            if (split(line[i], word, "|") == 3) allow[word[1], word[2]]
    }
    $1 == "has" { home[$3] = $2; next }
    $1 == "needs" { need[++needs] = $2 " " $3; next }
    function check(from, to, what,    a, b) {
        a = folder(from); b = folder(to)
        uses++
        if (!(a in known)) { if (!(a in told)) print "folder order: " a " is not in the list"; told[a]; bad = 1; return }
        if (may(a, b) || (from, to) in allow || ("*", to) in allow) return
        print "folder order: " from " may not use " to " (" what ")"
        bad = 1
    }
    { check($2, $3, "include") }
    END {
        for (i = 1; i <= needs; i++) {
            split(need[i], word, " ")
            if (word[2] in home) check(word[1], home[word[2]], word[2])
        }
        printf "folder order: %d uses%s\n", uses, bad ? "" : " ok"
        exit bad
    }'
