#!/bin/sh
# Opens traces in speedscope's importer of Chrome's trace format and compares threads, events and
# durations; the default is the trace of docs/guide/seeing.md. Needs npm, node and a network, so no
# test runs it.
#
#   [BUILD=build] [FOLDER=build/trace] sh scripts/trace.sh [TRACE...]
set -eu

build=${BUILD:-build}
folder=${FOLDER:-$build/trace}
[ $# -gt 0 ] || set -- "$build/docs/trace.json"
mkdir -p "$folder"
[ -f "$folder/package.json" ] || (cd "$folder" && npm init -y >/dev/null)
[ -d "$folder/node_modules/speedscope" ] ||
    (cd "$folder" && npm install --silent --ignore-scripts speedscope@1.25.0)
NODE_PATH=$(realpath "$folder")/node_modules node tests/session/read_trace.js "$@"
