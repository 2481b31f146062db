/* test_computed_sizes.c -- slices, repetitions and padding whose sizes are tensors, against their
 * counterparts with sizes that are known. */
#include "tests/lib/golden.h"
#include "tests/lib/session_fixture.h"
#include "build/gen/suites.h"

/* x is [2,3,4]. Sizes are placeholders, for those of every case. */
typedef struct fed {
    eddy_tensor x, a, b;
} fed;

static fed inputs(void)
{
    return (fed){ eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY, EDDY_ANY)),
                  eddy_placeholder(g, "a", EDDY_INT32, EDDY_SHAPE(3)),
                  eddy_placeholder(g, "b", EDDY_INT64, EDDY_SHAPE(3)) };
}

static eddy_array *counting(void)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4));
    for (int i = 0; i < 24; i++) ((double *)eddy_array_data(a))[i] = i * 0.25 - 2;
    return a;
}

/* y and its second derivatives by x equal those of `want`. */
static void equal(fed f, eddy_tensor y, eddy_tensor want, const int32_t *a, const int64_t *b)
{
    eddy_array *x = counting(), *out[6] = { NULL };
    const eddy_tensor dy = eddy_gradient(eddy_sum(Mul(Square(y), y)), f.x);
    const eddy_tensor dw = eddy_gradient(eddy_sum(Mul(Square(want), want)), f.x);
    const eddy_tensor list[] = { y, want, dy, dw, eddy_gradient(eddy_sum(Square(dy)), f.x),
                                 eddy_gradient(eddy_sum(Square(dw)), f.x) };
    fits(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ f.x, x }, { f.a, EDDY_VIEW(a, 3) },
                                        { f.b, EDDY_VIEW(b, 3) }),
                           ((eddy_list){ 6, list }), out) == EDDY_OK,
                  "%s", eddy_session_message(s));
    for (int i = 0; i < 6; i += 2) ck_assert(eddy_array_equal(out[i], out[i + 1]));
    for (int i = 0; i < 6; i++) eddy_array_free(out[i]);
    eddy_array_free(x);
}

START_TEST(slices)
{
    const fed f = inputs();
    const eddy_tensor y = eddy_slice_to(f.x, f.a, f.b);
    ck_assert_int_eq(eddy_shape_of(y).rank, 3);
    const int32_t begin[][3] = { { 0, 0, 0 }, { 1, 0, 2 }, { 0, 2, 1 }, { 1, 3, 0 } };
    const int64_t size[][3] = { { 2, 3, 4 }, { 1, 2, 2 }, { -1, 1, -1 }, { 1, 0, 4 } };
    for (int i = 0; i < 4; i++)
        equal(f, y, eddy_slice(f.x, EDDY_DIMS(begin[i][0], begin[i][1], begin[i][2]),
                               EDDY_DIMS(size[i][0], size[i][1], size[i][2])),
              begin[i], size[i]);
}
END_TEST

static int cut_and_put(eddy_list at, eddy_tensor *y, void *context)
{
    const eddy_tensor *around = context;
    y[0] = eddy_slice_at(around[0], at.at[0], around[1]);
    y[1] = eddy_pad_at(y[0], at.at[0], around[0]);
    return 2;
}

/* Boxes at positions of their own for each of three examples, cut out and put back. */
START_TEST(examples_at_positions)
{
    const double      v[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
    const int32_t     begin[] = { 0, 0, 2, 1, 1, 2 };
    const eddy_tensor x = matrix(g, 4, 3, v),
                      part = eddy_slice(x, EDDY_DIMS(0, 0), EDDY_DIMS(2, 1));
    const eddy_tensor at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor         around[] = { x, part };
    const eddy_function f = { .build = cut_and_put, .context = around };
    eddy_tensor       y[2];
    eddy_array       *out[2] = { NULL };
    eddy_vmap(f, EDDY_LIST(at), y);
    fits(g);
    const eddy_array *b = EDDY_VIEW(begin, 3, 2);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ at, b }), EDDY_FETCH(y[0], y[1]), out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert(eddy_shape_equal(eddy_array_shape(out[0]), EDDY_SHAPE(3, 2, 1)));
    ck_assert(eddy_shape_equal(eddy_array_shape(out[1]), EDDY_SHAPE(3, 4, 3)));
    for (int e = 0; e < 3; e++)
        for (int i = 0; i < 12; i++) {
            const int  row = i / 3 - begin[2 * e], column = i % 3 - begin[2 * e + 1];
            const bool in = row >= 0 && row < 2 && column == 0;
            ck_assert_double_eq(eddy_array_get(out[1], 12 * e + i), in ? v[i] : 0);
            if (in) ck_assert_double_eq(eddy_array_get(out[0], 2 * e + row), v[i]);
        }
    for (int i = 0; i < 2; i++) eddy_array_free(out[i]);
}
END_TEST

