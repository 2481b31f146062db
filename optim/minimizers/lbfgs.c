/* lbfgs.c -- L-BFGS, limited-memory BFGS: a session runs the loss and its gradient; all other
 * computation is on float64 vectors here. See optim/minimizers/minimizers.h. */
#include "graph/call_options.h"
#include "optim/minimizers/bounds.h"
#include "optim/minimizers/objective_derivatives.h"
#include "optim/minimizers/line_search.h"
#include "optim/minimizers/minimizers.h"

#include <math.h>
#include <string.h>

typedef struct driver {
    const eddy_minimize_lbfgs_args *a;
    objective           o;
    evaluation          step;                     /* the loss, followed by the gradients */
    eddy_lbfgs_report   report;
    int64_t             n;                        /* elements of all variables */
    double             *x, *g, *d;                /* current point, its gradient, the direction */
    double             *next_x, *next_g;          /* of the last evaluation */
    change             *changes;                  /* the newest is the last */
    double             *share;                    /* by change */
    int                 n_changes;
    bounds              bounds;
    bounded_model       model;                    /* with bounds only */
} driver;

static bool fail(driver *r, eddy_status s, const char *what)
{
    return eddy__objective_fail(&r->o, s, what);
}

/* ------------------------------------------------------------- evaluating -- */

/* The loss at next_x, and next_g. */
static bool evaluate(driver *r, double *loss)
{
    r->report.evaluations++;
    return eddy__loss_at(&r->o, &r->step, r->next_x, loss, r->next_g);
}

static bool evaluate_at(void *data, double at, line_point *out)
{
    driver *r = data;
    memcpy(r->next_x, r->x, (size_t)r->n * sizeof *r->x);
    eddy__vector_add(r->next_x, at, r->d, r->n);
    eddy__bounds_clamp(&r->bounds, r->n, r->next_x);
    if (!evaluate(r, &out->value)) return false;
    out->slope = eddy__vector_dot(r->next_g, r->d, r->n);
    return true;
}

/* -------------------------------------------------------------- direction -- */

/* d = -H g by the two-loop recursion. If d is not a descent direction, the history is cleared. */
static double choose_direction(driver *r)
{
    if (r->bounds.given) {
        const double slope = eddy__bounded_direction(&r->model, &r->bounds, r->n_changes,
                                                     r->changes, r->x, r->g, r->d);
        if (r->n_changes == 0 || slope < 0) return slope;
        r->n_changes = 0;
        return choose_direction(r);
    }
    for (int64_t i = 0; i < r->n; i++) r->d[i] = -r->g[i];
    for (int k = r->n_changes - 1; k >= 0; k--) {
        const change *c = &r->changes[k];
        r->share[k] = eddy__vector_dot(c->s, r->d, r->n) / c->product;
        eddy__vector_add(r->d, -r->share[k], c->y, r->n);
    }
    if (r->n_changes > 0) {
        const change *c = &r->changes[r->n_changes - 1];
        const double  scale = c->product / eddy__vector_dot(c->y, c->y, r->n);
        for (int64_t i = 0; i < r->n; i++) r->d[i] *= scale;
    }
    for (int k = 0; k < r->n_changes; k++) {
        const change *c = &r->changes[k];
        const double share = r->share[k] - eddy__vector_dot(c->y, r->d, r->n) / c->product;
        eddy__vector_add(r->d, share, c->s, r->n);
    }
    const double slope = eddy__vector_dot(r->g, r->d, r->n);
    if (r->n_changes == 0 || slope < 0) return slope;
    r->n_changes = 0;
    return choose_direction(r);
}

/* Keeps the change from x, g to next_x, next_g, if the curvature along it is positive. */
static void note_change(driver *r, int most)
{
    change c = r->changes[r->n_changes < most ? r->n_changes : 0];
    for (int64_t i = 0; i < r->n; i++) {
        c.s[i] = r->next_x[i] - r->x[i];
        c.y[i] = r->next_g[i] - r->g[i];
    }
    c.product = eddy__vector_dot(c.s, c.y, r->n);
    const double least = 2.2e-16 * eddy__vector_norm(c.s, r->n) * eddy__vector_norm(c.y, r->n);
    const bool   keep = isfinite(c.product) && c.product > least;
    if (r->n_changes < most) {
        r->changes[r->n_changes] = c;
        r->n_changes += keep;
        return;
    }
    /* The oldest pair of vectors is reused for the newest. */
    memmove(r->changes, r->changes + 1, (size_t)(most - 1) * sizeof c);
    r->changes[most - 1] = c;
    r->n_changes = keep ? most : most - 1;
}

static void accept_point(driver *r)
{
    double *x = r->x, *g = r->g;
    r->x = r->next_x;
    r->g = r->next_g;
    r->next_x = x;
    r->next_g = g;
}

/* -------------------------------------------------------------- iterating -- */

static bool end_with(driver *r, eddy_lbfgs_end why, const char *message)
{
    r->report.end = why;
    snprintf(r->report.message, sizeof r->report.message, "%s", message);
    return true;
}

