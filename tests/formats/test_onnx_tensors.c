/* test_onnx_tensors.c -- tensors of ONNX models: sparse ones, elements in each field and type, and
 * in other files. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/onnx_odd_models.h"

#include <math.h>
#include <string.h>

static const message empty = { NULL, 0 };

/* ----------------------------------------------------------- sparse tensors -- */

START_TEST(sparse)
{
    static const double want[6] = { 0, 5, 0, 0, 0, 6 }, first[6] = { 5, 0, 0, 0, 0, 6 };
    static const int64_t two[2] = { 2, 2 }, flat[2] = { 1, 5 }, from_0[2] = { 0, 5 },
                         pairs[4] = { 0, 1, 1, 2 };
    message rows = onnx_tensor_message("", 7, 2, two, pairs, sizeof pairs);
    onnx_expect(onnx_sparse_model(onnx_sparse_message(onnx_int64s("", 2, flat), 3)), 6, want, NULL);
    onnx_expect(onnx_sparse_constant(onnx_sparse_message(rows, 3)), 6, want, NULL);
    onnx_expect(onnx_sparse_model(onnx_sparse_message(onnx_int64s("", 2, from_0), 3)), 6, first,
                NULL);
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
        { 7, 2, { 2, 2 }, { 0, 1, 1, -1 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 2, { 2, 2 }, { 0, 1, 2, 2 }, 3, "sparse tensor 'y0' has an index out of range" },
        { 7, 1, { 1 }, { 1 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 7, 2, { 2, 1 }, { 0, 1 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 13, 1, { 2 }, { 1, 5 }, -2, "tensor 'y0' has no valid shape" },
        { 11, 1, { 2 }, { 1, 5 }, 3, "sparse tensor 'y0' has wrong indices" },
        { 8, 1, { 2 }, { 1, 5 }, 3, "tensor 'i' has elements of type string" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t n = rows[i].dims[0] * (rows[i].rank == 2 ? rows[i].dims[1] : 1);
        message indices = onnx_tensor_message("i", rows[i].type, rows[i].rank, rows[i].dims,
                                              rows[i].at, (size_t)n * 8);
        onnx_expect(onnx_sparse_model(onnx_sparse_message(indices, rows[i].columns)), 0, NULL,
                    rows[i].says);
    }
    message s = empty;
    message_inner(&s, 1, onnx_tensor_message("y0", 8, 1, (int64_t[]){ 0 }, NULL, 0));
    onnx_expect(onnx_sparse_model(s), 0, NULL, "tensor 'y0' has elements of type string");
}
END_TEST

/* -------------------------------------------------------------------- elements -- */

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
        onnx_expect(onnx_tensor_model(onnx_tensor_message("y0", rows[i].type, 1, (int64_t[]){ 6 },
                                             rows[i].bytes, 6)), 6, rows[i].want, NULL);
}
END_TEST

/* The same two elements in the field of their type: in one packed list, in two, or each by
 * itself. */
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
                else if (rows[i].is_fixed)
                    message_bytes(&t, 10, d + from, 8 * (form == 2 ? 1 : count));
                else message_bytes(&t, rows[i].field, v + from, count);
            }
            onnx_expect(onnx_tensor_model(t), 2, want, NULL);
        }
}
END_TEST

START_TEST(wrong_shapes)
{
    static const int64_t ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    message              strings = onnx_tensor_message("s", 8, 9, ones, NULL, 0);
    message_text(&strings, 6, "a");
    onnx_expect(onnx_tensor_model(strings), 0, NULL, "tensor 's' has rank 9; the limit is 8");
    message open = onnx_tensor_message("s", 1, 1, (int64_t[]){ -1 }, NULL, 0);
    onnx_expect(onnx_tensor_model(open), 0, NULL, "tensor 's' has no valid shape");
    message complex = onnx_tensor_message("s", 15, 1, (int64_t[]){ 1 }, (double[]){ 1 }, 8);
    onnx_expect(onnx_tensor_model(complex), 0, NULL,
                "tensor 's' does not have as many elements as its shape");
}
END_TEST

/* An initializer without a name can only be an output. Integers are constants in any case, so that
 * a shape that follows from them is known. */
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

/* Pairs of keys and values, of y0; b and c are 7 and 8 in a file of their own. */
static void external(const char *const *pairs, const char *says)
{
    memory_files f;
    eddy_error   e = { 0 };
    eddy_graph  *g = eddy_graph_new();
    message      graph = empty, t = onnx_tensor_message("y0", 1, 1, (int64_t[]){ 2 }, NULL, 0),
            b = onnx_tensor_message("b", 1, 1, (int64_t[]){ 2 }, NULL, 0),
            c = onnx_tensor_message("c", 1, 1, (int64_t[]){ 2 }, NULL, 0);
    for (; *pairs; pairs += 2) place_in(&t, pairs[0], pairs[1]);
    message_number(&t, 14, 1);
    place_in(&b, "location", "b.bin");
    message_number(&b, 14, 1);
    place_in(&c, "location", "b.bin");
    message_number(&c, 14, 1);
    message_inner(&graph, GRAPH_INITIALIZER, b);
    message_inner(&graph, GRAPH_INITIALIZER, c);
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

Suite *onnx_tensors_suite(void)
{
    Suite *s = suite_create("onnx_tensors");
    TCase *t = tcase_create("models");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, sparse);
    tcase_add_test(t, wrong_sparse);
    tcase_add_test(t, bytes_as_floats);
    tcase_add_test(t, typed_fields);
    tcase_add_test(t, wrong_shapes);
    tcase_add_test(t, nameless);
    tcase_add_test(t, external_data);
    suite_add_tcase(s, t);
    return s;
}
