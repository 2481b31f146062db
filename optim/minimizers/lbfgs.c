/* lbfgs.c -- L-BFGS, limited-memory BFGS: a session runs the loss and its gradient; all other
 * computation is on float64 vectors here. See optim/lbfgs/lbfgs.h. */
#include "optim/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "optim/lbfgs/lbfgs.h"
#include "optim/lbfgs/line_search.h"
#include "session/state/internal.h"

#include <math.h>
#include <string.h>

/* A change of x, and of the gradient with it. */
typedef struct change {
    double *s, *y;
    double  product;                /* of the two */
} change;

typedef struct driver {
    const eddy_minimize_lbfgs_args *a;
    eddy_graph         *graph;
    eddy_arena          arena;
    eddy_error          error;
    eddy_lbfgs_report   report;
    int                 n_variables;
    eddy_tensor        *variables, *fetches;      /* fetches: the loss, followed by the gradients */
    eddy_array        **values, **out;
    const eddy_array  **feeds;
    eddy_callable      *step;
    int64_t             n;                        /* elements of all variables */
    double             *x, *g, *d;                /* current point, its gradient, the direction */
    double             *next_x, *next_g;          /* of the last evaluation */
    change             *changes;                  /* the newest is the last */
    double             *share;                    /* by change */
    int                 n_changes;
} driver;

static bool fail(driver *r, eddy_status s, const char *what)
{
    return eddy__error_set(&r->error, s, "minimize_lbfgs: %s", what);
}

/* The session's error. */
static bool fail_with_session(driver *r, eddy_status s)
{
    return eddy__error_set(&r->error, s, "minimize_lbfgs: %s", eddy_session_message(r->a->session));
}

static void *lbfgs_alloc(driver *r, int64_t n, size_t size)
{
    size_t bytes;
    void  *p = n >= 0 && eddy__size_mul((size_t)n + 1, size, &bytes)
                   ? eddy__arena_alloc(&r->arena, bytes) : NULL;
    if (p) memset(p, 0, bytes);
    else fail(r, EDDY_NO_MEMORY, "out of memory");
    return p;
}

/* ---------------------------------------------------------------- vectors -- */

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* y += c x. */
static void add(double *y, double c, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) y[i] += c * x[i];
}

static double largest(const double *a, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i]) <= most)) most = fabs(a[i]);        /* a NaN, too */
    return most;
}

/* ------------------------------------------------------------- evaluating -- */

/* Sets the variables to the elements of `to`, rounded to their types. */
static bool set_variables(driver *r, double *to)
{
    int64_t at = 0;
    for (int v = 0; v < r->n_variables; v++) {
        eddy_array *value = r->values[v];
        for (int64_t i = 0; i < eddy_array_count(value); i++, at++) {
            eddy_array_set(value, i, to[at]);
            to[at] = eddy_array_get(value, i);
        }
        const eddy_status s = eddy_variable_set(r->a->session, r->variables[v], value);
        if (s != EDDY_OK) return fail_with_session(r, s);
    }
    return true;
}

/* The loss at next_x, and next_g. */
static bool evaluate(driver *r, double *loss)
{
    if (!set_variables(r, r->next_x)) return false;
    r->report.evaluations++;
    const eddy_status s = eddy_callable_run(r->step, r->feeds, r->out);
    if (s != EDDY_OK) return fail_with_session(r, s);
    *loss = eddy_array_get(r->out[0], 0);
    int64_t at = 0;
    for (int v = 0; v < r->n_variables; v++) {
        const eddy_array *g = r->out[v + 1];
        const int64_t     n = eddy_array_count(r->values[v]);
        if (eddy_array_count(g) != n)
            return eddy__error_set(&r->error, EDDY_BAD_SHAPE,
                                   "minimize_lbfgs: the number of elements of '%.200s' and of its "
                                   "gradient differ: %lld and %lld", eddy_name_of(r->variables[v]),
                                   (long long)n, (long long)eddy_array_count(g));
        for (int64_t i = 0; i < n; i++) r->next_g[at++] = eddy_array_get(g, i);
    }
    return true;
}

static bool evaluate_at(void *data, double at, line_point *out)
{
    driver *r = data;
    memcpy(r->next_x, r->x, (size_t)r->n * sizeof *r->x);
    add(r->next_x, at, r->d, r->n);
    if (!evaluate(r, &out->value)) return false;
    out->slope = dot(r->next_g, r->d, r->n);
    return true;
}

/* -------------------------------------------------------------- direction -- */

