/* test_saved_models.c -- SavedModels and checkpoints of TensorFlow, models of TensorFlow.js, and
 * files of PyTorch. tests/formats/files/ has files that PyTorch 1.13 wrote
 * (make_files.py), and expanded.pt in the same form (make_expanded.py). */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/checkpoint_files.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"

#include <stdio.h>
#include <stdlib.h>

static const int64_t two[] = { 2 };

static void put_message(memory_files *files, const char *name, message *m)
{
    memory_files_put(files, name, m->at, m->size);
    message_free(m);
}

/* ------------------------------------------------------------- SavedModels -- */

/* An object graph with one variable: its key and its full name. */
static message object_graph(const char *key, const char *full)
{
    message m = { NULL, 0 }, n = { NULL, 0 }, a = { NULL, 0 };
    message_text(&a, 1, "VARIABLE_VALUE");
    message_text(&a, 2, full);
    message_text(&a, 3, key);
    message_inner(&n, 2, a);
    message_inner(&m, 1, n);
    return m;
}

static void put_bundle(memory_files *files, const char *prefix)
{
    const float       w[] = { 3, 4 }, b[] = { 0.5f, -1 };
    char              path[100];
    const char        key[] = "layer/w/.ATTRIBUTES/VARIABLE_VALUE";
    message           objects = object_graph(key, "dense/w");
    eddy_array       *aw = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), w),
               *ab = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), b);
    tf_bundle         x = tf_bundle_of((tf_bundle_entry[]){
        { "_CHECKPOINTABLE_OBJECT_GRAPH", 7, NULL, (const char *)objects.at, objects.size },
        { "dense/bias", 1, ab, NULL, 0 }, { key, 1, aw, NULL, 0 } }, 3);
    snprintf(path, sizeof path, "%s.index", prefix);
    memory_files_put(files, path, x.index.at, x.index.size);
    snprintf(path, sizeof path, "%s.data-00000-of-00001", prefix);
    memory_files_put(files, path, x.data.at, x.data.size);
    tf_bundle_free(&x);
    message_free(&objects);
    eddy_array_free(aw);
    eddy_array_free(ab);
}

static message handle(const char *name)
{
    message m = tf_node_message(name, "VarHandleOp", "");
    tf_add_type(&m, "dtype", 1);
    tf_add_shape(&m, "shape", 1, two);
    tf_add_text(&m, "shared_name", name);
    return m;
}

/* y = f(x, w, b) = w x + b, as TensorFlow 2 saves it. */
static message saved_graph(void)
{
    message g = { NULL, 0 }, call = tf_node_message("call", "StatefulPartitionedCall",
                                                    "serving_x,dense/w,dense/bias");
    message_inner(&g, TF_GRAPH_NODE, tf_input_message("serving_x", 1, two));
    message_inner(&g, TF_GRAPH_NODE, handle("dense/w"));
    message_inner(&g, TF_GRAPH_NODE, handle("dense/bias"));
    tf_add_function(&call, "f", "f");
    message_inner(&g, TF_GRAPH_NODE, call);
    message f = tf_function_message("f", "x,w,b", "sum:z:0");
    message_inner(&f, TF_FUNCTION_NODE, tf_node_message("w/read", "ReadVariableOp", "w"));
    message_inner(&f, TF_FUNCTION_NODE, tf_node_message("b/read", "ReadVariableOp", "b"));
    message_inner(&f, TF_FUNCTION_NODE, tf_node_message("m", "Mul", "x,w/read:value:0"));
    message_inner(&f, TF_FUNCTION_NODE, tf_node_message("sum", "AddV2", "m:z:0,b/read:value:0"));
    tf_add_library(&g, &f, 1);
    return tf_saved_model_message(g, "x=serving_x:0", "y=call:0");
}

