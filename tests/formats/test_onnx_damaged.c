/* test_onnx_damaged.c -- ONNX models with wrong bytes, and the messages of all errors. Whatever the
 * file, reading either succeeds or leaves the graph as it was. */
#include "formats.h"
#include "input.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/files/onnx_cases.h"
#include "tests/lib/files/onnx_writer.h"

#include <errno.h>
#include <stdlib.h>

Suite *onnx_damaged_suite(void);

static void read_bytes(const uint8_t *data, size_t size)
{
    eddy_error        e = { 0 };
    eddy_graph       *g = eddy_graph_new();
    eddy_model_report *r = eddy_onnx_check(.data = data, .data_size = size, .error = &e);
    ck_assert((r != NULL) == (e.status == EDDY_OK));
    eddy_model_report_free(r);
    eddy_onnx_model *m = eddy_onnx_read(g, .data = data, .data_size = size, .error = &e);
    ck_assert((m != NULL) == (e.status == EDDY_OK));
    ck_assert_int_eq(eddy_graph_status(g), EDDY_OK);
    if (!m) ck_assert_int_eq(eddy_graph_size(g), 0);
    eddy_onnx_free(m);
    eddy_graph_free(g);
}

/* One byte changed at a time, or the end cut off: `rounds` times, each place drawn anew. */
static void damage(const char *path, int rounds, uint32_t seed)
{
    FILE *f = fopen(path, "rb");
    if (!f) return;
    uint8_t      *bytes = malloc(1 << 20), *copy = malloc(1 << 20);
    const size_t  size = fread(bytes, 1, 1 << 20, f);
    fclose(f);
    for (int i = 0; i < rounds && size; i++) {
        memcpy(copy, bytes, size);
        seed = seed * 1664525 + 1013904223;
        const size_t at = (seed >> 8) % size;
        if (i % 8 == 7) read_bytes(copy, at);
        else {
            copy[at] = (uint8_t)(i % 2 ? copy[at] ^ 1u << (seed & 7) : seed >> 3);
            read_bytes(copy, size);
        }
    }
    free(bytes);
    free(copy);
}

START_TEST(changed_bytes) { damage("data/sine.onnx", 2000, 1); }
END_TEST

/* Constants that a node computes are counted anew after the trial: a model near the limit is read
 * or refused by both, and never leaves nodes. */
START_TEST(computed_constants)
{
    for (int64_t size = 1 << 19; size <= 1 << 21; size += 1 << 18) {
        message g = { NULL, 0 };
        message_inner(&g, GRAPH_INITIALIZER,
                      onnx_tensor_message("n", 7, 0, NULL, &size, sizeof size));
        message_inner(&g, GRAPH_NODE, onnx_node_message("HannWindow", "n", "y"));
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
        message m = onnx_model_message(g, 17);
        read_bytes(m.at, m.size);
        message_free(&m);
    }
}
END_TEST

START_TEST(changed_cases)
{
    int    count;
    char **names = names_in(ONNX_CASES "/node", &count);
    for (int i = 0; i < count; i++) {
        char path[1000];
        snprintf(path, sizeof path, "%s/node/%s/model.onnx", ONNX_CASES, names[i]);
        damage(path, 20, (uint32_t)i);
    }
    free_names(names);
}
END_TEST

/* ------------------------------------------------------------------ failures -- */

/* The whole file, for free. */
static uint8_t *bytes_of(const char *path, size_t *size)
{
    FILE    *f = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 16);
    ck_assert_msg(f != NULL, "%s cannot be opened", path);
    *size = fread(bytes, 1, 1 << 16, f);
    fclose(f);
    return bytes;
}

/* Each call of a file system fails once, also by reading byte by byte. */
START_TEST(files_fail)
{
    size_t   size;
    uint8_t *bytes = bytes_of("data/sine.onnx", &size);
    for (int number = 0; number <= 5; number += 5)          /* 5: EIO */
        for (int at = 1; at < 5; at++) {
            memory_files f;
            eddy_error   e = { 0 };
            eddy_graph  *g = eddy_graph_new();
            memory_files_init(&f);
            memory_files_put(&f, "m.onnx", bytes, size);
            f.fault = (memory_fault){ .at = at, .number = number, .persistent = number == 0 };
            eddy_onnx_model *m = eddy_onnx_read(g, "m.onnx", .files = &f.table, .error = &e);
            ck_assert_msg((m == NULL) == (e.status == EDDY_IO), "call %d: %s", at, e.message);
            ck_assert(m || number != 0);
            ck_assert(m || eddy_graph_size(g) == 0);
            eddy_onnx_free(m);
            eddy_graph_free(g);
            memory_files_free(&f);
        }
    free(bytes);
}
END_TEST