/* One step along d. True if it is the last; `failed` is then the reason. */
static bool advance(driver *r, int most, bool *failed)
{
    const eddy_minimize_lbfgs_args *a = r->a;
    const double slope = choose_direction(r), before = r->report.loss;
    const bool   first = r->n_changes == 0;
    line_search  s = { .evaluate_at = evaluate_at, .data = r, .decrease = 1e-4, .curvature = 0.9,
                       .most = 40, .longest = INFINITY };
    line_point   found;
    if (r->bounds.given)
        s.longest = first ? 1 : eddy__bounds_longest(&r->bounds, r->n, r->x, r->d);
    if (a->max_evaluations - r->report.evaluations < s.most)
        s.most = a->max_evaluations - r->report.evaluations;
    const line_outcome how =
        eddy__line_search(&s, (line_point){ 0, before, slope },
                          first ? fmin(1, 1 / eddy__vector_norm(r->d, r->n)) : 1, &found);
    *failed = how == LINE_STOPPED;
    if (*failed) return true;
    if (how == LINE_LOWER && !evaluate_at(r, found.at, &found)) return *failed = true;
    if (how == LINE_NONE && !first) {
        r->n_changes = 0;                /* the history did not help: use the steepest descent */
        return r->report.evaluations >= a->max_evaluations &&
               end_with(r, EDDY_LBFGS_EVALUATIONS, "max_evaluations are done");
    }
    if (how == LINE_NONE)
        return r->report.evaluations >= a->max_evaluations
                   ? end_with(r, EDDY_LBFGS_EVALUATIONS, "max_evaluations are done")
                   : end_with(r, EDDY_LBFGS_LINE_SEARCH, "no lower point along the gradient");
    note_change(r, most);
    accept_point(r);
    r->report.loss = found.value;
    r->report.gradient = eddy__bounds_gradient(&r->bounds, r->n, r->x, r->g);
    r->report.iterations++;
    const double size = fmax(fmax(fabs(before), fabs(found.value)), 1);
    const bool   stop = a->callback && !a->callback(a->data, r->report.iterations, found.value);
    if (r->report.gradient <= a->gradient_tolerance)
        return end_with(r, EDDY_LBFGS_GRADIENT, "the gradient is small enough");
    if (before - found.value <= a->loss_tolerance * size)
        return end_with(r, EDDY_LBFGS_LOSS, "the loss hardly falls any more");
    if (r->report.evaluations >= a->max_evaluations)
        return end_with(r, EDDY_LBFGS_EVALUATIONS, "max_evaluations are done");
    return stop && end_with(r, EDDY_LBFGS_CALLBACK, "the callback ended it");
}

static bool iterate(driver *r)
{
    const eddy_minimize_lbfgs_args *a = r->a;
    bool failed = false;
    if (!evaluate(r, &r->report.loss)) return false;
    accept_point(r);
    r->report.gradient = eddy__bounds_gradient(&r->bounds, r->n, r->x, r->g);
    if (!isfinite(r->report.loss) || !isfinite(r->report.gradient))
        return fail(r, EDDY_INVALID_ARGUMENT,
                    "the loss or its gradient is not finite at the start");
    bool done = r->report.gradient <= a->gradient_tolerance &&
                end_with(r, EDDY_LBFGS_GRADIENT, "the gradient is small enough");
    while (!done && r->report.iterations < a->max_iterations)
        done = advance(r, a->history, &failed);
    if (!done) end_with(r, EDDY_LBFGS_ITERATIONS, "max_iterations are done");
    const bool left = eddy__objective_set(&r->o, r->x);
    return !failed && left;
}

/* --------------------------------------------------------------- arguments -- */

static bool set_options(driver *r, eddy_minimize_lbfgs_args *a)
{
    if (a->gradient_tolerance < 0) a->gradient_tolerance = 0;
    if (a->loss_tolerance < 0) a->loss_tolerance = 0;
    if (a->history < 1 || a->max_iterations < 1 || a->max_evaluations < 1 ||
        isnan(a->gradient_tolerance) || isnan(a->loss_tolerance))
        return fail(r, EDDY_INVALID_ARGUMENT,
                    "history, max_iterations and max_evaluations must be at least 1, and "
                    "tolerances must be numbers");
    return true;
}

static bool make_vectors(driver *r)
{
    const int m = r->a->history;
    r->n = r->o.n;
    double  **all[] = { &r->x, &r->g, &r->d, &r->next_x, &r->next_g };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = eddy__objective_alloc(&r->o, r->n, sizeof(double)))) return false;
    r->changes = eddy__objective_alloc(&r->o, m, sizeof *r->changes);
    r->share = eddy__objective_alloc(&r->o, m, sizeof *r->share);
    if (!r->changes || !r->share) return false;
    for (int k = 0; k < m; k++) {
        r->changes[k].slot = k;
        r->changes[k].s = eddy__objective_alloc(&r->o, r->n, sizeof(double));
        r->changes[k].y = eddy__objective_alloc(&r->o, r->n, sizeof(double));
        if (!r->changes[k].s || !r->changes[k].y) return false;
    }
    eddy__objective_start(&r->o, r->next_x);
    if (!eddy__bounds_begin(&r->bounds, &r->o, r->a->lower, r->a->upper)) return false;
    eddy__bounds_clamp(&r->bounds, r->n, r->next_x);
    return !r->bounds.given || eddy__bounded_model_begin(&r->model, &r->o, m);
}

eddy_status eddy_minimize_lbfgs_with(const eddy_minimize_lbfgs_args *given)
{
    eddy_minimize_lbfgs_args a = EDDY_TAKE(eddy_minimize_lbfgs_args, given);
    driver r = { .a = &a, .o = { .who = "minimize_lbfgs" } };
    bool   ok = set_options(&r, &a) &&
              eddy__objective_begin(&r.o, a.session, a.loss, "loss", a.var_list, a.feeds) &&
              eddy__loss_begin(&r.o, &r.step, a.loss, a.gradients) &&
              eddy__objective_read(&r.o) && make_vectors(&r) && iterate(&r);
    eddy__evaluation_end(&r.step);
    eddy__objective_end(&r.o);
    if (!ok) {
        r.report.end = EDDY_LBFGS_FAILED;
        snprintf(r.report.message, sizeof r.report.message, "%s", r.o.error.message);
    }
    if (a.report) *a.report = r.report;
    return ok ? EDDY_OK : r.o.error.status;
}
