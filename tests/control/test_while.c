/* test_while.c -- while_loop: number of iterations, loop variables, gradients. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

BODY(below, Less(x[0], c[0]))
BODY(sum_below, Less(Sum(x[0]), c[0]))
BODY(never, eddy_number(x[0].graph, EDDY_BOOL, 0))
BODY(always, eddy_number(x[0].graph, EDDY_BOOL, 1))
BODY(itself, x[0])
BODY(add_one, Add(x[0], 1))
BODY(add_one_and_keep, Add(x[0], 1), x[1])
BODY(square, Square(x[0]))
BODY(times_captured, Mul(x[0], c[0]))
BODY(count_and_sum, Add(x[0], 1), Add(x[1], Cast(x[0], F64)))
BODY(fibonacci, Add(x[0], 1), x[2], Add(x[1], x[2]))
BODY(swap, Add(x[0], 1), x[2], x[1])
BODY(collatz, Where(Equal(FloorMod(x[0], 2), 0), FloorDiv(x[0], 2), Add(Mul(x[0], 3), 1)),
     Add(x[1], 1))
BODY(not_one, NotEqual(x[0], 1))
BODY(mixed, Add(x[0], 1), LogicalNot(x[1]), Mul(x[2], 1.5), Mul(x[3], c[0]))
BODY(grow, eddy_concat(EDDY_LIST(x[0], x[0]), 0))
BODY(stop_inside, Add(Square(x[1]), StopGradient(Square(x[0]))), x[1])
BODY(no_stop_inside, Add(Square(x[1]), Square(x[0])), x[1])
BODY(stop_other, Add(Square(StopGradient(x[1])), Square(x[0])), x[1])
BODY(replace_by_captured, Add(x[0], 1), c[0])
BODY(halve_error, Sub(x[0], Div(Sub(Square(x[0]), x[1]), Mul(x[0], 2))), x[1])
BODY(inexact, Greater(Abs(Sub(Square(x[0]), x[1])), 1e-10))

static int loop(eddy_function cond, eddy_function body, eddy_list v, eddy_tensor *y)
{
    const int n = eddy_while_loop(cond, body, v, y, .maximum_iterations = 100);
    ck_assert_msg(n == v.count, "%s", eddy_graph_message(v.at[0].graph));
    return n;
}
static eddy_tensor loop1(eddy_function cond, eddy_function body, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    loop(cond, body, EDDY_LIST(x), y);
    return y[0];
}

/* ------------------------------------------------------------------ counts -- */

START_TEST(counts)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 0), start = integer(&t, 3), y[EDDY_MAX_RESULTS];
    eddy_tensor all = loop1(FUNCTION(below, n), PLAIN(add_one), start);
    ck_assert_int_eq(eddy_while_loop(FUNCTION(below, n), PLAIN(add_one), EDDY_LIST(start), y), 1);
    static const int ends[] = { -5, 3, 4, 10, 90, 2, 50 };
    for (int i = 0; i < 7; i++) {
        refeed(&t, n, ends[i]);
        is(&t, all, V(ends[i] > 3 ? ends[i] : 3));
        is(&t, y[0], V(ends[i] > 3 ? ends[i] : 3));
    }
    trial_end(&t);
}
END_TEST

START_TEST(maximum_iterations)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = integer(&t, 0), y[1], z[1];
    eddy_while_loop(PLAIN(always), PLAIN(add_one), EDDY_LIST(x), y, .maximum_iterations = 7);
    eddy_while_loop(PLAIN(never), PLAIN(add_one), EDDY_LIST(x), z, .maximum_iterations = 7);
    is(&t, y[0], V(7)), is(&t, z[0], V(0));
    eddy_while_loop(FUNCTION(below, whole(&t, 5)), PLAIN(add_one), EDDY_LIST(x), y,
                    .maximum_iterations = 1);
    is(&t, y[0], V(1));
    trial_end(&t);
}
END_TEST

