/* test_packed_operands.c -- constant operands packed once: the bits of products and convolutions
 * that pack in each run, memory shared by plans and freed with them, limits, and no memory. */
#include "graph/base/cpu.h"
#include "ops/kernels/bfloat16_pairs.h"
#include "ops/kernels/convolution/conv.h"
#include "session/compile/packed_operands.h"
#include "tests/lib/session_fixture.h"

#include <math.h>
#include <stdlib.h>

Suite *packed_operands_suite(void);

/* ---------------------------------------------------------------------- bits -- */

/* What is computed with w constant and with w fed. */
typedef struct subject {
    const char *title;
    eddy_shape  x, w;
    eddy_dtype  dtype;
    eddy_tensor (*build)(eddy_tensor x, eddy_tensor w);
    bool        keeps;              /* a packed operand, if there is a kernel that packs */
} subject;

static eddy_tensor same(eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d(x, w, .padding = "SAME");
}
static eddy_tensor strided(eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d(x, w, EDDY_DIMS(2, 3), .padding = "SAME");
}
static eddy_tensor padded(eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d(x, w, .explicit_paddings = EDDY_DIMS(1, 0, 2, 1));
}
static eddy_tensor planes(eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d(x, w, .data_format = "NCHW");
}
static eddy_tensor backward(eddy_tensor x, eddy_tensor w) { return eddy_conv2d_transpose(x, w); }
static eddy_tensor backward_2(eddy_tensor x, eddy_tensor w)
{
    return eddy_conv2d_transpose(x, w, .strides = EDDY_DIMS(2));
}

/* Bias, residual and relu, which become part of the operation. */
static eddy_tensor finished(eddy_tensor y)
{
    const eddy_shape  to = eddy_shape_of(y);
    const eddy_dtype  d = eddy_dtype_of(y);
    const eddy_tensor a = eddy_number(y.graph, d, -1), b = eddy_number(y.graph, d, 1);
    const eddy_tensor residual = eddy_reshape(eddy_linspace(b, a, eddy_shape_count(to)), to);
    return eddy_relu(Add(eddy_bias_add(y, eddy_linspace(a, b, to.dim[to.rank - 1])), residual));
}
static eddy_tensor finished_conv(eddy_tensor x, eddy_tensor w) { return finished(same(x, w)); }
static eddy_tensor finished_strided(eddy_tensor x, eddy_tensor w)
{
    return finished(strided(x, w));
}
static eddy_tensor product(eddy_tensor x, eddy_tensor w) { return eddy_matmul(x, w); }
static eddy_tensor turned(eddy_tensor x, eddy_tensor w)
{
    return eddy_matmul(x, w, .transpose_b = true);
}
static eddy_tensor finished_product(eddy_tensor x, eddy_tensor w)
{
    return finished(eddy_matmul(x, w));
}