/* One read is interrupted, or all are. */
START_TEST(interrupted)
{
    size_t   size;
    uint8_t *bytes = bytes_of("data/sine.onnx", &size);
    for (int persistent = 0; persistent < 2; persistent++) {
        memory_files f;
        eddy_error   e = { 0 };
        eddy_graph  *g = eddy_graph_new();
        memory_files_init(&f);
        memory_files_put(&f, "m", bytes, size);
        f.fault = (memory_fault){ .at = 3, .number = EINTR, .persistent = persistent == 1 };
        eddy_onnx_model *m = eddy_onnx_read(g, "m", .files = &f.table, .error = &e);
        ck_assert_int_eq(e.status, persistent ? EDDY_IO : EDDY_OK);
        f.calls = 0;
        eddy_array *a = eddy_bytes_load("m", &f.table, &e);
        ck_assert((a == NULL) == (persistent == 1));
        ck_assert_int_eq(f.n_open, 0);
        eddy_array_free(a);
        eddy_onnx_free(m);
        eddy_graph_free(g);
        memory_files_free(&f);
    }
    free(bytes);
}
END_TEST

/* Each allocation of the graph fails once. Then the graph has the error, as the call does. */
START_TEST(memory_fails)
{
    bool ok = false;
    for (int at = 1; !ok && at < 10000; at++) {
        failing_allocator a;
        failing_allocator_init(&a);
        a.at = at;
        a.persistent = true;
        eddy_error  e = { 0 };
        eddy_graph *g = eddy_graph_new(.allocator = &a.table);
        if (!g) continue;
        eddy_onnx_model *m = eddy_onnx_read(g, "data/sine.onnx", .variables = true, .error = &e);
        ok = m != NULL;
        ck_assert_msg(ok ? e.status == EDDY_OK : e.status == EDDY_NO_MEMORY, "allocation %d: %s",
                      at, e.message);
        ck_assert(!ok || eddy_graph_status(g) == EDDY_OK);
        eddy_onnx_free(m);
        eddy_graph_free(g);
        ck_assert_int_eq(a.live, 0);
    }
    ck_assert(ok);
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void refused(message m)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    eddy_onnx_model *model = eddy_onnx_read(g, .data = m.at, .data_size = m.size, .error = &e);
    ck_assert_msg(!model, "the model was read");
    ck_assert(eddy_graph_size(g) == 0 && eddy_graph_status(g) == EDDY_OK);
    golden_error(&e);
    eddy_graph_free(g);
    message_free(&m);
}

/* One node of x [2, 3] and of k, an int64 [1], neither of which is constant. */
static void refused_node(message node, int opset)
{
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_NODE, node);
    message_inner(&g, GRAPH_INPUT, onnx_value_message("x", 1, 2, (int64_t[]){ 2, 3 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("k", 7, 1, (int64_t[]){ 1 }));
    message_inner(&g, GRAPH_INPUT, onnx_value_message("open", 1, -1, NULL));
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    refused(onnx_model_message(g, opset));
}

static message node_with(const char *op, const char *inputs, message attribute)
{
    message n = onnx_node_message(op, inputs, "y");
    onnx_add_attribute(&n, attribute);
    return n;
}

static void of_files(void)
{
    eddy_error  e = { 0 };
    eddy_graph *g = eddy_graph_new();
    ck_assert(!eddy_onnx_read(g, "tests/none.onnx", .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "tests", .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .max_bytes = 100, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(NULL, "data/sine.onnx", .error = &e));
    golden_error(&e);
    const eddy_tensor       c = eddy_scalar(g, 1);
    const eddy_model_binding none = { "z", EDDY_LIST(c) }, wrong = { "x", EDDY_LIST(c) },
                            two = { "x", EDDY_LIST(c, c) };
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .inputs = &none, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(
        !eddy_onnx_read(g, "data/sine.onnx", .inputs = &wrong, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .inputs = &two, .input_count = 1, .error = &e));
    golden_error(&e);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .input_count = 1, .error = &e));
    golden_error(&e);
    eddy_reshape(c, EDDY_SHAPE(2));
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .error = &e));
    golden_error(&e);
    eddy_graph_clear_error(g);
    eddy_graph_finalize(g);
    ck_assert(!eddy_onnx_read(g, "data/sine.onnx", .error = &e));
    golden_error(&e);
    eddy_graph_free(g);
}

