/* test_onnx_hostile.c -- each operator of ONNX with each of its inputs and attributes missing, too
 * many, of the wrong kind, type, rank and size, empty, out of range and huge. A node is read, or
 * refused with a message and without a trace in the graph. */
#include "build/gen/suites.h"
#include "formats.h"
#include "onnx_nodes.h"
#include "tests/lib/case_messages.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/onnx_node_models.h"

static void read_case(const node_case *c, void *context)
{
    message          bytes = onnx_node_model(c);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = eddy_onnx_read(g, .data = bytes.at, .data_size = bytes.size, .error = &e);
    message_free(&bytes);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    ck_assert_msg((m != NULL) == (e.status == EDDY_OK), "%s: %s", c->op, e.message);
    ck_assert_msg(m || eddy_graph_size(g) == 0, "%s leaves nodes: %s", c->op, e.message);
    case_messages_add(context, m ? NULL : e.message, "ONNX model: ");
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

START_TEST(operators)
{
    static case_messages messages;
    case_messages_begin("formats/onnx_hostile");
    for (size_t i = 0; i < sizeof onnx_rows / sizeof *onnx_rows; i++) {
        const onnx_row *r = &onnx_rows[i];
        const node_case c = node_case_of(r->op, r->opset, r->inputs, r->attributes, r->outputs);
        read_case(&c, &messages);
        ck_assert_msg(messages.read == 1, "%s(%s): %s", r->op, r->inputs, messages.kinds[0]);
        node_case_damage(&c, read_case, &messages);
        case_messages_end(&messages, r->op);
    }
    case_messages_finish();
}
END_TEST

Suite *onnx_hostile_suite(void)
{
    Suite *s = suite_create("onnx_hostile");
    TCase *t = tcase_create("nodes");
    tcase_set_timeout(t, 300);
    tcase_add_test(t, operators);
    suite_add_tcase(s, t);
    return s;
}
