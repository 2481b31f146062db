/* cells.c -- recurrent cells (RNN, GRU, LSTM), unrolled step by step. */
#include "graph/internal.h"
#include "layers/cells.h"
#include "ops/short_names.h"

#include <math.h>

const char *eddy__cell_name(const eddy_cell *cell)
{
    switch (cell->kind) {
    case EDDY_BASIC_RNN_CELL: return "basic_rnn_cell";
    case EDDY_LSTM_CELL: return "lstm_cell";
    case EDDY_GRU_CELL: return "gru_cell";
    }
    return NULL;
}

/* ---------------------------------------------------------------- variables -- */

/* The parts of a kernel for x and for h, and the bias. */
typedef struct weights {
    eddy_tensor x, h, bias;
} weights;

/* Variables with `parts` times as many columns as the cell has units, in `scope` if not NULL. */
static weights make_weights(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                            const char *scope, int parts, eddy_init bias, int part)
{
    const int64_t n = eddy_shape_of(x).dim[2], columns = parts * cell->units;
    char          inside[LAYER_NAME];
    eddy_layer    at = *l;
    if (scope) {
        at.name = scope;
        at.reuse = eddy__layer_inner_reuse(l, scope, inside);
        eddy__layer_begin(&at);
    }
    eddy_tensor kernel = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "kernel", .shape = EDDY_SHAPE(n + cell->units, columns),
        .init = cell->kernel_initializer, .otherwise = eddy_glorot_uniform_initializer(),
        .regularizer = cell->kernel_regularizer, .part = part });
    eddy_tensor b = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "bias", .shape = EDDY_SHAPE(columns), .init = cell->bias_initializer,
        .otherwise = bias });
    if (scope) eddy__layer_end(&at, b);
    eddy_tensor w = eddy_split_sizes(kernel, (int64_t[]){ n, cell->units }, 2);
    return (weights){ eddy_output(w, 0), eddy_output(w, 1), b };
}

/* x w + b of all steps, one product. */
static eddy_tensor project(eddy_tensor x, const weights *w)
{
    eddy_tensor rows = eddy_merge_leading(x, eddy_sum(x, .axes = EDDY_AXES(-1)));
    return eddy__layer_restore_dims(BiasAdd(MatMul(rows, w->x), w->bias), x, 2);
}

/* --------------------------------------------------------------- one by one -- */

/* A cell whose steps are separate nodes. */
typedef struct unrolled {
    const eddy_cell *cell;
    weights          gates, candidate;      /* basic cells use only the latter */
    eddy_tensor      recurrent_bias;
} unrolled;

/* The operands of f. */
static eddy_tensor activate(const unrolled *u, eddy_tensor z)
{
    return eddy__layer_activate(u->cell->activation ? u->cell->activation : eddy_tanh, z);
}

/* The next h, from the projections of x for the gates and the candidate. */
static eddy_tensor step(const unrolled *u, eddy_tensor gates, eddy_tensor candidate, eddy_tensor h)
{
    if (u->cell->kind == EDDY_BASIC_RNN_CELL)
        return activate(u, Add(candidate, MatMul(h, u->candidate.h)));
    eddy_tensor ru = eddy_split(Sigmoid(Add(gates, MatMul(h, u->gates.h))), 2, 1);
    eddy_tensor r = eddy_output(ru, 0), z = eddy_output(ru, 1);
    eddy_tensor of_h = u->cell->reset_after
                       ? Mul(r, BiasAdd(MatMul(h, u->candidate.h), u->recurrent_bias))
                       : MatMul(Mul(r, h), u->candidate.h);
    eddy_tensor c = activate(u, Add(candidate, of_h));
    return Add(Mul(z, h), Mul(Sub(1, z), c));
}

static eddy_tensor unroll(const unrolled *u, eddy_tensor x, eddy_tensor h)
{
    const int64_t steps = eddy_shape_of(x).dim[0];
    const bool    gated = u->cell->kind == EDDY_GRU_CELL;
    eddy_tensor   candidates = eddy_unstack(project(x, &u->candidate), 0);
    eddy_tensor   gates = gated ? eddy_unstack(project(x, &u->gates), 0) : candidates;
    if (!eddy_is_valid(candidates) || !eddy_is_valid(gates)) return eddy_none(x.graph);
    const eddy_allocator *memory = eddy__graph_allocator(x.graph);
    const size_t          bytes = (size_t)steps * sizeof(eddy_tensor);
    eddy_tensor          *all = eddy__allocate(memory, bytes), y;
    if (!all) return eddy_fail(x.graph, EDDY_NO_MEMORY, "rnn: out of memory for its steps");
    if (!h.graph) h = ZerosLike(candidates);
    for (int64_t t = 0; t < steps; t++)
        h = all[t] = step(u, eddy_output(gates, (int)t), eddy_output(candidates, (int)t), h);
    y = eddy_stack((eddy_list){ (int)steps, all }, 0);
    eddy__release(memory, all, bytes);
    return y;
}

static eddy_tensor run_unrolled(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                                eddy_tensor h)
{
    unrolled u = { .cell = cell };
    if (cell->kind == EDDY_BASIC_RNN_CELL) {
        u.candidate = make_weights(l, cell, x, NULL, 1, eddy_zeros_initializer(), 0);
    } else {
        u.gates = make_weights(l, cell, x, "gates", 2, eddy_ones_initializer(), 0);
        u.candidate = make_weights(l, cell, x, "candidate", 1, eddy_zeros_initializer(), 1);
        if (cell->reset_after)
            u.recurrent_bias = eddy__layer_variable(l, (eddy_layer_weight){
                .name = "candidate/recurrent_bias", .shape = EDDY_SHAPE(cell->units),
                .init = cell->bias_initializer });
    }
    return unroll(&u, x, h);
}

/* -------------------------------------------------------------------- LSTM -- */

/* forget_bias for the second of four parts, 0 for the others. */
static eddy_tensor forget(eddy_graph *g, const eddy_cell *cell, eddy_dtype dtype)
{
    const double bias = isnan(cell->forget_bias) ? 0
                      : cell->forget_bias == 0 ? 1 : cell->forget_bias;
    const int64_t n = cell->units;
    eddy_tensor   one = eddy_initial_value(g, eddy_constant_initializer(bias), dtype,
                                           EDDY_SHAPE(n), 0);
    return eddy_concat(EDDY_LIST(eddy_zeros(g, dtype, EDDY_SHAPE(n)), one,
                                 eddy_zeros(g, dtype, EDDY_SHAPE(2 * n))), 0, "forget_bias");
}

eddy_cell_states eddy__cell_run(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                                eddy_tensor h, eddy_tensor c)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    if (cell->kind != EDDY_LSTM_CELL)
        return (eddy_cell_states){ run_unrolled(l, cell, x, h), none };
    const weights w = make_weights(l, cell, x, NULL, 4, eddy_zeros_initializer(), 0);
    if (!eddy_is_valid(w.bias)) return (eddy_cell_states){ w.bias, w.bias };
    eddy_tensor bias = Add(w.bias, forget(l->graph, cell, l->dtype));
    eddy_tensor y = eddy_lstm(x, h, c, w.x, w.h, bias);
    return (eddy_cell_states){ y, eddy_output(y, 1) };
}
