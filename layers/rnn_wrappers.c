/* rnn_wrappers.c -- cells made of cells: stacked, with dropout, residual. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "layers/rnn_cells.h"
#include "layers/rnn_internal.h"
#include "ops/short_names.h"

#include <string.h>

/* The type of an output or a state, `of_one` being its shape for one example, for inputs of type
 * x. */
static eddy_type batch_type(eddy_shape of_one, eddy_type x)
{
    return (eddy_type){ eddy_dtype_is_differentiable(x.dtype) ? x.dtype : EDDY_FLOAT32,
                        eddy__with_batch(of_one, x.shape.rank > 0 ? x.shape.dim[0] : EDDY_ANY) };
}

/* ---------------------------------------------------------------- stacked -- */

typedef struct stack {
    eddy_graph    *graph;
    int            count;
    const char    *name;
    bool           prepared;
    eddy_rnn_cell *cells;
} stack;

static bool stack_prepare(eddy_graph *g, eddy_type x, void *context)
{
    stack *s = context;
    char   name[32];
    bool   done = true;
    if (!eddy__cell_belongs(g, "multi_rnn_cell", s->graph)) return false;
    if (!s->prepared) eddy_scope_begin(g, s->name);
    for (int i = 0; i < s->count && done; i++) {
        snprintf(name, sizeof name, "cell_%d", i);
        if (!s->prepared) eddy_scope_begin(g, name);
        done = eddy__cell_prepare(g, "multi_rnn_cell", &s->cells[i], x);
        if (!s->prepared) eddy_scope_end(g);
        x = batch_type(s->cells[i].output, x);
    }
    if (!s->prepared) eddy_scope_end(g);
    s->prepared = true;
    return done;
}

static eddy_tensor stack_project(eddy_tensor x, void *context)
{
    return eddy__cell_project(&((stack *)context)->cells[0], x);
}

static int stack_step(eddy_list in, eddy_tensor *y, void *context)
{
    const stack *s = context;
    int          at = 1;
    y[0] = in.at[0];
    for (int i = 0; i < s->count; i++) {
        const eddy_rnn_cell *cell = &s->cells[i];
        if (i > 0) y[0] = eddy__cell_project(cell, y[0]);
        y[0] = eddy__cell_call("multi_rnn_cell", cell, y[0], in.at + at, y + at);
        if (!eddy_is_valid(y[0])) return 0;
        at += cell->n_state;
    }
    return at;
}

eddy_rnn_cell eddy_multi_rnn_cell_with(const eddy_multi_rnn_cell_args *given)
{
    static const char        who[] = "multi_rnn_cell";
    eddy_multi_rnn_cell_args a = EDDY_TAKE(eddy_multi_rnn_cell_args, given);
    int                      states = 0;
    if (!a.graph || !eddy__graph_ready(a.graph)) return EDDY_NO_CELL;
    if (a.count < 1 || !a.cells) {
        eddy_fail(a.graph, EDDY_INVALID_ARGUMENT, "%s: there are no cells to stack", who);
        return EDDY_NO_CELL;
    }
    for (int i = 0; i < a.count; i++) {
        if (!eddy__cell_check(a.graph, who, &a.cells[i])) return EDDY_NO_CELL;
        states += a.cells[i].n_state;
        if (states <= EDDY_MAX_STATES) continue;
        eddy_fail(a.graph, EDDY_LIMIT, "%s: the cells have more than %d tensors of state", who,
                  EDDY_MAX_STATES);
        return EDDY_NO_CELL;
    }
    stack          *s = eddy__cell_room(a.graph, who, sizeof *s);
    eddy_rnn_cell  *cells = eddy__cell_room(a.graph, who, (size_t)a.count * sizeof *cells);
    eddy_rnn_state *state = eddy__cell_room(a.graph, who, ((size_t)states + 1) * sizeof *state);
    const char     *name = eddy__cell_text(a.graph, a.name, who);
    if (!s || !cells || !state || !name) return EDDY_NO_CELL;
    memcpy(cells, a.cells, (size_t)a.count * sizeof *cells);
    *s = (stack){ .graph = a.graph, .count = a.count, .name = name, .cells = cells };
    for (int i = 0, at = 0; i < a.count; at += cells[i++].n_state)
        if (cells[i].n_state > 0)
            memcpy(state + at, cells[i].state, (size_t)cells[i].n_state * sizeof *state);
    return (eddy_rnn_cell){ .f = { .build = stack_step, .context = s, .name = name },
                            .n_state = states, .state = state,
                            .output = cells[a.count - 1].output, .prepare = stack_prepare,
                            .project = stack_project };
}

