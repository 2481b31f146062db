/* test_switch.c -- switch_case and case: the branch that is taken, its values and gradients. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

BODY(once, x[0])
BODY(squared, Square(x[0]))
BODY(cubed, Mul(x[0], Square(x[0])))
BODY(sine, Sin(x[0]))
BODY(logarithm, Log(x[0]))
BODY(scaled, Mul(x[0], c[0]))
BODY(shifted, Add(x[0], c[0]))
BODY(plus_one, Add(x[0], 1))
BODY(plus_ten, Add(x[0], 10))
BODY(doubled, Mul(x[0], 2))
BODY(ten_times, Mul(x[0], 10))
BODY(seventeen, eddy_number(c[0].graph, EDDY_INT32, 17))
BODY(twenty_three, eddy_number(c[0].graph, EDDY_INT32, 23))
BODY(minus_one, eddy_number(c[0].graph, EDDY_INT32, -1))
BODY(two_of_them, x[0], Neg(x[0]))
BODY(two_others, Mul(x[0], x[1]), x[1])

static eddy_tensor select_one(eddy_tensor index, int count, const eddy_function *f, eddy_list x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    const int   n = eddy_switch_case(index, f, count, y, x);
    ck_assert_msg(n > 0, "%s", eddy_graph_message(index.graph));
    return y[0];
}

/* ------------------------------------------------------------- switch_case -- */

/* tf: testBranchIndexOutOfRange -- an index out of range selects the last branch. */
START_TEST(an_index_selects)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor index = integer(&t, 0), x = numbers(&t, V(2, -3));
    const eddy_function f[4] = { PLAIN(once), PLAIN(squared), PLAIN(cubed), PLAIN(sine) };
    const double want[4][2] = { { 2, -3 }, { 4, 9 }, { 8, -27 }, { sin(2), sin(-3) } };
    eddy_tensor y = select_one(index, 4, f, EDDY_LIST(x));
    for (int i = -3; i < 8; i++) {
        refeed(&t, index, i);
        is(&t, y, 2, want[i >= 0 && i < 4 ? i : 3]);
    }
    trial_end(&t);
}
END_TEST

START_TEST(one_branch)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor index = integer(&t, 0), x = fed_real(&t, 3);
    eddy_tensor y = select_one(index, 1, &PLAIN(squared), EDDY_LIST(x)), dx = slope(y, x);
    for (int i = -1; i < 3; i++) {
        refeed(&t, index, i);
        is(&t, y, V(9)), is(&t, dx, V(6)), is(&t, slope(dx, x), V(2));
    }
    trial_end(&t);
}
END_TEST

/* Up to the third order; log at 0, in a branch that is not taken, harms nothing. */
START_TEST(gradients_of_each_branch)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor index = integer(&t, 0), x = fed_real(&t, 0);
    const eddy_function f[4] = { PLAIN(once), PLAIN(cubed), PLAIN(logarithm), PLAIN(sine) };
    eddy_tensor y = select_one(index, 4, f, EDDY_LIST(x));
    eddy_tensor d[3] = { slope(y, x) };
    for (int k = 1; k < 3; k++) d[k] = slope(d[k - 1], x);
    for (double at = 0; at < 3; at += 1.5) {
        refeed(&t, x, at);
        const double want[4][3] = { { 1, 0, 0 },
                                    { 3 * at * at, 6 * at, 6 },
                                    { 1 / at, -1 / (at * at), 2 / (at * at * at) },
                                    { cos(at), -sin(at), -cos(at) } };
        for (int i = 0; i < 4; i++) {
            refeed(&t, index, i);
            for (int k = 0; k < 3 && !(i == 2 && at == 0); k++) is(&t, d[k], 1, &want[i][k]);
        }
    }
    trial_end(&t);
}
END_TEST

static int one_of_three(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function f[3] = { PLAIN(once), PLAIN(logarithm), PLAIN(cubed) };
    (void)context;
    return eddy_switch_case(in.at[1], f, 3, y, EDDY_LIST(in.at[0]));
}

