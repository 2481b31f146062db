/* recurrent.c -- recurrent layers (RNN, GRU, LSTM) over sequences: lengths, directions, stacks. */
#include "layers/cells.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

/* ---------------------------------------------------------------- sequences -- */

/* A sequence in reverse order, [steps, batch, ...]. */
static eddy_tensor reversed(eddy_tensor x, eddy_tensor lengths)
{
    return lengths.graph ? eddy_reverse_sequence(x, lengths, 0, 1) : eddy_reverse(x, EDDY_AXES(0));
}

/* The states of an unknown number of steps, which may be 0 in a run, and one more: before the first
 * step, or after the last. That is the initial state. */
static eddy_tensor with_initial(eddy_tensor states, eddy_tensor first, bool before)
{
    if (eddy_shape_of(states).dim[0] >= 0) return states;
    const eddy_tensor zero = ZerosLike(Sum(states, EDDY_AXES(0), true));
    const eddy_tensor one = first.graph ? Add(ExpandDims(first, 0), zero) : zero;
    return before ? eddy_concat(EDDY_LIST(one, states), 0) : eddy_concat(EDDY_LIST(states, one), 0);
}

/* The state after the last step of each sequence; the initial state if it has no steps. */
static eddy_tensor last(eddy_tensor states, eddy_tensor lengths, eddy_tensor first)
{
    if (!states.graph) return states;
    states = with_initial(states, first, !lengths.graph);
    if (!lengths.graph)
        return eddy_strided_slice(states, EDDY_DIMS(-1), EDDY_DIMS(0), .end_mask = 1,
                                  .shrink_axis_mask = 1);
    eddy_tensor h = eddy_reverse_sequence(states, lengths, 0, 1);
    h = eddy_strided_slice(h, EDDY_DIMS(0), EDDY_DIMS(1), .shrink_axis_mask = 1);
    eddy_tensor any = ExpandDims(Greater(lengths, 0), 1);
    return first.graph ? Where(any, h, first) : Where(any, h, 0);
}

static eddy_tensor swap(eddy_tensor x)
{
    return eddy_transpose(x, EDDY_DIMS(1, 0, 2));
}

/* Runs the network on x with the steps on axis 0. */
static eddy_rnn_result run_steps(const eddy_layer *l, const eddy_rnn_args *a, eddy_tensor x)
{
    const eddy_tensor lengths = a->sequence_length;
    eddy_tensor       seen = { 0 };
    if (lengths.graph) {
        seen = ExpandDims(eddy__layer_valid_positions(x, lengths, 0), -1);
        x = Where(seen, x, 0);
    }
    eddy_layer inner = *l;
    char       scope[LAYER_NAME];
    inner.name = a->cell.name ? a->cell.name : eddy__cell_name(&a->cell);
    inner.reuse = eddy__layer_inner_reuse(l, inner.name, scope);
    eddy__layer_begin(&inner);
    eddy_cell_states s = eddy__cell_run(
        &inner, &a->cell, a->go_backwards ? reversed(x, lengths) : x, a->initial_h, a->initial_c);
    eddy__layer_end(&inner, x);
    eddy_rnn_result r = { s.h, last(s.h, lengths, a->initial_h), last(s.c, lengths, a->initial_c) };
    if (a->go_backwards) r.outputs = reversed(r.outputs, lengths);
    if (lengths.graph) r.outputs = Where(seen, r.outputs, 0);
    return r;
}

/* Nothing can be unrolled over no steps. */
static bool check_steps(const eddy_layer *l, const eddy_rnn_args *a)
{
    char text[200];
    if (eddy_shape_of(a->x).dim[a->time_major ? 0 : 1] != 0) return true;
    eddy_fail(l->graph, EDDY_BAD_SHAPE, "rnn: x has shape %s; it has no steps [scope '%.200s']",
              eddy_shape_print(eddy_shape_of(a->x), text, sizeof text), l->name ? l->name : "rnn");
    return false;
}

static bool check_cell(const eddy_layer *l, const eddy_cell *cell)
{
    const char *scope = l->name ? l->name : "rnn";
    if (!eddy__cell_name(cell))
        eddy_fail(l->graph, EDDY_INVALID_ARGUMENT, "rnn: unknown cell kind %d [scope '%.200s']",
                  (int)cell->kind, scope);
    else if (cell->size_ == 0)
        eddy_fail(l->graph, EDDY_INVALID_ARGUMENT, "rnn: the cell has no defaults; make it with "
                  "EDDY_CELL [scope '%.200s']", scope);
    else return eddy__cell_check_size(l, "units", cell->units);
    return false;
}

