/* gradient_check_fixture.h -- for tests of the gradient check: a graph, a session and a report, and
 * an operation of complex numbers with a wrong gradient. */
#ifndef EDDY_TESTS_GRADIENT_CHECK_FIXTURE_H
#define EDDY_TESTS_GRADIENT_CHECK_FIXTURE_H

#include "tests/lib/checks.h"

#include <math.h>

static eddy_graph          *g;
static eddy_session        *s;
static eddy_gradient_report r;

static inline void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    r = (eddy_gradient_report){ 0 };
}

static inline void teardown(void)
{
    eddy_string_free(r.text);
    eddy_session_free(s);
    eddy_graph_free(g);
}

static inline void agrees(eddy_status status)
{
    ck_assert_msg(status == EDDY_OK && r.ok, "%s", r.text);
    ck_assert_ptr_nonnull(strstr(r.text, "agree"));
    eddy_string_free(r.text);
    r.text = NULL;
}

static inline void disagrees(eddy_status status, const char *op, int input, int64_t element)
{
    ck_assert_msg(status == EDDY_CHECK_FAILED && !r.ok, "%s", r.text);
    ck_assert_msg(strcmp(eddy_type_of(r.op), op) == 0, "%s", r.text);
    ck_assert_msg(r.input == input && r.element == element, "%s", r.text);
    ck_assert_msg(fabs(r.analytic - r.numeric) > 1e-3, "%s", r.text);
    if (*op && strcmp(op, "IdentityN") != 0)
        ck_assert_msg(strstr(r.text, op) != NULL, "%s", r.text);
    eddy_string_free(r.text);
    r.text = NULL;
}

static inline bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static inline eddy_tensor complex_vector(int64_t n, eddy_dtype d)
{
    eddy_array *a = eddy_array_new(d, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++)
        eddy_array_set_complex(a, i, 0.6 + sin((double)i) / 2, 0.3 + cos(3.0 * (double)i) / 4);
    const eddy_tensor t = eddy_constant(g, a, NULL);
    eddy_array_free(a);
    return t;
}

/* The part at fault is said: here only the imaginary one is dropped. */
static inline void drop_gradient(eddy_rule *rule)
{
    rule->dx[0] = Complex(Real(rule->dy[0]), Mul(0, Real(rule->dy[0])));
}
static inline eddy_status drop_kernel(eddy_kernel *k)
{
    memcpy(k->out[0]->data, k->in[0]->data, (size_t)k->in[0]->count * 16);
    return EDDY_OK;
}
static const eddy_op_def drop_op = {
    .name = "Dropped", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .infer = same_infer,
    .kernel = drop_kernel, .gradient = drop_gradient,
};

#endif
