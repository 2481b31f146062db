/* test_loss_scale.c -- scaled losses, and steps that are skipped because a gradient is not finite,
 * against loops in float64 that keep the inner optimizer's slots. */
#include "tests/lib/wrapped_steps.h"

Suite *loss_scale_suite(void);

/* ------------------------------------------------------------- loss scale -- */

/* Steps 3, 4 and 11 have a gradient that is not finite: they change nothing except the scale,
 * which four good steps in a row double. */
START_TEST(loss_scale)
{
    begin(_i);
    eddy_optimizer *inner = adam_of(0.1);
    eddy_optimizer *o = eddy_loss_scale(inner, n(8), .increment_period = 4);
    eddy_scale_loss(o, n(1));            /* x is the gradient of a scaled loss */
    eddy_tensor train = apply(o), scale = eddy_loss_scale_of(o);
    ck_assert_str_eq(eddy_name_of(scale), "LossScale/loss_scale");
    start();
    adam a = adam_begin();
    double grad[SIZE], want = 8;
    int    good = 0;
    eddy_array *before[16], *after[16];
    for (int i = 0; i < STEPS; i++) {
        const bool bad = i == 3 || i == 4 || i == 11;
        const int  count = take(before, "LossScale");
        const double now = number(s, scale);
        ck_assert_double_eq(now, want);
        ck_assert_int_eq(step_by(train, i,
                                 i == 3 ? (double)NAN
                                 : bad  ? (double)INFINITY
                                        : now),
                         EDDY_OK);
        take(after, "LossScale");
        ck_assert_int_eq(same(before, after, count), bad);
        good = bad || good == 3 ? 0 : good + 1;
        want = bad ? want / 2 : good == 0 ? 2 * want : want;
        gradient_of(i, grad);
        if (!bad) adam_step(&a, 0.1, grad);
        is(v, a.x);
        is(eddy_get_slot(inner, v, "v"), a.s);
    }
}
END_TEST

/* The scale does not fall below 1, nor become infinite; the gradient is that of the loss. */
START_TEST(loss_scale_corners)
{
    begin(1);
    eddy_optimizer *o = eddy_loss_scale(eddy_gradient_descent(g, n(0.5)), n(2),
                                        .increment_period = 1, .multiplier = n(1e30));
    eddy_tensor loss = Mul(Sum(v), x), scale = eddy_loss_scale_of(o);
    eddy_tensor train = eddy_minimize(o, eddy_scale_loss(o, Sum(loss)));
    start();
    step_by(train, 0, (double)NAN);
    ck_assert_double_eq(number(s, scale), 1);
    step_by(train, 0, 0);
    ck_assert_double_eq(number(s, scale), (double)1e30f);
    step_by(train, 0, 0);
    ck_assert_double_eq(number(s, scale), (double)1e30f);
    ck_assert(!eddy_is_valid(eddy_scale_loss(eddy_gradient_descent(g, n(1)), loss)));
    fails(g, EDDY_INVALID_ARGUMENT, "loss_scale_of: 'GradientDescent' does not scale the loss");
    ck_assert(!eddy_is_valid(eddy_loss_scale_of(NULL)));
}
END_TEST

/* A fixed scale has no variable and drops nothing. */
START_TEST(fixed_loss_scale)
{
    begin(0);
    eddy_optimizer *o = eddy_loss_scale(adam_of(0.1), n(1024), .fixed = true);
    eddy_tensor loss = Sum(Mul(v, x)), train = eddy_minimize(o, eddy_scale_loss(o, loss));
    start();
    adam a = adam_begin();
    double grad[SIZE];
    for (int i = 0; i < STEPS; i++) {
        step(train, i);
        gradient_of(i, grad);
        adam_step(&a, 0.1, grad);
        is(v, a.x);
    }
    ck_assert(!eddy_graph_has(g, "LossScale/loss_scale"));
}
END_TEST

/* ------------------------------------------------- who scales the loss -- */

/* The loss of v is Sum(v x), of the gradient x. */
static eddy_tensor loss_of_v(void) { return Sum(Mul(v, x)); }
static int build_loss(eddy_list none, eddy_tensor *y, void *user)
{
    (void)none, (void)user;
    return *y = loss_of_v(), 1;
}