START_TEST(repetitions)
{
    const fed f = inputs();
    const eddy_tensor y = eddy_tile_to(f.x, f.a);
    const int32_t times[][3] = { { 1, 1, 1 }, { 2, 1, 3 }, { 1, 0, 2 } };
    for (int i = 0; i < 3; i++)
        equal(f, y, eddy_tile(f.x, EDDY_DIMS(times[i][0], times[i][1], times[i][2])), times[i],
              (int64_t[]){ 0, 0, 0 });
}
END_TEST

START_TEST(padding)
{
    const fed f = inputs();
    const eddy_tensor y = eddy_pad_to(f.x, f.a, f.b);
    const int32_t before[][3] = { { 0, 0, 0 }, { 1, 0, 2 }, { 0, 3, 0 } };
    const int64_t after[][3] = { { 0, 0, 0 }, { 0, 2, 1 }, { 1, 0, 0 } };
    for (int i = 0; i < 3; i++)
        equal(f, y, eddy_pad(f.x, EDDY_DIMS(before[i][0], before[i][1], before[i][2]),
                             EDDY_DIMS(after[i][0], after[i][1], after[i][2])),
              before[i], after[i]);
}
END_TEST

START_TEST(models_of_like)
{
    const eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    const eddy_tensor dims = eddy_stack(EDDY_LIST(n, eddy_number(g, EDDY_INT32, 3)));
    const eddy_tensor zeros = eddy_zeros_of(dims, EDDY_FLOAT64);
    const eddy_tensor x = vector(g, 3, (double[]){ 1, 2, 3 });
    const eddy_tensor y = eddy_broadcast_like(x, zeros);
    const eddy_tensor list[] = { zeros, y, eddy_random_uniform_like(zeros),
                                 eddy_gradient(eddy_sum(Square(y)), x) };
    for (int32_t k = 0; k < 3; k++) {
        eddy_array *in = eddy_array_of(EDDY_INT32, k), *out[4] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n, in }), ((eddy_list){ 4, list }), out), EDDY_OK);
        eddy_array_free(in);
        for (int i = 0; i < 3; i++)
            ck_assert(eddy_shape_equal(eddy_array_shape(out[i]), EDDY_SHAPE(k, 3)));
        for (int i = 0; i < 3 * k; i++) {
            ck_assert_double_eq(eddy_array_get(out[0], i), 0);
            ck_assert_double_eq(eddy_array_get(out[1], i), i % 3 + 1);
            ck_assert(eddy_array_get(out[2], i) >= 0 && eddy_array_get(out[2], i) < 1);
        }
        for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(out[3], i), 2 * k * (i + 1));
        for (int i = 0; i < 4; i++) eddy_array_free(out[i]);
    }
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

