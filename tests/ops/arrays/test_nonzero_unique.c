/* test_nonzero_unique.c -- selection by value, with a size, with constants, with fed integers;
 * partitioning and stitching rows; formulas of arrays. The examples are those of TensorFlow's
 * documentation and results of NumPy 1.24. */
#include "tests/lib/element_checks.h"

Suite *nonzero_unique_suite(void);

static const eddy_dtype I32 = EDDY_INT32, I64 = EDDY_INT64;

/* The shape and the elements of y, with a fed vector of integers. */
static void check_fed(eddy_tensor y, eddy_tensor x, int n, const int32_t *v, eddy_shape want,
                      const double *numbers)
{
    char a[64], b[64];
    eddy_session *s = eddy_session_new(g);
    eddy_array *in = eddy_array_copy_of(I32, EDDY_SHAPE(n), v), *out = NULL;
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    ck_assert_str_eq(eddy_shape_print(eddy_array_shape(out), a, sizeof a),
                     eddy_shape_print(want, b, sizeof b));
    for (int64_t i = 0; i < eddy_array_count(out); i++)
        ck_assert_msg(eddy_array_get(out, i) == numbers[i], "element %d is %g", (int)i,
                      eddy_array_get(out, i));
    eddy_array_free(in);
    eddy_array_free(out);
    eddy_session_free(s);
}
#define D(...) ((const double[]){ __VA_ARGS__ })
#define FED(...) (int)(sizeof((int32_t[]){ __VA_ARGS__ }) / 4), (const int32_t[]){ __VA_ARGS__ }

static eddy_tensor open_ints(void)
{
    return eddy_placeholder(g, NULL, I32, EDDY_SHAPE(EDDY_ANY));
}

START_TEST(places_not_zero)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 3), D(0, 1, -0.0, NAN, 0, 2));
    eddy_tensor y = eddy_nonzero(x);
    IS(y, 0, 1, 1, 0, 1, 2);
    IS(eddy_output(y, 1), 3);
    y = eddy_nonzero(x, 2, .fill = -1);
    IS(y, 0, 1, 1, 0);
    IS(eddy_output(y, 1), 3);
    IS(eddy_nonzero(x, 4, .fill = -1), 0, 1, 1, 0, 1, 2, -1, -1);
    ck_assert_int_eq(values(eddy_nonzero(num(F64, 0)), (double[ROOM]){ 0 }), 0);
    /* Rows of a scalar have no elements: any number of them takes no time. */
    ck_assert_int_eq(values(eddy_nonzero(num(F64, 1), 1LL << 45), (double[ROOM]){ 0 }), 0);
    eddy_tensor fed = open_ints();
    check_fed(eddy_nonzero(fed), fed, FED(0, 3, 0, 0, -1), EDDY_SHAPE(2, 1), D(1, 4));
    check_fed(eddy_nonzero(fed), fed, FED(0), EDDY_SHAPE(0, 1), NULL);
    check_fed(eddy_output(eddy_nonzero(fed, 1), 1), fed, FED(1, 1, 1), EDDY_SCALAR, D(3));
}
END_TEST

/* Constants, whose values the shape rule reads. */
START_TEST(places_of_small_types)
{
    static const eddy_dtype types[] = { EDDY_FLOAT16, EDDY_BFLOAT16, EDDY_UINT8, EDDY_BOOL };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        eddy_tensor x = shaped(types[i], EDDY_SHAPE(4), D(0, 1, -0.0, 1));
        IS(eddy_nonzero(x), 1, 3);
        ck_assert_int_eq(eddy_shape_of(eddy_nonzero(x)).dim[0], 2);
    }
}
END_TEST

