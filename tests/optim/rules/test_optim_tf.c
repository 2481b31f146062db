/* test_optim_tf.c -- Adagrad, AdagradDA, Adadelta, RMSProp, Ftrl and the proximal optimizers:
 * TensorFlow's values and errors. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_tf_suite(void);

static const double ONE_TWO[] = { 1, 2 }, THREE_FOUR[] = { 3, 4 }, FOUR_THREE[] = { 4, 3 },
                    NOTHING[] = { 0, 0 };
/* The gradients of most rows below. */
static const double TENTHS[] = { 0.1, 0.2 }, HUNDREDTHS[] = { 0.01, 0.02 };

static void runs_times(eddy_session *s, eddy_tensor train, int times)
{
    for (int i = 0; i < times; i++) runs(s, train);
}

static eddy_tensor column(const char *name, double a, double b)
{
    return eddy_variable(g, matrix(g, 2, 1, (double[]){ a, b }), .name = name);
}

/* One row of a variable of two. */
static eddy_gradient_pair row_pair(eddy_tensor v, double value, int32_t at)
{
    eddy_tensor values = matrix(g, 1, 1, &value);
    eddy_tensor indices = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), &at);
    return (eddy_gradient_pair){ eddy_indexed_slices_of(values, indices, EDDY_SHAPE(2, 1)), v };
}

/* v0 and v1 after `times` runs with the gradients above. */
static void pairs_become(eddy_optimizer *o, const double *v0, const double *v1, eddy_tensor step,
                         int times, const double *want)
{
    two_variables t = two_of(g, v0, v1, TENTHS, HUNDREDTHS);
    eddy_tensor   train = eddy_apply_gradients(o, t.pairs, 2, step);
    eddy_session *s = started(g);
    runs_times(s, train, times);
    has_pair(s, t.v0, want[0], want[1]);
    has_pair(s, t.v1, want[2], want[3]);
    eddy_session_free(s);
}

/* loss = (lookup(v0, [0]) [[4],[5]])^2 from v0 = [[1,2]], one step. */
static void product_becomes(eddy_optimizer *o, double a, double b)
{
    eddy_tensor v0 = eddy_variable(g, matrix(g, 1, 2, ONE_TWO), .name = "v0");
    eddy_tensor row = Gather(v0, eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 0 }));
    eddy_tensor train = eddy_minimize(o, Square(MatMul(row, matrix(g, 2, 1, (double[]){ 4, 5 }))));
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, v0, a, b);
    eddy_session_free(s);
}

/* ----------------------------------------------------------------- Adagrad -- */

START_TEST(a01_adagrad)
{
    const double  tenth[] = { 0.1, 0.1 }, hundredth[] = { 0.01, 0.01 };
    two_variables t = two_of(g, ONE_TWO, THREE_FOUR, tenth, hundredth);
    eddy_tensor   train = eddy_apply_gradients(eddy_adagrad(g, real(g, 3)), t.pairs, 2);
    eddy_session *s = started(g);
    runs(s, train);
    has_pair(s, t.v0, 0.0954659663, 1.09546597);
    runs_times(s, train, 2);
    has_pair(s, t.v0, -1.60260987, -0.60260987);
    has_pair(s, t.v1, 2.71567917, 3.71567917);
    eddy_session_free(s);
}
END_TEST

START_TEST(a03_sparse_adagrad)
{
    eddy_tensor v0 = column("v0", 1, 2), v1 = column("v1", 3, 4);
    const eddy_gradient_pair p[2] = { row_pair(v0, 0.1, 0), row_pair(v1, 0.01, 1) };
    eddy_tensor   train = eddy_apply_gradients(eddy_adagrad(g, real(g, 3)), p, 2);
    eddy_session *s = started(g);
    runs_times(s, train, 3);
    has_pair(s, v0, -1.60260987, 2);
    has_pair(s, v1, 3, 3.71567917);
    eddy_session_free(s);
}
END_TEST