static void of_models(void)
{
    message m = { NULL, 0 };
    message_text(&m, 7, "\x0b");
    refused(m);
    m = (message){ NULL, 0 };
    message_number(&m, 1, 8);
    refused(m);
    message g = { NULL, 0 };
    message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
    refused(onnx_model_message(g, 13));
    const float x = 1;
    static const struct { int type, rank; int64_t dims[9]; size_t size;
    } weights[] = {
        { 1, 1, { 2 }, 4 },  { 1, 1, { -2 }, 4 },        { 1, 9, { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 4 },
        { 99, 1, { 1 }, 4 }, { 1, 1, { INT64_MAX }, 4 },
    };
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        g = (message){ NULL, 0 };
        message_inner(&g, GRAPH_INITIALIZER,
                      onnx_tensor_message("w", weights[i].type, weights[i].rank, weights[i].dims,
                                          &x, weights[i].size));
        refused(onnx_model_message(g, 13));
    }
    /* A string where a float should be. */
    message w = onnx_tensor_message("w", 1, 1, (int64_t[]){ 1 }, NULL, 0);
    message_text(&w, 6, "abc");
    g = (message){ NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER, w);
    refused(onnx_model_message(g, 13));
    /* Many numbers beside one string. */
    w = onnx_tensor_message("w", 8, 1, (int64_t[]){ 20000 }, NULL, 0);
    message_text(&w, 6, "abc");
    uint8_t *numbers = calloc(20000, 1);
    message_bytes(&w, 7, numbers, 20000);
    free(numbers);
    g = (message){ NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER, w);
    refused(onnx_model_message(g, 13));
    const uint64_t large = UINT64_MAX;
    g = (message){ NULL, 0 };
    message_inner(&g, GRAPH_INITIALIZER,
                  onnx_tensor_message("w", 13, 1, (int64_t[]){ 1 }, &large, 8));
    refused(onnx_model_message(g, 13));
}

static void of_nodes(void)
{
    refused_node(onnx_node_message("Nonsense", "x", "y"), 13);
    message other = onnx_node_message("Gelu", "x", "y");
    message_text(&other, 7, "com.example");
    message_text(&other, 3, "first");
    refused_node(other, 13);
    refused_node(onnx_node_message("Neg", "z", "y"), 13);
    refused_node(onnx_node_message("MatMul", "x,x", "y"), 13);
    refused_node(onnx_node_message("Neg", "", "y"), 13);
    refused_node(onnx_node_message("Unsqueeze", "x,open", "y"), 13);
    refused_node(node_with("Softmax", "x", onnx_int_attribute("axis", 5)), 13);
    refused_node(onnx_node_message("Softmax", "open", "y"), 13);
    refused_node(node_with("Cast", "x", onnx_int_attribute("to", 8)), 13);
    refused_node(node_with("Cast", "x", onnx_int_attribute("to", 17)), 19);
    refused_node(onnx_node_message("Relu", "x", "y,z"), 13);
    refused_node(onnx_node_message("MaxPool", "x", "y"), 13);
    refused_node(onnx_node_message("If", "x", "y"), 13);
    refused_node(onnx_node_message("Loop", "k,,x", "y"), 13);
    refused_node(onnx_node_message("SequenceAt", "x,k", "y"), 13);
    refused_node(onnx_node_message("Split", "x", ""), 13);
    refused_node(onnx_node_message("Constant", "", "y"), 13);
}

/* ----------------------------------------------- messages of single operators -- */

/* A node with an operator set, inputs (add_inputs, which are not constant, and add_constants), and
 * attributes: "axis=5 mode='edge' pads=1,2". */
typedef struct bad_node {
    int         opset;
    const char *op, *inputs, *attributes;
} bad_node;

