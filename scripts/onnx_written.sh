#!/bin/sh
# Writes graphs as ONNX models and compares them with ONNX Runtime: all rows of the sweep with their
# gradients, random graphs, and the first runs of the examples, 20 steps of training among them.
# Needs npm, node and a network, so no test runs it.
#
#   [BUILD=build] [FOLDER=build/written] [GRAPHS=1000] sh scripts/onnx_written.sh
set -eu

build=${BUILD:-build}
folder=${FOLDER:-$build/written}
graphs=${GRAPHS:-1000}
libraries="$build/libeddy_formats.a $build/libeddy_input.a $build/libeddy.a ${LIBS:--lz -lopenblas -lyaml -lm -pthread}"
compile="${CC:-cc} -std=c11 -O1 -I. -I$build/include"
mkdir -p "$folder"
make --no-print-directory BUILD="$build" lib tests examples
rows=$(find "$build/obj/tests" -name '*.o' | grep -E '/tests/lib/|/rows_' | grep -Ev 'onnx_cases|datasets')
support=$(find "$build/obj/examples/support" -name '*.o')
check=$(pkg-config --libs check)
# shellcheck disable=SC2086  # lists of words
$compile tests/models/write_models.c tests/models/expressible.c \
    tests/models/model_data.c $rows $libraries \
    $check -o "$folder/write_models"
[ -f "$folder/package.json" ] || (cd "$folder" && npm init -y >/dev/null)
[ -d "$folder/node_modules/onnxruntime-node" ] ||
    (cd "$folder" && npm install --silent --ignore-scripts onnxruntime-node@1.20.1)
cp tests/models/compare_written.js tests/models/to_double.py "$folder"
rm -rf "$folder/rows" "$folder/random" "$folder/expressible" "$folder/examples"
mkdir -p "$folder/rows" "$folder/random" "$folder/expressible" "$folder/examples"

"$folder/write_models" "$folder/rows" rows >"$folder/rows.log"
"$folder/write_models" "$folder/random" random 0 "$graphs" >"$folder/random.log"
"$folder/write_models" "$folder/expressible" expressible 0 "$graphs" >"$folder/expressible.log"
for example in mlp examples/*.c; do
    name=$(basename "$example" .c)
    [ "$name" != infer ] || continue
    object=$build/obj/examples/$name.o
    [ "$name" != mlp ] || object=tests/models/mlp.c
    # shellcheck disable=SC2086
    $compile "$object" tests/models/record_runs.c tests/models/model_data.c \
        "$build/obj/tests/lib/own_operations.o" $support \
        -Wl,--wrap=eddy_run -Wl,--wrap=eddy_session_free $libraries -o "$folder/record"
    EDDY_RECORD="$folder/examples/$name" "$folder/record" --epochs 1 --out "$folder" \
        >"$folder/$name.log" 2>&1 || true
done
# Debian's python3-onnx has ONNX's checker, and lets compare_written.js compute in float64.
for program in python3 /usr/bin/python3; do
    [ -n "${PYTHON:-}" ] || ! "$program" -c 'import onnx.checker' 2>/dev/null || PYTHON=$program
done
export PYTHON
cd "$folder"
echo 'rows:'
node compare_written.js rows 1e-4 || true
# Some branches of random graphs are constant; the optimizer of ONNX Runtime 1.20 fails on three.
echo 'random:'
node compare_written.js random 1e-4 disabled || true
echo 'random graphs of what can be expressed:'
node compare_written.js expressible 1e-4 disabled || true
grep '^left out' expressible.log
if [ -n "${PYTHON:-}" ]; then
    "$PYTHON" - rows expressible <<'END'
import glob, sys, onnx
for folder in sys.argv[1:]:
    refused = 0
    files = sorted(glob.glob(folder + "/*.onnx"))
    for name in files:
        try:
            onnx.checker.check_model(name)
        except onnx.checker.ValidationError as e:
            refused += 1
            print("refused:", name, str(e).splitlines()[0])
    print("onnx.checker accepts", len(files) - refused, "of", len(files), "of", folder)
END
fi
echo 'examples:'
node compare_written.js examples 1e-3 || true