START_TEST(masks)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(3, 2), D(1, 2, 3, 4, 5, 6));
    eddy_tensor rows = vec(EDDY_BOOL, V(1, 0, 1)), columns = vec(EDDY_BOOL, V(0, 1));
    eddy_tensor all = shaped(EDDY_BOOL, EDDY_SHAPE(3, 2), D(1, 0, 0, 1, 1, 0));
    IS(eddy_boolean_mask(x, rows), 1, 2, 5, 6);
    IS(eddy_boolean_mask(x, columns, .axis = 1), 2, 4, 6);
    IS(eddy_boolean_mask(x, all), 1, 4, 5);
    IS(eddy_boolean_mask(x, rows, .size = 3), 1, 2, 5, 6, 0, 0);
    IS(slope(Square(eddy_boolean_mask(x, all)), x), 2, 0, 0, 8, 10, 0);
    IS(slope(Square(eddy_boolean_mask(x, rows, .size = 1)), x), 2, 4, 0, 0, 0, 0);
    eddy_tensor cube = eddy_reshape(eddy_range(num(F64, 0), num(F64, 8), num(F64, 1)),
                                    EDDY_SHAPE(2, 2, 2));
    eddy_tensor square = shaped(EDDY_BOOL, EDDY_SHAPE(2, 2), D(1, 0, 0, 1));
    IS(eddy_boolean_mask(cube, square, .axis = 1), 0, 3, 4, 7);
    eddy_tensor fed = open_ints();
    check_fed(eddy_boolean_mask(Cast(fed, F32), fed), fed, FED(0, 3, 0, 5), EDDY_SHAPE(2), D(3, 5));
    refused(eddy_boolean_mask(x, columns), EDDY_BAD_SHAPE, "does not match");
    refused(eddy_boolean_mask(x, columns, .axis = INT64_MAX), EDDY_BAD_SHAPE, "does not match");
}
END_TEST

/* No size that all examples would have; no place to fill with. */
START_TEST(places_refused)
{
    eddy_tensor x = shaped(F32, EDDY_SHAPE(2, 3), D(0, 1, 0, 0, 0, 2));
    const double bad[] = { 0.5, NAN, INFINITY, 0x1p63 };
    for (int i = 0; i < 4; i++)
        refused(eddy_nonzero(x, 2, .fill = bad[i]), EDDY_INVALID_ARGUMENT,
                "expected a whole number");
    IS(eddy_nonzero(x, 3, .fill = -0x1p62), 0, 1, 1, 2, -0x1p62, -0x1p62);
}
END_TEST

START_TEST(different_values)
{
    eddy_tensor y = eddy_unique(vec(I32, V(1, 1, 2, 4, 4, 4, 7, 8, 8)));
    IS(y, 1, 2, 4, 7, 8);
    IS(eddy_output(y, 1), 0, 0, 1, 2, 2, 2, 3, 4, 4);
    IS(eddy_output(y, 2), 2, 1, 3, 1, 2);
    IS(eddy_output(y, 3), 5);
    y = eddy_unique(vec(F64, V(0.0, NAN, -0.0, 3, NAN)), 3, .out_idx = I64);
    IS(y, 0, NAN, 3);
    IS(eddy_output(y, 1), 0, 1, 0, 2, -1);
    IS(eddy_output(y, 2), 2, 1, 1);
    IS(eddy_output(y, 3), 4);
    IS(eddy_unique(vec(F32, V(5, 5)), 3), 5, 0, 0);
    y = eddy_unique(vec(EDDY_BOOL, V(1, 0, 1, 0)));
    IS(y, 1, 0);
    IS(eddy_output(y, 1), 0, 1, 0, 1);
    IS(eddy_output(y, 2), 2, 2);
    eddy_tensor x = vec(F64, V(3, 1, 3, 2));
    IS(slope(Square(eddy_unique(x, 4)), x), 6, 2, 0, 4);
    eddy_tensor fed = open_ints();
    check_fed(eddy_unique(fed), fed, FED(5, 5, 4, 5), EDDY_SHAPE(2), D(5, 4));
}
END_TEST

