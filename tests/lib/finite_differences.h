/* finite_differences.h -- derivatives of smooth functions compared with finite differences. */
#ifndef EDDY_TESTS_LIB_FINITE_DIFFERENCES_H
#define EDDY_TESTS_LIB_FINITE_DIFFERENCES_H

#include "tests/lib/array_trial.h"

#include <math.h>

/* In [low, high), with three decimals. */
static inline double some_number(trial *t, double low, double high)
{
    return low + (high - low) * (double)pick(t, 1000) / 1000;
}

/* A fed float64 tensor of such numbers. */
static inline eddy_tensor fed_numbers(trial *t, eddy_shape s, double low, double high)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, s);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, some_number(t, low, high));
    return fed(t, a);
}

static inline eddy_array *array_of(trial *t, eddy_tensor x)
{
    int i = 0;
    while (i < t->n && !eddy_same(t->tensor[i], x)) i++;
    ck_assert_int_lt(i, t->n);
    return t->array[i];
}

static inline double scalar_value(trial *t, eddy_tensor y)
{
    eddy_array  *a = value(t, y);
    const double v = eddy_array_item(a);
    ck_assert_int_eq(eddy_array_count(a), 1);
    eddy_array_free(a);
    return v;
}

/* f, a scalar, with every x moved by step times its direction. */
static inline double moved_value(trial *t, eddy_tensor f, int n, const eddy_tensor *x,
                                 const eddy_tensor *u, double step)
{
    eddy_array *kept[2];
    for (int k = 0; k < n; k++) {
        eddy_array *a = array_of(t, x[k]), *d = array_of(t, u[k]);
        kept[k] = eddy_array_copy_of(EDDY_FLOAT64, eddy_array_shape(a), eddy_array_data(a));
        for (int64_t i = 0; i < eddy_array_count(a); i++)
            eddy_array_set(a, i, eddy_array_get(a, i) + step * eddy_array_get(d, i));
    }
    const double v = scalar_value(t, f);
    for (int k = 0; k < n; k++) {
        eddy_array *a = array_of(t, x[k]);
        memcpy(eddy_array_data(a), eddy_array_data(kept[k]), eddy_array_bytes(a));
        eddy_array_free(kept[k]);
    }
    return v;
}

/* The first `order` derivatives of a random sum of y, each along a new random
 * direction of the fed tensors x (two at most), are the differences of five
 * points of the one before. */
static inline void check_slopes(trial *t, eddy_tensor y, int n, const eddy_tensor *x, int order)
{
    const double h = 1e-3;
    eddy_array *shape = value(t, y);
    eddy_tensor f = Sum(Mul(y, fed_numbers(t, eddy_array_shape(shape), -1, 1)));
    eddy_array_free(shape);
    for (int k = 1; k <= order; k++) {
        eddy_tensor dx[2], u[2];
        ck_assert_int_eq(eddy_gradients(EDDY_LIST(f), ((eddy_list){ n, x }), dx,
                                        .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
        eddy_tensor df = eddy_number(t->graph, EDDY_FLOAT64, 0);
        for (int i = 0; i < n; i++) {
            u[i] = fed_numbers(t, eddy_array_shape(array_of(t, x[i])), -1, 1);
            df = Add(df, Sum(Mul(dx[i], u[i])));
        }
        const double near = moved_value(t, f, n, x, u, h) - moved_value(t, f, n, x, u, -h);
        const double far = moved_value(t, f, n, x, u, 2 * h) - moved_value(t, f, n, x, u, -2 * h);
        const double want = (8 * near - far) / (12 * h), got = scalar_value(t, df);
        ck_assert_msg(fabs(got - want) <= 1e-8 * (1 + fabs(want)),
                      "%s: derivative %d is %.12g, differences give %.12g", eddy_type_of(y), k,
                      got, want);
        f = df;
    }
}

#endif
