/* checks.c -- see checks.h. */
#include "tests/lib/checks.h"

#include <math.h>

void fits(const eddy_graph *g)
{
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
}

void fails(eddy_graph *g, eddy_status status, const char *says)
{
    ck_assert_msg(eddy_graph_status(g) == status, "%s, not %s: %s",
                  eddy_status_name(eddy_graph_status(g)), eddy_status_name(status),
                  eddy_graph_message(g));
    ck_assert_msg(strstr(eddy_graph_message(g), says), "'%s' is not in: %s", says,
                  eddy_graph_message(g));
    eddy_graph_clear_error(g);
}

void run_fails(const eddy_session *s, eddy_status status, const char *says)
{
    ck_assert_msg(eddy_session_status(s) == status, "%s, not %s: %s",
                  eddy_status_name(eddy_session_status(s)), eddy_status_name(status),
                  eddy_session_message(s));
    ck_assert_msg(strstr(eddy_session_message(s), says), "'%s' is not in: %s", says,
                  eddy_session_message(s));
}

void runs(eddy_session *s, eddy_tensor t)
{
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
}

void has(eddy_session *s, eddy_tensor t, int n, const double *want)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++) {
        const double got = eddy_array_get(a, i);
        ck_assert_msg(fabs(got - want[i]) <= 1e-6 * fmax(1, fabs(want[i])),
                      "%s[%d] is %.12g, not %.12g", eddy_name_of(t), i, got, want[i]);
    }
    eddy_array_free(a);
}

double number(eddy_session *s, eddy_tensor t)
{
    eddy_array *a = eddy_fetch(s, t);
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    const double v = eddy_array_item(a);
    eddy_array_free(a);
    return v;
}

void has_value(eddy_tensor t, int n, const double *want)
{
    fits(t.graph);
    eddy_session *s = eddy_session_new(t.graph);
    has(s, t, n, want);
    eddy_session_free(s);
}

void is_number(eddy_tensor t, double want) { has_value(t, 1, &want); }

eddy_tensor vector(eddy_graph *g, int64_t n, const double *x)
{
    return eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(n), x);
}

eddy_tensor matrix(eddy_graph *g, int64_t rows, int64_t columns, const double *x)
{
    return eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(rows, columns), x);
}

eddy_tensor real(eddy_graph *g, double x) { return eddy_number(g, EDDY_FLOAT64, x); }

/* --------------------------------------------------------------- network -- */

enum { INPUTS = 3, HIDDEN = 5, OUTPUTS = 2 };

static eddy_tensor weights(eddy_graph *g, const char *name, int64_t rows, int64_t columns)
{
    double x[INPUTS * HIDDEN];
    for (int64_t i = 0; i < rows * columns; i++) x[i] = sin((double)(i * 7 + rows)) / 2;
    return eddy_variable(g, matrix(g, rows, columns, x), .name = name);
}

static eddy_tensor bias(eddy_graph *g, const char *name, int64_t n)
{
    return eddy_variable(g, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(n)), .name = name);
}

network network_build(eddy_graph *g)
{
    network n = { .x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, INPUTS)) };
    n.w1 = weights(g, "w1", INPUTS, HIDDEN);
    n.b1 = bias(g, "b1", HIDDEN);
    n.w2 = weights(g, "w2", HIDDEN, OUTPUTS);
    n.b2 = bias(g, "b2", OUTPUTS);
    const eddy_tensor h = Tanh(BiasAdd(MatMul(n.x, n.w1), n.b1));
    n.loss = Mean(Square(Sub(BiasAdd(MatMul(h, n.w2), n.b2), 0.5)));
    eddy_tensor d[4], update[4], v[4] = { n.w1, n.b1, n.w2, n.b2 };
    eddy_gradients(EDDY_LIST(n.loss), (eddy_list){ 4, v }, d);
    for (int i = 0; i < 4; i++) update[i] = eddy_assign_sub(v[i], Mul(0.1, d[i]));
    n.train = eddy_group(g, (eddy_list){ 4, update }, "train");
    n.init = eddy_initializer(g);
    return n;
}

eddy_array *network_batch(int64_t rows)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(rows, INPUTS));
    ck_assert_ptr_nonnull(a);
    for (int64_t i = 0; i < rows * INPUTS; i++) eddy_array_set(a, i, cos((double)i));
    return a;
}