/* Rows, columns, parts of a cube, as NumPy's unique puts them in order of their first places. */
START_TEST(different_parts)
{
    const eddy_tensor x = shaped(F64, EDDY_SHAPE(4, 2), D(1, 2, 3, 4, 1, 2, -0.0, 4));
    eddy_tensor y = eddy_unique_along(x);
    IS(y, 1, 2, 3, 4, 0, 4);
    IS(eddy_output(y, 1), 0, 1, 0, 2);
    IS(eddy_output(y, 2), 2, 1, 1);
    IS(eddy_output(y, 3), 3);
    y = eddy_unique_along(Transpose(x, EDDY_DIMS(1, 0)), -1, .out_idx = I64);
    IS(y, 1, 3, 0, 2, 4, 4);
    ck_assert_int_eq(eddy_dtype_of(eddy_output(y, 1)), I64);
    y = eddy_unique_along(x, 0, 2);
    IS(y, 1, 2, 3, 4);
    IS(eddy_output(y, 1), 0, 1, 0, -1);
    IS(eddy_output(eddy_unique_along(shaped(EDDY_BOOL, EDDY_SHAPE(3, 2), D(0, 1, 1, 0, 0, 1))), 1),
       0, 1, 0);
    IS(eddy_unique_along(x, .size = 4), 1, 2, 3, 4, 0, 4, 0, 0);
    IS(eddy_unique_along(shaped(F32, EDDY_SHAPE(3, 2), D(NAN, 1, NAN, 1, 2, NAN))),
       NAN, 1, NAN, 1, 2, NAN);
    IS(eddy_unique_along(shaped(I32, EDDY_SHAPE(2, 3, 2), D(1, 2, 3, 4, 1, 2, 5, 6, 7, 8, 5, 6)),
                         1),
       1, 2, 3, 4, 5, 6, 7, 8);
    IS(slope(Square(eddy_unique_along(x, 0, 3)), x), 2, 4, 6, 8, 0, 0, 0, 8);
    IS(eddy_output(eddy_unique_along(shaped(I32, EDDY_SHAPE(2, 0), D(0))), 2), 2);
    const eddy_tensor fed = open_ints();
    check_fed(eddy_unique_along(eddy_reshape(fed, EDDY_SHAPE(-1, 2))), fed, FED(5, 5, 4, 5, 5, 5),
              EDDY_SHAPE(2, 2), D(5, 5, 4, 5));
    refused(eddy_unique_along(x, 2), EDDY_INVALID_ARGUMENT, "axis");
}
END_TEST

/* Many values, against a search of all before. */
START_TEST(many_values)
{
    enum { N = 3000 };
    static double v[N], first[N], at[N];
    int found = 0;
    for (int i = 0; i < N; i++) {
        int j = 0;
        v[i] = floor(uniform(-700, 700)) / 2;
        while (j < found && first[j] != v[i]) j++;
        if (j == found) first[found++] = v[i];
        at[i] = j;
    }
    eddy_tensor y = eddy_unique(vec(F32, N, v));
    eddy_session *s = eddy_session_new(g);
    eddy_array *out[2] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, eddy_output(y, 1)), out), EDDY_OK);
    ck_assert_int_eq(eddy_array_count(out[0]), found);
    for (int i = 0; i < found; i++) ck_assert(eddy_array_get(out[0], i) == first[i]);
    for (int i = 0; i < N; i++) ck_assert(eddy_array_get(out[1], i) == at[i]);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    eddy_session_free(s);
}
END_TEST

