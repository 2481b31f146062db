/* test_changed_models.c -- models and event files of which each byte is changed: the answers are in
 * tests/golden/formats. */
#include "build/gen/suites.h"
#include "formats.h"
#include "tests/lib/files/changed_bytes.h"
#include "tests/lib/files/event_files.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/tensorflow_writer.h"
#include "tests/lib/golden.h"

#include <stdlib.h>
#include <string.h>

static const int64_t two_by_three[] = { 2, 3 };
static const float   numbers[] = { 1, 2, 3, 4, 5, 6 };

static void answer_output(char *answer, size_t room, const char *name, eddy_tensor t)
{
    const eddy_array *a = eddy_eval(t);
    answer_add(answer, room, "%s ", name);
    if (a) answer_add_product(answer, room, a);
}

/* --------------------------------------------------------------------- ONNX -- */

static void read_onnx(const void *file, size_t size, char *answer, size_t room)
{
    eddy_error       e = { 0 };
    eddy_graph      *g = eddy_graph_new();
    eddy_onnx_model *m = eddy_onnx_read(g, .data = file, .data_size = size, .error = &e);
    answer_add(answer, room, "%s", e.message);
    for (int i = 0; i < eddy_onnx_output_count(m); i++) {
        const char *name = eddy_onnx_output_name(m, i);
        answer_output(answer, room, name, eddy_onnx_output(m, name));
    }
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

static message field_of(uint32_t field, message inner)
{
    message m = { NULL, 0 };
    message_inner(&m, field, inner);
    return m;
}

/* The product of a matrix and its transpose. */
static message onnx_bytes(void)
{
    message g = { NULL, 0 }, turn = onnx_node_message("Transpose", "a", "t"),
            product = onnx_node_message("Gemm", "a,t", "y");
    onnx_add_attribute(&turn, onnx_ints_attribute("perm", 2, (int64_t[]){ 1, 0 }));
    onnx_add_attribute(&product, onnx_float_attribute("alpha", 2));
    message_inner(&g, GRAPH_NODE, turn);
    message_inner(&g, GRAPH_NODE, product);
    message_inner(&g, GRAPH_INITIALIZER,
                  onnx_tensor_message("a", 1, 2, two_by_three, numbers, sizeof numbers));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, 2, (int64_t[]){ 2, 2 }));
    return onnx_model_message(g, 13);
}

/* A tensor with these fields, as the only output. */
static message onnx_tensor_bytes(message tensor)
{
    message g = { NULL, 0 };
    message_text(&tensor, 8, "a");
    message_inner(&g, GRAPH_INITIALIZER, tensor);
    message_inner(&g, GRAPH_NODE, onnx_node_message("Identity", "a", "y"));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    return onnx_model_message(g, 13);
}

static void tell(const char *what, message m, changed_read *read)
{
    changed_bytes(what, m.at, m.size, read);
    message_free(&m);
}

START_TEST(onnx)
{
    const uint8_t dims[] = { 2, 1 }, ints[] = { 3, 0xac, 2 };
    message       packed = { NULL, 0 }, single = { NULL, 0 };
    message_bytes(&packed, 1, dims, 2);
    message_number(&packed, 2, 7);
    message_bytes(&packed, 7, ints, 3);
    message_number(&single, 1, 2);
    message_number(&single, 2, 1);
    for (int i = 0; i < 2; i++) message_float(&single, 4, numbers[i]);
    const uint8_t halves[] = { 0x21, 0x83 };
    message       four_bits = onnx_tensor_message("", 22, 1, (int64_t[]){ 4 }, halves, 2);
    golden_begin("formats/changed_onnx");
    tell("nodes", onnx_bytes(), read_onnx);
    tell("packed integers", onnx_tensor_bytes(packed), read_onnx);
    tell("floats", onnx_tensor_bytes(single), read_onnx);
    tell("integers of 4 bits", onnx_tensor_bytes(four_bits), read_onnx);
    golden_end();
}
END_TEST

