/* test_optim_nesting.c -- nested optimizers, and other contents of a training step: assertions,
 * constraints, control edges, one optimizer for two lists. */
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *optim_nesting_suite(void);

static eddy_tensor rate(double r) { return eddy_number(g, EDDY_FLOAT64, r); }

static void step_often(eddy_tensor train, int runs_of)
{
    fits(g);
    runs(s, eddy_initializer(g));
    for (int i = 0; i < runs_of; i++) runs(s, train);
}

/* ---------------------------------------------------------------- two levels -- */

static eddy_optimizer *innermost(int kind)
{
    switch (kind) {
    case 0: return eddy_gradient_descent(g, rate(0.1));
    case 1: return eddy_momentum(g, rate(0.1), rate(0.9));
    case 2: return eddy_adam(g, rate(0.1));
    case 3: return eddy_adamw(g, rate(0.1));
    default: return eddy_rmsprop(g, rate(0.1));
    }
}

static eddy_optimizer *around(int kind, eddy_optimizer *o, eddy_tensor v)
{
    static eddy_optimizer_part part;
    static eddy_tensor         list;
    list = v;
    part = (eddy_optimizer_part){ .optimizer = o, .variables = { 1, &list } };
    switch (kind) {
    case 0: return eddy_lookahead(o, .sync_period = 2);
    case 1: return eddy_accumulate_gradients(o, 1);
    case 2: return eddy_loss_scale(o, .fixed = true, .loss_scale = rate(1));
    default: return eddy_multi_optimizer(.parts = &part, .count = 1);
    }
}

/* Accumulating over one run changes nothing, whatever is inside. */
START_TEST(accumulating_one_run_is_nothing)
{
    for (int inner = 0; inner < 5; inner++) {
        const eddy_tensor v = eddy_variable(g, vector(g, 2, (double[]){ 1, 2 }));
        const eddy_tensor w = eddy_variable(g, vector(g, 2, (double[]){ 1, 2 }));
        eddy_optimizer *plain = around(_i, innermost(inner), v);
        eddy_tensor     one = eddy_minimize(plain, Sum(Square(v)), .var_list = EDDY_LIST(v));
        eddy_optimizer *twice = eddy_accumulate_gradients(around(_i, innermost(inner), w), 1);
        eddy_tensor     two = eddy_minimize(twice, Sum(Square(w)), .var_list = EDDY_LIST(w));
        step_often(eddy_group(g, EDDY_LIST(one, two), NULL), 6);
        const eddy_tensor first = vector(g, 2, (double[]){ 1, 2 });
        ck_assert_double_le(number(s, Sum(Abs(Sub(v, w)))), 1e-12);
        ck_assert_double_ge(number(s, Sum(Abs(Sub(w, first)))), 0.05);
    }
}
END_TEST

/* ----------------------------------------------------------- what is in a step -- */

static eddy_tensor checked_step(eddy_optimizer *o, eddy_tensor gradient, eddy_tensor v)
{
    (void)o;
    const eddy_tensor fine = eddy_assert(eddy_all(IsFinite(gradient)), EDDY_LIST(gradient));
    return eddy_group(g, EDDY_LIST(fine, eddy_assign_sub(v, gradient)), NULL);
}

static const eddy_optimizer_def checked = { .name = "Checked", .apply_dense = checked_step };

START_TEST(assertions_are_kept)
{
    eddy_tensor     v = eddy_variable(g, vector(g, 2, (double[]){ 1, 2 }));
    eddy_optimizer *inner = eddy_optimizer_new(g, &checked, NULL, NULL);
    eddy_optimizer *o = _i ? eddy_accumulate_gradients(inner, 1) : eddy_lookahead(inner);
    eddy_tensor     train = eddy_minimize(o, Sum(Mul(Log(Sub(v, v)), v)));
    fits(g);
    runs(s, eddy_initializer(g));
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(train), NULL), EDDY_CHECK_FAILED);
}
END_TEST

static eddy_tensor half(eddy_tensor x, void *context)
{
    (void)context;
    return Mul(0.5, x);
}

START_TEST(constraints_wait_for_the_step)
{
    eddy_tensor v = eddy_variable(g, rate(1), .constraint = { half, NULL });
    eddy_optimizer *o = eddy_accumulate_gradients(eddy_gradient_descent(g, rate(0.1)), 3);
    eddy_tensor     train = eddy_minimize(o, eddy_read(v));
    step_often(train, 2);
    ck_assert_double_eq(number(s, v), 1);
    runs(s, train);
    ck_assert_double_eq_tol(number(s, v), 0.45, 1e-15);
}
END_TEST

START_TEST(one_optimizer_for_two_lists)
{
    eddy_tensor u = eddy_variable(g, rate(1)), v = eddy_variable(g, rate(1));
    eddy_optimizer *adamw = eddy_adamw(g, rate(0.1));
    const eddy_tensor first[] = { u };
    const eddy_optimizer_part parts[] = { { .optimizer = adamw, .variables = { 1, first } },
                                          { .optimizer = adamw } };
    eddy_optimizer *o = eddy_multi_optimizer(.parts = parts, .count = 2);
    step_often(eddy_minimize(o, Add(u, v)), 2);
    eddy_tensor all[16];
    const int   n = eddy_optimizer_variables(adamw, all, 16);
    int         counts = 0;
    for (int i = 0; i < n; i++)
        if (eddy_dtype_of(all[i]) == EDDY_INT64) {
            ck_assert_double_eq(number(s, all[i]), 2);
            counts++;
        }
    ck_assert_int_eq(counts, 1);
    ck_assert_double_eq(number(s, u), number(s, v));
}
END_TEST

