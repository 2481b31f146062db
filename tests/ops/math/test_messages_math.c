/* test_messages_math.c -- error messages of elementwise operations, random numbers and checks,
 * apart from those in tests/graph/test_errors.c. */
#include "tests/lib/golden.h"
#include "build/gen/table.h"

#include <math.h>

Suite *messages_math_suite(void);

static eddy_graph *g;
static eddy_tensor x, i, flags, pairs, scalar;           /* of the shapes below */

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor floats(eddy_shape s) { return of(EDDY_FLOAT32, s); }
static eddy_tensor ints(eddy_shape s) { return of(EDDY_INT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(2, 3));
    flags = eddy_placeholder(g, "flags", EDDY_BOOL, EDDY_SHAPE(2, 3));
    pairs = eddy_placeholder(g, "pairs", EDDY_COMPLEX64, EDDY_SHAPE(2, 3));
    scalar = eddy_placeholder(g, "scalar", EDDY_FLOAT32, EDDY_SCALAR);
}

static void teardown(void) { eddy_graph_free(g); }

/* --------------------------------------------------------------- numbers -- */

static void elements(void)
{
    MatMul(flags, flags), golden_graph(g);
    MatMul(x, x, .transpose_a = true, .adjoint_a = true), golden_graph(g);
    MatMul(floats(EDDY_SHAPE(2, 3, 3)), floats(EDDY_SHAPE(3))), golden_graph(g);
    MatMul(floats(EDDY_SHAPE(2, 3, 3)), floats(EDDY_SHAPE(4, 3, 3))), golden_graph(g);
    eddy_apply1(&eddy_op_real, NULL, x), golden_graph(g);
    BiasAdd(x, x), golden_graph(g);
    BiasAdd(scalar, floats(EDDY_SHAPE(3))), golden_graph(g);
    Where(flags, x, i), golden_graph(g);
    Where(flags, x, floats(EDDY_SHAPE(4))), golden_graph(g);
}

static void folding(void)
{
    eddy_sum(x, (eddy_dims){ .count = 9 }), golden_graph(g);
    eddy_sum(flags), golden_graph(g);
    eddy_all(x), golden_graph(g);
    eddy_logsumexp(i), golden_graph(g);
    eddy_argmax(x, 0, .output_type = EDDY_FLOAT32), golden_graph(g);
    eddy_argmax(pairs, 0), golden_graph(g);
    eddy_argmax(floats(EDDY_SHAPE(2, 0)), 1), golden_graph(g);
    eddy_argmin(of(EDDY_UINT8, EDDY_SHAPE((int64_t)1 << 31)), 0, .output_type = EDDY_INT32);
    golden_graph(g);
    eddy_cumsum(flags), golden_graph(g);
    eddy_linear_scan(flags, flags), golden_graph(g);
    eddy_linear_scan(x, i), golden_graph(g);
    eddy_linear_scan(x, floats(EDDY_SHAPE(3, 2))), golden_graph(g);
    eddy_shift(x, INT64_MIN, 0), golden_graph(g);
}

static void losses(void)
{
    eddy_softmax(i), golden_graph(g);
    eddy_softmax(x, .axis = EDDY_AXES(0, 1)), golden_graph(g);
    eddy_l2_loss(i), golden_graph(g);
    eddy_softmax_cross_entropy(i, x), golden_graph(g);
    eddy_softmax_cross_entropy(floats(EDDY_SHAPE(3, 2)), x), golden_graph(g);
    eddy_sparse_softmax_cross_entropy(x, x), golden_graph(g);
    eddy_sparse_softmax_cross_entropy(i, scalar), golden_graph(g);
    eddy_sparse_softmax_cross_entropy(ints(EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)),
                                      floats(EDDY_UNKNOWN_SHAPE)), golden_graph(g);
    eddy_sparse_softmax_cross_entropy(ints(EDDY_SHAPE(3)), x), golden_graph(g);
    eddy_sigmoid_cross_entropy(floats(EDDY_SHAPE(1, 3)), x), golden_graph(g);
}

