/* test_computed_parts.c -- slices of one axis, padding in every mode, splits, one-hot vectors and
 * largest elements whose numbers are tensors, against known ones. */
#include "tests/lib/golden.h"
#include "tests/lib/session_fixture.h"
#include "build/gen/suites.h"

static eddy_tensor open(eddy_dtype d, int rank)
{
    eddy_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++) shape.dim[i] = EDDY_ANY;
    return eddy_placeholder(g, "x", d, shape);
}

static eddy_array *numbers(eddy_shape shape)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ((double *)eddy_array_data(a))[i] = 0.5 + (double)(i * 7 % 24) / 16;
    return a;
}

/* y, and its first and second derivatives by x, are those of `want`; p is fed with n numbers. */
static void equal(eddy_tensor x, eddy_array *fed, eddy_tensor p, const int64_t *v, int n,
                  eddy_tensor y, eddy_tensor want)
{
    eddy_array *out[6] = { NULL };
    const eddy_tensor dy = eddy_gradient(eddy_sum(Mul(Square(y), y)), x);
    const eddy_tensor dw = eddy_gradient(eddy_sum(Mul(Square(want), want)), x);
    const eddy_tensor all[] = { y, want, dy, dw, eddy_gradient(eddy_sum(Square(dy)), x),
                                eddy_gradient(eddy_sum(Square(dw)), x) };
    fits(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, fed }, { p, EDDY_VIEW(v, n) }),
                           ((eddy_list){ 6, all }), out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    for (int i = 0; i < 6; i += 2) ck_assert(eddy_array_equal(out[i], out[i + 1]));
    for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
}

static eddy_tensor entry(eddy_tensor p, int i)
{
    return eddy_gather(p, eddy_number(g, EDDY_INT32, i));
}

START_TEST(slices_of_an_axis)
{
    static const int64_t cases[][3] = {
        { 0, 5, 1 }, { 1, 4, 2 }, { -3, -1, 1 }, { 4, 1, -1 }, { -1, -9, -2 }, { 3, 3, 1 },
        { 4, 2, 1 }, { 1, 4, -1 }, { -20, 20, 3 }, { 20, -20, -4 }, { 9, 12, 1 },
        { INT64_MIN, INT64_MAX, INT64_MAX }, { INT64_MAX, INT64_MIN, INT64_MIN + 1 },
    };
    const eddy_tensor x = open(EDDY_FLOAT64, 2);
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(3));
    const eddy_tensor y = eddy_slice_along(x, entry(p, 0), entry(p, 1), entry(p, 2), -1);
    ck_assert_int_eq(eddy_shape_of(y).rank, 2);
    eddy_array *fed = numbers(EDDY_SHAPE(2, 5)), *empty = numbers(EDDY_SHAPE(2, 0));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eddy_tensor want = eddy_strided_slice(
            x, EDDY_DIMS(0, cases[i][0]), EDDY_DIMS(0, cases[i][1]), EDDY_DIMS(1, cases[i][2]),
            .begin_mask = 1, .end_mask = 1);
        equal(x, fed, p, cases[i], 3, y, want);
        equal(x, empty, p, cases[i], 3, y, want);
    }
    eddy_array_free(fed);
    eddy_array_free(empty);
}
END_TEST

START_TEST(padding_in_modes)
{
    static const struct { const char *mode; double want[9]; } modes[] = {
        { "constant", { 0, 0, 0, 0, 1, 2, 3, 0, 0 } }, { "edge", { 1, 1, 1, 1, 1, 2, 3, 3, 3 } },
        { "wrap", { 3, 1, 2, 3, 1, 2, 3, 1, 2 } },
        { "reflect", { 1, 2, 3, 2, 1, 2, 3, 2, 1 } },
        { "symmetric", { 3, 3, 2, 1, 1, 2, 3, 3, 2 } },
    };
    const eddy_tensor x = vector(g, 3, (double[]){ 1, 2, 3 });
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(2));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const eddy_tensor y = eddy_extend_to(x, eddy_slice(p, EDDY_DIMS(0), EDDY_DIMS(1)),
                                             eddy_slice(p, EDDY_DIMS(1), EDDY_DIMS(1)),
                                             modes[i].mode);
        /* All, then without the first and the last element, then only what lies in x. */
        for (int64_t cut = 0; cut < 3; cut++) {
            const int64_t v[] = { 4 - cut * 5 / 2, 2 - cut * 3 / 2 };
            eddy_array   *out = NULL;
            ck_assert_msg(eddy_run(s, EDDY_FEED({ p, EDDY_VIEW(v, 2) }), EDDY_FETCH(y), &out) ==
                          EDDY_OK, "%s", eddy_session_message(s));
            ck_assert_int_eq(eddy_array_count(out), 3 + v[0] + v[1]);
            for (int k = 0; k < 3 + v[0] + v[1]; k++)
                ck_assert_double_eq(eddy_array_get(out, k), modes[i].want[4 - v[0] + k]);
            eddy_array_free(out);
        }
    }
}
END_TEST

