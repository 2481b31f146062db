#!/bin/sh
# Kills `eddy train` at random moments, resumes it, and compares the bytes of its results with those of
# a training that was not interrupted. With several numbers of ranks, each start takes one of them.
#   [BUILD=build] [SEED=1] [RANKS='1 2 4'] sh scripts/kill_training.sh [KILLS]
set -eu
eddy=${BUILD:-build}/eddy
kills=${1:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Everything that has a state: shuffling, dropout, batch normalization, slots, a schedule, early
# stopping, and checkpoints in the middle of epochs.
first=${RANKS:-}
first=${first%% *}
ranks=${first:+ranks: $first}
cat > "$work/config.yaml" <<CONFIG
data:
  arrays: {x: $PWD/data/digits-images.idx3-ubyte, y: $PWD/data/digits-labels.idx1-ubyte}
  validation: 20%
  prepare: [{cast: float32}, {div: 16}, {expand_dims: -1}]
  augment: [random_flip_left_right]
model:
  - conv2d: {filters: 4, kernel_size: 3}
  - batch_norm
  - relu
  - flatten
  - dropout: 0.2
  - dense: 10
loss: sparse_softmax_cross_entropy
optimizer: {adam: {learning_rate: {cosine_decay: {learning_rate: 0.01}}}}
metrics: accuracy
epochs: 8
early_stopping: 3
threads: 1
checkpoints: {steps: 7, last: 2}
$ranks
CONFIG

# The checkpoints that are listed, the network and the history. A kill may leave a checkpoint that was
# about to be removed: it is listed as dropped. Checkpoints of other ranks have other sums of gradients.
results() {     # results FOLDER
    cd "$1"
    sed '/dropped/d' checkpoints.txt | cat - model.yaml history.csv
    [ "${RANKS:-}" = "$first" ] || return 0
    sed -n '/dropped/d; s/^\([0-9]*\) .*/checkpoint-\1.safetensors/p' checkpoints.txt | xargs cat
}

# Goes on, with a number of ranks that depends on N.
go_on() {       # go_on N COMMAND...
    number_of_ranks=$(echo "${RANKS:-}" | awk -v seed="${SEED:-1}" -v n="$1" \
        '{ srand(seed * 1000 + n); rand(); if (NF > 1) print "ranks=" $(1 + int(rand() * NF)) }')
    shift
    "$@" "$eddy" train "$work/config.yaml" --output "$work/folder" --resume \
        ${number_of_ranks:+--set "$number_of_ranks"} > "$work/log" 2>&1
}

begin=$(date +%s%N)
"$eddy" train "$work/config.yaml" --output "$work/whole" > "$work/log"
whole=$((($(date +%s%N) - begin) / 1000000))
(results "$work/whole") > "$work/expected"

killed=0 finished=0 number=0
while [ "$killed" -lt "$kills" ]; do
    number=$((number + 1))
    # from 0.001 to the time of a whole training, in seconds
    after=$(awk -v seed="${SEED:-1}" -v n=$number -v most="$whole" \
        'BEGIN { srand(seed * 100000 + n); print 0.001 + rand() * most / 1000 }')
    if go_on $number timeout -s KILL "$after"; then
        (results "$work/folder") > "$work/got"
        cmp "$work/expected" "$work/got" || { echo "the bytes differ after $killed kills" >&2; exit 1; }
        finished=$((finished + 1))
        rm -rf "$work/folder"
    else
        [ $? = 137 ] || { cat "$work/log" >&2; exit 1; }
        killed=$((killed + 1))
    fi
done
go_on 0 || { cat "$work/log" >&2; exit 1; }
(results "$work/folder") > "$work/got"
cmp "$work/expected" "$work/got" || { echo "the bytes differ after $killed kills" >&2; exit 1; }
echo "figure: $killed kills, $((finished + 1)) trainings with the same bytes"