static const subject subjects[] = {
    { "1x1", { 4, { 3, 9, 7, 20 } }, { 4, { 1, 1, 20, 37 } }, EDDY_FLOAT32,
      same, true },
    { "1x1, finished", { 4, { 2, 8, 5, 70 } }, { 4, { 1, 1, 70, 40 } }, EDDY_FLOAT32,
      finished_conv, true },
    { "1x1, strides", { 4, { 2, 8, 7, 17 } }, { 4, { 1, 1, 17, 64 } }, EDDY_FLOAT32,
      finished_strided, true },
    { "1x1, padded", { 4, { 2, 8, 7, 17 } }, { 4, { 1, 1, 17, 64 } }, EDDY_FLOAT32,
      padded, true },
    { "1x1, one channel", { 4, { 2, 8, 7, 17 } }, { 4, { 1, 1, 17, 1 } }, EDDY_FLOAT32,
      same, true },
    { "1x1, long", { 4, { 1, 6, 6, 900 } }, { 4, { 1, 1, 900, 33 } }, EDDY_FLOAT32,
      same, true },
    { "3x3, direct", { 4, { 1, 3, 3, 5 } }, { 4, { 3, 3, 5, 40 } }, EDDY_FLOAT32,
      finished_conv, true },
    { "3x3, minimal", { 4, { 2, 16, 17, 20 } }, { 4, { 3, 3, 20, 37 } }, EDDY_FLOAT32,
      finished_conv, true },
    { "5x5, minimal", { 4, { 2, 16, 16, 24 } }, { 4, { 5, 5, 24, 16 } }, EDDY_FLOAT32,
      same, true },
    { "7x7, strides", { 4, { 1, 23, 20, 3 } }, { 4, { 7, 7, 3, 20 } }, EDDY_FLOAT32,
      strided, true },
    { "groups", { 4, { 2, 9, 9, 24 } }, { 4, { 3, 3, 8, 18 } }, EDDY_FLOAT32,
      same, true },
    { "planes", { 4, { 2, 6, 9, 9 } }, { 4, { 3, 3, 6, 18 } }, EDDY_FLOAT32,
      planes, true },
    { "float64", { 4, { 2, 9, 9, 6 } }, { 4, { 3, 3, 6, 18 } }, EDDY_FLOAT64,
      finished_conv, true },
    { "bfloat16", { 4, { 2, 9, 9, 6 } }, { 4, { 3, 3, 6, 18 } }, EDDY_BFLOAT16,
      same, true },
    { "backward", { 4, { 2, 4, 4, 6 } }, { 4, { 3, 3, 18, 6 } }, EDDY_FLOAT32,
      backward, true },
    { "backward, minimal", { 4, { 2, 16, 16, 20 } }, { 4, { 3, 3, 20, 20 } }, EDDY_FLOAT32,
      backward, false },
    { "backward, strides", { 4, { 2, 9, 9, 6 } }, { 4, { 3, 3, 18, 6 } }, EDDY_FLOAT32,
      backward_2, false },
    { "no images", { 4, { 0, 9, 9, 6 } }, { 4, { 3, 3, 6, 18 } }, EDDY_FLOAT32,
      same, false },
    { "few rows", { 2, { 5, 700 } }, { 2, { 700, 70 } }, EDDY_FLOAT32,
      product, false },
    { "many rows", { 2, { 200, 70 } }, { 2, { 70, 300 } }, EDDY_FLOAT32,
      finished_product, true },
    { "blocks", { 2, { 40, 1000 } }, { 2, { 1000, 700 } }, EDDY_FLOAT32,
      product, true },
    { "blocks of whole steps", { 2, { 50, 768 } }, { 2, { 768, 100 } }, EDDY_FLOAT32,
      product, true },
    { "transposed", { 2, { 100, 500 } }, { 2, { 90, 500 } }, EDDY_FLOAT32,
      turned, false },
    { "a batch", { 3, { 3, 8, 64 } }, { 2, { 64, 80 } }, EDDY_FLOAT32,
      product, true },
    { "one row", { 2, { 1, 64 } }, { 2, { 64, 80 } }, EDDY_FLOAT32,
      product, false },
    { "one row of whole panels", { 2, { 1, 64 } }, { 2, { 64, 128 } }, EDDY_FLOAT32,
      product, true },
    { "one row of many panels", { 2, { 1, 1001 } }, { 2, { 1001, 250 } }, EDDY_FLOAT32,
      product, true },
    { "float64 product", { 2, { 9, 64 } }, { 2, { 64, 80 } }, EDDY_FLOAT64,
      product, false },
    { "bfloat16 product", { 2, { 40, 64 } }, { 2, { 64, 80 } }, EDDY_BFLOAT16,
      product, true },
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, LEVELS = EDDY_AVX512 + 1 };

static eddy_array *numbers(eddy_dtype d, eddy_shape shape, int seed)
{
    eddy_array *a = eddy_array_new(d, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * 7 + seed * 13 + 1)));
    return a;
}

static eddy_tensor constant(const eddy_array *a)
{
    return eddy_const(g, eddy_array_dtype(a), eddy_array_shape(a), eddy_array_data(a));
}

static size_t packed_bytes(const eddy_session *session) { return session->packed_bytes; }

static bool has_tiles(void) { return eddy__instructions_used() > EDDY_BASELINE; }

/* Whether the processor has a kernel that packs: BLAS packs by itself, and bfloat16 is cast to
 * float32 in each run if there are no instructions for it. */
static bool has_kernel(const subject *t)
{
    const bool conv = t->x.rank == 4;
    if (t->dtype != EDDY_BFLOAT16) return conv || has_tiles();
    return conv ? eddy__conv_has_pairs(t->w.dim[2])
                : eddy__product_has_pairs(t->x.dim[0], t->w.dim[1], t->w.dim[0]);
}

