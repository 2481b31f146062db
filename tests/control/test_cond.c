/* test_cond.c -- cond: values and gradients of the branch that is taken. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

BODY(squared, Square(x[0]))
BODY(tripled, Mul(x[0], 3))
BODY(logarithm, Log(x[0]))
BODY(zero_of_it, Mul(x[0], 0))
BODY(swapped, x[1], x[0])
BODY(as_they_are, x[0], x[1])
BODY(one_twice, x[0], x[0])
BODY(first_captured, c[0])
BODY(second_captured, c[1])
BODY(sum_and_whether, Add(x[0], x[1]), Less(x[0], x[1]), Cast(x[0], I32))
BODY(difference_and_whether, Sub(x[0], x[1]), Greater(x[0], x[1]), Cast(x[1], I32))
BODY(times_captured, Mul(x[0], c[0]))
BODY(captured_squared, Square(c[0]))
BODY(divided, FloorDiv(x[0], x[1]))
BODY(first, x[0])
BODY(second_of_it, Gather(x[0], eddy_number(x[0].graph, I32, 1)))
BODY(fourth_of_it, Gather(x[0], eddy_number(x[0].graph, I32, 3)))
BODY(row_sum, Sum(x[0], EDDY_AXES(0)))
BODY(row_max, Max(x[0], EDDY_AXES(0)))
BODY(exponential, Exp(x[0]))
BODY(conjugated, Conj(x[0]))
BODY(negated, Neg(x[0]))
BODY(constants, eddy_number(c[0].graph, EDDY_FLOAT64, 7))
BODY(other_constants, eddy_number(c[0].graph, EDDY_FLOAT64, 8))

static eddy_tensor choose(eddy_tensor pred, eddy_function yes, eddy_function no, eddy_list x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_cond(pred, yes, no, y, x);
    ck_assert_msg(n > 0, "%s", eddy_graph_message(pred.graph));
    return y[0];
}

START_TEST(takes_one_branch)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = numbers(&t, V(1, -2, 3));
    eddy_tensor y = choose(p, PLAIN(squared), PLAIN(tripled), EDDY_LIST(x));
    is(&t, y, V(1, 4, 9));
    refeed(&t, p, 0);
    is(&t, y, V(3, -6, 9));
    refeed(&t, p, 1);
    is(&t, y, V(1, 4, 9));
    trial_end(&t);
}
END_TEST

/* tf: testCondPred -- a predicate made of data, of an unknown shape, or constant. */
START_TEST(predicates_are_data)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2);
    eddy_tensor y = choose(eddy_greater(Sum(x), constant(&t, 3)), PLAIN(squared), PLAIN(tripled),
                           EDDY_LIST(x));
    is(&t, y, V(6));
    refeed(&t, x, 5);
    is(&t, y, V(25));
    eddy_tensor always = eddy_less(constant(&t, 1), constant(&t, 2));
    is(&t, choose(always, PLAIN(squared), PLAIN(tripled), EDDY_LIST(x)), V(25));
    is(&t, choose(LogicalNot(always), PLAIN(squared), PLAIN(tripled), EDDY_LIST(x)), V(15));
    trial_end(&t);
}
END_TEST

START_TEST(many_results_of_many_types)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), a = fed_real(&t, 5), b = fed_real(&t, 3), y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_cond(p, PLAIN(sum_and_whether), PLAIN(difference_and_whether), y,
                               EDDY_LIST(a, b)), 3);
    ck_assert_int_eq(eddy_dtype_of(y[0]), F64);
    ck_assert_int_eq(eddy_dtype_of(y[1]), EDDY_BOOL);
    ck_assert_int_eq(eddy_dtype_of(y[2]), I32);
    for (int k = 0; k < 3; k++) is(&t, y[k], 1, &(double[]){ 8, 0, 5 }[k]);
    refeed(&t, p, 0);
    for (int k = 0; k < 3; k++) is(&t, y[k], 1, &(double[]){ 2, 1, 3 }[k]);
    trial_end(&t);
}
END_TEST