/* The variables of all parts, those of a shared optimizer once; none of them before the step. */
START_TEST(variables_of_several_optimizers)
{
    const eddy_tensor u = eddy_variable(g, rate(1)), v = eddy_variable(g, rate(1));
    const eddy_tensor w = eddy_variable(g, rate(1));
    eddy_optimizer   *adam = eddy_adam(g, rate(0.1));
    eddy_optimizer   *momentum = eddy_momentum(g, rate(0.1), rate(0.9));
    const eddy_optimizer_part parts[] = { { adam, EDDY_LIST(u) }, { momentum, EDDY_LIST(v) },
                                          { adam, EDDY_LIST(w) } };
    eddy_optimizer *all = eddy_multi_optimizer(parts, 3);
    ck_assert_int_eq(eddy_optimizer_variables(all, NULL, 0), 0);
    eddy_minimize(all, Add(Add(u, v), w));
    eddy_tensor found[16], of_adam[16];
    const int   n = eddy_optimizer_variables(adam, of_adam, 16);
    ck_assert_int_eq(eddy_optimizer_variables(momentum, NULL, 0), 1);
    ck_assert_int_ge(n, 4);                     /* m and v of two variables */
    ck_assert_int_eq(eddy_optimizer_variables(all, found, 16), n + 1);
    for (int i = 0, k = 0; i < n; i++) {
        for (k = 0; k <= n && !eddy_same(found[k], of_adam[i]);) k++;
        ck_assert_msg(k <= n, "'%s' is missing", eddy_name_of(of_adam[i]));
    }
}
END_TEST

START_TEST(defaults_wait_for_nothing)
{
    eddy_tensor v = eddy_variable(g, rate(1)), c = eddy_variable(g, rate(0), .not_trainable = true);
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(c, rate(1))));
    eddy_optimizer *o = eddy_adamw(g);
    eddy_control_end(g);
    step_often(eddy_minimize(o, Square(v)), 3);
    ck_assert_double_eq(number(s, c), 0);
}
END_TEST

START_TEST(whole_numbers_are_not_trained)
{
    eddy_tensor v = eddy_variable(g, eddy_number(g, EDDY_INT32, 5));
    const eddy_gradient_pair p = { eddy_number(g, EDDY_INT32, 1), v };
    eddy_apply_gradients(eddy_gradient_descent(g, rate(0.5)), &p, 1);
    fails(g, EDDY_BAD_DTYPE, "is int32, which GradientDescent does not support");
}
END_TEST

/* ------------------------------------------------------- averages, schedules -- */

START_TEST(swapping_behind_a_step)
{
    eddy_tensor    v = eddy_variable(g, rate(1));
    eddy_averages *a = eddy_exponential_moving_average(g, rate(0.5));
    eddy_tensor    average = eddy_averages_apply(a, EDDY_LIST(v));
    runs(s, eddy_initializer(g));
    eddy_array *now = eddy_array_of(EDDY_FLOAT64, 0.8);
    eddy_variable_set(s, v, now);
    eddy_array_free(now);
    eddy_control_begin(g, EDDY_LIST(average));
    eddy_tensor swap = eddy_averages_swap(a);
    eddy_control_end(g);
    runs(s, swap);
    ck_assert_double_eq_tol(number(s, v), 0.9, 1e-15);
    ck_assert_double_eq_tol(number(s, eddy_averages_of(a, v)), 0.8, 1e-15);
}
END_TEST

START_TEST(restarts_begin_at_the_top)
{
    const eddy_tensor step = eddy_placeholder(g, "step", EDDY_FLOAT64, EDDY_SCALAR);
    const eddy_tensor y = eddy_cosine_decay_restarts(rate(1), step, rate(10), .t_mul = rate(3));
    const double      starts[] = { 0, 10, 40, 130, 400, 1210 };
    eddy_array       *out = NULL;
    for (int i = 0; i < 6; i++) {
        eddy_array *at = eddy_array_of(EDDY_FLOAT64, starts[i]);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ step, at }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_double_eq_tol(eddy_array_item(out), 1, 1e-9);
        eddy_array_free(at);
    }
    eddy_array_free(out);
    const eddy_tensor cycle = eddy_one_cycle(rate(0.1), rate(0), rate(10), .pct_start = rate(0.1));
    ck_assert(isfinite(number(s, cycle)));
}
END_TEST

Suite *optim_nesting_suite(void)
{
    Suite *suite = suite_create("optim_nesting");
    TCase *c = tcase_create("optim_nesting");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, accumulating_one_run_is_nothing, 0, 4);
    tcase_add_loop_test(c, assertions_are_kept, 0, 2);
    tcase_add_test(c, constraints_wait_for_the_step);
    tcase_add_test(c, one_optimizer_for_two_lists);
    tcase_add_test(c, variables_of_several_optimizers);
    tcase_add_test(c, defaults_wait_for_nothing);
    tcase_add_test(c, whole_numbers_are_not_trained);
    tcase_add_test(c, swapping_behind_a_step);
    tcase_add_test(c, restarts_begin_at_the_top);
    suite_add_tcase(suite, c);
    return suite;
}