START_TEST(a05_shared_accumulator)
{
    const double    tenth[] = { 0.1, 0.1 };
    two_variables   t = two_of(g, ONE_TWO, THREE_FOUR, tenth, tenth);
    eddy_optimizer *o = eddy_adagrad(g, real(g, 3));
    eddy_tensor     u1 = eddy_apply_gradients(o, t.pairs, 1);
    eddy_tensor     u2 = eddy_apply_gradients(o, t.pairs, 1);
    ck_assert_int_eq(eddy_optimizer_variables(o, NULL, 0), 1);
    eddy_session *s = started(g);
    runs(s, u1);
    runs(s, u2);
    runs(s, u1);
    has_pair(s, t.v0, -1.60260987, -0.60260987);
    eddy_session_free(s);
}
END_TEST

START_TEST(a07_initial_accumulator)
{
    const double bad[] = { 0, -1, NAN };
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_null(eddy_adagrad(g, real(g, 3), bad[i]));
        fails(g, EDDY_INVALID_ARGUMENT, "initial_accumulator_value must be positive: ");
        ck_assert_ptr_null(eddy_proximal_adagrad(g, real(g, 3), bad[i]));
        fails(g, EDDY_INVALID_ARGUMENT, "initial_accumulator_value must be positive: ");
        ck_assert_ptr_null(eddy_adagrad_da(g, real(g, 3), eddy_get_or_create_global_step(g),
                                           bad[i]));
        fails(g, EDDY_INVALID_ARGUMENT,
              "initial_gradient_squared_accumulator_value must be positive: ");
    }
}
END_TEST

/* O-22, as it stands: Adagrad(2), rows that are looked up twice count twice. */
START_TEST(o22_repeated_rows)
{
    const double wants[] = { -0.975459193, -2.38091593, -3.53083508 };
    eddy_tensor  v = eddy_variable(g, vector(g, 2, ONE_TWO), .name = "v");
    eddy_tensor  w = eddy_variable(g, vector(g, 2, ONE_TWO), .name = "w");
    eddy_tensor  twice = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 0 });
    eddy_tensor  once = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 0 });
    eddy_optimizer *o = eddy_adagrad(g, real(g, 2));
    eddy_tensor  a = eddy_minimize(o, Sum(Gather(v, twice)), .var_list = EDDY_LIST(v));
    eddy_tensor  b = eddy_minimize(o, Mul(2, Sum(Gather(w, once))), .var_list = EDDY_LIST(w));
    eddy_session *s = started(g);
    for (int i = 0; i < 3; i++) {
        runs(s, a);
        runs(s, b);
        has_pair(s, v, wants[i], 2);
        has_pair(s, w, wants[i], 2);
    }
    eddy_session_free(s);
}
END_TEST

/* --------------------------------------------------------------- AdagradDA -- */

static void dual_averaging(double l1, double l2, const double *want)
{
    const double    v1[] = { 4, 3 };
    eddy_tensor     step = eddy_create_global_step(g);
    eddy_optimizer *o = eddy_adagrad_da(g, real(g, 3), step, .l1_regularization_strength = l1,
                                        .l2_regularization_strength = l2);
    pairs_become(o, ONE_TWO, v1, step, 1, want);
}

START_TEST(a09_dual_averaging)
{
    dual_averaging(0, 0, (double[]){ -0.904534, -1.603567, -0.094821, -0.189358 });
}
END_TEST

START_TEST(a11_dual_averaging_l1_l2)
{
    dual_averaging(0.001, 2, (double[]){ -0.046907, -0.093659, -0.004275, -0.009023 });
}
END_TEST

START_TEST(dual_averaging_refuses)
{
    ck_assert_ptr_null(eddy_adagrad_da(g, real(g, 3)));
    fails(g, EDDY_INVALID_ARGUMENT, "AdagradDA: global_step is required");
    ck_assert_ptr_null(eddy_adagrad_da(g, real(g, 3), real(g, 0)));
    fails(g, EDDY_BAD_DTYPE, "AdagradDA: global_step is float64; int32, int64 or uint8 expected");
    eddy_tensor steps = eddy_zeros(g, EDDY_INT64, EDDY_SHAPE(2));
    ck_assert_ptr_null(eddy_adagrad_da(g, real(g, 3), steps));
    fails(g, EDDY_BAD_SHAPE, "AdagradDA: global_step has shape [2]");
    ck_assert_ptr_null(eddy_adagrad_da(g, real(g, 3), eddy_create_global_step(g), 0.1, -1));
    fails(g, EDDY_INVALID_ARGUMENT, "l1_regularization_strength -1 needs to be positive or zero");
}
END_TEST

