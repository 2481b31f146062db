/* test_onnx_models.c -- whole ONNX models in unusual forms: functions, sparse and external tensors,
 * elements in each field, bindings, and what goes beyond a limit. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/onnx_node_models.h"

#include <math.h>
#include <stdlib.h>

static const message empty = { NULL, 0 };

static message int64_input(const char *name, int type, int n)
{
    return onnx_value_message(name, type, 1, &(int64_t){ n });
}

/* The model must have this value in y0, or be refused with this text; x0 is 2, -2. */
static void expect(message m, int n, const double *want, const char *says)
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

/* ---------------------------------------------------------------- functions -- */

typedef struct function_text {
    const char *name, *inputs, *outputs, *nodes, *default_name;
    float       default_value;
} function_text;

static void names(message *m, uint32_t field, const char *list)
{
    for (size_t n; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        message_bytes(m, field, list, n);
    }
}

static message function_of(const function_text *t, int opset)
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

static const struct {
    function_text functions[2];
    const char   *inputs, *nodes;
    double        want[2];
    const char   *says;
} function_rows[] = {
    { { { "F", "a", "b", "LeakyRelu a>b alpha=$slope", "slope", 0.5 } },
      "?f[2]", "local:F x0>y0", { 2, -1 }, NULL },
    { { { "F", "a", "b", "LeakyRelu a>b alpha=$slope", "slope", 0.5 } },
      "?f[2]", "local:F x0>y0 slope=0.25", { 2, -0.5 }, NULL },
    { { { "F", "a", "b", "local:G a>b of_g=$of_f", NULL, 0 },
        { "G", "a", "b", "LeakyRelu a>b alpha=$of_g", NULL, 0 } },
      "?f[2]", "local:F x0>y0 of_f=0.25", { 2, -0.5 }, NULL },
    { { { "F", "a,k", "b", "If k>b then_branch=%leaky else_branch=%leaky", NULL, 0 } },
      "?f[2];b 1", "local:F x0,x1>y0 slope=0.5", { 2, -1 }, NULL },
    { { { "Neg", "a", "b", "Add a,a>b", NULL, 0 } },
      "?f[2]", "Neg x0>a;local:Neg a>y0", { -4, 4 }, NULL },
    { { { "F", "a,e", "b", "Clip a,e>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 2, -2 }, NULL },
    { { { "F", "a", "b,c", "Neg a>b;Neg b>c", NULL, 0 } },
      "?f[2]", "local:F x0>y0", { -2, 2 }, NULL },
    { { { "F", "a", "a", "", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 2, -2 }, NULL },
    { { { "F", "a", "b", "Neg a>c", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "node 0 (F): the function does not define 'b'" },
    { { { "F", "a", "b", "Nonsense a>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "node 0 function node 0 (Nonsense): operator Nonsense is not known" },
    { { { "F", "a", "b", "local:F a>b", NULL, 0 } }, "?f[2]", "local:F x0>y0", { 0 },
      "(F): functions are nested too deeply" },
    { { { "F", "a", "b", "Constant >k value=@b_1;If k>b then_branch=%call else_branch=%call",
          NULL, 0 } },
      "?f[2]", "=k b_1;If k>y0 then_branch=%call_x0 else_branch=%call_x0", { 0 },
      "(If): graphs are nested too deeply" },
};

static message model_of(int row)
{
    message m = onnx_model_message(onnx_text_graph(function_rows[row].inputs,
                                                   function_rows[row].nodes, 1), 13);
    for (int i = 0; i < 2; i++)
        if (function_rows[row].functions[i].name)
            message_inner(&m, 25, function_of(&function_rows[row].functions[i], 13));
    return m;
}

START_TEST(functions)
{
    expect(model_of(_i), 2, function_rows[_i].want, function_rows[_i].says);
}
END_TEST

/* A report has the nodes of a function, and the call only if there are none. */
START_TEST(reports)
{
    for (int i = 0; i < 8; i++) {
        eddy_error         e = { 0 };
        message            m = model_of(i);
        eddy_model_report *r = eddy_onnx_check(.data = m.at, .data_size = m.size, .error = &e);
        ck_assert_msg(r != NULL, "%s", e.message);
        ck_assert_int_eq(eddy_model_report_size(r), i == 3 || i == 4 || i == 6 ? 2 : 1);
        ck_assert_str_eq(eddy_model_report_at(r, 0)->op, i < 3   ? "LeakyRelu"
                                                         : i == 3 ? "LeakyRelu"
                                                         : i == 4 ? "Neg"
                                                         : i == 5 ? "Clip"
                                                         : i == 6 ? "Neg"
                                                                  : "F");
        eddy_model_report_free(r);
        message_free(&m);
    }
}
END_TEST

/* Each function calls the next one twice: few bytes that ask for 2^24 nodes. */
START_TEST(doubling_functions)
{
    message m = onnx_model_message(onnx_text_graph("", "local:F0 >", 0), 13);
    for (int i = 0; i < 24; i++) {
        char name[8], nodes[40];
        snprintf(name, sizeof name, "F%d", i);
        snprintf(nodes, sizeof nodes, "local:F%d >;local:F%d >", i + 1, i + 1);
        const function_text t = { name, "", "", i < 23 ? nodes : "", NULL, 0 };
        message_inner(&m, 25, function_of(&t, 13));
    }
    expect(m, 0, NULL, "ONNX model: too many nodes");
}
END_TEST

/* The end of a function is cut off, in each place. */
START_TEST(damaged_functions)
{
    message whole = function_of(&function_rows[0].functions[0], 13);
    for (size_t n = 0; n <= whole.size; n++) {
        message m = onnx_model_message(onnx_text_graph("?f[2]", "Neg x0>y0", 1), 13);
        message_bytes(&m, 25, whole.at, n);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
        ck_assert_msg(model || strstr(e.message, "is damaged"), "%s", e.message);
        ck_assert(model || n < whole.size);
        eddy_onnx_free(model);
        eddy_graph_free(g);
        message_free(&m);
    }
    message_free(&whole);
}
END_TEST

/* Both names of ONNX's own domain are one. */
START_TEST(imports)
{
    static const struct { const char *domain; int version; const char *says;
    } rows[] = {
        { "ai.onnx", 20, NULL },
        { "ai.onnx", 13, "operator Gelu is not in operator set 13" },
        { "", 20, NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message m = empty, other = empty, own = empty;
        message_text(&other, 1, "local");
        message_number(&other, 2, 1);
        message_inner(&m, 8, other);
        message_text(&own, 1, rows[i].domain);
        message_number(&own, 2, (uint64_t)rows[i].version);
        message_inner(&m, 8, own);
        message_inner(&m, 7, onnx_text_graph("?f[2]", "Gelu x0>a;Mul x0,a>b;Sub b,b>y0", 1));
        expect(m, 2, (double[]){ 0, 0 }, rows[i].says);
    }
}
END_TEST

/* ----------------------------------------------------------- sparse tensors -- */

/* 5 and 6 in a [2, 3] tensor. */
static message sparse_of(message indices, int64_t columns)
{
    message s = empty;
    message_inner(&s, 1, onnx_floats("y0", 2, (float[]){ 5, 6 }));
    message_inner(&s, 2, indices);
    message_number(&s, 3, 2);
    message_number(&s, 3, (uint64_t)columns);
    message_number(&s, 9, 1);           /* a field of a later version */
    return s;
}

static message initializer_of(message sparse)
{
    message g = empty;
    message_inner(&g, 15, sparse);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

START_TEST(sparse)
{
    static const double want[6] = { 0, 5, 0, 0, 0, 6 };
    expect(initializer_of(sparse_of(onnx_int64s("", 2, (int64_t[]){ 1, 5 }), 3)), 6, want, NULL);
    message rows = onnx_tensor_message("", 7, 2, (int64_t[]){ 2, 2 }, (int64_t[]){ 0, 1, 1, 2 }, 32);
    message g = empty, node = onnx_node_message("Constant", "", "y0"), value = empty;
    message_text(&value, 1, "sparse_value");
    message_inner(&value, 22, sparse_of(rows, 3));
    onnx_add_attribute(&node, value);
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    expect(onnx_model_message(g, 13), 6, want, NULL);
}
END_TEST

START_TEST(wrong_sparse)
{
    static const struct { int type, rank; int64_t dims[2], at[4], columns; const char *says;
    } rows[] = {
        { 7, 1, { 2 }, { 1, 6 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 1, { 2 }, { -1, 5 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 2, { 2, 2 }, { 0, 1, 1, 3 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 2, { 2, 2 }, { -1, 1, 1, 2 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 2, { 2, 2 }, { 0, 1, 2, 2 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 1, { 1 }, { 1 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 7, 2, { 2, 1 }, { 0, 1 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 13, 1, { 2 }, { 1, 5 }, -2, "tensor 'y0' has no valid shape" },
        { 11, 1, { 2 }, { 1, 5 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 8, 1, { 2 }, { 1, 5 }, 3, "tensor 'i' has elements of type string" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t n = rows[i].dims[0] * (rows[i].rank == 2 ? rows[i].dims[1] : 1);
        expect(initializer_of(sparse_of(onnx_tensor_message("i", rows[i].type, rows[i].rank,
                                                            rows[i].dims, rows[i].at,
                                                            (size_t)n * 8), rows[i].columns)),
               0, NULL, rows[i].says);
    }
    message s = empty;
    message_inner(&s, 1, onnx_tensor_message("y0", 8, 1, (int64_t[]){ 0 }, NULL, 0));
    expect(initializer_of(s), 0, NULL, "tensor 'y0' has elements of type string");
}
END_TEST

/* -------------------------------------------------------------------- elements -- */

static message output_of(message tensor)
{
    message g = empty;
    message_inner(&g, GRAPH_INITIALIZER, tensor);
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

/* 8-bit floats: each type has its own infinities, NaN and exponent bias. */
START_TEST(bytes_as_floats)
{
    static const struct { int type; uint8_t bytes[6]; double want[6];
    } rows[] = {
        { 17, { 0x38, 0x7f, 0xff, 0x01, 0xb8, 0x78 }, { 1, NAN, NAN, 0.001953125, -1, 256 } },
        { 18, { 0x40, 0x80, 0x7f, 0x01, 0xc0, 0x78 }, { 1, NAN, 240, 0.0009765625, -1, 128 } },
        { 19, { 0x3c, 0x7c, 0xfc, 0x7d, 0x01, 0x7b },
          { 1, INFINITY, -INFINITY, NAN, 0.0000152587890625, 57344 } },
        { 20, { 0x40, 0x80, 0x7c, 0xfc, 0x01, 0x7f },
          { 1, NAN, 32768, -32768, 0.00000762939453125, 57344 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect(output_of(onnx_tensor_message("y0", rows[i].type, 1, (int64_t[]){ 6 },
                                             rows[i].bytes, 6)), 6, rows[i].want, NULL);
}
END_TEST

/* The same two elements in the field of their type: in one packed list, in two, or each by itself. */
START_TEST(typed_fields)
{
    static const struct { int type; uint32_t field; bool is_fixed; int parts;
    } rows[] = {
        { 1, 4, true, 1 },   { 11, 10, true, 1 },  { 14, 4, true, 2 },   { 15, 10, true, 2 },
        { 6, 5, false, 1 },  { 3, 5, false, 1 },   { 7, 7, false, 1 },   { 13, 11, false, 1 },
        { 2, 5, false, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int form = 0; form < 3; form++) {
            const int  n = 2 * rows[i].parts;
            message    t = onnx_tensor_message("y0", rows[i].type, 1, (int64_t[]){ 2 }, NULL, 0);
            double     want[2] = { 3, rows[i].parts == 2 ? 5 : 4 };
            for (int from = 0; from < n; from += form == 0 ? n : form == 1 ? n / 2 : 1) {
                float   f[4] = { 3, 4, 5, 6 };
                double  d[4] = { 3, 4, 5, 6 };
                uint8_t v[4] = { 3, 4, 5, 6 };
                const size_t count = (size_t)(form == 0 ? n : n / 2);
                if (form == 2 && !rows[i].is_fixed) message_number(&t, rows[i].field, v[from]);
                else if (form == 2 && rows[i].field == 4) message_float(&t, 4, f[from]);
                else if (rows[i].field == 4) message_bytes(&t, 4, f + from, 4 * count);
                else if (rows[i].is_fixed) message_bytes(&t, 10, d + from, 8 * (form == 2 ? 1 : count));
                else message_bytes(&t, rows[i].field, v + from, count);
            }
            expect(output_of(t), 2, want, NULL);
        }
}
END_TEST

START_TEST(wrong_shapes)
{
    static const int64_t ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    message              strings = onnx_tensor_message("s", 8, 9, ones, NULL, 0);
    message_text(&strings, 6, "a");
    expect(output_of(strings), 0, NULL, "tensor 's' has rank 9; the limit is 8");
    expect(output_of(onnx_tensor_message("s", 1, 1, (int64_t[]){ -1 }, NULL, 0)), 0, NULL,
           "tensor 's' has no valid shape");
    message complex = onnx_tensor_message("s", 15, 1, (int64_t[]){ 1 }, (double[]){ 1 }, 8);
    expect(output_of(complex), 0, NULL, "tensor 's' does not have as many elements as its shape");
}
END_TEST

/* An initializer without a name can only be an output. Integers are constants in any case, so that a
 * shape that follows from them is known. */
START_TEST(nameless)
{
    for (int variables = 0; variables < 2; variables++) {
        message     g = empty;
        eddy_error  e = { 0 };
        eddy_graph *graph = eddy_graph_new();
        message_inner(&g, GRAPH_INITIALIZER, onnx_floats("", 2, (float[]){ 5, 6 }));
        onnx_text_nodes(&g, GRAPH_NODE, "=k l[1]_2;Neg k>m;Neg m>n;ConstantOfShape n>y1");
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("", 1, -1, NULL));
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y1", 1, -1, NULL));
        message          m = onnx_model_message(g, 13);
        eddy_onnx_model *model = eddy_onnx_read(graph, .data = m.at, .data_size = m.size,
                                                .variables = variables, .error = &e);
        ck_assert_msg(model != NULL, "%s", e.message);
        ck_assert_int_eq(eddy_collection_size(graph, EDDY_TRAINABLE_VARIABLES), variables);
        ck_assert(eddy_shape_equal(eddy_shape_of(eddy_onnx_output(model, "")), EDDY_SHAPE(2)));
        ck_assert(eddy_shape_equal(eddy_shape_of(eddy_onnx_output(model, "y1")), EDDY_SHAPE(2)));
        eddy_onnx_free(model);
        eddy_graph_free(graph);
        message_free(&m);
    }
}
END_TEST

/* ------------------------------------------------------------- external data -- */

static void place_in(message *tensor, const char *key, const char *value)
{
    message entry = empty;
    if (*key) message_text(&entry, 1, key);
    else message_number(&entry, 1, 5);          /* a number where the key should be */
    message_text(&entry, 2, value);
    message_inner(tensor, 13, entry);
}

/* Pairs of keys and values, of y0; b is 7 and 8 in a file of its own. */
static void external(const char *const *pairs, const char *says)
{
    memory_files f;
    eddy_error   e = { 0 };
    eddy_graph  *g = eddy_graph_new();
    message      graph = empty, t = onnx_tensor_message("y0", 1, 1, (int64_t[]){ 2 }, NULL, 0),
            b = onnx_tensor_message("b", 1, 1, (int64_t[]){ 2 }, NULL, 0);
    for (; *pairs; pairs += 2) place_in(&t, pairs[0], pairs[1]);
    message_number(&t, 14, 1);
    place_in(&b, "location", "b.bin");
    message_number(&b, 14, 1);
    message_inner(&graph, GRAPH_INITIALIZER, b);
    message_inner(&graph, GRAPH_INITIALIZER, t);
    message_inner(&graph, GRAPH_OUTPUT, onnx_value_message("y0", 1, -1, NULL));
    message m = onnx_model_message(graph, 13);
    memory_files_init(&f);
    memory_files_put(&f, "m.onnx", m.at, m.size);
    memory_files_put(&f, "a.bin", (float[]){ 1, 2, 3, 4 }, 16);
    memory_files_put(&f, "b.bin", (float[]){ 7, 8 }, 8);
    eddy_onnx_model *model = eddy_onnx_read(g, "m.onnx", .files = &f.table, .error = &e);
    if (says) ck_assert_msg(!model && strstr(e.message, says), "'%s'", e.message);
    else {
        ck_assert_msg(model != NULL, "%s", e.message);
        const eddy_array *y = eddy_constant_value(eddy_onnx_output(model, "y0"));
        ck_assert(eddy_array_get(y, 0) == 2 && eddy_array_get(y, 1) == 3);
    }
    ck_assert_int_eq(f.n_open, 0);
    eddy_onnx_free(model);
    eddy_graph_free(g);
    message_free(&m);
    memory_files_free(&f);
}

START_TEST(external_data)
{
    static const struct { const char *pairs[9], *says;
    } rows[] = {
        { { "location", "a.bin", "offset", "4", "length", "8", "checksum", "1" }, NULL },
        { { "offset", "4" }, "external data must be in the folder of the model; '' is not" },
        { { "location", "a.bin", "offset", "4", "length", "13" }, "is not within 'a.bin'" },
        { { "location", "a.bin", "offset", "17" }, "is not within 'a.bin'" },
        { { "location", "a.bin", "offset", "4", "length", "4" }, "not have as many elements" },
        { { "location", "a.bin", "offset", "99999999999999999999" }, "is damaged" },
        { { "location", "a.bin", "length", "" }, "is damaged" },
        { { "location", "a.bin", "length", "-1" }, "is damaged" },
        { { "location", "a.bin", "length", "8x" }, "is damaged" },
        { { "location", "a.bin", "", "" }, "is damaged" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) external(rows[i].pairs, rows[i].says);
}
END_TEST

/* -------------------------------------------------------------------- inputs -- */

/* An input x of a type that is not a tensor, or a tensor of 9 dimensions, which are left open. */
static message typed_input(uint32_t field)
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
        message_inner(&of, field, inner);
        message_text(&x, 1, "x");
        message_inner(&x, 2, of);
    }
    message_inner(&g, GRAPH_INPUT, x);
    message_inner(&g, GRAPH_NODE, onnx_node_message(field == 4 ? "SequenceLength" : "Identity", "x",
                                                    "y"));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    return onnx_model_message(g, 17);
}

START_TEST(input_types)
{
    static const struct { uint32_t field; const char *says;
    } rows[] = {
        { 1, NULL },
        { 4, "input 'x' is a sequence: bind it to tensors" },
        { 5, "input 'x' is no tensor: bind it to tensors" },
        { 8, "input 'x' is no tensor: bind it to tensors" },
        { 9, "input 'x' is an optional value: bind it to tensors" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        message          m = typed_input(rows[i].field);
        eddy_error       e = { 0 };
        eddy_graph      *g = eddy_graph_new();
        eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
        if (rows[i].says) ck_assert_msg(!model && strstr(e.message, rows[i].says), "%s", e.message);
        else ck_assert_int_eq(eddy_shape_of(eddy_onnx_input(model, "x")).rank, EDDY_UNKNOWN_RANK);
        eddy_onnx_free(model);
        eddy_graph_free(g);
        message_free(&m);
    }
}
END_TEST

/* x is a tensor, float[2] or another type; w is a weight among the inputs. */
static message bound_model(int type)
{
    message g = empty;
    message_inner(&g, GRAPH_INPUT, int64_input("x", type, 2));
    message_inner(&g, GRAPH_INPUT, int64_input("w", 1, 2));
    message_inner(&g, GRAPH_INITIALIZER, onnx_floats("w", 2, (float[]){ 10, 20 }));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Identity", "x", "y"));
    message_inner(&g, GRAPH_NODE, onnx_node_message("Neg", "w", "z"));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", type, -1, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("z", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

static eddy_onnx_model *bind(eddy_graph *g, message m, const eddy_model_binding *b, int n,
                             eddy_error *e)
{
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .inputs = b,
                                            .input_count = n, .error = e);
    message_free(&m);
    return model;
}

START_TEST(bindings)
{
    eddy_graph       *g = eddy_graph_new(), *h = eddy_graph_new();
    eddy_error        e = { 0 };
    const eddy_tensor two = eddy_floats(g, 3, 4), other = eddy_floats(h, 3, 4),
                      half = eddy_cast(two, EDDY_FLOAT16), whole = eddy_ints(g, 3, 4),
                      three = eddy_floats(g, 1, 2, 3);
    const char *const unfit = "input 'x' is float[2]; the tensor given for it is not";
    const struct { int type, n; eddy_model_binding b; const char *says;
    } rows[] = {
        { 1, 1, { "x", EDDY_LIST(two) }, NULL },
        { 1, 1, { "w", EDDY_LIST(two) }, NULL },
        { 10, 1, { "x", EDDY_LIST(half) }, NULL },
        { 10, 1, { "x", EDDY_LIST(two) }, NULL },
        { 10, 1, { "x", EDDY_LIST(whole) }, "input 'x' is float16[2]; the tensor given" },
        { 1, 1, { "x", EDDY_LIST(half) }, unfit },
        { 1, 1, { "x", EDDY_LIST(whole) }, unfit },
        { 1, 1, { "x", EDDY_LIST(three) }, unfit },
        { 1, 1, { "x", EDDY_LIST(EDDY_NO_TENSOR) }, unfit },
        { 8, 1, { "x", EDDY_LIST(two) }, "input 'x' is string[2]; the tensor given" },
        { 1, 1, { "x", { 0, NULL } }, "input 'x' cannot be 0 tensors" },
        { 1, 1, { "x", { -1, NULL } }, "input 'x' cannot be -1 tensors" },
        { 1, 1, { "x", { 1, NULL } }, "input 'x' cannot be 1 tensors" },
        { 1, 1, { "x", EDDY_LIST(two, two) }, "input 'x' cannot be 2 tensors" },
        { 1, 1, { NULL, EDDY_LIST(two) }, "there is no input ''" },
        { 1, -1, { "x", EDDY_LIST(two) }, "the bindings are missing" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        eddy_onnx_model *m = bind(g, bound_model(rows[i].type), &rows[i].b, rows[i].n, &e);
        if (rows[i].says)
            ck_assert_msg(!m && strstr(e.message, rows[i].says), "%d: %s", (int)i, e.message);
        else {
            ck_assert_msg(m != NULL, "%s", e.message);
            eddy_session *s = eddy_session_new(g);
            const bool    weight = rows[i].b.name[0] == 'w';
            eddy_array   *y = eddy_fetch(s, eddy_onnx_output(m, weight ? "z" : "y"));
            ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
            ck_assert_double_eq(eddy_array_get(y, 1), weight ? -4 : 4);
            ck_assert_int_eq(eddy_onnx_input_count(m), weight ? 2 : 1);
            eddy_array_free(y);
            eddy_session_free(s);
        }
        eddy_onnx_free(m);
        ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    }
    /* A tensor of another graph is found in the build that follows the trial. */
    const eddy_model_binding b = { "x", EDDY_LIST(other) };
    ck_assert(!bind(g, bound_model(1), &b, 1, &e) && strstr(e.message, unfit));
    eddy_graph_free(h);
    eddy_graph_free(g);
}
END_TEST

/* Sequences and optional values are bound to as many tensors as there are. */
START_TEST(bound_sequences)
{
    eddy_graph       *g = eddy_graph_new();
    eddy_error        e = { 0 };
    const eddy_tensor two = eddy_floats(g, 3, 4), whole = eddy_ints(g, 3, 4);
    const eddy_model_binding good = { "x", EDDY_LIST(two, two, two) },
                             bad = { "x", EDDY_LIST(two, whole) }, none = { "x", { 0, NULL } };
    eddy_onnx_model *m = bind(g, typed_input(4), &good, 1, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert_double_eq(eddy_array_item(eddy_constant_value(eddy_onnx_output(m, "y"))), 3);
    ck_assert_int_eq(eddy_onnx_items(m, "x").count, 3);
    ck_assert(eddy_same(eddy_onnx_items(m, "x").at[1], two));
    ck_assert(!eddy_is_valid(eddy_onnx_input(m, "x")));
    eddy_onnx_free(m);
    ck_assert(!bind(g, typed_input(4), &bad, 1, &e));
    ck_assert_msg(strstr(e.message, "input 'x' is float?; the tensor given for it is not"), "%s",
                  e.message);
    m = bind(g, typed_input(9), &none, 1, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert(eddy_onnx_items(m, "x").count == 0 && eddy_onnx_items(m, "y").count == 0);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}
END_TEST

/* Calls with names and numbers that do not exist. */
START_TEST(ports)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_error       e = { 0 };
    eddy_onnx_model *m = bind(g, bound_model(1), NULL, 0, &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert(eddy_onnx_input_count(m) == 1 && eddy_onnx_output_count(m) == 2);
    ck_assert(eddy_onnx_input_count(NULL) == 0 && eddy_onnx_output_count(NULL) == 0);
    ck_assert_str_eq(eddy_onnx_input_name(m, 0), "x");
    ck_assert_str_eq(eddy_onnx_output_name(m, 1), "z");
    ck_assert(!eddy_onnx_input_name(m, 1) && !eddy_onnx_input_name(m, -1));
    ck_assert(!eddy_onnx_output_name(m, 2) && !eddy_onnx_output_name(m, -1));
    ck_assert(!eddy_onnx_input_name(NULL, 0) && !eddy_onnx_output_name(NULL, 0));
    ck_assert(!eddy_is_valid(eddy_onnx_input(m, NULL)) && !eddy_is_valid(eddy_onnx_input(m, "y")));
    ck_assert(!eddy_is_valid(eddy_onnx_output(m, NULL)) && !eddy_is_valid(eddy_onnx_output(m, "x")));
    ck_assert(!eddy_is_valid(eddy_onnx_input(NULL, "x")));
    ck_assert(!eddy_is_valid(eddy_onnx_output(NULL, "y")));
    ck_assert(!eddy_is_valid(eddy_onnx_value(m, NULL)) && !eddy_is_valid(eddy_onnx_value(m, "no")));
    ck_assert(!eddy_is_valid(eddy_onnx_value(NULL, "x")) && eddy_is_valid(eddy_onnx_value(m, "x")));
    ck_assert(eddy_onnx_items(m, "no").count == 0 && eddy_onnx_items(NULL, "x").count == 0);
    ck_assert(eddy_onnx_element_type(m, "x") == 1 && eddy_onnx_element_type(m, "no") == 0);
    eddy_onnx_free(m);
    eddy_onnx_free(NULL);
    eddy_graph_free(g);
}
END_TEST

/* -------------------------------------------------------------------- limits -- */

/* A sequence of n items from one node; the file is larger than what it builds. */
static message long_sequence(int n, const char *nodes)
{
    message g = onnx_text_graph("?f[2]", "", 1), construct = empty;
    for (int i = 0; i < n; i++) message_text(&construct, 1, "x0");
    message_text(&construct, 2, "s");
    message_text(&construct, 4, "SequenceConstruct");
    message_inner(&g, GRAPH_NODE, construct);
    onnx_text_nodes(&g, GRAPH_NODE, nodes);
    return onnx_model_message(g, 17);
}

START_TEST(long_sequences)
{
    expect(long_sequence(65536, "SequenceInsert s,x0>y0"), 0, NULL,
           "node 1 (SequenceInsert): the sequence is too long");
    expect(long_sequence(65535, "SequenceInsert s,x0>t;SequenceLength t>y0"), 1,
           (double[]){ 65536 }, NULL);
    expect(long_sequence(65537, "SequenceMap s>y0 body=%neg"), 0, NULL,
           "node 1 (SequenceMap): the body does not have the inputs and outputs of the node");
}
END_TEST

START_TEST(many_grams)
{
    for (int n = 4096; n < 4098; n++) {
        message g = onnx_text_graph("?f[2]", "", 1),
                node = onnx_node_message("TfIdfVectorizer", "x0", "y0");
        int64_t *pool = calloc((size_t)n, sizeof *pool), zero = 0;
        for (int i = 0; i < n; i++) pool[i] = i == 0 ? 2 : 9;
        onnx_add_attribute(&node, onnx_ints_attribute("pool_int64s", n, pool));
        onnx_add_attribute(&node, onnx_ints_attribute("ngram_indexes", 1, &zero));
        onnx_add_attribute(&node, onnx_ints_attribute("ngram_counts", 1, &zero));
        free(pool);
        message_inner(&g, GRAPH_NODE, node);
        expect(onnx_model_message(g, 9), 0, NULL, n == 4096 ? "an n-gram has no index"
                                                            : "the n-grams are too many");
    }
}
END_TEST

/* A loop without iterations has no rows, of the shape that its body declares. */
START_TEST(empty_stacks)
{
    static const int64_t ones[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int rank = 7; rank < 9; rank++) {
        message g = onnx_text_graph("l 0;b 1", "", 1), body = empty,
                node = onnx_node_message("Loop", "x0,x1", "y0");
        message_inner(&body, GRAPH_INPUT, onnx_value_message("i", 7, 0, NULL));
        message_inner(&body, GRAPH_INPUT, onnx_value_message("c", 9, 0, NULL));
        message_inner(&body, GRAPH_OUTPUT, onnx_value_message("c", 9, 0, NULL));
        message_inner(&body, GRAPH_OUTPUT, onnx_value_message("i", 1, rank, ones));
        onnx_add_attribute(&node, onnx_graph_attribute("body", body));
        message_inner(&g, GRAPH_NODE, node);
        expect(onnx_model_message(g, 13), 0, NULL,
               rank == 8 ? "a loop without iterations stacks values of unknown shape" : NULL);
    }
}
END_TEST

/* Elements of more constants than are computed while a model is read are left to the run. */
START_TEST(many_constants)
{
    message g = onnx_text_graph("?f[2]", "=from l_0;=to l_60000;=step l_1;=first l[1]_0", 1);
    char    nodes[200], last[8] = "x0";
    for (int i = 0; i < 20; i++) {
        snprintf(nodes, sizeof nodes,
                 "Range from,to,step>r%d;Mod r%d,step>m%d;Gather %s,m%d>g%d;Gather g%d,first>h%d;"
                 "Concat h%d,x0>i%d axis=0", i, i, i, last, i, i, i, i, i, i);
        onnx_text_nodes(&g, GRAPH_NODE, nodes);
        snprintf(last, sizeof last, "i%d", i);
    }
    snprintf(nodes, sizeof nodes, "Identity %s>y0", last);
    onnx_text_nodes(&g, GRAPH_NODE, nodes);
    expect(onnx_model_message(g, 13), 3, (double[]){ 2, 2, -2 }, NULL);
}
END_TEST

START_TEST(huge_data)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert(!eddy_onnx_read(g, .data = "", .data_size = SIZE_MAX, .error = &e));
    ck_assert_int_eq(e.status, EDDY_NO_MEMORY);
    ck_assert_msg(strstr(e.message, "out of memory for a file of 18446744073709551615 bytes") ||
                      sizeof(size_t) < 8, "%s", e.message);
    ck_assert(!eddy_onnx_read(g, .data = "", .data_size = 0, .error = &e));
    ck_assert_str_eq(e.message, "ONNX model: this is not an ONNX model: it has no graph");
    eddy_graph_free(g);
}
END_TEST

Suite *onnx_models_suite(void)
{
    Suite *s = suite_create("onnx_models");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, functions, 0, (int)(sizeof function_rows / sizeof *function_rows));
    tcase_add_test(t, reports);
    tcase_add_test(t, doubling_functions);
    tcase_add_test(t, damaged_functions);
    tcase_add_test(t, imports);
    tcase_add_test(t, sparse);
    tcase_add_test(t, wrong_sparse);
    tcase_add_test(t, bytes_as_floats);
    tcase_add_test(t, typed_fields);
    tcase_add_test(t, wrong_shapes);
    tcase_add_test(t, nameless);
    tcase_add_test(t, external_data);
    tcase_add_test(t, input_types);
    tcase_add_test(t, bindings);
    tcase_add_test(t, bound_sequences);
    tcase_add_test(t, ports);
    tcase_add_test(t, long_sequences);
    tcase_add_test(t, many_grams);
    tcase_add_test(t, empty_stacks);
    tcase_add_test(t, many_constants);
    tcase_add_test(t, huge_data);
    suite_add_tcase(s, t);
    return s;
}
