/* test_onnx_later.c -- operators newer than ONNX's installed test models, against others that are
 * equal where both apply. */
#include "formats.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/onnx_writer.h"

#include <math.h>

Suite *onnx_later_suite(void);

enum { MOST = 6 };

typedef struct input {
    const char *name;
    int         rank;
    int64_t     dims[4];
    double      scale, offset;      /* the elements are scale sin(i + 1) + offset */
} input;

/* A model of one node with these float inputs, and the elements to feed. */
static eddy_tensor read_node(eddy_graph *g, message node, int opset, const input *in, int n,
                             eddy_feed *feeds, eddy_onnx_model **model)
{
    message    m = { NULL, 0 };
    eddy_error e = { 0 };
    message_inner(&m, GRAPH_NODE, node);
    for (int i = 0; i < n; i++)
        message_inner(&m, GRAPH_INPUT, onnx_value_message(in[i].name, 1, in[i].rank, in[i].dims));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message all = onnx_model_message(m, opset);
    *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(*model != NULL, "%s", e.message);
    message_free(&all);
    for (int i = 0; i < n; i++) {
        eddy_array *a =
            eddy_array_new(EDDY_FLOAT32, eddy_shape_of_dims(in[i].dims, (size_t)in[i].rank));
        for (int64_t k = 0; k < eddy_array_count(a); k++)
            eddy_array_set(a, k, in[i].scale * sin((double)k + 1) + in[i].offset);
        feeds[i] = (eddy_feed){ eddy_onnx_input(*model, in[i].name), a };
    }
    return eddy_onnx_output(*model, "y");
}

static eddy_array *value_of(eddy_graph *g, eddy_tensor y, const eddy_feed *feeds, int n)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = eddy_fetch(s, y, { n, feeds });
    ck_assert_msg(a != NULL, "%s", eddy_session_message(s));
    eddy_session_free(s);
    return a;
}

static void gradients_agree(eddy_graph *g, eddy_tensor y, const eddy_feed *feeds, int n)
{
    eddy_session        *s = eddy_session_new(g);
    eddy_gradient_report r = { 0 };
    eddy_tensor          xs[MOST];
    for (int i = 0; i < n; i++) xs[i] = feeds[i].tensor;
    const eddy_status status =
        eddy_gradient_check(s, EDDY_LIST(y), { n, xs }, { n, feeds }, .report = &r);
    ck_assert_msg(status == EDDY_OK, "%s", r.text ? r.text : eddy_session_message(s));
    eddy_string_free(r.text);
    eddy_session_free(s);
}

