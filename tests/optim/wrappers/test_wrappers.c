/* test_wrappers.c -- lookahead, accumulation and optimizers of several parts against loops in
 * float64 that keep the inner optimizer's slots; every wrapper around every optimizer. */
#include "tests/lib/wrapped_steps.h"

Suite *wrappers_suite(void);

/* -------------------------------------------------------------- lookahead -- */

START_TEST(lookahead)
{
    begin(_i);
    eddy_optimizer *inner = adam_of(0.1), *o = eddy_lookahead(inner, 3, n(0.4));
    eddy_tensor train = apply(o);
    ck_assert_str_eq(eddy_name_of(train), "Lookahead");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(o, v, "slow")), "v/Lookahead");
    ck_assert_str_eq(eddy_name_of(eddy_get_slot(inner, v, "m")), "v/Adam");
    start();
    adam a = adam_begin();
    double slow[SIZE], grad[SIZE];
    memcpy(slow, a.x, sizeof slow);
    for (int i = 0; i < STEPS; i++) {
        step(train, i);
        gradient_of(i, grad);
        adam_step(&a, 0.1, grad);
        for (int k = 0; (i + 1) % 3 == 0 && k < SIZE; k++)
            a.x[k] = slow[k] += 0.4 * (a.x[k] - slow[k]);
        is(v, a.x);
        is(eddy_get_slot(o, v, "slow"), slow);
        is(eddy_get_slot(inner, v, "m"), a.m);
    }
}
END_TEST

/* ------------------------------------------------------------- accumulate -- */

/* Every third run updates, by the mean or (from VARIANTS on) the sum of three. */
START_TEST(accumulate)
{
    begin(_i % VARIANTS);
    const bool sum = _i >= VARIANTS;
    eddy_optimizer *inner = adam_of(0.1);
    eddy_optimizer *o = eddy_accumulate_gradients(inner, 3, sum);
    eddy_tensor train = apply(o);
    start();
    adam a = adam_begin();
    double grad[SIZE], total[SIZE] = { 0 };
    eddy_array *before[16], *after[16];
    for (int i = 0; i < STEPS; i++) {
        const bool due = (i + 1) % 3 == 0;
        const int  count = take(before, "ccumulate");
        step(train, i);
        ck_assert_int_eq(take(after, "ccumulate"), count);
        ck_assert_int_eq(count, 5);
        ck_assert_int_eq(same(before, after, count), !due);
        gradient_of(i, grad);
        for (int k = 0; k < SIZE; k++) total[k] += grad[k];
        for (int k = 0; due && k < SIZE; k++) grad[k] = total[k] / (sum ? 1 : 3);
        if (due) adam_step(&a, 0.1, grad);
        if (due) memset(total, 0, sizeof total);
        is(v, a.x);
        is(eddy_get_slot(inner, v, "v"), a.s);
        is(eddy_get_slot(o, v, "gradient_sum"), total);
    }
    ck_assert_double_lt(fabs(number(s, eddy_graph_tensor(g, "beta1_power:0")) - pow(0.9, 7)), 1e-6);
}
END_TEST

/* ------------------------------------------------------------------ multi -- */

