/* compute_gradients.c -- compute_gradients: pairs of gradient and variable from a loss, or from a
 * function that builds it. */
#include "optim/internal.h"
#include "graph/call_options.h"
#include "autodiff/internal.h"
#include "autodiff/tape.h"
#include "ops/ops.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- arguments -- */

/* Checks the type of the loss, of its weight, or, with their optimizer, of a variable. */
static bool dtype_fits(const eddy_optimizer *o, eddy_tensor t)
{
    const eddy_dtype d = eddy_dtype_of(t);
    if (o && o->def.takes_complex && eddy_dtype_is_complex(d)) return true;
    if (eddy_dtype_is_floating(d)) return true;
    eddy_fail(t.graph, EDDY_BAD_DTYPE,
              "Invalid type %s for %s, expected: [float16, bfloat16, float32, float64].",
              eddy_dtype_name(d), eddy_name_of(t));
    return false;
}

static bool weight_fits(eddy_graph *g, eddy_tensor grad_loss)
{
    if (grad_loss.node == 0 || (eddy_is_valid(grad_loss) && grad_loss.graph == g)) return true;
    eddy_fail(g, EDDY_INVALID_ARGUMENT,
              "compute_gradients: grad_loss is not a tensor of the optimizer's graph");
    return false;
}

/* Checks the arguments for a loss that is a tensor. */
static bool arguments_fit(eddy_graph *g, const eddy_compute_gradients_args *a)
{
    const unsigned gate = (unsigned)a->gate_gradients;
    if (gate > EDDY_GATE_GRAPH)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "gate_gradients must be one of: EDDY_GATE_NONE, EDDY_GATE_OP, "
                  "EDDY_GATE_GRAPH.  Not %u", gate);
    else if (!eddy_is_valid(a->loss) || a->loss.graph != g)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "compute_gradients: the loss is not a tensor of the optimizer's graph");
    else return dtype_fits(NULL, a->loss) && weight_fits(g, a->grad_loss) &&
                (a->grad_loss.node == 0 || dtype_fits(NULL, a->grad_loss));
    return false;
}

/* Copies the caller's list; false with the error set. */
static bool take_list(eddy_graph *g, eddy_list given, eddy_tensor *variable)
{
    for (int i = 0; i < given.count; i++) {
        variable[i] = given.at[i];
        if (eddy_is_valid(variable[i]) && variable[i].graph == g) continue;
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Trying to optimize unsupported type: entry %d of var_list is not a tensor of "
                  "this graph", i);
        return false;
    }
    return true;
}

/* ------------------------------------------------------------- gradients -- */

/* Variables and their gradients, side by side. */
typedef struct columns {
    eddy_tensor *variable, *gradient;
    int          count;
} columns;

static bool columns_new(eddy_graph *g, int count, columns *c)
{
    const int n = count > 0 ? count : 0;
    *c = (columns){ eddy__tensors_new(g, n), eddy__tensors_new(g, n), n };
    return c->variable && c->gradient;
}

static void columns_free(eddy_graph *g, columns *c)
{
    eddy__tensors_free(g, c->variable, c->count);
    eddy__tensors_free(g, c->gradient, c->count);
}

/* The gradients of a loss that is a tensor, gated as requested. */
static bool by_sweep(eddy_graph *g, const eddy_compute_gradients_args *a, columns *c)
{
    const eddy_scaling scaling = eddy__scaling_of(a->optimizer, a->loss);
    const eddy_tensor  weight[] = { eddy__scaled_weight(&scaling, a->loss, a->grad_loss) };
    const bool each = a->gate_gradients == EDDY_GATE_DEFAULT || a->gate_gradients == EDDY_GATE_OP;
    const bool all = !a->var_list.at;
    if (!columns_new(g, all ? eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES)
                            : a->var_list.count, c))
        return false;
    if (c->count == 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "No variables to optimize.");
    if (all) eddy_collection_get(g, EDDY_TRAINABLE_VARIABLES, NULL, c->variable, c->count);
    else if (!take_list(g, a->var_list, c->variable)) return false;
    if (!eddy__graph_ready(g)) return false;
    eddy_gradients(EDDY_LIST(a->loss), ((eddy_list){ c->count, c->variable }), c->gradient,
                   .grad_ys = { weight[0].node ? 1 : 0, weight[0].node ? weight : NULL },
                   .gate_gradients = each, .aggregation_method = a->aggregation_method,
                   .colocate_gradients_with_ops = a->colocate_gradients_with_ops);
    if (eddy__graph_ready(g) && a->gate_gradients == EDDY_GATE_GRAPH)
        eddy_tuple(g, (eddy_list){ c->count, c->gradient }, c->gradient, NULL);
    for (int i = 0; i < c->count && eddy__graph_ready(g); i++)
        if (eddy_is_valid(c->gradient[i]) && dtype_fits(a->optimizer, c->variable[i]))
            c->gradient[i] = eddy__unscaled(&scaling, c->gradient[i]);
    return eddy__graph_ready(g);
}