/* The value and two derivatives for n examples x, of which each takes the branch in `index`. */
static void mapped_is(unsigned seed, int n, const double *x, const double *index,
                      const double want[3][4])
{
    trial             t = trial_begin(seed);
    const eddy_tensor xs = eddy_set_shape(numbers(&t, n, x), EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor at = eddy_set_shape(given(&t, I32, EDDY_SHAPE(n), index),
                                          EDDY_SHAPE(EDDY_ANY));
    eddy_tensor       y;
    ck_assert_msg(eddy_vmap(PLAIN(one_of_three), EDDY_LIST(xs, at), &y) == 1, "%s",
                  eddy_graph_message(t.graph));
    for (int k = 0; k < 3; k++) {
        is(&t, y, n, want[k]);
        if (k < 2) y = slope(Sum(y), xs);
    }
    trial_end(&t);
}

/* The derivatives of branches that other examples take harm nothing, also if no example takes one;
 * as without a map, an index out of range selects the last branch. */
START_TEST(a_map_of_branches)
{
    const double seconds = -1.0 / 4;
    mapped_is((unsigned)_i, 4, (double[]){ -1, 0, 2, 3 }, (double[]){ 0, 0, 1, -1 },
              (const double[3][4]){ { -1, 0, log(2), 27 }, { 1, 1, 0.5, 27 },
                                    { 0, 0, seconds, 18 } });
    mapped_is((unsigned)_i, 2, (double[]){ 0, 0 }, (double[]){ 0, 2 },
              (const double[3][4]){ { 0, 0 }, { 1, 0 }, { 0, 0 } });
    mapped_is((unsigned)_i, 0, (double[]){ 0 }, (double[]){ 0 }, (const double[3][4]){ { 0 } });
}
END_TEST

/* Each branch captures another tensor: the others have gradient 0. */
START_TEST(branches_capture_their_own)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor index = integer(&t, 0), x = fed_real(&t, 5), a = fed_real(&t, 2),
                b = fed_real(&t, 7);
    const eddy_function f[3] = { FUNCTION(scaled, a), FUNCTION(shifted, b), FUNCTION(scaled, b) };
    eddy_tensor y = select_one(index, 3, f, EDDY_LIST(x)), d[3];
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(x, a, b), d), EDDY_OK);
    const double want[3][4] = { { 10, 2, 5, 0 }, { 12, 1, 0, 1 }, { 35, 7, 0, 5 } };
    for (int i = 2; i >= 0; i--) {
        refeed(&t, index, i);
        is(&t, eddy_stack(EDDY_LIST(y, d[0], d[1], d[2])), 4, want[i]);
    }
    trial_end(&t);
}
END_TEST

START_TEST(several_results)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor index = integer(&t, 0), a = numbers(&t, V(1, 2)), b = numbers(&t, V(3, 4)), y[2];
    const eddy_function f[2] = { PLAIN(two_of_them), PLAIN(two_others) };
    ck_assert_int_eq(eddy_switch_case(index, f, 2, y, EDDY_LIST(a, b)), 2);
    eddy_tensor db = slope(Add(y[0], y[1]), b);
    is(&t, y[0], V(1, 2)), is(&t, y[1], V(-1, -2)), is(&t, db, V(0, 0));
    refeed(&t, index, 1);
    is(&t, y[0], V(3, 8)), is(&t, y[1], V(3, 4)), is(&t, db, V(2, 3));
    trial_end(&t);
}
END_TEST

START_TEST(many_branches)
{
    enum { MANY = 40 };
    trial         t = trial_begin((unsigned)_i);
    eddy_tensor   index = integer(&t, 0), x = fed_real(&t, 3), factor[MANY];
    eddy_function f[MANY];
    for (int i = 0; i < MANY; i++) {
        factor[i] = constant(&t, i);
        f[i] = (eddy_function){ .build = scaled, .context = &factor[i] };
    }
    eddy_tensor y = select_one(index, MANY, f, EDDY_LIST(x)), dx = slope(y, x);
    for (int i = 0; i < MANY; i += 13) {
        refeed(&t, index, i);
        is(&t, y, V(3.0 * i)), is(&t, dx, V(i));
    }
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------------- case -- */

/* tf: testCase_withDefault, testCase_multiple_matches_non_exclusive -- the first that is true. */
START_TEST(the_first_true_one)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = integer(&t, 1), y[1];
    const eddy_tensor preds[2] = { eddy_less(a, whole(&t, 2)), eddy_less(a, whole(&t, 4)) };
    const eddy_function f[2] = { FUNCTION(seventeen, a), FUNCTION(twenty_three, a) };
    ck_assert_int_eq(eddy_case(preds, f, 2, y, FUNCTION(minus_one, a)), 1);
    is(&t, y[0], V(17));
    refeed(&t, a, 3);
    is(&t, y[0], V(23));
    refeed(&t, a, 6);
    is(&t, y[0], V(-1));
    trial_end(&t);
}
END_TEST