/* v by Adam, w by Momentum, u by the optimizer of all others. */
START_TEST(multi)
{
    begin(_i);
    eddy_tensor w = eddy_variable(g, .initial_value = n(1), .name = "w");
    eddy_tensor u = eddy_variable(g, .initial_value = n(1), .name = "u");
    const eddy_optimizer_part parts[] = {
        { adam_of(0.1), EDDY_LIST(v) },
        { eddy_gradient_descent(g, n(0.5)), EDDY_LIST() },
        { eddy_momentum(g, n(0.1), n(0.5)), EDDY_LIST(w) },
    };
    eddy_optimizer *o = eddy_multi_optimizer(parts, 3);
    eddy_gradient_pair p[] = { { n(1), w }, { sparse ? eddy_indexed_slices(x, at, v) : x, v },
                               { n(0.125), u } };
    eddy_tensor count = eddy_create_global_step(g);
    eddy_tensor train = eddy_apply_gradients(o, p, 3, count);
    start();
    adam a = adam_begin();
    double grad[SIZE], sum = 0, want = 1;
    for (int i = 0; i < STEPS; i++) {
        step(train, i);
        gradient_of(i, grad);
        adam_step(&a, 0.1, grad);
        sum = 0.5 * sum + 1;
        want -= 0.1 * sum;
        is(v, a.x);
        ck_assert_double_lt(fabs(number(s, w) - want), 1e-9);
        ck_assert_double_eq(number(s, u), 1 - 0.0625 * (i + 1));
        ck_assert_double_eq(number(s, count), i + 1);
    }
    ck_assert(eddy_is_valid(eddy_get_slot(parts[2].optimizer, w, "momentum")));
    ck_assert(!eddy_is_valid(eddy_get_slot(parts[0].optimizer, w, "m")));
    eddy_multi_optimizer(&parts[0], 1);
    fits(g);
    eddy_apply_gradients(eddy_multi_optimizer(&parts[0], 1), p, 1);
    fails(g, EDDY_INVALID_ARGUMENT, "MultiOptimizer: no part lists 'w'");
}
END_TEST

/* ---------------------------------------------------------------- nesting -- */

/* Gradients of two runs, scaled, to Adam that looks ahead, beside plain descent. */
START_TEST(nested)
{
    begin(_i);
    eddy_tensor w = eddy_variable(g, .initial_value = n(1), .name = "w");
    eddy_optimizer *look = eddy_lookahead(adam_of(0.1), 2);
    const eddy_optimizer_part parts[] = {
        { eddy_loss_scale(look, n(4), .increment_period = 1000), EDDY_LIST(v) },
        { eddy_gradient_descent(g, n(0.25)), EDDY_LIST() },
    };
    eddy_optimizer *o = eddy_accumulate_gradients(eddy_multi_optimizer(parts, 2), 2);
    eddy_gradient_pair p[] = { { n(1), w }, { sparse ? eddy_indexed_slices(x, at, v) : x, v } };
    eddy_tensor train = eddy_apply_gradients(o, p, 2);
    start();
    adam a = adam_begin();
    double slow[SIZE], grad[SIZE], total[SIZE] = { 0 };
    eddy_array *before[16], *after[16];
    memcpy(slow, a.x, sizeof slow);
    for (int i = 0; i < STEPS; i++) {
        const int count = take(before, "ccumulate");
        ck_assert_int_eq(step_by(train, i, 1), EDDY_OK);
        take(after, "ccumulate");
        ck_assert_int_eq(same(before, after, count), i % 2 == 0);
        gradient_of(i, grad);
        for (int k = 0; k < SIZE; k++) total[k] += grad[k];
        if (i % 2 == 0) continue;
        for (int k = 0; k < SIZE; k++) total[k] /= 2;
        adam_step(&a, 0.1, total);
        memset(total, 0, sizeof total);
        for (int k = 0; (i + 1) % 4 == 0 && k < SIZE; k++)
            a.x[k] = slow[k] += 0.5 * (a.x[k] - slow[k]);
        is(v, a.x);
        ck_assert_double_eq(number(s, w), 1 - 0.25 * ((i + 1) / 2));
    }
}
END_TEST

/* -------------------------------------------------------- every optimizer -- */

enum { OPTIMIZERS = 12, WRAPPERS = 5 };

static eddy_optimizer *optimizer_of(int which)
{
    const eddy_tensor lr = n(0.05), mu = n(0.9);
    switch (which) {
    case 0: return eddy_gradient_descent(g, lr);
    case 1: return eddy_momentum(g, lr, mu);
    case 2: return eddy_momentum(g, lr, mu, true);
    case 3: return eddy_adagrad(g, lr);
    case 4: return eddy_adadelta(g, lr);
    case 5: return eddy_rmsprop(g, lr, .centered = true);
    case 6: return eddy_ftrl(g, lr);
    case 7: return eddy_adamw(g, lr);
    case 8: return eddy_nadam(g, lr);
    case 9: return eddy_lamb(g, lr);
    case 10: return eddy_decoupled_weight_decay(eddy_momentum(g, lr, mu), mu);
    default: return eddy_adam(g, lr);
    }
}