/* Ways to a step of descent by the gradient of an optimizer that scales, o, or is around one. */
static eddy_tensor train_by(int way, eddy_optimizer *o, eddy_optimizer *scales)
{
    eddy_gradient_pair p = { .variable = v };
    eddy_tensor loss = loss_of_v();
    switch (way) {
    case 0: return eddy_minimize(o, loss);
    case 1: return eddy_minimize(o, eddy_scale_loss(scales, loss));
    case 2: return eddy_minimize(o, Mul(0.5, Add(eddy_scale_loss(scales, loss),
                                                 eddy_scale_loss(scales, loss))));
    case 3: return eddy_minimize(o, .loss_function = { .build = build_loss });
    case 4: return eddy_minimize(o, Mul(0.5, loss), .grad_loss = Cast(n(2), type));
    case 5:
        eddy_compute_gradients(o, loss, &p, 1);
        return eddy_apply_gradients(o, &p, 1);
    case 6:
        eddy_compute_gradients(o, eddy_scale_loss(scales, loss), &p, 1);
        return eddy_apply_gradients(o, &p, 1);
    case 7:
        p.gradient = eddy_gradient(eddy_scale_loss(scales, loss), v);
        return eddy_apply_gradients(o, &p, 1);
    case 8:                               /* the program's own gradient */
        p.gradient = x;
        return eddy_apply_gradients(o, &p, 1);
    default:
        eddy_sharpness_aware_gradients(.optimizer = o, .loss = loss, .out = &p, .max_out = 1);
        return eddy_apply_gradients(o, &p, 1);
    }
}
enum { WAYS = 10, AROUND = 4 };

static eddy_optimizer *around_scale(int how, eddy_optimizer *o)
{
    const eddy_optimizer_part part = { o, EDDY_LIST() };
    return how == 0 ? o : how == 1 ? eddy_accumulate_gradients(o, 1)
         : how == 2 ? eddy_multi_optimizer(&part, 1) : eddy_clipped_gradients(o, .norm = n(1e6));
}

/* Whoever scales it, the step is that of the loss itself, and the scale falls from 2^15 to 2^14
 * after a gradient that is not finite. */
START_TEST(any_way_to_scale)
{
    eddy_graph_free(g);
    for (int how = 0; how < AROUND; how++) {
        setup();
        begin(0);
        eddy_optimizer *scales = eddy_loss_scale(eddy_gradient_descent(g, n(0.5)));
        eddy_tensor     train = train_by(_i, around_scale(how, scales), scales);
        double          want[SIZE], grad[SIZE];
        start();
        for (int k = 0; k < SIZE; k++) want[k] = 1 + k / 8.;
        for (int i = 0; i < 3; i++) {
            const bool bad = i == 1;
            step_by(train, i, bad ? (double)INFINITY : 1);
            gradient_of(i, grad);
            for (int k = 0; k < SIZE && !bad; k++) want[k] -= 0.5 * grad[k];
            is(v, want);
            ck_assert_double_eq(number(s, eddy_loss_scale_of(scales)), i ? 16384 : 32768);
        }
        teardown();
    }
    setup();
}
END_TEST

/* Gradients are handed out unscaled, so that clipping them to the norm 1 leaves the norm 1. */
START_TEST(unscaled_gradients)
{
    begin(0);
    eddy_optimizer *o = eddy_loss_scale(eddy_gradient_descent(g, n(0.5)));
    eddy_gradient_pair p;
    ck_assert_int_eq(eddy_compute_gradients(o, Sum(Mul(v, v)), &p, 1), 1);
    p.gradient = eddy_clip_by_norm(p.gradient, Cast(n(1), type));
    eddy_tensor train = eddy_apply_gradients(o, &p, 1);
    start();
    double want[SIZE], sum = 0;
    for (int k = 0; k < SIZE; k++) sum += (1 + k / 8.) * (1 + k / 8.);
    for (int k = 0; k < SIZE; k++) want[k] = (1 + k / 8.) * (1 - 0.5 / sqrt(sum));
    runs(s, train);
    is(v, want);
}
END_TEST

/* A gradient that is 2^-160 on the way, below the smallest float32, and 2^-80 in the end. */
START_TEST(small_gradients)
{
    begin(1);
    eddy_optimizer *o = eddy_loss_scale(eddy_gradient_descent(g, n(0x1p80)), n(0x1p32));
    const eddy_tensor tiny =
        eddy_placeholder_with_default(Cast(n(0x1p-80), type), NULL, EDDY_SCALAR);
    eddy_tensor train = eddy_minimize(o, Sum(Mul(Mul(Mul(v, 0x1p80), tiny), tiny)));
    start();
    double want[SIZE];
    for (int k = 0; k < SIZE; k++) want[k] = 1 + k / 8. - 1;
    runs(s, train);
    is(v, want);
}
END_TEST