/* ---------------------------------------------------------------- Adadelta -- */

/* A-13 with _i = 0, A-15 with _i = 1. */
START_TEST(a13_a15_adadelta)
{
    const double moved[2][4] = {
        { -4.47212477e-4, -9.00122144e-4, -1.35688558e-3, -1.81659019e-3 },
        { -2.23604562e-4, -4.50057675e-4, -6.78437649e-4, -9.08288192e-4 } };
    const double    grad = _i ? 0.1 : 0.2, both[] = { grad, grad };
    two_variables   t = two_of(g, ONE_TWO, THREE_FOUR, both, both);
    eddy_optimizer *o = eddy_adadelta(g, real(g, _i ? 0.5 : 1), real(g, 0.95), real(g, 1e-8));
    eddy_tensor     train = eddy_apply_gradients(o, t.pairs, 2), slots[4];
    const char     *names[3] = { NULL, NULL, NULL };
    ck_assert_int_eq(eddy_get_slot_names(o, names, 3), 2);
    ck_assert_str_eq(names[0], "accum");
    ck_assert_str_eq(names[1], "accum_update");
    ck_assert_int_eq(eddy_optimizer_variables(o, slots, 4), 4);
    for (int i = 0; i < 4; i++)
        ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, slots[i]));
    eddy_session *s = started(g);
    for (int i = 0; i < 4; i++) {
        runs(s, train);
        for (int k = 0; k < 2; k++) {
            ck_assert_double_eq_tol(number(s, k ? t.v1 : t.v0) - (k ? 3 : 1), moved[_i][i], 1e-11);
        }
    }
    if (_i == 0) {
        eddy_tensor d = eddy_get_slot(o, t.v0, "accum_update");
        has_pair(s, eddy_get_slot(o, t.v0, "accum"), 0.00741975, 0.00741975);
        ck_assert_double_eq_tol(number(s, eddy_gather(d, eddy_number(g, EDDY_INT32, 0))),
                                3.83065469e-08, 1e-15);
    }
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------------------- the proximal -- */

START_TEST(a17_proximal_descent)
{
    pairs_become(eddy_proximal_gradient_descent(g, real(g, 3)), ONE_TWO, FOUR_THREE,
                 EDDY_NO_TENSOR, 3, (double[]){ 0.1, 0.2, 3.91, 2.82 });
}
END_TEST

START_TEST(a19_proximal_descent_l1)
{
    pairs_become(eddy_proximal_gradient_descent(g, real(g, 3), 0.001), ONE_TWO, FOUR_THREE,
                 EDDY_NO_TENSOR, 10, (double[]){ -1.988, -3.988001, 3.67, 2.37 });
}
END_TEST

START_TEST(a21_proximal_descent_of_rows)
{
    product_becomes(eddy_proximal_gradient_descent(g, real(g, 1)), -111, -138);
}
END_TEST

START_TEST(a23_proximal_adagrad)
{
    pairs_become(eddy_proximal_adagrad(g, real(g, 3)), ONE_TWO, FOUR_THREE, EDDY_NO_TENSOR, 3,
                 (double[]){ -1.60261, -2.296985, 3.715679, 2.433051 });
}
END_TEST

START_TEST(a25_proximal_adagrad_l1_l2)
{
    pairs_become(eddy_proximal_adagrad(g, real(g, 3), 0.1, 0.001, 2), ONE_TWO, FOUR_THREE,
                 EDDY_NO_TENSOR, 10, (double[]){ -0.0495, -0.0995, -0.0045, -0.0095 });
}
END_TEST