/* Results that no operation of the branch makes. */
START_TEST(arguments_and_captured_tensors_are_results)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), a = numbers(&t, V(5, 6)), b = numbers(&t, V(3, 4)), y[2], z[2];
    ck_assert_int_eq(eddy_cond(p, PLAIN(swapped), PLAIN(as_they_are), y, EDDY_LIST(a, b)), 2);
    ck_assert_int_eq(eddy_cond(p, PLAIN(one_twice), PLAIN(swapped), z, EDDY_LIST(a, b)), 2);
    eddy_tensor w = choose(p, FUNCTION(first_captured, a, b), FUNCTION(second_captured, a, b),
                           EDDY_LIST());
    eddy_tensor da = slope(Add(Mul(y[0], 10), y[1]), a);
    is(&t, y[0], V(3, 4)), is(&t, y[1], V(5, 6));
    is(&t, z[0], V(5, 6)), is(&t, z[1], V(5, 6));
    is(&t, w, V(5, 6)), is(&t, da, V(1, 1)), is(&t, slope(z[1], a), V(1, 1));
    is(&t, slope(w, a), V(1, 1)), is(&t, slope(w, b), V(0, 0));
    refeed(&t, p, 0);
    is(&t, y[0], V(5, 6)), is(&t, y[1], V(3, 4));
    is(&t, z[0], V(3, 4)), is(&t, w, V(3, 4)), is(&t, da, V(10, 10));
    is(&t, slope(w, a), V(0, 0)), is(&t, slope(w, b), V(1, 1));
    trial_end(&t);
}
END_TEST

/* tf: testCondGrad_1, _2 -- the gradient is that of the branch, to the third order. */
START_TEST(gradients_of_the_branch_taken)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = numbers(&t, V(0.5, 2));
    eddy_tensor y = choose(p, PLAIN(exponential), PLAIN(squared), EDDY_LIST(x));
    eddy_tensor d1 = slope(y, x), d2 = slope(d1, x), d3 = slope(d2, x);
    const double e[2] = { exp(0.5), exp(2) };
    is(&t, d1, 2, e), is(&t, d2, 2, e), is(&t, d3, 2, e);
    refeed(&t, p, 0);
    is(&t, d1, V(1, 4)), is(&t, d2, V(2, 2)), is(&t, d3, V(0, 0));
    trial_end(&t);
}
END_TEST

/* Where eddy_where has NaN: log at 0 is not taken. */
START_TEST(the_other_branch_gives_no_nan)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 0), p = eddy_greater(x, constant(&t, 0));
    eddy_tensor y = choose(p, PLAIN(logarithm), PLAIN(zero_of_it), EDDY_LIST(x)), dx = slope(y, x);
    is(&t, y, V(0)), is(&t, dx, V(0)), is(&t, slope(dx, x), V(0));
    refeed(&t, x, 4);
    is(&t, y, V(log(4))), is(&t, dx, V(0.25)), is(&t, slope(dx, x), V(-1.0 / 16));
    trial_end(&t);
}
END_TEST

/* The same tensor as argument and captured: both ways count. */
START_TEST(gradients_add_up)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = numbers(&t, V(3, -1));
    eddy_tensor y = choose(p, FUNCTION(times_captured, x), FUNCTION(captured_squared, x),
                           EDDY_LIST(x));
    eddy_tensor total = Add(Mul(y, x), x), dx = slope(total, x);      /* x^3 + x */
    is(&t, dx, V(28, 4)), is(&t, slope(dx, x), V(18, -6));
    refeed(&t, p, 0);
    is(&t, dx, V(28, 4)), is(&t, slope(dx, x), V(18, -6));
    trial_end(&t);
}
END_TEST

