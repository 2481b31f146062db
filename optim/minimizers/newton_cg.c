/* newton_cg.c -- Newton's method with conjugate gradients in a trust region: a session computes the
 * loss, its gradient and products with the Hessian; all else is on float64 vectors here. See
 * optim/minimizers/minimizers.h. */
#include "autodiff/autodiff.h"
#include "graph/call_options.h"
#include "optim/minimizers/damped_step.h"
#include "optim/minimizers/objective_derivatives.h"
#include "optim/minimizers/minimizers.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A step is taken if the loss falls by more than this part of what the model predicts. Below the
 * first of these quotients the region shrinks, above the second it may grow. */
static const double least_quotient = 1e-4, poor_quotient = 0.25, good_quotient = 0.75;

typedef struct newton {
    const eddy_newton_cg_args *a;
    objective   o;
    evaluation  loss;                           /* followed by the gradients */
    products    hessian;
    eddy_newton_cg_report report;
    int64_t     n;
    double     *x, *g, *next_x, *next_g;        /* the point and the one that is tried */
    double     *p, *rest, *room;                /* the step, and what is left of the gradient */
    double      radius, first_gradient;
} newton;

static bool fail(newton *r, eddy_status s, const char *what)
{
    return eddy__objective_fail(&r->o, s, what);
}

static bool end_with(newton *r, eddy_newton_cg_end why, const char *message)
{
    r->report.end = why;
    snprintf(r->report.message, sizeof r->report.message, "%s", message);
    return true;
}

/* --------------------------------------------------------------- evaluating -- */

static bool evaluate(newton *r, double *loss)
{
    r->report.evaluations++;
    return eddy__loss_at(&r->o, &r->loss, r->next_x, loss, r->next_g);
}

static bool multiply(void *data, const double *v, double *y)
{
    newton *r = data;
    r->report.products++;
    return eddy__products_run(&r->hessian, v, y);
}

static void accept_point(newton *r, double loss)
{
    double *x = r->x, *g = r->g;
    r->x = r->next_x;
    r->g = r->next_g;
    r->next_x = x;
    r->next_g = g;
    r->report.loss = loss;
    r->report.gradient = eddy__vector_largest(r->g, r->n);
}

/* ----------------------------------------------------------------- iterating -- */

/* The step, and the decrease of the loss that the model predicts; precise where the gradient is
 * small: then convergence is fast. */
static bool choose_step(newton *r, double *predicted)
{
    const double far = sqrt(eddy__vector_norm(r->g, r->n) / r->first_gradient);
    if (!eddy__objective_set(&r->o, r->x) ||            /* a step may have been rejected */
        !eddy__conjugate_step(r->n, multiply, r, r->g, 0, r->radius, fmin(0.5, far),
                              r->a->max_products, r->p, r->rest, r->room))
        return false;
    *predicted = 0.5 * (eddy__vector_dot(r->rest, r->p, r->n) -
                        eddy__vector_dot(r->g, r->p, r->n));
    return true;
}

/* The quotient of the decrease and the prediction. Where both are lost in rounding (Conn, Gould and
 * Toint, section 17.4.2), it is 1 if the gradient falls. */
static double quotient_of(const newton *r, double loss, double predicted)
{
    const double decrease = r->report.loss - loss, slope = eddy__vector_norm(r->next_g, r->n);
    const double noise = 10 * DBL_EPSILON * fmax(1, fabs(r->report.loss));
    if (!isfinite(loss) || !isfinite(slope)) return -INFINITY;
    if (fabs(decrease) > noise || fabs(predicted) > noise) return decrease / predicted;
    return slope < eddy__vector_norm(r->g, r->n) ? 1 : -INFINITY;
}

static void adapt_radius(newton *r, double quotient)
{
    const double length = eddy__vector_norm(r->p, r->n);
    if (!(quotient >= poor_quotient)) r->radius = 0.25 * length;
    else if (quotient > good_quotient && length >= 0.99 * r->radius) r->radius *= 2;
}

/* Tries steps until one decreases the loss. True if none does; `failed` is then the reason. */
static bool descend(newton *r, double *loss, double *predicted, bool *failed)
{
    for (;;) {
        if (r->report.evaluations >= r->a->max_evaluations)
            return end_with(r, EDDY_NEWTON_CG_EVALUATIONS, "max_evaluations are done");
        *failed = !choose_step(r, predicted);
        if (*failed) return true;
        memcpy(r->next_x, r->x, (size_t)r->n * sizeof *r->x);
        eddy__vector_add(r->next_x, 1, r->p, r->n);
        *failed = !evaluate(r, loss);
        if (*failed) return true;
        const double quotient = quotient_of(r, *loss, *predicted);
        adapt_radius(r, quotient);
        if (quotient > least_quotient) return false;
        if (!(r->radius > DBL_EPSILON * fmax(1e-30, eddy__vector_norm(r->x, r->n))))
            return end_with(r, EDDY_NEWTON_CG_RADIUS, "no shorter step decreases the loss");
    }
}

