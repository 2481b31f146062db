/* onnx_odd_models.c -- see onnx_odd_models.h. */
#include "tests/lib/files/onnx_odd_models.h"
#include "formats.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const message empty = { NULL, 0 };

static void names(message *m, uint32_t field, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        message_bytes(m, field, list, n);
    }
}

message onnx_text_function(const onnx_function_text *t, int opset)
{
    message f = empty, import = empty;
    message_text(&f, 1, t->name);
    names(&f, 4, t->inputs);
    names(&f, 5, t->outputs);
    onnx_text_nodes(&f, 7, t->nodes);
    message_text(&import, 1, "");
    message_number(&import, 2, (uint64_t)opset);
    message_inner(&f, 9, import);
    message_text(&f, 10, "local");
    if (t->default_name)
        message_inner(&f, 11, onnx_float_attribute(t->default_name, t->default_value));
    return f;
}

message onnx_sparse_message(message indices, int64_t columns)
{
    message s = empty;
    message_inner(&s, 1, onnx_floats("y0", 2, (float[]){ 5, 6 }));
    message_inner(&s, 2, indices);
    message_number(&s, 3, 2);
    message_number(&s, 3, (uint64_t)columns);
    message_number(&s, 9, 1);           /* a field of a later version */
    return s;
}

message onnx_sparse_model(message sparse)
{
    message g = empty;
    message_inner(&g, 15, sparse);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

message onnx_sparse_constant(message sparse)
{
    message g = empty, node = onnx_node_message("Constant", "", "y0"), value = empty, type = empty;
    message_text(&value, 1, "sparse_value");
    message_inner(&value, 22, sparse);
    message_text(&type, 1, "type");
    message_bytes(&type, 14, NULL, 0);
    onnx_add_attribute(&node, value);
    onnx_add_attribute(&node, type);
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

message onnx_tensor_model(message tensor)
{
    message g = empty;
    message_inner(&g, GRAPH_INITIALIZER, tensor);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

message onnx_typed_model(uint32_t field)
{
    static const int64_t ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    message              g = empty, of = empty, element = empty, tensor = empty, x = empty;
    if (field == 1) x = onnx_value_message("x", 1, 9, ones);
    else {
        message_number(&tensor, 1, 1);
        message_inner(&element, 1, tensor);
        message inner = empty;
        message_number(&inner, 9, 1);           /* a field of a later version */
        message_inner(&inner, 1, element);
        if (field == ONNX_OPTIONAL_SEQUENCE) {
            message type = empty, outer = empty;
            message_inner(&type, 4, inner);
            message_inner(&outer, 1, type);
            inner = outer;
        }
        message_inner(&of, field == ONNX_OPTIONAL_SEQUENCE ? 9 : field, inner);
        message_text(&x, 1, "x");
        message_inner(&x, 2, of);
    }
    message_inner(&g, GRAPH_INPUT, x);
    message_inner(&g, GRAPH_NODE, onnx_node_message(field == 4 ? "SequenceLength" : "Identity", "x",
                                                    "y"));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    return onnx_model_message(g, 17);
}

message onnx_named_model(const char *name)
{
    message g = empty, node = onnx_node_message("Tanh", "x", "y");
    message_text(&node, 3, name);
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 1, (int64_t[]){ 2 }));
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    return onnx_model_message(g, 17);
}

void onnx_expect(message m, int n, const double *want, const char *says)
{
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
    message_free(&m);
    if (says) {
        ck_assert_msg(!model && strstr(e.message, says), "'%s' and not '%s'", e.message, says);
        ck_assert_int_eq(eddy_graph_size(g), 0);
    } else {
        ck_assert_msg(model != NULL, "%s", e.message);
        eddy_session     *s = eddy_session_new(g);
        eddy_array       *x = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 2, -2 });
        const eddy_tensor in = eddy_onnx_input(model, "x0");
        eddy_feeds        feeds = { eddy_is_valid(in), &(eddy_feed){ in, x } };
        eddy_array       *y = eddy_fetch(s, eddy_onnx_output(model, "y0"), feeds);
        ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
        ck_assert_int_eq(eddy_array_count(y), n);
        for (int i = 0; i < n; i++) {
            const double v = eddy_array_get(y, i);
            ck_assert_msg(v == want[i] || (isnan(v) && isnan(want[i])), "[%d] is %.9g, not %.9g", i,
                          v, want[i]);
        }
        eddy_array_free(x);
        eddy_array_free(y);
        eddy_session_free(s);
    }
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
