/* least_squares.c -- Levenberg-Marquardt: a session computes the residuals and what a step needs of
 * their Jacobian; the steps are computed on float64 vectors here. See
 * optim/minimizers/minimizers.h. */
#include "graph/call_options.h"
#include "optim/minimizers/bounds.h"
#include "optim/minimizers/damped_step.h"
#include "optim/minimizers/minimizers.h"
#include "optim/minimizers/residuals.h"

#include <math.h>
#include <string.h>

/* AUTO takes QR up to so many elements. CG stops after so many products. */
enum { MOST_FOR_QR = 300, MOST_PRODUCTS = 500 };
/* A step whose path bends more than this part of its length is too long. */
static const double most_bend = 0.75;
/* Where there was none, after a step that did not decrease the loss. */
static const double least_damping = 1e-6;

typedef struct fit {
    const eddy_least_squares_args *a;
    objective      o;
    residuals      r;
    bounds         bounds;
    eddy_least_squares_report report;
    int64_t        n;
    double        *x, *next;                    /* the point, and the one that is tried */
    double        *p, *rest, *room;             /* the step, its residual */
    double        *g;                           /* the gradient, 0 for elements that are held */
    double        *bend;                        /* QR: how the path of the step bends */
    double        *weights, *square;            /* QR: of the damping; R without held columns */
    bool          *held;                        /* at a bound, out of which the gradient leads */
    double         c, growth;                   /* damping, and its factor after a failure */
    double         first_gradient;              /* its norm at the start */
} fit;

static bool fail(fit *f, eddy_status s, const char *what)
{
    return eddy__objective_fail(&f->o, s, what);
}

static bool end_with(fit *f, eddy_least_squares_end why, const char *message)
{
    f->report.end = why;
    snprintf(f->report.message, sizeof f->report.message, "%s", message);
    return true;
}

/* ------------------------------------------------------------------- the step -- */

/* Scales of the step: columns of 0 count as 1. */
static double scale_of(const fit *f, int64_t i) { return f->r.norms[i] > 0 ? f->r.norms[i] : 1; }

static double scaled_norm(const fit *f, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < f->n; i++) sum += scale_of(f, i) * v[i] * scale_of(f, i) * v[i];
    return sqrt(sum);
}

static void clear_held(const fit *f, double *v)
{
    for (int64_t i = 0; f->bounds.given && i < f->n; i++)
        if (f->held[i]) v[i] = 0;
}

/* y = J'J x without the elements that are held, and with those that are not. */
static bool multiply(void *data, const double *x, double *y)
{
    fit *f = data;
    if (!eddy__products_run(&f->r.product, x, y)) return false;
    clear_held(f, y);
    return true;
}

/* The step and how its path bends, from R. */
static bool step_by_qr(fit *f)
{
    const double *square = f->r.square;
    if (f->bounds.given) {
        memcpy(f->square, square, (size_t)(f->n * f->n) * sizeof *square);
        for (int64_t i = 0; i < f->n; i++) clear_held(f, f->square + i * f->n);
        square = f->square;
    }
    for (int64_t i = 0; i < f->n; i++)
        f->weights[i] = f->held[i] ? 1 : sqrt(f->c) * scale_of(f, i);
    eddy__damped_step(f->n, square, f->r.side, f->weights, f->p, f->room);
    if (!multiply(f, f->p, f->bend)) return false;
    eddy__damped_solve(f->n, f->room, f->bend);
    if (!isfinite(eddy__vector_norm(f->bend, f->n)))    /* no second derivative here */
        memset(f->bend, 0, (size_t)f->n * sizeof *f->bend);
    return true;
}

/* The decrease of the loss that the linear model predicts for p, with the residual `rest`. */
static double predict(fit *f)
{
    const double damped = f->c * scaled_norm(f, f->p) * scaled_norm(f, f->p);
    return 0.5 * (damped - eddy__vector_dot(f->g, f->p, f->n) +
                  eddy__vector_dot(f->rest, f->p, f->n));
}

/* The same for the step to f->next, where a bound may have cut it. */
static bool predict_within(fit *f, double *predicted)
{
    double *s = f->rest, *image = f->room, square = 0;
    for (int64_t i = 0; i < f->n; i++) s[i] = f->next[i] - f->x[i];
    if (f->r.by_qr)
        for (int64_t i = 0; i < f->n; i++) {
            const double y = eddy__vector_dot(f->r.square + i * f->n, s, f->n);
            square += y * y;
        }
    else {
        if (!multiply(f, s, image)) return false;
        square = eddy__vector_dot(s, image, f->n);
    }
    *predicted = -eddy__vector_dot(f->r.g, s, f->n) - 0.5 * square;
    return true;
}

/* The point that is tried, and the decrease of the loss that the linear model predicts. */
static bool choose_step(fit *f, double *predicted)
{
    if (!eddy__objective_set(&f->o, f->x)) return false;        /* a step may have been rejected */
    memset(f->rest, 0, (size_t)f->n * sizeof *f->rest);
    /* Precise where the gradient is small: then convergence is fast. */
    const double far = sqrt(eddy__vector_norm(f->g, f->n) / f->first_gradient);
    const bool   found =
        f->r.by_qr ? step_by_qr(f)
                   : eddy__conjugate_step(f->n, multiply, f, f->g, f->c, INFINITY, fmin(0.1, far),
                                          MOST_PRODUCTS, f->p, f->rest, f->room);
    if (!found) return false;
    *predicted = predict(f);
    memcpy(f->next, f->x, (size_t)f->n * sizeof *f->x);
    eddy__vector_add(f->next, 1, f->p, f->n);
    eddy__vector_add(f->next, -0.5, f->bend, f->n);
    eddy__bounds_clamp(&f->bounds, f->n, f->next);
    return !f->bounds.given || predict_within(f, predicted);
}