/* As eddy_mirror_pad and eddy_pad, with their gradients. */
START_TEST(padding_of_an_axis)
{
    static const int64_t pads[][4] = { { 0, 0, 0, 0 }, { 1, 2, 0, 1 }, { 0, 1, 1, 2 } };
    const eddy_tensor x = open(EDDY_FLOAT64, 2);
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(4));
    const eddy_tensor before = eddy_slice(p, EDDY_DIMS(0), EDDY_DIMS(2)),
                      after = eddy_slice(p, EDDY_DIMS(2), EDDY_DIMS(2));
    eddy_array *fed = numbers(EDDY_SHAPE(2, 3));
    for (int i = 0; i < 3; i++) {
        const eddy_dims b = EDDY_DIMS(pads[i][0], pads[i][1]),
                        a = EDDY_DIMS(pads[i][2], pads[i][3]);
        equal(x, fed, p, pads[i], 4, eddy_extend_to(x, before, after, "reflect"),
              eddy_mirror_pad(x, b, a));
        equal(x, fed, p, pads[i], 4, eddy_extend_to(x, before, after, "symmetric"),
              eddy_mirror_pad(x, b, a, .symmetric = true));
        equal(x, fed, p, pads[i], 4, eddy_extend_to(x, before, after, "constant"),
              eddy_pad(x, b, a));
    }
    eddy_array_free(fed);
}
END_TEST

START_TEST(splits)
{
    static const int64_t sizes[][3] = { { 1, 2, 2 }, { 0, 5, 0 }, { 1, -1, 3 }, { 4, 1, -1 } };
    const eddy_tensor x = open(EDDY_FLOAT64, 3);
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(3));
    const eddy_tensor y = eddy_split_to(x, p, 1);
    eddy_array *fed = numbers(EDDY_SHAPE(2, 5, 2));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++)
            equal(x, fed, p, sizes[i], 3, eddy_output(y, k),
                  eddy_output(eddy_split_sizes(eddy_set_shape(x, EDDY_SHAPE(2, 5, 2)), sizes[i], 3,
                                               1), k));
    eddy_array_free(fed);
}
END_TEST

START_TEST(largest)
{
    const eddy_tensor x = open(EDDY_FLOAT64, 2);
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(1));
    const eddy_tensor y = eddy_top_k_to(x, p);
    eddy_array *fed = numbers(EDDY_SHAPE(2, 5));
    for (int64_t k = 0; k <= 5; k += 5 - k > 2 ? 2 : 1) {
        const eddy_tensor want = eddy_top_k(x, k);
        eddy_array       *out[2] = { NULL };
        equal(x, fed, p, &k, 1, y, want);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, fed }, { p, EDDY_VIEW(&k, 1) }),
                                  EDDY_FETCH(eddy_output(y, 1), eddy_output(want, 1)), out),
                         EDDY_OK);
        ck_assert(eddy_array_equal(out[0], out[1]));
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
    eddy_array_free(fed);
}
END_TEST

