/* rnn_weights.c -- converts the weights of recurrent cells from the layouts of other libraries. */
#include "layers/rnn_weights.h"
#include "graph/op.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <stdio.h>

enum { MOST_PARTS = 4 };

/* Weights brought to [n, parts] and [h, parts], and biases of x and of h. */
typedef struct halves {
    int         parts;
    eddy_tensor x, h, bias_x, bias_h;
} halves;

static int parts_of(eddy_cell_kind kind)
{
    return kind == EDDY_LSTM_CELL ? 4 : kind == EDDY_GRU_CELL ? 3 : 1;
}

/* Part k of the columns. */
static eddy_tensor part_of(eddy_tensor x, int parts, int k)
{
    return parts == 1 ? x : eddy_output(eddy_split(x, parts, .axis = -1), k);
}

static eddy_tensor chosen(eddy_tensor x, int parts, int n, const int *order)
{
    eddy_tensor at[MOST_PARTS];
    for (int k = 0; k < n; k++) at[k] = part_of(x, parts, order[k]);
    return n == 1 ? at[0] : eddy_concat((eddy_list){ n, at }, -1);
}

static eddy_tensor bias_or_zeros(eddy_tensor bias, eddy_tensor kernel)
{
    return bias.graph ? bias : ZerosLike(eddy_sum(kernel, EDDY_AXES(0)));
}

static halves halves_of(const eddy_rnn_weights_args *a)
{
    halves     w = { .parts = parts_of(a->kind), .bias_h = a->recurrent_bias };
    const bool torch = a->layout == EDDY_TORCH_LAYOUT;
    w.x = torch ? Transpose(a->kernel) : a->kernel;
    w.h = torch ? Transpose(a->recurrent_kernel) : a->recurrent_kernel;
    w.bias_x = a->bias;
    if (a->layout == EDDY_KERAS_LAYOUT && a->bias.graph && eddy_shape_of(a->bias).rank == 2) {
        w.bias_x = eddy_index(a->bias, "0");
        w.bias_h = eddy_index(a->bias, "1");
    }
    w.bias_x = bias_or_zeros(w.bias_x, w.x);
    w.bias_h = bias_or_zeros(w.bias_h, w.x);
    return w;
}

/* The weights of an LSTM or a basic cell, from a kernel [n + h, parts] and one bias. */
static eddy_rnn_weights joint(const eddy_rnn_weights_args *a, eddy_tensor kernel, eddy_tensor bias)
{
    static const int order[] = { 0, 2, 1, 3 };
    eddy_rnn_weights y = { .kernel = kernel, .bias = bias, .projection = a->projection };
    if (a->kind != EDDY_LSTM_CELL) return y;
    if (a->layout == EDDY_TENSORFLOW_LAYOUT) {
        y.kernel = chosen(kernel, 4, 4, order);
        y.bias = chosen(bias, 4, 4, order);
        return y;
    }
    const eddy_tensor none = ZerosLike(part_of(bias, 4, 0));
    y.bias = Sub(bias, eddy_concat(EDDY_LIST(none, Add(none, a->forget_bias), none, none), 0));
    if (a->layout == EDDY_TORCH_LAYOUT && a->projection.graph)
        y.projection = Transpose(a->projection);
    return y;
}

static eddy_rnn_weights gru_of(const eddy_rnn_weights_args *a, const halves *w)
{
    const bool keras = a->layout == EDDY_KERAS_LAYOUT;
    const int  gates[] = { keras, !keras }, last = 2;
    const eddy_tensor x = chosen(w->x, 3, 2, gates), h = chosen(w->h, 3, 2, gates);
    return (eddy_rnn_weights){
        .gates_kernel = eddy_concat(EDDY_LIST(x, h), 0),
        .gates_bias = chosen(Add(w->bias_x, w->bias_h), 3, 2, gates),
        .candidate_kernel =
            eddy_concat(EDDY_LIST(part_of(w->x, 3, last), part_of(w->h, 3, last)), 0),
        .candidate_bias = part_of(w->bias_x, 3, last),
        .recurrent_bias = part_of(w->bias_h, 3, last),
    };
}