START_TEST(parts)
{
    eddy_tensor x = vec(F32, V(10, 20, 30, 40, 50)), ids = vec(I32, V(0, 0, 1, 1, 0));
    eddy_tensor y = eddy_dynamic_partition(x, ids, 2);
    IS(y, 10, 20, 50);
    IS(eddy_output(y, 1), 30, 40);
    y = eddy_dynamic_partition(x, ids, 2, .size = 4);
    IS(eddy_output(y, 1), 30, 40, 0, 0);
    IS(slope(Square(eddy_output(y, 1)), x), 0, 0, 60, 80, 0);
    eddy_tensor fed = open_ints();
    check_fed(eddy_dynamic_partition(x, fed, 3), fed, FED(2, 0, 1, 0, 2), EDDY_SHAPE(2), D(20, 40));
    eddy_tensor at[] = { num(I32, 6), vec(I32, V(4, 1)),
                         shaped(I32, EDDY_SHAPE(2, 2), D(5, 2, 0, 3)) };
    eddy_tensor rows[] = { vec(F32, V(61, 62)), shaped(F32, EDDY_SHAPE(2, 2), D(41, 42, 11, 12)),
                           shaped(F32, EDDY_SHAPE(2, 2, 2), D(51, 52, 21, 22, 1, 2, 31, 32)) };
    y = eddy_dynamic_stitch((eddy_list){ 3, at }, (eddy_list){ 3, rows });
    IS(y, 1, 2, 11, 12, 21, 22, 31, 32, 41, 42, 51, 52, 61, 62);
    IS(slope(Square(y), rows[1]), 82, 84, 22, 24);
    check_fed(eddy_dynamic_stitch(EDDY_LIST(fed), EDDY_LIST(x)), fed, FED(5, 0, 0, 1, 2),
              EDDY_SHAPE(6), D(30, 40, 50, 0, 0, 10));
    check_fed(eddy_dynamic_stitch(EDDY_LIST(fed), EDDY_LIST(x), .size = 7), fed,
              FED(5, 0, 0, 1, 2), EDDY_SHAPE(7), D(30, 40, 50, 0, 0, 10, 0));
}
END_TEST

/* Numbers at the ends of their types are in no part, and make no rows. */
START_TEST(parts_out_of_range)
{
    const int64_t ends[] = { INT64_MIN, 1, 0, INT64_MAX };
    eddy_tensor x = vec(F32, V(10, 20, 30, 40)), fed = open_ints();
    for (int p = 0; p < 2; p++) {
        eddy_tensor y = eddy_dynamic_partition(x, fed, 2);
        check_fed(eddy_output(y, p), fed, FED(INT32_MIN, 1, 0, INT32_MAX), EDDY_SHAPE(1),
                  p ? D(20) : D(30));
        check_fed(eddy_output(y, p), fed, FED(INT32_MIN + 1, 1, 0, -1), EDDY_SHAPE(1),
                  p ? D(20) : D(30));
        y = eddy_dynamic_partition(x, eddy_const(g, I64, EDDY_SHAPE(4), ends), 2);
        IS(eddy_output(y, p), p ? 20 : 30);
    }
    refused(eddy_dynamic_partition(x, x, 2), EDDY_BAD_DTYPE, "int32 or int64 expected");
    eddy_tensor last = eddy_const(g, I64, EDDY_SHAPE(4), ends);
    refused(eddy_dynamic_stitch(EDDY_LIST(last), EDDY_LIST(x)), EDDY_INVALID_ARGUMENT, "too many");
}
END_TEST

