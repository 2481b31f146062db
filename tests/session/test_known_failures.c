/* test_known_failures.c -- the vulnerabilities of TensorFlow that were published, as calls of Eddy:
 * a test for each, named after it. Each call is refused or has a defined result, with at most
 * 64 MiB; with EDDY_TIMED=1 also within 100 ms of the processor. Those of file formats are in
 * tests/graph/files and tests/formats (docs/inside/reliability.md lists them). */
#include "build/gen/suites.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/training_rows.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_BYTES = 1 << 26, MOST_MILLISECONDS = 100 };

static eddy_graph   *g;
static eddy_session *s;
static size_t        now, most;

/* Counts the bytes in use. */
static void *allocate(void *context, size_t size)
{
    (void)context;
    if (size > 4 * (size_t)MOST_BYTES) {
        most = size;
        return NULL;
    }
    now += size;
    if (now > most) most = now;
    return malloc(size);
}
static void release(void *context, void *p, size_t size)
{
    (void)context;
    now -= size;
    free(p);
}
static const eddy_allocator counting = { allocate, release, NULL };

static void begin(void)
{
    now = most = 0;
    g = eddy_graph_new(.allocator = &counting);
    s = eddy_session_new(g, .threads = 1, .max_bytes = MOST_BYTES);
}

static void end(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    ck_assert_uint_eq(now, 0);
    ck_assert_uint_le(most, MOST_BYTES);
}

/* An error with a sentence is on the graph; it is cleared. */
static void refused(void)
{
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    ck_assert_int_ne(eddy_graph_status(g), EDDY_INTERNAL);
    ck_assert_str_ne(eddy_graph_message(g), "");
    eddy_graph_clear_error(g);
}

/* Refused while it is built or run, or a value of at most some elements. */
static void is_safe(eddy_tensor y)
{
    eddy_array *out = NULL;
    if (eddy_graph_status(g) != EDDY_OK) {
        refused();
        return;
    }
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_LIST(y), &out);
    ck_assert_int_ne(status, EDDY_INTERNAL);
    if (status != EDDY_OK) ck_assert_str_ne(eddy_session_message(s), "");
    eddy_array_free(out);
}

static eddy_tensor ones(eddy_shape shape) { return eddy_ones(g, EDDY_FLOAT32, shape); }

/* ------------------------------------------------------------------ graph files -- */

/* A small model as text, for the caller to free with eddy_string_free. */
static char *model_text(void)
{
    eddy_graph       *m = eddy_graph_new();
    const eddy_tensor x = eddy_placeholder(m, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    const eddy_tensor w =
        eddy_variable(m, eddy_ones(m, EDDY_FLOAT32, EDDY_SHAPE(3, 4)), .name = "w");
    const eddy_tensor h = eddy_named("h", eddy_mul(eddy_matmul(x, w), eddy_scalar(m, 2)));
    eddy_reshape(h, EDDY_SHAPE(4, EDDY_ANY));
    eddy_conv2d(eddy_ones(m, EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 1)),
                eddy_ones(m, EDDY_FLOAT32, EDDY_SHAPE(2, 2, 1, 1)));
    eddy_concat(EDDY_LIST(h, h), 0);
    const eddy_tensor v = eddy_placeholder(m, "v", EDDY_FLOAT32, EDDY_SHAPE(1, 4, 4, 1));
    const eddy_tensor dy = eddy_placeholder(m, "dy", EDDY_FLOAT32, EDDY_SHAPE(1, 2, 2, 1));
    eddy_gradients(EDDY_LIST(eddy_avg_pool2d(v, EDDY_DIMS(2, 2), EDDY_DIMS(2, 2))), EDDY_LIST(v),
                   (eddy_tensor[1]){ EDDY_ZERO_TENSOR }, .grad_ys = EDDY_LIST(dy));
    char *text = eddy_graph_to_yaml(m);
    ck_assert_ptr_nonnull(text);
    eddy_graph_free(m);
    return text;
}

/* The text with its k-th `what` replaced; NULL if there are fewer. */
static char *with(const char *text, const char *what, int k, const char *by)
{
    const char *at = strstr(text, what);
    for (; at && k > 0; k--) at = strstr(at + 1, what);
    if (!at) return NULL;
    const size_t before = (size_t)(at - text);
    char *y = malloc(strlen(text) + strlen(by) + 1);
    sprintf(y, "%.*s%s%s", (int)before, text, by, at + strlen(what));
    return y;
}