static const bad_node bad_nodes[] = {
    { 13, "Slice", "x,open,k", "" },
    { 13, "Slice", "x,k,k,zero,pair", "" },
    { 13, "Slice", "open,one,one", "" },
    { 13, "Split", "x,open", "" },
    { 13, "ReduceSum", "x,open", "" },
    { 13, "Pad", "x,one", "" },
    { 19, "Pad", "any,four8", "mode='wrap'" },
    { 13, "DepthToSpace", "x", "mode='CRD' blocksize=2" },
    { 13, "DepthToSpace", "any", "mode='CRD' blocksize=2" },
    { 23, "Attention", "any3,any3,any3", "q_num_heads=2" },
    { 23, "Attention", "i,i3,i3", "" },
    { 23, "Attention", "i,i,i", "softcap=0.5" },
    { 23, "Attention", "any,any,any", "" },
    { 23, "Attention", "i,i,i,,i,i", "is_causal=1" },
    { 23, "RotaryEmbedding", "any,s,s", "" },
    { 23, "RotaryEmbedding", "i,s,s", "rotary_embedding_dim=3" },
    { 13, "Scan", "x", "num_scan_inputs=1" },
    { 13, "QLinearConv", "i,s,s,i,s,s,s,s", "" },
    { 13, "ConvTranspose", "any,i", "output_shape=9,9" },
    { 13, "ConvTranspose", "i,i", "group=0" },
    { 13, "ConvTranspose", "i,i", "pads=9,9,9,9" },
    { 18, "Col2Im", "x,one,two", "" },
    { 18, "Col2Im", "z,pair,pair0", "" },
    { 18, "Col2Im", "z,pair,nines", "" },
    { 18, "Col2Im", "z,four2,pair", "" },
    { 19, "DeformConv", "x,i,i", "" },
    { 19, "DeformConv", "any,i,i", "" },
    { 19, "DeformConv", "i,i,i", "group=3" },
    { 16, "GridSample", "x,x", "" },
    { 16, "GridSample", "any,any", "" },
    { 16, "GridSample", "half,any", "" },
    { 16, "GridSample", "i,x", "" },
    { 16, "GridSample", "i,any", "" },
    { 16, "RoiAlign", "i,x,k", "" },
    { 16, "RoiAlign", "any,x,k", "sampling_ratio=2" },
    { 16, "RoiAlign", "i,x,k", "sampling_ratio=2 output_height=0" },
    { 11, "NonMaxSuppression", "any3,any3,lots", "" },
    { 18, "ScatterElements", "x,k2,x", "reduction='none2'" },
    { 13, "OneHot", "k,two2,v", "" },
    { 13, "Unique", "any", "axis=0" },
    { 13, "MatMul", "s,x", "" },
    { 13, "Gemm", "u,u", "alpha=0.5" },
    { 26, "BitCast", "x", "to=6" },
    { 13, "BatchNormalization", "open,v,v,v,v", "" },
    { 13, "InstanceNormalization", "open,v,v", "" },
    { 18, "GroupNormalization", "x,v,v", "num_groups=2" },
    { 18, "GroupNormalization", "half2,v,v", "num_groups=1" },
    { 13, "LRN", "open", "size=3" },
    { 13, "MaxPool", "any", "kernel_shape=2,2 strides=3,3 ceil_mode=1" },
    { 13, "MaxUnpool", "any,any", "kernel_shape=2,2" },
    { 13, "MaxUnpool", "i,i4,pairs4", "kernel_shape=2,2" },
    { 13, "MaxPool", "i", "kernel_shape=2,2,2" },
    { 13, "MaxPool", "any", "kernel_shape=2,2 strides=2,2 auto_pad='SAME_LOWER'" },
    { 13, "GlobalAveragePool", "open", "" },
    { 13, "QuantizeLinear", "x,s,x", "" },
    { 13, "QLinearMatMul", "u,s,u,u,s,u,s,x", "" },
    { 13, "RandomNormal", "", "dtype=6 shape=2" },
    { 13, "RandomNormal", "", "" },
    { 15, "Bernoulli", "x", "dtype=8" },
    { 11, "Softmax", "any", "axis=1" },
    { 13, "CumSum", "x,pair", "" },
    { 13, "TopK", "x,pair", "" },
    { 13, "Resize", "i,,f", "" },
    { 13, "Resize", "i,,bad4", "" },
    { 13, "Resize", "i,,k", "" },
    { 13, "Resize", "i,,,bad4", "" },
    { 18, "Resize", "i,,v", "mode='linear' antialias=1" },
    { 18, "Resize", "i,,f4", "axes=0,1,2,3,3,3,3,3,3" },
    { 7, "Upsample", "i", "scales=2" },
    { 13, "Resize", "open,,f", "" },
    { 14, "LSTM", "x,x,x", "" },
    { 14, "RNN", "any3,any3,any3", "" },
    { 14, "RNN", "i3,i3,i3", "activations='no'" },
    { 13, "SequenceInsert", "x,x", "" },
    { 13, "SequenceErase", "x", "" },
    { 13, "SplitToSequence", "any", "" },
    { 15, "OptionalGetElement", "", "" },
    { 13, "EyeLike", "x", "dtype=8" },
    { 13, "Reshape", "x,nine9", "" },
    { 13, "Flatten", "x", "axis=7" },
    { 13, "Unsqueeze", "x", "" },
    { 13, "Unsqueeze", "open,nines", "" },
    { 13, "Transpose", "x", "perm=0,1,2,3,4,5,6,7,8" },
    { 13, "Expand", "x,pair", "" },
    { 13, "Tile", "x", "" },
    { 13, "Tile", "x,nine9", "" },
    { 17, "DFT", "x", "" },
    { 17, "DFT", "z2", "axis=1" },
    { 17, "DFT", "anyparts", "onesided=1 axis=0" },
    { 17, "STFT", "x", "" },
    { 17, "HannWindow", "nine", "output_datatype=7" },
    { 17, "MelWeightMatrix", "nine,nine,nine,nine,one", "" },
    { 13, "TfIdfVectorizer", "x", "ngram_indexes=-1 pool_int64s=1 ngram_counts=0" },
    { 13, "TfIdfVectorizer", "x", "" },
    { 13, "TfIdfVectorizer", "i", "ngram_indexes=0 pool_int64s=1 ngram_counts=0" },
    { 13, "TfIdfVectorizer", "x", "ngram_indexes=0 pool_int64s=1,2 ngram_counts=0" },
    { 13, "Scatter", "open,k,x", "" },
    { 13, "Compress", "x,b", "axis=3" },
};