/* ---------------------------------------------------------------- dropout -- */

enum { DROP_INPUT, DROP_OUTPUT, DROP_STATE };

typedef struct dropout {
    eddy_dropout_wrapper_args args;
    bool                      prepared;
    /* variational: what the input, the output and each state are multiplied by */
    eddy_tensor               masks[DROP_STATE + EDDY_MAX_STATES];
} dropout;

static double rate_of(const dropout *d, int k)
{
    return 1 - (k == DROP_INPUT ? d->args.input_keep_prob
                : k == DROP_OUTPUT ? d->args.output_keep_prob : d->args.state_keep_prob);
}

/* One mask for all examples. */
static void make_mask(dropout *d, eddy_graph *g, int k, eddy_type t)
{
    if (rate_of(d, k) <= 0 || t.shape.rank < 1) return;
    t.shape.dim[0] = 1;
    d->masks[k] = eddy_dropout(eddy_ones(g, t.dtype, t.shape), rate_of(d, k),
                               .seed = eddy__layer_seed(d->args.seed, k));
}

static bool dropout_prepare(eddy_graph *g, eddy_type x, void *context)
{
    dropout             *d = context;
    const eddy_rnn_cell *cell = &d->args.cell;
    if (!eddy__cell_belongs(g, "dropout_wrapper", d->args.graph)) return false;
    if (d->args.variational_recurrent && !d->prepared) {
        eddy_scope_begin(g, d->args.name);
        make_mask(d, g, DROP_INPUT, x);
        make_mask(d, g, DROP_OUTPUT, batch_type(cell->output, x));
        for (int k = 0; k < cell->n_state; k++) {
            const eddy_rnn_state *state = &cell->state[k];
            eddy_type             t = batch_type(state->shape, x);
            if (state->dtype) t.dtype = state->dtype;
            if (!state->is_memory && eddy__dtype_is_float(t.dtype))
                make_mask(d, g, DROP_STATE + k, t);
        }
        eddy_scope_end(g);
    }
    d->prepared = true;
    return eddy__cell_prepare(g, "dropout_wrapper", cell, x);
}

static eddy_tensor dropped_out(const dropout *d, int k, eddy_tensor x)
{
    const eddy_dtype  dtype = eddy_dtype_of(x);
    const eddy_tensor mask = d->masks[k], when = d->args.training_when;
    if (rate_of(d, k) <= 0 || !eddy__dtype_is_float(dtype)) return x;
    if (d->args.variational_recurrent && !mask.graph) return x;
    eddy_tensor y = mask.graph ? Mul(x, mask)
                               : eddy_dropout(x, rate_of(d, k),
                                              .seed = eddy__layer_seed(d->args.seed, k));
    return when.graph ? Where(when, y, x) : y;
}

static eddy_tensor dropout_project(eddy_tensor x, void *context)
{
    const dropout *d = context;
    return eddy__cell_project(&d->args.cell, dropped_out(d, DROP_INPUT, x));
}

static int dropout_step(eddy_list in, eddy_tensor *y, void *context)
{
    const dropout       *d = context;
    const eddy_rnn_cell *cell = &d->args.cell;
    y[0] = eddy__cell_call("dropout_wrapper", cell, in.at[0], in.at + 1, y + 1);
    if (!eddy_is_valid(y[0])) return 0;
    for (int k = 0; k < cell->n_state; k++)
        if (!cell->state[k].is_memory) y[k + 1] = dropped_out(d, DROP_STATE + k, y[k + 1]);
    y[0] = dropped_out(d, DROP_OUTPUT, y[0]);
    return cell->n_state + 1;
}