START_TEST(saved_model)
{
    memory_files files;
    memory_files_init(&files);
    message model = saved_graph();
    put_message(&files, "m/saved_model.pb", &model);
    put_bundle(&files, "m/variables/variables");
    for (int variables = 0; variables < 2; variables++) {
        eddy_graph            *g = eddy_graph_new();
        eddy_error             e = { 0 };
        eddy_tensorflow_model *m = eddy_tensorflow_read(g, variables ? "m" : "m/saved_model.pb",
            .variables = variables, .files = &files.table, .error = &e);
        ck_assert_msg(m != NULL, "%s", e.message);
        ck_assert_int_eq(eddy_collection_size(g, EDDY_TRAINABLE_VARIABLES), variables ? 2 : 0);
        ck_assert_str_eq(eddy_tensorflow_input_name(m, 0), "x");
        ck_assert_str_eq(eddy_tensorflow_output_name(m, 0), "y");
        ck_assert_str_eq(eddy_name_of(eddy_tensorflow_value(m, "dense/w")), "dense/w");
        float         x[] = { 2, 10 };
        eddy_session *s = eddy_session_new(g);
        if (variables) runs(s, eddy_initializer(g));
        eddy_array *y = eddy_fetch(s, eddy_tensorflow_output(m, "y"),
                                   EDDY_FEED({ eddy_tensorflow_input(m, "x"), EDDY_VIEW(x, 2) }));
        ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
        ck_assert_double_eq(eddy_array_get(y, 0), 6.5);
        ck_assert_double_eq(eddy_array_get(y, 1), 39);
        eddy_array_free(y);
        eddy_session_free(s);
        eddy_tensorflow_free(m);
        eddy_graph_free(g);
    }
    eddy_error e = { 0 };
    ck_assert_ptr_null(eddy_tensorflow_check("m", .signature = "train", .files = &files.table,
                                             .error = &e));
    ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
    ck_assert_str_eq(e.message, "m/saved_model.pb: there is no signature 'train'");
    memory_files_free(&files);
}
END_TEST