static message int64s_of(const char *name, int n, int64_t a, int64_t c)
{
    int64_t at[9] = { a, c, a, c, a, c, a, c, a };
    return onnx_int64s(name, n, at);
}

static void add_constants(message *g)
{
    static const struct { const char *name; int n; int64_t a, c;
    } ints[] = {
        { "zero", 1, 0, 0 },  { "one", 1, 1, 0 },   { "two", 1, 2, 0 },       { "nine", 1, 9, 0 },
        { "pair", 2, 2, 2 },  { "pair0", 2, 0, 2 }, { "nines", 2, 9, 9 },     { "four", 4, 3, 3 },
        { "four2", 2, 5, 5 }, { "four8", 8, 1, 1 }, { "pairs4", 4, 1, 1 },    { "two2", 2, 1, 2 },
        { "two2s", 1, 2, 2 }, { "nine9", 9, 1, 1 }, { "lots", 1, 100000, 0 },
    };
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        message_inner(g, GRAPH_INITIALIZER,
                      int64s_of(ints[i].name, ints[i].n, ints[i].a, ints[i].c));
    message_inner(g, GRAPH_INITIALIZER, onnx_floats("f", 1, (float[]){ 0.5f }));
    message_inner(g, GRAPH_INITIALIZER, onnx_floats("f4", 4, (float[]){ 2, 2, 2, 2 }));
    message_inner(g, GRAPH_INITIALIZER, onnx_floats("bad4", 4, (float[]){ 1, 1, -2, 2 }));
}

