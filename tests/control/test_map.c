/* test_map.c -- map_fn: rows processed one after the other, results stacked. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

BODY(cubic, Sub(Mul(Square(x[0]), x[0]), Mul(x[0], 2)))
BODY(add_and_multiply, Add(x[0], x[1]), Mul(x[0], x[1]))
BODY(itself, x[0])
BODY(both_ways, x[0], x[0], Neg(x[0]))
BODY(captured, c[0])
BODY(times_captured, Mul(x[0], c[0]))
BODY(row_sum, Sum(x[0]))
BODY(is_positive, Greater(x[0], 0), Cast(x[0], EDDY_INT32))
BODY(gathered, eddy_gather(c[0], x[0]))
BODY(outer, Mul(eddy_expand_dims(x[0], 0), eddy_expand_dims(x[0], 1)))
BODY(solved, eddy_matmul(x[0], c[0]))
BODY(log_or_zero, Where(Greater(x[0], 0), Log(Maximum(x[0], 1e-300)), 0))
BODY(rotated, Mul(x[0], Complex(c[0], c[1])))
BODY(half_up, Add(x[0], eddy_number(x[0].graph, EDDY_FLOAT64, 0.5)))

static eddy_tensor map(eddy_function f, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_map_fn(f, EDDY_LIST(x), y);
    ck_assert_msg(n > 0, "%s", eddy_graph_message(x.graph));
    return y[0];
}

/* tf: testMap_Simple */
START_TEST(elements)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, -2, 3, 0)), y = map(PLAIN(cubic), x);
    eddy_tensor d1 = slope(y, x), d2 = slope(d1, x), d3 = slope(d2, x);
    is(&t, y, V(-1, -4, 21, 0)), is(&t, d1, V(1, 10, 25, -2));
    is(&t, d2, V(6, -12, 18, 0)), is(&t, d3, V(6, 6, 6, 6));
    trial_end(&t);
}
END_TEST

/* tf: testMap_MultiInputSingleOutput and the others */
START_TEST(several_inputs_and_results)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = numbers(&t, V(1, 2, 3)), b = numbers(&t, V(4, 5, 6)), y[3];
    ck_assert_int_eq(eddy_map_fn(PLAIN(add_and_multiply), EDDY_LIST(a, b), y), 2);
    is(&t, y[0], V(5, 7, 9)), is(&t, y[1], V(4, 10, 18));
    is(&t, slope(y[1], a), V(4, 5, 6)), is(&t, slope(Add(y[0], y[1]), b), V(2, 3, 4));
    ck_assert_int_eq(eddy_map_fn(PLAIN(add_and_multiply), EDDY_LIST(a, a), y), 2);
    is(&t, y[1], V(1, 4, 9)), is(&t, slope(y[1], a), V(2, 4, 6));
    ck_assert_int_eq(eddy_map_fn(PLAIN(both_ways), EDDY_LIST(a), y), 3);
    is(&t, y[1], V(1, 2, 3)), is(&t, y[2], V(-1, -2, -3));
    is(&t, slope(Add(y[1], Add(y[0], y[2])), a), V(1, 1, 1));
    trial_end(&t);
}
END_TEST

START_TEST(results_of_other_types)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1.5, -2.5, 0)), y[2];
    ck_assert_int_eq(eddy_map_fn(PLAIN(is_positive), EDDY_LIST(x), y), 2);
    ck_assert_int_eq(eddy_dtype_of(y[0]), EDDY_BOOL);
    is(&t, y[0], V(1, 0, 0)), is(&t, y[1], V(1, -2, 0));
    eddy_tensor re = fed_real(&t, 0), im = fed_real(&t, 1),
                z = map(FUNCTION(rotated, re, im), Complex(x, x));
    is(&t, Real(z), V(-1.5, 2.5, 0)), is(&t, Imag(z), V(1.5, -2.5, 0));
    is(&t, slope(Real(z), im), V(1)), is(&t, slope(Real(z), x), V(-1, -1, -1));
    trial_end(&t);
}
END_TEST

START_TEST(arguments_and_captured_tensors)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3)), w = numbers(&t, V(5, 7)), s = fed_real(&t, 4);
    eddy_tensor same = map(PLAIN(itself), x), all = map(FUNCTION(captured, w), x);
    is(&t, same, V(1, 2, 3)), is(&t, slope(same, x), V(1, 1, 1));
    is(&t, all, V(5, 7, 5, 7, 5, 7)), is(&t, slope(all, w), V(3, 3));
    eddy_tensor y = map(FUNCTION(times_captured, s), x);
    is(&t, y, V(4, 8, 12)), is(&t, slope(y, s), V(6)), is(&t, slope(slope(Square(y), s), s), V(28));
    eddy_tensor pairs = map(FUNCTION(times_captured, w), x);
    is(&t, pairs, V(5, 7, 10, 14, 15, 21)), is(&t, slope(pairs, w), V(6, 6));
    trial_end(&t);
}
END_TEST