static int by_creation(const void *a, const void *b)
{
    const eddy_tensor *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* The variables: those of the list, or those that the tape has recorded. */
static bool watched(eddy_graph *g, const eddy_compute_gradients_args *a, eddy_tape *tape,
                    columns *c)
{
    const bool given = a->var_list.at != NULL;
    if (!columns_new(g, given ? a->var_list.count : eddy_tape_watched_variables(tape, NULL, 0), c))
        return false;
    if (given) return take_list(g, a->var_list, c->variable);
    eddy_tape_watched_variables(tape, c->variable, c->count);
    if (c->count > 0) qsort(c->variable, (size_t)c->count, sizeof *c->variable, by_creation);
    return eddy__graph_ready(g);
}

/* The gradients of a loss that a function builds while a tape records; *loss is the loss. */
static bool by_tape(eddy_graph *g, const eddy_compute_gradients_args *a, eddy_tape *tape,
                    columns *c, eddy_tensor *loss)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_tape_begin(tape);
    if (a->var_list.at) eddy_tape_watch(tape, a->var_list);
    const int results = eddy__graph_ready(g)
                            ? eddy__function_build(g, "compute_gradients", &a->loss_function,
                                                   EDDY_LIST(), y) : 0;
    eddy_tape_end(tape);
    if (results > 1)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "compute_gradients: the number of results of the loss function is %d; expected 1",
                  results);
    if (results != 1 || !watched(g, a, tape, c)) return false;
    *loss = y[0];
    const eddy_scaling scaling = eddy__scaling_of(a->optimizer, y[0]);
    const eddy_tensor weight[] = { eddy__scaled_weight(&scaling, y[0], a->grad_loss) };
    const bool        weighted = weight[0].node != 0;
    eddy_tape_gradient(tape, EDDY_LIST(y[0]), ((eddy_list){ c->count, c->variable }), c->gradient,
                       .output_gradients = { weighted ? 1 : 0, weighted ? weight : NULL });
    for (int i = 0; i < c->count && eddy__graph_ready(g); i++)
        c->gradient[i] = eddy__unscaled(&scaling, c->gradient[i]);
    return eddy__graph_ready(g);
}

static bool compute(eddy_graph *g, const eddy_compute_gradients_args *a, columns *c,
                    eddy_tensor *loss)
{
    *loss = a->loss;
    if (!a->loss_function.build) return arguments_fit(g, a) && by_sweep(g, a, c);
    if (!weight_fits(g, a->grad_loss)) return false;
    eddy_tape *tape = eddy_tape_new(g);
    const bool ok = tape && by_tape(g, a, tape, c, loss);
    eddy_tape_free(tape);
    return ok;
}

/* ------------------------------------------------------------------ pairs -- */

bool eddy__pairs_compute(eddy_graph *g, const eddy_compute_gradients_args *a, eddy_pairs *out)
{
    columns c = { 0 };
    *out = (eddy_pairs){ .loss = a->loss };
    const eddy_list given = a->var_list;
    if ((given.at || eddy__list_is_of(g, "compute_gradients", "var_list", given)) &&
        compute(g, a, &c, &out->loss)) {
        out->at = eddy__allocate_zeroed(eddy__graph_allocator(g), (size_t)c.count, sizeof *out->at);
        if (out->at) out->count = c.count;
        else eddy_fail(g, EDDY_NO_MEMORY, "out of memory (gradients: %d)", c.count);
    }
    for (int i = 0; i < out->count; i++)
        out->at[i] = (eddy_gradient_pair){ c.gradient[i], c.variable[i] };
    columns_free(g, &c);
    return eddy__graph_ready(g);
}

void eddy__pairs_release(eddy_graph *g, eddy_pairs *p)
{
    eddy__release(eddy__graph_allocator(g), p->at, (size_t)p->count * sizeof *p->at);
}

int eddy_compute_gradients_with(const eddy_compute_gradients_args *given)
{
    eddy_compute_gradients_args a = EDDY_TAKE(eddy_compute_gradients_args, given);
    for (int i = 0; a.out && i < a.max_out; i++) a.out[i] = (eddy_gradient_pair){ 0 };
    eddy_graph *g = eddy__optimizer_ready(a.optimizer);
    if (!g) {
        eddy_fail(a.loss.graph, EDDY_INVALID_ARGUMENT,
                  "compute_gradients: the optimizer is NULL or not valid");
        return 0;
    }
    eddy_pairs p;
    const int  room = a.out ? a.max_out : 0;
    if (eddy__pairs_compute(g, &a, &p) && p.count > room)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "compute_gradients: the number of variables is %d, but there is room for %d",
                  p.count, room);
    const int n = eddy__graph_ready(g) ? p.count : 0;
    if (n > 0) memcpy(a.out, p.at, (size_t)n * sizeof *p.at);
    eddy__pairs_release(g, &p);
    return n;
}
