/* test_batch_matmul.c -- batched matrix products against single products; eddy_gather's batch_dims
 * against a loop. */
#include "tests/lib/array_trial.h"
#include "tests/lib/checks.h"

Suite *batch_matmul_suite(void);

/* Small whole numbers, complex ones with both parts, in a constant. */
static eddy_tensor numbers(trial *t, eddy_dtype d, eddy_shape s)
{
    const bool two = eddy_dtype_is_complex(d);
    const eddy_dtype part = d == EDDY_COMPLEX64 ? EDDY_FLOAT32 : two ? EDDY_FLOAT64 : d;
    eddy_tensor parts[2];
    for (int i = 0; i < 1 + two; i++) {
        eddy_array *a = eddy_array_new(part, s);
        for (int64_t j = 0; j < eddy_array_count(a); j++) eddy_array_set(a, j, pick(t, 19) - 9);
        parts[i] = eddy_constant(t->graph, a, NULL);
        eddy_array_free(a);
    }
    return two ? Complex(parts[0], parts[1]) : parts[0];
}

/* The matrix of x at place i of the common leading shape. */
static eddy_tensor matrix_of(eddy_tensor x, eddy_shape lead, int64_t i)
{
    int64_t at[EDDY_MAX_RANK];
    position(lead, i, at);
    int rank = eddy_shape_of(x).rank;
    for (int d = lead.rank - (rank - 2); rank > 2; rank--, d++) {
        const int64_t row = eddy_shape_of(x).dim[0] == 1 ? 0 : at[d];
        x = Gather(x, eddy_number(x.graph, EDDY_INT64, (double)row));
    }
    return x;
}

static void same(trial *t, eddy_tensor got, eddy_tensor want)
{
    eddy_array *a = value(t, got), *b = value(t, want);
    ck_assert_msg(eddy_array_equal(a, b), "%s", eddy_name_of(got));
    eddy_array_free(a);
    eddy_array_free(b);
}

static void check_products(trial *t, eddy_dtype d, eddy_shape lead_a, eddy_shape lead_b, int how)
{
    const bool ta = how & 1, tb = how & 2;
    const int64_t m = 3, k = pick(t, 5), n = 2;
    eddy_shape a = lead_a, b = lead_b, lead;
    ck_assert(eddy_shape_broadcast(lead_a, lead_b, &lead));
    a.dim[a.rank++] = ta ? k : m, a.dim[a.rank++] = ta ? m : k;
    b.dim[b.rank++] = tb ? n : k, b.dim[b.rank++] = tb ? k : n;
    const eddy_tensor x = numbers(t, d, a), y = numbers(t, d, b);
    const eddy_tensor plain = eddy_matmul(x, y, .transpose_a = ta, .transpose_b = tb);
    const eddy_tensor adjoint = eddy_matmul(x, y, .adjoint_a = ta, .adjoint_b = tb);
    ck_assert_str_eq(eddy_type_of(plain), "BatchMatMulV2");
    for (int64_t i = 0; i < eddy_shape_count(lead); i++) {
        const eddy_tensor xi = matrix_of(x, lead, i), yi = matrix_of(y, lead, i);
        same(t, matrix_of(plain, lead, i),
             eddy_matmul(xi, yi, .transpose_a = ta, .transpose_b = tb));
        same(t, matrix_of(adjoint, lead, i),
             eddy_matmul(xi, yi, .adjoint_a = ta, .adjoint_b = tb));
    }
    same(t, eddy_batch_matmul(x, y, .adj_x = ta, .adj_y = tb), adjoint);
}

START_TEST(one_after_the_other)
{
    static const eddy_shape leads[][2] = {
        { { 1, { 4 } }, { 1, { 4 } } },       { { 1, { 4 } }, { 0, { 0 } } },
        { { 0, { 0 } }, { 1, { 4 } } },       { { 2, { 2, 1 } }, { 1, { 3 } } },
        { { 2, { 2, 3 } }, { 2, { 1, 1 } } }, { { 1, { 1 } }, { 2, { 2, 3 } } },
        { { 3, { 2, 1, 2 } }, { 3, { 2, 2, 1 } } },
    };
    static const eddy_dtype dtypes[] = { EDDY_FLOAT32, EDDY_FLOAT64, EDDY_INT32, EDDY_INT64,
                                         EDDY_COMPLEX64, EDDY_COMPLEX128 };
    for (size_t i = 0; i < sizeof leads / sizeof *leads; i++) {
        trial t = trial_begin((unsigned)(_i * 10) + (unsigned)i);
        for (int how = 0; how < 4; how++)
            check_products(&t, dtypes[_i], leads[i][0], leads[i][1], how);
        trial_end(&t);
    }
}
END_TEST

