/* minimizers.c -- L-BFGS, Newton's method and least squares with examples divided among the ranks,
 * compared with one process that has all examples. */
#include "tests/lib/ranks/ranks.h"

#include "ops/short_names.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 20, VARIABLES = 2, ELEMENTS = 4 };

typedef enum method { GIVEN_GRADIENTS, LBFGS, BOUNDED, NEWTON, QR, BOUNDED_QR, CG, METHODS } method;

/* Of a fit; c is NULL in one process. */
typedef struct model {
    eddy_communicator *c;
    eddy_graph        *graph;
    eddy_session      *session;
    eddy_tensor        x, y, scales, rates, residuals;
} model;

/* What a method reports. */
typedef struct outcome {
    int    end, iterations, evaluations;
    double loss, values[ELEMENTS], covariance[ELEMENTS * ELEMENTS];
} outcome;

static eddy_tensor copied(const model *m, bool copy, eddy_tensor v)
{
    return m->c && copy ? eddy_copy_to_ranks(m->c, v) : v;
}

/* y = scales[0] exp(-rates[0] x) + scales[1] exp(-rates[1] x) */
static model build(eddy_communicator *c, bool copy)
{
    model       m = { .c = c, .graph = eddy_graph_new() };
    eddy_graph *g = m.graph;
    m.x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1));
    m.y = eddy_placeholder(g, "y", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    m.scales = eddy_variable(g, eddy_doubles(g, 1, 1.5), .name = "scales");
    m.rates = eddy_variable(g, eddy_doubles(g, 0.5, 3), .name = "rates");
    const eddy_tensor parts = Mul(copied(&m, copy, m.scales),
                                  Exp(Neg(Mul(copied(&m, copy, m.rates), m.x))));
    m.residuals = Sub(Sum(parts, .axes = EDDY_AXES(1)), m.y);
    m.session = eddy_session_new(g);
    return m;
}

static void release(model *m)
{
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
}

/* L-BFGS with the sum of the ranks' gradients. */
static eddy_status minimize_sums(const model *m, eddy_feeds feeds, outcome *o)
{
    eddy_communicator *c = m->c;
    const eddy_list    all = EDDY_LIST(m->scales, m->rates);
    const eddy_tensor  own = Mul(0.5, Sum(Square(m->residuals)));
    eddy_tensor        dx[VARIABLES];
    eddy_lbfgs_report  r;
    eddy_gradients(EDDY_LIST(own), all, dx);
    if (c) eddy_all_reduce_list(c, (eddy_list){ VARIABLES, dx }, EDDY_REDUCE_SUM, dx);
    const eddy_tensor loss = c ? eddy_all_reduce(c, own) : own;
    const eddy_status s = eddy_minimize_lbfgs(m->session, loss, .feeds = feeds,
                                              .gradients = { VARIABLES, dx }, .report = &r);
    *o = (outcome){ .end = (int)r.end, .iterations = r.iterations, .evaluations = r.evaluations,
                    .loss = r.loss };
    return s;
}

static eddy_status minimize_loss(const model *m, method k, eddy_feeds feeds, eddy_list lower,
                                 outcome *o)
{
    const eddy_tensor     own = Mul(0.5, Sum(Square(m->residuals)));
    const eddy_tensor     loss = m->c ? eddy_reduce_from_ranks(m->c, own) : own;
    eddy_lbfgs_report     r = { 0 };
    eddy_newton_cg_report n = { 0 };
    const bool            newton = k == NEWTON;
    const eddy_status     s =
        newton ? eddy_newton_cg(m->session, loss, .feeds = feeds, .report = &n)
               : eddy_minimize_lbfgs(m->session, loss, .feeds = feeds, .report = &r,
                                     .lower = lower);
    *o = (outcome){ .end = newton ? (int)n.end : (int)r.end,
                    .iterations = newton ? n.iterations : r.iterations,
                    .evaluations = newton ? n.evaluations : r.evaluations,
                    .loss = newton ? n.loss : r.loss };
    return s;
}

static eddy_status minimize_squares(const model *m, method k, eddy_feeds feeds, eddy_list lower,
                                    outcome *o)
{
    const eddy_tensor residuals =
        m->c ? eddy_gather_from_ranks(m->c, m->residuals) : m->residuals;
    eddy_least_squares_report r;
    eddy_array               *covariance = NULL;
    const eddy_status         s = eddy_least_squares(
        m->session, EDDY_LIST(residuals), .feeds = feeds, .lower = lower,
        .method = k == CG ? EDDY_LEAST_SQUARES_CG : EDDY_LEAST_SQUARES_QR,
        .covariance = k == QR ? &covariance : NULL, .report = &r);
    *o = (outcome){ .end = (int)r.end, .iterations = r.iterations, .evaluations = r.evaluations,
                    .loss = r.loss };
    for (int i = 0; covariance && i < ELEMENTS * ELEMENTS; i++)
        o->covariance[i] = eddy_array_get(covariance, i);
    eddy_array_free(covariance);
    return s;
}

