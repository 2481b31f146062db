/* rnn_cells.c -- the library's recurrent cells (rnn.h): basic, LSTM, GRU. */
#include "layers/rnn_cells.h"
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "layers/cells.h"
#include "layers/rnn_internal.h"
#include "ops/short_names.h"

typedef struct ready_cell {
    eddy_graph        *graph;
    eddy_rnn_cell_args args;
    eddy_cell          cell;            /* what cells.c needs of args */
    eddy_rnn_state     state[2];
    bool               prepared;
    int64_t            n;               /* columns of the input */
    eddy_dtype         dtype;
    eddy_plain_cell    plain;           /* not of an LSTM */
    eddy_cell_weights  lstm;
    eddy_tensor        w_f, w_i, w_o, projection;
} ready_cell;

/* -------------------------------------------------------------- variables -- */

static eddy_tensor peephole(const eddy_layer *l, const ready_cell *r, const char *name, int part)
{
    return eddy__layer_variable(l, (eddy_layer_weight){
        .name = name, .shape = EDDY_SHAPE(r->args.units), .init = r->args.kernel_initializer,
        .otherwise = eddy_random_uniform_initializer(-0.05, 0.05), .part = part });
}

static void make_lstm(ready_cell *r, const eddy_layer *l)
{
    const int64_t    units = r->args.units, columns = r->state[0].shape.dim[0];
    const eddy_init  zeros = eddy_zeros_initializer();
    char             scope[LAYER_NAME];
    r->lstm = eddy__cell_weights(l, &r->cell,
                                 (eddy_cell_kernel){ r->n, columns, 4, NULL, zeros, 0 });
    r->lstm.bias = Add(r->lstm.bias, eddy__cell_forget(r->graph, &r->cell, r->dtype));
    if (r->args.use_peepholes) {
        r->w_f = peephole(l, r, "w_f_diag", 1);
        r->w_i = peephole(l, r, "w_i_diag", 2);
        r->w_o = peephole(l, r, "w_o_diag", 3);
    }
    if (r->args.num_proj == 0) return;
    eddy_layer at = *l;
    at.name = "projection";
    at.reuse = eddy__layer_inner_reuse(l, "projection", scope);
    eddy__layer_begin(&at);
    r->projection = eddy__layer_variable(&at, (eddy_layer_weight){
        .name = "kernel", .shape = EDDY_SHAPE(units, columns), .init = r->args.kernel_initializer,
        .otherwise = eddy_glorot_uniform_initializer(), .part = 4 });
    eddy__layer_end(&at, r->projection);
}

/* The variables exist, for inputs of this type. */
static bool check_prepared(const ready_cell *r, eddy_type x)
{
    const int64_t n = x.shape.dim[1];
    char          text[200];
    if (n == r->n && x.dtype == r->dtype) return true;
    eddy_fail(r->graph, EDDY_BAD_SHAPE,
              "%s: the cell has variables for inputs of type %s[?,%lld]; x is %s", r->args.name,
              eddy_dtype_name(r->dtype), (long long)r->n, eddy_type_print(x, text, sizeof text));
    return false;
}

static bool prepare(eddy_graph *g, eddy_type x, void *context)
{
    ready_cell *r = context;
    char        text[200];
    if (!eddy__dtype_is_float(x.dtype) || x.shape.rank != 2 ||
        x.shape.dim[1] < 0) {
        eddy_fail(g, x.shape.rank == 2 && x.shape.dim[1] >= 0 ? EDDY_BAD_DTYPE : EDDY_BAD_SHAPE,
                  "%s: the input of a step is %s; it must be float32 or float64, [batch, n], and n "
                  "known", r->args.name, eddy_type_print(x, text, sizeof text));
        return false;
    }
    if (!eddy__cell_belongs(g, r->args.name, r->graph)) return false;
    if (r->prepared) return check_prepared(r, x);
    const eddy_layer l = { .graph = g, .who = r->args.name, .name = r->args.name,
                           .reuse = r->args.reuse, .dtype = x.dtype,
                           .not_trainable = r->args.not_trainable, .seed = r->args.seed };
    r->prepared = true;
    r->n = x.shape.dim[1];
    r->dtype = x.dtype;
    eddy__layer_begin(&l);
    if (r->cell.kind == EDDY_LSTM_CELL) make_lstm(r, &l);
    else eddy__plain_cell_make(&r->plain, &l, &r->cell, r->n);
    eddy_scope_end(g);
    return eddy__graph_ready(g);
}

/* ------------------------------------------------------------------ steps -- */

/* All products of x in one: of a GRU those for the gates first. */
static eddy_tensor project(eddy_tensor x, void *context)
{
    const ready_cell *r = context;
    if (r->cell.kind == EDDY_LSTM_CELL) return eddy__cell_product(x, r->lstm.x, r->lstm.bias);
    const eddy_cell_weights *c = &r->plain.candidate, *g = &r->plain.gates;
    if (r->cell.kind == EDDY_BASIC_RNN_CELL) return eddy__cell_product(x, c->x, c->bias);
    return eddy__cell_product(x, eddy_concat(EDDY_LIST(g->x, c->x), 1),
                              eddy_concat(EDDY_LIST(g->bias, c->bias), 0));
}

