#!/bin/sh
# Compares ONNX models that `eddy grad` writes in ONNX Runtime with Eddy's results: gradients,
# Jacobians and products of the Hessian, within 1e-5. Needs npm, node and a network, so no test runs
# it.
#
#   [BUILD=build] [FOLDER=build/written] sh scripts/onnx_gradients.sh
set -eu

build=${BUILD:-build}
folder=${FOLDER:-$build/written}
mkdir -p "$folder"
[ -f "$folder/package.json" ] || (cd "$folder" && npm init -y >/dev/null)
[ -d "$folder/node_modules/onnxruntime-node" ] ||
    (cd "$folder" && npm install --silent --ignore-scripts onnxruntime-node@1.20.1)
cp tests/models/compare_gradients.js "$folder"

# compare NAME MODEL OPTIONS FEED...: the same derivatives in both formats, and their values
compare() {
    name=$1 model=$2 options=$3
    shift 3
    # shellcheck disable=SC2086  # options are words
    "$build/eddy" grad "$model" $options -o "$folder/$name.yaml" >/dev/null
    # shellcheck disable=SC2086
    "$build/eddy" grad "$model" $options -o "$folder/$name.onnx" >/dev/null
    feeds=
    for feed in "$@"; do feeds="$feeds --feed $feed"; done
    # shellcheck disable=SC2086
    "$build/eddy" run "$folder/$name.yaml" --json $feeds >"$folder/$name.json"
    (cd "$folder" && node compare_gradients.js "$name.onnx" "$name.json" "$@")
}

line=tests/command/line.yaml
colors=tests/command/colors.yaml
row='[[0.1,0.9,0.3],[0.5,0.4,0.2],[0.8,0.7,0.6],[0.25,0.35,0.15]]'
image="image=[[$row,$row,$row,$row]]"
x='x=[1,2,3]' y='y=[0,1,0]' column='x=[[0.5],[-1],[0.25]]'
compare gradient $line '--of loss --wrt w,b,x' "$x" "$y"
compare jacobian $line '--shape x=3 --of line --wrt w,b,x --jacobian' "$x" "$y"
compare hessian $line '--of loss --hvp' "$x" "$y" v/w=1.5 v/b=-2
compare colors $colors '--shape image=1,4,4,3 --of probabilities --wrt classes/w,image --jacobian' "$image"
compare sine data/sine.onnx '--of y --wrt x,w1,b1,w2,b2' "$column"
compare sine_pb data/sine.pb '--of y --wrt x,w1,b1,w2,b2' "$column"
compare curvature "$folder/sine.yaml" '--of grad/x --wrt x,w1,w2' "$column"
