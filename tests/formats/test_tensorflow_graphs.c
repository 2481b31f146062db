/* test_tensorflow_graphs.c -- graphs of several nodes of TensorFlow with one edge, attribute or
 * operator wrong: the control flow of both versions, functions, lists and sizes. Each is read, or
 * refused with a message and without a trace in the graph. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/case_messages.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/tensorflow_text_graphs.h"

#include <stdlib.h>

static void read_graph(const text_graph *t, case_messages *messages)
{
    message                bytes = text_graph_message(t);
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                                    .outputs = (const char *const[]){ "y" },
                                                    .output_count = 1, .error = &e);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    ck_assert_msg((m != NULL) == (e.status == EDDY_OK), "%s", e.message);
    ck_assert_msg(m || eddy_graph_size(g) == 0, "nodes are left: %s", e.message);
    case_messages_add(messages, m ? NULL : e.message, "TensorFlow model: ");
    eddy_model_report *r =
        eddy_tensorflow_check(.data = bytes.at, .data_size = bytes.size,
                              .outputs = (const char *const[]){ "y" }, .output_count = 1,
                              .error = &e);
    ck_assert_msg(!m || r, "it is read, and yet: %s", e.message);
    eddy_model_report_free(r);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    message_free(&bytes);
}

/* ------------------------------------------------------------------- damage -- */

/* Each input in turn comes from each other node, in three ways, and from none. */
static void damage_edges(const text_graph *g, int node, case_messages *m)
{
    static const char *const ways[] = { "%s", "%s:1", "^%s" };
    for (int i = 0; i < g->at[node].n_inputs; i++) {
        text_graph d = *g;
        text_node *n = &d.at[node];
        for (int k = 0; k < g->n; k++)
            for (int w = 0; w < 3; w++) {
                snprintf(n->inputs[i], sizeof n->inputs[i], ways[w], g->at[k].name);
                read_graph(&d, m);
            }
        memmove(n->inputs[i], n->inputs[i + 1], (size_t)(n->n_inputs - i - 1) * sizeof *n->inputs);
        n->n_inputs--;
        read_graph(&d, m);
    }
}

static void damage_node(const text_graph *g, int node, case_messages *m)
{
    for (int k = 0; k < g->n; k++) {
        text_graph d = *g;
        memcpy(d.at[node].op, g->at[k].op, sizeof d.at[node].op);
        if (strcmp(g->at[k].op, g->at[node].op) != 0) read_graph(&d, m);
    }
    for (int i = 0; i < g->at[node].n_attributes; i++) {
        text_graph d = *g;
        text_node *n = &d.at[node];
        snprintf(strchr(n->attributes[i], '=') + 1, 3, "%s", "9");
        read_graph(&d, m);
        memmove(n->attributes[i], n->attributes[i + 1],
                (size_t)(n->n_attributes - i - 1) * sizeof *n->attributes);
        n->n_attributes--;
        read_graph(&d, m);
    }
    text_graph d = *g;
    memmove(&d.at[node], &d.at[node + 1], (size_t)(d.n - node - 1) * sizeof *d.at);
    d.n--;
    read_graph(&d, m);
}

START_TEST(damaged)
{
    static case_messages messages;
    case_messages_begin("formats/tensorflow_graphs");
    for (size_t i = 0; i < TEXT_GRAPHS; i++) {
        const text_graph g = text_graph_of(text_graphs[i].text);
        read_graph(&g, &messages);
        ck_assert_msg(messages.read == 1, "%s: %s", text_graphs[i].name, messages.kinds[0]);
        for (int k = 0; k < g.n; k++) {
            damage_edges(&g, k, &messages);
            damage_node(&g, k, &messages);
        }
        case_messages_end(&messages, text_graphs[i].name);
    }
    case_messages_finish();
}
END_TEST

/* ----------------------------------------------------------------- bindings -- */

/* A SavedModel: in -> x, a float32 [2]; out -> y = -x. */
static message signed_model(void)
{
    message g = { NULL, 0 };
    message_inner(&g, TF_GRAPH_NODE, tf_input_message("x", 1, (int64_t[]){ 2 }));
    message_inner(&g, TF_GRAPH_NODE, tf_node_message("y", "Neg", "x"));
    return tf_saved_model_message(g, "in=x:0", "out=y:0");
}

/* An input by this name, bound to these tensors, and an output by this name. */
static void bind(eddy_graph *g, const char *name, eddy_list tensors, const char *output)
{
    message                  bytes = signed_model();
    eddy_error               e = { 0 };
    const int32_t            before = eddy_graph_size(g);
    const eddy_model_binding in = { name, tensors };
    eddy_tensorflow_model   *m = eddy_tensorflow_read(
        g, .data = bytes.at, .data_size = bytes.size, .inputs = &in, .input_count = 1,
        .outputs = (const char *const[]){ output }, .output_count = 1, .error = &e);
    message_free(&bytes);
    if (m) golden_line(eddy_tensorflow_output_name(m, 0));
    else {
        golden_error(&e);
        ck_assert_int_eq(eddy_graph_size(g), before);
    }
    eddy_tensorflow_free(m);
}

START_TEST(bindings)
{
    eddy_graph       *g = eddy_graph_new(), *other = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(g, "a", EDDY_FLOAT32, EDDY_SHAPE(2)),
                      k = eddy_constant(g, EDDY_VIEW(((float[]){ 1, 2 }), 2)),
                      i = eddy_placeholder(g, "b", EDDY_INT32, EDDY_SHAPE(2)),
                      z = eddy_placeholder(other, "c", EDDY_FLOAT32, EDDY_SHAPE(2));
    golden_begin("formats/tensorflow_bindings");
    bind(g, "in", EDDY_LIST(x), "out");
    bind(g, "x", EDDY_LIST(k), "y");
    bind(g, "x:0", EDDY_LIST(k), "y:0");
    bind(g, "y", EDDY_LIST(i), "out");
    bind(g, "in", EDDY_LIST(i), "out");
    bind(g, "in", EDDY_LIST(z), "out");
    bind(g, "in", EDDY_LIST(EDDY_NO_TENSOR), "out");
    bind(g, "in", (eddy_list){ 1, NULL }, "out");
    bind(g, "in", EDDY_LIST(x, x), "out");
    bind(g, "in", (eddy_list){ 0, NULL }, "out");
    bind(g, "out", EDDY_LIST(x), "out");
    bind(g, "x:1", EDDY_LIST(x), "out");
    bind(g, NULL, EDDY_LIST(x), "out");
    bind(g, "in", EDDY_LIST(x), "in");
    bind(g, "in", EDDY_LIST(x), "none");
    bind(g, "in", EDDY_LIST(x), NULL);
    golden_end();
    eddy_graph_free(g);
    eddy_graph_free(other);
}
END_TEST

Suite *tensorflow_graphs_suite(void)
{
    Suite *s = suite_create("tensorflow_graphs");
    TCase *t = tcase_create("graphs");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, damaged);
    tcase_add_test(t, bindings);
    suite_add_tcase(s, t);
    return s;
}