/* A file that is refused, or whose graph does not crash in any pass; whether it was refused. */
static bool reads(const char *text)
{
    eddy_error  e = { 0 };
    eddy_graph *m = eddy_graph_load(.text = text, .error = &e, .allocator = &counting);
    if (!m) {
        ck_assert_str_ne(e.message, "");
        ck_assert_int_ne(e.status, EDDY_INTERNAL);
        return true;
    }
    eddy_session *run = eddy_session_new(m, .threads = 1, .max_bytes = MOST_BYTES);
    for (int32_t id = 1; id <= eddy_graph_size(m); id++)
        ck_assert_int_ne(eddy_prepare(run, EDDY_FEED(), EDDY_LIST(eddy_node_at(m, id))),
                         EDDY_INTERNAL);
    eddy_session_free(run);
    eddy_graph_free(m);
    return false;
}

/* All places of `what` replaced, one at a time; each must be refused. */
static void all_refused(const char *what, const char *by)
{
    char *text = model_text();
    int   n = 0;
    for (char *bad; (bad = with(text, what, n, by)); n++) {
        ck_assert_msg(reads(bad), "place %d of %s", n, what);
        free(bad);
    }
    ck_assert_int_gt(n, 0);
    eddy_string_free(text);
}

static void cve_2022_23589_missing_input_node(void)
{
    all_refused("inputs: [\"", "inputs: [\"absent:0\", \"");
    all_refused("MatMul:0", "absent:0");
    all_refused("x:0", "");
}

static void cve_2022_23583_changed_element_type(void)
{
    all_refused("outputs: [\"float32", "outputs: [\"int32");
    all_refused("outputs: [\"float32", "outputs: [\"float99");
}

static void cve_2022_23591_recursion(void)
{
    all_refused("x:0", "MatMul:0");          /* of itself */
    all_refused("MatMul:0", "h:0");          /* of the node that reads it */
    all_refused("x:0", "ConcatV2:0");        /* through others */
    eddy_tensor t = ones(EDDY_SHAPE(1));
    for (int i = 0; i < 20000; i++) t = eddy_neg(t);
    runs(s, t);
}

static void cve_2022_23594_damaged_graph(void)
{
    char *text = model_text();
    for (char *at = text; *at; at = strchr(at, '\n') + 1) {      /* a line less */
        const char *next = strchr(at, '\n') + 1;
        char       *bad = malloc(strlen(text) + 1);
        sprintf(bad, "%.*s%s", (int)(at - text), text, next);
        reads(bad);
        free(bad);
    }
    eddy_string_free(text);
}

static void cve_2021_37651_gradient_of_pooling(void)
{
    all_refused("dy:0", "x:0"), all_refused("dy:0", "v:0");
}

static void cve_2021_41217_exit_without_enter(void)
{
    all_refused("op: Mul", "op: Exit");
    all_refused("op: Mul", "op: NextIteration");
    all_refused("op: Mul", "op: Loop");
    all_refused("op: Mul", "op: Case");
}

static void cve_2020_26271_output_out_of_range(void)
{
    static const char *const others[] = { "x:1", "x:-1", "x:2147483648", "x:4294967296", "x:" };
    for (int i = 0; i < 5; i++) all_refused("x:0", others[i]);
    const eddy_tensor x = ones(EDDY_SHAPE(2));
    const int         outputs[] = { -1, 1, INT_MAX, INT_MIN };
    for (int i = 0; i < 4; i++) {
        ck_assert(!eddy_is_valid(eddy_output(x, outputs[i])));
        eddy_neg((eddy_tensor){ g, x.node, outputs[i] });
        refused();
    }
}

/* -------------------------------------------------------------- shapes and sizes -- */

