/* test_onnx_forms.c -- the operators that are written for layer normalization, gelu and attention:
 * ONNX Runtime recognizes the first two by their form, and results that nothing reads are left
 * out. */
#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"

Suite *onnx_forms_suite(void);

static memory_files files;
static eddy_graph  *g;

static void setup(void)
{
    memory_files_init(&files);
    g = eddy_graph_new();
}

static void teardown(void)
{
    eddy_graph_free(g);
    memory_files_free(&files);
}

/* The operators in the order of the file. */
static void writes(eddy_list outputs, const char *operators)
{
    char       found[500] = "";
    eddy_error e = { 0 };
    fits(g);
    ck_assert_msg(eddy_onnx_write(outputs, "m.onnx", .files = &files.table, .error = &e) == EDDY_OK,
                  "%s", e.message);
    eddy_model_report *r = eddy_onnx_check("m.onnx", .files = &files.table, .error = &e);
    ck_assert_msg(r, "%s", e.message);
    for (int i = 0; i < eddy_model_report_size(r); i++) {
        const size_t n = strlen(found);
        snprintf(found + n, sizeof found - n, "%s%s", i ? " " : "", eddy_model_report_at(r, i)->op);
    }
    eddy_model_report_free(r);
    ck_assert_str_eq(found, operators);
}

START_TEST(layer_norm)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_tensor y = eddy_layer_norm(x, eddy_floats(g, 1, 2, 3), eddy_floats(g, 4, 5, 6));
    writes(EDDY_LIST(y), "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add Identity");
    writes(EDDY_LIST(y, eddy_output(y, 2)),
           "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul Add Reciprocal Identity Identity");
}
END_TEST

START_TEST(gelu)
{
    eddy_tensor y = eddy_gelu(eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    writes(EDDY_LIST(y), "Mul Div Erf Add Mul Identity");
}
END_TEST

START_TEST(attention)
{
    eddy_tensor q = eddy_placeholder(g, "q", EDDY_FLOAT32, EDDY_SHAPE(1, 2, 3, 4));
    eddy_tensor y = eddy_scaled_dot_product_attention(q, q, q);
    writes(EDDY_LIST(y), "Transpose MatMul Mul Softmax MatMul Identity");
    writes(EDDY_LIST(y, eddy_output(y, 1)),
           "Transpose MatMul Mul Softmax MatMul ReduceLogSumExp Identity Identity");
}
END_TEST

START_TEST(packed_attention)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(1, 3, 3, 2, 4));
    eddy_tensor y = eddy_packed_self_attention(x, false);
    writes(EDDY_LIST(y), "Gather Transpose Gather Transpose Gather Transpose Transpose MatMul Mul "
                         "Softmax MatMul Transpose Identity");
    writes(EDDY_LIST(y, eddy_output(y, 1)),
           "Gather Transpose Gather Transpose Gather Transpose Transpose MatMul Mul Softmax MatMul "
           "ReduceLogSumExp Transpose Transpose Identity Identity");
}
END_TEST

Suite *onnx_forms_suite(void)
{
    Suite *s = suite_create("onnx_forms");
    TCase *c = tcase_create("operators");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, layer_norm);
    tcase_add_test(c, gelu);
    tcase_add_test(c, attention);
    tcase_add_test(c, packed_attention);
    suite_add_tcase(s, c);
    return s;
}