START_TEST(counts_that_data_decide)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = given(&t, EDDY_INT64, EDDY_SCALAR, (double[]){ 1 });
    eddy_tensor steps = integer(&t, 0), y[2];
    ck_assert_int_eq(eddy_while_loop(PLAIN(not_one), PLAIN(collatz), EDDY_LIST(x, steps), y), 2);
    for (int from = 1; from < 40; from += 2) {
        int n = 0;
        for (long k = from; k != 1; n++) k = k % 2 ? 3 * k + 1 : k / 2;
        refeed(&t, x, from);
        is(&t, y[1], V(n)), is(&t, y[0], V(1));
    }
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- variables -- */

START_TEST(variables_of_many_types)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 0), k = integer(&t, 0), flag = truth(&t, true);
    eddy_tensor f = numbers(&t, V(1, 2, 4)), one = fed_real(&t, 1), zero = fed_real(&t, 0), y[4];
    eddy_tensor z = Complex(one, zero), turn = Complex(zero, one);
    loop(FUNCTION(below, n), FUNCTION(mixed, turn), EDDY_LIST(k, flag, f, z), y);
    static const double re[] = { 1, 0, -1, 0 }, im[] = { 0, 1, 0, -1 };
    for (int times = 0; times < 8; times++) {
        const double p = pow(1.5, times);
        refeed(&t, n, times);
        is(&t, y[0], V(times)), is(&t, y[1], V(times % 2 == 0)), is(&t, y[2], V(p, 2 * p, 4 * p));
        is(&t, Real(y[3]), V(re[times % 4])), is(&t, Imag(y[3]), V(im[times % 4]));
    }
    trial_end(&t);
}
END_TEST

START_TEST(sums)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 0), i = integer(&t, 0), s = fed_real(&t, 0.5), y[2];
    loop(FUNCTION(below, n), PLAIN(count_and_sum), EDDY_LIST(i, s), y);
    for (int end = 0; end < 60; end += 7) {
        refeed(&t, n, end);
        is(&t, y[1], V(0.5 + end * (end - 1) / 2));
    }
    trial_end(&t);
}
END_TEST

/* Results that are arguments: values must not overwrite each other. */
START_TEST(swapped_variables)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 0), i = integer(&t, 0), a = fed_real(&t, 0), b = fed_real(&t, 1);
    eddy_tensor u = numbers(&t, V(1, 2, 3)), v = numbers(&t, V(4, 5, 6)), y[3], z[3];
    loop(FUNCTION(below, n), PLAIN(fibonacci), EDDY_LIST(i, a, b), y);
    loop(FUNCTION(below, n), PLAIN(swap), EDDY_LIST(i, u, v), z);
    eddy_tensor da = slope(y[1], a), db = slope(y[1], b), du = slope(z[1], u);
    double fa = 0, fb = 1;
    for (int k = 0; k < 60; k++) {
        refeed(&t, n, k);
        is(&t, y[1], V(fa)), is(&t, y[2], V(fb)), is(&t, da, V(fb - fa)), is(&t, db, V(fa));
        is(&t, z[1], 3, k % 2 ? (double[]){ 4, 5, 6 } : (double[]){ 1, 2, 3 });
        is(&t, z[2], 3, k % 2 ? (double[]){ 1, 2, 3 } : (double[]){ 4, 5, 6 });
        is(&t, du, 3, k % 2 ? (double[]){ 0, 0, 0 } : (double[]){ 1, 1, 1 });
        const double next = fa + fb;
        fa = fb, fb = next;
    }
    trial_end(&t);
}
END_TEST

START_TEST(variables_that_do_not_change)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 4), i = integer(&t, 0), v = numbers(&t, V(1, 2)), y[2], z[2];
    eddy_tensor w = numbers(&t, V(8, 9));
    loop(FUNCTION(below, n), PLAIN(add_one_and_keep), EDDY_LIST(i, v), y);
    loop(FUNCTION(below, n), FUNCTION(replace_by_captured, w), EDDY_LIST(i, v), z);
    eddy_tensor dv = slope(z[1], v), dw = slope(z[1], w);
    is(&t, y[1], V(1, 2)), is(&t, slope(y[1], v), V(1, 1));
    is(&t, z[1], V(8, 9)), is(&t, dv, V(0, 0)), is(&t, dw, V(1, 1));
    refeed(&t, n, 0);
    is(&t, y[1], V(1, 2)), is(&t, z[1], V(1, 2)), is(&t, dv, V(1, 1)), is(&t, dw, V(0, 0));
    is(&t, loop1(FUNCTION(below, n), PLAIN(itself), i), V(0));
    trial_end(&t);
}
END_TEST