START_TEST(searching)
{
    eddy_tensor rows = shaped(F32, EDDY_SHAPE(2, 5), D(1, 3, 3, 5, 9, -1, 0, 0, 0, 2));
    eddy_tensor v = shaped(F32, EDDY_SHAPE(2, 4), D(0, 3, 9, 10, 0, -5, 2, 1));
    IS(eddy_searchsorted(rows, v), 0, 1, 4, 5, 1, 0, 4, 4);
    IS(eddy_searchsorted(rows, v, .right = true, .out_type = I64), 0, 3, 5, 5, 4, 0, 5, 4);
    IS(eddy_searchsorted(vec(I32, 0, NULL), vec(I32, V(3, 4))), 0, 0);
    IS(eddy_invert_permutation(vec(I32, V(3, 4, 0, 2, 1))), 2, 4, 3, 0, 1);
    ck_assert_int_eq(run_status(eddy_invert_permutation(vec(I64, V(0, 0)))), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(run_status(eddy_invert_permutation(vec(I64, V(0, 2)))), EDDY_OUT_OF_RANGE);
}
END_TEST

START_TEST(repeats)
{
    eddy_tensor x = shaped(F64, EDDY_SHAPE(2, 2), D(1, 2, 3, 4)), two = num(I32, 2);
    IS(eddy_repeat(x, two), 1, 1, 2, 2, 3, 3, 4, 4);
    IS(eddy_repeat(x, two, .axis = EDDY_AXES(0)), 1, 2, 1, 2, 3, 4, 3, 4);
    IS(eddy_repeat(x, two, .axis = EDDY_AXES(-1)), 1, 1, 2, 2, 3, 3, 4, 4);
    ck_assert_int_eq(values(eddy_repeat(x, num(I32, 0)), (double[ROOM]){ 0 }), 0);
    eddy_tensor each = vec(I32, V(3, 1));
    eddy_tensor y = eddy_repeat(x, each, .axis = EDDY_AXES(0));
    IS(y, 1, 2, 1, 2, 1, 2, 3, 4);
    IS(slope(Square(y), x), 6, 12, 6, 8);
    IS(eddy_repeat(x, each, .axis = EDDY_AXES(1), .size = 5), 1, 1, 1, 2, 0, 3, 3, 3, 4, 0);
    eddy_tensor fed = open_ints(), v = vec(F32, V(7, 8, 9));
    check_fed(eddy_repeat(v, fed), fed, FED(0, 2, 1), EDDY_SHAPE(3), D(8, 8, 9));
    eddy_tensor open = eddy_placeholder(g, NULL, F32, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    eddy_tensor z = eddy_repeat(open, two, .axis = EDDY_AXES(1));
    ck_assert_int_eq(eddy_shape_of(z).rank, 2);
}
END_TEST

/* One number for each place, or one for all, also where a run tells how many there are. */
START_TEST(repeats_that_do_not_fit)
{
    eddy_tensor v = vec(F32, V(7, 8, 9)), one = vec(I32, V(2));
    IS(eddy_repeat(v, one), 7, 7, 8, 8, 9, 9);
    refused(eddy_repeat(v, vec(I32, V(1, 2))), EDDY_BAD_SHAPE,
            "the number of repeats is 2; expected 3");
    refused(eddy_repeat(v, vec(I32, V(1, 2, 3, 4))), EDDY_BAD_SHAPE,
            "the number of repeats is 4; expected 3");
    refused(eddy_repeat(v, vec(F32, V(1, 2, 3))), EDDY_BAD_DTYPE, "int32 or int64 expected");
    refused(eddy_repeat(v, vec(I32, V(1, -2, 3))), EDDY_INVALID_ARGUMENT,
            "repeats[1] = -2 is negative");
    refused(eddy_repeat(v, num(I32, -2)), EDDY_INVALID_ARGUMENT, "repeats[0] = -2 is negative");
    eddy_tensor fed = open_ints(), open = eddy_placeholder(g, NULL, F32, EDDY_SHAPE(EDDY_ANY));
    check_fed(eddy_repeat(v, fed), fed, FED(2), EDDY_SHAPE(6), D(7, 7, 8, 8, 9, 9));
    eddy_array *y = NULL;
    const feed two = { fed, D(1, 2), 2 };
    ck_assert_int_eq(evaluate(eddy_repeat(v, fed), 1, &two, &y), EDDY_BAD_SHAPE);
    double got[ROOM];
    feed both[] = { { fed, D(1, 2), 2 }, { open, D(5, 6), 2 } };
    ck_assert_int_eq(values_fed(eddy_repeat(open, fed), 2, both, got), 3);
    ck_assert(got[0] == 5 && got[1] == 6 && got[2] == 6);
    both[0].n = 1;
    ck_assert_int_eq(values_fed(eddy_repeat(open, fed), 2, both, got), 2);
    both[0].n = 2, both[1].n = 1;
    ck_assert_int_eq(evaluate(eddy_repeat(open, fed), 2, both, &y), EDDY_BAD_SHAPE);
    const feed flat[] = { { fed, D(1, 2), 2 }, { open, D(1, 2, 3, 4), 4 } };
    eddy_tensor rows = eddy_reshape(open, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor z = eddy_repeat(rows, fed, .axis = EDDY_AXES(0));
    ck_assert_int_eq(values_fed(z, 2, flat, got), 6);
    ck_assert(got[0] == 1 && got[2] == 3 && got[4] == 3 && got[5] == 4);
}
END_TEST

/* Numbers that their type does not hold. */
START_TEST(wide_shapes)
{
    const eddy_tensor i = vec(I32, V(5, 2147483647.0)), v = vec(F32, V(1, 2));
    const int64_t far = ((int64_t)1 << 33) + 3;
    IS(eddy_unravel_index(i, EDDY_SHAPE(4, (int64_t)1 << 32)), 0, 0, 5, 2147483647.0);
    IS(eddy_unravel_index(eddy_const(g, I64, EDDY_SCALAR, &far), EDDY_SHAPE(4, (int64_t)1 << 32)),
       2, 3);
    const eddy_tensor bytes = vec(EDDY_UINT8, V(1, 2));
    refused(eddy_unravel_index(bytes, EDDY_SHAPE(2, 2)), EDDY_BAD_DTYPE, "int32 or int64 expected");
    refused(eddy_unravel_index(i, EDDY_SHAPE((int64_t)1 << 30, (int64_t)1 << 24)),
            EDDY_INVALID_ARGUMENT, "1 to 2^53 elements");
    refused(eddy_sequence_mask(i, (int64_t)1 << 33, EDDY_BOOL), EDDY_INVALID_ARGUMENT, "maxlen");
    refused(eddy_sequence_mask(v, 4, EDDY_BOOL), EDDY_BAD_DTYPE, "lengths is float32");
}
END_TEST

START_TEST(spaces)
{
    IS(eddy_linspace(num(F64, 10), num(F64, 12), 3), 10, 11, 12);
    IS(eddy_linspace(num(F32, 5), num(F32, 9), 1), 5);
    IS(eddy_linspace(vec(F32, V(0, 1)), vec(F32, V(1, 3)), 3), 0, 1, 0.5, 2, 1, 3);
    eddy_tensor a = num(F64, 2), b = num(F64, 6);
    IS(slope(eddy_linspace(a, b, 5), a), 2.5);
    IS(slope(eddy_linspace(a, b, 5), b), 2.5);
    NEAR(eddy_logspace(num(F64, 0), num(F64, 3), 4, 10), 1, 10, 100, 1000);
    eddy_tensor x = vec(I32, V(1, 2, 3)), y = vec(F32, V(4, 5));
    eddy_tensor grid = eddy_meshgrid(EDDY_LIST(x, y), true);
    IS(grid, 1, 2, 3, 1, 2, 3);
    IS(eddy_output(grid, 1), 4, 4, 4, 5, 5, 5);
    IS(eddy_meshgrid(EDDY_LIST(x, y), false), 1, 1, 2, 2, 3, 3);
    IS(eddy_sequence_mask(vec(I32, V(1, 3, 2)), 5, EDDY_BOOL),
       1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0);
    IS(eddy_sequence_mask(shaped(I64, EDDY_SHAPE(1, 2), D(1, 3)), 0, F32), 1, 0, 0, 1, 1, 1);
    eddy_tensor fed = open_ints();
    check_fed(eddy_sequence_mask(fed, 0, I32), fed, FED(2, 1), EDDY_SHAPE(2, 2), D(1, 1, 1, 0));
    IS(eddy_unravel_index(vec(I32, V(2, 5, 7)), EDDY_SHAPE(3, 3)), 0, 1, 2, 2, 2, 1);
    IS(eddy_eye(g, 2, 3, F64), 1, 0, 0, 0, 1, 0);
    IS(eddy_eye(g, 2, .dtype = I32), 1, 0, 0, 1);
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_eye(g, 2, 0)), EDDY_SHAPE(2, 0)));
}
END_TEST