/* A rate that is known is checked when it is applied, another one in the run. */
START_TEST(rates_above_zero)
{
    two_variables t = two_of(g, ONE_TWO, THREE_FOUR, TENTHS, HUNDREDTHS);
    eddy_apply_gradients(eddy_proximal_adagrad(g, real(g, -1)), t.pairs, 2);
    fails(g, EDDY_INVALID_ARGUMENT, "ProximalAdagrad: learning_rate is not a positive scalar: -1");
    eddy_apply_gradients(eddy_ftrl(g, real(g, 0)), t.pairs, 2);
    fails(g, EDDY_INVALID_ARGUMENT, "Ftrl: learning_rate is not a positive scalar: 0");
    eddy_tensor   rate = eddy_placeholder(g, "rate", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor   train = eddy_apply_gradients(eddy_ftrl(g, rate), t.pairs, 2);
    eddy_session *s = started(g);
    eddy_array   *bad = eddy_array_of(EDDY_FLOAT64, -0.5), *good = eddy_array_of(EDDY_FLOAT64, 3);
    eddy_run(s, EDDY_FEED({ rate, bad }), EDDY_FETCH(train), NULL);
    run_fails(s, EDDY_CHECK_FAILED, "Ftrl: learning_rate is not a positive scalar: [-0.5]");
    has_pair(s, t.v0, 1, 2);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ rate, good }), EDDY_FETCH(train), NULL), EDDY_OK);
    eddy_array_free(bad);
    eddy_array_free(good);
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------------------------- RMSProp -- */

/* B-11 with _i = 0, B-13 with _i = 1. */
START_TEST(b11_b13_rmsprop)
{
    const double    one[] = { _i ? 4 : 1, 0 }, grad[] = { _i ? 0.2 : 0.1, 0 };
    two_variables   t = two_of(g, one, one, grad, grad);
    eddy_optimizer *o = eddy_rmsprop(g, real(g, 0.5), real(g, _i ? 0.95 : 0.9), real(g, 0),
                                     real(g, 1e-3));
    eddy_tensor train = eddy_apply_gradients(o, t.pairs, 1), first = eddy_number(g, EDDY_INT32, 0);
    eddy_session   *s = started(g);
    runs_times(s, train, 4);
    ck_assert(!eddy_is_valid(eddy_get_slot(o, t.v0, "mg")));
    ck_assert_double_eq_tol(number(s, t.v0), _i ? 3.5747723 : 0.771964584, 1e-7);
    if (_i == 0)
        ck_assert_double_eq_tol(number(s, Gather(eddy_get_slot(o, t.v0, "momentum"), first)),
                                0.0615206297, 1e-9);
    else
        ck_assert_double_eq_tol(number(s, Gather(eddy_get_slot(o, t.v0, "rms"), first)), 0.821926,
                                1e-6);
    eddy_session_free(s);
}
END_TEST

/* The slices say that they are of a smaller tensor, which does not matter. */
START_TEST(b15_sparse_centered_rmsprop)
{
    eddy_tensor v = eddy_variable(g, vector(g, 2, ONE_TWO), .name = "v");
    eddy_tensor first = eddy_const(g, EDDY_INT32, EDDY_SHAPE(1), (int32_t[]){ 0 });
    eddy_gradient_pair p = {
        eddy_indexed_slices_of(vector(g, 1, (double[]){ 0.1 }), first, EDDY_SHAPE(1)), v };
    eddy_optimizer *o = eddy_rmsprop(g, real(g, 0.5), real(g, 0.95), real(g, 0.9), real(g, 1e-5),
                                     .centered = true);
    eddy_tensor   train = eddy_apply_gradients(o, &p, 1);
    eddy_session *s = started(g);
    runs_times(s, train, 4);
    eddy_array *a = eddy_fetch(s, v), *r = eddy_fetch(s, eddy_get_slot(o, v, "rms"));
    ck_assert_double_eq_tol(eddy_array_get(a, 0), 0.523192568, 1e-7);
    ck_assert(eddy_array_get(a, 1) == 2 && eddy_array_get(r, 1) == 1);
    eddy_array_free(a);
    eddy_array_free(r);
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v, "rms")), "v/RMSProp");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v, "mg")), "v/RMSProp_1");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v, "momentum")), "v/RMSProp_2");
    eddy_session_free(s);
}
END_TEST

START_TEST(b17_rmsprop_with_momentum)
{
    const double    grad[] = { 0.01, 0.01 };
    two_variables   t = two_of(g, THREE_FOUR, THREE_FOUR, grad, grad);
    eddy_optimizer *o = eddy_rmsprop(g, real(g, 2), real(g, 0.9), real(g, 0.5), real(g, 1e-5));
    eddy_tensor     train = eddy_apply_gradients(o, t.pairs, 1);
    eddy_session   *s = started(g);
    runs(s, train);
    has_pair(s, eddy_get_slot(o, t.v0, "momentum"), 0.0210816168, 0.0210816168);
    has_pair(s, t.v0, 2.97891838, 3.97891838);
    runs(s, train);
    has_pair(s, eddy_get_slot(o, t.v0, "momentum"), 0.0327626328, 0.0327626328);
    has_pair(s, t.v0, 2.94615575, 3.94615575);
    eddy_session_free(s);
}
END_TEST

