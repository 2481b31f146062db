#!/bin/sh
# Kills `eddy train` at random moments, resumes it, and compares the bytes of its results with those of
# a training that was not interrupted: a small network of convolutions in several ways, and networks of
# images, of numbers in columns and of text. With several numbers of ranks, each start of the first takes one of them.
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

# The checkpoints that are listed, the network, the history, its drawing and the names of classes. A kill
# may leave a checkpoint that was about to be removed: it is listed as dropped. Checkpoints of other ranks
# have other sums of gradients. The report and event files hold times.
results() {     # results FOLDER
    cd "$1"
    sed '/dropped/d' checkpoints.txt | cat - model.yaml history.csv
    for file in loss.svg labels.txt; do [ ! -e $file ] || cat $file; done
    [ "${RANKS:-}" = "$first" ] || return 0
    sed -n '/dropped/d; s/^\([0-9]*\) .*/checkpoint-\1.safetensors/p' checkpoints.txt | xargs cat
}

# Goes on, with a number of ranks that depends on N.
go_on() {       # go_on N COMMAND...
    number_of_ranks=$(echo "${RANKS:-}" | awk -v seed="${SEED:-1}" -v n="$1" \
        '{ srand(seed * 1000 + n); rand(); if (NF > 1) print "ranks=" $(1 + int(rand() * NF)) }')
    shift
    # shellcheck disable=SC2086  # options are words
    "$@" "$eddy" train "$config" $options --output "$work/folder" --resume \
        ${number_of_ranks:+--set "$number_of_ranks"} > "$work/log" 2>&1
}
compare() {
    (results "$work/folder") > "$work/got"
    cmp "$work/expected" "$work/got" && { finished=$((finished + 1)); return; }
    echo "$config $options: the bytes differ after $killed kills" >&2
    exit 1
}
failed() {
    cat "$work/log" >&2
    exit 1
}

killed=0 finished=0 number=0
kill_until() {  # kill_until KILLS CONFIG OPTION...: until there have been so many kills
    until=$1 config=$2
    shift 2
    options=$*
    rm -rf "$work/folder" "$work/whole"
    begin=$(date +%s%N)
    # shellcheck disable=SC2086
    "$eddy" train "$config" $options --output "$work/whole" > "$work/log" || failed
    whole=$((($(date +%s%N) - begin) / 1000000))
    (results "$work/whole") > "$work/expected"
    while [ "$killed" -lt "$until" ]; do
        number=$((number + 1))
        # from 0.001 to the time of a whole training, in seconds
        after=$(awk -v seed="${SEED:-1}" -v n=$number -v most="$whole" \
            'BEGIN { srand(seed * 100000 + n); print 0.001 + rand() * most / 1000 }')
        if go_on $number timeout -s KILL "$after"; then
            compare
            rm -rf "$work/folder"
        else
            [ $? = 137 ] || failed
            killed=$((killed + 1))
        fi
    done
    go_on 0 || failed
    compare
}

if [ -n "${RANKS:-}" ]; then
    kill_until "$kills" "$work/config.yaml"
else
    kill_until $((kills / 5)) "$work/config.yaml"
    kill_until $((kills * 7 / 20)) "$work/config.yaml" --set threads=2
    kill_until $((kills / 2)) "$work/config.yaml" --set precision=bfloat16
    kill_until $((kills * 13 / 20)) "$work/config.yaml" --set precision=float16
    kill_until $((kills * 3 / 4)) tests/command/flowers.yaml
    kill_until $((kills * 17 / 20)) examples/train/characters.yaml --set epochs=3 --set data.limit=60 \
        --set data.text.path=../../LICENSE
    kill_until "$kills" examples/train/digits.yaml --set epochs=4
fi
echo "figure: $killed kills, $finished trainings with the same bytes"
