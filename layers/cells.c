/* cells.c -- recurrent cells (RNN, GRU, LSTM): their weights, their steps, and networks of them,
 * unrolled or in a loop. */
#include "control/control.h"
#include "graph/internal.h"
#include "layers/cells.h"
#include "ops/short_names.h"

const char *eddy__cell_name(const eddy_cell *cell)
{
    switch (cell->kind) {
    case EDDY_BASIC_RNN_CELL: return "basic_rnn_cell";
    case EDDY_LSTM_CELL: return "lstm_cell";
    case EDDY_GRU_CELL: return "gru_cell";
    }
    return NULL;
}

bool eddy__cell_check_size(const eddy_layer *l, const char *what, int64_t n)
{
    const int64_t most = INT64_MAX / 8;
    if (!eddy__layer_check_count(l, what, n)) return false;
    if (n <= most) return true;
    eddy_fail(l->graph, EDDY_LIMIT, "%s: %s is %lld; it must be at most %lld [scope '%.200s']",
              l->who, what, (long long)n, (long long)most, l->name ? l->name : l->who);
    return false;
}

/* ---------------------------------------------------------------- variables -- */

eddy_cell_weights eddy__cell_weights(const eddy_layer *l, const eddy_cell *cell,
                                     eddy_cell_kernel k)
{
    const int64_t columns = k.parts * cell->units;
    char          inside[LAYER_NAME];
    eddy_layer    at = *l;
    if (k.scope) {
        at.name = k.scope;
        at.reuse = eddy__layer_inner_reuse(l, k.scope, inside);
        eddy__layer_begin(&at);
    }
    eddy_tensor kernel = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "kernel", .shape = EDDY_SHAPE(k.inputs + k.states, columns),
        .init = cell->kernel_initializer, .otherwise = eddy_glorot_uniform_initializer(),
        .regularizer = cell->kernel_regularizer, .part = k.part });
    eddy_tensor b = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "bias", .shape = EDDY_SHAPE(columns), .init = cell->bias_initializer,
        .otherwise = k.bias });
    if (k.scope) eddy__layer_end(&at, b);
    eddy_tensor w = eddy_split_sizes(kernel, (int64_t[]){ k.inputs, k.states }, 2);
    return (eddy_cell_weights){ eddy_output(w, 0), eddy_output(w, 1), b };
}

eddy_tensor eddy__cell_product(eddy_tensor x, eddy_tensor w, eddy_tensor bias)
{
    const int leading = eddy_shape_of(x).rank - 1;
    if (leading == 1) return BiasAdd(MatMul(x, w), bias);
    eddy_tensor rows = eddy_merge_leading(x, eddy_sum(x, .axes = EDDY_AXES(-1)));
    return eddy__layer_restore_dims(BiasAdd(MatMul(rows, w), bias), x, leading);
}

void eddy__plain_cell_make(eddy_plain_cell *u, const eddy_layer *l, const eddy_cell *cell,
                           int64_t n)
{
    const eddy_init ones = eddy_ones_initializer(), zeros = eddy_zeros_initializer();
    *u = (eddy_plain_cell){ .cell = cell };
    if (cell->kind == EDDY_BASIC_RNN_CELL) {
        u->candidate = eddy__cell_weights(l, cell, (eddy_cell_kernel){ n, cell->units, 1, NULL,
                                                                       zeros, 0 });
        return;
    }
    u->gates = eddy__cell_weights(l, cell, (eddy_cell_kernel){ n, cell->units, 2, "gates", ones,
                                                               0 });
    u->candidate = eddy__cell_weights(l, cell, (eddy_cell_kernel){ n, cell->units, 1, "candidate",
                                                                   zeros, 1 });
    if (cell->reset_after)
        u->recurrent_bias = eddy__layer_variable(l, (eddy_layer_weight){
            .name = "candidate/recurrent_bias", .shape = EDDY_SHAPE(cell->units),
            .init = cell->bias_initializer });
}

/* ------------------------------------------------------------- step by step -- */

/* The operands of f. */
static eddy_tensor activate(const eddy_plain_cell *u, eddy_tensor z)
{
    return eddy__layer_activate(u->cell->activation ? u->cell->activation : eddy_tanh, z);
}

eddy_tensor eddy__plain_cell_step(const eddy_plain_cell *u, eddy_tensor gates,
                                  eddy_tensor candidate, eddy_tensor h)
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

