/* test_onnx_values.c -- small ONNX models in unusual forms: old operator sets, bodies, shapes that
 * are known in part. Each has its values, or is refused with a message and without a trace in the
 * graph. */
#include "build/gen/suites.h"
#include "formats.h"
#include "onnx_values.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/onnx_node_models.h"

#include <math.h>

enum { MOST = 8 };

static eddy_onnx_model *read_text(eddy_graph *g, const onnx_text *t, int outputs, eddy_error *e)
{
    message graph = onnx_text_graph(t->inputs, t->nodes, outputs);
    message m = onnx_model_message(graph, t->opset);
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = e);
    message_free(&m);
    ck_assert_msg((model != NULL) == (e->status == EDDY_OK), "%s: %s", t->nodes, e->message);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    return model;
}

/* The arrays of the inputs that are fed. */
static int feeds_of(const onnx_text *t, const eddy_onnx_model *m, eddy_feed *feeds)
{
    int         n = 0;
    case_tensor c;
    char        name[20];
    const char *text = t->inputs;
    for (int i = 0; *text; i++) {
        text = case_tensor_parse(text, &c);
        snprintf(name, sizeof name, c.kind == '&' ? "x%d_" : "x%d", i);
        if (c.kind == 'c') continue;
        ck_assert(n < MOST);
        feeds[n++] = (eddy_feed){ eddy_onnx_input(m, name), case_tensor_array(&c) };
    }
    return n;
}

static void compare(const char *nodes, const eddy_array *y, const case_tensor *want)
{
    eddy_array *w = case_tensor_array(want);
    ck_assert_msg(eddy_array_dtype(y) == eddy_array_dtype(w), "%s: another type", nodes);
    ck_assert_msg(eddy_shape_equal(eddy_array_shape(y), eddy_array_shape(w)), "%s: another shape",
                  nodes);
    for (int64_t i = 0; i < eddy_array_count(w); i++) {
        const double a = eddy_array_get(y, i), b = eddy_array_get(w, i);
        ck_assert_msg(a == b || fabs(a - b) <= 1e-6 * fmax(1, fabs(b)),
                      "%s: [%d] is %.9g, not %.9g", nodes, (int)i, a, b);
    }
    eddy_array_free(w);
}

static int count_outputs(const char *text)
{
    int n = 1;
    for (; *text; text++) n += *text == ';';
    return n;
}

static void run_text(const onnx_text *t)
{
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    const int        n_out = count_outputs(t->outputs);
    eddy_onnx_model *m = read_text(g, t, n_out, &e);
    ck_assert_msg(m != NULL, "%s: %s", t->nodes, e.message);
    eddy_feed     feeds[MOST];
    const int     n = feeds_of(t, m, feeds);
    eddy_session *s = eddy_session_new(g);
    const char   *text = t->outputs;
    for (int i = 0; i < n_out; i++) {
        case_tensor want;
        if (*text == ';') {             /* an output that is not compared */
            text++;
            continue;
        }
        if (*text != '!') text = case_tensor_parse(text, &want);
        eddy_array *y = eddy_fetch(s, eddy_onnx_output(m, i == 0 ? "y0" : i == 1 ? "y1" : "y2"),
                                   { n, feeds });
        if (*text == '!') {
            ck_assert_msg(!y && strstr(eddy_session_message(s), text + 1), "%s: %s", t->nodes,
                          eddy_session_message(s));
            continue;
        }
        ck_assert_msg(y != NULL, "%s: %s", t->nodes, eddy_session_message(s));
        compare(t->nodes, y, &want);
        eddy_array_free(y);
    }
    eddy_session_free(s);
    for (int i = 0; i < n; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

START_TEST(values)
{
    for (size_t i = 0; i < sizeof onnx_values / sizeof *onnx_values; i++) run_text(&onnx_values[i]);
}
END_TEST

START_TEST(shapes)
{
    for (size_t i = 0; i < sizeof onnx_shapes / sizeof *onnx_shapes; i++) {
        const onnx_text *t = &onnx_shapes[i];
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *m = read_text(g, t, 1, &e);
        case_tensor      want;
        char             shape[100];
        ck_assert_msg(m != NULL, "%s: %s", t->nodes, e.message);
        case_tensor_parse(t->outputs, &want);
        const eddy_shape s = eddy_shape_of(eddy_onnx_output(m, "y0"));
        ck_assert_msg(eddy_shape_equal(s, eddy_shape_of_dims(want.dims, (size_t)want.rank)),
                      "%s: %s and not %s", t->nodes, eddy_shape_print(s, shape, sizeof shape),
                      t->outputs);
        eddy_onnx_free(m);
        eddy_graph_free(g);
    }
}
END_TEST

static void refuse_text(const onnx_text *t)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert_msg(!read_text(g, t, 1, &e), "%s of %s was read", t->nodes, t->inputs);
    ck_assert_int_eq(eddy_graph_size(g), 0);
    golden_error(&e);
    eddy_graph_free(g);
}

START_TEST(refused)
{
    /* Too many nodes to fail at each of their allocations (tests/torture/reading.c). */
    static const onnx_text large = { 13, "l 100000;b 1;l[1]",
                                     "SequenceConstruct x2>s;Loop x0,x1,s>y0 body=%grow", NULL };
    golden_begin("formats/onnx_values");
    for (size_t i = 0; i < sizeof onnx_refused / sizeof *onnx_refused; i++)
        refuse_text(&onnx_refused[i]);
    refuse_text(&large);
    golden_end();
}
END_TEST

/* Whether a model is read or refused, a report tells its nodes. */
static void report_all(const onnx_text *rows, size_t n, bool is_refused)
{
    for (size_t i = 0; i < n; i++) {
        eddy_error e = { 0 };
        message    m = onnx_model_message(onnx_text_graph(rows[i].inputs, rows[i].nodes, 1),
                                          rows[i].opset);
        eddy_model_report *r = eddy_onnx_check(.data = m.at, .data_size = m.size, .error = &e);
        int                missing = 0;
        for (int k = 0; k < eddy_model_report_size(r); k++) {
            const eddy_model_support s = eddy_model_report_at(r, k)->support;
            missing += s != EDDY_MODEL_NATIVE && s != EDDY_MODEL_COMPOSED;
        }
        ck_assert_msg(is_refused ? !r || missing > 0 : r && missing == 0, "%s: %d missing; %s",
                      rows[i].nodes, missing, e.message);
        eddy_model_report_free(r);
        message_free(&m);
    }
}

START_TEST(reports)
{
    report_all(onnx_values, sizeof onnx_values / sizeof *onnx_values, false);
    report_all(onnx_refused, sizeof onnx_refused / sizeof *onnx_refused, true);
}
END_TEST

Suite *onnx_values_suite(void)
{
    Suite *s = suite_create("onnx_values");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, values);
    tcase_add_test(t, shapes);
    tcase_add_test(t, refused);
    tcase_add_test(t, reports);
    suite_add_tcase(s, t);
    return s;
}