/* The dimension is unknown while building; a run's loop keeps it. */
START_TEST(batches_of_any_size)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(EDDY_ANY, 2)), y[1];
    eddy_while_loop(FUNCTION(sum_below, constant(&t, 100)), PLAIN(add_one), EDDY_LIST(x), y,
                    .maximum_iterations = 200);
    eddy_tensor dx = slope(Square(y[0]), x);
    for (int rows = 1; rows < 5; rows++) {
        double      v[8];
        eddy_array *out[2] = { NULL };
        for (int i = 0; i < 2 * rows; i++) v[i] = i % 2;
        const int n = (100 - rows + 2 * rows - 1) / (2 * rows);
        ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ x, EDDY_VIEW(v, rows, 2) }),
                                  EDDY_FETCH(y[0], dx), out), EDDY_OK);
        ck_assert_int_eq(eddy_array_count(out[0]), 2 * rows);
        ck_assert(eddy_array_get(out[0], 2 * rows - 1) == 1 + n);
        ck_assert(eddy_array_get(out[1], 0) == 2 * n);
        eddy_array_free(out[0]), eddy_array_free(out[1]);
    }
    trial_end(&t);
}
END_TEST

START_TEST(empty_variables)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 3), i = integer(&t, 0), y[4];
    eddy_tensor x = given(&t, F64, EDDY_SHAPE(0, 3), NULL), flag = truth(&t, true);
    eddy_tensor z = Complex(fed_real(&t, 1), fed_real(&t, 0));
    loop(FUNCTION(below, n), FUNCTION(mixed, z), EDDY_LIST(i, flag, x, z), y);
    is_shaped(&t, y[2], EDDY_SHAPE(0, 3)), is_shaped(&t, slope(y[2], x), EDDY_SHAPE(0, 3));
    is(&t, y[0], V(3));
    trial_end(&t);
}
END_TEST

/* tf: shape_invariants let a shape be unknown inside, and change in the run. */
START_TEST(shape_invariants)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_const(t.graph, F64, EDDY_SHAPE(2), (double[]){ 1, 2 }), y[1];
    const eddy_shape any = EDDY_SHAPE(EDDY_ANY);
    eddy_while_loop(FUNCTION(sum_below, constant(&t, 20)), PLAIN(add_one), EDDY_LIST(x), y, &any);
    ck_assert_int_eq(eddy_shape_of(y[0]).dim[0], EDDY_ANY);
    is(&t, y[0], V(10, 11));
    eddy_while_loop(FUNCTION(sum_below, constant(&t, 20)), PLAIN(grow), EDDY_LIST(x), y, &any);
    eddy_array *a = value(&t, y[0]);
    ck_assert_int_eq(eddy_array_count(a), 16);
    eddy_array_free(a);
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- gradients -- */

/* tf: testWhileGrad_Square -- 2 squared until it is 100 or more: x^8. */
START_TEST(gradient_of_squares)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2);
    eddy_tensor y = loop1(FUNCTION(below, constant(&t, 100)), PLAIN(square), x);
    eddy_tensor d1 = slope(y, x), d2 = slope(d1, x), d3 = slope(d2, x);
    is(&t, y, V(256)), is(&t, d1, V(1024)), is(&t, d2, V(56 * 64)), is(&t, d3, V(336 * 32));
    refeed(&t, x, 5);                                                   /* x^4 */
    is(&t, y, V(625)), is(&t, d1, V(500)), is(&t, d2, V(300)), is(&t, d3, V(120));
    refeed(&t, x, 101);
    is(&t, y, V(101)), is(&t, d1, V(1)), is(&t, d2, V(0)), is(&t, d3, V(0));
    trial_end(&t);
}
END_TEST

