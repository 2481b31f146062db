/* test_tensorflow_nodes.c -- operators of TensorFlow one by one: inputs, attributes, and the
 * outputs that TensorFlow's documentation gives.
 *
 * A tensor is written as a letter for its type (f, d: floating; i, l: int32, int64; b: bool; z:
 * complex64, two numbers for each element), its sizes, and its elements: "f[2,2] 1 2 3 4", "i 3".
 * Inputs are constants; "?" before one makes it an input that is fed, and "~" one whose sizes are
 * not known before. Attributes: axis=1, flag=true, alpha=0.5, mode='SAME, T=:int32, ksize=[1,2],
 * shape=<2,3>, fused_ops={Relu,Add}. An output "-" is not compared; "!text" is an error. */
#include "formats.h"
#include "tensorflow_nodes.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/tensorflow_writer.h"

#include "build/gen/suites.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 64, INPUTS = 8 };

typedef struct given {
    char    kind, letter;           /* '?', '~' or 'c' */
    int     rank, n;
    int64_t dims[EDDY_MAX_RANK];
    double  at[MOST];
} given;

static const char letters[] = "fdilbz";
static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64, EDDY_BOOL,
                                     EDDY_COMPLEX64 };
static const int types[] = { 1, 2, 3, 9, 10, 8 };

static int letter_of(const given *t) { return (int)(strchr(letters, t->letter) - letters); }

/* Reads up to a semicolon; the rest of the text. */
static const char *parse(const char *text, given *t)
{
    while (*text == ' ') text++;
    *t = (given){ .kind = 'c' };
    if (*text == '?' || *text == '~') t->kind = *text++;
    t->letter = *text++;
    ck_assert_msg(strchr(letters, t->letter) != NULL, "%s", text);
    if (*text == '[') {
        for (text++; *text != ']'; text += *text == ',')
            t->dims[t->rank++] = strtoll(text, (char **)&text, 10);
        text++;
    }
    for (char *end; *text && *text != ';'; text = end) {
        const double x = strtod(text, &end);
        if (end == text) {
            end++;
            continue;
        }
        ck_assert_int_lt(t->n, MOST);
        t->at[t->n++] = x;
    }
    return *text == ';' ? text + 1 : text;
}

static eddy_array *array_of(const given *t)
{
    const eddy_dtype d = dtypes[letter_of(t)];
    eddy_array      *a = eddy_array_new(d, eddy_shape_of_dims(t->dims, (size_t)t->rank));
    ck_assert_ptr_nonnull(a);
    const int each = t->letter == 'z' ? 2 : 1;
    ck_assert_int_eq(eddy_array_count(a) * each, t->n);
    for (int i = 0; i < t->n; i++)
        if (each == 1) eddy_array_set(a, i, t->at[i]);
        else ((float *)eddy_array_data(a))[i] = (float)t->at[i];
    return a;
}

/* ------------------------------------------------------------------ models -- */

static void add_input(message *g, const char *name, const given *t)
{
    const int         l = letter_of(t);
    static const int64_t open[EDDY_MAX_RANK] = { -1, -1, -1, -1, -1, -1, -1, -1 };
    eddy_array       *a = array_of(t);
    message           m;
    if (t->kind == 'c')
        m = tf_const_message(name, types[l], eddy_dtype_size(dtypes[l]), t->rank, t->dims,
                             eddy_array_data(a));
    else {
        m = tf_node_message(name, "Placeholder", "");
        tf_add_type(&m, "dtype", types[l]);
        tf_add_shape(&m, "shape", t->rank, t->kind == '~' ? open : t->dims);
    }
    message_inner(g, TF_GRAPH_NODE, m);
    eddy_array_free(a);
}

static void add_list(message *node, const char *name, const char *text)
{
    int64_t list[16];
    int     n = 0;
    const bool shape = *text == '<';
    for (text++; *text != ']' && *text != '>'; text += *text == ',')
        list[n++] = strtoll(text, (char **)&text, 10);
    if (shape) tf_add_shape(node, name, n, list);
    else tf_add_ints(node, name, n, list);
}

