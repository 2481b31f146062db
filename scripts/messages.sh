#!/bin/sh
# Checks that every error message is in a golden file: prints the formats of messages of which
# no line of tests/golden is an instance, except for tests/golden/ops/rules, which has only reasons;
# fails if there is one.
#   sh scripts/messages.sh [FOLDER ...]
set -u

# The functions that take the format of a message, and in which argument. If a function takes
# only a part of a message, also its file and the whole message, with @ for the part.
reporters='eddy_fail|3
eddy_infer_fail|3
eddy_kernel_fail|3
eddy_rule_fail|3
eddy__error_set|3
eddy__infer_conv_dy|3
eddy__array_fail|3
eddy__yaml_fail|4
eddy__yaml_fail_at|5
failure|3|graph/base/files.c|cannot @: %s
damaged|2|graph/files/npy.c|@
eddy__input_fail|3
eddy__events_fail|3
eddy__dataset_fail|3
refuse|4|report/plot_array.c|%s: @
eddy__distributed_fail|3
eddy__collective_fail|3
scalar|3|graph/files/yaml_attributes.c|expected @
skip|3|graph/files/graph_yaml_read.c|@
damaged|2|graph/files/safetensors_parse.c|@
damaged_at|3|graph/files/safetensors_parse.c|@'

# Messages that no caller can provoke: file|format|reason.
allowed='session/compile_plan.c|a plan could not be made|a guard: every step before it says why it failed
ops/kernels/arrays/index_checks.c|the run was stopped while the indices were checked|only while another thread cancels
ops/arrays/nd_indices.c|the run was stopped while the indices were checked|likewise
ops/arrays/gather.c|batch_dims = %lld is negative|a guard against files: builders count from the end first
session/compile/emit.c|too few buffers were counted|a guard: the count is an upper bound
session/compile/specialize_shapes.c|'"'"'%s'"'"' reads what has no shape yet|a guard: such an output is only fetched
session/stages/rows_ops.c|row %lld of a stack has no value [node '"'"'%.200s'"'"']|a guard: a count limits the readers
session/stages/rows_ops.c|%s: rows of stacks differ in shape: %s and %s [node '"'"'%.200s'"'"']|a guard: terms of a gradient agree
session/state/watches.c|out of memory for a watch|a test of failing allocations expects the status
session/state/watches.c|out of memory for the array of a watch|its memory is not from an allocator of the library
report/plot_print.c|plot_print: out of memory|its memory is not from an allocator of the library
formats/tensorboard/event_file.c|events: out of memory for an event of %.600s|its memory is not from an allocator of the library
formats/tensorboard/event_file.c|events: cannot close %.600s: %s|a guard: all bytes have been written
formats/tensorboard/values.c|events_table: out of memory for the table|its memory is not from an allocator of the library
formats/tensorboard/summaries.c|events_run: out of memory for %d summaries|its memory is not from an allocator of the library
input/memory.c|dataset: out of memory|the test of failing allocations compares it
input/prefetch.c|dataset_prefetch: the threads are in the process that forked this one|a test in a child compares it
input/batch.c|dataset_batch: batch %lld does not exist|a guard: callers ask for batches below the size
input/select.c|%s: record %lld does not exist|likewise
input/dataset.c|dataset_next: an error without a message|a guard: every failure has a message
input/map_graph.c|dataset_map_graph: a session cannot be made|memory that is not from the allocator of the dataset
input/position.c|dataset_seek: there is no such position|a guard: stages say why
input/prefetch.c|dataset_prefetch: a thread cannot be started: %s|a limit of the system
input/readers/csv.c|csv_read: out of memory|memory that is not from an allocator of the library
input/readers/file.c|%.700s: out of memory for an array of shape %s|likewise
input/readers/npz.c|npz_open: out of memory|likewise
input/readers/npz.c|%.800s: %lld arrays; the limit is %d|an archive of 48 MB
input/readers/jpeg.c|%.700s: more than %d scans|a file that only an attacker writes
input/readers/inflate.c|%.700s: the library was built without zlib (Debian: zlib1g-dev), which reads compressed files|tests are built with zlib
input/readers/jpeg.c|%.700s: the library was built without libjpeg-turbo (Debian: libjpeg-dev), which reads JPEG images|likewise
input/readers/png.c|%.700s: the library was built without libpng (Debian: libpng-dev), which reads PNG images|likewise
distributed/collective_call.c|rank %d: out of memory for messages|memory that is not from an allocator of the library
distributed/communicator.c|communicator_new: out of memory|likewise
distributed/communicator.c|communicator_group: out of memory|likewise
distributed/threads.c|rank %d: out of memory for a message|likewise
distributed/threads.c|run_threads: out of memory|likewise
distributed/threads.c|run_threads: a thread cannot be started: %s|a limit of the system
distributed/threads.c|a message between ranks %d and %d is too long|a guard: ranks compare their arguments first
distributed/training.c|Distributed: out of memory|memory that is not from an allocator of the library
distributed/variables.c|broadcast_variables: out of memory|likewise
distributed/variables.c|initialize_variables: out of memory|likewise
distributed/background.c|out of memory for messages|likewise
distributed/background.c|a thread for messages cannot be started|a limit of the system
distributed/save_ranks.c|save_ranks: out of memory|memory that is not from an allocator of the library
distributed/sharded.c|Sharded: out of memory|likewise
distributed/divided_variables.c|divide_variables: out of memory|likewise
distributed/restore_part.c|restore_part: out of memory|likewise
distributed/times.c|report_ranks: out of memory|likewise
session/compile/ir.c|a node that only the compiler makes|a guard: nobody else has these definitions
session/compile/widen.c|a node that only the compiler makes|likewise'

