/* layer_checks.c -- see layer_checks.h. */
#include "tests/lib/layer_checks.h"

#include "graph/op.h"

#include <math.h>
#include <string.h>

eddy_array *layers_numbers(eddy_shape s, int a)
{
    eddy_array *x = eddy_array_new(EDDY_FLOAT64, s);
    ck_assert_ptr_nonnull(x);
    for (int64_t k = 0; k < eddy_array_count(x); k++)
        eddy_array_set(x, k, (double)((7 * k + a) % 11 - 5) / 8);
    return x;
}

eddy_tensor layers_filled(eddy_graph *g, eddy_shape s, int a)
{
    eddy_array       *x = layers_numbers(s, a);
    const eddy_tensor t = eddy_constant(g, x, NULL);
    eddy_array_free(x);
    return t;
}

void layers_fit(eddy_tensor t, eddy_shape s, const char *name)
{
    char is[200], want[200];
    ck_assert_msg(eddy_is_valid(t), "%s", eddy_graph_message(t.graph));
    ck_assert_str_eq(eddy_graph_message(t.graph), "");
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(t), is, sizeof is),
                     eddy_shape_print(s, want, sizeof want));
    if (name) ck_assert_str_eq(eddy_name_of(t), name);
}

eddy_tensor layers_variable(eddy_graph *g, const char *name, eddy_shape s)
{
    const eddy_tensor v = eddy_graph_operation(g, name);
    layers_fit(v, s, name);
    return v;
}

static eddy_session *initialized(eddy_graph *g)
{
    eddy_session *s = eddy_session_new(g);
    eddy_tensor   init = eddy_initializer(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(init), NULL) == EDDY_OK, "%s",
                  eddy_session_message(s));
    return s;
}

static eddy_array *run(eddy_session *s, eddy_tensor t, eddy_feeds feeds)
{
    eddy_array *out = NULL;
    ck_assert_msg(eddy_run(s, feeds, EDDY_FETCH(t), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    return out;
}

eddy_array *layers_value(eddy_tensor t, eddy_feeds feeds)
{
    eddy_session *s = initialized(t.graph);
    eddy_array   *out = run(s, t, feeds);
    eddy_session_free(s);
    return out;
}

void layers_close(eddy_tensor t, eddy_feeds feeds, int n, const double *want)
{
    eddy_array *a = layers_value(t, feeds);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int i = 0; i < n; i++)
        ck_assert_msg(fabs(eddy_array_get(a, i) - want[i]) < 1e-12, "%s: element %d is %.17g, "
                      "not %.17g", eddy_name_of(t), i, eddy_array_get(a, i), want[i]);
    eddy_array_free(a);
}

/* The graph, written and read, gives the same bits for y. */
static void check_file(eddy_tensor y, eddy_tensor x, eddy_array *fed)
{
    eddy_error  e = { 0 };
    char       *text = eddy_graph_to_yaml(y.graph);
    eddy_graph *copy = text ? eddy_graph_load("graph.yaml", text, .error = &e) : NULL;
    ck_assert_msg(copy != NULL, "%s", e.message);
    eddy_array *a = layers_value(y, EDDY_FEED({ x, fed }));
    eddy_array *b =
        layers_value((eddy_tensor){ .graph = copy, .node = y.node, .output = y.output },
                     EDDY_FEED({ { .graph = copy, .node = x.node, .output = x.output }, fed }));
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(a);
    eddy_array_free(b);
    eddy_string_free(text);
    eddy_graph_free(copy);
}

void layers_check(eddy_tensor y, eddy_tensor x, eddy_array *fed)
{
    enum { MOST = 64 };
    eddy_gradient_report r;
    eddy_tensor          xs[MOST] = { x };
    eddy_graph          *g = y.graph;
    const int n = 1 + eddy_collection_get(g, EDDY_TRAINABLE_VARIABLES, NULL, xs + 1, MOST - 1);
    ck_assert_msg(eddy_is_valid(y), "%s", eddy_graph_message(g));
    ck_assert_int_le(n, MOST);
    check_file(y, x, fed);
    eddy_session *s = initialized(g);
    for (int order = 1; order <= 2; order++) {
        const eddy_status status = eddy_gradient_check(
            s, EDDY_LIST(y), ((eddy_list){ n, xs }), EDDY_FEED({ x, fed }), .order = order,
            .report = &r);
        ck_assert_msg(status == EDDY_OK, "order %d: %s", order, r.text);
        eddy_string_free(r.text);
    }
    eddy_session_free(s);
}

void layers_learn(eddy_tensor loss, eddy_feeds feeds, int steps, double rate, double bound)
{
    eddy_graph   *g = loss.graph;
    eddy_tensor   train = eddy_minimize(eddy_adam(g, eddy_scalar(g, rate)), loss);
    eddy_tensor   updates = eddy_update_ops(g, NULL);
    eddy_array   *out[3] = { NULL };
    ck_assert_str_eq(eddy_graph_message(g), "");
    eddy_session *s = initialized(g);
    for (int i = 0; i < steps; i++)
        ck_assert_msg(eddy_run(s, feeds, EDDY_FETCH(train, updates, loss), out) == EDDY_OK, "%s",
                      eddy_session_message(s));
    const double now = eddy_array_item(out[2]);
    ck_assert_msg(now < bound, "the loss is %g after %d steps, not below %g", now, steps, bound);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
    eddy_session_free(s);
}