/* ------------------------------------------------------ only if finite -- */

static char lines[4][160];
static int  n_lines;

static void keep_line(void *user, const char *line)
{
    (void)user;
    if (n_lines < 4) snprintf(lines[n_lines], sizeof lines[0], "%s", line);
    n_lines++;
}

/* Steps 3, 4 and 11 change nothing except the count, and a line names the variable. */
START_TEST(skips_what_is_not_finite)
{
    begin(_i);
    n_lines = 0;
    eddy_optimizer *inner = adam_of(0.1);
    eddy_optimizer *o = eddy_apply_if_finite(inner, .write = keep_line);
    eddy_tensor train = apply(o), skipped = eddy_skipped_steps(o);
    start();
    adam a = adam_begin();
    double grad[SIZE];
    int    bad_steps = 0;
    eddy_array *before[16], *after[16];
    for (int i = 0; i < STEPS; i++) {
        const bool bad = i == 3 || i == 4 || i == 11;
        const int  count = take(before, "ApplyIfFinite");
        ck_assert_int_eq(step_by(train, i, i == 3 ? (double)NAN : bad ? (double)INFINITY : 1),
                         EDDY_OK);
        take(after, "ApplyIfFinite");
        ck_assert_int_eq(same(before, after, count), bad);
        bad_steps += bad;
        ck_assert_double_eq(number(s, skipped), bad_steps);
        ck_assert_int_eq(n_lines, bad_steps);
        if (bad) ck_assert_ptr_nonnull(strstr(lines[bad_steps - 1],
            "ApplyIfFinite: step skipped; infinite or NaN elements in the gradient of 'v': ["));
        gradient_of(i, grad);
        if (!bad) adam_step(&a, 0.1, grad);
        is(v, a.x);
    }
}
END_TEST

/* One line for two bad gradients, none if it is quiet; within others and around them. */
START_TEST(skips_with_others)
{
    begin(1);
    n_lines = 0;
    eddy_tensor w = eddy_variable(g, eddy_zeros(g, type, EDDY_SHAPE(ROWS, COLUMNS)), .name = "w");
    eddy_optimizer *clipped =
        eddy_clipped_gradients(eddy_momentum(g, n(0.1), n(0.9)), .norm = n(1));
    eddy_optimizer *inner = _i == 2 ? eddy_accumulate_gradients(clipped, 1) : clipped;
    eddy_optimizer *o = eddy_apply_if_finite(inner, _i == 1, keep_line);
    eddy_tensor train = eddy_minimize(o, Sum(Mul(Add(v, w), x)));
    start();
    eddy_array *before[16], *after[16];
    const int   count = take(before, "ApplyIfFinite");
    ck_assert_int_eq(step_by(train, 0, (double)NAN), EDDY_OK);
    take(after, "ApplyIfFinite");
    ck_assert(same(before, after, count));
    ck_assert_int_eq(n_lines, _i != 1);
    ck_assert_int_eq(step_by(train, 0, 1), EDDY_OK);
    ck_assert_int_eq(n_lines, _i != 1);
    ck_assert(!eddy_is_valid(eddy_skipped_steps(clipped)));
    fails(g, EDDY_INVALID_ARGUMENT,
          "'ClippedGradients' is not an optimizer of eddy_apply_if_finite");
    ck_assert_ptr_null(eddy_apply_if_finite(NULL));
    ck_assert(!eddy_is_valid(eddy_skipped_steps(NULL)));
}
END_TEST

Suite *loss_scale_suite(void)
{
    Suite *suite = suite_create("loss_scale");
    TCase *c = tcase_create("loss_scale");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, loss_scale, 0, VARIANTS);
    tcase_add_test(c, loss_scale_corners);
    tcase_add_test(c, fixed_loss_scale);
    tcase_add_loop_test(c, any_way_to_scale, 0, WAYS);
    tcase_add_test(c, unscaled_gradients);
    tcase_add_test(c, small_gradients);
    tcase_add_loop_test(c, skips_what_is_not_finite, 0, VARIANTS);
    tcase_add_loop_test(c, skips_with_others, 0, 3);
    suite_add_tcase(suite, c);
    return suite;
}