static void cve_2022_23582_partial_shape(void)
{
    const eddy_shape shapes[] = { EDDY_SHAPE(-1, 2), EDDY_SHAPE(-2), EDDY_SHAPE(INT64_MAX, 3),
                                  EDDY_SHAPE((int64_t)1 << 32, (int64_t)1 << 32, 2) };
    for (int i = 0; i < 4; i++) {
        eddy_const(g, EDDY_FLOAT32, shapes[i], NULL);
        refused();
        is_safe(eddy_zeros(g, EDDY_FLOAT32, shapes[i]));
        is_safe(eddy_placeholder(g, NULL, EDDY_FLOAT32, shapes[i]));
        is_safe(eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, shapes[i])));
    }
}

static void cve_2022_23581_reshape(void)
{
    const eddy_tensor x = eddy_neg(ones(EDDY_SHAPE(2, 3)));
    const eddy_shape  shapes[] = { EDDY_SHAPE(-1, -1), EDDY_SHAPE(4), EDDY_SHAPE(0, -1),
                                   EDDY_SHAPE(-1, 4), EDDY_SHAPE(-3, 2) };
    for (int i = 0; i < 5; i++) {
        eddy_reshape(x, shapes[i]);
        refused();
        is_safe(eddy_reshape_to(x, eddy_const(g, EDDY_INT64, EDDY_SHAPE(shapes[i].rank),
                                              shapes[i].dim)));
    }
}

static void cve_2022_23588_element_types(void)
{
    const int types[] = { -1, EDDY_DTYPES, EDDY_DTYPES + 1, 100, 101, INT_MAX, INT_MIN };
    for (int i = 0; i < 7; i++) {
        eddy_cast(ones(EDDY_SHAPE(2)), (eddy_dtype)types[i]);
        refused();
        eddy_placeholder(g, NULL, (eddy_dtype)types[i], EDDY_SHAPE(2));
        refused();
    }
    for (int d = EDDY_FLOAT32; d < EDDY_DTYPES; d++)     /* through the passes */
        is_safe(eddy_mul(eddy_cast(ones(EDDY_SHAPE(2)), (eddy_dtype)d),
                         eddy_ones(g, (eddy_dtype)d, EDDY_SHAPE(1))));
}

static void cve_2022_23590_failing_pass(void)
{
    failing_allocator f;
    failing_allocator_init(&f);
    for (long at = 1; at < 5000; at++) {
        f.at = 0;
        eddy_graph       *m = eddy_graph_new(.allocator = &f.table);
        const eddy_tensor x = eddy_ones(m, EDDY_FLOAT32, EDDY_SHAPE(2, 2));
        const eddy_tensor y = eddy_softmax(eddy_relu(eddy_add(eddy_matmul(x, x), x)));
        eddy_session     *run = eddy_session_new(m, .threads = 1);
        f.calls = 0;
        f.at = at;
        const eddy_status status = eddy_run(run, EDDY_FEED(), EDDY_LIST(y), NULL);
        f.at = 0;
        eddy_session_free(run);
        eddy_graph_free(m);
        ck_assert(status == EDDY_OK || status == EDDY_NO_MEMORY);
        if (f.calls < at) return;
    }
    ck_abort_msg("it never has enough memory");
}

static void cve_2022_21725_stride_of_zero(void)
{
    const eddy_tensor x = ones(EDDY_SHAPE(1, 4, 4, 1)), w = ones(EDDY_SHAPE(2, 2, 1, 1));
    const int64_t     bad[] = { 0, -1, INT_MIN, INT64_MIN };
    for (int i = 0; i < 4; i++) {
        eddy_conv2d(x, w, .strides = EDDY_DIMS(bad[i], 1)), refused();
        eddy_conv2d(x, w, .dilations = EDDY_DIMS(bad[i], 1)), refused();
        eddy_max_pool2d(x, EDDY_DIMS(2, 2), EDDY_DIMS(bad[i], 1)), refused();
        eddy_max_pool2d(x, EDDY_DIMS(bad[i], 2), EDDY_DIMS(1, 1)), refused();
        eddy_space_to_depth(x, bad[i]), refused();
    }
}

static void cve_2022_21737_sizes_of_arguments(void)
{
    const eddy_tensor values = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(3));
    eddy_bincount(values, 4, .weights = ones(EDDY_SHAPE(2)));
    refused();
    eddy_bincount(values, -1);
    refused();
    is_safe(eddy_bincount(values, INT64_MAX));
}

