/* test_optim_momentum.c -- gradient descent and momentum: TensorFlow's numbers, dense and
 * sparse. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_momentum_suite(void);

START_TEST(s01_descent)
{
    two_variables m = constants(g);
    eddy_optimizer *o = eddy_gradient_descent(g, real(g, 3));
    eddy_tensor train = eddy_apply_gradients(o, m.pairs, 2);
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 0);
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, m.v0, 0.7, 1.7, 1e-12);
    near_pair(s, m.v1, 2.97, 3.97, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(s03_gradients_of_variables)
{
    eddy_tensor v0 = variable_of(vector(g, 1, (double[]){ 1 }), "v0");
    eddy_tensor v1 = variable_of(vector(g, 1, (double[]){ 3 }), "v1");
    eddy_gradient_pair p[2];
    eddy_optimizer    *o = eddy_gradient_descent(g, real(g, 3));
    ck_assert_int_eq(eddy_compute_gradients(o, Add(v0, v1), p, 2, EDDY_LIST(v0, v1)), 2);
    eddy_session *s = started(g);
    near(s, p[0].gradient, 1, (double[]){ 1 }, 0);
    near(s, p[1].gradient, 1, (double[]){ 1 }, 0);
    eddy_session_free(s);
}
END_TEST

/* S-07 with one operation (_i = 0), S-09 with two that share the slots. */
START_TEST(s07_s09_momentum)
{
    two_variables m = constants(g);
    eddy_optimizer *o = eddy_momentum(g, real(g, 2), real(g, 0.9));
    eddy_tensor first = eddy_apply_gradients(o, m.pairs, 2);
    eddy_tensor second = _i ? eddy_apply_gradients(o, m.pairs, 2) : first;
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 2);
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, m.v0, "momentum")), "v0/Momentum");
    eddy_session *s = started(g);
    runs(s, first);
    runs(s, second);
    near_pair(s, m.v0, 0.42, 1.42, 1e-12);
    near_pair(s, eddy_get_slot(o, m.v0, "momentum"), 0.19, 0.19, 1e-12);
    near_pair(s, m.v1, 2.942, 3.942, 1e-12);
    near_pair(s, eddy_get_slot(o, m.v1, "momentum"), 0.019, 0.019, 1e-12);
    eddy_session_free(s);
}
END_TEST

START_TEST(s11_sparse_nesterov)
{
    eddy_tensor v0 = variable_of(pair_of(g, 1, 2), "v0"), v1 = variable_of(pair_of(g, 3, 4), "v1");
    eddy_tensor rows = Mul(10, v0), at = index_of(g, 2, (int32_t[]){ 0, 1 });
    eddy_gradient_pair p[2] = { { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(2)), v0 },
                                { pair_of(g, 3, 3), v1 } };
    eddy_optimizer *o = eddy_momentum(g, real(g, 2), real(g, 0.9), .use_nesterov = true);
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    const double want0[] = { -37, 1352.8, -49468.78, 1808955.84 };
    const double want1[] = { -8.4, -24.66, -45.294, -69.8646 };
    eddy_session *s = started(g);
    for (int i = 0; i < 4; i++) {
        runs(s, train);
        near_pair(s, v0, want0[i], 2 * want0[i], 1e-8);
        near_pair(s, v1, want1[i], want1[i] + 1, 1e-12);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(s13_fed_gradients)
{
    static const double fed[] = { 0.00096264342, 0.17075552, 0.35077485, 0.9694621, 0.38578293,
                                  0.27885768, 0.27233034, 0.58697265, 0.8215279, 0.68297005 };
    static const double want[] = { -9.6264346e-05, -0.017181443, -0.053967446, -0.15459226,
                                   -0.20323303, -0.23598288, -0.26649091, -0.32823896,
                                   -0.41656655, -0.49369633 };
    eddy_tensor v = variable_of(real(g, 0), "v"), gradient = real(g, 7);
    eddy_gradient_pair p = { gradient, v };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, real(g, 0.1), real(g, 0.1)), &p, 1);
    eddy_session *s = started(g);
    for (int i = 0; i < 10; i++) {
        eddy_array *a = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SCALAR, &fed[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ gradient, a }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(a);
        near(s, v, 1, &want[i], 1e-7);
    }
    eddy_session_free(s);
}
END_TEST