/* -------------------------------------------------------------------- Ftrl -- */

START_TEST(b19_ftrl)
{
    pairs_become(eddy_ftrl(g, real(g, 3)), NOTHING, NOTHING, EDDY_NO_TENSOR, 3,
                 (double[]){ -2.60260963, -4.29698515, -0.28432083, -0.56694895 });
}
END_TEST

START_TEST(b21_ftrl_l1)
{
    pairs_become(eddy_ftrl(g, real(g, 3), .l1_regularization_strength = 0.001), ONE_TWO,
                 FOUR_THREE, EDDY_NO_TENSOR, 10,
                 (double[]){ -7.66718769, -10.91273689, -0.93460727, -1.86147261 });
}
END_TEST

static eddy_optimizer *ftrl_l1_l2(double shrinkage)
{
    return eddy_ftrl(g, real(g, 3), .l1_regularization_strength = 0.001,
                     .l2_regularization_strength = 2,
                     .l2_shrinkage_regularization_strength = shrinkage);
}

START_TEST(b23_ftrl_shrinkage)
{
    pairs_become(ftrl_l1_l2(0.1), ONE_TWO, FOUR_THREE, EDDY_NO_TENSOR, 10,
                 (double[]){ -0.22578995, -0.44345796, -0.14378493, -0.13229476 });
}
END_TEST

START_TEST(b25_shrinkage_leaves_the_rate)
{
    two_variables   t = two_of(g, ONE_TWO, ONE_TWO, TENTHS, TENTHS);
    eddy_optimizer *with = ftrl_l1_l2(0.1), *without = ftrl_l1_l2(0);
    eddy_tensor     a = eddy_apply_gradients(with, &t.pairs[0], 1);
    eddy_tensor     b = eddy_apply_gradients(without, &t.pairs[1], 1);
    eddy_tensor     accum_a = eddy_get_slot(with, t.v0, "accum");
    eddy_tensor     accum_b = eddy_get_slot(without, t.v1, "accum");
    eddy_session   *s = started(g);
    for (int i = 0; i < 10; i++) {
        runs(s, a);
        runs(s, b);
    }
    eddy_array *x = eddy_fetch(s, accum_a), *y = eddy_fetch(s, accum_b);
    ck_assert(eddy_array_equal(x, y));
    eddy_array_free(x);
    eddy_array_free(y);
    x = eddy_fetch(s, t.v0), y = eddy_fetch(s, t.v1);
    for (int i = 0; i < 2; i++)
        ck_assert_double_lt(fabs(eddy_array_get(x, i)), fabs(eddy_array_get(y, i)));
    eddy_array_free(x);
    eddy_array_free(y);
    eddy_session_free(s);
}
END_TEST

START_TEST(b27_ftrl_is_descent)
{
    pairs_become(eddy_ftrl(g, real(g, 3), 0), NOTHING, NOTHING,
                 EDDY_NO_TENSOR, 5,
                 (double[]){ -1.5, -3, -0.15, -0.3 });
}
END_TEST

START_TEST(b27_sparse_ftrl_is_descent)
{
    eddy_tensor v0 = column("v0", 0, 0), v1 = column("v1", 0, 0);
    const eddy_gradient_pair p[2] = { row_pair(v0, 0.1, 0), row_pair(v1, 0.02, 1) };
    eddy_optimizer *o = eddy_ftrl(g, real(g, 3), 0);
    eddy_tensor     train = eddy_apply_gradients(o, p, 2);
    eddy_session *s = started(g);
    runs_times(s, train, 5);
    has_pair(s, v0, -1.5, 0);
    has_pair(s, v1, 0, -0.3);
    eddy_session_free(s);
}
END_TEST