START_TEST(rows_of_matrices)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(2, 3), (double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor sums = map(PLAIN(row_sum), x);
    is(&t, sums, V(6, 15)), is(&t, slope(Square(sums), x), V(12, 12, 12, 30, 30, 30));
    eddy_tensor known = eddy_set_shape(x, EDDY_SHAPE(2, 3)), y = map(PLAIN(outer), known);
    is_shaped(&t, y, EDDY_SHAPE(2, 3, 3));
    is(&t, y, V(1, 2, 3, 2, 4, 6, 3, 6, 9, 16, 20, 24, 20, 25, 30, 24, 30, 36));
    is(&t, slope(y, x), V(12, 12, 12, 30, 30, 30));
    trial_end(&t);
}
END_TEST

START_TEST(products_of_matrices)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(3, 1, 2), (double[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor m = given(&t, F64, EDDY_SHAPE(2, 2), (double[]){ 1, -1, 0, 2 });
    eddy_tensor y = map(FUNCTION(solved, m), x);
    is(&t, y, V(1, 3, 3, 5, 5, 7)), is(&t, slope(y, m), V(9, 9, 12, 12));
    is(&t, slope(y, x), V(0, 2, 0, 2, 0, 2));
    trial_end(&t);
}
END_TEST

/* The gradient of rows of a captured table is that of all iterations together. */
START_TEST(gathered_rows)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor at = given(&t, I32, EDDY_SHAPE(4), (double[]){ 2, 0, 2, 2 });
    eddy_tensor table = given(&t, F64, EDDY_SHAPE(3, 2), (double[]){ 1, 2, 3, 4, 5, 6 });
    table = eddy_set_shape(table, EDDY_SHAPE(3, 2));
    eddy_tensor y = map(FUNCTION(gathered, table), at), d = slope(Square(y), table);
    is(&t, y, V(5, 6, 1, 2, 5, 6, 5, 6)), is(&t, d, V(2, 4, 0, 0, 30, 36));
    is(&t, slope(d, table), V(2, 2, 0, 0, 6, 6));
    trial_end(&t);
}
END_TEST

START_TEST(no_rows_and_one)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(0), NULL), s = fed_real(&t, 4),
                one = numbers(&t, V(3));
    eddy_tensor none = map(FUNCTION(times_captured, s), x),
                y = map(FUNCTION(times_captured, s), one);
    is_shaped(&t, none, EDDY_SHAPE(0)), is_shaped(&t, slope(none, x), EDDY_SHAPE(0));
    is(&t, slope(none, s), V(0)), is(&t, y, V(12)), is(&t, slope(y, s), V(3));
    eddy_tensor empty = given(&t, F64, EDDY_SHAPE(3, 0), NULL), sums = map(PLAIN(row_sum), empty);
    is(&t, sums, V(0, 0, 0)), is_shaped(&t, slope(sums, empty), EDDY_SHAPE(3, 0));
    trial_end(&t);
}
END_TEST

/* tf: testMapUnknownShape -- one graph, any number of rows. */
START_TEST(any_number_of_rows)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = map(PLAIN(cubic), x), dx = slope(y, x);
    ck_assert_int_eq(eddy_shape_of(y).rank, 1);
    for (int n = 0; n < 40; n += 1 + n / 2) {
        double      v[40];
        eddy_array *out[2] = { NULL };
        for (int i = 0; i < n; i++) v[i] = i;
        ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ x, EDDY_VIEW(v, n) }), EDDY_FETCH(y, dx),
                                  out), EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out[0]), n);
        ck_assert_int_eq(eddy_array_count(out[1]), n);
        for (int i = 0; i < n; i++) {
            ck_assert(eddy_array_get(out[0], i) == (double)i * i * i - 2 * i);
            ck_assert(eddy_array_get(out[1], i) == 3.0 * i * i - 2);
        }
        eddy_array_free(out[0]), eddy_array_free(out[1]);
    }
    trial_end(&t);
}
END_TEST

START_TEST(kinks)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(0, 1, -3, 2)), y = map(PLAIN(log_or_zero), x);
    is(&t, y, V(0, 0, 0, log(2))), is(&t, slope(y, x), V(0, 1, 0, 0.5));
    is(&t, map(PLAIN(half_up), x), V(0.5, 1.5, -2.5, 2.5));
    trial_end(&t);
}
END_TEST

Suite *map_suite(void)
{
    Suite *s = suite_create("map");
    TCase *c = tcase_create("map_fn");
    tcase_add_loop_test(c, elements, 0, SEEDS);
    tcase_add_loop_test(c, several_inputs_and_results, 0, SEEDS);
    tcase_add_loop_test(c, results_of_other_types, 0, SEEDS);
    tcase_add_loop_test(c, arguments_and_captured_tensors, 0, SEEDS);
    tcase_add_loop_test(c, rows_of_matrices, 0, SEEDS);
    tcase_add_loop_test(c, products_of_matrices, 0, SEEDS);
    tcase_add_loop_test(c, gathered_rows, 0, SEEDS);
    tcase_add_loop_test(c, no_rows_and_one, 0, SEEDS);
    tcase_add_loop_test(c, any_number_of_rows, 0, SEEDS);
    tcase_add_loop_test(c, kinks, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
