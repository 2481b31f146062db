/* residuals.c -- the graph of residuals and of their derivatives. See residuals.h. */
#include "optim/minimizers/residuals.h"
#include "autodiff/autodiff.h"
#include "autodiff/jacobians/jacobians.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <math.h>
#include <string.h>

/* Fetches: the loss, and then of a trial the number of residuals; of the linear model R and Q'r
 * (QR), or the gradient, one tensor for each variable (CG). */
enum { LOSS, COUNT = 1, SQUARE = 1, SIDE, GRADIENT = 1 };

/* ---------------------------------------------------------------- the graph -- */

/* The error of the graph, if it has one. */
static bool graph_is_ready(objective *o)
{
    const eddy_status s = eddy_graph_status(o->graph);
    return s == EDDY_OK || eddy__objective_fail(o, s, eddy_graph_message(o->graph));
}

/* All residuals as one vector of float64. */
static bool join_residuals(residuals *r, eddy_list list, eddy_tensor *y)
{
    objective   *o = r->o;
    eddy_tensor *parts = eddy__objective_alloc(o, list.count, sizeof *parts);
    char         which[32];
    if (!parts) return false;
    for (int i = 0; i < list.count; i++) {
        const eddy_tensor t = list.at[i];
        if (!eddy_is_valid(t) || t.graph != o->graph)
            return eddy__error_set(&o->error, EDDY_INVALID_ARGUMENT,
                                   "least_squares: residuals[%d] is not a tensor of the graph", i);
        snprintf(which, sizeof which, "residuals[%d]", i);
        if (!eddy__objective_takes(o, which, t)) return false;
        parts[i] = Reshape(Cast(t, EDDY_FLOAT64), EDDY_SHAPE(-1));
    }
    *y = list.count > 1 ? eddy_concat((eddy_list){ list.count, parts }, 0) : parts[0];
    return graph_is_ready(o);
}