static eddy_status minimize(const model *m, method k, eddy_feeds feeds, outcome *o)
{
    const eddy_tensor none = eddy_scalar(m->graph, -INFINITY), least = eddy_scalar(m->graph, 0.9);
    const eddy_list   bounds = EDDY_LIST(none, least), no_bounds = { 0, NULL };
    if (k == GIVEN_GRADIENTS) return minimize_sums(m, feeds, o);
    if (k < QR) return minimize_loss(m, k, feeds, k == BOUNDED ? bounds : no_bounds, o);
    return minimize_squares(m, k, feeds, k == BOUNDED_QR ? bounds : no_bounds, o);
}

/* Fits examples from..from+count-1. */
static bool fit(const eddy_communicator *c, const model *m, method k, int from, int count,
                outcome *o)
{
    double x[EXAMPLES + 1], y[EXAMPLES + 1];
    for (int i = 0; i < count; i++) {
        x[i] = 0.2 * (from + i);
        y[i] = 2 * exp(-0.7 * x[i]) + exp(-2.5 * x[i]) + 0.02 * sin(7.0 * (from + i));
    }
    eddy_array *of_x = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(count, 1), x);
    eddy_array *of_y = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(count), y);
    bool        ok = eddy_run(m->session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(m->graph)),
                              NULL) == EDDY_OK &&
              minimize(m, k, EDDY_FEED({ m->x, of_x }, { m->y, of_y }), o) == EDDY_OK;
    expect(c, ok, "method %d: %s%s", k, eddy_graph_message(m->graph),
           eddy_session_message(m->session));
    const eddy_tensor variables[] = { m->scales, m->rates };
    for (int v = 0; ok && v < VARIABLES; v++) {
        eddy_array *value = eddy_variable_value(m->session, variables[v]);
        for (int i = 0; i < 2; i++) o->values[2 * v + i] = eddy_array_get(value, i);
        eddy_array_free(value);
    }
    eddy_array_free(of_x);
    eddy_array_free(of_y);
    return ok;
}

static bool near(double want, double got, double bound)
{
    return fabs(want - got) <= bound * (1 + fabs(want));
}

static bool same_outcome(eddy_communicator *c, method k, const outcome *want, const outcome *got)
{
    bool ok = expect(c, want->end == got->end && want->iterations == got->iterations,
                     "method %d: end %d after %d, not %d after %d", k, got->end, got->iterations,
                     want->end, want->iterations) &&
              expect(c, near(want->loss, got->loss, 1e-9), "method %d: loss %.17g, not %.17g", k,
                     got->loss, want->loss);
    for (int i = 0; ok && i < ELEMENTS; i++)
        ok = expect(c, near(want->values[i], got->values[i], 1e-6), "method %d: %.17g, not %.17g",
                    k, got->values[i], want->values[i]);
    for (int i = 0; ok && i < ELEMENTS * ELEMENTS; i++)
        ok = expect(c, near(want->covariance[i], got->covariance[i], 1e-6),
                    "method %d: covariance %.17g, not %.17g", k, got->covariance[i],
                    want->covariance[i]);
    return ok;
}

/* All ranks have the bits of rank 0. */
static bool same_on_all(eddy_communicator *c, method k, const outcome *mine)
{
    double      numbers[4 + ELEMENTS] = { mine->end, mine->iterations, mine->evaluations,
                                          mine->loss };
    eddy_error  e = { 0 };
    memcpy(numbers + 4, mine->values, sizeof mine->values);
    eddy_array *first = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(4 + ELEMENTS), numbers);
    bool        ok = expect(c, eddy_array_broadcast(c, 0, first, &e), "%s", e.message);
    for (int i = 0; ok && i < 4 + ELEMENTS; i++)
        ok = expect(c, eddy_array_get(first, i) == numbers[i], "method %d: number %d differs", k,
                    i);
    eddy_array_free(first);
    return ok;
}

/* The last rank has most examples, and one none: the second, or the first of two. */
static bool agrees(eddy_communicator *c, method k)
{
    const int n = eddy_communicator_size(c), me = eddy_communicator_rank(c);
    const int empty = n > 2 ? 1 : n - 2;
    int       from = 0, count = me == empty ? 0 : 2;
    for (int i = 0; i < me; i++) from += i == empty ? 0 : 2;
    if (me == n - 1) count = EXAMPLES - from;
    model   alone = build(NULL, false), shared = build(c, k != GIVEN_GRADIENTS);
    outcome want = { 0 }, got = { 0 };
    const bool ok = fit(c, &alone, k, 0, EXAMPLES, &want) &&
                    fit(c, &shared, k, from, count, &got) && same_outcome(c, k, &want, &got) &&
                    same_on_all(c, k, &got) &&
                    expect(c, want.iterations > 2, "method %d: %d iterations", k, want.iterations);
    release(&alone);
    release(&shared);
    return ok;
}

bool minimizers_agree(eddy_communicator *c)
{
    for (int k = 0; k < METHODS; k++)
        if (!agrees(c, k)) return false;
    return true;
}
