/* test_tensorflow_messages.c -- the protobuf messages of TensorFlow: attributes, shapes, functions,
 * signatures and graphs of a SavedModel; and damage in each kind of message. */
#include "build/gen/suites.h"
#include "formats.h"
#include "formats/tensorflow/model.h"
#include "tests/lib/files/tensorflow_writer.h"

#include <check.h>
#include <string.h>

static bool parsed(region *r, const message *m, tf_file *file)
{
    const uint8_t *at;
    *r = (region){ 0 };
    const bool ok = eddy__tf_parse(r, (wire_bytes){ m->at, m->size }, file, &at);
    ck_assert(!r->full);
    return ok;
}

/* --------------------------------------------------------------- attributes -- */

/* A graph of one node, whose only attribute "a" has this AttrValue. */
static message graph_of(message value)
{
    message g = { NULL, 0 }, n = tf_node_message("n", "Neg", ""), entry = { NULL, 0 };
    message_text(&entry, 1, "a");
    message_inner(&entry, 2, value);
    message_inner(&n, 5, entry);
    message_inner(&g, TF_GRAPH_NODE, n);
    return g;
}

static message shape_of(int rank, const int64_t *dims)
{
    message s = { NULL, 0 };
    for (int i = 0; i < rank; i++) {
        message d = { NULL, 0 };
        message_number(&d, 1, (uint64_t)dims[i]);
        message_inner(&s, 2, d);
    }
    return s;
}

static message in_field(uint32_t field, message inner)
{
    message m = { NULL, 0 };
    message_inner(&m, field, inner);
    return m;
}

static tf_attr attribute(region *r, message value)
{
    tf_file file;
    message g = graph_of(value);
    ck_assert(parsed(r, &g, &file));
    message_free(&g);
    ck_assert(file.main.n_nodes == 1 && file.main.nodes[0].n_attrs == 1);
    ck_assert_str_eq(file.main.nodes[0].attrs[0].name, "a");
    return file.main.nodes[0].attrs[0];
}

START_TEST(shapes)
{
    static const struct { int rank; int64_t dims[9]; const char *want; } rows[] = {
        { 0, { 0 }, "[]" },
        { 2, { 3, -1 }, "[3,?]" },
        { 8, { 1, 2, 3, 4, 5, 6, 7, 8 }, "[1,2,3,4,5,6,7,8]" },
        { 9, { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, "?" },
    };
    region r;
    char   text[100];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const tf_attr a = attribute(&r, in_field(7, shape_of(rows[i].rank, rows[i].dims)));
        ck_assert_int_eq(a.kind, TF_ATTR_SHAPE);
        ck_assert_str_eq(eddy_shape_print(a.shape, text, sizeof text), rows[i].want);
        eddy__region_free(&r);
    }
    for (int unknown = 0; unknown < 2; unknown++) {     /* unknown_rank between the sizes */
        message s = shape_of(1, (int64_t[]){ 3 }), more = { NULL, 0 };
        message_number(&s, 3, (uint64_t)unknown);
        message_number(&more, 1, 4);
        message_inner(&s, 2, more);
        const tf_attr a = attribute(&r, in_field(7, s));
        ck_assert_str_eq(eddy_shape_print(a.shape, text, sizeof text), unknown ? "?" : "[3,4]");
        eddy__region_free(&r);
    }
}
END_TEST

/* A list whose fields are as they are for AttrValue.ListValue. */
static message list_of(int n_shapes, int n_ints, bool functions)
{
    message l = { NULL, 0 };
    for (int i = 0; i < n_shapes; i++) message_inner(&l, 7, shape_of(1, (int64_t[]){ i }));
    for (int i = 0; i < n_ints; i++) message_number(&l, 3, (uint64_t)(10 - i));
    message_text(&l, 2, "text");
    message_float(&l, 4, 0.5f);
    if (functions) {
        message f = { NULL, 0 }, empty = { NULL, 0 };
        message_text(&f, 1, "f");
        message_number(&f, 3, 1);
        message_inner(&l, 9, f);
        message_inner(&l, 9, empty);
    }
    return l;
}