[ $# -gt 0 ] || set -- graph ops autodiff control layers optim session report formats input distributed
# shellcheck disable=SC2046  # the names of sources hold no blanks
awk -v reporters="$reporters" -v allowed="$allowed" '
BEGIN {
    n = split(reporters, row, "\n")
    for (i = 1; i <= n; i++) {
        split(row[i], word, "|")
        argument[word[1], word[3]] = word[2]
        sentence[word[1], word[3]] = word[4]
    }
    n = split(allowed, row, "\n")
    for (i = 1; i <= n; i++)
        if (split(row[i], word, "|") == 3) allow[word[1], word[2]] = 1
    token = "\"([^\"\\\\]|\\\\.)*\"|[A-Za-z_0-9]+|" "\047([^\047\\\\]|\\\\.)*\047|[^ ]"
}

# The sources: adjacent literals are one format.  A format without words passes on a message
# that is checked elsewhere; an error of a NULL graph reaches nobody.
function end_format(    words, i) {
    if (!running) return
    running = 0
    words = run
    gsub(/%[-+ #0]*[0-9*]*([.][0-9*]*)?[hlzjt]*[a-zA-Z]/, "", words)
    gsub(/\[node/, "", words)
    if (words !~ /[a-zA-Z]/ || no_graph) return
    if (around != "") {
        i = index(around, "@")
        run = substr(around, 1, i - 1) run substr(around, i + 1)
    }
    file[++formats] = FILENAME
    line[formats] = run_line
    format[formats] = run
}

function add(s) {
    if (!running) {
        run = ""
        running = 1
        run_line = FNR
    }
    run = run s
}

function literal(s) {
    s = substr(s, 2, length(s) - 2)
    gsub(/\\"/, "\"", s)
    gsub(/\\\\/, "\\", s)
    return s
}

function begin_call(name,    where) {
    where = (name, FILENAME) in argument ? FILENAME : ""
    if (!((name, where) in argument)) return
    depth = at = 1
    wanted = argument[name, where]
    around = sentence[name, where]
    no_graph = 0
}

function take(t) {
    if (!depth) {
        if (t == "(") begin_call(before)
        return
    }
    if (depth == 1 && t == ",") at++
    if (at == 1 && t == "NULL") no_graph = 1
    if (at == wanted && t ~ /^"/) add(literal(t))
    else if (at == wanted && running && t ~ /^PRI/) add("d")
    else end_format()
    if (t ~ /^[({[]$/) depth++
    if (t ~ /^[]})]$/) depth--
}

FILENAME ~ /[.]txt$/ { said[++lines] = $0; next }
FNR == 1 { depth = 0; before = "" }
/^ *(\/\*|\*)/ { next }
{
    rest = $0
    while (match(rest, token)) {
        t = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        take(t)
        before = t
    }
}

# A message stands alone, behind a place and a colon, or before its node; the
# session puts the name of the variable behind one of them.
function pattern(f) {
    gsub(/[][\\.^$*+?(){}|]/, "\\\\&", f)
    gsub(/%%/, "\001", f)
    gsub(/%[-+ #0]*[0-9]*(\\\*)?(\\[.](\\\*|[0-9])*)?[hlzjt]*[a-zA-Z]/, ".*", f)
    gsub(/\001/, "%", f)
    sub(/uninitialized value$/, "& .*", f)
    return "(^|: )" f "($| \\[(node|gradient))"
}

function is_said(f,    i, p) {
    p = pattern(f)
    for (i = 1; i <= lines; i++) if (said[i] ~ p) return 1
    return 0
}

END {
    for (k = 1; k <= formats; k++) {
        if ((file[k], format[k]) in allow || is_said(format[k])) continue
        printf "%s:%d: \"%s\"\n", file[k], line[k], format[k]
        missing++
    }
    printf "messages: %d formats, %d without a line in tests/golden\n", formats, missing
    exit missing > 0
}
' $(find tests/golden -path '*/rules' -prune -o -name '*.txt' -print | sort) $(find "$@" -name '*.c' | sort)