/* A run in a session of its own gives the same bits for both, and keeps operands or not. */
static void check(const subject *t, eddy_session *session, eddy_feeds feeds, eddy_list both,
                  bool keeps)
{
    eddy_array *out[2] = { NULL };
    eddy_run(session, feeds, both, out);
    ck_assert_msg(eddy_session_status(session) == EDDY_OK, "%s", eddy_session_message(session));
    ck_assert_msg(eddy_array_equal(out[0], out[1]), "%s: other values", t->title);
    ck_assert_msg((packed_bytes(session) > 0) == keeps, "%s: %zu bytes", t->title,
                  packed_bytes(session));
    eddy_array_free(out[0]), eddy_array_free(out[1]);
    eddy_session_free(session);
}

START_TEST(same_bits)
{
    const subject    *t = &subjects[_i / LEVELS];
    eddy_array       *x = numbers(t->dtype, t->x, 1), *w = numbers(t->dtype, t->w, 2);
    const eddy_tensor in[] = { eddy_placeholder(g, "x", t->dtype, t->x),
                               eddy_placeholder(g, "w", t->dtype, t->w) };
    const eddy_tensor y[] = { t->build(in[0], constant(w)), t->build(in[0], in[1]) };
    const eddy_feeds  feeds = EDDY_FEED({ in[0], x }, { in[1], w });
    const eddy_list   both = { 2, y };
    eddy__instructions_limit((eddy_instructions)(_i % LEVELS));
    const bool keeps = t->keeps && has_kernel(t);
    fits(g);
    for (int threads = 1; threads < 4; threads += 2)
        check(t, eddy_session_new(g, .threads = threads), feeds, both, keeps);
    check(t, eddy_session_new(g, .without = EDDY_PASS_HOIST), feeds, both, false);
    check(t, eddy_session_new(g, .max_bytes = (size_t)1 << 30), feeds, both, false);
    eddy__instructions_limit(EDDY_AVX512);
    eddy_array_free(x), eddy_array_free(w);
}
END_TEST

/* A product of matrices in the place of direct sums for 1x1. */
START_TEST(as_direct_sums)
{
    const subject    *t = &subjects[_i];
    eddy_array       *x = numbers(t->dtype, t->x, 1), *w = numbers(t->dtype, t->w, 2);
    eddy_array       *out[2] = { NULL };
    const eddy_tensor in = eddy_placeholder(g, "x", t->dtype, t->x);
    const eddy_tensor y = t->build(in, constant(w));
    fits(g);
    for (int i = 0; i < 2; i++) {
        eddy_session *session = eddy_session_new(g);
        eddy__conv_method_ask(i ? EDDY_CONV_DIRECT : EDDY_CONV_BY_RULE);
        eddy_run(session, EDDY_FEED({ in, x }), EDDY_FETCH(y), &out[i]);
        eddy__conv_method_ask(EDDY_CONV_BY_RULE);
        ck_assert_msg(eddy_session_status(session) == EDDY_OK, "%s", eddy_session_message(session));
        eddy_session_free(session);
    }
    ck_assert_msg(eddy_array_equal(out[0], out[1]), "%s: other values", t->title);
    eddy_array_free(out[0]), eddy_array_free(out[1]), eddy_array_free(x), eddy_array_free(w);
}
END_TEST

/* -------------------------------------------------------------------- memory -- */

typedef struct rows {
    eddy_tensor x, y;
} rows;

/* Rows times a constant matrix [64,80]. */
static rows many_rows(void)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 64));
    eddy_array       *w = numbers(EDDY_FLOAT32, EDDY_SHAPE(64, 80), 2);
    const rows        r = { x, eddy_matmul(x, constant(w)) };
    eddy_array_free(w);
    fits(g);
    return r;
}

enum { PACKED = 64 * 96 * sizeof(float) };      /* columns fill panels of 16 or 32 */

static eddy_status run_rows(eddy_session *session, rows r, int64_t n)
{
    eddy_array       *x = numbers(EDDY_FLOAT32, EDDY_SHAPE(n, 64), 1);
    const eddy_status status = eddy_run(session, EDDY_FEED({ r.x, x }), EDDY_FETCH(r.y), NULL);
    eddy_array_free(x);
    return status;
}