START_TEST(one_hot_vectors)
{
    const eddy_tensor at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2, 3),
                                      (const int32_t[]){ 0, 2, -1, 5, 1, 1 });
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SCALAR);
    const eddy_tensor on = eddy_number(g, EDDY_FLOAT64, 3), off = eddy_number(g, EDDY_FLOAT64, -1);
    for (int64_t axis = -3; axis < 3; axis++)
        for (int64_t depth = 0; depth < 7; depth += 3) {
            const eddy_tensor y = eddy_one_hot_to(at, p, on, off, axis);
            const eddy_tensor want = eddy_one_hot(at, depth, .on_value = 3, .off_value = -1,
                                                  .axis = EDDY_AXES(axis), .dtype = EDDY_FLOAT64);
            eddy_array *n = eddy_array_of(EDDY_INT64, (double)depth), *out[3] = { NULL };
            ck_assert_int_eq(eddy_run(s, EDDY_FEED({ p, n }),
                                      EDDY_FETCH(y, want, eddy_gradient(eddy_sum(y), on)), out),
                             EDDY_OK);
            ck_assert(eddy_array_equal(out[0], out[1]));
            ck_assert_double_eq(eddy_array_get(out[2], 0), depth == 0 ? 0 : depth == 3 ? 4 : 5);
            for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
            eddy_array_free(n);
        }
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void building_says(void)
{
    const eddy_tensor x = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 });
    const eddy_tensor two = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (const int32_t[]){ 1, 1 });
    const eddy_tensor one = eddy_number(g, EDDY_INT32, 1), none = EDDY_NO_TENSOR;
    const eddy_tensor any = eddy_placeholder(g, "any", EDDY_INT32, EDDY_UNKNOWN_SHAPE);
    eddy_slice_along(x, two, one, one, 0), golden_graph(g);
    eddy_slice_along(x, one, x, one, 0), golden_graph(g);
    eddy_slice_along(x, one, one, none, 0), golden_graph(g);
    eddy_slice_along(x, one, one, one, 2), golden_graph(g);
    eddy_extend_to(x, two, two, "mirror"), golden_graph(g);
    eddy_extend_to(x, two, two, NULL), golden_graph(g);
    eddy_extend_to(x, one, two, "edge"), golden_graph(g);
    eddy_split_to(x, x, 0), golden_graph(g);
    eddy_split_to(x, one, 0), golden_graph(g);
    eddy_split_to(x, any, 0), golden_graph(g);
    eddy_split_to(any, two, 0), golden_graph(g);
    eddy_split_to(x, two, 2), golden_graph(g);
    eddy_split_to(x, none, 0), golden_graph(g);
    eddy_top_k_to(x, x), golden_graph(g);
    eddy_top_k_to(none, one), golden_graph(g);
    eddy_one_hot_to(any, one, x, x, 0), golden_graph(g);
    eddy_one_hot_to(two, one, x, x, 5), golden_graph(g);
    eddy_one_hot_to(two, two, one, one, 0), golden_graph(g);
    eddy_one_hot_to(two, one, x, x, 0), golden_graph(g);
}

static void running_says(eddy_tensor y, eddy_tensor x, eddy_tensor p, int64_t a, int64_t b)
{
    eddy_array *fed = eddy_shape_of(x).rank == 1 ? numbers(EDDY_SHAPE(0))
                                                 : numbers(EDDY_SHAPE(2, 3));
    const int64_t v[] = { a, b };
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, fed }, { p, EDDY_VIEW(v, 2) }), EDDY_FETCH(y),
                              NULL), EDDY_OK);
    golden_line(eddy_session_message(s));
    eddy_array_free(fed);
}

START_TEST(messages)
{
    golden_begin("ops/computed_parts");
    building_says();
    const eddy_tensor x = open(EDDY_FLOAT64, 2), empty = open(EDDY_FLOAT64, 1);
    const eddy_tensor p = eddy_placeholder(g, "p", EDDY_INT64, EDDY_SHAPE(2));
    const eddy_tensor a = entry(p, 0), b = entry(p, 1), first = eddy_slice(p, EDDY_DIMS(0),
                                                                           EDDY_DIMS(1));
    running_says(eddy_slice_along(x, a, a, b, 0), x, p, 1, 0);
    running_says(eddy_extend_to(x, p, p, "edge"), x, p, 0, (int64_t)1 << 50);
    running_says(eddy_extend_to(x, Neg(p), p, "edge"), x, p, 0, (int64_t)1 << 49);
    running_says(eddy_extend_to(x, ZerosLike(p), Neg(p), "wrap"), x, p, 0, (int64_t)1 << 50);
    running_says(eddy_extend_to(empty, first, first, "wrap"), empty, p, 1, 0);
    running_says(eddy_split_to(x, p, 1), x, p, 4, -1);
    running_says(eddy_split_to(x, p, 1), x, p, 1, 1);
    running_says(eddy_top_k_to(x, a), x, p, 4, 0);
    running_says(eddy_top_k_to(x, a), x, p, -1, 0);
    running_says(eddy_one_hot_to(p, a, a, b, 0), x, p, -2, 0);
    running_says(eddy_one_hot_to(p, a, a, b, 0), x, p, INT64_MAX, 0);
    golden_end();
}
END_TEST

Suite *computed_parts_suite(void)
{
    Suite *suite = suite_create("computed_parts");
    TCase *c = tcase_create("parts");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, slices_of_an_axis);
    tcase_add_test(c, padding_in_modes);
    tcase_add_test(c, padding_of_an_axis);
    tcase_add_test(c, splits);
    tcase_add_test(c, largest);
    tcase_add_test(c, one_hot_vectors);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    return suite;
}