START_TEST(moving)
{
    eddy_tensor x = eddy_reshape(eddy_range(num(F64, 0), num(F64, 6), num(F64, 1)),
                                 EDDY_SHAPE(1, 2, 3));
    eddy_tensor m = eddy_reshape(x, EDDY_SHAPE(2, 3));
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_moveaxis(x, 0, -1)), EDDY_SHAPE(2, 3, 1)));
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_moveaxis(x, 2, 0)), EDDY_SHAPE(3, 1, 2)));
    IS(eddy_moveaxis(x, 2, 0), 0, 3, 1, 4, 2, 5);
    IS(eddy_swapaxes(m, 0, -1), 0, 3, 1, 4, 2, 5);
    ck_assert(eddy_shape_equal(eddy_shape_of(eddy_flatten(x)), EDDY_SHAPE(1, 6)));
    IS(eddy_rot90(m, 1, 0, 1), 2, 5, 1, 4, 0, 3);
    IS(eddy_rot90(m, 2, 0, 1), 5, 4, 3, 2, 1, 0);
    IS(eddy_rot90(m, -1, 0, 1), 3, 0, 4, 1, 5, 2);
    IS(eddy_rot90(m, 4, 0, 1), 0, 1, 2, 3, 4, 5);
    eddy_tensor i = shaped(I32, EDDY_SHAPE(2, 2), D(2, 0, 1, 1));
    IS(eddy_take_along_axis(m, i, 1), 2, 0, 4, 4);
    IS(eddy_put_along_axis(m, i, shaped(F64, EDDY_SHAPE(2, 2), D(7, 8, 9, 10)), 1),
       8, 1, 7, 3, 10, 5);
    IS(eddy_put_along_axis(m, i, shaped(F64, EDDY_SHAPE(2, 2), D(7, 8, 9, 10)), 1, .add = true),
       8, 1, 9, 3, 23, 5);
    eddy_tensor line = vec(I32, V(1, 0));
    refused(eddy_take_along_axis(m, line, 0), EDDY_BAD_SHAPE,
            "the indices have rank 1, but x has rank 2");
    refused(eddy_take_along_axis(m, line, -1), EDDY_BAD_SHAPE,
            "the indices have rank 1, but x has rank 2");
    refused(eddy_put_along_axis(m, line, vec(F64, V(1, 2)), -1), EDDY_BAD_SHAPE,
            "put_along_axis: the indices have rank 1, but x has rank 2");
    eddy_tensor none = eddy_placeholder(g, NULL, F32, EDDY_SHAPE(EDDY_ANY, 0, 3));
    eddy_tensor open = eddy_flatten(none);
    ck_assert(eddy_shape_equal(eddy_shape_of(open), EDDY_SHAPE(EDDY_ANY, 0)));
    eddy_array *empty = eddy_array_new(F32, EDDY_SHAPE(5, 0, 3)), *flat = NULL;
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ none, empty }), EDDY_FETCH(open), &flat), EDDY_OK);
    ck_assert(eddy_shape_equal(eddy_array_shape(flat), EDDY_SHAPE(5, 0)));
    eddy_array_free(flat);
    eddy_array_free(empty);
    eddy_session_free(s);
    eddy_tensor rows = shaped(I32, EDDY_SHAPE(1, 3), D(1, 0, 1));
    IS(eddy_take_along_axis(m, rows, 0), 3, 1, 5);
    IS(slope(Square(eddy_take_along_axis(m, rows, 0)), m), 0, 2, 0, 6, 0, 10);
    IS(eddy_put_along_axis(m, rows, shaped(F64, EDDY_SHAPE(1, 3), D(7, 8, 9)), 0),
       0, 8, 2, 7, 4, 9);
}
END_TEST