static int type_named(const char *name)
{
    static const struct { const char *name; int type; } all[] = {
        { "float", 1 }, { "double", 2 }, { "int32", 3 }, { "uint8", 4 }, { "string", 7 },
        { "int64", 9 }, { "bool", 10 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0) return all[i].type;
    ck_abort_msg("%s", name);
    return 0;
}

static void add_attribute(message *node, char *text)
{
    char *value = strchr(text, '=');
    *value++ = 0;
    switch (*value) {
    case '\'': tf_add_text(node, text, value + 1); break;
    case ':': tf_add_type(node, text, type_named(value + 1)); break;
    case '[':
    case '<': add_list(node, text, value); break;
    case '{':
        value[strlen(value) - 1] = 0;
        tf_add_texts(node, text, value + 1);
        break;
    case 't':
    case 'f': tf_add_flag(node, text, *value == 't'); break;
    default:
        if (strchr(value, '.')) tf_add_float(node, text, strtof(value, NULL));
        else tf_add_int(node, text, strtoll(value, NULL, 10));
    }
}

/* A graph with one node, y, and its inputs x0, x1, ...; the inputs are stored in `in`. */
static message model_of(const row *r, given *in, int *n)
{
    message g = { NULL, 0 };
    char    names[100] = "", attributes[500];
    *n = 0;
    for (const char *text = r->inputs; *text; ++*n) {
        char name[16];
        ck_assert_int_lt(*n, INPUTS);
        text = parse(text, &in[*n]);
        snprintf(name, sizeof name, "x%d", *n);
        add_input(&g, name, &in[*n]);
        strcat(strcat(names, *n ? "," : ""), name);
    }
    message node = tf_node_message("y", r->op, names);
    snprintf(attributes, sizeof attributes, "%s", r->attributes);
    char *rest = NULL;
    for (char *a = strtok_r(attributes, " ", &rest); a; a = strtok_r(NULL, " ", &rest))
        add_attribute(&node, a);
    message_inner(&g, TF_GRAPH_NODE, node);
    return g;
}

/* ----------------------------------------------------------------- comparing -- */

static void same(const row *r, int output, const given *want, const eddy_array *y)
{
    const eddy_shape s = eddy_array_shape(y);
    ck_assert_msg(eddy_array_dtype(y) == dtypes[letter_of(want)], "%s:%d: type %s", r->op, output,
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

static void run_row(const row *r, eddy_graph *g, const eddy_tensorflow_model *m, const given *in,
                    int n)
{
    eddy_feed     feeds[INPUTS];
    int           fed = 0, output = 0;
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        if (in[i].kind != 'c')
            feeds[fed++] = (eddy_feed){ eddy_tensorflow_input(m, name), array_of(&in[i]) };
    }
    for (const char *text = r->outputs; *text; output++) {
        char  name[16];
        given want;
        if (*text == '-') {
            text += 1 + (text[1] == ';');
            continue;
        }
        text = parse(text, &want);
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
    given       in[INPUTS];
    int         n;
    message     bytes = model_of(r, in, &n);
    eddy_graph *g = eddy_graph_new();
    eddy_error  e = { 0 };
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, .data = bytes.at, .data_size = bytes.size,
                                                    .outputs = (const char *const[]){ "y" },
                                                    .output_count = 1, .error = &e);
    message_free(&bytes);
    if (r->outputs[0] == '!') {
        ck_assert_msg(m == NULL, "%s(%s): is read", r->op, r->inputs);
        ck_assert_msg(strstr(e.message, r->outputs + 1) != NULL, "%s: %s", r->op, e.message);
        ck_assert_int_eq(eddy_graph_size(g), 0);
    } else {
        ck_assert_msg(m != NULL, "%s(%s): %s", r->op, r->inputs, e.message);
        run_row(r, g, m, in, n);
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

/* One test for each row. */
#define OF(family)                                                                      \
    START_TEST(test_##family) { check_row(&family[_i]); }                               \
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
    TCase *c = tcase_create("operators");
#define ADD(family) tcase_add_loop_test(c, test_##family, 0, (int)(sizeof family / sizeof *family))
    ADD(arrays);
    ADD(indexing);
    ADD(reductions);
    ADD(shapes);
    ADD(math);
    ADD(nets);
    ADD(images);
    ADD(linear);
    suite_add_tcase(s, c);
    return s;
}
