/* test_computed_axes.c -- reductions over axes that are tensors, and dimensions of 1 at such axes,
 * against their counterparts with axes that are known. */
#include "tests/lib/golden.h"
#include "tests/lib/session_fixture.h"
#include "build/gen/suites.h"

static eddy_array *numbers(eddy_shape shape)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ((double *)eddy_array_data(a))[i] = 0.5 + (double)(i * 7 % 24) / 16;
    return a;
}

static eddy_tensor open(int rank)
{
    eddy_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++) shape.dim[i] = EDDY_ANY;
    return eddy_placeholder(g, "x", EDDY_FLOAT64, shape);
}

/* y, and its first and second derivatives by x, are those of `want`. */
static void equal(eddy_tensor x, eddy_array *fed, eddy_tensor axes, const int32_t *at, int n,
                  eddy_tensor y, eddy_tensor want)
{
    eddy_array *out[6] = { NULL }, *list = eddy_array_new(EDDY_INT32, EDDY_SHAPE(n));
    for (int i = 0; i < n; i++) eddy_array_set(list, i, at[i]);
    const eddy_tensor dy = eddy_gradient(eddy_sum(Mul(Square(y), y)), x);
    const eddy_tensor dw = eddy_gradient(eddy_sum(Mul(Square(want), want)), x);
    const eddy_tensor all[] = { y, want, dy, dw, eddy_gradient(eddy_sum(Square(dy)), x),
                                eddy_gradient(eddy_sum(Square(dw)), x) };
    fits(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, fed }, { axes, list }), ((eddy_list){ 6, all }),
                           out) == EDDY_OK, "%s", eddy_session_message(s));
    for (int i = 0; i < 6; i += 2) {
        ck_assert(eddy_shape_equal(eddy_array_shape(out[i]), eddy_array_shape(out[i + 1])));
        for (int64_t k = 0; k < eddy_array_count(out[i]); k++) {
            const double a = eddy_array_get(out[i], k), b = eddy_array_get(out[i + 1], k);
            ck_assert_double_le(fabs(a - b), 1e-12 * (1 + fabs(b)));
        }
    }
    for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
    eddy_array_free(list);
}

static const struct {
    int32_t at[3];
    int     n;
} lists[] = { { { 0 }, 1 }, { { -1 }, 1 }, { { 2, 0 }, 2 }, { { 0, 1, 2 }, 3 }, { { 0 }, 0 } };
enum { LISTS = sizeof lists / sizeof *lists };

static eddy_dims dims(int i)
{
    eddy_dims d = { .count = lists[i].n ? lists[i].n : -1 };
    for (int k = 0; k < lists[i].n; k++) d.at[k] = lists[i].at[k];
    return d;
}

static const eddy_reduce_fn reductions[] = {
    eddy_sum_with, eddy_mean_with, eddy_max_with, eddy_min_with, eddy_prod_with,
    eddy_euclidean_norm_with, eddy_logsumexp_with
};
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };

/* The number of axes is unknown, too. */
START_TEST(every_reduction)
{
    const eddy_tensor axes = eddy_placeholder(g, "axes", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    eddy_array       *fed = numbers(EDDY_SHAPE(2, 3, 4));
    for (int keep = 0; keep < 2; keep++) {
        const eddy_tensor x = open(3), y = eddy_reduce_to(reductions[_i], x, axes, keep);
        ck_assert_int_eq(eddy_shape_of(y).rank, keep ? 3 : -1);
        for (int i = 0; i < LISTS; i++)
            equal(x, fed, axes, lists[i].at, lists[i].n, y,
                  reductions[_i](EDDY_ARGS(eddy_reduce_args, x, dims(i), .keepdims = keep)));
    }
    eddy_array_free(fed);
}
END_TEST

/* More dimensions than can be split at once. */
START_TEST(many_dimensions)
{
    const eddy_tensor axes = eddy_placeholder(g, "axes", EDDY_INT32, EDDY_SHAPE(3));
    const int32_t     at[][3] = { { 0, 3, 4 }, { -1, 1, 5 }, { 7, 6, 0 } };
    eddy_array       *fed = numbers(EDDY_SHAPE(2, 1, 3, 2, 1, 2, 1, 2));
    const eddy_tensor x = open(8), y = eddy_reduce_to(eddy_mean_with, x, axes, false);
    ck_assert_int_eq(eddy_shape_of(y).rank, 5);
    for (int i = 0; i < 3; i++)
        equal(x, fed, axes, at[i], 3, y, Mean(x, EDDY_DIMS(at[i][0], at[i][1], at[i][2])));
    eddy_array_free(fed);
}
END_TEST

START_TEST(no_elements)
{
    const eddy_tensor axes = eddy_placeholder(g, "axes", EDDY_INT32, EDDY_SHAPE(1));
    eddy_array       *fed = numbers(EDDY_SHAPE(2, 0, 3));
    const eddy_tensor x = open(3), y = eddy_reduce_to(eddy_sum_with, x, axes, false);
    for (int32_t i = 0; i < 3; i++) equal(x, fed, axes, &i, 1, y, Sum(x, EDDY_AXES(i)));
    eddy_array_free(fed);
}
END_TEST

/* Sizes that are known while building are used. */
START_TEST(known_axes)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 1, 4));
    const eddy_tensor scalar = eddy_placeholder(g, "scalar", EDDY_FLOAT64, EDDY_SCALAR);
    const eddy_tensor one = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor some = eddy_placeholder(g, "some", EDDY_INT64, EDDY_SHAPE(1));
    const eddy_tensor none = eddy_placeholder(g, "none", EDDY_INT64, EDDY_SHAPE(0));
    const struct { eddy_tensor y; const char *shape; } rows[] = {
        { eddy_reduce_to(eddy_sum_with, x, one, false), "[?,4]" },
        { eddy_reduce_to(eddy_sum_with, x, some, true), "[?,?,?]" },
        { eddy_reduce_to(eddy_sum_with, x, some, false), "[?,?]" },
        { eddy_reduce_to(eddy_sum_with, scalar, none, true), "[]" },
        { eddy_squeeze_to(x, one), "[?,4]" },
        { eddy_squeeze_to(x, some), "[?,?]" },
        { eddy_expand_dims_to(x, some), "[?,?,?,?]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[100];
        ck_assert_str_eq(eddy_shape_print(eddy_shape_of(rows[i].y), text, sizeof text),
                         rows[i].shape);
    }
}
END_TEST