START_TEST(lists)
{
    region  r;
    tf_attr a = attribute(&r, in_field(1, list_of(2, 2, false)));
    ck_assert_int_eq(a.kind, TF_ATTR_LIST);
    ck_assert(a.n_texts == 1 && a.n_ints == 2 && a.n_shapes == 2);
    ck_assert_str_eq(a.texts[0], "text");
    ck_assert(a.ints[0] == 10 && a.ints[1] == 9 && a.shapes[1].dim[0] == 1);
    eddy__region_free(&r);
    a = attribute(&r, in_field(1, list_of(0, 0, true)));
    ck_assert(a.n_texts == 2 && a.n_ints == 0 && a.n_shapes == 0);
    ck_assert_str_eq(a.texts[0], "f");
    ck_assert_str_eq(a.texts[1], "");
    eddy__region_free(&r);
    message l = { NULL, 0 };
    message_number(&l, 5, 1);                           /* booleans, then types */
    a = attribute(&r, in_field(1, l));
    ck_assert(a.n_ints == 1 && a.ints[0] == 1);
    eddy__region_free(&r);
    l = (message){ NULL, 0 };
    message_bytes(&l, 6, "\1\3", 2);
    a = attribute(&r, in_field(1, l));
    ck_assert(a.n_ints == 2 && a.ints[0] == 1 && a.ints[1] == 3);
    eddy__region_free(&r);
}
END_TEST

/* Of two lists, the second counts: it must not be written behind the first one. */
START_TEST(two_lists)
{
    region  r;
    message v = in_field(1, list_of(100, 3, true));
    message_inner(&v, 1, list_of(1, 0, false));
    const tf_attr a = attribute(&r, v);
    ck_assert(a.kind == TF_ATTR_LIST && a.n_shapes == 1 && a.n_ints == 0 && a.n_texts == 1);
    ck_assert(a.shapes[0].rank == 1 && a.shapes[0].dim[0] == 0);
    ck_assert_str_eq(a.name, "a");
    eddy__region_free(&r);
}
END_TEST