/* tf: testWhileGrad_Mul, testWhileGrad_Variable -- 2 a^4 at a = 3. */
START_TEST(gradient_of_a_captured_factor)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_real(&t, 3), x = fed_real(&t, 2), end = constant(&t, 100), d[2];
    eddy_tensor v = eddy_variable(t.graph, constant(&t, 3), .name = "v");
    eddy_tensor y = loop1(FUNCTION(below, end), FUNCTION(times_captured, a), x);
    eddy_tensor z = loop1(FUNCTION(below, end), FUNCTION(times_captured, v), x);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, x), d);
    initialize(&t);
    is(&t, d[0], V(216)), is(&t, d[1], V(81)), is(&t, slope(d[0], a), V(216));
    is(&t, slope(d[0], x), V(108)), is(&t, slope(slope(d[0], a), a), V(144));
    is(&t, slope(z, v), V(216));
    trial_end(&t);
}
END_TEST

/* tf: testWhileGrad_StopGradInside */
START_TEST(stopped_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 3), y = fed_real(&t, 2), end = constant(&t, 100), a[2], b[2], c[2];
    loop(FUNCTION(below, end), PLAIN(stop_inside), EDDY_LIST(y, x), a);
    loop(FUNCTION(below, end), PLAIN(no_stop_inside), EDDY_LIST(y, x), b);
    loop(FUNCTION(below, end), PLAIN(stop_other), EDDY_LIST(y, x), c);
    is(&t, a[0], V(178)), is(&t, slope(a[0], x), V(6));
    is(&t, slope(b[0], x), V(6 + 26 * 6)), is(&t, slope(b[0], y), V(26 * 4));
    is(&t, slope(c[0], y), V(26 * 4));
    trial_end(&t);
}
END_TEST

/* Newton's method: the derivative of a square root, through as many steps as it takes. */
START_TEST(gradient_of_newtons_method)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2), start = constant(&t, 1), y[2];
    loop(PLAIN(inexact), PLAIN(halve_error), EDDY_LIST(start, x), y);
    eddy_tensor dx = slope(y[0], x);
    for (double at = 2; at < 60; at *= 5) {
        refeed(&t, x, at);
        eddy_array *root = value(&t, y[0]), *d = value(&t, dx);
        ck_assert_double_le(fabs(eddy_array_item(root) - sqrt(at)), 1e-9);
        ck_assert_double_le(fabs(eddy_array_item(d) - 0.5 / sqrt(at)), 1e-6);
        eddy_array_free(root), eddy_array_free(d);
    }
    trial_end(&t);
}
END_TEST

START_TEST(no_gradient)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2), y[1], end = constant(&t, 100);
    eddy_while_loop(FUNCTION(below, end), PLAIN(square), EDDY_LIST(x), y, .no_back_prop = true);
    is(&t, y[0], V(256));
    ck_assert(!eddy_is_valid(eddy_gradient(y[0], x)));
    eddy_tensor n = integer(&t, 0),
                counted = loop1(FUNCTION(below, whole(&t, 4)), PLAIN(add_one), n);
    ck_assert(!eddy_is_valid(eddy_gradient(Cast(counted, F64), x)));
    ck_assert_int_eq(eddy_graph_status(t.graph), EDDY_OK);
    trial_end(&t);
}
END_TEST

Suite *while_suite(void)
{
    Suite *s = suite_create("while");
    TCase *c = tcase_create("values");
    tcase_add_loop_test(c, counts, 0, SEEDS);
    tcase_add_loop_test(c, maximum_iterations, 0, SEEDS);
    tcase_add_loop_test(c, counts_that_data_decide, 0, SEEDS);
    tcase_add_loop_test(c, variables_of_many_types, 0, SEEDS);
    tcase_add_loop_test(c, sums, 0, SEEDS);
    tcase_add_loop_test(c, swapped_variables, 0, SEEDS);
    tcase_add_loop_test(c, variables_that_do_not_change, 0, SEEDS);
    tcase_add_loop_test(c, batches_of_any_size, 0, SEEDS);
    tcase_add_loop_test(c, empty_variables, 0, SEEDS);
    tcase_add_loop_test(c, shape_invariants, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("gradients");
    tcase_add_loop_test(c, gradient_of_squares, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_a_captured_factor, 0, SEEDS);
    tcase_add_loop_test(c, stopped_gradients, 0, SEEDS);
    tcase_add_loop_test(c, gradient_of_newtons_method, 0, SEEDS);
    tcase_add_loop_test(c, no_gradient, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