START_TEST(bundle)
{
    memory_files files;
    memory_files_init(&files);
    put_bundle(&files, "ckpt");
    eddy_error       e = { 0 };
    eddy_checkpoint *c =
        eddy_tensorflow_checkpoint_open("ckpt", .files = &files.table, .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_checkpoint_count(c), 4);
    const double w[] = { 3, 4 };
    has_entry(c, "layer/w/.ATTRIBUTES/VARIABLE_VALUE", EDDY_FLOAT32, 2, w);
    has_entry(c, "dense/w", EDDY_FLOAT32, 2, w);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "_CHECKPOINTABLE_OBJECT_GRAPH", &e));
    ck_assert_int_eq(e.status, EDDY_UNIMPLEMENTED);
    eddy_checkpoint_free(c);
    /* A flipped bit of the elements, or of the index, is found. */
    memory_content *data = (memory_content *)memory_files_get(&files, "ckpt.data-00000-of-00001");
    data->bytes[data->size - 1] ^= 1;
    c = eddy_tensorflow_checkpoint_open("ckpt", .files = &files.table, .error = &e);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "dense/w", &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    eddy_checkpoint_free(c);
    memory_content *index = (memory_content *)memory_files_get(&files, "ckpt.index");
    index->bytes[20] ^= 1;
    ck_assert_ptr_null(eddy_tensorflow_checkpoint_open("ckpt", .files = &files.table, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_str_eq(e.message, "ckpt.index: byte 0: the checksum of a block is wrong");
    memory_files_free(&files);
}
END_TEST

/* A small index that names one block again and again would be a large table. */
START_TEST(repeated_block)
{
    memory_files files;
    memory_files_init(&files);
    message    pairs = { calloc(3000, 1), 3000 };   /* of an empty key and an empty value */
    eddy_error e = { 0 };
    message index = tf_table_of(pairs, 1000);
    put_message(&files, "c.index", &index);
    ck_assert_ptr_null(eddy_tensorflow_checkpoint_open("c", .files = &files.table, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_msg(strstr(e.message, "blocks overlap") != NULL, "%s", e.message);
    memory_files_free(&files);
}
END_TEST

/* ----------------------------------------------------------- TensorFlow.js -- */

static const char json_model[] =
    "{\"format\": \"graph-model\", \"modelTopology\": {\"node\": ["
    "{\"name\": \"x\", \"op\": \"Placeholder\", \"attr\": {\"dtype\": {\"type\": \"DT_FLOAT\"},"
    " \"shape\": {\"shape\": {\"dim\": [{\"size\": \"-1\"}, {\"size\": \"2\"}]}}}},"
    "{\"name\": \"w\", \"op\": \"Const\", \"attr\": {\"value\": {\"tensor\": {\"dtype\":"
    " \"DT_FLOAT\", \"tensorShape\": {\"dim\": [{\"size\": \"2\"}, {\"size\": \"2\"}]}}},"
    " \"dtype\": {\"type\": \"DT_FLOAT\"}}},"
    "{\"name\": \"b\", \"op\": \"Const\", \"attr\": {\"value\": {\"tensor\": {\"dtype\":"
    " \"DT_FLOAT\", \"tensorShape\": {\"dim\": [{\"size\": \"2\"}]}}}}},"
    "{\"name\": \"y\", \"op\": \"_FusedMatMul\", \"input\": [\"x\", \"w\", \"b\"], \"attr\":"
    " {\"fused_ops\": {\"list\": {\"s\": [\"Qmlhc0FkZA==\", \"UmVsdQ==\"]}},"
    " \"transpose_b\": {\"b\": true}}}], \"library\": {}},"
    "\"signature\": {\"inputs\": {\"in\": {\"name\": \"x:0\"}}, \"outputs\": {\"out\": {\"name\":"
    " \"y:0\"}}}, \"weightsManifest\": [{\"paths\": [\"a.bin\", \"b.bin\"], \"weights\": ["
    "{\"name\": \"w\", \"shape\": [2, 2], \"dtype\": \"float32\", \"quantization\": {\"dtype\":"
    " \"uint8\", \"scale\": 0.5, \"min\": -1.0}},"
    "{\"name\": \"b\", \"shape\": [2], \"dtype\": \"float32\"}]}]}";

/* Weights of 4 bytes in the first file; the others begin there and end in the second. */
static void put_json_model(memory_files *files)
{
    const float   b[] = { 1, -100 };
    const uint8_t w[] = { 2, 4, 6, 8 };     /* 0 1; 2 3 */
    uint8_t       a[6];
    memcpy(a, w, 4);
    memcpy(a + 4, b, 2);
    memory_files_put(files, "net/model.json", json_model, strlen(json_model));
    memory_files_put(files, "net/a.bin", a, 6);
    memory_files_put(files, "net/b.bin", (const uint8_t *)b + 2, 6);
}

START_TEST(tfjs)
{
    memory_files files;
    memory_files_init(&files);
    put_json_model(&files);
    eddy_graph            *g = eddy_graph_new();
    eddy_error             e = { 0 };
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, "net/model.json", .files = &files.table, .error = &e);
    ck_assert_msg(m != NULL, "%s", e.message);
    ck_assert_str_eq(eddy_tensorflow_input_name(m, 0), "in");
    ck_assert_int_eq(eddy_shape_of(eddy_tensorflow_input(m, "x")).dim[0], EDDY_ANY);
    float         x[] = { 10, 1 };
    eddy_session *s = eddy_session_new(g);
    eddy_array   *y = eddy_fetch(s, eddy_tensorflow_output(m, "out"),
                                 EDDY_FEED({ eddy_tensorflow_input(m, "in"), EDDY_VIEW(x, 1, 2) }));
    ck_assert_msg(y != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_get(y, 0), 2);
    ck_assert_double_eq(eddy_array_get(y, 1), 0);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_tensorflow_free(m);
    /* A file of weights that is too short. */
    memory_files_put(&files, "net/b.bin", "12345", 5);
    ck_assert_ptr_null(
        eddy_tensorflow_read(g, "net/model.json", .files = &files.table, .error = &e));
    ck_assert_int_eq(e.status, EDDY_CORRUPT);
    ck_assert_str_eq(e.message,
                     "net/model.json: weight 'b' is not inside the files of its group");
    eddy_graph_free(g);
    memory_files_free(&files);
}
END_TEST

/* ----------------------------------------------------------------- PyTorch -- */

START_TEST(torch_types)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_torch_checkpoint_open("tests/formats/files/mixed.pt", .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    ck_assert_int_eq(eddy_checkpoint_count(c), 18);
    const double x[] = { 0, 1, 2, 3, 4, 5 }, turned[] = { 0, 3, 1, 4, 2, 5 },
                 less[] = { -3, -2, -1, 0, 1, 2 };
    has_entry(c, "model.a", EDDY_FLOAT32, 6, x);
    has_entry(c, "model.t", EDDY_FLOAT32, 6, turned);
    has_entry(c, "model.v", EDDY_FLOAT32, 2, (const double[]){ 1, 4 });
    has_entry(c, "model.h", EDDY_FLOAT16, 6, x);
    has_entry(c, "model.b", EDDY_BFLOAT16, 6, x);
    has_entry(c, "model.d", EDDY_FLOAT64, 6, x);
    has_entry(c, "model.i8", EDDY_INT32, 6, less);
    has_entry(c, "model.i16", EDDY_INT32, 6, less);
    has_entry(c, "model.i64", EDDY_INT64, 6, less);
    has_entry(c, "model.u8", EDDY_UINT8, 6, x);
    has_entry(c, "model.bool", EDDY_BOOL, 6, (const double[]){ 0, 0, 0, 1, 1, 1 });
    has_entry(c, "model.s", EDDY_INT64, 1, (const double[]){ 7 });
    has_entry(c, "model.e", EDDY_FLOAT32, 0, NULL);
    has_entry(c, "opt.0", EDDY_FLOAT32, 3, x);
    has_entry(c, "opt.1.0", EDDY_FLOAT32, 3, x + 3);
    has_entry(c, "opt.1.1.5", EDDY_FLOAT32, 6, x);
    has_entry(c, "p", EDDY_FLOAT32, 6, x);
    eddy_array *z = eddy_checkpoint_value(c, "model.c", &e);
    ck_assert_int_eq(eddy_array_dtype(z), EDDY_COMPLEX64);
    ck_assert_double_eq(eddy_array_get_imag(z, 5), -5);
    eddy_array_free(z);
    ck_assert_ptr_null(eddy_checkpoint_value(c, "epoch", &e));
    ck_assert_int_eq(e.status, EDDY_NOT_FOUND);
    eddy_checkpoint_free(c);
}
END_TEST

/* A state_dict of layers, restored through the map for PyTorch. */
START_TEST(torch_restore)
{
    eddy_graph      *g = eddy_graph_new();
    eddy_error       e = { 0 };
    eddy_tensor      x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(1, 3));
    eddy_scope_begin(g, "2");
    eddy_tensor w = eddy_variable(g, .initial_value = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2)),
                                  .name = "kernel"),
                b = eddy_variable(g, .initial_value = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2)),
                                  .name = "bias");
    eddy_scope_end(g);
    eddy_tensor      y = Add(MatMul(x, w), b);
    eddy_checkpoint *c = eddy_torch_checkpoint_open("tests/formats/files/net.pt", .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    eddy_checkpoint_map torch = eddy_torch_map();
    eddy_session       *s = eddy_session_new(g);
    ck_assert_msg(eddy_restore_checkpoint(s, .checkpoint = c, .map = &torch) == EDDY_OK, "%s",
                  eddy_session_message(s));
    eddy_checkpoint_free(c);
    float       in[] = { 1, 2, 3 };
    eddy_array *out = eddy_fetch(s, y, EDDY_FEED({ x, EDDY_VIEW(in, 1, 3) }));
    ck_assert_msg(out != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_get(out, 0), 6);         /* weight 0 1 2; 3 4 5, bias -2 -3 */
    ck_assert_double_eq(eddy_array_get(out, 1), 23);
    eddy_array_free(out);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* A view whose strides are 0 has any number of elements: memory is taken for 64 MiB at most. */
START_TEST(torch_expanded)
{
    eddy_error       e = { 0 };
    eddy_checkpoint *c = eddy_torch_checkpoint_open("tests/formats/files/expanded.pt", .error = &e);
    ck_assert_msg(c != NULL, "%s", e.message);
    has_entry(c, "small", EDDY_FLOAT32, 6, (double[]){ 1, 1, 1, 1, 1, 1 });
    ck_assert_ptr_null(eddy_checkpoint_value(c, "large", &e));
    ck_assert_int_eq(e.status, EDDY_LIMIT);
    ck_assert_msg(strstr(e.message, "'large'") != NULL, "%s", e.message);
    eddy_checkpoint_free(c);
}
END_TEST

/* A pickle that names a function is refused and not run; so is the old format. */
START_TEST(torch_refused)
{
    static const struct { const char *file, *says; eddy_status status; } cases[] = {
        { "tests/formats/files/module.pt",
          "the name torch.nn.modules.linear.Linear is not allowed", EDDY_UNIMPLEMENTED },
        { "tests/formats/files/old.pt", "the format before PyTorch 1.6 is not supported",
          EDDY_UNIMPLEMENTED },
        { "data/sine.onnx", "this is no ZIP archive", EDDY_CORRUPT },
        { "tests/formats/files/none.pt", "No such file", EDDY_NOT_FOUND },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        eddy_error e = { 0 };
        ck_assert_ptr_null(eddy_torch_checkpoint_open(cases[i].file, .error = &e));
        ck_assert_int_eq(e.status, cases[i].status);
        ck_assert_msg(strstr(e.message, cases[i].says) != NULL, "%s", e.message);
    }
}
END_TEST

/* ----------------------------------------------------------------- damage -- */

static void use_bundle(memory_files *files)
{
    eddy_error e = { 0 };
    use_checkpoint(eddy_tensorflow_checkpoint_open("ckpt", .files = &files->table, .error = &e),
                   &e);
}

static void use_torch(memory_files *files)
{
    eddy_error e = { 0 };
    use_checkpoint(eddy_torch_checkpoint_open("x.pt", .files = &files->table, .error = &e), &e);
}

static void use_json(memory_files *files)
{
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, "net/model.json", .files = &files->table, .error = &e);
    ck_assert((m != NULL) == (e.status == EDDY_OK));
    ck_assert(m || eddy_graph_size(g) == 0);
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

static void use_saved(memory_files *files)
{
    eddy_error e = { 0 };
    eddy_model_report *r = eddy_tensorflow_check("m", .files = &files->table, .error = &e);
    ck_assert((r != NULL) == (e.status == EDDY_OK));
    eddy_model_report_free(r);
}

START_TEST(damaged)
{
    memory_files files;
    memory_files_init(&files);
    put_bundle(&files, "ckpt");
    put_bundle(&files, "m/variables/variables");
    put_json_model(&files);
    message model = saved_graph();
    put_message(&files, "m/saved_model.pb", &model);
    FILE   *f = fopen("tests/formats/files/net.pt", "rb");
    char    bytes[8192];
    ck_assert_ptr_nonnull(f);
    memory_files_put(&files, "x.pt", bytes, fread(bytes, 1, sizeof bytes, f));
    fclose(f);
    damage_file(&files, "ckpt.index", use_bundle);
    damage_file(&files, "x.pt", use_torch);
    damage_file(&files, "m/saved_model.pb", use_saved);
    damage_file(&files, "net/model.json", use_json);
    memory_files_free(&files);
}
END_TEST

Suite *saved_models_suite(void)
{
    Suite *s = suite_create("saved_models");
    TCase *tc = tcase_create("files"), *bad = tcase_create("damage");
    tcase_add_test(tc, saved_model);
    tcase_add_test(tc, bundle);
    tcase_add_test(tc, tfjs);
    tcase_add_test(tc, torch_types);
    tcase_add_test(tc, torch_restore);
    tcase_add_test(tc, torch_expanded);
    tcase_add_test(tc, torch_refused);
    tcase_add_test(bad, repeated_block);
    tcase_add_test(bad, damaged);
    tcase_set_timeout(bad, 60);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, bad);
    return s;
}