static void cve_2022_21738_overflow_of_sizes(void)
{
    const int64_t    k = (int64_t)1 << 31;
    const eddy_shape shapes[] = { EDDY_SHAPE(k, k, 4), EDDY_SHAPE(k, k, 2, 2),
                                  EDDY_SHAPE(((int64_t)1 << 47) + 1, 8), EDDY_SHAPE(INT64_MAX) };
    for (int i = 0; i < 4; i++) {
        is_safe(eddy_zeros(g, EDDY_FLOAT64, shapes[i]));
        is_safe(eddy_broadcast_to(ones(EDDY_SHAPE(1)), shapes[i]));
        ck_assert_ptr_null(eddy_array_new(EDDY_FLOAT64, shapes[i]));
    }
}

static void cve_2022_41884_zero_and_huge(void)
{
    const int64_t    k = (int64_t)1 << 40;
    const eddy_shape shape = EDDY_SHAPE(0, k, k);
    is_safe(eddy_zeros(g, EDDY_FLOAT32, shape));
    is_safe(eddy_placeholder(g, NULL, EDDY_FLOAT32, shape));
    eddy_array_free(eddy_array_new(EDDY_FLOAT32, shape));
}

/* Each optimizer and wrapper; those of the table need three variables. */
static void cve_2022_41899_rank_in_optimizer(void)
{
    const eddy_tensor w = eddy_variable(g, ones(EDDY_SHAPE(2, 2)));
    eddy_variable(g, ones(EDDY_SHAPE(2)));
    eddy_variable(g, ones(EDDY_SHAPE(2, 2)));
    const training_problem p = { .g = g, .rate = eddy_scalar(g, 0.1),
                                 .step = eddy_create_global_step(g) };
    const eddy_tensor wrong[] = { ones(EDDY_SHAPE(2)), ones(EDDY_SHAPE(2, 2, 2)),
                                  ones(EDDY_SHAPE(3, 2)), eddy_scalar(g, 1),
                                  eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(2, 2)) };
    for (int i = 0; i < TRAINING_ROWS; i++) {
        eddy_optimizer *o = training_rows[i].make(&p);
        ck_assert_msg(o != NULL, "%s: %s", training_rows[i].name, eddy_graph_message(g));
        for (int k = 0; k < 5; k++) {
            eddy_apply_gradients(o, &(eddy_gradient_pair){ wrong[k], w }, 1);
            refused();
        }
    }
}

static void cve_2021_41207_empty_concat(void)
{
    ck_assert(!eddy_is_valid(eddy_concat(EDDY_LIST(), 0)));
    is_safe(eddy_concat(EDDY_LIST(ones(EDDY_SHAPE(0, 2)), ones(EDDY_SHAPE(0, 2))), 0));
    is_safe(eddy_concat(EDDY_LIST(ones(EDDY_SHAPE(2, 0)), ones(EDDY_SHAPE(2, 0))), 0));
    is_safe(eddy_split(ones(EDDY_SHAPE(0)), 1));
}

/* One dimension of the images or of the filter after the other is 0. */
static void cve_2021_41209_empty_filter(void)
{
    for (int i = 0; i < 8; i++) {
        eddy_shape x = EDDY_SHAPE(1, 3, 3, 2), w = EDDY_SHAPE(2, 2, 2, 2);
        (i < 4 ? x.dim : w.dim)[i % 4] = 0;
        if (i == 3) w.dim[2] = 0;
        if (i == 6) x.dim[3] = 0;
        const eddy_tensor images = ones(x), filter = ones(w);
        const eddy_tensor y = eddy_conv2d(images, filter);
        eddy_tensor       dx[2] = { EDDY_ZERO_TENSOR };
        is_safe(y);
        eddy_graph_clear_error(g);
        if (!eddy_is_valid(y)) continue;
        eddy_gradients(EDDY_LIST(y), EDDY_LIST(images, filter), dx);
        is_safe(dx[0]);
        is_safe(dx[1]);
    }
}

static void cve_2021_29525_gradient_of_other_shape(void)
{
    const eddy_tensor x = ones(EDDY_SHAPE(1, 4, 4, 1)), w = ones(EDDY_SHAPE(2, 2, 1, 1));
    const eddy_shape  shapes[] = { EDDY_SHAPE(1, 0, 0, 1), EDDY_SHAPE(1, 9, 9, 1), EDDY_SHAPE(1, 3),
                                   EDDY_SHAPE(2, 3, 3, 1), EDDY_SHAPE(1, 3, 3, 0) };
    for (int i = 0; i < 5; i++) {
        eddy_conv2d_backprop_input(x, w, ones(shapes[i]));
        refused();
        eddy_conv2d_backprop_filter(x, w, ones(shapes[i]));
        refused();
    }
}