START_TEST(variables_are_captured)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = eddy_variable(t.graph, constant(&t, 3), .name = "v"), p = truth(&t, true);
    eddy_tensor y = choose(p, FUNCTION(captured_squared, v), FUNCTION(first_captured, v),
                           EDDY_LIST()), dv = slope(y, v);
    initialize(&t);
    is(&t, y, V(9)), is(&t, dv, V(6));
    refeed(&t, p, 0);
    is(&t, y, V(3)), is(&t, dv, V(1));
    is(&t, eddy_assign_sub(v, dv), V(2));
    is(&t, y, V(2));
    trial_end(&t);
}
END_TEST

/* No branch depends on x: there is no gradient, and that is not an error. */
START_TEST(unconnected_branches)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, false), x = fed_real(&t, 2), dx;
    eddy_tensor y = choose(p, FUNCTION(constants, x), FUNCTION(other_constants, x), EDDY_LIST());
    is(&t, y, V(8));
    ck_assert(!eddy_is_valid(eddy_gradient(y, x)));
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx,
                                    .unconnected_gradients = EDDY_UNCONNECTED_ZERO), EDDY_OK);
    is(&t, dx, V(0));
    eddy_tensor half = choose(p, FUNCTION(captured_squared, x), FUNCTION(other_constants, x),
                              EDDY_LIST()), dhalf = slope(half, x);
    is(&t, dhalf, V(0));
    refeed(&t, p, 1);
    is(&t, dhalf, V(4)), is(&t, y, V(7));
    trial_end(&t);
}
END_TEST

/* 1 / 0 of integers is an error of the run, in the branch that is taken only. */
START_TEST(only_one_branch_runs)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = integer(&t, 7), b = integer(&t, 2);
    eddy_tensor p = eddy_not_equal(b, whole(&t, 0)), all = truth(&t, true);
    eddy_tensor y = choose(p, PLAIN(divided), PLAIN(first), EDDY_LIST(a, b));
    eddy_tensor z = choose(all, PLAIN(divided), PLAIN(first), EDDY_LIST(a, b));
    is(&t, y, V(3)), is(&t, z, V(3));
    refeed(&t, b, 0);
    is(&t, y, V(7));
    check_run_fails(&t, z, EDDY_INVALID_ARGUMENT, "branch 0 of 'cond_1/case");
    refeed(&t, all, 0);
    is(&t, z, V(7));
    trial_end(&t);
}
END_TEST

/* The shapes of both branches are found in the run; they may depend on it. */
/* A branch that fails for constants does so if it runs. */
START_TEST(only_a_branch_that_runs_fails)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor three = eddy_const(t.graph, F64, EDDY_SHAPE(3), (double[]){ 2, 3, 4 });
    const eddy_tensor p = truth(&t, true);
    const eddy_tensor y = choose(p, PLAIN(second_of_it), PLAIN(fourth_of_it), EDDY_LIST(three));
    is(&t, y, V(3));
    refeed(&t, p, 0);
    check_run_fails(&t, y, EDDY_OUT_OF_RANGE, "indices[] = 3 is not in [0, 3)");
    trial_end(&t);
}
END_TEST

START_TEST(batches_of_any_size)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true);
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_tensor y = choose(p, PLAIN(row_sum), PLAIN(row_max), EDDY_LIST(x)), dx = slope(y, x);
    ck_assert_int_eq(eddy_shape_of(y).rank, 1);
    for (int rows = 1; rows < 5; rows++) {
        double v[8], want[2] = { 0, 0 };
        for (int i = 0; i < 2 * rows; i++) want[i % 2] += v[i] = i;
        const eddy_array *a = EDDY_VIEW(v, rows, 2);
        for (int taken = 0; taken < 2; taken++) {
            eddy_array *out[2] = { NULL };
            refeed(&t, p, taken);
            ck_assert_int_eq(eddy_run(t.session, EDDY_FEED({ x, a }, { p, t.array[0] }),
                                      EDDY_FETCH(y, dx), out), EDDY_OK);
            ck_assert(eddy_array_get(out[0], 1) == (taken ? want[1] : 2 * rows - 1));
            ck_assert(eddy_array_get(out[1], 0) == (taken || rows == 1));
            ck_assert_int_eq(eddy_array_count(out[1]), 2 * rows);
            eddy_array_free(out[0]), eddy_array_free(out[1]);
        }
    }
    trial_end(&t);
}
END_TEST