/* --------------------------------------------------------------- TensorFlow -- */

static void read_tensorflow(const void *file, size_t size, char *answer, size_t room)
{
    eddy_error             e = { 0 };
    eddy_graph            *g = eddy_graph_new();
    eddy_tensorflow_model *m =
        eddy_tensorflow_read(g, .data = file, .data_size = size, .error = &e);
    answer_add(answer, room, "%s", e.message);
    for (int i = 0; i < eddy_tensorflow_output_count(m); i++) {
        const char *name = eddy_tensorflow_output_name(m, i);
        answer_output(answer, room, name, eddy_tensorflow_output(m, name));
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
}

/* A function of two constants. */
static message tensorflow_bytes(void)
{
    message g = { NULL, 0 }, call = tf_node_message("c", "PartitionedCall", "a,i"),
            f = tf_function_message("f", "x,y", "s:output:0"),
            sum = tf_node_message("s", "Sum", "x,y");
    tf_add_flag(&sum, "keep_dims", true);
    message_inner(&f, TF_FUNCTION_NODE, sum);
    tf_add_function(&call, "f", "f");
    message_inner(&g, TF_GRAPH_NODE, tf_floats_message("a", 2, two_by_three, numbers));
    message_inner(&g, TF_GRAPH_NODE,
                  tf_ints_message("i", 1, (int64_t[]){ 1 }, (int32_t[]){ 1 }));
    message_inner(&g, TF_GRAPH_NODE, call);
    tf_add_library(&g, &f, 1);
    return tf_saved_model_message(g, "", "y=c:0");
}

START_TEST(tensorflow)
{
    golden_begin("formats/changed_tensorflow");
    tell("a function", tensorflow_bytes(), read_tensorflow);
    golden_end();
}
END_TEST

static void read_json(const void *file, size_t size, char *answer, size_t room)
{
    memory_files files;
    eddy_error   e = { 0 };
    eddy_graph  *g = eddy_graph_new();
    memory_files_init(&files);
    memory_files_put(&files, "m/model.json", file, size);
    memory_files_put(&files, "m/a.bin", numbers, 8);
    eddy_tensorflow_model *m = eddy_tensorflow_read(g, "m/model.json", .files = &files.table,
                                                    .error = &e);
    answer_add(answer, room, "%s", e.message);
    for (int i = 0; i < eddy_tensorflow_output_count(m); i++) {
        const char *name = eddy_tensorflow_output_name(m, i);
        answer_output(answer, room, name, eddy_tensorflow_output(m, name));
    }
    eddy_tensorflow_free(m);
    eddy_graph_free(g);
    memory_files_free(&files);
}

START_TEST(tensorflow_js)
{
    static const char text[] =
        "{\"modelTopology\":{\"node\":[{\"name\":\"w\",\"op\":\"Const\"},"
        "{\"name\":\"y\",\"op\":\"LeakyRelu\",\"input\":[\"w:0\"],\"attr\":{\"alpha\":{\"f\":0.5}}}"
        "]},"
        "\"weightsManifest\":[{\"paths\":[\"a.bin\"],\"weights\":[{\"name\":\"w\",\"shape\":[2,4],"
        "\"dtype\":\"float32\",\"quantization\":{\"dtype\":\"uint8\",\"scale\":0.5,\"min\":-1}}]}]"
        "}";
    golden_begin("formats/changed_tensorflow_js");
    changed_bytes("weights", text, sizeof text - 1, read_json);
    golden_end();
}
END_TEST

/* -------------------------------------------------------------- event files -- */

/* A field of eight bytes. */
static void put_double(message *m, uint32_t field, double value)
{
    message_bytes(m, field, &value, 8);         /* a tag, the length 8, and the bytes */
    memmove(m->at + m->size - 9, m->at + m->size - 8, 8);
    m->at[m->size - 10] = (uint8_t)(field << 3 | 1);
    m->size--;
}

static message event_of(message value)
{
    message event = { NULL, 0 };
    put_double(&event, 1, 2.5);
    message_number(&event, 2, 3);
    message_inner(&event, 5, field_of(1, value));
    return event;
}

static message scalar_event(void)
{
    message value = { NULL, 0 };
    message_text(&value, 1, "a\x7f<\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    message_float(&value, 2, 1.5f);
    return event_of(value);
}

/* From -1 to 3, in buckets up to 0, 1 and 4 with 2, 1 and 5 values. */
static message histogram_event(void)
{
    const double limits[] = { 0, 1, 4 }, counts[] = { 2, 1, 5 };
    message      h = { NULL, 0 }, value = { NULL, 0 };
    put_double(&h, 1, -1);
    put_double(&h, 2, 3);
    put_double(&h, 3, 8);
    message_bytes(&h, 6, limits, sizeof limits);
    message_bytes(&h, 7, counts, sizeof counts);
    message_text(&value, 1, "h");
    message_inner(&value, 5, h);
    return event_of(value);
}

static message image_event(int bytes)
{
    message image = { NULL, 0 }, value = { NULL, 0 };
    message_bytes(&image, 4, "\xfb\xff\x00\x41\x7e", (size_t)bytes);
    message_inner(&value, 4, image);
    return event_of(value);
}

/* A placeholder of the shape [?,3], and a node with two outputs. */
static message graph_event(void)
{
    message g = { NULL, 0 }, event = { NULL, 0 };
    for (int i = 0; i < 2; i++) {
        message node = { NULL, 0 }, shapes = { NULL, 0 }, attribute = { NULL, 0 };
        message_text(&node, 1, i ? "n" : "x");
        message_text(&node, 2, i ? "Split" : "Placeholder");
        if (i) message_text(&node, 3, "x");
        for (int k = 0; k <= i; k++) {
            message shape = { NULL, 0 }, dim = { NULL, 0 };
            message_number(&dim, 1, k ? 12 : UINT64_MAX);
            message_inner(&shape, 2, dim);
            message_inner(&shape, 2, field_of(9, (message){ NULL, 0 }));
            if (k) message_number(&shape, 3, 1);
            message_inner(&shapes, 7, shape);
        }
        message_text(&attribute, 1, "_output_shapes");
        message_inner(&attribute, 2, field_of(1, shapes));
        message_inner(&node, 5, attribute);
        message_inner(&g, 1, node);
    }
    message_inner(&event, 4, g);
    return event;
}

static message profile_event(void)
{
    message nodes = { NULL, 0 }, tagged = { NULL, 0 }, event = { NULL, 0 };
    for (int i = 0; i < 3; i++) {
        message stats = { NULL, 0 }, memory = { NULL, 0 };
        message_text(&stats, 1, i ? "slow" : "quick");
        message_number(&stats, 5, i == 1 ? 300 : 10 + (uint64_t)i);
        message_number(&memory, 2, 7);
        message_inner(&stats, 6, memory);
        message_text(&stats, 8, "label");
        message_inner(&nodes, 2, stats);
    }
    message all = field_of(1, field_of(1, nodes));
    message_text(&tagged, 1, "run");
    message_inner(&tagged, 2, all);
    message_inner(&event, 8, tagged);
    return event;
}

START_TEST(events)
{
    golden_begin("formats/changed_events");
    tell("a scalar", scalar_event(), answer_event);
    tell("a histogram", histogram_event(), answer_event);
    tell("an image", image_event(3), answer_event);
    tell("four bytes of an image", image_event(4), answer_event);
    tell("five bytes of an image", image_event(5), answer_event);
    tell("a graph", graph_event(), answer_event);
    tell("a profile", profile_event(), answer_event);
    golden_end();
}
END_TEST

Suite *changed_models_suite(void)
{
    Suite *s = suite_create("changed_models");
    TCase *t = tcase_create("bytes");
    tcase_add_test(t, onnx);
    tcase_add_test(t, tensorflow);
    tcase_add_test(t, tensorflow_js);
    tcase_add_test(t, events);
    suite_add_tcase(s, t);
    return s;
}