START_TEST(shapes)
{
    trial t = trial_begin(1);
    const eddy_tensor x = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32,
                                           EDDY_SHAPE(EDDY_ANY, EDDY_ANY, 3, 4));
    const eddy_tensor w = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(5, 4, 2));
    const eddy_tensor any = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor v = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(4));
    char text[80];
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(MatMul(x, w)), text, sizeof text), "[?,5,3,2]");
    ck_assert_int_eq(eddy_shape_of(eddy_batch_matmul(any, w)).rank, EDDY_UNKNOWN_RANK);
    fits(t.graph);
    MatMul(w, w);
    fails(t.graph, EDDY_BAD_SHAPE, "inner dimensions 2 and 4 differ");
    MatMul(x, v);
    fails(t.graph, EDDY_BAD_SHAPE, "rank 2 or more expected");
    const eddy_tensor six = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(6, 3, 4));
    MatMul(six, w);
    fails(t.graph, EDDY_BAD_SHAPE, "the leading dimensions [6] and [5] do not broadcast");
    trial_end(&t);
}
END_TEST

/* Ranks that no one knows while building are those that are fed, as tf.matmul has it. */
START_TEST(ranks_of_the_run)
{
    trial t = trial_begin(4);
    const eddy_tensor a = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(5, 3, 4));
    const eddy_tensor b = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(5, 4, 2));
    const eddy_tensor m = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(4, 2));
    const eddy_tensor x = eddy_placeholder_with_default(a, "x", EDDY_UNKNOWN_SHAPE);
    const eddy_tensor y = eddy_placeholder_with_default(b, "y", EDDY_UNKNOWN_SHAPE);
    const eddy_tensor z = eddy_placeholder_with_default(m, "z", EDDY_UNKNOWN_SHAPE);
    ck_assert_int_eq(eddy_shape_of(MatMul(x, y)).rank, EDDY_UNKNOWN_RANK);
    same(&t, MatMul(x, y), MatMul(a, b));
    same(&t, MatMul(x, m), MatMul(a, m));
    same(&t, MatMul(z, z, .transpose_a = true), MatMul(m, m, .transpose_a = true));
    const eddy_tensor w = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(5, 3, 2));
    same(&t, gradient_with(MatMul(x, z), w, z), gradient_with(MatMul(a, m), w, m));
    same(&t, gradient_with(MatMul(x, z), w, x), gradient_with(MatMul(a, m), w, a));
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------------- gather -- */

START_TEST(gather_by_example)
{
    trial t = trial_begin(2);
    const eddy_tensor x = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4, 2));
    const int32_t at[] = { 3, 0, 1, 1, 2, 3, 0, 0, 2, 1, 3, 2 };
    const eddy_tensor i = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 3, 2), at);
    const eddy_tensor both = Gather(x, i, .batch_dims = 2);
    const eddy_tensor first = Gather(x, i, .batch_dims = 1, .axis = 2);
    for (int b = 0; b < 2; b++) {
        const eddy_tensor n = eddy_number(t.graph, EDDY_INT32, b);
        same(&t, Gather(first, n), Gather(Gather(x, n), Gather(i, n), .axis = 1));
        for (int c = 0; c < 3; c++) {
            const eddy_tensor m = eddy_number(t.graph, EDDY_INT32, c);
            same(&t, Gather(Gather(both, n), m),
                 Gather(Gather(Gather(x, n), m), Gather(Gather(i, n), m)));
        }
    }
    same(&t, Gather(x, i, .batch_dims = -1), both);         /* from the end of i, as there */
    same(&t, Gather(x, i, .batch_dims = -2, .axis = 2), first);
    same(&t, Gather(x, i, .batch_dims = -3, .axis = 2), Gather(x, i, .axis = 2));
    const eddy_tensor w = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(2, 3, 2, 2));
    const eddy_tensor dx = gradient_with(both, w, x);
    same(&t, dx, eddy_sum(Mul(ExpandDims(w, 3), ExpandDims(OneHot(i, 4, .dtype = EDDY_FLOAT64),
                                                           4)), EDDY_AXES(2)));
    trial_end(&t);
}
END_TEST

START_TEST(gather_that_does_not_fit)
{
    trial t = trial_begin(3);
    const eddy_tensor x = numbers(&t, EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4));
    const eddy_tensor i = numbers(&t, EDDY_INT32, EDDY_SHAPE(2, 5));
    Gather(x, i, .batch_dims = -3);
    fails(t.graph, EDDY_INVALID_ARGUMENT,
          "batch_dims = -3 is out of range; the rank of indices is 2");
    Gather(x, eddy_placeholder(t.graph, NULL, EDDY_INT32, EDDY_UNKNOWN_SHAPE), .batch_dims = -1);
    fails(t.graph, EDDY_INVALID_ARGUMENT,
          "batch_dims = -1 is out of range; the rank of indices is unknown");
    Gather(x, i, .batch_dims = 2, .axis = 1);
    fails(t.graph, EDDY_INVALID_ARGUMENT, "batch_dims = 2 exceeds axis = 1");
    Gather(x, i, .batch_dims = 2);
    fails(t.graph, EDDY_BAD_SHAPE, "differ in dimension 1, which is one of batch_dims = 2");
    const int32_t past[] = { 0, 0, 0, 3 };
    check_run_fails(&t, Gather(x, eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2, 2), past),
                               .batch_dims = 1),
                    EDDY_OUT_OF_RANGE, "indices[1,1] = 3 is not in [0, 3)");
    trial_end(&t);
}
END_TEST