/* 0 is accepted. */
START_TEST(b29_ftrl_refuses)
{
    const eddy_tensor lr = real(g, 3);
    ck_assert_ptr_null(eddy_ftrl(g, lr, .initial_accumulator_value = -0.1));
    fails(g, EDDY_INVALID_ARGUMENT, "initial_accumulator_value -0.1 needs to be positive or zero");
    ck_assert_ptr_null(eddy_ftrl(g, lr, .learning_rate_power = 0.1));
    fails(g, EDDY_INVALID_ARGUMENT, "learning_rate_power 0.1 needs to be negative or zero");
    ck_assert_ptr_null(eddy_ftrl(g, lr, .l1_regularization_strength = -1));
    fails(g, EDDY_INVALID_ARGUMENT, "l1_regularization_strength -1 needs to be positive or zero");
    ck_assert_ptr_null(eddy_ftrl(g, lr, .l2_regularization_strength = -1));
    fails(g, EDDY_INVALID_ARGUMENT, "l2_regularization_strength -1 needs to be positive or zero");
    ck_assert_ptr_null(eddy_ftrl(g, lr, .l2_shrinkage_regularization_strength = -1));
    fails(g, EDDY_INVALID_ARGUMENT, "l2_shrinkage_regularization_strength -1 needs to be");
    eddy_optimizer *o = eddy_ftrl(g, lr, .initial_accumulator_value = 0);
    two_variables   t = two_of(g, ONE_TWO, THREE_FOUR, TENTHS, NOTHING);
    eddy_tensor     train = eddy_apply_gradients(o, t.pairs, 2);
    eddy_session   *s = started(g);
    has_pair(s, eddy_get_slot(o, t.v0, "accum"), 0, 0);
    runs(s, train);
    has_pair(s, t.v1, 0, 0);        /* a linear term of 0, and no division by 0 */
    eddy_session_free(s);
}
END_TEST

START_TEST(ftrl_names_its_slots)
{
    two_variables   t = two_of(g, ONE_TWO, THREE_FOUR, TENTHS, TENTHS);
    char            accum[] = "sums";
    eddy_optimizer *o = eddy_ftrl(g, real(g, 3), .accum_name = accum, .name = "F");
    accum[0] = 'x';
    eddy_apply_gradients(o, t.pairs, 2);
    fits(g);
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, t.v0, "accum")), "v0/sums");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, t.v0, "linear")), "v0/F");
    ck_assert_ptr_null(eddy_ftrl(g, real(g, 3), .linear_name = "two words"));
    fails(g, EDDY_INVALID_ARGUMENT, "'two words' is not a valid slot name");
}
END_TEST

static void add_adagrads(TCase *c)
{
    tcase_add_test(c, a01_adagrad);
    tcase_add_test(c, a03_sparse_adagrad);
    tcase_add_test(c, a05_shared_accumulator);
    tcase_add_test(c, a07_initial_accumulator);
    tcase_add_test(c, o22_repeated_rows);
    tcase_add_test(c, a09_dual_averaging);
    tcase_add_test(c, a11_dual_averaging_l1_l2);
    tcase_add_test(c, dual_averaging_refuses);
    tcase_add_loop_test(c, a13_a15_adadelta, 0, 2);
    tcase_add_test(c, a17_proximal_descent);
    tcase_add_test(c, a19_proximal_descent_l1);
    tcase_add_test(c, a21_proximal_descent_of_rows);
    tcase_add_test(c, a23_proximal_adagrad);
    tcase_add_test(c, a25_proximal_adagrad_l1_l2);
    tcase_add_test(c, rates_above_zero);
}

Suite *optim_tf_suite(void)
{
    Suite *suite = suite_create("optim_tf");
    TCase *c = tcase_create("optim_tf");
    tcase_add_checked_fixture(c, setup, teardown);
    add_adagrads(c);
    tcase_add_loop_test(c, b11_b13_rmsprop, 0, 2);
    tcase_add_test(c, b15_sparse_centered_rmsprop);
    tcase_add_test(c, b17_rmsprop_with_momentum);
    tcase_add_test(c, b19_ftrl);
    tcase_add_test(c, b21_ftrl_l1);
    tcase_add_test(c, b23_ftrl_shrinkage);
    tcase_add_test(c, b25_shrinkage_leaves_the_rate);
    tcase_add_test(c, b27_ftrl_is_descent);
    tcase_add_test(c, b27_sparse_ftrl_is_descent);
    tcase_add_test(c, b29_ftrl_refuses);
    tcase_add_test(c, ftrl_names_its_slots);
    suite_add_tcase(suite, c);
    return suite;
}
