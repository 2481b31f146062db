/* control_checks.h -- for tests of loops and branches: functions in one line, fed numbers, and
 * checks of computed values. */
#ifndef EDDY_TESTS_LIB_CONTROL_CHECKS_H
#define EDDY_TESTS_LIB_CONTROL_CHECKS_H

#include "control/control.h"
#include "tests/lib/array_trial.h"

#include <math.h>

static const eddy_dtype F64 = EDDY_FLOAT64, I32 = EDDY_INT32;

/* The function `name` of arguments x[0], x[1], ... and of captured tensors c[0], c[1], ...
 * (FUNCTION) returns these tensors. */
#define BODY(name, ...)                                                        \
    static int name(eddy_list in, eddy_tensor *y, void *context)               \
    {                                                                          \
        const eddy_tensor *x = in.at, *c = context;                            \
        (void)x, (void)c;                                                      \
        const eddy_tensor results[] = { __VA_ARGS__ };                         \
        memcpy(y, results, sizeof results);                                    \
        return (int)(sizeof results / sizeof *results);                        \
    }
#define FUNCTION(f, ...)                                                       \
    ((eddy_function){ .build = (f), .name = #f, .context = (eddy_tensor[]){ __VA_ARGS__ } })
#define PLAIN(f) ((eddy_function){ .build = (f), .name = #f })

/* Arguments of the checks below: how many, and which. */
#define V(...) (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ }

/* A fed tensor of n elements: a vector, rows of a matrix, a scalar. */
static inline eddy_tensor given(trial *t, eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    return fed(t, a);
}
static inline eddy_tensor numbers(trial *t, int n, const double *v)
{
    return given(t, F64, EDDY_SHAPE(n), v);
}
static inline eddy_tensor fed_real(trial *t, double v) { return given(t, F64, EDDY_SCALAR, &v); }
static inline eddy_tensor integer(trial *t, double v) { return given(t, I32, EDDY_SCALAR, &v); }
static inline eddy_tensor truth(trial *t, bool v)
{
    return given(t, EDDY_BOOL, EDDY_SCALAR, &(double){ v });
}

/* Constants. */
static inline eddy_tensor constant(trial *t, double v) { return eddy_number(t->graph, F64, v); }
static inline eddy_tensor whole(trial *t, double v) { return eddy_number(t->graph, I32, v); }

/* Feeds x another number from now on. */
static inline void refeed(trial *t, eddy_tensor x, double v)
{
    int i = 0;
    while (i < t->n && !eddy_same(t->tensor[i], x)) i++;
    ck_assert_int_lt(i, t->n);
    eddy_array_set(t->array[i], 0, v);
}

/* y has n elements, which are these but for rounding; NaN never is. */
static inline void is(trial *t, eddy_tensor y, int n, const double *want)
{
    eddy_array *a = value(t, y);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double got = eddy_array_get(a, i);
        ck_assert_msg(got == want[i] || fabs(got - want[i]) <= 1e-12 * (1 + fabs(want[i])),
                      "element %d of %s is %.17g, not %.17g", i, eddy_name_of(y), got, want[i]);
    }
    eddy_array_free(a);
}

/* The shape of y in a run. */
static inline void is_shaped(trial *t, eddy_tensor y, eddy_shape want)
{
    char        got[64], wanted[64];
    eddy_array *a = value(t, y);
    ck_assert_str_eq(eddy_shape_print(eddy_array_shape(a), got, sizeof got),
                     eddy_shape_print(want, wanted, sizeof wanted));
    eddy_array_free(a);
}

/* The derivative of the sum of y. */
static inline eddy_tensor slope(eddy_tensor y, eddy_tensor x)
{
    const eddy_tensor dx = eddy_gradient(y, x);
    ck_assert_msg(eddy_is_valid(dx), "no gradient: %s", eddy_graph_message(y.graph));
    return dx;
}

enum { SEEDS = 6 };     /* of what is known of shapes, and of passes that are left out */

#endif