START_TEST(complex_numbers)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), a = fed_real(&t, 1), b = fed_real(&t, 2), z = Complex(a, b);
    eddy_tensor y = choose(p, PLAIN(conjugated), PLAIN(negated), EDDY_LIST(z));
    eddy_tensor db = slope(Imag(y), b), da = slope(Real(y), a);
    is(&t, Real(y), V(1)), is(&t, Imag(y), V(-2)), is(&t, da, V(1)), is(&t, db, V(-1));
    refeed(&t, p, 0);
    is(&t, Real(y), V(-1)), is(&t, Imag(y), V(-2)), is(&t, da, V(-1)), is(&t, db, V(-1));
    trial_end(&t);
}
END_TEST

/* A gradient alone, the value alone, and both. */
START_TEST(parts_are_fetched_alone)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, 2), y[2];
    ck_assert_int_eq(eddy_cond(p, PLAIN(as_they_are), PLAIN(swapped), y,
                               EDDY_LIST(Square(x), Exp(x))), 2);
    eddy_tensor d0 = slope(y[0], x), d1 = slope(y[1], x);
    is(&t, d1, V(exp(2))), is(&t, y[1], V(exp(2))), is(&t, d0, V(4)), is(&t, y[0], V(4));
    is(&t, eddy_stack(EDDY_LIST(y[0], d0, y[1], d1)), V(4, 4, exp(2), exp(2)));
    refeed(&t, p, 0);
    is(&t, eddy_stack(EDDY_LIST(y[0], d0, y[1], d1)), V(exp(2), exp(2), 4, 4));
    trial_end(&t);
}
END_TEST

/* A size that is computed from a shape in the branch decides shapes of the gradients too. */
BODY(enlarged, eddy_resize_area_to(Sin(x[0]), Mul(eddy_index(eddy_shape_tensor(Cos(x[0]), I32),
                                                             "1:3"), 2)))
BODY(tiled, eddy_tile(x[0], EDDY_DIMS(1, 2, 2, 1)))

START_TEST(sizes_from_shapes)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = given(&t, F64, EDDY_SHAPE(1, 2, 1, 1), (double[]){ 1, 2 });
    eddy_tensor y = choose(p, PLAIN(enlarged), PLAIN(tiled), EDDY_LIST(x));
    eddy_tensor d = slope(Square(y), x), dd = slope(d, x);     /* each element four times */
    is(&t, d, V(4 * sin(2), 4 * sin(4))), is(&t, dd, V(8 * cos(2), 8 * cos(4)));
    refeed(&t, p, 0);
    is(&t, d, V(8, 16)), is(&t, dd, V(8, 8));
    trial_end(&t);
}
END_TEST

/* A condition on a shape takes its branch alone: the other one has a result of another rank, and
 * does not even fit these shapes. */
BODY(squeezed, eddy_squeeze(x[0], EDDY_AXES(1)))