/* d = -H g by the two-loop recursion. If d is not a descent direction, the history is cleared. */
static double choose_direction(driver *r)
{
    for (int64_t i = 0; i < r->n; i++) r->d[i] = -r->g[i];
    for (int k = r->n_changes - 1; k >= 0; k--) {
        const change *c = &r->changes[k];
        r->share[k] = dot(c->s, r->d, r->n) / c->product;
        add(r->d, -r->share[k], c->y, r->n);
    }
    if (r->n_changes > 0) {
        const change *c = &r->changes[r->n_changes - 1];
        const double  scale = c->product / dot(c->y, c->y, r->n);
        for (int64_t i = 0; i < r->n; i++) r->d[i] *= scale;
    }
    for (int k = 0; k < r->n_changes; k++) {
        const change *c = &r->changes[k];
        add(r->d, r->share[k] - dot(c->y, r->d, r->n) / c->product, c->s, r->n);
    }
    const double slope = dot(r->g, r->d, r->n);
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
    c.product = dot(c.s, c.y, r->n);
    const double least = 2.2e-16 * sqrt(dot(c.s, c.s, r->n)) * sqrt(dot(c.y, c.y, r->n));
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
                       .most = 40 };
    line_point   found;
    if (a->max_evaluations - r->report.evaluations < s.most)
        s.most = a->max_evaluations - r->report.evaluations;
    const line_outcome how =
        eddy__line_search(&s, (line_point){ 0, before, slope },
                          first ? fmin(1, 1 / sqrt(dot(r->g, r->g, r->n))) : 1, &found);
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
    r->report.gradient = largest(r->g, r->n);
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
    r->report.gradient = largest(r->g, r->n);
    if (!isfinite(r->report.loss) || !isfinite(r->report.gradient))
        return fail(r, EDDY_INVALID_ARGUMENT,
                    "the loss or its gradient is not finite at the start");
    bool done = r->report.gradient <= a->gradient_tolerance &&
                end_with(r, EDDY_LBFGS_GRADIENT, "the gradient is small enough");
    while (!done && r->report.iterations < a->max_iterations)
        done = advance(r, a->history, &failed);
    if (!done) end_with(r, EDDY_LBFGS_ITERATIONS, "max_iterations are done");
    const bool left = set_variables(r, r->x);
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

static bool set_loss(driver *r)
{
    const eddy_tensor loss = r->a->loss;
    const eddy_dtype  d = eddy_is_valid(loss) ? eddy_dtype_of(loss) : EDDY_BOOL;
    char              text[128];
    if (!r->a->session || !eddy_is_valid(loss) || !eddy__graph_ready(loss.graph))
        return fail(r, EDDY_INVALID_ARGUMENT, "a session and a loss of its graph are required");
    r->graph = loss.graph;
    r->arena.allocator = eddy__graph_allocator(r->graph);
    if (!eddy__dtype_is_float(d))
        return eddy__error_set(&r->error, EDDY_BAD_DTYPE,
                               "minimize_lbfgs: the loss '%.200s' is %s; float32 or "
                               "float64 expected", eddy_name_of(loss), eddy_dtype_name(d));
    if (eddy_shape_of(loss).rank != 0)
        return eddy__error_set(&r->error, EDDY_BAD_SHAPE,
                               "minimize_lbfgs: the loss '%.200s' has shape %s; expected a scalar",
                               eddy_name_of(loss),
                               eddy_shape_print(eddy_shape_of(loss), text, sizeof text));
    return true;
}

/* A list that is left out has neither elements nor a count. */
static bool list_is_whole(driver *r, const char *what, eddy_list given)
{
    if (given.count >= 0 && (given.at || given.count == 0)) return true;
    return eddy__error_set(&r->error, EDDY_INVALID_ARGUMENT,
                           "minimize_lbfgs: %s is not a valid list (count %d, at %s)", what,
                           given.count, given.at ? "given" : "NULL");
}

static bool set_variable_list(driver *r)
{
    const eddy_list given = r->a->var_list;
    if (!list_is_whole(r, "var_list", given)) return false;
    const int n = given.at ? given.count : eddy_collection_size(r->graph, EDDY_TRAINABLE_VARIABLES);
    if (n < 1) return fail(r, EDDY_INVALID_ARGUMENT, "No variables to optimize.");
    r->variables = lbfgs_alloc(r, n, sizeof *r->variables);
    if (!r->variables) return false;
    r->n_variables = n;
    if (given.at) memcpy(r->variables, given.at, (size_t)n * sizeof *given.at);
    else eddy_collection_get(r->graph, EDDY_TRAINABLE_VARIABLES, NULL, r->variables, n);
    for (int i = 0; i < n; i++) {
        const eddy_tensor v = r->variables[i];
        if (!eddy__is_variable(v) || v.graph != r->graph)
            return eddy__error_set(&r->error, EDDY_INVALID_ARGUMENT,
                                   "minimize_lbfgs: var_list[%d] is not a variable of the graph",
                                   i);
        if (!eddy__dtype_is_float(eddy_dtype_of(v)))
            return eddy__error_set(&r->error, EDDY_BAD_DTYPE,
                                   "minimize_lbfgs: the variable '%.200s' is %s; float32 "
                                   "or float64 expected", eddy_name_of(v),
                                   eddy_dtype_name(eddy_dtype_of(v)));
    }
    return true;
}