eddy_rnn_result eddy_rnn_with(const eddy_rnn_args *given)
{
    eddy_rnn_args a = EDDY_TAKE(eddy_rnn_args, given);
    const eddy_tensor     none = eddy_none(a.x.graph);
    const eddy_rnn_result nothing = { none, none, none };
    eddy_layer l = { .who = "rnn", .name = a.name, .reuse = a.reuse,
                     .not_trainable = a.not_trainable, .seed = a.seed };
    if (!eddy__layer_check_input(&l, a.x) || !eddy__layer_check_rank(&l, a.x, 3, 2) ||
        !check_cell(&l, &a.cell) || !check_steps(&l, &a) ||
        !eddy__layer_check_lengths("rnn", "sequence_length", a.sequence_length, a.x,
                                   a.time_major ? 1 : 0))
        return nothing;
    a.cell = EDDY_TAKE(eddy_cell_args, &a.cell);
    eddy__layer_begin(&l);
    a.sequence_length = eddy__layer_lengths("sequence_length", a.sequence_length, a.x,
                                            a.time_major ? 1 : 0);
    eddy_rnn_result r = run_steps(&l, &a, a.time_major ? a.x : swap(a.x));
    if (!a.time_major) r.outputs = swap(r.outputs);
    eddy__layer_end(&l, r.h);
    return r;
}

/* ------------------------------------------------------------ several cells -- */

eddy_bidirectional_rnn_result eddy_bidirectional_rnn_with(const eddy_bidirectional_rnn_args *given)
{
    eddy_bidirectional_rnn_args a = EDDY_TAKE(eddy_bidirectional_rnn_args, given);
    eddy_layer l = { .who = "bidirectional_rnn", .name = a.name, .reuse = a.reuse };
    eddy_bidirectional_rnn_result r = { .outputs = eddy_none(a.x.graph) };
    char scope[LAYER_NAME];
    r.fw = r.bw = (eddy_rnn_result){ r.outputs, r.outputs, r.outputs };
    if (!eddy__layer_check_input(&l, a.x)) return r;
    eddy__layer_begin(&l);
    eddy_rnn_args one = *EDDY_ARGS(eddy_rnn_args, .x = a.x, .cell = a.cell_fw, .name = "fw",
                          .sequence_length = a.sequence_length, .time_major = a.time_major,
                          .not_trainable = a.not_trainable, .seed = a.seed,
                          .reuse = eddy__layer_inner_reuse(&l, "fw", scope));
    r.fw = eddy_rnn_with(&one);
    if (a.cell_bw.kind) one.cell = a.cell_bw;
    one.name = "bw";
    one.go_backwards = true;
    one.seed = eddy__layer_seed(a.seed, 1);
    one.reuse = eddy__layer_inner_reuse(&l, "bw", scope);
    r.bw = eddy_rnn_with(&one);
    r.outputs = eddy_concat(EDDY_LIST(r.fw.outputs, r.bw.outputs), 2);
    eddy__layer_end(&l, r.outputs);
    return r;
}

eddy_rnn_result eddy_stacked_rnn_with(const eddy_stacked_rnn_args *given)
{
    eddy_stacked_rnn_args a = EDDY_TAKE(eddy_stacked_rnn_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    eddy_rnn_result   r = { a.x, none, none };
    eddy_layer l = { .who = "rnn", .name = a.name, .reuse = a.reuse };
    char       name[32], scope[LAYER_NAME];
    if (!eddy__layer_check_input(&l, a.x)) return (eddy_rnn_result){ none, none, none };
    if (a.count < 1 || !a.cells) {
        r.outputs = eddy_fail(l.graph, EDDY_INVALID_ARGUMENT, "rnn: there are no cells to stack");
        return r;
    }
    eddy__layer_begin(&l);
    for (int i = 0; i < a.count; i++) {
        snprintf(name, sizeof name, "cell_%d", i);
        if (i > 0)
            r.outputs = eddy_dropout_layer(r.outputs, a.dropout, a.training, a.training_when,
                                           .seed = eddy__layer_seed(a.seed, i));
        r = eddy_rnn(r.outputs, a.cells[i], name, a.sequence_length,
                     .time_major = a.time_major, .not_trainable = a.not_trainable,
                     .seed = eddy__layer_seed(a.seed, i),
                     .reuse = eddy__layer_inner_reuse(&l, name, scope));
        if (a.results) a.results[i] = r;
    }
    eddy__layer_end(&l, r.outputs);
    return r;
}