/* Many rows of three have a loop of their own; whole numbers, whose sums are exact, and infinities,
 * which stay in their rows. */
START_TEST(rows_of_three)
{
    trial t = trial_begin(9);
    for (int64_t m = 62; m < 70; m++) {
        const eddy_tensor b = numbers(&t, EDDY_FLOAT32, EDDY_SHAPE(3, 3));
        const eddy_tensor a = numbers(&t, EDDY_FLOAT32, EDDY_SHAPE(m, 3));
        eddy_array *x = value(&t, a), *w = value(&t, b);
        eddy_array_set(x, 3 * 40, (double)INFINITY);
        const eddy_tensor fed = eddy_placeholder(t.graph, NULL, EDDY_FLOAT32, EDDY_SHAPE(m, 3));
        const eddy_tensor bias = numbers(&t, EDDY_FLOAT32, EDDY_SHAPE(3));
        eddy_array *z = value(&t, bias);
        eddy_array *y = eddy_fetch(t.session, Relu(Add(eddy_matmul(fed, b), bias)),
                                   EDDY_FEED({ fed, x }));
        ck_assert(y != NULL);
        for (int64_t i = 0; i < 3 * m; i++) {
            double want = eddy_array_get(z, i % 3);
            for (int64_t k = 0; k < 3; k++)
                want += eddy_array_get(x, i / 3 * 3 + k) * eddy_array_get(w, 3 * k + i % 3);
            if (i / 3 != 40) ck_assert_double_eq(eddy_array_get(y, i), fmax(want, 0));
        }
        eddy_array_free(x);
        eddy_array_free(w);
        eddy_array_free(z);
        eddy_array_free(y);
    }
    trial_end(&t);
}
END_TEST

/* A column of float64 times a row has a loop of its own: each element is one product, to the bit,
 * and 0 where it would be -0; also with transposes, and before an activation. */
START_TEST(column_times_row)
{
    static const eddy_dtype types[] = { EDDY_FLOAT32, EDDY_FLOAT64 };
    const eddy_dtype d = types[_i % 2];
    const bool ta = _i & 2, tb = _i & 4;
    trial t = trial_begin(31);
    const int64_t sizes[][2] = { { 1, 16 }, { 5, 15 }, { 16, 16 }, { 33, 1 }, { 700, 501 } };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int64_t m = sizes[s][0], n = sizes[s][1];
        const eddy_tensor a = numbers(&t, d, ta ? EDDY_SHAPE(1, m) : EDDY_SHAPE(m, 1));
        const eddy_tensor b = numbers(&t, d, tb ? EDDY_SHAPE(n, 1) : EDDY_SHAPE(1, n));
        const eddy_tensor third = Div(a, eddy_number(t.graph, d, 3));
        const eddy_tensor y = eddy_matmul(third, b, .transpose_a = ta, .transpose_b = tb);
        eddy_array *v = value(&t, third), *w = value(&t, b), *got = value(&t, y);
        for (int64_t i = 0; i < m * n; i++) {
            const double x = eddy_array_get(v, i / n), z = eddy_array_get(w, i % n);
            const double want = d == EDDY_FLOAT32 ? (double)((float)x * (float)z) : x * z;
            ck_assert(eddy_array_get(got, i) == want);
            ck_assert(want != 0 || !signbit(eddy_array_get(got, i)));
        }
        same(&t, Relu(y), Maximum(y, eddy_number(t.graph, d, 0)));
        eddy_array_free(v);
        eddy_array_free(w);
        eddy_array_free(got);
    }
    trial_end(&t);
}
END_TEST

Suite *batch_matmul_suite(void)
{
    Suite *s = suite_create("batch_matmul");
    TCase *c = tcase_create("batch_matmul");
    tcase_add_loop_test(c, one_after_the_other, 0, 6);
    tcase_add_test(c, shapes);
    tcase_add_test(c, rows_of_three);
    tcase_add_loop_test(c, column_times_row, 0, 8);
    tcase_add_test(c, ranks_of_the_run);
    tcase_add_test(c, gather_by_example);
    tcase_add_test(c, gather_that_does_not_fit);
    suite_add_tcase(s, c);
    return s;
}