/* ----------------------------------------------------------------- iterating -- */

/* The loss at `next`, which becomes what the types of the variables hold of it. */
static bool evaluate(fit *f, double *loss)
{
    f->report.evaluations++;
    if (!eddy__residuals_try(&f->r, f->next, loss)) return false;
    f->report.residuals = f->r.count;
    return true;
}

/* The linear model at x, and which elements are held there. */
static bool linearize(fit *f)
{
    const bounds *b = &f->bounds;
    if (!eddy__residuals_linearize(&f->r)) return false;
    memcpy(f->g, f->r.g, (size_t)f->n * sizeof *f->g);
    for (int64_t i = 0; b->given && i < f->n; i++)
        f->held[i] = (f->g[i] > 0 && f->x[i] <= b->lower[i]) ||
                     (f->g[i] < 0 && f->x[i] >= b->upper[i]);
    clear_held(f, f->g);
    f->report.loss = f->r.loss;
    f->report.gradient = eddy__bounds_gradient(b, f->n, f->x, f->r.g);
    return true;
}

/* Tries steps until one decreases the loss. True if the fit is over; `failed` is then the
 * reason. */
static bool descend(fit *f, double *decrease, double *predicted, bool *failed)
{
    const eddy_least_squares_args *a = f->a;
    for (bool refused = false;; refused = true) {
        double loss;
        if (f->report.evaluations >= a->max_evaluations)
            return end_with(f, EDDY_LEAST_SQUARES_EVALUATIONS, "max_evaluations are done");
        *failed = !choose_step(f, predicted);
        if (*failed) return true;
        if (!(scaled_norm(f, f->p) > a->step_tolerance * scaled_norm(f, f->x)))
            return end_with(f, EDDY_LEAST_SQUARES_STEP,
                            refused ? "no step above step_tolerance decreases the loss enough"
                                    : "the step is short enough");
        *failed = !evaluate(f, &loss);
        if (*failed) return true;
        *decrease = f->report.loss - loss;
        if (isfinite(loss) && *decrease > 1e-4 * *predicted &&
            (!f->bounds.given || *predicted > 0) &&
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

/* Damping of the first step. With CG it is relative to the curvature along the gradient. */
static bool begin_damping(fit *f)
{
    f->c = f->a->damping;
    f->growth = 2;
    f->first_gradient = eddy__vector_norm(f->g, f->n);
    if (f->r.by_qr || f->first_gradient == 0) return true;
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

/* Counts the elements, chooses the method, and builds the graph. */
static bool make_residuals(fit *f)
{
    const eddy_least_squares_args *a = f->a;
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
    const bool by_qr = a->method == EDDY_LEAST_SQUARES_QR ||
                       (a->method == EDDY_LEAST_SQUARES_AUTO && n <= MOST_FOR_QR);
    if (a->covariance && !by_qr)
        return fail(f, EDDY_INVALID_ARGUMENT, "a covariance needs the method QR");
    return eddy__residuals_begin(&f->r, &f->o, by_qr, n, a->residuals);
}

static bool make_vectors(fit *f)
{
    const int64_t n = f->n, room = f->r.by_qr ? n * (n + 2) : 2 * n;
    double      **all[] = { &f->x, &f->next, &f->g, &f->p, &f->rest, &f->bend, &f->weights };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = eddy__objective_alloc(&f->o, n, sizeof(double)))) return false;
    f->held = eddy__objective_alloc(&f->o, n, sizeof *f->held);
    f->room = eddy__objective_alloc(&f->o, room, sizeof(double));
    if (!f->held || !f->room || !eddy__bounds_begin(&f->bounds, &f->o, f->a->lower, f->a->upper))
        return false;
    const int64_t copied = f->bounds.given && f->r.by_qr ? n * n : 0;
    f->square = eddy__objective_alloc(&f->o, copied, sizeof(double));
    if (!f->square) return false;
    eddy__objective_start(&f->o, f->next);
    eddy__bounds_clamp(&f->bounds, n, f->next);
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
    eddy__inverse_of_square(n, f->r.square, to, f->room);
    for (int64_t i = 0; i < n * n; i++) to[i] *= variance;
    *f->a->covariance = a;
    return true;
}

static bool run(fit *f)
{
    const eddy_least_squares_args *a = f->a;
    const eddy_tensor first = a->residuals.count > 0 ? a->residuals.at[0] : EDDY_NO_TENSOR;
    return eddy__objective_begin(&f->o, a->session, first, "residual", a->var_list, a->feeds) &&
           make_residuals(f) && eddy__objective_read(&f->o) && make_vectors(f) && iterate(f) &&
           report_covariance(f);
}

eddy_status eddy_least_squares_with(const eddy_least_squares_args *given)
{
    eddy_least_squares_args a = EDDY_TAKE(eddy_least_squares_args, given);
    fit f = { .a = &a, .o = { .who = "least_squares" } };
    if (a.covariance) *a.covariance = NULL;
    const bool ok = check_options(&f) && run(&f);
    eddy__residuals_end(&f.r);
    eddy__objective_end(&f.o);
    if (!ok) {
        f.report.end = EDDY_LEAST_SQUARES_FAILED;
        snprintf(f.report.message, sizeof f.report.message, "%s", f.o.error.message);
    }
    if (a.report) *a.report = f.report;
    return ok ? EDDY_OK : f.o.error.status;
}
