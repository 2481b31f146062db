/* conv_numbers.h -- code shared by the tests of convolutions: their arrays in float64, and a graph
 * with a session for each case. */
#ifndef EDDY_TESTS_LIB_CONV_NUMBERS_H
#define EDDY_TESTS_LIB_CONV_NUMBERS_H

#include "tests/lib/checks.h"

#include <math.h>
#include <stdlib.h>

/* x, filter, dy and what comes of them, channels last; and the sums of the terms' sizes. */
enum { X, W, DY, Y, DX, DW, ARRAYS };
typedef struct numbers {
    double    *at[ARRAYS], *size[ARRAYS];
    eddy_shape shape[ARRAYS];
} numbers;

static double random_number(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (double)(float)((double)(state >> 11) / 4503599627370496.0 - 1);
}

/* Random x, filter and dy, and zeros for the others. */
static numbers numbers_new(eddy_shape x, eddy_shape w, eddy_shape y)
{
    numbers n = { .shape = { x, w, y, y, x, w } };
    for (int k = 0; k < ARRAYS; k++) {
        const size_t count = (size_t)eddy_shape_count(n.shape[k]);
        n.at[k] = calloc(count + 1, sizeof(double));
        n.size[k] = calloc(count + 1, sizeof(double));
        for (size_t i = 0; k < Y && i < count; i++) n.at[k][i] = random_number();
    }
    return n;
}

static void numbers_free(numbers *n)
{
    for (int k = 0; k < ARRAYS; k++) free(n->at[k]), free(n->size[k]);
}

static void add_term(numbers *n, int to, int64_t i, double a, double b)
{
    n->at[to][i] += a * b;
    n->size[to][i] += fabs(a * b);
}

static eddy_graph   *graph;
static eddy_session *session;

static void setup(void)
{
    graph = eddy_graph_new();
    session = eddy_session_new(graph);
}

static void teardown(void)
{
    eddy_session_free(session);
    eddy_graph_free(graph);
}

static eddy_tensor tensor(eddy_shape s, const double *v)
{
    return eddy_const(graph, EDDY_FLOAT64, s, v);
}
#define TENSOR(shape, ...) tensor(shape, (const double[]){ __VA_ARGS__ })
#define HAS(t, ...)                                                             \
    has(session, t, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)),  \
        (const double[]){ __VA_ARGS__ })

#endif