/* Plans for other numbers of rows read the same packed operand, which a session reports. */
START_TEST(shared_by_plans)
{
    const rows r = many_rows();
    for (int64_t n = 20; n < 25; n++) {
        ck_assert_int_eq(run_rows(s, r, n), EDDY_OK);
        if (!has_tiles()) return;
        ck_assert_uint_gt(packed_bytes(s), 0);
        ck_assert_uint_le(packed_bytes(s), PACKED);
    }
    const eddy_memory_info m = eddy_session_memory_info(s);
    ck_assert_int_eq(m.plans, 5);
    ck_assert_uint_ge(m.value_bytes, packed_bytes(s));
}
END_TEST

static int next_rows(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_array *w = context;
    y[0] = Tanh(eddy_matmul(x.at[0], constant(w)));
    return 1;
}

static int goes_on(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Less(Sum(x.at[0]), 1e9);
    return 1;
}

/* A plan counts what the bodies of its loops read. */
START_TEST(in_loops)
{
    eddy_array       *w = numbers(EDDY_FLOAT32, EDDY_SHAPE(64, 64), 2);
    eddy_array       *first = numbers(EDDY_FLOAT32, EDDY_SHAPE(30, 64), 1);
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(30, 64));
    eddy_tensor       y;
    eddy_while_loop((eddy_function){ .build = goes_on },
                    (eddy_function){ .build = next_rows, .context = w }, EDDY_LIST(x), &y, NULL,
                    .maximum_iterations = 3);
    fits(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, first }), EDDY_FETCH(y), NULL), EDDY_OK);
    ck_assert_uint_eq(packed_bytes(s) > 0, has_tiles());
    ck_assert_uint_eq(eddy__packed_bytes(s->plans), packed_bytes(s));
    eddy_array_free(w), eddy_array_free(first);
}
END_TEST

/* It is freed with the last plan. */
START_TEST(freed_with_plans)
{
    const rows        r = many_rows();
    const eddy_tensor z = Add(r.x, 1);
    eddy_array       *x = numbers(EDDY_FLOAT32, EDDY_SHAPE(20, 64), 1);
    eddy_session     *few = eddy_session_new(g, .kept_bytes = 0);
    for (int64_t n = 20; n < 25; n++) ck_assert_int_eq(run_rows(few, r, n), EDDY_OK);
    ck_assert_int_eq(eddy_session_memory_info(few).plans, 1);
    ck_assert_uint_eq(packed_bytes(few) > 0, has_tiles());
    ck_assert_int_eq(eddy_run(few, EDDY_FEED({ r.x, x }), EDDY_FETCH(z), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_session_memory_info(few).plans, 1);
    ck_assert_uint_eq(packed_bytes(few), 0);
    eddy_array_free(x);
    eddy_session_free(few);
}
END_TEST

/* An allocator without memory for blocks of `refused` bytes, or a little more. */
static size_t refused;

static void *allocate(void *context, size_t size)
{
    (void)context;
    return size >= refused && size - refused < 5000 ? NULL : malloc(size);
}

static void release(void *context, void *p, size_t size)
{
    (void)context, (void)size;
    free(p);
}

/* Without memory for it, the operand is read as it is, or packed in each run. */
START_TEST(no_memory)
{
    enum { FEW = 20, MOST = 64 * 80 * sizeof(float) };
    eddy_graph *kept = g;
    refused = SIZE_MAX;
    g = eddy_graph_new(.allocator = &(eddy_allocator){ allocate, release, NULL });
    const rows    r = many_rows();
    eddy_session *session = eddy_session_new(g);
    refused = MOST;
    ck_assert_int_eq(run_rows(session, r, FEW), EDDY_OK);
    ck_assert_uint_eq(packed_bytes(session), 0);
    refused = SIZE_MAX;
    ck_assert_int_eq(run_rows(session, r, FEW + 1), EDDY_OK);
    ck_assert_uint_eq(packed_bytes(session) > 0, has_tiles());
    eddy_session_free(session);
    eddy_graph_free(g);
    g = kept;
}
END_TEST

Suite *packed_operands_suite(void)
{
    Suite *suite = suite_create("packed_operands");
    TCase *c = tcase_create("packed_operands");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, same_bits, 0, SUBJECTS * LEVELS);
    tcase_add_loop_test(c, as_direct_sums, 0, 6);
    tcase_add_test(c, shared_by_plans);
    tcase_add_test(c, in_loops);
    tcase_add_test(c, freed_with_plans);
    tcase_add_test(c, no_memory);
    suite_add_tcase(suite, c);
    return suite;
}
