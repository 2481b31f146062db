/* least_squares.c -- Levenberg-Marquardt: a session computes the residuals and what a step needs of
 * their Jacobian; the steps are computed on float64 vectors here. See
 * optim/minimizers/least_squares.h. */
#include "autodiff/autodiff.h"
#include "autodiff/jacobians/jacobians.h"
#include "graph/base/dtype.h"
#include "graph/call_options.h"
#include "ops/ops.h"
#include "ops/short_names.h"
#include "optim/minimizers/damped_step.h"
#include "optim/minimizers/least_squares.h"
#include "optim/minimizers/objective.h"

#include <math.h>
#include <string.h>

/* AUTO takes QR up to so many elements. CG stops after so many products. */
enum { MOST_FOR_QR = 300, MOST_PRODUCTS = 500 };
/* A step whose path bends more than this part of its length is too long. */
static const double most_bend = 0.75;
/* Where there was none, after a step that did not decrease the loss. */
static const double least_damping = 1e-6;

/* Fetches: the loss, and then of a trial the number of residuals; of the linear model R and Q'r
 * (QR), or the gradient, one tensor for each variable (CG). */
enum { LOSS, COUNT = 1, SQUARE = 1, SIDE, GRADIENT = 1 };

typedef struct fit {
    const eddy_least_squares_args *a;
    objective      o;
    bool           by_qr;
    evaluation     trial, model, product;       /* the third: J'J v */
    eddy_least_squares_report report;
    int64_t        n;
    double        *x, *next;                    /* the point, and the one that is tried */
    double        *g, *p, *rest, *d, *room;     /* gradient, step, its residual, scales */
    double        *bend;                        /* QR: how the path of the step bends */
    double        *square, *side;               /* QR: R [n,n] and Q'r [n] */
    eddy_array   **directions;                  /* CG: v, one array for each variable */
    double         c, growth;                   /* damping, and its factor after a failure */
    double         first_gradient;              /* its norm at the start */
} fit;

static bool fail(fit *f, eddy_status s, const char *what)
{
    return eddy__objective_fail(&f->o, s, what);
}

/* ---------------------------------------------------------------- the graph -- */

/* All residuals as one vector of float64. */
static eddy_tensor all_residuals(fit *f)
{
    const eddy_list list = f->a->residuals;
    eddy_tensor    *parts = eddy__objective_alloc(&f->o, list.count, sizeof *parts);
    for (int i = 0; parts && i < list.count; i++) {
        const eddy_tensor r = list.at[i];
        if (!eddy_is_valid(r) || r.graph != f->o.graph) {
            eddy__error_set(&f->o.error, EDDY_INVALID_ARGUMENT,
                            "least_squares: residuals[%d] is not a tensor of the graph", i);
            return EDDY_NO_TENSOR;
        }
        if (!eddy__dtype_is_float(eddy_dtype_of(r))) {
            eddy__error_set(&f->o.error, EDDY_BAD_DTYPE,
                            "least_squares: residuals[%d], '%.200s', is %s; float32 or float64 "
                            "expected", i, eddy_name_of(r), eddy_dtype_name(eddy_dtype_of(r)));
            return EDDY_NO_TENSOR;
        }
        parts[i] = Reshape(Cast(r, EDDY_FLOAT64), EDDY_SHAPE(-1));
    }
    return !parts           ? EDDY_NO_TENSOR
           : list.count > 1 ? eddy_concat((eddy_list){ list.count, parts }, 0)
                            : parts[0];
}