START_TEST(conditions_on_shapes)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_placeholder(t.graph, "x", F64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    eddy_tensor y = choose(Equal(eddy_size_along(x, 1), 1), PLAIN(squeezed), PLAIN(first),
                           EDDY_LIST(x));
    eddy_tensor dx = slope(Square(y), x);
    for (int columns = 1; columns < 4; columns++) {
        const double v[6] = { 1, 2, 3, 4, 5, 6 };
        eddy_array  *out[2] = { NULL };
        ck_assert_msg(eddy_run(t.session, EDDY_FEED({ x, EDDY_VIEW(v, 2, columns) }),
                               EDDY_FETCH(y, dx), out) == EDDY_OK,
                      "%s", eddy_session_message(t.session));
        ck_assert(eddy_shape_equal(eddy_array_shape(out[0]),
                                   columns == 1 ? EDDY_SHAPE(2) : EDDY_SHAPE(2, columns)));
        for (int i = 0; i < 2 * columns; i++) ck_assert(eddy_array_get(out[1], i) == 2 * v[i]);
        eddy_array_free(out[0]), eddy_array_free(out[1]);
    }
    trial_end(&t);
}
END_TEST

/* A branch whose gradient keeps many values, beside one with a result of another size: both nodes,
 * of which the gradient's has many more results, run as one, value by value. */
static int long_chain(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = in.at[0];
    for (int k = 0; k < 40; k++) y[0] = Sin(Mul(2, y[0]));
    return 1;
}
BODY(those_below_1, eddy_boolean_mask(x[0], Less(x[0], 1)))
BODY(two_of_them, Gather(x[0], eddy_const(x[0].graph, I32, EDDY_SHAPE(2), (int32_t[]){ 0, 1 })))

START_TEST(results_of_different_sizes_and_gradients)
{
    trial        t = trial_begin((unsigned)_i);
    const double v[] = { 0.3, -1, 2 };
    eddy_tensor  p = truth(&t, true), x = numbers(&t, 3, v);
    eddy_tensor  y = choose(p, PLAIN(long_chain),
                            _i % 2 ? PLAIN(those_below_1) : PLAIN(two_of_them), EDDY_LIST(x));
    eddy_tensor  both = eddy_concat(EDDY_LIST(y, slope(y, x)), 0);
    double       want[6];
    for (int i = 0; i < 3; i++) {
        double u = v[i], du = 1;
        for (int k = 0; k < 40; k++) du *= 2 * cos(2 * u), u = sin(2 * u);
        want[i] = u, want[3 + i] = du;
    }
    is(&t, both, 6, want);
    refeed(&t, p, 0);
    is(&t, both, V(0.3, -1, 1, 1, 0));
    trial_end(&t);
}
END_TEST

Suite *cond_suite(void)
{
    Suite *s = suite_create("cond");
    TCase *c = tcase_create("values");
    tcase_add_loop_test(c, takes_one_branch, 0, SEEDS);
    tcase_add_loop_test(c, predicates_are_data, 0, SEEDS);
    tcase_add_loop_test(c, many_results_of_many_types, 0, SEEDS);
    tcase_add_loop_test(c, arguments_and_captured_tensors_are_results, 0, SEEDS);
    tcase_add_loop_test(c, only_one_branch_runs, 0, SEEDS);
    tcase_add_loop_test(c, only_a_branch_that_runs_fails, 0, SEEDS);
    tcase_add_loop_test(c, batches_of_any_size, 0, SEEDS);
    tcase_add_loop_test(c, complex_numbers, 0, SEEDS);
    tcase_add_loop_test(c, results_of_different_sizes_and_gradients, 0, SEEDS);
    tcase_add_loop_test(c, conditions_on_shapes, 0, 4);     /* the others do not fold constants */
    suite_add_tcase(s, c);
    c = tcase_create("gradients");
    tcase_add_loop_test(c, gradients_of_the_branch_taken, 0, SEEDS);
    tcase_add_loop_test(c, the_other_branch_gives_no_nan, 0, SEEDS);
    tcase_add_loop_test(c, gradients_add_up, 0, SEEDS);
    tcase_add_loop_test(c, variables_are_captured, 0, SEEDS);
    tcase_add_loop_test(c, unconnected_branches, 0, SEEDS);
    tcase_add_loop_test(c, parts_are_fetched_alone, 0, SEEDS);
    tcase_add_loop_test(c, sizes_from_shapes, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