START_TEST(dimensions_of_one)
{
    const eddy_tensor axes = eddy_placeholder(g, "axes", EDDY_INT32, EDDY_SHAPE(2));
    const eddy_tensor any = eddy_placeholder(g, "any", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor x = open(2), x4 = open(4);
    const int32_t     at[][2] = { { 0, 1 }, { -1, 0 }, { 2, 1 }, { 3, -2 } };
    const eddy_shape  with[] = { { 4, { 1, 1, 2, 3 } }, { 4, { 1, 2, 3, 1 } },
                                 { 4, { 2, 1, 1, 3 } }, { 4, { 2, 3, 1, 1 } } };
    eddy_array       *fed = numbers(EDDY_SHAPE(2, 3));
    for (int i = 0; i < 4; i++) {
        eddy_array *more = numbers(with[i]);
        equal(x, fed, axes, at[i], 2, eddy_expand_dims_to(x, axes), Reshape(x, with[i]));
        equal(x4, more, axes, at[i], 2, eddy_squeeze_to(x4, axes), Reshape(x4, EDDY_SHAPE(2, 3)));
        equal(x4, more, any, at[i], 2, eddy_squeeze_to(x4, any), Reshape(x4, EDDY_SHAPE(2, 3)));
        eddy_array_free(more);
    }
    equal(x, fed, any, at[0], 0, eddy_squeeze_to(x, any), Identity(x));
    eddy_array_free(fed);
    eddy_array *one = eddy_array_of(EDDY_FLOAT64, 3);
    const eddy_tensor scalar = open(0);
    equal(scalar, one, axes, at[1], 2, eddy_expand_dims_to(scalar, axes),
          Reshape(scalar, EDDY_SHAPE(1, 1)));
    eddy_array_free(one);
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void building_says(void)
{
    const eddy_tensor x = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 });
    const eddy_tensor three = eddy_placeholder(g, "three", EDDY_INT32, EDDY_SHAPE(3));
    const eddy_tensor any = eddy_placeholder(g, "any", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor many = eddy_placeholder(g, "many", EDDY_INT32, EDDY_SHAPE(7));
    eddy_reduce_to(eddy_sum_with, x, x, false), golden_graph(g);
    eddy_reduce_to(eddy_sum_with, x, Cast(x, EDDY_INT32), false), golden_graph(g);
    eddy_reduce_to(eddy_sum_with, any, n, false), golden_graph(g);
    eddy_reduce_to(eddy_sum_with, x, three, false), golden_graph(g);
    eddy_reduce_to(eddy_sum_with, x, EDDY_NO_TENSOR, false), golden_graph(g);
    eddy_reduce_to(NULL, x, n, false), golden_graph(g);
    eddy_squeeze_to(x, three), golden_graph(g);
    eddy_expand_dims_to(x, n), golden_graph(g);
    eddy_expand_dims_to(x, many), golden_graph(g);
    eddy_expand_dims_to(EDDY_NO_TENSOR, n), golden_graph(g);
}

static void running_says(eddy_tensor y, eddy_tensor x, eddy_tensor axes, int32_t a, int32_t b)
{
    const int     rank = eddy_shape_of(x).rank;
    const int32_t at[] = { a, b };
    eddy_array   *fed = numbers((eddy_shape){ rank, { 2, 3, 2 } });
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, fed }, { axes, EDDY_VIEW(at, 2) }),
                              EDDY_FETCH(y), NULL), EDDY_OK);
    golden_line(eddy_session_message(s));
    eddy_array_free(fed);
}

START_TEST(messages)
{
    golden_begin("ops/computed_axes");
    building_says();
    const eddy_tensor x = open(2), scalar = open(0), cube = open(3);
    const eddy_tensor axes = eddy_placeholder(g, "axes", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor two = eddy_placeholder(g, "two", EDDY_INT32, EDDY_SHAPE(2));
    running_says(eddy_reduce_to(eddy_sum_with, x, axes, true), x, axes, 0, 2);
    running_says(eddy_reduce_to(eddy_sum_with, x, axes, false), x, axes, 0, -2);
    running_says(eddy_reduce_to(eddy_sum_with, scalar, axes, false), scalar, axes, 0, 0);
    running_says(eddy_squeeze_to(x, two), x, two, 0, -3);
    running_says(eddy_squeeze_to(x, axes), x, axes, 0, 1);
    running_says(eddy_squeeze_to(cube, axes), cube, axes, 0, 1);
    running_says(eddy_expand_dims_to(x, two), x, two, 4, 0);
    running_says(eddy_expand_dims_to(x, two), x, two, -1, 3);
    golden_end();
}
END_TEST

Suite *computed_axes_suite(void)
{
    Suite *suite = suite_create("computed_axes");
    TCase *c = tcase_create("axes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, every_reduction, 0, REDUCTIONS);
    tcase_add_test(c, many_dimensions);
    tcase_add_test(c, no_elements);
    tcase_add_test(c, known_axes);
    tcase_add_test(c, dimensions_of_one);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    return suite;
}