static bool check_probability(eddy_graph *g, const char *what, double p)
{
    if (p > 0 && p <= 1) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "dropout_wrapper: %s is %g; it must be in (0, 1]", what, p);
    return false;
}

eddy_rnn_cell eddy_dropout_wrapper_with(const eddy_dropout_wrapper_args *given)
{
    static const char         who[] = "dropout_wrapper";
    eddy_dropout_wrapper_args a = EDDY_TAKE(eddy_dropout_wrapper_args, given);
    if (!a.graph || !eddy__cell_check(a.graph, who, &a.cell) ||
        !check_probability(a.graph, "input_keep_prob", a.input_keep_prob) ||
        !check_probability(a.graph, "output_keep_prob", a.output_keep_prob) ||
        !check_probability(a.graph, "state_keep_prob", a.state_keep_prob))
        return EDDY_NO_CELL;
    if (!a.training && !a.training_when.graph) return a.cell;
    dropout *d = eddy__cell_room(a.graph, who, sizeof *d);
    a.name = eddy__cell_text(a.graph, a.name, "dropout");
    if (!d || !a.name) return EDDY_NO_CELL;
    *d = (dropout){ .args = a };
    eddy_rnn_cell cell = a.cell;
    cell.f.build = dropout_step;
    cell.f.context = d;
    cell.prepare = dropout_prepare;
    cell.project = dropout_project;
    return cell;
}

/* --------------------------------------------------------------- residual -- */

typedef struct residual {
    eddy_rnn_cell cell;
    eddy_tensor (*residual_fn)(eddy_tensor inputs, eddy_tensor outputs);
} residual;

static bool residual_prepare(eddy_graph *g, eddy_type x, void *context)
{
    return eddy__cell_prepare(g, "residual_wrapper", &((residual *)context)->cell, x);
}

/* The inputs are needed as they are, so the cell projects them here, step by step. */
static int residual_step(eddy_list in, eddy_tensor *y, void *context)
{
    const residual *r = context;
    char            a[200], b[200];
    y[0] = eddy__cell_call("residual_wrapper", &r->cell, eddy__cell_project(&r->cell, in.at[0]),
                           in.at + 1, y + 1);
    if (!eddy_is_valid(y[0])) return 0;
    const eddy_shape x = eddy_shape_of(in.at[0]), out = eddy_shape_of(y[0]);
    if (!r->residual_fn && !eddy_shape_compatible(x, out)) {
        eddy_fail(y[0].graph, EDDY_BAD_SHAPE,
                  "residual_wrapper: %.200s makes %s of inputs %s; they must be alike",
                  eddy__cell_title(&r->cell), eddy_shape_print(out, a, sizeof a),
                  eddy_shape_print(x, b, sizeof b));
        return 0;
    }
    y[0] = r->residual_fn ? r->residual_fn(in.at[0], y[0]) : Add(in.at[0], y[0]);
    return r->cell.n_state + 1;
}

eddy_rnn_cell eddy_residual_wrapper_with(const eddy_residual_wrapper_args *given)
{
    static const char          who[] = "residual_wrapper";
    eddy_residual_wrapper_args a = EDDY_TAKE(eddy_residual_wrapper_args, given);
    if (!a.graph || !eddy__cell_check(a.graph, who, &a.cell)) return EDDY_NO_CELL;
    residual *r = eddy__cell_room(a.graph, who, sizeof *r);
    if (!r) return EDDY_NO_CELL;
    *r = (residual){ .cell = a.cell, .residual_fn = a.residual_fn };
    eddy_rnn_cell cell = a.cell;
    cell.f.build = residual_step;
    cell.f.context = r;
    cell.prepare = residual_prepare;
    cell.project = NULL;
    return cell;
}