static void add_inputs(message *g)
{
    static const struct { const char *name; int type, rank; int64_t dims[4];
    } inputs[] = {
        { "x", 1, 2, { 2, 3 } },
        { "v", 1, 1, { 4 } },
        { "i", 1, 4, { 1, 2, 4, 4 } },
        { "open", 1, -1, { 0 } },
        { "any", 1, 4, { -1, -1, -1, -1 } },
        { "any3", 1, 3, { -1, -1, -1 } },
        { "half", 1, 4, { -1, -1, 4, 4 } },
        { "half2", 1, 4, { -1, 2, -1, 4 } },
        { "i3", 1, 4, { 1, 3, 4, 4 } },
        { "s", 1, 0, { 0 } },
        { "z", 1, 3, { 1, 8, 6 } },
        { "z2", 1, 2, { 3, 2 } },
        { "anyparts", 1, 2, { -1, 2 } },
        { "k", 7, 1, { 1 } },
        { "b", 9, 0, { 0 } },
        { "u", 2, 2, { 2, 3 } },
        { "k2", 7, 2, { 2, 3 } },
        { "i4", 7, 4, { 1, 2, 4, 4 } },
    };
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        message_inner(
            g, GRAPH_INPUT,
            onnx_value_message(inputs[i].name, inputs[i].type, inputs[i].rank, inputs[i].dims));
}

static message text_attribute(const char *name, const char *text, bool list)
{
    message m = { NULL, 0 };
    message_text(&m, 1, name);
    message_text(&m, list ? 9 : 4, text);
    return m;
}

static void add_attributes(message *node, const char *text)
{
    char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = NULL, *a = strtok_r(copy, " ", &rest); a; a = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(a, '=') + 1;
        value[-1] = 0;
        int64_t ints[16];
        int     n = 0;
        if (*value == '\'') {
            value[strlen(value) - 1] = 0;
            onnx_add_attribute(node, text_attribute(a, value + 1, strcmp(a, "activations") == 0));
        } else if (strchr(value, '.'))
            onnx_add_attribute(node, onnx_float_attribute(a, strtof(value, NULL)));
        else {
            for (char *p = value; *p && n < 16; p += *p == ',') ints[n++] = strtoll(p, &p, 10);
            const bool list = n > 1 || strcmp(a, "shape") == 0 || strcmp(a, "pool_int64s") == 0 ||
                              strncmp(a, "ngram_", 6) == 0;
            onnx_add_attribute(node, list ? onnx_ints_attribute(a, n, ints)
                                          : onnx_int_attribute(a, ints[0]));
        }
    }
}

static void of_operators(void)
{
    for (size_t i = 0; i < sizeof bad_nodes / sizeof *bad_nodes; i++) {
        message g = { NULL, 0 },
                node = onnx_node_message(bad_nodes[i].op, bad_nodes[i].inputs, "y");
        add_attributes(&node, bad_nodes[i].attributes);
        message_inner(&g, GRAPH_NODE, node);
        add_constants(&g);
        add_inputs(&g);
        message_inner(&g, GRAPH_OUTPUT, onnx_value_message("y", 1, -1, NULL));
        message     m = onnx_model_message(g, bad_nodes[i].opset);
        eddy_error  e = { 0 };
        eddy_graph *graph = eddy_graph_new();
        eddy_onnx_model *model =
            eddy_onnx_read(graph, .data = m.at, .data_size = m.size, .error = &e);
        ck_assert_msg(!model, "%s of %s was read", bad_nodes[i].op, bad_nodes[i].inputs);
        golden_error(&e);
        eddy_graph_free(graph);
        message_free(&m);
    }
}

START_TEST(operators)
{
    golden_begin("formats/onnx_operators");
    of_operators();
    golden_end();
}
END_TEST

START_TEST(messages)
{
    golden_begin("formats/onnx");
    of_files();
    of_models();
    of_nodes();
    golden_end();
}
END_TEST

Suite *onnx_damaged_suite(void)
{
    Suite *s = suite_create("onnx_damaged");
    TCase *t = tcase_create("bytes"), *slow = tcase_create("cases"),
          *words = tcase_create("messages");
    tcase_set_timeout(t, 120);
    tcase_set_timeout(slow, 1200);
    tcase_set_tags(slow, "slow");
    tcase_add_test(t, changed_bytes);
    tcase_add_test(t, computed_constants);
    tcase_add_test(t, files_fail);
    tcase_add_test(t, interrupted);
    tcase_add_test(t, memory_fails);
    tcase_add_test(slow, changed_cases);
    tcase_add_test(words, messages);
    tcase_add_test(words, operators);
    suite_add_tcase(s, t);
    suite_add_tcase(s, slow);
    suite_add_tcase(s, words);
    return s;
}