/* The Jacobian [m,n] of r, float64. */
static eddy_tensor whole_jacobian(fit *f, eddy_tensor r)
{
    const eddy_list xs = { f->o.n_variables, f->o.variables };
    eddy_tensor    *parts = eddy__objective_alloc(&f->o, xs.count, sizeof *parts);
    if (!parts || eddy_jacobian(r, xs, parts, EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return EDDY_NO_TENSOR;
    int n = 0;
    for (int i = 0; i < xs.count; i++) {
        const int64_t count = eddy_shape_count(eddy_shape_of(xs.at[i]));
        if (count > 0)
            parts[n++] = Cast(Reshape(parts[i], EDDY_SHAPE(-1, count)), EDDY_FLOAT64);
    }
    return n > 1 ? eddy_concat((eddy_list){ n, parts }, 1) : parts[0];
}

static void add_qr(fit *f, eddy_tensor r, eddy_tensor *fetches)
{
    const eddy_tensor q = eddy_qr(whole_jacobian(f, r));
    fetches[SQUARE] = eddy_output(q, 1);
    fetches[SIDE] = eddy_matvec(q, r, .transpose_a = true);
}

/* The derivative of y along v, zeros if there is none. */
static eddy_tensor along(eddy_tensor y, eddy_list xs, eddy_list vs)
{
    eddy_tensor dy = EDDY_NO_TENSOR;
    eddy_jvp(EDDY_LIST(y), xs, vs, &dy);
    return eddy_is_valid(dy) ? dy : ZerosLike(y);
}

/* J'u for a direction v that is fed: CG: u = J v, for the product J'J v; QR: u = the second
 * derivative of the residuals along v. */
static bool add_product(fit *f, eddy_tensor r)
{
    const eddy_list xs = { f->o.n_variables, f->o.variables };
    eddy_tensor    *v = eddy__objective_alloc(&f->o, 2 * (int64_t)xs.count, sizeof *v);
    f->directions = eddy__objective_alloc(&f->o, xs.count, sizeof(eddy_array *));
    if (!v || !f->directions) return false;
    for (int i = 0; i < xs.count; i++) {
        const eddy_dtype d = eddy_dtype_of(xs.at[i]);
        v[i] = eddy_placeholder(f->o.graph, "direction", d, eddy_shape_of(xs.at[i]));
        f->directions[i] = eddy_array_new(d, eddy_shape_of(xs.at[i]));
        if (!f->directions[i]) return fail(f, EDDY_NO_MEMORY, "out of memory");
    }
    const eddy_list vs = { xs.count, v };
    const eddy_tensor first = along(r, xs, vs);
    eddy_gradients(EDDY_LIST(r), xs, v + xs.count,
                   EDDY_LIST(f->by_qr ? along(first, xs, vs) : first),
                   .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    if (eddy_graph_status(f->o.graph) != EDDY_OK)
        return fail(f, eddy_graph_status(f->o.graph), eddy_graph_message(f->o.graph));
    return eddy__objective_evaluation(&f->o, &f->product, xs.count, v + xs.count, vs);
}

static bool build(fit *f, eddy_tensor *trial, eddy_tensor *fetches)
{
    eddy_graph       *g = f->o.graph;
    const eddy_tensor r = all_residuals(f);
    if (!eddy_is_valid(r)) return false;
    trial[LOSS] = fetches[LOSS] = Mul(0.5, Sum(Square(r)));
    trial[COUNT] = eddy_size(r, EDDY_INT64);
    if (f->by_qr) add_qr(f, r, fetches);
    else
        eddy_gradients(EDDY_LIST(fetches[LOSS]), ((eddy_list){ f->o.n_variables, f->o.variables }),
                       fetches + GRADIENT, .unconnected_gradients = EDDY_UNCONNECTED_ZERO);
    if (eddy_graph_status(g) != EDDY_OK)
        return fail(f, eddy_graph_status(g), eddy_graph_message(g));
    return add_product(f, r);
}

static bool make_evaluations(fit *f)
{
    const int    n = f->by_qr ? 3 : 1 + f->o.n_variables;
    eddy_tensor *trial = eddy__objective_alloc(&f->o, 2, sizeof *trial);
    eddy_tensor *fetches = eddy__objective_alloc(&f->o, n, sizeof *fetches);
    if (!trial || !fetches) return false;
    eddy_scope_begin(f->o.graph, "least_squares");
    const bool built = build(f, trial, fetches);
    eddy_scope_end(f->o.graph);
    return built && eddy__objective_evaluation(&f->o, &f->trial, 2, trial, (eddy_list){ 0 }) &&
           eddy__objective_evaluation(&f->o, &f->model, n, fetches, (eddy_list){ 0 });
}

/* ---------------------------------------------------------------- evaluating -- */

/* The loss at `next`, which becomes what the types of the variables hold of it. */
static bool evaluate(fit *f, double *loss)
{
    f->report.evaluations++;
    if (!eddy__objective_set(&f->o, f->next) || !eddy__objective_run(&f->o, &f->trial, NULL))
        return false;
    *loss = eddy_array_get(f->trial.out[LOSS], 0);
    f->report.residuals = (int64_t)eddy_array_get(f->trial.out[COUNT], 0);
    return true;
}

/* R, Q'r, the gradient R'(Q'r), and the norms of J's columns, which are those of R's. */
static void read_qr(fit *f)
{
    const eddy_array *r = f->model.out[SQUARE], *side = f->model.out[SIDE];
    const int64_t     n = f->n, rows = eddy_array_shape(r).dim[0];
    memset(f->square, 0, (size_t)(n * n) * sizeof *f->square);
    memset(f->side, 0, (size_t)n * sizeof *f->side);
    memset(f->g, 0, (size_t)n * sizeof *f->g);
    for (int64_t i = 0; i < rows; i++) {
        f->side[i] = eddy_array_get(side, i);
        for (int64_t j = i; j < n; j++) f->square[i * n + j] = eddy_array_get(r, i * n + j);
        eddy__vector_add(f->g, f->side[i], f->square + i * n, n);
    }
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i <= j; i++) sum += f->square[i * n + j] * f->square[i * n + j];
        f->d[j] = fmax(f->d[j], sqrt(sum));
    }
}

/* The linear model at the point where the variables are. */
static bool linearize(fit *f)
{
    if (!eddy__objective_run(&f->o, &f->model, NULL)) return false;
    if (f->by_qr) read_qr(f);
    else if (!eddy__objective_gather(&f->o, &f->model, GRADIENT, f->g)) return false;
    f->report.loss = eddy_array_get(f->model.out[LOSS], 0);
    f->report.gradient = eddy__vector_largest(f->g, f->n);
    return true;
}

/* y = J'u for the direction x. */
static bool multiply(void *data, const double *x, double *y)
{
    fit *f = data;
    for (int v = 0; v < f->o.n_variables; v++)
        for (int64_t i = 0; i < eddy_array_count(f->directions[v]); i++)
            eddy_array_set(f->directions[v], i, *x++);
    return eddy__objective_run(&f->o, &f->product, (const eddy_array *const *)f->directions) &&
           eddy__objective_gather(&f->o, &f->product, 0, y);
}

/* ----------------------------------------------------------------- iterating -- */

static bool end_with(fit *f, eddy_least_squares_end why, const char *message)
{
    f->report.end = why;
    snprintf(f->report.message, sizeof f->report.message, "%s", message);
    return true;
}

/* Scales of the step: columns of 0 count as 1. */
static double scale_of(const fit *f, int64_t i) { return f->d[i] > 0 ? f->d[i] : 1; }

static double scaled_norm(const fit *f, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++) sum += scale_of(f, i) * v[i] * scale_of(f, i) * v[i];
    return sqrt(sum);
}

