/* wrapped_steps.h -- for tests of wrappers of optimizers: a variable with a dense or a sparse gradient
 * of fixed numbers, steps of a wrapped optimizer on it, and Adam in float64 to compare with. A suite
 * adds `setup` and `teardown` to its cases. */
#ifndef EDDY_TESTS_LIB_WRAPPED_STEPS_H
#define EDDY_TESTS_LIB_WRAPPED_STEPS_H

#include "tests/lib/checks.h"

#include <math.h>

enum { ROWS = 6, COLUMNS = 2, SIZE = ROWS * COLUMNS, STEPS = 20 };

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   v, x, at;      /* a variable, its gradient or rows of it, and their places */
static eddy_dtype    type;
static bool          sparse;

/* Loops take float32 and float64, a dense and a sparse gradient. */
enum { VARIANTS = 4 };

static void begin(int variant)
{
    type = variant & 1 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    sparse = variant & 2;
    double first[SIZE];
    for (int i = 0; i < SIZE; i++) first[i] = 1 + i / 8.;
    v = eddy_variable(g, .initial_value = matrix(g, ROWS, COLUMNS, first), .dtype = type,
                      .name = "v");
    x = eddy_placeholder(g, "x", type, EDDY_SHAPE(sparse ? 3 : ROWS, COLUMNS));
    at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(3));
}

static void setup(void)
{
    g = eddy_graph_new();
    sparse = false;
}

static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double value) { return real(g, value); }

static eddy_tensor apply(eddy_optimizer *o)
{
    fits(g);
    eddy_gradient_pair p = { sparse ? eddy_indexed_slices(x, at, v) : x, v };
    return eddy_apply_gradients(o, &p, 1);
}

static void start(void)
{
    eddy_tensor init = eddy_initializer(g);
    fits(g);
    s = eddy_session_new(g);
    runs(s, init);
}

/* The gradient of step i, as all elements of v; row 5 has none if it is sparse, and row 1
 * is listed twice. */
static void gradient_of(int i, double *all)
{
    memset(all, 0, SIZE * sizeof *all);
    for (int k = 0; k < (sparse ? 3 * COLUMNS : SIZE); k++) {
        const int rows[] = { 1, i % 4 + 1, 1 };
        const int to = sparse ? rows[k / COLUMNS] * COLUMNS + k % COLUMNS : k;
        all[to] += sin(0.7 * i + k);
    }
}

/* One run of t with the gradient of step i times `scale`. */
static eddy_status step_by(eddy_tensor t, int i, double scale)
{
    const int32_t rows[] = { 1, i % 4 + 1, 1 };
    eddy_array *in = eddy_array_new(type, eddy_shape_of(x));
    for (int k = 0; k < eddy_array_count(in); k++)
        eddy_array_set(in, k, scale * sin(0.7 * i + k));
    eddy_array *to = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), rows);
    const eddy_status status =
        sparse ? eddy_run(s, EDDY_FEED({ x, in }, { at, to }), EDDY_FETCH(t), NULL)
               : eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(t), NULL);
    eddy_array_free(in);
    eddy_array_free(to);
    return status;
}

static void step(eddy_tensor t, int i)
{
    ck_assert_msg(step_by(t, i, 1) == EDDY_OK, "%s", eddy_session_message(s));
}

static void is(eddy_tensor t, const double *want)
{
    eddy_array *a = eddy_variable_value(s, t);
    ck_assert_int_eq(eddy_array_count(a), SIZE);
    for (int i = 0; i < SIZE; i++) {
        const double got = eddy_array_get(a, i), most = type == EDDY_FLOAT32 ? 2e-5 : 1e-12;
        ck_assert_msg(fabs(got - want[i]) <= most * fmax(1, fabs(want[i])),
                      "%s[%d] is %.12g, not %.12g", eddy_name_of(t), i, got, want[i]);
    }
    eddy_array_free(a);
}

/* Adam of all elements, and the variable, in float64. */
typedef struct adam {
    double x[SIZE], m[SIZE], s[SIZE], power1, power2;
} adam;

static adam adam_begin(void)
{
    adam a = { .power1 = 0.9, .power2 = 0.999 };
    for (int i = 0; i < SIZE; i++) a.x[i] = 1 + i / 8.;
    return a;
}

static void adam_step(adam *a, double lr, const double *grad)
{
    const double alpha = lr * sqrt(1 - a->power2) / (1 - a->power1);
    for (int i = 0; i < SIZE; i++) {
        a->m[i] += (grad[i] - a->m[i]) * (1 - 0.9);
        a->s[i] += (grad[i] * grad[i] - a->s[i]) * (1 - 0.999);
        a->x[i] -= alpha * a->m[i] / (sqrt(a->s[i]) + 1e-8);
    }
    a->power1 *= 0.9;
    a->power2 *= 0.999;
}

static eddy_optimizer *adam_of(double lr)
{
    return eddy_adam(g, n(lr), n(0.9), n(0.999), n(1e-8));
}

/* All global variables except those with `except` in their name, to compare their bits. */
static int take(eddy_array **out, const char *except)
{
    int count = 0;
    for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        eddy_tensor t = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        if (!strstr(eddy_name_of(t), except)) out[count++] = eddy_variable_value(s, t);
    }
    return count;
}

static bool same(eddy_array **a, eddy_array **b, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        all &= eddy_array_equal(a[i], b[i]);
        eddy_array_free(a[i]);
        eddy_array_free(b[i]);
    }
    return all;
}

#endif