static void cve_2021_29602_no_channels(void)
{
    const eddy_tensor x = ones(EDDY_SHAPE(1, 4, 4, 0)), w = ones(EDDY_SHAPE(2, 2, 0, 1));
    is_safe(eddy_depthwise_conv2d(x, w));
    is_safe(eddy_depthwise_conv2d(ones(EDDY_SHAPE(1, 4, 4, 2)), ones(EDDY_SHAPE(2, 2, 2, 0))));
    eddy_space_to_depth(ones(EDDY_SHAPE(1, 4, 4, 1)), 0);
    refused();
    eddy_depth_to_space(ones(EDDY_SHAPE(1, 4, 4, 1)), 0);
    refused();
    is_safe(eddy_space_to_depth(ones(EDDY_SHAPE(1, 0, 4, 1)), 2));
}

static void cve_2021_41219_product_of_nothing(void)
{
    for (int i = 0; i < 8; i++) {
        const int64_t     m = i & 1, n = i >> 1 & 1, k = i >> 2 & 1;
        const eddy_tensor y = eddy_matmul(ones(EDDY_SHAPE(m, k)), ones(EDDY_SHAPE(k, n)));
        eddy_array       *out = eddy_fetch(s, y);
        ck_assert_ptr_nonnull(out);
        ck_assert_int_eq(eddy_array_count(out), m * n);
        if (m && n) ck_assert(eddy_array_item(out) == (double)k);
        eddy_array_free(out);
    }
}

static void cve_2019_16778_more_than_32_bits(void)
{
    const int64_t     k = (int64_t)1 << 31, sizes[] = { k - 1, k, k + 1, 2 * k + 1 };
    const eddy_tensor x = ones(EDDY_SHAPE(2)), ids = eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(2));
    for (int i = 0; i < 4; i++) {
        is_safe(eddy_unsorted_segment_sum(x, ids, sizes[i]));
        is_safe(eddy_one_hot(ids, sizes[i]));
        is_safe(eddy_broadcast_to(x, EDDY_SHAPE(sizes[i], 2)));
        is_safe(eddy_gather(x, eddy_const(g, EDDY_INT64, EDDY_SHAPE(1), &sizes[i])));
        is_safe(eddy_tile(x, EDDY_DIMS(sizes[i])));
    }
}

/* ---------------------------------------------------------------------- others -- */

static void cve_2021_41203_damaged_checkpoint(void)
{
#define V "\"v\":{\"dtype\":\"F32\",\"shape\":[2]"
    static const char *const headers[] = {
        "{" V ",\"data_offsets\":[0,18446744073709551615]}}",        /* extent_end_overflow */
        "{" V ",\"data_offsets\":[-8,0]}}",                          /* negative_extent_start */
        "{\"v\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,8]}}",
        "{" V ",\"data_offsets\":[0,8]}}",                           /* missing_tensor_data */
        "{" V ",\"data_offsets\":[0]}}",                             /* missing_extent_length */
        "{\"v\":{\"shape\":[2],\"data_offsets\":[0,8]}}",            /* missing_tensor_type */
        "{\"v\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}",
        "{\"v\":{\"dtype\":\"Q99\",\"shape\":[2],\"data_offsets\":[0,8]}}" };
#undef V
    eddy_tensor v = eddy_variable(g, ones(EDDY_SHAPE(2)), .name = "v");
    runs(s, eddy_initializer(g));
    for (int i = 0; i < 8; i++) {
        char         bytes[200] = { 0 };
        const size_t n = strlen(headers[i]);
        memory_files m;
        eddy_error   e = { 0 };
        memory_files_init(&m);
        memcpy(bytes, &(uint64_t){ n }, 8);
        memcpy(bytes + 8, headers[i], n);
        memory_files_put(&m, "f", bytes, 8 + n + (i == 3 ? 4 : 8));
        eddy_checkpoint *c = eddy_checkpoint_open("f", .files = &m.table, .error = &e);
        ck_assert(c ? !eddy_checkpoint_value(c, "v", &e) : true);
        ck_assert_int_ne(e.status, EDDY_OK);
        if (c) ck_assert_int_ne(eddy_restore_checkpoint(s, .checkpoint = c), EDDY_OK);
        eddy_checkpoint_free(c);
        memory_files_free(&m);
    }
    has(s, v, 2, (double[]){ 1, 1 });
}