/* The step p, how its path bends, and the decrease of the loss that the linear model predicts. */
static bool choose_step(fit *f, double *predicted)
{
    double *scales = f->rest;
    if (!eddy__objective_set(&f->o, f->x)) return false;        /* a step may have been rejected */
    if (f->by_qr) {
        for (int64_t i = 0; i < f->n; i++) scales[i] = scale_of(f, i);
        eddy__damped_step(f->n, f->square, f->side, f->c, scales, f->p, f->room);
        memset(f->rest, 0, (size_t)f->n * sizeof *f->rest);
        if (!multiply(f, f->p, f->bend)) return false;
        eddy__damped_solve(f->n, f->room, f->bend);
        if (!isfinite(eddy__vector_norm(f->bend, f->n)))    /* no second derivative here */
            memset(f->bend, 0, (size_t)f->n * sizeof *f->bend);
    } else {
        /* Precise where the gradient is small: then convergence is fast. */
        const double far = sqrt(eddy__vector_norm(f->g, f->n) / f->first_gradient);
        if (!eddy__conjugate_step(f->n, multiply, f, f->g, f->c, fmin(0.1, far), MOST_PRODUCTS,
                                  f->p, f->rest, f->room))
            return false;
    }
    const double damped = f->c * scaled_norm(f, f->p) * scaled_norm(f, f->p);
    *predicted = 0.5 * (damped - eddy__vector_dot(f->g, f->p, f->n) +
                        eddy__vector_dot(f->rest, f->p, f->n));
    return true;
}

/* Tries steps until one decreases the loss. True if the fit is over; `failed` is then the
 * reason. */