static void done(eddy_graph *g, eddy_onnx_model *m, eddy_feed *feeds, int n)
{
    for (int i = 0; i < n; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

static void same(const eddy_array *a, const eddy_array *b)
{
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(b)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_double_eq_tol(eddy_array_get(a, i), eddy_array_get(b, i), 2e-5);
}

static message strided(const char *op, const char *inputs)
{
    message node = onnx_node_message(op, inputs, "y");
    onnx_add_attribute(&node, onnx_ints_attribute("kernel_shape", 2, (int64_t[]){ 2, 3 }));
    onnx_add_attribute(&node, onnx_ints_attribute("pads", 4, (int64_t[]){ 1, 0, 1, 2 }));
    onnx_add_attribute(&node, onnx_ints_attribute("strides", 2, (int64_t[]){ 2, 1 }));
    onnx_add_attribute(&node, onnx_int_attribute("group", 2));
    return node;
}

/* Without offsets it is a convolution; with offsets of whole pixels, one of moved images. */
START_TEST(deform_conv)
{
    const input       in[5] = { { "x", 4, { 2, 4, 5, 6 }, 1, 0 },
                                { "w", 4, { 2, 2, 2, 3 }, 1, 0.2 },
                                { "b", 1, { 2 }, 1, 0 },
                                { "o", 4, { 2, 12, 3, 6 }, 0, 0 },
                                { "m", 4, { 2, 6, 3, 6 }, 0, 1 } };
    const input plain[3] = { in[0], in[1], in[2] };
    const input deform[5] = { in[0], in[1], in[3], in[2], in[4] };
    eddy_onnx_model *m, *n;
    eddy_feed        f[MOST], h[MOST];
    eddy_graph      *g = eddy_graph_new(), *k = eddy_graph_new();
    const eddy_tensor y = read_node(g, strided("Conv", "x,w,b"), 13, plain, 3, f, &m);
    const eddy_tensor z = read_node(k, strided("DeformConv", "x,w,o,b,m"), 19, deform, 5, h, &n);
    eddy_array *a = value_of(g, y, f, 3), *b = value_of(k, z, h, 5);
    same(a, b);
    eddy_array_free(a);
    eddy_array_free(b);
    done(g, m, f, 3);
    done(k, n, h, 5);
    input moved[5];
    memcpy(moved, deform, sizeof moved);
    moved[2].scale = 0.3;               /* away from whole pixels, where its gradient has kinks */
    moved[2].offset = 0.5;
    moved[0].dims[0] = moved[2].dims[0] = moved[4].dims[0] = 1;
    g = eddy_graph_new();
    const eddy_tensor u = read_node(g, strided("DeformConv", "x,w,o,b,m"), 19, moved, 5, f, &m);
    gradients_agree(g, u, f, 5);
    done(g, m, f, 5);
}
END_TEST

/* The columns of ones: each pixel counts the windows that cover it. */
START_TEST(col2im)
{
    message node = onnx_node_message("Col2Im", "x,image,window", "y"), m = { NULL, 0 };
    message_inner(&m, GRAPH_NODE, node);
    message_inner(&m, GRAPH_INITIALIZER, onnx_int64s("image", 2, (int64_t[]){ 3, 4 }));
    message_inner(&m, GRAPH_INITIALIZER, onnx_int64s("window", 2, (int64_t[]){ 2, 2 }));
    message_inner(&m, GRAPH_INPUT, onnx_value_message("x", 1, 3, (int64_t[]){ 1, 8, 6 }));
    message_inner(&m, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    message          all = onnx_model_message(m, 18);
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = all.at, .data_size = all.size, .error = &e);
    ck_assert_msg(model != NULL, "%s", e.message);
    message_free(&all);
    float x[48];
    for (int i = 0; i < 48; i++) x[i] = i < 24 ? 1 : 2;
    const eddy_feed feed = { eddy_onnx_input(model, "x"), EDDY_VIEW(x, 1, 8, 6) };
    eddy_array     *y = value_of(g, eddy_onnx_output(model, "y"), &feed, 1);
    const double    want[12] = { 1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1 };
    ck_assert(eddy_shape_equal(eddy_array_shape(y), EDDY_SHAPE(1, 2, 3, 4)));
    for (int i = 0; i < 24; i++)
        ck_assert_double_eq(eddy_array_get(y, i), want[i % 12] * (i < 12 ? 1 : 2));
    eddy_array_free(y);
    gradients_agree(g, eddy_onnx_output(model, "y"), &feed, 1);
    eddy_onnx_free(model);
    eddy_graph_free(g);
}
END_TEST

/* softmax(q k' / sqrt(size)) v of each head; two heads of queries share one of keys. */
START_TEST(attention)
{
    const input       in[3] = { { "q", 4, { 2, 4, 3, 5 }, 1, 0 },
                                { "k", 4, { 2, 2, 6, 5 }, 1, 0.1 },
                                { "v", 4, { 2, 2, 6, 5 }, 1, -0.2 } };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m;
    eddy_feed        f[MOST];
    const eddy_tensor y =
        read_node(g, onnx_node_message("Attention", "q,k,v", "y"), 23, in, 3, f, &m);
    eddy_tensor k = f[1].tensor, v = f[2].tensor;
    k = eddy_gather(k, eddy_ints(g, 0, 0, 1, 1), .axis = 1);
    v = eddy_gather(v, eddy_ints(g, 0, 0, 1, 1), .axis = 1);
    const eddy_tensor z =
        MatMul(Softmax(Mul(MatMul(f[0].tensor, k, .transpose_b = true), 1 / sqrt(5))), v);
    eddy_array *a = value_of(g, y, f, 3), *b = value_of(g, z, f, 3);
    same(a, b);
    eddy_array_free(a);
    eddy_array_free(b);
    gradients_agree(g, y, f, 3);
    done(g, m, f, 3);
}
END_TEST

/* A turn by 90 degrees: (u, w) becomes (-w, u). */
START_TEST(rotary)
{
    for (int pairs = 0; pairs < 2; pairs++) {
        const input      in[3] = { { "x", 4, { 1, 2, 3, 4 }, 1, 0 },
                                   { "c", 3, { 1, 3, 2 }, 0, 0 },
                                   { "s", 3, { 1, 3, 2 }, 0, 1 } };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *m;
        eddy_feed        f[MOST];
        message          node = onnx_node_message("RotaryEmbedding", "x,c,s", "y");
        onnx_add_attribute(&node, onnx_int_attribute("interleaved", pairs));
        const eddy_tensor y = read_node(g, node, 23, in, 3, f, &m);
        eddy_array *a = value_of(g, y, f, 3);
        const int   other = pairs ? 1 : 2;
        for (int64_t i = 0; i < 24; i++) {
            const bool   first = pairs ? i % 2 == 0 : i % 4 < 2;
            const double want = first ? -eddy_array_get(f[0].value, i + other)
                                      : eddy_array_get(f[0].value, i - other);
            ck_assert_double_eq_tol(eddy_array_get(a, i), want, 1e-6);
        }
        eddy_array_free(a);
        gradients_agree(g, y, f, 3);
        done(g, m, f, 3);
    }
}
END_TEST

/* ----------------------------------------------------------- recurrent layers -- */

enum { STEPS = 4, BATCH = 2, SIZE = 3, HIDDEN = 2 };

static eddy_tensor recurrent(eddy_graph *g, const char *op, int gates, const char *direction,
                             eddy_feed *feeds, eddy_onnx_model **m)
{
    const input in[4] = { { "x", 3, { STEPS, BATCH, SIZE }, 1, 0 },
                          { "w", 3, { 1, gates * HIDDEN, SIZE }, 0.5, 0.1 },
                          { "r", 3, { 1, gates * HIDDEN, HIDDEN }, 0.7, 0 },
                          { "b", 2, { 1, 2 * gates * HIDDEN }, 0.3, 0 } };
    message node = onnx_node_message(op, "x,w,r,b", "y"), attribute = { NULL, 0 };
    onnx_add_attribute(&node, onnx_int_attribute("hidden_size", HIDDEN));
    message_text(&attribute, 1, "direction");
    message_text(&attribute, 4, direction);
    message_number(&attribute, 20, 3);
    onnx_add_attribute(&node, attribute);
    return read_node(g, node, 14, in, 4, feeds, m);
}

/* Backward is forward on the reversed steps. */
START_TEST(directions)
{
    static const struct {
        const char *op;
        int         gates;
    } cases[] = { { "RNN", 1 }, { "GRU", 3 }, { "LSTM", 4 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_graph       *g = eddy_graph_new(), *k = eddy_graph_new();
        eddy_onnx_model  *m, *n;
        eddy_feed         f[MOST], h[MOST];
        const eddy_tensor y = recurrent(g, cases[i].op, cases[i].gates, "reverse", f, &m);
        const eddy_tensor z = recurrent(k, cases[i].op, cases[i].gates, "forward", h, &n);
        for (int t = 0; t < STEPS; t++)
            for (int j = 0; j < BATCH * SIZE; j++)
                eddy_array_set((eddy_array *)(uintptr_t)h[0].value, t * BATCH * SIZE + j,
                               eddy_array_get(f[0].value, (STEPS - 1 - t) * BATCH * SIZE + j));
        eddy_array *a = value_of(g, y, f, 4), *b = value_of(k, eddy_reverse(z, EDDY_AXES(0)), h, 4);
        same(a, b);
        eddy_array_free(a);
        eddy_array_free(b);
        gradients_agree(g, y, f, 4);
        done(g, m, f, 4);
        done(k, n, h, 4);
    }
}
END_TEST

/* A clip that changes nothing makes an LSTM a loop of single operations. */
START_TEST(lstm_forms)
{
    const input in[3] = { { "x", 3, { STEPS, BATCH, SIZE }, 1, 0 },
                          { "w", 3, { 2, 4 * HIDDEN, SIZE }, 0.5, 0.1 },
                          { "r", 3, { 2, 4 * HIDDEN, HIDDEN }, 0.7, 0 } };
    eddy_array *of[2];
    for (int i = 0; i < 2; i++) {
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *m;
        eddy_feed        f[MOST];
        message          node = onnx_node_message("LSTM", "x,w,r", "y"), attribute = { NULL, 0 };
        onnx_add_attribute(&node, onnx_int_attribute("hidden_size", HIDDEN));
        message_text(&attribute, 1, "direction");
        message_text(&attribute, 4, "bidirectional");
        onnx_add_attribute(&node, attribute);
        if (i) onnx_add_attribute(&node, onnx_float_attribute("clip", 50));
        const eddy_tensor y = read_node(g, node, 14, in, 3, f, &m);
        of[i] = value_of(g, y, f, 3);
        done(g, m, f, 3);
    }
    same(of[0], of[1]);
    eddy_array_free(of[0]);
    eddy_array_free(of[1]);
}
END_TEST

Suite *onnx_later_suite(void)
{
    Suite *s = suite_create("onnx_later");
    TCase *t = tcase_create("operators");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, deform_conv);
    tcase_add_test(t, col2im);
    tcase_add_test(t, attention);
    tcase_add_test(t, rotary);
    tcase_add_test(t, directions);
    tcase_add_test(t, lstm_forms);
    suite_add_tcase(s, t);
    return s;
}