static void building_says(void)
{
    const eddy_tensor x = matrix(g, 2, 2, (double[]){ 1, 2, 3, 4 }),
                      two = vector(g, 2, (double[]){ 1, 2 });
    const eddy_tensor ids = Cast(two, EDDY_INT32), scalar = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor any = eddy_placeholder(g, "any", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    eddy_slice_to(x, two, ids), golden_graph(g);
    eddy_slice_to(x, ids, scalar), golden_graph(g);
    eddy_slice_to(any, ids, ids), golden_graph(g);
    eddy_tile_to(x, two), golden_graph(g);
    eddy_pad_to(x, ids, scalar), golden_graph(g);
    eddy_zeros_of(two, EDDY_FLOAT32), golden_graph(g);
    eddy_sequence_mask_to(two, ids, EDDY_BOOL), golden_graph(g);
    eddy_sequence_mask_to(ids, ids, EDDY_BOOL), golden_graph(g);
    eddy_unsorted_segment_sum_to(x, ids, two), golden_graph(g);
    eddy_unsorted_segment_mean_to(x, ids, ids), golden_graph(g);
    eddy_sequence_mask_to(EDDY_NO_TENSOR, scalar, EDDY_BOOL), golden_graph(g);
    eddy_unsorted_segment_mean_to(EDDY_NO_TENSOR, ids, scalar), golden_graph(g);
    eddy_unsorted_segment_sqrt_n_to(EDDY_NO_TENSOR, ids, scalar), golden_graph(g);
    eddy_slice_to(x, EDDY_NO_TENSOR, ids), golden_graph(g);
}

static void running_says(eddy_tensor y, const fed *f, int32_t a, int64_t b)
{
    eddy_array *x = counting();
    const eddy_status status =
        eddy_run(s,
                 EDDY_FEED({ f->x, x }, { f->a, EDDY_VIEW(((int32_t[]){ a, a, a }), 3) },
                           { f->b, EDDY_VIEW(((int64_t[]){ b, b, b }), 3) }),
                 EDDY_FETCH(y), NULL);
    ck_assert_int_ne(status, EDDY_OK);
    golden_line(eddy_session_message(s));
    eddy_array_free(x);
}

static int cut_box(eddy_list at, eddy_tensor *y, void *context)
{
    const eddy_tensor *around = context;
    y[0] = eddy_slice_at(around[0], at.at[0], around[1]);
    return 1;
}

static int put_box(eddy_list at, eddy_tensor *y, void *context)
{
    const eddy_tensor *around = context;
    y[0] = eddy_pad_at(around[1], at.at[0], around[0]);
    return 1;
}

/* Only the size along the axis is computed. */
START_TEST(known_sizes)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3, 4));
    const eddy_tensor end = eddy_placeholder(g, "end", EDDY_INT32, EDDY_SCALAR);
    const eddy_tensor one = eddy_number(g, EDDY_INT32, 1);
    const eddy_tensor y = eddy_slice_along(x, one, end, one, 0);
    ck_assert(eddy_shape_equal(eddy_shape_of(y), EDDY_SHAPE(EDDY_ANY, 3, 4)));
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_slice_along(x, one, end, one, -1)),
                               EDDY_SHAPE(EDDY_ANY, 3, EDDY_ANY)));
    fits(g);
}
END_TEST

START_TEST(out_of_range)
{
    golden_begin("ops/slice_at");
    const fed f = inputs();
    const eddy_tensor box = eddy_zeros_of(
        eddy_const(g, EDDY_INT32, EDDY_SHAPE(3), (const int32_t[]){ 1, 2, 2 }), EDDY_BOOL);
    running_says(eddy_slice_at(f.x, f.a, box), &f, 2, 0);
    running_says(eddy_slice_at(f.x, f.b, box), &f, 0, -1);
    running_says(eddy_pad_at(box, f.b, f.x), &f, 0, INT64_MAX);
    const eddy_function cut = { .build = cut_box, .context = (eddy_tensor[]){ f.x, box } };
    const eddy_function put = { .build = put_box, .context = (eddy_tensor[]){ f.x, box } };
    eddy_tensor y;
    eddy_vmap(cut, EDDY_LIST(eddy_expand_dims(f.b, 0)), &y);
    running_says(y, &f, 0, -1);
    running_says(y, &f, 0, 2);
    eddy_vmap(put, EDDY_LIST(eddy_expand_dims(f.b, 0)), &y);
    running_says(y, &f, 0, -1);
    running_says(y, &f, 0, 2);
    golden_end();
}
END_TEST

START_TEST(messages)
{
    golden_begin("ops/computed_sizes");
    building_says();
    const fed f = inputs();
    running_says(eddy_slice_to(f.x, f.a, f.b), &f, 1, 2);
    running_says(eddy_slice_to(f.x, f.a, f.b), &f, 0, -2);
    running_says(eddy_tile_to(f.x, f.a), &f, -1, 0);
    running_says(eddy_pad_to(f.x, f.a, f.b), &f, 0, -9);
    running_says(eddy_zeros_of(f.b, EDDY_FLOAT32), &f, 0, -1);
    running_says(eddy_zeros_of(f.b, EDDY_FLOAT32), &f, 0, INT64_MAX);
    running_says(eddy_sequence_mask_to(f.a, eddy_sum(f.a), EDDY_BOOL), &f, -1, 0);
    running_says(eddy_unsorted_segment_sum_to(f.a, f.b, eddy_sum(f.b)), &f, 1, -1);
    golden_end();
}
END_TEST

Suite *computed_sizes_suite(void)
{
    Suite *suite = suite_create("computed_sizes");
    TCase *c = tcase_create("sizes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, slices);
    tcase_add_test(c, examples_at_positions);
    tcase_add_test(c, known_sizes);
    tcase_add_test(c, out_of_range);
    tcase_add_test(c, repetitions);
    tcase_add_test(c, padding);
    tcase_add_test(c, models_of_like);
    tcase_add_test(c, messages);
    suite_add_tcase(suite, c);
    return suite;
}