static bool descend(fit *f, double *decrease, double *predicted, bool *failed)
{
    const eddy_least_squares_args *a = f->a;
    for (;;) {
        double loss;
        if (f->report.evaluations >= a->max_evaluations)
            return end_with(f, EDDY_LEAST_SQUARES_EVALUATIONS, "max_evaluations are done");
        *failed = !choose_step(f, predicted);
        if (*failed) return true;
        if (!(scaled_norm(f, f->p) > a->step_tolerance * scaled_norm(f, f->x)))
            return end_with(f, EDDY_LEAST_SQUARES_STEP, "the step is short enough");
        memcpy(f->next, f->x, (size_t)f->n * sizeof *f->x);
        eddy__vector_add(f->next, 1, f->p, f->n);
        eddy__vector_add(f->next, -0.5, f->bend, f->n);
        *failed = !evaluate(f, &loss);
        if (*failed) return true;
        *decrease = f->report.loss - loss;
        if (isfinite(loss) && *decrease > 1e-4 * *predicted &&
            scaled_norm(f, f->bend) <= most_bend * scaled_norm(f, f->p))
            return false;
        f->c = f->c > 0 ? f->c * f->growth : least_damping;
        f->growth *= 2;
        if (!isfinite(f->c) || !isfinite(f->growth))
            return end_with(f, EDDY_LEAST_SQUARES_STEP, "no shorter step decreases the loss");
    }
}

/* Damping for the next step, after Nielsen. */
static void adapt(fit *f, double quotient)
{
    const double off = 2 * quotient - 1;
    f->c *= fmax(1.0 / 3, 1 - off * off * off);
    f->growth = 2;
}

/* One step. True if it is the last; `failed` is then the reason. */
static bool advance(fit *f, bool *failed)
{
    const eddy_least_squares_args *a = f->a;
    double decrease, predicted, *x = f->x;
    if (descend(f, &decrease, &predicted, failed)) return true;
    const double before = f->report.loss;
    f->x = f->next;
    f->next = x;
    f->report.iterations++;
    adapt(f, decrease / predicted);
    *failed = !linearize(f);
    if (*failed) return true;
    const bool stop = a->callback && !a->callback(a->data, f->report.iterations, f->report.loss);
    if (f->report.gradient <= a->gradient_tolerance)
        return end_with(f, EDDY_LEAST_SQUARES_GRADIENT, "the gradient is small enough");
    if (decrease <= a->loss_tolerance * before && predicted <= a->loss_tolerance * before)
        return end_with(f, EDDY_LEAST_SQUARES_LOSS, "the loss hardly falls any more");
    return stop && end_with(f, EDDY_LEAST_SQUARES_CALLBACK, "the callback ended it");
}

/* Scales and damping of the first step. CG has scales of 1, and damping relative to the curvature
 * along the gradient. */
static bool begin_damping(fit *f)
{
    f->c = f->a->damping;
    f->growth = 2;
    f->first_gradient = eddy__vector_norm(f->g, f->n);
    if (f->by_qr || f->first_gradient == 0) return true;
    if (!multiply(f, f->g, f->p)) return false;
    const double square = f->first_gradient * f->first_gradient;
    f->c *= eddy__vector_dot(f->g, f->p, f->n) / square;
    return true;
}

static bool iterate(fit *f)
{
    bool failed = false;
    if (!evaluate(f, &f->report.loss)) return false;
    memcpy(f->x, f->next, (size_t)f->n * sizeof *f->x);
    if (!linearize(f)) return false;
    if (!isfinite(f->report.loss) || !isfinite(f->report.gradient))
        return fail(f, EDDY_INVALID_ARGUMENT,
                    "the residuals or their derivatives are not finite at the start");
    if (!begin_damping(f)) return false;
    bool done = f->report.gradient <= f->a->gradient_tolerance &&
                end_with(f, EDDY_LEAST_SQUARES_GRADIENT, "the gradient is small enough");
    while (!done && f->report.iterations < f->a->max_iterations) done = advance(f, &failed);
    if (!done) end_with(f, EDDY_LEAST_SQUARES_ITERATIONS, "max_iterations are done");
    const bool left = eddy__objective_set(&f->o, f->x);
    return !failed && left;
}

/* --------------------------------------------------------------- arguments -- */

