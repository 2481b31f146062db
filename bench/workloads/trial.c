/* trial.c -- building blocks for the models of workloads. */
#include "bench/workloads/workload.h"

#include <eddy/ops/short_names.h>
#include <math.h>

static eddy_tensor set(trial *t, eddy_tensor variable, eddy_array *value)
{
    bench_need(value && t->n_variables < TRIAL_VARIABLES, "out of memory for a variable");
    t->initial[t->n_variables] = value;
    return t->variables[t->n_variables++] = variable;
}

eddy_tensor trial_variable(trial *t, eddy_array *value)
{
    return set(t, eddy_variable(t->graph, eddy_zeros(t->graph, EDDY_FLOAT32,
                                                     eddy_array_shape(value))), value);
}

eddy_tensor trial_uniform(trial *t, eddy_shape s, uint64_t seed, double bound)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    if (a) bench_uniform(eddy_array_data(a), eddy_array_count(a), seed, -bound, bound);
    return trial_variable(t, a);
}

static eddy_array *filled(eddy_shape s, float fill)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, s);
    float      *at = eddy_array_data(a);
    for (int64_t i = 0; at && i < eddy_array_count(a); i++) at[i] = fill;
    return a;
}

static eddy_array *matrix(int64_t rows, int64_t columns, uint64_t seed, double scale)
{
    eddy_array  *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(rows, columns));
    const double bound = sqrt(6.0 / (double)rows);
    float       *at = eddy_array_data(a);
    if (a) bench_uniform(at, rows * columns, seed, -bound, bound);
    for (int64_t i = 0; at && i < rows * columns; i++) at[i] *= (float)scale;
    return a;
}

eddy_tensor trial_filled(trial *t, eddy_shape s, float fill)
{
    return trial_variable(t, filled(s, fill));
}

eddy_tensor trial_matrix(trial *t, int64_t rows, int64_t columns, uint64_t seed, double scale)
{
    return trial_variable(t, matrix(rows, columns, seed, scale));
}

void trial_set_matrix(trial *t, eddy_tensor variable, uint64_t seed, double scale)
{
    const eddy_shape s = eddy_shape_of(variable);
    set(t, variable, matrix(s.dim[0], s.dim[1], seed, scale));
}

void trial_set_filled(trial *t, eddy_tensor variable, float fill)
{
    set(t, variable, filled(eddy_shape_of(variable), fill));
}

void trial_batches(trial *t, int64_t n)
{
    t->n_batches = n < TRIAL_BATCHES ? (int)n : TRIAL_BATCHES;
}

eddy_tensor trial_feed(trial *t, eddy_dtype d, eddy_shape s, void *all)
{
    const size_t size = (size_t)eddy_shape_count(s) * eddy_dtype_size(d);
    const int    k = t->n_feeds++;
    bench_need(k < TRIAL_FEEDS, "too much to feed");
    for (int i = 0; i < t->n_batches; i++) {
        t->batch[i][k] = eddy_array_borrow(d, s, (char *)all + (size_t)i * size);
        bench_need(t->batch[i][k], "out of memory");
    }
    return t->feeds[k] = eddy_placeholder(t->graph, NULL, d, s);
}

void trial_fetch(trial *t, eddy_tensor x)
{
    bench_need(t->n_fetches < TRIAL_FETCHES, "too much to fetch");
    t->fetches[t->n_fetches++] = x;
}

/* ---------------------------------------------------------------- Adam -- */

/* The library adds epsilon to the root before the bias correction; the feed scales it so that it
 * has the same effect as after the correction. */
static eddy_optimizer *adam(trial *t)
{
    static float epsilon;
    eddy_array  *lent = eddy_array_borrow(EDDY_FLOAT32, EDDY_SCALAR, &epsilon);
    const int    k = t->n_feeds++;
    bench_need(lent && k < TRIAL_FEEDS, "too much to feed");
    t->epsilon = &epsilon;
    t->feeds[k] = eddy_placeholder(t->graph, "epsilon", EDDY_FLOAT32, EDDY_SCALAR);
    for (int i = 0; i < t->n_batches; i++) t->batch[i][k] = eddy_array_retain(lent);
    eddy_array_free(lent);
    return eddy_adam(t->graph, eddy_scalar(t->graph, 1e-3), .epsilon = t->feeds[k]);
}

/* Updates are made in the order of their creation: first the decay, then Adam's. */
void trial_adam(trial *t, eddy_tensor loss, double decay)
{
    static eddy_gradient_pair pairs[TRIAL_VARIABLES];
    eddy_optimizer *o = adam(t);
    const int       n = eddy_compute_gradients(o, loss, pairs, TRIAL_VARIABLES);
    trial_fetch(t, loss);
    for (int i = 0; decay > 0 && i < n; i++)
        eddy_assign(pairs[i].variable, Mul(pairs[i].variable, 1 - 1e-3 * decay));
    trial_fetch(t, eddy_apply_gradients(o, pairs, n));
}

void trial_adam_by(trial *t, eddy_tensor gradient, eddy_tensor variable)
{
    const eddy_gradient_pair pair = { gradient, variable };
    trial_fetch(t, eddy_apply_gradients(adam(t), &pair, 1));
}