static bool check_args(eddy_graph *g, const eddy_rnn_weights_args *a)
{
    const bool tf = a->layout == EDDY_TENSORFLOW_LAYOUT, gru = a->kind == EDDY_GRU_CELL;
    const eddy_tensor second = !tf ? a->recurrent_kernel : gru ? a->candidate_kernel : a->kernel;
    if (a->kind < EDDY_BASIC_RNN_CELL || a->kind > EDDY_GRU_CELL ||
        a->layout < EDDY_TORCH_LAYOUT || a->layout > EDDY_KERAS_LAYOUT)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "rnn_weights: unknown cell kind %d or layout %d",
                  (int)a->kind, (int)a->layout);
    else if (!second.graph)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "rnn_weights: %s is missing",
                  tf ? "candidate_kernel" : "recurrent_kernel");
    return eddy_graph_status(g) == EDDY_OK;
}

eddy_rnn_weights eddy_convert_rnn_weights_with(const eddy_rnn_weights_args *given)
{
    eddy_rnn_weights_args a = EDDY_TAKE(eddy_rnn_weights_args, given);
    eddy_rnn_weights      y = { .kernel = eddy_none(a.kernel.graph) };
    if (!eddy_is_valid(a.kernel)) return (void)eddy_identity(a.kernel), y;
    if (!check_args(a.kernel.graph, &a)) return y;
    if (a.layout == EDDY_TENSORFLOW_LAYOUT) {
        const eddy_tensor bias = bias_or_zeros(a.bias, a.kernel);
        if (a.kind != EDDY_GRU_CELL) return joint(&a, a.kernel, bias);
        y.gates_kernel = a.kernel;
        y.gates_bias = bias;
        y.candidate_kernel = a.candidate_kernel;
        y.candidate_bias = bias_or_zeros(a.candidate_bias, a.candidate_kernel);
        return y;
    }
    const halves w = halves_of(&a);
    if (a.kind == EDDY_GRU_CELL) return gru_of(&a, &w);
    return joint(&a, eddy_concat(EDDY_LIST(w.x, w.h), 0), Add(w.bias_x, w.bias_h));
}

/* -------------------------------------------------------------- assigning -- */

/* Assigns t to the variable scope/name; `optional`: if there is one. */
static eddy_tensor assign(eddy_graph *g, const char *scope, const char *name, eddy_tensor t,
                          bool optional)
{
    char tensor[2 * EDDY_MAX_NAME];
    snprintf(tensor, sizeof tensor, "%s/%s:0", scope, name);
    if (!eddy_is_valid(t) || (optional && !eddy_graph_has(g, tensor))) return EDDY_NO_TENSOR;
    if (!eddy_graph_has(g, tensor))
        return eddy_fail(g, EDDY_NOT_FOUND, "rnn_weights: there is no variable '%.200s/%s'", scope,
                         name);
    return eddy_assign(eddy_graph_tensor(g, tensor), t);
}

eddy_tensor eddy_assign_rnn_weights(eddy_graph *g, const char *scope, eddy_rnn_weights w)
{
    const struct {
        const char *name;
        eddy_tensor value;
        bool        optional;
    } all[] = {
        { "kernel", w.kernel, false }, { "bias", w.bias, false },
        { "projection/kernel", w.projection, false }, { "gates/kernel", w.gates_kernel, false },
        { "gates/bias", w.gates_bias, false }, { "candidate/kernel", w.candidate_kernel, false },
        { "candidate/bias", w.candidate_bias, false },
        { "candidate/recurrent_bias", w.recurrent_bias, true },
    };
    enum { N = sizeof all / sizeof *all };
    eddy_tensor done[N];
    int         n = 0;
    for (int k = 0; k < N && eddy_graph_status(g) == EDDY_OK; k++) {
        done[n] = assign(g, scope ? scope : "", all[k].name, all[k].value, all[k].optional);
        n += done[n].graph != NULL;
    }
    if (eddy_graph_status(g) != EDDY_OK) return eddy_none(g);
    if (n == 0) return eddy_fail(g, EDDY_INVALID_ARGUMENT, "rnn_weights: there are no weights");
    return eddy_group(g, (eddy_list){ n, done });
}
