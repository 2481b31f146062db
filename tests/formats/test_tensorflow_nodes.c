/* test_tensorflow_nodes.c -- operators of TensorFlow one by one: inputs, attributes, and the
 * outputs that TensorFlow's documentation gives; then each with each of its inputs and attributes
 * missing, too many, of the wrong kind, type, rank and size, empty, out of range and huge.
 *
 * Tensors are as in tests/lib/files/node_cases.h, attributes as in
 * tests/lib/files/tensorflow_node_models.h. An output "-" is not compared; "!text" is an error. */
#include "formats.h"
#include "tensorflow_nodes.h"
#include "tests/lib/case_messages.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/tensorflow_node_models.h"

#include "build/gen/suites.h"

#include <math.h>

static eddy_tensorflow_model *read_model(const node_case *c, eddy_graph *g, eddy_error *e)
{
    message                bytes = tf_node_model(c);
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                                    .outputs = (const char *const[]){ "y" },
                                                    .output_count = 1, .error = e);
    message_free(&bytes);
    return m;
}

/* ----------------------------------------------------------------- comparing -- */

static void same(const row *r, int output, const case_tensor *want, const eddy_array *y)
{
    const eddy_shape s = eddy_array_shape(y);
    ck_assert_msg(eddy_array_dtype(y) == case_tensor_dtype(want), "%s:%d: type %s", r->op, output,
                  eddy_dtype_name(eddy_array_dtype(y)));
    ck_assert_msg(s.rank == want->rank, "%s:%d: rank %d", r->op, output, s.rank);
    for (int i = 0; i < s.rank; i++)
        ck_assert_msg(s.dim[i] == want->dims[i], "%s:%d: size %d is %d", r->op, output, i,
                      (int)s.dim[i]);
    const int each = want->letter == 'z' ? 2 : 1;
    ck_assert_int_eq(eddy_array_count(y) * each, want->n);
    for (int i = 0; i < want->n; i++) {
        const double x = each == 1 ? eddy_array_get(y, i) : ((float *)eddy_array_data(y))[i];
        const bool   both_nan = isnan(x) && isnan(want->at[i]);
        ck_assert_msg(both_nan || x == want->at[i] ||
                          fabs(x - want->at[i]) <= 2e-5 * (1 + fabs(want->at[i])),
                      "%s:%d: element %d is %g, not %g", r->op, output, i, x, want->at[i]);
    }
}

static void run_row(const row *r, eddy_graph *g, const eddy_tensorflow_model *m, const node_case *c)
{
    eddy_feed     feeds[CASE_INPUTS];
    int           fed = 0, output = 0;
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < c->n_in; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        if (c->in[i].kind != 'c')
            feeds[fed++] = (eddy_feed){ eddy_tensorflow_input(m, name),
                                        case_tensor_array(&c->in[i]) };
    }
    for (const char *text = r->outputs; *text; output++) {
        char  name[16];
        case_tensor want;
        if (*text == '-') {
            text += 1 + (text[1] == ';');
            continue;
        }
        text = case_tensor_parse(text, &want);
        snprintf(name, sizeof name, output ? "y:%d" : "y", output);
        eddy_array *y = NULL;
        eddy_run(s, (eddy_feeds){ fed, feeds }, EDDY_LIST(eddy_tensorflow_value(m, name)), &y);
        ck_assert_msg(y != NULL, "%s: %s %s", r->op, eddy_session_message(s),
                      eddy_graph_message(g));
        same(r, output, &want, y);
        eddy_array_free(y);
    }
    for (int i = 0; i < fed; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
    eddy_session_free(s);
}

static void check_row(const row *r)
{
    const node_case c = node_case_of(r->op, 0, r->inputs, r->attributes, 1);
    eddy_graph     *g = eddy_graph_new();
    eddy_error      e = { 0 };
    eddy_tensorflow_model *m = read_model(&c, g, &e);
    if (r->outputs[0] == '!') {
        ck_assert_msg(m == NULL, "%s(%s): is read", r->op, r->inputs);
        ck_assert_msg(strstr(e.message, r->outputs + 1) != NULL, "%s: %s", r->op, e.message);
        ck_assert_int_eq(eddy_graph_size(g), 0);
    } else {
        ck_assert_msg(m != NULL, "%s(%s): %s", r->op, r->inputs, e.message);
        run_row(r, g, m, &c);
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

/* ------------------------------------------------------------------- damage -- */

static void read_case(const node_case *c, void *context)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    eddy_tensorflow_model *m = read_model(c, g, &e);
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    ck_assert_msg((m != NULL) == (e.status == EDDY_OK), "%s: %s", c->op, e.message);
    ck_assert_msg(m || eddy_graph_size(g) == 0, "%s leaves nodes: %s", c->op, e.message);
    case_messages_add(context, m ? NULL : e.message, "TensorFlow model: node 'y' ");
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

static void damage_rows(const row *rows, size_t count, const char *name)
{
    static case_messages messages;
    case_messages_begin(name);
    const char *op = NULL;
    for (const row *r = rows; r < rows + count; r++) {
        if (r->outputs[0] == '!') continue;
        const node_case c = node_case_of(r->op, 0, r->inputs, r->attributes, 1);
        if (op && strcmp(op, r->op) != 0) case_messages_end(&messages, op);
        op = r->op;
        node_case_damage(&c, read_case, &messages);
    }
    case_messages_end(&messages, op);
    case_messages_finish();
}

/* One test for each row, and one that damages all. */
#define OF(family)                                                                      \
    START_TEST(test_##family) { check_row(&family[_i]); }                               \
    END_TEST                                                                            \
    START_TEST(damaged_##family)                                                        \
    {                                                                                   \
        damage_rows(family, sizeof family / sizeof *family,                             \
                    "formats/tensorflow_" #family);                                     \
    }                                                                                   \
    END_TEST
OF(arrays)
OF(indexing)
OF(reductions)
OF(shapes)
OF(math)
OF(nets)
OF(images)
OF(linear)

Suite *tensorflow_nodes_suite(void)
{
    Suite *s = suite_create("tensorflow_nodes");
    TCase *c = tcase_create("operators"), *d = tcase_create("damaged");
    tcase_set_timeout(d, 300);
#define ADD(family)                                                                     \
    tcase_add_loop_test(c, test_##family, 0, (int)(sizeof family / sizeof *family));    \
    tcase_add_test(d, damaged_##family)
    ADD(arrays);
    ADD(indexing);
    ADD(reductions);
    ADD(shapes);
    ADD(math);
    ADD(nets);
    ADD(images);
    ADD(linear);
#undef ADD
    suite_add_tcase(s, c);
    suite_add_tcase(s, d);
    return s;
}