static eddy_tensor unroll(const eddy_plain_cell *u, eddy_tensor gates, eddy_tensor candidates,
                          eddy_tensor h)
{
    const int64_t steps = eddy_shape_of(candidates).dim[0];
    gates = eddy_unstack(gates, 0);
    candidates = eddy_unstack(candidates, 0);
    if (!eddy_is_valid(candidates) || !eddy_is_valid(gates)) return eddy_none(gates.graph);
    const eddy_allocator *memory = eddy__graph_allocator(gates.graph);
    const size_t          bytes = (size_t)steps * sizeof(eddy_tensor);
    eddy_tensor          *all = eddy__allocate(memory, bytes), y;
    if (!all) return eddy_fail(gates.graph, EDDY_NO_MEMORY, "rnn: out of memory for its steps");
    if (!h.graph) h = ZerosLike(candidates);
    for (int64_t t = 0; t < steps; t++)
        h = all[t] = eddy__plain_cell_step(u, eddy_output(gates, (int)t),
                                           eddy_output(candidates, (int)t), h);
    y = eddy_stack((eddy_list){ (int)steps, all }, 0);
    eddy__release(memory, all, bytes);
    return y;
}

/* The body of the loop: of h, the products for the gates, and those for the candidate. */
static int loop_step(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_plain_cell *u = context;
    y[0] = y[1] = eddy__plain_cell_step(u, in.at[1], in.at[2], in.at[0]);
    return 2;
}

static eddy_tensor loop(const eddy_plain_cell *u, eddy_tensor gates, eddy_tensor candidates,
                        eddy_tensor h)
{
    const eddy_function f = { .build = loop_step, .context = (void *)(uintptr_t)u };
    eddy_tensor         y[2];
    if (!h.graph) h = ZerosLike(eddy_sum(candidates, .axes = EDDY_AXES(0)));
    if (eddy_loop(f, EDDY_LIST(h), EDDY_LIST(gates, candidates), y) != 2)
        return eddy_none(candidates.graph);
    return y[1];
}

/* Nodes for each step while their number is known and small, else a loop. */
static eddy_tensor run_plain(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                             eddy_tensor h)
{
    const eddy_shape  s = eddy_shape_of(x);
    const bool        open = s.dim[0] < 0 || s.dim[0] > CELL_STEPS;
    eddy_plain_cell   u;
    eddy__plain_cell_make(&u, l, cell, s.dim[2]);
    eddy_tensor candidates = eddy__cell_product(x, u.candidate.x, u.candidate.bias);
    eddy_tensor gates = candidates;
    if (cell->kind == EDDY_GRU_CELL) gates = eddy__cell_product(x, u.gates.x, u.gates.bias);
    return open ? loop(&u, gates, candidates, h) : unroll(&u, gates, candidates, h);
}

/* -------------------------------------------------------------------- LSTM -- */

eddy_tensor eddy__cell_forget(eddy_graph *g, const eddy_cell *cell, eddy_dtype dtype)
{
    const int64_t n = cell->units;
    eddy_tensor   one = eddy_initial_value(g, eddy_constant_initializer(cell->forget_bias), dtype,
                                           EDDY_SHAPE(n), 0);
    return eddy_concat(EDDY_LIST(eddy_zeros(g, dtype, EDDY_SHAPE(n)), one,
                                 eddy_zeros(g, dtype, EDDY_SHAPE(2 * n))), 0, "forget_bias");
}

eddy_cell_states eddy__cell_run(const eddy_layer *l, const eddy_cell *cell, eddy_tensor x,
                                eddy_tensor h, eddy_tensor c)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    if (cell->kind != EDDY_LSTM_CELL) return (eddy_cell_states){ run_plain(l, cell, x, h), none };
    const eddy_cell_weights w = eddy__cell_weights(l, cell, (eddy_cell_kernel){
        eddy_shape_of(x).dim[2], cell->units, 4, NULL, eddy_zeros_initializer(), 0 });
    if (!eddy_is_valid(w.bias)) return (eddy_cell_states){ w.bias, w.bias };
    eddy_tensor bias = Add(w.bias, eddy__cell_forget(l->graph, cell, l->dtype));
    eddy_tensor y = eddy_lstm(x, h, c, w.x, w.h, bias);
    return (eddy_cell_states){ y, eddy_output(y, 1) };
}
