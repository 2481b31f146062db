/* test_compute_again.c -- tensors that gradients compute again: values, nodes and messages. */
#include "autodiff/compute_again.h"
#include "build/gen/suites.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/golden.h"

#include "ops/short_names.h"

#include <math.h>

typedef struct again {
    eddy_tensor x;
    int         calls;
    int         wrong;               /* 1: another type, 2: no tensor */
} again;

/* sin(x), after the gradient. */
static eddy_tensor sine(void *context, eddy_tensor t, eddy_tensor after)
{
    again *a = context;
    a->calls++;
    if (a->wrong == 1) return Cast(t, EDDY_FLOAT32);
    if (a->wrong == 2) return EDDY_NO_TENSOR;
    eddy_control_begin(t.graph, EDDY_LIST(after));
    const eddy_tensor y = eddy_named("again", Sin(a->x));
    eddy_control_end(t.graph);
    return y;
}

static int nodes_named(eddy_graph *g, const char *op, eddy_tensor of)
{
    int n = 0;
    for (int32_t i = 1; i <= eddy_graph_size(g); i++) {
        const eddy_node *node = eddy_node_of(eddy_node_at(g, i));
        for (int k = 0; k < node->n_inputs; k++)
            n += strcmp(node->op->name, op) == 0 && eddy_same(node->inputs[k], of);
    }
    return n;
}

/* t^2 exp(t) for t = sin(x): two operations need t for their gradients, and share one again. */
START_TEST(values)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(2), ((double[]){ 0.3, -1.2 })), dx, ddx;
    eddy_tensor t = Sin(x);
    again       a = { .x = x };
    ck_assert(eddy_compute_again(t, sine, &a));
    const eddy_tensor y = Mul(Square(t), Exp(t));
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx);
    ck_assert_int_eq(a.calls, 1);
    ck_assert_int_eq(nodes_named(g, "Sin", x), 2);
    ck_assert_int_eq(nodes_named(g, "Square", t), 1);
    eddy_gradients(EDDY_LIST(dx), EDDY_LIST(x), &ddx);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[2] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(dx, ddx), out), EDDY_OK);
    for (int i = 0; i < 2; i++) {
        const double v = i == 0 ? 0.3 : -1.2, u = sin(v), e = exp(u);
        const double first = (2 * u + u * u) * e, second = (2 + 4 * u + u * u) * e;
        ck_assert_double_eq_tol(eddy_array_get(out[0], i), first * cos(v), 1e-14);
        ck_assert_double_eq_tol(eddy_array_get(out[1], i), second * cos(v) * cos(v) - first * u,
                                1e-14);
    }
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* Derivatives of a derivative with respect to t itself: t^3 as t^2 t for t = sin(x), to order 3. */
START_TEST(with_respect_to_itself)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_number(g, EDDY_FLOAT64, 0.3), t = Sin(x), d[3];
    again       a = { .x = x };
    ck_assert(eddy_compute_again(t, sine, &a));
    eddy_tensor y = Mul(Square(t), t);
    for (int k = 0; k < 3; k++) {
        eddy_gradients(EDDY_LIST(y), EDDY_LIST(t), &d[k]);
        y = d[k];
    }
    eddy_session *s = eddy_session_new(g);
    eddy_array   *out[3] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), ((eddy_list){ 3, d }), out), EDDY_OK);
    const double u = sin(0.3), wanted[] = { 3 * u * u, 6 * u, 6 };
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(eddy_array_get(out[k], 0), wanted[k], 1e-14);
        eddy_array_free(out[k]);
    }
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

static void without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph *g = eddy_graph_new(.allocator = &f->table);
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3)), dx;
    eddy_tensor t = Sin(x);
    again       a = { .x = x };
    f->at = f->calls + at;
    for (int i = 0; i < 2000; i++) eddy_compute_again(t, sine, &a);
    eddy_gradients(EDDY_LIST(Square(t)), EDDY_LIST(x), &dx);
    e->status = eddy_graph_status(g);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(g));
    golden_forget_nodes(e);
    eddy_graph_free(g);
}

START_TEST(messages)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(3)), t = Sin(x), dx;
    again       a = { .x = x };
    golden_begin("autodiff/compute_again");
    ck_assert(!eddy_compute_again(t, NULL, NULL)), golden_graph(g);
    ck_assert(!eddy_compute_again(eddy_none(g), sine, NULL)), golden_graph(g);
    ck_assert(!eddy_compute_again(EDDY_NO_TENSOR, sine, NULL));
    eddy_compute_again(t, sine, &a);
    for (a.wrong = 1; a.wrong <= 2; a.wrong++) {
        eddy_gradients(EDDY_LIST(Square(t)), EDDY_LIST(x), &dx);
        golden_graph(g);
    }
    golden_no_memory(without_memory);
    golden_end();
    eddy_graph_free(g);
}
END_TEST

Suite *compute_again_suite(void)
{
    Suite *s = suite_create("compute_again");
    TCase *c = tcase_create("again");
    tcase_add_test(c, values);
    tcase_add_test(c, with_respect_to_itself);
    tcase_add_test(c, messages);
    suite_add_tcase(s, c);
    return s;
}
