/* test_tensorflow_weights.c -- constants of TensorFlow in each form of a tensor, weights of
 * TensorFlow.js of each type and quantization, and those whose bytes do not fit. */
#include "build/gen/suites.h"
#include "formats.h"
#include "formats/tensorflow/reader.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 4 };

/* Reads the output of a model without inputs; "" or its message. */
static const char *read_model(const eddy_files *files, const char *path, const message *bytes,
                              const char *output, eddy_array **y)
{
    static eddy_error e;
    e = (eddy_error){ 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m = eddy_tensorflow_read(
        g, path, .data = bytes ? bytes->at : NULL, .data_size = bytes ? bytes->size : 0,
        .files = files, .outputs = &output, .output_count = 1, .error = &e);
    *y = NULL;
    if (m) {
        eddy_session *s = eddy_session_new(g);
        *y = eddy_fetch(s, eddy_tensorflow_output(m, output), EDDY_FEED());
        ck_assert_msg(*y != NULL, "%s", eddy_session_message(s));
        eddy_session_free(s);
    } else ck_assert_int_eq(eddy_graph_size(g), 0);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    return e.message;
}

static void check_result(const char *text, eddy_array *y, const char *refusal,
                         eddy_dtype d, int n, const double *wanted)
{
    if (refusal) ck_assert_msg(!y && strstr(text, refusal), "%s", text);
    else {
        ck_assert_msg(y != NULL, "%s", text);
        ck_assert_int_eq(eddy_array_dtype(y), d);
        ck_assert_int_eq(eddy_array_count(y), n);
        for (int i = 0; i < n; i++) ck_assert_double_eq(eddy_array_get(y, i), wanted[i]);
    }
    eddy_array_free(y);
}

/* ---------------------------------------------------------------- protobuf -- */

enum { F = 1, D = 2, I32 = 3, U8 = 4, I16 = 5, STRING = 7, C64 = 8, I64 = 9, BOOL = 10,
       C128 = 18, RESOURCE = 20,
       CONTENT = 4 };

typedef struct constant {
    int         type, rank;
    int64_t     dim;                    /* each; at most ten */
    int         field, size;            /* the bytes of a field, twice if `twice` */
    bool        twice;
    const char *refusal;
    eddy_dtype  dtype;
    int         n;
    double      values[MOST];
    const void *bytes;
} constant;

static const float    floats[] = { 1.5f, -2, 3, 4 };
static const double   doubles[] = { 0.5, 8 };
static const int16_t  shorts[] = { -3, 4 };
static const uint8_t  ones[] = { 1, 0, 1, 1 };
static const char     elements[] = "does not have as many elements as its shape";

static const constant constants[] = {
    { F, 1, 2, CONTENT, 8, false, NULL, EDDY_FLOAT32, 2, { 1.5, -2 }, floats },
    { F, 1, 2, CONTENT, 0, false, NULL, EDDY_FLOAT32, 2, { 0, 0 }, floats },
    { F, 1, 2, CONTENT, 4, false, elements, 0, 0, { 0 }, floats },
    { F, 1, 2, 5, 8, false, NULL, EDDY_FLOAT32, 2, { 1.5, -2 }, floats },
    { F, 1, 4, 5, 8, true, NULL, EDDY_FLOAT32, 4, { 1.5, -2, 1.5, -2 }, floats },
    { F, 1, 3, 5, 8, false, NULL, EDDY_FLOAT32, 3, { 1.5, -2, -2 }, floats },
    { F, 1, 3, 5, 4, false, NULL, EDDY_FLOAT32, 3, { 1.5, 1.5, 1.5 }, floats },
    { F, 1, 1, 5, 8, false, elements, 0, 0, { 0 }, floats },
    { F, 1, 2, 5, 7, false, "is damaged", 0, 0, { 0 }, floats },
    { F, 1, 2, 5, 0, false, NULL, EDDY_FLOAT32, 2, { 0, 0 }, floats },
    { F, 1, -1, 5, 8, false, "has no valid shape", 0, 0, { 0 }, floats },
    { F, 8, 1 << 7, 5, 8, false, "has no valid shape", 0, 0, { 0 }, floats },
    { F, 9, 1, 5, 4, false, "has rank 9; the limit is 8", 0, 0, { 0 }, floats },
    { F, 3, 1 << 16, 5, 4, false, "together may leave out 32 MiB", 0, 0, { 0 }, floats },
    { D, 1, 2, 6, 16, false, NULL, EDDY_FLOAT64, 2, { 0.5, 8 }, doubles },
    { D, 1, 2, CONTENT, 16, false, NULL, EDDY_FLOAT64, 2, { 0.5, 8 }, doubles },
    { I16, 1, 2, CONTENT, 4, false, NULL, EDDY_INT32, 2, { -3, 4 }, shorts },
    { BOOL, 1, 4, 11, 4, false, NULL, EDDY_BOOL, 4, { 1, 0, 1, 1 }, ones },
    { U8, 1, 4, 7, 4, false, NULL, EDDY_UINT8, 4, { 1, 0, 1, 1 }, ones },
    { C64, 1, 1, CONTENT, 8, false, NULL, EDDY_COMPLEX64, 1, { 1.5 }, floats },
    { C64, 1, 2, 9, 16, false, NULL, EDDY_COMPLEX64, 2, { 1.5, 3 }, floats },
    { C64, 1, 2, 9, 12, false, elements, 0, 0, { 0 }, floats },
    { RESOURCE, 1, 2, CONTENT, 8, false, "has elements of type", 0, 0, { 0 }, floats },
    { 0, 1, 2, CONTENT, 8, false, "has elements of type", 0, 0, { 0 }, floats },
    { 200, 1, 2, CONTENT, 8, false, "has elements of type", 0, 0, { 0 }, floats },
    { STRING, 1, 2, CONTENT, 8, false, "'y': values of type string are not supported", 0, 0, { 0 },
      floats },
    { I32, 1, 2, 7, 2, false, NULL, EDDY_INT32, 2, { 1, 0 }, ones },
    { I16, 1, 3, 7, 2, false, NULL, EDDY_INT32, 3, { 1, 0, 0 }, ones },
    { C128, 1, 1, CONTENT, 16, false, NULL, EDDY_COMPLEX128, 1, { 0.5 }, doubles },
    { C128, 1, 2, 12, 16, false, NULL, EDDY_COMPLEX128, 2, { 0.5, 0.5 }, doubles },
};

START_TEST(constant_tensors)
{
    const constant *c = &constants[_i];
    message         g = { NULL, 0 }, node = tf_node_message("y", "Const", ""), tensor = { NULL, 0 },
                    shape = { NULL, 0 }, value = { NULL, 0 }, entry = { NULL, 0 };
    eddy_array     *y;
    for (int i = 0; i < c->rank; i++) {
        message dim = { NULL, 0 };
        message_number(&dim, 1, (uint64_t)c->dim);
        message_inner(&shape, 2, dim);
    }
    message_number(&tensor, 1, (uint64_t)c->type);
    message_inner(&tensor, 2, shape);
    message_bytes(&tensor, (uint32_t)c->field, c->bytes, (size_t)c->size);
    if (c->twice) message_bytes(&tensor, (uint32_t)c->field, c->bytes, (size_t)c->size);
    message_inner(&value, 8, tensor);
    message_text(&entry, 1, "value");
    message_inner(&entry, 2, value);
    message_inner(&node, 5, entry);
    message_inner(&g, TF_GRAPH_NODE, node);
    const char *text = read_model(NULL, NULL, &g, "y", &y);
    check_result(text, y, c->refusal, c->dtype, c->n, c->values);
    message_free(&g);
}
END_TEST

/* ----------------------------------------------------------- TensorFlow.js -- */

/* The weights of a group, of which "w" is the output. */
typedef struct weight {
    const char *manifest;
    const char *bytes;
    int         size;
    const char *refusal;
    eddy_dtype  dtype;
    int         n;
    double      values[MOST];
} weight;

#define QUANTIZED(type, stored) \
    "{\"name\":\"w\",\"dtype\":\"" type "\",\"shape\":[2],\"quantization\":{\"dtype\":\"" stored \
    "\",\"scale\":0.5,\"min\":-1}}"
#define OF_TYPE(type) "{\"name\":\"w\",\"dtype\":\"" type "\",\"shape\":[2]}"
#define AFTER(other) other "," OF_TYPE("uint8")

static const char outside[] = "is not inside the files of its group";
static const weight weights[] = {
    { OF_TYPE("float32"), "\0\0\x80\x3f\0\0\0\x40", 8, NULL, EDDY_FLOAT32, 2, { 1, 2 } },
    { OF_TYPE("int32"), "\1\0\0\0\xff\xff\xff\xff", 8, NULL, EDDY_INT32, 2, { 1, -1 } },
    { OF_TYPE("bool"), "\1\0", 2, NULL, EDDY_BOOL, 2, { 1, 0 } },
    { OF_TYPE("uint8"), "\7\xff", 2, NULL, EDDY_UINT8, 2, { 7, 255 } },
    { OF_TYPE("complex64"), "\0\0\x80\x3f\0\0\0\0\0\0\0\x40\0\0\0\0", 16, NULL, EDDY_COMPLEX64, 2,
      { 1, 2 } },
    { OF_TYPE("float16"), "\0\x3c\0\x40", 4, "has elements of type float16", 0, 0, { 0 } },
    { OF_TYPE("int64"), "12345678", 8, "has elements of type int64", 0, 0, { 0 } },
    { OF_TYPE("float32"), "\0\0\x80\x3f\0\0\0", 7, outside, 0, 0, { 0 } },
    { OF_TYPE("complex64"), "12345678", 8, outside, 0, 0, { 0 } },
    { QUANTIZED("float32", "uint8"), "\2\4", 2, NULL, EDDY_FLOAT32, 2, { 0, 1 } },
    { QUANTIZED("float32", "uint16"), "\2\0\0\1", 4, NULL, EDDY_FLOAT32, 2, { 0, 127 } },
    { QUANTIZED("int32", "uint8"), "\3\4", 2, NULL, EDDY_INT32, 2, { 1, 1 } },
    { QUANTIZED("float32", "float16"), "\0\x3c\0\x40", 4, NULL, EDDY_FLOAT32, 2, { 1, 2 } },
    { QUANTIZED("int32", "float16"), "\0\x3c\0\x40", 4, "has elements of type float16", 0, 0,
      { 0 } },
    { QUANTIZED("bool", "uint8"), "\1\1", 2, "has elements of type uint8", 0, 0, { 0 } },
    { QUANTIZED("float32", "bool"), "\1\1", 2, "has elements of type bool", 0, 0, { 0 } },
    { QUANTIZED("float32", "int32"), "12345678", 8, "has elements of type int32", 0, 0, { 0 } },
    { QUANTIZED("float32", "int7"), "12345678", 8, "has elements of type int7", 0, 0, { 0 } },
    /* Texts, before the weight: of length 1 and 0. */
    { AFTER("{\"name\":\"s\",\"dtype\":\"string\",\"shape\":[2]}"), "\1\0\0\0A\0\0\0\0\7\x8", 11,
      NULL, EDDY_UINT8, 2, { 7, 8 } },
    { AFTER("{\"name\":\"n\",\"dtype\":\"uint8\",\"shape\":[3]},"
            "{\"name\":\"s\",\"dtype\":\"string\",\"shape\":[1]}"), "123\1\0\0\0A\7\x8", 10,
      NULL, EDDY_UINT8, 2, { 7, 8 } },
    { AFTER("{\"name\":\"s\",\"dtype\":\"string\",\"shape\":[2]}"), "\1\0\0\0A\0\0", 7, outside, 0,
      0, { 0 } },
    { AFTER("{\"name\":\"s\",\"dtype\":\"string\",\"shape\":[1]}"), "\xff\xff\xff\xff" "AB", 6,
      outside, 0, 0, { 0 } },
    { AFTER("{\"name\":\"s\",\"dtype\":\"string\",\"shape\":[1000]}"), "\0\0\0\0", 4, outside, 0,
      0, { 0 } },
    { AFTER("{\"name\":\"s\",\"dtype\":\"float32\",\"shape\":[1048576,1048576,1048576]}"), "12", 2,
      outside, 0, 0, { 0 } },
    { AFTER("{\"name\":\"s\",\"dtype\":\"float32\",\"shape\":[4294967296,4294967296]}"), "12", 2,
      outside, 0, 0, { 0 } },
    { "{\"name\":\"w\",\"dtype\":\"string\",\"shape\":[1]}", "\0\0\0\0", 4,
      "no weight of this name", 0, 0, { 0 } },
    { "{\"name\":\"v\",\"dtype\":\"uint8\",\"shape\":[1]}", "1", 1, "no weight of this name", 0, 0,
      { 0 } },
};

static message json_model(const char *paths, const char *manifest, eddy_dtype d)
{
    char        text[1500];
    const char *type = d == EDDY_INT32 ? "INT32" : d == EDDY_BOOL ? "BOOL"
                     : d == EDDY_UINT8 ? "UINT8" : d == EDDY_COMPLEX64 ? "COMPLEX64" : "FLOAT";
    snprintf(text, sizeof text,
             " \r\n\t{\"modelTopology\":{\"node\":["
             "{\"name\":\"w\",\"op\":\"Const\",\"attr\":{\"value\":{\"tensor\":"
             "{\"dtype\":\"DT_%s\",\"tensorShape\":{}}}}},"
             "{\"name\":\"y\",\"op\":\"Identity\",\"input\":[\"w\"]}]},"
             "\"weightsManifest\":[{\"paths\":[%s],\"weights\":[%s]}]}", type, paths, manifest);
    message m = { NULL, 0 };
    message_bytes(&m, 1, text, strlen(text));
    const size_t head = m.size - strlen(text);          /* the bytes alone */
    memmove(m.at, m.at + head, strlen(text));
    m.size = strlen(text);
    return m;
}

static void read_json(const char *paths, const weight *w)
{
    memory_files files;
    message      m = json_model(paths, w->manifest, w->dtype);
    eddy_array  *y;
    memory_files_init(&files);
    memory_files_put(&files, "net/model.json", m.at, m.size);
    memory_files_put(&files, "net/a", w->bytes, (size_t)w->size);
    memory_files_put(&files, "net/none", "", 0);
    memory_files_put(&files, "a", w->bytes, (size_t)w->size);
    const char *text = read_model(&files.table, "net/model.json", NULL, "y", &y);
    check_result(text, y, w->refusal, w->dtype, w->n, w->values);
    message_free(&m);
    memory_files_free(&files);
}

START_TEST(json_weights) { read_json("\"a\"", &weights[_i]); }
END_TEST

START_TEST(json_files)
{
    weight w = weights[3];
    read_json("\"none\",\"a\",\"none\"", &w);
    w.refusal = outside;
    read_json("", &w);
    read_json("\"none\"", &w);
    w.refusal = "the name '../a' of a file leaves the folder";
    read_json("\"../a\"", &w);
    w.refusal = "net/b";
    read_json("\"a\",\"b\"", &w);
}
END_TEST

/* Outputs that functions name, of an operator. */
START_TEST(outputs)
{
    static const struct { const char *op, *output; int number; } rows[] = {
        { "TopKV2", "values", 0 },  { "TopKV2", "indices", 1 },  { "Unique", "idx", 1 },
        { "Svd", "v", 2 },          { "SelfAdjointEigV2", "v", 1 }, { "Svd", "idx", 0 },
        { "Add", "indices", 0 },    { "Add", "v", 0 },           { "Switch", "output_true", 1 },
        { "FusedBatchNormV3", "reserve_space_1", 3 },
        { "NonMaxSuppressionV4", "valid_outputs", 1 },
        { "NonMaxSuppressionV5", "valid_outputs", 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        ck_assert_msg(eddy__tf_output_number(rows[i].op, rows[i].output) == rows[i].number,
                      "%s:%s", rows[i].op, rows[i].output);
}
END_TEST

/* The numbers of types in types.proto of TensorFlow; references have 100 added. */
START_TEST(types)
{
    static const struct { int type; const char *name; eddy_dtype dtype; int bits; } rows[] = {
        { 1, "float32", EDDY_FLOAT32, 32 },  { 2, "float64", EDDY_FLOAT64, 64 },
        { 3, "int32", EDDY_INT32, 32 },      { 4, "uint8", EDDY_UINT8, 8 },
        { 5, "int16", EDDY_INT32, 16 },      { 6, "int8", EDDY_INT32, 8 },
        { 7, "string", 0, 0 },               { 8, "complex64", EDDY_COMPLEX64, 32 },
        { 9, "int64", EDDY_INT64, 64 },      { 10, "bool", EDDY_BOOL, 8 },
        { 17, "uint16", EDDY_INT32, 16 },    { 18, "complex128", EDDY_COMPLEX128, 64 },
        { 20, "resource", 0, 0 },            { 21, "variant", 0, 0 },
        { 22, "uint32", EDDY_INT64, 32 },    { 23, "uint64", EDDY_INT64, 64 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int type = rows[i].type; type < 200; type += 100) {
            ck_assert_str_eq(eddy__tf_type_name(type), rows[i].name);
            ck_assert_int_eq(eddy__tf_dtype(type), rows[i].dtype);
            ck_assert_int_eq(eddy__tf_bits(type), rows[i].bits);
        }
    for (int type = -1; type <= 224; type++)
        if (type <= 0 || type % 100 == 0 || type % 100 > 23 || type > 200)
            ck_assert_msg(eddy__tf_bits(type) == 0, "type %d", type);
}
END_TEST

Suite *tensorflow_weights_suite(void)
{
    Suite *s = suite_create("tensorflow_weights");
    TCase *t = tcase_create("weights");
    tcase_add_loop_test(t, constant_tensors, 0, sizeof constants / sizeof *constants);
    tcase_add_loop_test(t, json_weights, 0, sizeof weights / sizeof *weights);
    tcase_add_test(t, json_files);
    tcase_add_test(t, outputs);
    tcase_add_test(t, types);
    suite_add_tcase(s, t);
    return s;
}