static bool set_gradients(driver *r)
{
    const eddy_list given = r->a->gradients;
    if (!list_is_whole(r, "gradients", given)) return false;
    r->fetches = lbfgs_alloc(r, r->n_variables + 1, sizeof *r->fetches);
    if (!r->fetches) return false;
    eddy_tensor *dx = r->fetches + 1;
    r->fetches[0] = r->a->loss;
    if (given.at && given.count != r->n_variables)
        return eddy__error_set(
            &r->error, EDDY_INVALID_ARGUMENT,
            "minimize_lbfgs: the number of gradients is %d; expected %d, one per variable",
            given.count, r->n_variables);
    if (given.at) memcpy(dx, given.at, (size_t)given.count * sizeof *dx);
    else if (eddy_gradients(EDDY_LIST(r->a->loss), ((eddy_list){ r->n_variables, r->variables }),
                            dx, .unconnected_gradients = EDDY_UNCONNECTED_ZERO) != EDDY_OK)
        return eddy__error_set(&r->error, eddy_graph_status(r->graph), "minimize_lbfgs: %s",
                               eddy_graph_message(r->graph));
    for (int i = 0; i < r->n_variables; i++)
        if (!eddy_is_valid(dx[i]) || dx[i].graph != r->graph)
            return eddy__error_set(&r->error, EDDY_INVALID_ARGUMENT,
                                   "minimize_lbfgs: gradients[%d] is not a tensor of the graph",
                                   i);
    return true;
}

/* The values of the variables and of the feeds. */
static bool read_values(driver *r)
{
    const eddy_feeds feeds = r->a->feeds;
    eddy_error       e = { 0 };
    r->values = lbfgs_alloc(r, r->n_variables, sizeof(eddy_array *));
    r->out = lbfgs_alloc(r, r->n_variables + 1, sizeof(eddy_array *));
    r->feeds = lbfgs_alloc(r, feeds.count, sizeof(eddy_array *));
    eddy_tensor *fed = lbfgs_alloc(r, feeds.count, sizeof *fed);
    if (!r->values || !r->out || !r->feeds || !fed) return false;
    for (int i = 0; i < feeds.count; i++) {
        fed[i] = feeds.at[i].tensor;
        r->feeds[i] = feeds.at[i].value;
    }
    r->step = eddy_callable_new(r->a->session, (eddy_list){ feeds.count, fed },
                                (eddy_list){ r->n_variables + 1, r->fetches });
    if (!r->step) return fail_with_session(r, eddy_session_status(r->a->session));
    for (int v = 0; v < r->n_variables; v++) {
        r->values[v] = eddy__variable_value(r->a->session, r->variables[v], &e);
        if (!r->values[v] && e.status != EDDY_OK) return fail_with_session(r, e.status);
        if (!r->values[v])
            return eddy__error_set(&r->error, EDDY_UNINITIALIZED,
                                   "minimize_lbfgs: '%.200s' has no value in this session",
                                   eddy_name_of(r->variables[v]));
        r->n += eddy_array_count(r->values[v]);
    }
    return true;
}

static bool make_vectors(driver *r)
{
    const int m = r->a->history;
    double  **all[] = { &r->x, &r->g, &r->d, &r->next_x, &r->next_g };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!(*all[i] = lbfgs_alloc(r, r->n, sizeof(double)))) return false;
    r->changes = lbfgs_alloc(r, m, sizeof *r->changes);
    r->share = lbfgs_alloc(r, m, sizeof *r->share);
    if (!r->changes || !r->share) return false;
    for (int k = 0; k < m; k++) {
        r->changes[k].s = lbfgs_alloc(r, r->n, sizeof(double));
        r->changes[k].y = lbfgs_alloc(r, r->n, sizeof(double));
        if (!r->changes[k].s || !r->changes[k].y) return false;
    }
    for (int64_t v = 0, at = 0; v < r->n_variables; v++)
        for (int64_t i = 0; i < eddy_array_count(r->values[v]); i++)
            r->next_x[at++] = eddy_array_get(r->values[v], i);
    return true;
}

static void free_all(driver *r)
{
    eddy_callable_free(r->step);
    for (int v = 0; r->values && v < r->n_variables; v++) eddy_array_free(r->values[v]);
    for (int v = 0; r->out && v <= r->n_variables; v++) eddy_array_free(r->out[v]);
    if (r->arena.allocator) eddy__arena_free(&r->arena);
}

eddy_status eddy_minimize_lbfgs_with(const eddy_minimize_lbfgs_args *given)
{
    eddy_minimize_lbfgs_args a = EDDY_TAKE(eddy_minimize_lbfgs_args, given);
    driver r = { .a = &a };
    bool   ok = set_options(&r, &a) && set_loss(&r) && set_variable_list(&r) &&
              set_gradients(&r) && read_values(&r) && make_vectors(&r) && iterate(&r);
    free_all(&r);
    if (!ok) {
        r.report.end = EDDY_LBFGS_FAILED;
        snprintf(r.report.message, sizeof r.report.message, "%s", r.error.message);
    }
    if (a.report) *a.report = r.report;
    return ok ? EDDY_OK : r.error.status;
}