/* Around o, in a way that changes nothing; the last is all of them. */
static eddy_optimizer *around(eddy_optimizer *o, int how)
{
    const eddy_tensor one = eddy_scalar(g, 1);
    const eddy_optimizer_part part = { o, EDDY_LIST() };
    switch (how) {
    case 1: return eddy_loss_scale(o, one);
    case 2: return eddy_lookahead(o, 1000);
    case 3: return eddy_multi_optimizer(&part, 1);
    case 4: return eddy_accumulate_gradients(o, 1);
    case 5: return eddy_accumulate_gradients(eddy_lookahead(eddy_loss_scale(o, one), 1000), 1);
    default: return o;
    }
}

/* The value of v after 8 steps, in a new graph. */
static eddy_array *after_steps(int variant, int which, int how)
{
    setup();
    begin(variant);
    eddy_tensor train = apply(around(optimizer_of(which), how));
    start();
    for (int i = 0; i < 8; i++) step(train, i);
    eddy_array *y = eddy_variable_value(s, v);
    teardown();
    return y;
}

/* The same bits inside as outside.  Sparse gradients that add up are dense, which is another
 * rule for most optimizers: that is left out. */
START_TEST(every_optimizer)
{
    eddy_graph_free(g);
    for (int variant = 0; variant < VARIANTS; variant++) {
        eddy_array *want = after_steps(variant, _i, 0);
        for (int how = 1; how <= (variant & 2 ? 3 : WRAPPERS); how++) {
            eddy_array *got = after_steps(variant, _i, how);
            ck_assert_msg(eddy_array_equal(got, want), "optimizer %d, wrapper %d", _i, how);
            eddy_array_free(got);
        }
        eddy_array_free(want);
    }
    setup();
}
END_TEST

/* --------------------------------------------------------------- one loop -- */

/* Around Adam, each of them adds no copy of a variable or a slot: what is held besides these
 * is the inner loops' tiles, and for the loss scale what is finite, a byte an element. */
START_TEST(wrappers_are_fused)
{
    enum { N = 300 };
    v = eddy_variable(g, .initial_value = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(N, N)));
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(N, N));
    eddy_optimizer *o = adam_of(0.1);
    o = _i == 0   ? eddy_lookahead(o)
      : _i == 1 ? eddy_accumulate_gradients(o, 2)
                : eddy_loss_scale(o);
    type = EDDY_FLOAT32;
    eddy_tensor train = apply(o);
    start();
    step(train, 0);
    ck_assert_uint_lt(eddy_session_plan_info(s).arena_bytes, N * N * sizeof(float) / 2);
}
END_TEST

/* In a control block of the program's, whose node is run first and each time. */
START_TEST(in_a_control_block)
{
    begin(_i % VARIANTS);
    eddy_tensor runs_so_far = eddy_variable(g, .initial_value = n(0), .name = "runs");
    eddy_optimizer *o = adam_of(0.1);
    o = _i < VARIANTS ? eddy_accumulate_gradients(o, 1) : eddy_loss_scale(o, n(1));
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(runs_so_far, n(1))));
    eddy_tensor train = apply(o);
    eddy_control_end(g);
    start();
    adam a = adam_begin();
    double grad[SIZE];
    for (int i = 0; i < STEPS; i++) {
        step(train, i);
        gradient_of(i, grad);
        adam_step(&a, 0.1, grad);
        is(v, a.x);
        ck_assert_double_eq(number(s, runs_so_far), i + 1);
    }
}
END_TEST

static eddy_tensor not_negative(eddy_tensor value, void *context)
{
    (void)context;
    return Maximum(value, 0);
}