/* tf: testCase_multiple_matches_exclusive */
START_TEST(exclusive_predicates)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = truth(&t, true), b = truth(&t, false), d = truth(&t, false),
                x = fed_real(&t, 2), y[1];
    const eddy_tensor   preds[3] = { a, b, d };
    const eddy_function f[3] = { PLAIN(plus_one), PLAIN(plus_ten), PLAIN(doubled) };
    ck_assert_int_eq(eddy_case(preds, f, 3, y, PLAIN(ten_times), true, EDDY_LIST(x)), 1);
    is(&t, y[0], V(3));
    refeed(&t, d, 1);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "case: more than one pred is true");
    refeed(&t, a, 0);
    is(&t, y[0], V(4));
    refeed(&t, d, 0);
    is(&t, y[0], V(20));
    trial_end(&t);
}
END_TEST

START_TEST(no_predicate_is_true)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = truth(&t, false), b = truth(&t, true), x = fed_real(&t, 2), y[1];
    const eddy_tensor   preds[2] = { a, b };
    const eddy_function f[2] = { PLAIN(plus_one), PLAIN(plus_ten) };
    ck_assert_int_eq(eddy_case(preds, f, 2, y, .x = EDDY_LIST(x)), 1);
    is(&t, y[0], V(12));
    refeed(&t, b, 0);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "case: no pred is true");
    refeed(&t, a, 1);
    is(&t, y[0], V(3));
    trial_end(&t);
}
END_TEST

START_TEST(gradients_of_case)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, -1), y[1];
    const eddy_tensor   preds[2] = { eddy_less(x, constant(&t, 0)), eddy_less(x, constant(&t, 2)) };
    const eddy_function f[2] = { PLAIN(squared), PLAIN(sine) };
    ck_assert_int_eq(eddy_case(preds, f, 2, y, PLAIN(logarithm), .x = EDDY_LIST(x)), 1);
    eddy_tensor dx = slope(y[0], x), ddx = slope(dx, x);
    is(&t, dx, V(-2)), is(&t, ddx, V(2));
    refeed(&t, x, 1);
    is(&t, dx, V(cos(1))), is(&t, ddx, V(-sin(1)));
    refeed(&t, x, 0);
    is(&t, dx, V(1)), is(&t, ddx, V(0));
    refeed(&t, x, 4);
    is(&t, dx, V(0.25)), is(&t, ddx, V(-1.0 / 16));
    trial_end(&t);
}
END_TEST

/* One after the other. */
START_TEST(one_predicate_without_otherwise)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, 2), y[1], z[1];
    ck_assert_int_eq(eddy_case(&p, &PLAIN(cubed), 1, y, .x = EDDY_LIST(x)), 1);
    ck_assert_int_eq(eddy_case(&p, &PLAIN(cubed), 1, z, PLAIN(once), .x = EDDY_LIST(y[0])), 1);
    is(&t, z[0], V(512)), is(&t, slope(z[0], x), V(9 * 256));
    refeed(&t, p, 0);
    check_run_fails(&t, z[0], EDDY_CHECK_FAILED, "case: no pred is true");
    trial_end(&t);
}
END_TEST

Suite *switch_suite(void)
{
    Suite *s = suite_create("switch");
    TCase *c = tcase_create("switch_case");
    tcase_add_loop_test(c, an_index_selects, 0, SEEDS);
    tcase_add_loop_test(c, one_branch, 0, SEEDS);
    tcase_add_loop_test(c, gradients_of_each_branch, 0, SEEDS);
    tcase_add_loop_test(c, a_map_of_branches, 0, SEEDS);
    tcase_add_loop_test(c, branches_capture_their_own, 0, SEEDS);
    tcase_add_loop_test(c, several_results, 0, SEEDS);
    tcase_add_loop_test(c, many_branches, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("case");
    tcase_add_loop_test(c, the_first_true_one, 0, SEEDS);
    tcase_add_loop_test(c, exclusive_predicates, 0, SEEDS);
    tcase_add_loop_test(c, no_predicate_is_true, 0, SEEDS);
    tcase_add_loop_test(c, gradients_of_case, 0, SEEDS);
    tcase_add_loop_test(c, one_predicate_without_otherwise, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