START_TEST(shapes)
{
    eddy_shape s;
    ck_assert(eddy_broadcast_static_shape(EDDY_SHAPE(5, 1, 3), EDDY_SHAPE(2, EDDY_ANY), &s));
    ck_assert(eddy_shape_equal(s, EDDY_SHAPE(5, 2, 3)));
    ck_assert(eddy_broadcast_static_shape(EDDY_SHAPE(1), EDDY_SHAPE(EDDY_ANY), &s));
    ck_assert(eddy_shape_equal(s, EDDY_SHAPE(EDDY_ANY)));
    ck_assert(eddy_broadcast_static_shape(EDDY_SHAPE(0), EDDY_SHAPE(1), &s));
    ck_assert(eddy_shape_equal(s, EDDY_SHAPE(0)));
    ck_assert(!eddy_broadcast_static_shape(EDDY_SHAPE(2), EDDY_SHAPE(3), &s));
    IS(eddy_broadcast_dynamic_shape(vec(I32, V(5, 1, 3)), vec(I32, V(2, 1))), 5, 2, 3);
    eddy_tensor x = vec(F64, V(1, 2)), m = shaped(F64, EDDY_SHAPE(2, 2), D(1, 2, 3, 4));
    IS(eddy_diag(x), 1, 0, 0, 2);
    IS(eddy_diag(m), 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4);
    IS(eddy_diag_part(eddy_diag(m)), 1, 2, 3, 4);
    IS(slope(Square(eddy_diag_part(m)), m), 2, 0, 0, 8);
    eddy_tensor open = eddy_placeholder(g, NULL, F64, EDDY_SHAPE(EDDY_ANY, 2));
    double got[ROOM];
    ck_assert_int_eq(eddy_shape_of(eddy_diag(open)).rank, 4);
    eddy_tensor v = eddy_placeholder(g, NULL, F64, EDDY_SHAPE(EDDY_ANY));
    ck_assert_int_eq(values_fed(eddy_diag(v), 1, &(feed){ v, D(3, 4), 2 }, got), 4);
    ck_assert(got[0] == 3 && got[1] == 0 && got[3] == 4);
    IS(eddy_scatter_nd(shaped(I32, EDDY_SHAPE(4, 1), D(4, 3, 1, 7)), vec(F32, V(9, 10, 11, 12)),
                       EDDY_SHAPE(8)), 0, 11, 0, 10, 9, 0, 0, 12);
    IS(eddy_parallel_stack(EDDY_LIST(x, x)), 1, 2, 1, 2);
    IS(eddy_guarantee_const(x), 1, 2);
}
END_TEST

Suite *nonzero_unique_suite(void)
{
    Suite *s = suite_create("nonzero_unique");
    TCase *c = tcase_create("select_rows");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, places_not_zero);
    tcase_add_test(c, places_of_small_types);
    tcase_add_test(c, masks);
    tcase_add_test(c, places_refused);
    tcase_add_test(c, different_values);
    tcase_add_test(c, different_parts);
    tcase_add_test(c, many_values);
    tcase_add_test(c, parts);
    tcase_add_test(c, parts_out_of_range);
    tcase_add_test(c, searching);
    tcase_add_test(c, repeats);
    tcase_add_test(c, repeats_that_do_not_fit);
    tcase_add_test(c, wide_shapes);
    tcase_add_test(c, spaces);
    tcase_add_test(c, moving);
    tcase_add_test(c, shapes);
    suite_add_tcase(s, c);
    return s;
}