/* The Jacobian [m,n] of y, float64. */
static eddy_tensor whole_jacobian(residuals *r, eddy_tensor y)
{
    const eddy_list xs = { r->o->n_variables, r->o->variables };
    eddy_tensor    *parts = eddy__objective_alloc(r->o, xs.count, sizeof *parts);
    if (!parts || eddy_jacobian(y, xs, parts, EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return EDDY_NO_TENSOR;
    int n = 0;
    for (int i = 0; i < xs.count; i++) {
        const int64_t count = eddy_shape_count(eddy_shape_of(xs.at[i]));
        if (count > 0)
            parts[n++] = Cast(Reshape(parts[i], EDDY_SHAPE(-1, count)), EDDY_FLOAT64);
    }
    return n > 1 ? eddy_concat((eddy_list){ n, parts }, 1) : parts[0];
}

static void add_qr(residuals *r, eddy_tensor y, eddy_tensor *fetches)
{
    const eddy_tensor q = eddy_qr(whole_jacobian(r, y));
    fetches[SQUARE] = eddy_output(q, 1);
    fetches[SIDE] = eddy_matvec(q, y, .transpose_a = true);
}

/* The derivative of y along v, zeros if there is none. */
static eddy_tensor along(eddy_tensor y, eddy_list xs, eddy_list vs)
{
    eddy_tensor dy = EDDY_NO_TENSOR;
    eddy_jvp(EDDY_LIST(y), xs, vs, &dy);
    return eddy_is_valid(dy) ? dy : ZerosLike(y);
}

static bool add_product(residuals *r, eddy_tensor y)
{
    const eddy_list xs = { r->o->n_variables, r->o->variables };
    eddy_tensor    *dx = eddy__objective_alloc(r->o, xs.count, sizeof *dx);
    if (!dx || !eddy__products_begin(&r->product, r->o)) return false;
    const eddy_list   vs = { xs.count, r->product.direction };
    const eddy_tensor first = along(y, xs, vs);
    eddy_gradients(EDDY_LIST(y), xs, dx, EDDY_LIST(r->by_qr ? along(first, xs, vs) : first),
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    return graph_is_ready(r->o) && eddy__products_of(&r->product, dx);
}

static bool build(residuals *r, eddy_list given, eddy_tensor *trial, eddy_tensor *fetches)
{
    eddy_tensor y;
    if (!join_residuals(r, given, &y)) return false;
    trial[LOSS] = fetches[LOSS] = Mul(0.5, Sum(Square(y)));
    trial[COUNT] = eddy_size(y, EDDY_INT64);
    if (r->by_qr) add_qr(r, y, fetches);
    else
        eddy_gradients(EDDY_LIST(fetches[LOSS]),
                       ((eddy_list){ r->o->n_variables, r->o->variables }), fetches + GRADIENT,
                       .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    return graph_is_ready(r->o) && add_product(r, y);
}

static bool make_room(residuals *r)
{
    const int64_t n = r->n;
    r->g = eddy__objective_alloc(r->o, n, sizeof *r->g);
    r->square = eddy__objective_alloc(r->o, r->by_qr ? n * n : 0, sizeof *r->square);
    r->side = eddy__objective_alloc(r->o, n, sizeof *r->side);
    r->norms = eddy__objective_alloc(r->o, n, sizeof *r->norms);
    return r->g && r->square && r->side && r->norms;
}

bool eddy__residuals_begin(residuals *r, objective *o, bool by_qr, int64_t n, eddy_list given)
{
    const int fetched = by_qr ? 3 : 1 + o->n_variables;
    *r = (residuals){ .o = o, .by_qr = by_qr, .n = n };
    eddy_tensor *trial = eddy__objective_alloc(o, 2, sizeof *trial);
    eddy_tensor *fetches = eddy__objective_alloc(o, fetched, sizeof *fetches);
    if (!trial || !fetches || !make_room(r)) return false;
    eddy_scope_begin(o->graph, "least_squares");
    const bool built = build(r, given, trial, fetches);
    eddy_scope_end(o->graph);
    return built && eddy__objective_evaluation(o, &r->trial, 2, trial, (eddy_list){ 0 }) &&
           eddy__objective_evaluation(o, &r->linear, fetched, fetches, (eddy_list){ 0 });
}

void eddy__residuals_end(residuals *r)
{
    if (!r->o) return;
    eddy__evaluation_end(&r->trial);
    eddy__evaluation_end(&r->linear);
    eddy__products_end(&r->product);
}

/* ---------------------------------------------------------------- evaluating -- */

bool eddy__residuals_try(residuals *r, double *x, double *loss)
{
    if (!eddy__objective_set(r->o, x) || !eddy__objective_run(r->o, &r->trial, NULL)) return false;
    *loss = eddy_array_get(r->trial.out[LOSS], 0);
    r->count = (int64_t)eddy_array_get(r->trial.out[COUNT], 0);
    return true;
}

/* R, Q'r, the gradient R'(Q'r), and the norms of J's columns, which are those of R's. */
static void read_qr(residuals *r)
{
    const eddy_array *q = r->linear.out[SQUARE], *side = r->linear.out[SIDE];
    const int64_t     n = r->n, rows = eddy_array_shape(q).dim[0];
    memset(r->square, 0, (size_t)(n * n) * sizeof *r->square);
    memset(r->side, 0, (size_t)n * sizeof *r->side);
    memset(r->g, 0, (size_t)n * sizeof *r->g);
    for (int64_t i = 0; i < rows; i++) {
        r->side[i] = eddy_array_get(side, i);
        for (int64_t j = i; j < n; j++) r->square[i * n + j] = eddy_array_get(q, i * n + j);
        eddy__vector_add(r->g, r->side[i], r->square + i * n, n);
    }
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i <= j; i++) sum += r->square[i * n + j] * r->square[i * n + j];
        r->norms[j] = fmax(r->norms[j], sqrt(sum));
    }
}

bool eddy__residuals_linearize(residuals *r)
{
    if (!eddy__objective_run(r->o, &r->linear, NULL)) return false;
    if (r->by_qr) read_qr(r);
    else if (!eddy__objective_gather(r->o, &r->linear, GRADIENT, r->g)) return false;
    r->loss = eddy_array_get(r->linear.out[LOSS], 0);
    return true;
}