/* A constraint of the variable's holds, and a step that is dropped leaves what is. */
START_TEST(with_a_constraint)
{
    type = EDDY_FLOAT64;
    v = eddy_variable(g, .initial_value = vector(g, 2, (double[]){ 0.25, 2 }),
                      .constraint = { not_negative, NULL });
    x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_optimizer *inner = eddy_momentum(g, n(1), n(0.5));
    eddy_tensor train = apply(_i == 0   ? eddy_loss_scale(inner, n(1))
                              : _i == 1 ? eddy_accumulate_gradients(inner, 1)
                                        : eddy_lookahead(inner, 1, n(1)));
    start();
    double want[2] = { 0.25, 2 }, sum[2] = { 0 };
    for (int i = 0; i < 6; i++) {
        const bool bad = _i == 0 && i == 3;
        step_by(train, i, bad ? (double)NAN : 1);
        for (int k = 0; !bad && k < 2; k++) {
            sum[k] = 0.5 * sum[k] + sin(0.7 * i + k);
            want[k] = fmax(want[k] - sum[k], 0);
        }
        has(s, v, 2, want);
    }
}
END_TEST

/* ------------------------------------------------------------------ errors -- */

START_TEST(errors)
{
    eddy_graph *other = eddy_graph_new();
    eddy_optimizer *inner = adam_of(0.1), *far = eddy_gradient_descent(other, real(other, 1));
    ck_assert_ptr_null(eddy_lookahead(NULL));
    ck_assert_ptr_null(eddy_lookahead(NULL, .slow_step_size = n(1)));
    fails(g, EDDY_INVALID_ARGUMENT, "Lookahead: the inner optimizer does not belong to this graph");
    ck_assert_ptr_null(eddy_lookahead(far, .slow_step_size = n(1)));
    fails(g, EDDY_INVALID_ARGUMENT, "Lookahead: the inner optimizer does not belong to this graph");
    ck_assert_ptr_null(eddy_lookahead(inner, -1));
    fails(g, EDDY_INVALID_ARGUMENT, "Lookahead: sync_period is -1; it must be positive");
    ck_assert_ptr_null(eddy_accumulate_gradients(inner));
    fails(g, EDDY_INVALID_ARGUMENT, "AccumulateGradients: steps is 0; it must be positive");
    ck_assert_ptr_null(eddy_accumulate_gradients(NULL, 3));
    ck_assert_ptr_null(eddy_loss_scale(inner, .increment_period = -1));
    fails(g, EDDY_INVALID_ARGUMENT, "LossScale: increment_period is -1; it must be positive");
    ck_assert_ptr_null(eddy_multi_optimizer(NULL, 3));
    const eddy_optimizer_part parts[] = { { inner, EDDY_LIST() }, { far, EDDY_LIST() } };
    ck_assert_ptr_null(eddy_multi_optimizer(parts, 2));
    fails(g, EDDY_INVALID_ARGUMENT,
          "MultiOptimizer: the inner optimizer does not belong to this graph");
    ck_assert_ptr_null(eddy_multi_optimizer(parts, 0));
    eddy_graph_free(other);
}
END_TEST

Suite *wrappers_suite(void)
{
    Suite *suite = suite_create("wrappers");
    TCase *c = tcase_create("wrappers");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, lookahead, 0, VARIANTS);
    tcase_add_loop_test(c, accumulate, 0, 2 * VARIANTS);
    tcase_add_loop_test(c, multi, 0, VARIANTS);
    tcase_add_loop_test(c, nested, 0, VARIANTS);
    tcase_add_loop_test(c, every_optimizer, 0, OPTIMIZERS);
    tcase_add_loop_test(c, wrappers_are_fused, 0, 3);
    tcase_add_loop_test(c, in_a_control_block, 0, 2 * VARIANTS);
    tcase_add_loop_test(c, with_a_constraint, 0, 3);
    tcase_add_test(c, errors);
    suite_add_tcase(suite, c);
    return suite;
}