/* One step. True if it is the last; `failed` is then the reason. */
static bool advance(newton *r, bool *failed)
{
    const eddy_newton_cg_args *a = r->a;
    const double before = r->report.loss;
    double       loss, predicted;
    if (descend(r, &loss, &predicted, failed)) return true;
    accept_point(r, loss);
    r->report.iterations++;
    const double size = fmax(fmax(fabs(before), fabs(loss)), 1);
    const bool   stop = a->callback && !a->callback(a->data, r->report.iterations, loss);
    if (r->report.gradient <= a->gradient_tolerance)
        return end_with(r, EDDY_NEWTON_CG_GRADIENT, "the gradient is small enough");
    if (before - loss <= a->loss_tolerance * size && predicted <= a->loss_tolerance * size)
        return end_with(r, EDDY_NEWTON_CG_LOSS, "the loss hardly falls any more");
    return stop && end_with(r, EDDY_NEWTON_CG_CALLBACK, "the callback ended it");
}

static bool iterate(newton *r)
{
    double loss;
    bool   failed = false;
    if (!evaluate(r, &loss)) return false;
    accept_point(r, loss);
    if (!isfinite(loss) || !isfinite(r->report.gradient))
        return fail(r, EDDY_INVALID_ARGUMENT,
                    "the loss or its gradient is not finite at the start");
    r->radius = r->a->radius;
    r->first_gradient = eddy__vector_norm(r->g, r->n);
    bool done = r->report.gradient <= r->a->gradient_tolerance &&
                end_with(r, EDDY_NEWTON_CG_GRADIENT, "the gradient is small enough");
    while (!done && r->report.iterations < r->a->max_iterations) done = advance(r, &failed);
    if (!done) end_with(r, EDDY_NEWTON_CG_ITERATIONS, "max_iterations are done");
    const bool left = eddy__objective_set(&r->o, r->x);
    return !failed && left;
}

/* ----------------------------------------------------------------- arguments -- */

static bool check_options(newton *r)
{
    const eddy_newton_cg_args *a = r->a;
    if (a->max_iterations < 1 || a->max_evaluations < 1 || a->max_products < 1)
        return fail(r, EDDY_INVALID_ARGUMENT,
                    "max_iterations, max_evaluations and max_products must be at least 1");
    if (!(a->radius > 0) || !isfinite(a->radius))
        return fail(r, EDDY_INVALID_ARGUMENT, "the radius must be a positive number");
    if (!(a->gradient_tolerance >= 0) || !(a->loss_tolerance >= 0))
        return fail(r, EDDY_INVALID_ARGUMENT, "tolerances must be numbers that are not negative");
    return true;
}

/* Products of the Hessian and a direction, the gradients of the product of gradient and
 * direction. */
static bool add_products(newton *r)
{
    objective      *o = &r->o;
    const eddy_list xs = { o->n_variables, o->variables };
    eddy_tensor    *dx = eddy__objective_alloc(o, xs.count, sizeof *dx);
    eddy_scope_begin(o->graph, "newton_cg");
    bool ok = dx && eddy__products_begin(&r->hessian, o);
    if (ok && eddy_gradients(((eddy_list){ xs.count, r->loss.fetches + 1 }), xs, dx,
                             .grad_ys = { xs.count, r->hessian.direction },
                             .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        ok = fail(r, eddy_graph_status(o->graph), eddy_graph_message(o->graph));
    eddy_scope_end(o->graph);
    return ok && eddy__products_of(&r->hessian, dx);
}

static bool make_vectors(newton *r)
{
    double **all[] = { &r->x, &r->g, &r->next_x, &r->next_g, &r->p, &r->rest };
    r->n = r->o.n;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = eddy__objective_alloc(&r->o, r->n, sizeof(double)))) return false;
    r->room = eddy__objective_alloc(&r->o, 2 * r->n, sizeof(double));
    if (!r->room) return false;
    eddy__objective_start(&r->o, r->next_x);
    return true;
}

eddy_status eddy_newton_cg_with(const eddy_newton_cg_args *given)
{
    eddy_newton_cg_args a = EDDY_TAKE(eddy_newton_cg_args, given);
    newton     r = { .a = &a, .o = { .who = "newton_cg" } };
    const bool ok = check_options(&r) &&
                    eddy__objective_begin(&r.o, a.session, a.loss, "loss", a.var_list, a.feeds) &&
                    eddy__loss_begin(&r.o, &r.loss, a.loss, (eddy_list){ 0 }) &&
                    eddy__objective_read(&r.o) && add_products(&r) && make_vectors(&r) &&
                    iterate(&r);
    eddy__evaluation_end(&r.loss);
    eddy__products_end(&r.hessian);
    eddy__objective_end(&r.o);
    if (!ok) {
        r.report.end = EDDY_NEWTON_CG_FAILED;
        snprintf(r.report.message, sizeof r.report.message, "%s", r.o.error.message);
    }
    if (a.report) *a.report = r.report;
    return ok ? EDDY_OK : r.o.error.status;
}