static int plain_step(eddy_list in, eddy_tensor *y, void *context)
{
    const ready_cell *r = context;
    const int64_t     units = r->args.units;
    eddy_tensor       gates = in.at[0], candidate = in.at[0];
    if (r->cell.kind == EDDY_GRU_CELL) {
        gates = eddy_split_sizes(in.at[0], (int64_t[]){ 2 * units, units }, 2, .axis = 1);
        candidate = eddy_output(gates, 1);
    }
    y[0] = y[1] = eddy__plain_cell_step(&r->plain, gates, candidate, in.at[1]);
    return 2;
}

static eddy_tensor clipped(eddy_tensor x, double clip)
{
    if (clip == 0) return x;
    return eddy_clip_by_value(x, NumberLike(-clip, x), NumberLike(clip, x));
}

/* sigmoid(z + w c), or without a w sigmoid(z). */
static eddy_tensor gate(eddy_tensor z, eddy_tensor w, eddy_tensor c)
{
    return Sigmoid(w.graph ? Add(z, Mul(w, c)) : z);
}

static int lstm_step(eddy_list in, eddy_tensor *y, void *context)
{
    const ready_cell     *r = context;
    const eddy_activation f = r->args.activation ? r->args.activation : eddy_tanh;
    const eddy_tensor     z = eddy_split(Add(in.at[0], MatMul(in.at[1], r->lstm.h)), 4, 1);
    eddy_tensor           c = in.at[2], kept = Mul(gate(eddy_output(z, 1), r->w_f, c), c);
    c = Add(kept, Mul(gate(z, r->w_i, c), eddy__layer_activate(f, eddy_output(z, 2))));
    c = clipped(c, r->args.cell_clip);
    eddy_tensor h = Mul(gate(eddy_output(z, 3), r->w_o, c), eddy__layer_activate(f, c));
    if (r->projection.graph) h = clipped(MatMul(h, r->projection), r->args.proj_clip);
    y[0] = y[1] = h;
    y[2] = c;
    return 3;
}

/* ------------------------------------------------------------ constructors -- */

static bool check_clip(const eddy_layer *l, const char *what, double clip)
{
    if (clip >= 0) return true;
    eddy_fail(l->graph, EDDY_INVALID_ARGUMENT, "%s: %s is %g; it must be 0 or above "
              "[scope '%.200s']", l->who, what, clip, l->name);
    return false;
}

static bool check_args(const eddy_rnn_cell_args *a)
{
    if (!a->graph || !eddy__graph_ready(a->graph)) return false;
    const eddy_layer l = { .graph = a->graph, .who = a->name, .name = a->name };
    if (a->num_proj != 0 && !eddy__cell_check_size(&l, "num_proj", a->num_proj)) return false;
    return eddy__cell_check_size(&l, "units", a->units) &&
           check_clip(&l, "cell_clip", a->cell_clip) && check_clip(&l, "proj_clip", a->proj_clip);
}

static eddy_rnn_cell make_cell(eddy_cell_kind kind, const eddy_rnn_cell_args *given)
{
    eddy_rnn_cell_args a = EDDY_TAKE(eddy_rnn_cell_args, given);
    const eddy_cell    of_kind = { .kind = kind };
    if (!a.name || !*a.name) a.name = eddy__cell_name(&of_kind);
    if (!check_args(&a)) return EDDY_NO_CELL;
    ready_cell *r = eddy__cell_room(a.graph, a.name, sizeof *r);
    a.name = eddy__cell_text(a.graph, a.name, "cell");
    if (a.reuse) a.reuse = eddy__cell_text(a.graph, a.reuse, a.reuse);
    if (!eddy__graph_ready(a.graph)) return EDDY_NO_CELL;
    const bool    lstm = kind == EDDY_LSTM_CELL;
    const int64_t columns = lstm && a.num_proj > 0 ? a.num_proj : a.units;
    *r = (ready_cell){ .graph = a.graph, .args = a,
                       .state = { { .shape = EDDY_SHAPE(columns) },
                                  { .shape = EDDY_SHAPE(a.units), .is_memory = true } } };
    r->cell = (eddy_cell){ .kind = kind, .units = a.units, .name = a.name,
                           .activation = a.activation, .reset_after = a.reset_after,
                           .forget_bias = a.forget_bias,
                           .kernel_initializer = a.kernel_initializer,
                           .bias_initializer = a.bias_initializer,
                           .kernel_regularizer = a.kernel_regularizer };
    return (eddy_rnn_cell){ .f = { .build = lstm ? lstm_step : plain_step, .context = r,
                                   .name = a.name },
                            .n_state = lstm ? 2 : 1, .state = r->state,
                            .output = EDDY_SHAPE(columns), .prepare = prepare,
                            .project = project };
}

eddy_rnn_cell eddy_basic_rnn_cell_with(const eddy_rnn_cell_args *given)
{
    return make_cell(EDDY_BASIC_RNN_CELL, given);
}

eddy_rnn_cell eddy_lstm_cell_with(const eddy_rnn_cell_args *given)
{
    return make_cell(EDDY_LSTM_CELL, given);
}

eddy_rnn_cell eddy_gru_cell_with(const eddy_rnn_cell_args *given)
{
    return make_cell(EDDY_GRU_CELL, given);
}