static void tfsa_2020_013_format_strings(void)
{
    static const char text[] = "%n%s%n%s%1000000s";
    eddy_error        e = { 0 };
    eddy_graph_tensor(g, text), refused();
    eddy_graph_operation(g, text), refused();
    eddy_named(text, eddy_scalar(g, 1)), refused();
    eddy_placeholder(g, text, EDDY_FLOAT32, EDDY_SHAPE(2)), refused();
    eddy_einsum(text, EDDY_LIST(ones(EDDY_SHAPE(2)))), refused();
    eddy_conv2d(ones(EDDY_SHAPE(1, 4, 4, 1)), ones(EDDY_SHAPE(2, 2, 1, 1)), .padding = text);
    refused();
    eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s", text);
    ck_assert_str_eq(eddy_graph_message(g), text);
    eddy_graph_clear_error(g);
    ck_assert_ptr_null(eddy_graph_load(.text = text, .error = &e));
    ck_assert_int_ne(eddy_restore(s, text, EDDY_LIST()), EDDY_OK);
    ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "%n%s"));
}

/* A cast to integers and eddy_array_set agree; computed in a run and while it is compiled, in rows
 * and in the last elements of a row. */
static void casts_agree(eddy_dtype from, eddy_dtype to)
{
    enum { N = 75, VALUES = 25 };
    static const double v[VALUES] = {
        (double)NAN, (double)INFINITY, -(double)INFINITY, 1e30, -1e30, 0x1p31, -0x1p31 - 1,
        0x1p31 - 1, -0x1p31, 0x1p63, -0x1p63, 0x1p64, -0x1p64, 256, 255, 255.5, -1, -0.9, 0.9,
        1e-300, 2147483647.5, 65504, 1e308, -1e308, 3.7
    };
    eddy_array *in = eddy_array_new(from, EDDY_SHAPE(N)), *want = eddy_array_new(to, EDDY_SHAPE(N));
    eddy_array *out[2] = { NULL };
    for (int i = 0; i < N; i++) {
        eddy_array_set(in, i, v[i % VALUES]);
        eddy_array_set(want, i, eddy_array_get(in, i));
    }
    const eddy_tensor fed = eddy_placeholder(g, NULL, from, EDDY_SHAPE(N));
    const eddy_tensor constant = eddy_const(g, from, EDDY_SHAPE(N), eddy_array_data(in));
    const eddy_list   y = EDDY_LIST(eddy_cast(fed, to), eddy_cast(constant, to));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ fed, in }), y, out), EDDY_OK);
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(eddy_array_equal(out[k], want), "%s to %s", eddy_dtype_name(from),
                      eddy_dtype_name(to));
        eddy_array_free(out[k]);
    }
    eddy_array_free(want);
    eddy_array_free(in);
}

/* Toward 0, clamped to the limits; NaN is 0. */
static void tfsa_2020_028_casts(void)
{
    static const eddy_dtype from[] = { EDDY_FLOAT64, EDDY_FLOAT32, EDDY_FLOAT16, EDDY_BFLOAT16,
                                       EDDY_COMPLEX64, EDDY_COMPLEX128 };
    static const eddy_dtype to[] = { EDDY_INT32, EDDY_INT64, EDDY_UINT8, EDDY_BOOL };
    const double      values[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, 1e30, -1e30 };
    const eddy_tensor x = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(5), values);
    has(s, eddy_cast(x, EDDY_INT32), 5,
        (double[]){ 0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN });
    has(s, eddy_cast(x, EDDY_UINT8), 5, (double[]){ 0, 255, 0, 255, 0 });
    has(s, eddy_cast(x, EDDY_INT64), 5,
        (double[]){ 0, (double)INT64_MAX, (double)INT64_MIN, (double)INT64_MAX,
                    (double)INT64_MIN });
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 4; k++) casts_agree(from[i], to[k]);
}

