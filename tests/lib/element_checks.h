/* element_checks.h -- for tests of elementwise functions: small constants from plain numbers;
 * checks of one value, one gradient or one error in a line. */
#ifndef EDDY_TESTS_LIB_ELEMENT_CHECKS_H
#define EDDY_TESTS_LIB_ELEMENT_CHECKS_H

#include "../../eddy.h"
#include "ops/short_names.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64 };
#define V(...) (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ }

static const eddy_dtype F32 = EDDY_FLOAT32, F64 = EDDY_FLOAT64;
static eddy_graph *g;

static inline void setup(void) { ck_assert_ptr_nonnull(g = eddy_graph_new()); }
static inline void teardown(void) { eddy_graph_free(g); }

static inline eddy_array *array(eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = eddy_array_new(d, s);
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    return a;
}

/* Constants from doubles: of a shape, a vector, a scalar. */
static inline eddy_tensor shaped(eddy_dtype d, eddy_shape s, const double *v)
{
    eddy_array *a = array(d, s, v);
    eddy_tensor t = eddy_const(g, d, s, eddy_array_data(a));
    eddy_array_free(a);
    return t;
}
static inline eddy_tensor vec(eddy_dtype d, int n, const double *v)
{
    return shaped(d, EDDY_SHAPE(n), v);
}
static inline eddy_tensor num(eddy_dtype d, double v) { return eddy_number(g, d, v); }

/* An input that is fed. */
typedef struct feed {
    eddy_tensor   t;
    const double *v;
    int           n;
} feed;

/* Runs t in a session of its own; *y is NULL at first. */
static inline eddy_status evaluate(eddy_tensor t, int n, const feed *x, eddy_array **y)
{
    eddy_array *value[2];
    eddy_feed   feeds[2];
    for (int i = 0; i < n; i++) {
        eddy_shape s = eddy_shape_of(x[i].t);
        if (!eddy_shape_is_known(s)) s = EDDY_SHAPE(x[i].n);
        value[i] = array(eddy_dtype_of(x[i].t), s, x[i].v);
        feeds[i] = (eddy_feed){ x[i].t, value[i] };
    }
    eddy_session *s = eddy_session_new(g);
    eddy_status   status = eddy_run(s, (eddy_feeds){ n, feeds }, EDDY_FETCH(t), y);
    eddy_session_free(s);
    for (int i = 0; i < n; i++) eddy_array_free(value[i]);
    return status;
}

/* Elements of t as doubles; how many. */
static inline int values_fed(eddy_tensor t, int n, const feed *x, double *out)
{
    eddy_array *y = NULL;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_int_eq(evaluate(t, n, x, &y), EDDY_OK);
    int count = (int)eddy_array_count(y);
    ck_assert_int_le(count, ROOM);
    for (int i = 0; i < count; i++) out[i] = eddy_array_get(y, i);
    eddy_array_free(y);
    return count;
}
static inline int values(eddy_tensor t, double *out) { return values_fed(t, 0, NULL, out); }
static inline eddy_status run_status(eddy_tensor t)
{
    eddy_array *y = NULL;
    eddy_status s = evaluate(t, 0, NULL, &y);
    eddy_array_free(y);
    return s;
}

static inline bool close_to(double got, double want, double tolerance)
{
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return got == want;
    return fabs(got - want) <= tolerance * (1 + fabs(want));
}
static inline void near(const char *what, double tolerance, eddy_tensor t, int n,
                        const double *want)
{
    double got[ROOM];
    ck_assert_int_eq(values(t, got), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(close_to(got[i], want[i], tolerance), "%s: element %d is %.17g, not %.17g",
                      what, i, got[i], want[i]);
}
/* The elements of t are exactly these, NaN equal to NaN. */
#define IS(t, ...) near(#t, 0, t, V(__VA_ARGS__))
#define NEAR(t, ...) near(#t, 1e-6, t, V(__VA_ARGS__))

/* The gradient of the sum of y. */
static inline eddy_tensor slope(eddy_tensor y, eddy_tensor x) { return eddy_gradient(y, x); }
static inline bool connected(eddy_tensor y, eddy_tensor x) { return eddy_is_valid(slope(y, x)); }

/* The graph refused with this status and a message that holds `text`. */
static inline void refused(eddy_tensor t, eddy_status s, const char *text)
{
    ck_assert(!eddy_is_valid(t));
    ck_assert_str_eq(eddy_status_name(eddy_graph_status(g)), eddy_status_name(s));
    ck_assert_msg(strstr(eddy_graph_message(g), text), "%s", eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

static inline double uniform(double low, double high)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (high - low) * (double)(state >> 11) / 9007199254740992.0;
}

typedef eddy_tensor (*unary_fn)(eddy_tensor);
typedef eddy_tensor (*binary_fn)(eddy_tensor, eddy_tensor);

#endif