/* Packed floats are the content, which is not copied, if they are one for each element. */
START_TEST(packed_tensors)
{
    static const struct { int type, size, fields; uint32_t field; int64_t dim; bool content;
    } rows[] = {
        { 1, 8, 1, 5, 2, true },   { 1, 8, 1, 5, 3, false },  { 1, 8, 1, 5, 1, false },
        { 1, 0, 1, 5, 0, false },  { 1, 8, 2, 5, 4, false },  { 1, 8, 1, 5, -1, false },
        { 2, 16, 1, 6, 2, true },  { 2, 8, 1, 6, 2, false },  { 1, 8, 1, 5, 1ll << 62, false },
        { 3, 8, 1, 7, 8, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        region  r;
        uint8_t bytes[16] = { 0 };
        message t = { NULL, 0 };
        message_number(&t, 1, (uint64_t)rows[i].type);
        message_inner(&t, 2, shape_of(1, &rows[i].dim));
        for (int k = 0; k < rows[i].fields; k++)
            message_bytes(&t, rows[i].field, bytes, (size_t)rows[i].size);
        const tf_attr a = attribute(&r, in_field(8, t));
        ck_assert(a.kind == TF_ATTR_TENSOR && a.tensor->type == rows[i].type);
        ck_assert_msg(a.tensor->has_content == rows[i].content, "row %zu", i);
        if (rows[i].content) ck_assert_uint_eq(a.tensor->content.size, (size_t)rows[i].size);
        eddy__region_free(&r);
    }
}
END_TEST

START_TEST(functions_of_attributes)
{
    region  r;
    message f = { NULL, 0 };
    message_number(&f, 2, 1);
    message_text(&f, 1, "f");
    tf_attr a = attribute(&r, in_field(10, f));
    ck_assert_int_eq(a.kind, TF_ATTR_FUNCTION);
    ck_assert_str_eq(a.text, "f");
    eddy__region_free(&r);
    message v = { NULL, 0 };
    message_number(&v, 11, 1);                          /* an odd field */
    a = attribute(&r, v);
    ck_assert_int_eq(a.kind, TF_ATTR_NONE);
    eddy__region_free(&r);
}
END_TEST

/* ---------------------------------------------------------------- functions -- */

/* A function whose results are "r0", "r1", ..., of which a map has `entries`. */
static message function_of(int results, int entries)
{
    message f = { NULL, 0 }, signature = { NULL, 0 };
    char    key[12], value[16];
    message_text(&signature, 1, "f");
    for (int i = 0; i < results; i++) {
        message arg = { NULL, 0 };
        snprintf(key, sizeof key, "r%d", i);
        message_text(&arg, 1, key);
        message_number(&arg, 3, 1);
        message_inner(&signature, 3, arg);
    }
    message_inner(&f, 1, signature);
    for (int i = entries - 1; i >= 0; i--) {
        message entry = { NULL, 0 };
        snprintf(key, sizeof key, "r%d", i);
        snprintf(value, sizeof value, "n:%d", i);
        message_text(&entry, 1, key);
        message_text(&entry, 2, value);
        message_inner(&f, 4, entry);
    }
    message_inner(&f, 4, (message){ NULL, 0 });
    return f;
}

static const tf_graph *function(region *r, tf_file *file, message f)
{
    message g = graph_of((message){ NULL, 0 });
    tf_add_library(&g, &f, 1);
    ck_assert(parsed(r, &g, file) && file->n_functions == 1);
    message_free(&g);
    return &file->functions[0];
}

START_TEST(results)
{
    region          r;
    tf_file         file;
    const tf_graph *f = function(&r, &file, function_of(3, 2));
    ck_assert_str_eq(f->name, "f");
    ck_assert(f->n_results == 3 && f->n_args == 0 && f->n_nodes == 0);
    ck_assert_str_eq(f->results[0], "n:0");
    ck_assert_str_eq(f->results[1], "n:1");
    ck_assert_str_eq(f->results[2], "");
    eddy__region_free(&r);
    message nameless = { NULL, 0 }, entry = { NULL, 0 };
    message_inner(&nameless, 1, in_field(3, (message){ NULL, 0 }));
    message_text(&entry, 2, "n:9");
    message_inner(&nameless, 4, entry);
    f = function(&r, &file, nameless);
    ck_assert_uint_eq(f->n_results, 1);
    ck_assert_str_eq(f->results[0], "n:9");
    eddy__region_free(&r);
    f = function(&r, &file, function_of(64, 64));
    ck_assert_str_eq(f->results[63], "n:63");
    eddy__region_free(&r);
    f = function(&r, &file, function_of(65, 65));       /* it cannot be called */
    ck_assert_uint_eq(f->n_results, 65);
    ck_assert_str_eq(f->results[0], "r0");
    eddy__region_free(&r);
}
END_TEST

/* -------------------------------------------------------------- SavedModels -- */

/* A MetaGraphDef with one node of this name and these tags, separated by commas. */
static message meta_graph(const char *node, const char *tags)
{
    message meta = { NULL, 0 }, info = { NULL, 0 }, g = { NULL, 0 };
    message_text(&info, 1, "serve");                    /* another field */
    for (const char *t = tags; *t; t += strcspn(t, ",") + (t[strcspn(t, ",")] == ','))
        message_bytes(&info, 4, t, strcspn(t, ","));
    message_inner(&g, TF_GRAPH_NODE, tf_node_message(node, "NoOp", ""));
    message_inner(&meta, 2, g);
    message_inner(&meta, 1, info);
    return meta;
}

/* The first graph with the tag "serve", else the first one. */
START_TEST(graphs)
{
    static const struct { const char *tags[3], *node; } rows[] = {
        { { "train", "serve", "serve,gpu" }, "b" },
        { { "serve,gpu", "serve", "train" }, "a" },
        { { "train", "gpu,served", "tpu,serve" }, "c" },
        { { "train", "gpu", "" }, "a" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        region  r;
        tf_file file;
        message m = { NULL, 0 };
        message_number(&m, 1, 1);
        for (int k = 0; k < 3; k++)
            message_inner(&m, 2, meta_graph((const char *[]){ "a", "b", "c" }[k], rows[i].tags[k]));
        ck_assert(parsed(&r, &m, &file));
        ck_assert(file.saved_model && file.main.n_nodes == 1);
        ck_assert_str_eq(file.main.nodes[0].name, rows[i].node);
        message_free(&m);
        eddy__region_free(&r);
    }
    region  r;
    tf_file file;
    message m = { NULL, 0 };
    message_number(&m, 1, 1);
    ck_assert(parsed(&r, &m, &file) && file.saved_model && file.main.n_nodes == 0);
    message_free(&m);
    eddy__region_free(&r);
}
END_TEST

START_TEST(signatures)
{
    message port = { NULL, 0 }, info = { NULL, 0 }, signature = { NULL, 0 }, entry = { NULL, 0 },
            meta = meta_graph("x", "serve"), m = { NULL, 0 };
    message_text(&info, 1, "x:0");
    message_number(&info, 2, 1);
    message_inner(&info, 3, shape_of(2, (int64_t[]){ -1, 3 }));
    message_text(&port, 1, "b");
    message_inner(&port, 2, info);
    message_inner(&signature, 1, port);
    message_inner(&signature, 1, in_field(2, (message){ NULL, 0 }));    /* nothing is known */
    message_text(&entry, 1, "predict");
    message_inner(&entry, 2, signature);
    message_number(&entry, 3, 1);
    message_inner(&meta, 5, entry);
    message_number(&m, 1, 1);
    message_inner(&m, 2, meta);
    region  r;
    tf_file file;
    ck_assert(parsed(&r, &m, &file) && file.n_signatures == 1);
    const tf_signature *s = file.signatures;
    ck_assert_str_eq(s->name, "predict");
    ck_assert(s->n_inputs == 2 && s->n_outputs == 0);
    ck_assert_str_eq(s->inputs[0].key, "");
    ck_assert_str_eq(s->inputs[0].tensor, "");
    ck_assert_int_eq(s->inputs[0].shape.rank, EDDY_UNKNOWN_RANK);
    ck_assert_str_eq(s->inputs[1].key, "b");
    ck_assert_str_eq(s->inputs[1].tensor, "x:0");
    ck_assert(s->inputs[1].shape.rank == 2 && s->inputs[1].shape.dim[0] == EDDY_ANY &&
              s->inputs[1].shape.dim[1] == 3);
    message_free(&m);
    eddy__region_free(&r);
}
END_TEST

/* ------------------------------------------------------------------- damage -- */

enum { LEVELS = 20, NONE = -1 };

/* Message number `level`, damaged if that is `bad`: with a field that is cut off, or, where it is
 * used, as a number instead of a message. */
typedef struct damage {
    int  bad;
    bool number;
} damage;

static message marked(const damage *d, int level, message m)
{
    if (level == d->bad && !d->number) message_bytes(&m, 15, "", 0), m.size--;
    return m;
}

static void inner(const damage *d, int level, message *m, uint32_t field, message n)
{
    n = marked(d, level, n);
    if (level == d->bad && d->number) {
        message_free(&n);
        message_number(m, field, 7);
    } else message_inner(m, field, n);
}

static message tensor_value(const damage *d)
{
    message dim = { NULL, 0 }, shape = { NULL, 0 }, t = { NULL, 0 }, v = { NULL, 0 };
    message_number(&dim, 1, 1);
    inner(d, 0, &shape, 2, dim);
    message_number(&t, 1, 1);
    inner(d, 1, &t, 2, shape);
    message_float(&t, 5, 2);
    inner(d, 2, &v, 8, t);
    return v;
}

static message list_value(const damage *d)
{
    message name = { NULL, 0 }, l = { NULL, 0 }, v = { NULL, 0 };
    message_text(&name, 1, "f");
    inner(d, 3, &l, 9, name);
    inner(d, 4, &l, 7, shape_of(1, (int64_t[]){ 1 }));
    inner(d, 5, &v, 1, l);
    return v;
}

static message node_of(const damage *d)
{
    message n = tf_node_message("n", "Neg", "x"), name = { NULL, 0 }, v = { NULL, 0 };
    message values[] = { tensor_value(d), list_value(d), v };
    message_text(&name, 1, "f");
    inner(d, 6, &values[2], 10, name);
    for (int i = 0; i < 3; i++) {
        message entry = { NULL, 0 };
        message_text(&entry, 1, "a");
        inner(d, i == 0 ? 7 : NONE - 1, &entry, 2, values[i]);
        inner(d, i == 1 ? 8 : NONE - 1, &n, 5, entry);
    }
    return n;
}

static message function_message(const damage *d)
{
    message arg = { NULL, 0 }, result = { NULL, 0 }, signature = { NULL, 0 }, entry = { NULL, 0 },
            f = { NULL, 0 };
    message_text(&arg, 1, "x");
    message_text(&result, 1, "y");
    message_text(&signature, 1, "f");
    inner(d, 9, &signature, 2, arg);
    inner(d, 10, &signature, 3, result);
    message_text(&entry, 1, "y");
    message_text(&entry, 2, "n:0");
    inner(d, 11, &f, 1, signature);
    inner(d, 12, &f, 4, entry);
    message_inner(&f, 3, tf_node_message("n", "Neg", "x"));
    return f;
}

static message model(const damage *d)
{
    message info = { NULL, 0 }, port = { NULL, 0 }, signature = { NULL, 0 }, entry = { NULL, 0 },
            tags = { NULL, 0 }, library = { NULL, 0 }, g = { NULL, 0 }, meta = { NULL, 0 },
            m = { NULL, 0 };
    message_text(&info, 1, "n:0");
    inner(d, 13, &port, 2, info);
    inner(d, 14, &signature, 2, port);
    message_text(&entry, 1, "serving_default");
    inner(d, 15, &entry, 2, signature);
    message_inner(&library, 1, function_message(d));
    message_inner(&g, 1, node_of(d));
    inner(d, 16, &g, 2, library);
    message_text(&tags, 4, "train");
    inner(d, 17, &meta, 1, tags);
    message_inner(&meta, 2, g);
    inner(d, 18, &meta, 5, entry);
    message_number(&m, 1, 1);
    inner(d, 19, &m, 2, meta);
    return m;
}

START_TEST(damaged)
{
    for (int bad = NONE; bad < LEVELS; bad++)
        for (int number = 0; number < 2; number++) {
            const damage d = { bad, number };
            message      m = model(&d);
            eddy_error   e = { 0 };
            region       r;
            tf_file      file;
            ck_assert_msg(parsed(&r, &m, &file) == (bad == NONE), "level %d", bad);
            eddy__region_free(&r);
            eddy_model_report *report =
                eddy_tensorflow_check(.data = m.at, .data_size = m.size, .error = &e);
            ck_assert_msg((report != NULL) == (bad == NONE), "level %d: %s", bad, e.message);
            if (!report) {
                ck_assert_int_eq(e.status, EDDY_CORRUPT);
                ck_assert_msg(strstr(e.message, "this is no graph of TensorFlow: byte ") &&
                              strstr(e.message, " is damaged"), "level %d: %s", bad, e.message);
            }
            eddy_model_report_free(report);
            message_free(&m);
        }
}
END_TEST

Suite *tensorflow_messages_suite(void)
{
    Suite *s = suite_create("tensorflow_messages");
    TCase *t = tcase_create("messages");
    tcase_add_test(t, shapes);
    tcase_add_test(t, lists);
    tcase_add_test(t, packed_tensors);
    tcase_add_test(t, two_lists);
    tcase_add_test(t, functions_of_attributes);
    tcase_add_test(t, results);
    tcase_add_test(t, graphs);
    tcase_add_test(t, signatures);
    tcase_add_test(t, damaged);
    suite_add_tcase(s, t);
    return s;
}