static bool check_options(fit *f)
{
    const eddy_least_squares_args *a = f->a;
    const double numbers[] = { a->damping, a->gradient_tolerance, a->loss_tolerance,
                               a->step_tolerance };
    for (int i = 0; i < 4; i++)
        if (!(numbers[i] >= 0) || !isfinite(numbers[i]))
            return fail(f, EDDY_INVALID_ARGUMENT,
                        "damping and tolerances must be numbers that are not negative");
    if (a->max_iterations < 1 || a->max_evaluations < 1)
        return fail(f, EDDY_INVALID_ARGUMENT,
                    "max_iterations and max_evaluations must be at least 1");
    if (a->method < EDDY_LEAST_SQUARES_AUTO || a->method > EDDY_LEAST_SQUARES_CG)
        return fail(f, EDDY_INVALID_ARGUMENT, "there is no such method");
    return eddy__objective_list(&f->o, "residuals", a->residuals);
}

/* Counts the elements, and chooses the method. */
static bool choose_method(fit *f)
{
    int64_t n = 0;
    for (int v = 0; v < f->o.n_variables; v++) {
        const eddy_tensor x = f->o.variables[v];
        const int64_t     count = eddy_shape_count(eddy_shape_of(x));
        if (count < 0)
            return eddy__error_set(&f->o.error, EDDY_BAD_SHAPE,
                                   "least_squares: the shape of the variable '%.200s' is unknown",
                                   eddy_name_of(x));
        n += count;
    }
    if (n < 1) return fail(f, EDDY_INVALID_ARGUMENT, "the variables have no elements");
    f->n = f->report.parameters = n;
    f->by_qr = f->a->method == EDDY_LEAST_SQUARES_QR ||
               (f->a->method == EDDY_LEAST_SQUARES_AUTO && n <= MOST_FOR_QR);
    if (f->a->covariance && !f->by_qr)
        return fail(f, EDDY_INVALID_ARGUMENT, "a covariance needs the method QR");
    return true;
}

static bool make_vectors(fit *f)
{
    const int64_t n = f->n, room = f->by_qr ? n * (n + 2) : 2 * n;
    double      **all[] = { &f->x, &f->next, &f->g, &f->p, &f->rest, &f->d, &f->side,
                             &f->bend };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = eddy__objective_alloc(&f->o, n, sizeof(double)))) return false;
    f->room = eddy__objective_alloc(&f->o, room, sizeof(double));
    f->square = eddy__objective_alloc(&f->o, f->by_qr ? n * n : 0, sizeof(double));
    if (!f->room || !f->square) return false;
    eddy__objective_start(&f->o, f->next);
    return true;
}

static bool report_covariance(fit *f)
{
    const int64_t n = f->n, m = f->report.residuals;
    if (!f->a->covariance) return true;
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n, n));
    if (!a) return fail(f, EDDY_NO_MEMORY, "out of memory");
    double      *to = eddy_array_data(a);
    const double variance = m > n ? 2 * f->report.loss / (double)(m - n) : INFINITY;
    eddy__inverse_of_square(n, f->square, to, f->room);
    for (int64_t i = 0; i < n * n; i++) to[i] *= variance;
    *f->a->covariance = a;
    return true;
}

static bool run(fit *f)
{
    const eddy_least_squares_args *a = f->a;
    const eddy_tensor first = a->residuals.count > 0 ? a->residuals.at[0] : EDDY_NO_TENSOR;
    return eddy__objective_begin(&f->o, a->session, first, "residual", a->var_list, a->feeds) &&
           choose_method(f) && make_evaluations(f) && eddy__objective_read(&f->o) &&
           make_vectors(f) && iterate(f) && report_covariance(f);
}

eddy_status eddy_least_squares_with(const eddy_least_squares_args *given)
{
    eddy_least_squares_args a = EDDY_TAKE(eddy_least_squares_args, given);
    fit f = { .a = &a, .o = { .who = "least_squares" } };
    if (a.covariance) *a.covariance = NULL;
    const bool ok = check_options(&f) && run(&f);
    eddy__evaluation_end(&f.trial);
    eddy__evaluation_end(&f.model);
    eddy__evaluation_end(&f.product);
    for (int v = 0; f.directions && v < f.o.n_variables; v++) eddy_array_free(f.directions[v]);
    eddy__objective_end(&f.o);
    if (!ok) {
        f.report.end = EDDY_LEAST_SQUARES_FAILED;
        snprintf(f.report.message, sizeof f.report.message, "%s", f.o.error.message);
    }
    if (a.report) *a.report = f.report;
    return ok ? EDDY_OK : f.o.error.status;
}