/* Handles that were freed, gradients of another shape, restoring into another shape. */
static void cve_2021_37690_freed_handles(void)
{
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor x = eddy_scalar(other, 1);
    eddy_session     *run = eddy_session_new(other);
    eddy_graph_free(other);
    ck_assert(!eddy_is_valid(x));
    eddy_add(x, eddy_scalar(g, 1));
    refused();
    eddy_concat(EDDY_LIST(x, eddy_scalar(g, 1)), 0);
    refused();
    ck_assert_int_eq(eddy_run(run, EDDY_FEED(), EDDY_LIST(x), NULL), EDDY_CLOSED);
    eddy_session_free(run);
    eddy_session_free(run);
    ck_assert_int_ne(eddy_run(run, EDDY_FEED(), EDDY_LIST(x), NULL), EDDY_OK);
    eddy_graph_free(other);
}

static void cve_2021_37639_restore_of_another_shape(void)
{
    memory_files m;
    memory_files_init(&m);
    eddy_graph   *a = eddy_graph_new(.files = &m.table), *b = eddy_graph_new(.files = &m.table);
    eddy_session *sa = eddy_session_new(a), *sb = eddy_session_new(b);
    eddy_variable(a, eddy_ones(a, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    eddy_tensor v = eddy_variable(b, eddy_ones(b, EDDY_FLOAT32, EDDY_SHAPE(1000)), .name = "v");
    runs(sa, eddy_initializer(a));
    runs(sb, eddy_initializer(b));
    ck_assert_int_eq(eddy_save(sa, "f", EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_restore(sb, "f", EDDY_LIST()), EDDY_BAD_SHAPE);
    ck_assert(number(sb, eddy_sum(v)) == 1000);
    eddy_session_free(sa);
    eddy_session_free(sb);
    eddy_graph_free(a);
    eddy_graph_free(b);
    memory_files_free(&m);
}

#define ROW(name) { #name, name }
static const struct { const char *name; void (*test)(void); } rows[] = {
    ROW(cve_2022_23589_missing_input_node), ROW(cve_2022_23583_changed_element_type),
    ROW(cve_2022_23582_partial_shape), ROW(cve_2022_23581_reshape),
    ROW(cve_2022_23588_element_types), ROW(cve_2022_23590_failing_pass),
    ROW(cve_2022_23591_recursion), ROW(cve_2022_23594_damaged_graph),
    ROW(cve_2022_21725_stride_of_zero), ROW(cve_2022_21737_sizes_of_arguments),
    ROW(cve_2022_21738_overflow_of_sizes), ROW(cve_2022_41884_zero_and_huge),
    ROW(cve_2022_41899_rank_in_optimizer), ROW(cve_2021_41207_empty_concat),
    ROW(cve_2021_41209_empty_filter), ROW(cve_2021_29525_gradient_of_other_shape),
    ROW(cve_2021_29602_no_channels), ROW(cve_2021_41217_exit_without_enter),
    ROW(cve_2021_41219_product_of_nothing), ROW(cve_2021_41203_damaged_checkpoint),
    ROW(cve_2020_26271_output_out_of_range), ROW(cve_2019_16778_more_than_32_bits),
    ROW(tfsa_2020_013_format_strings), ROW(tfsa_2020_028_casts),
    ROW(cve_2021_37690_freed_handles), ROW(cve_2021_37651_gradient_of_pooling),
    ROW(cve_2021_37639_restore_of_another_shape),
};
enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(known)
{
    const clock_t start = clock();
    rows[_i].test();
    const double took = 1e3 * (double)(clock() - start) / CLOCKS_PER_SEC;
    if (!getenv("EDDY_TIMED")) return;
    printf("%-45s %7.1f ms %9zu bytes\n", rows[_i].name, took, most);
    fflush(stdout);
    ck_assert_msg(took <= MOST_MILLISECONDS, "%s takes %.0f ms", rows[_i].name, took);
}
END_TEST

Suite *known_failures_suite(void)
{
    Suite *suite = suite_create("known_failures");
    TCase *c = tcase_create("tensorflow");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, known, 0, ROWS);
    suite_add_tcase(suite, c);
    return suite;
}
