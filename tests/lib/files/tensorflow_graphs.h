/* tensorflow_graphs.h -- for tests of the reader of TensorFlow graphs: nodes, and the value and the
 * derivative of an output. */
#ifndef EDDY_TESTS_TENSORFLOW_GRAPHS_H
#define EDDY_TESTS_TENSORFLOW_GRAPHS_H

#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/tensorflow_writer.h"

static const int64_t two[] = { 2 }, any_two[] = { -1, 2 };

/* Adds a node to a graph. */
static inline void node(message *g, message n) { message_inner(g, TF_GRAPH_NODE, n); }

static inline void plain(message *g, const char *name, const char *op, const char *inputs)
{
    node(g, tf_node_message(name, op, inputs));
}

static inline void number_const(message *g, const char *name, float x)
{
    node(g, tf_floats_message(name, 0, NULL, &x));
}

static inline eddy_tensorflow_model *read_graph(eddy_graph *g, message *m, bool variables)
{
    eddy_error             e = { 0 };
    eddy_tensorflow_model *model = eddy_tensorflow_read(
        g, .data = m->at, .data_size = m->size, .variables = variables, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    message_free(m);
    return model;
}

/* The value of output y for x, and dy/dx, both scalars. */
static inline void evaluate(eddy_graph *g, const eddy_tensorflow_model *m, double x, double *y, double *dy)
{
    const eddy_tensor in = eddy_tensorflow_input(m, "x"), out = eddy_tensorflow_output(m, "y");
    eddy_tensor       d = EDDY_NO_TENSOR;
    eddy_gradients(EDDY_LIST(out), EDDY_LIST(in), &d);
    fits(g);
    eddy_session    *s = eddy_session_new(g);
    eddy_array_room  room;
    const eddy_array *at = eddy_array_number(&room, EDDY_FLOAT32, x);
    *y = eddy_fetch_number(s, out, EDDY_FEED({ in, at }));
    *dy = eddy_fetch_number(s, d, EDDY_FEED({ in, at }));
    ck_assert_msg(eddy_session_status(s) == EDDY_OK, "%s", eddy_session_message(s));
    eddy_session_free(s);
}

#endif