static void clipping(void)
{
    const eddy_tensor none = { .graph = g }, rows = floats(EDDY_SHAPE(4, 1, 3));
    eddy_clip_by_value(x, scalar, rows), golden_graph(g);
    eddy_clip_by_norm(x, rows), golden_graph(g);
    eddy_clip_by_average_norm(x, rows), golden_graph(g);
    eddy_global_norm(EDDY_LIST(none, none)), golden_graph(g);
    eddy_global_norm(EDDY_LIST(x, Complex(x, x))), golden_graph(g);
    eddy_global_norm(EDDY_LIST(x, Cast(x, EDDY_FLOAT64))), golden_graph(g);
    eddy_clip_by_global_norm(EDDY_LIST(x), scalar), golden_graph(g);
}

START_TEST(numbers)
{
    golden_begin("ops/math_numbers");
    elements();
    folding();
    losses();
    clipping();
    golden_end();
}
END_TEST

/* ------------------------------------------- random numbers, layers, checks -- */

static void uniform_numbers(void)
{
    const eddy_shape s = EDDY_SHAPE(2);
    eddy_random_uniform(g, (eddy_shape){ .rank = 9 }), golden_graph(g);
    eddy_random_uniform(g, EDDY_SHAPE(2, EDDY_ANY)), golden_graph(g);
    eddy_random_uniform(g, s, .dtype = EDDY_FLOAT16), golden_graph(g);
    eddy_random_uniform(g, s, .maxval = INFINITY), golden_graph(g);
    eddy_random_uniform(g, s, .maxval = 1e39), golden_graph(g);
    eddy_random_uniform(g, s, .minval = 2, .maxval = 1), golden_graph(g);
    eddy_random_uniform(g, s, .maxval = 2.5, .dtype = EDDY_INT32), golden_graph(g);
    eddy_random_uniform_int(g, s, 0, 10, .dtype = EDDY_FLOAT32), golden_graph(g);
    eddy_random_uniform_int(g, s, 10, 10), golden_graph(g);
    eddy_random_uniform_int(g, s, 0, 257, .dtype = EDDY_UINT8), golden_graph(g);
}

static void normal_numbers(void)
{
    const eddy_shape s = EDDY_SHAPE(2);
    eddy_random_normal(g, s, .mean = INFINITY), golden_graph(g);
    eddy_truncated_normal(g, s, .stddev = -1), golden_graph(g);
    eddy_random_normal(g, s, .stddev = 1e300), golden_graph(g);
    eddy_init_glorot_uniform(g, EDDY_INT32, s, 0), golden_graph(g);
    eddy_init_orthogonal(g, EDDY_INT32, EDDY_SHAPE(2, 2), 0), golden_graph(g);
    eddy_init_orthogonal(g, EDDY_FLOAT32, s, 0), golden_graph(g);
    eddy_dropout(i, 0.5), golden_graph(g);
    eddy_dropout(x, 1), golden_graph(g);
    eddy_dropout(x, 0.5, .noise_shape = EDDY_DIMS(2, 2)), golden_graph(g);
}

static void layers_and_checks(void)
{
    eddy_dense(i, 4), golden_graph(g);
    eddy_dense(floats(EDDY_SHAPE(2, EDDY_ANY)), 4, "hidden"), golden_graph(g);
    eddy_dense(x, 0, "hidden"), golden_graph(g);
    eddy_check_numerics(i, "x"), golden_graph(g);
    eddy_print(x, .data = { 64, NULL }), golden_graph(g);
    eddy_print(x, .summarize = 0), golden_graph(g);
    eddy_celu(x, .alpha = 0), golden_graph(g);
    eddy_assert(x, EDDY_LIST(x)), golden_graph(g);
    eddy_assert(flags, .data = { 64, NULL }), golden_graph(g);
}

static void loading(void)
{
    eddy_error e = { 0 };
    eddy_graph_load("g.yaml", .allocator = &(eddy_allocator){ 0 }, .error = &e), golden_error(&e);
    eddy_graph_load(NULL, .error = &e), golden_error(&e);
    eddy_graph_load("g.yaml", .max_bytes = 0, .error = &e), golden_error(&e);
}

START_TEST(random_and_checks)
{
    golden_begin("ops/math_random");
    uniform_numbers();
    normal_numbers();
    layers_and_checks();
    loading();
    golden_end();
}
END_TEST

Suite *messages_math_suite(void)
{
    Suite *suite = suite_create("messages_math");
    TCase *c = tcase_create("math");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, numbers);
    tcase_add_test(c, random_and_checks);
    suite_add_tcase(suite, c);
    return suite;
}