START_TEST(s15_sparse_momentum)
{
    eddy_tensor v0 = variable_of(matrix(g, 1, 2, (double[]){ 1, 2 }), "v0");
    eddy_tensor x = matrix(g, 2, 1, (double[]){ 4, 5 });
    eddy_tensor loss = Square(MatMul(Gather(v0, index_of(g, 1, (int32_t[]){ 0 })), x));
    eddy_tensor train = eddy_minimize(eddy_momentum(g, real(g, 1), real(g, 0)), loss);
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, v0, -111, -138, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* Rows that are not listed keep variable and slot; repeated ones add up. */
START_TEST(sparse_momentum_leaves_other_rows)
{
    eddy_tensor v = variable_of(vector(g, 3, (double[]){ 1, 2, 3 }), "v");
    eddy_tensor rows = vector(g, 3, (double[]){ 1, 1, 2 });
    eddy_tensor at = index_of(g, 3, (int32_t[]){ 2, 0, 2 });
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(3)), v };
    eddy_optimizer *o = eddy_momentum(g, real(g, 1), real(g, 0.5));
    eddy_tensor train = eddy_apply_gradients(o, &p, 1);
    eddy_session *s = started(g);
    runs(s, train);
    near(s, v, 3, (double[]){ 0, 2, 0 }, 1e-12);
    near(s, eddy_get_slot(o, v, "momentum"), 3, (double[]){ 1, 0, 3 }, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* More rows than the variable has. */
START_TEST(many_rows_for_few)
{
    enum { N = 100 };
    int32_t at[N];
    double  rows[N];
    for (int i = 0; i < N; i++) {
        at[i] = i % 2;
        rows[i] = 1;
    }
    eddy_tensor v = variable_of(pair_of(g, 1, 2), "v");
    eddy_gradient_pair p = { eddy_indexed_slices_of(vector(g, N, rows), index_of(g, N, at),
                                                    EDDY_SHAPE(2)), v };
    eddy_tensor train = eddy_apply_gradients(eddy_momentum(g, real(g, 1), real(g, 0)), &p, 1);
    eddy_session *s = started(g);
    runs(s, train);
    near_pair(s, v, -49, -48, 1e-12);
    eddy_session_free(s);
}
END_TEST

/* An index outside the variable is an error of the run, and nothing changes. */
START_TEST(sparse_index_outside)
{
    const int32_t bad[] = { -1, 3, INT32_MIN, INT32_MAX };
    char          says[64];
    eddy_tensor   v = variable_of(vector(g, 3, (double[]){ 1, 2, 3 }), "v");
    eddy_tensor   rows = vector(g, 3, (double[]){ 1, 1, 2 });
    eddy_tensor   x = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(3));
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, x, EDDY_SHAPE(3)), v };
    eddy_optimizer *o = _i == 0   ? eddy_adam(g, real(g, 0.1))
                        : _i == 1 ? eddy_momentum(g, real(g, 1), real(g, 0.5))
                                  : eddy_gradient_descent(g, real(g, 0.1));
    eddy_tensor train = eddy_apply_gradients(o, &p, 1);
    eddy_session *s = started(g);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        eddy_array *at = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), (int32_t[]){ 2, bad[k], 2 });
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, at }), EDDY_FETCH(train), NULL),
                         EDDY_OUT_OF_RANGE);
        snprintf(says, sizeof says, "indices[1] = %ld is not in [0, 3)", (long)bad[k]);
        ck_assert_msg(strstr(eddy_session_message(s), says), "%s", eddy_session_message(s));
        eddy_array_free(at);
        near(s, v, 3, (double[]){ 1, 2, 3 }, 0);
    }
    eddy_session_free(s);
}
END_TEST

Suite *optim_momentum_suite(void)
{
    Suite *suite = suite_create("optim_momentum");
    TCase *c = tcase_create("optim_momentum");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, s01_descent);
    tcase_add_test(c, s03_gradients_of_variables);
    tcase_add_loop_test(c, s07_s09_momentum, 0, 2);
    tcase_add_test(c, s11_sparse_nesterov);
    tcase_add_test(c, s13_fed_gradients);
    tcase_add_test(c, s15_sparse_momentum);
    tcase_add_test(c, sparse_momentum_leaves_other_rows);
    tcase_add_test(c, many_rows_for_few);
    tcase_add_loop_test(c, sparse_index_outside, 0, 3);
    suite_add_tcase(suite, c);
    return suite;
}
