/* test_wrappers.c -- wrappers of optimizers against loops in float64 that keep the inner
 * optimizer's slots. */
#include "tests/lib/checks.h"

#include <math.h>

Suite *wrappers_suite(void);

enum { ROWS = 6, COLUMNS = 2, SIZE = ROWS * COLUMNS, STEPS = 20 };

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   v, x, at;      /* a variable, its gradient or rows of it, and their places */
static eddy_dtype    type;
static bool          sparse;

/* Loops take float32 and float64, a dense and a sparse gradient. */
enum { VARIANTS = 4 };

static void begin(int variant)
{
    type = variant & 1 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    sparse = variant & 2;
    double first[SIZE];
    for (int i = 0; i < SIZE; i++) first[i] = 1 + i / 8.;
    v = eddy_variable(g, .initial_value = matrix(g, ROWS, COLUMNS, first), .dtype = type,
                      .name = "v");
    x = eddy_placeholder(g, "x", type, EDDY_SHAPE(sparse ? 3 : ROWS, COLUMNS));
    at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(3));
}

static void setup(void)
{
    g = eddy_graph_new();
    sparse = false;
}

static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double value) { return real(g, value); }

static eddy_tensor apply(eddy_optimizer *o)
{
    fits(g);
    eddy_gradient_pair p = { sparse ? eddy_indexed_slices(x, at, v) : x, v };
    return eddy_apply_gradients(o, &p, 1);
}

static void start(void)
{
    eddy_tensor init = eddy_initializer(g);
    fits(g);
    s = eddy_session_new(g);
    runs(s, init);
}

/* The gradient of step i, as all elements of v; row 5 has none if it is sparse, and row 1
 * is listed twice. */
static void gradient_of(int i, double *all)
{
    memset(all, 0, SIZE * sizeof *all);
    for (int k = 0; k < (sparse ? 3 * COLUMNS : SIZE); k++) {
        const int rows[] = { 1, i % 4 + 1, 1 };
        const int to = sparse ? rows[k / COLUMNS] * COLUMNS + k % COLUMNS : k;
        all[to] += sin(0.7 * i + k);
    }
}

/* One run of t with the gradient of step i times `scale`. */
static eddy_status step_by(eddy_tensor t, int i, double scale)
{
    const int32_t rows[] = { 1, i % 4 + 1, 1 };
    eddy_array *in = eddy_array_new(type, eddy_shape_of(x));
    for (int k = 0; k < eddy_array_count(in); k++)
        eddy_array_set(in, k, scale * sin(0.7 * i + k));
    eddy_array *to = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(3), rows);
    const eddy_status status =
        sparse ? eddy_run(s, EDDY_FEED({ x, in }, { at, to }), EDDY_FETCH(t), NULL)
               : eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(t), NULL);
    eddy_array_free(in);
    eddy_array_free(to);
    return status;
}

static void step(eddy_tensor t, int i)
{
    ck_assert_msg(step_by(t, i, 1) == EDDY_OK, "%s", eddy_session_message(s));
}

static void is(eddy_tensor t, const double *want)
{
    eddy_array *a = eddy_variable_value(s, t);
    ck_assert_int_eq(eddy_array_count(a), SIZE);
    for (int i = 0; i < SIZE; i++) {
        const double got = eddy_array_get(a, i), most = type == EDDY_FLOAT32 ? 2e-5 : 1e-12;
        ck_assert_msg(fabs(got - want[i]) <= most * fmax(1, fabs(want[i])),
                      "%s[%d] is %.12g, not %.12g", eddy_name_of(t), i, got, want[i]);
    }
    eddy_array_free(a);
}

/* Adam of all elements, and the variable, in float64. */
typedef struct adam {
    double x[SIZE], m[SIZE], s[SIZE], power1, power2;
} adam;

static adam adam_begin(void)
{
    adam a = { .power1 = 0.9, .power2 = 0.999 };
    for (int i = 0; i < SIZE; i++) a.x[i] = 1 + i / 8.;
    return a;
}

static void adam_step(adam *a, double lr, const double *grad)
{
    const double alpha = lr * sqrt(1 - a->power2) / (1 - a->power1);
    for (int i = 0; i < SIZE; i++) {
        a->m[i] += (grad[i] - a->m[i]) * (1 - 0.9);
        a->s[i] += (grad[i] * grad[i] - a->s[i]) * (1 - 0.999);
        a->x[i] -= alpha * a->m[i] / (sqrt(a->s[i]) + 1e-8);
    }
    a->power1 *= 0.9;
    a->power2 *= 0.999;
}

static eddy_optimizer *adam_of(double lr)
{
    return eddy_adam(g, n(lr), n(0.9), n(0.999), n(1e-8));
}

/* All global variables but those whose name has `but` in it, to compare their bits. */
static int take(eddy_array **out, const char *but)
{
    int count = 0;
    for (int i = 0; i < eddy_collection_size(g, EDDY_GLOBAL_VARIABLES); i++) {
        eddy_tensor t = eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i);
        if (!strstr(eddy_name_of(t), but)) out[count++] = eddy_variable_value(s, t);
    }
    return count;
}

static bool same(eddy_array **a, eddy_array **b, int count)
{
    bool all = true;
    for (int i = 0; i < count; i++) {
        all &= eddy_array_equal(a[i], b[i]);
        eddy_array_free(a[i]);
        eddy_array_free(b[i]);
    }
    return all;
}

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

/* ------------------------------------------------------------- loss scale -- */

/* Steps 3, 4 and 11 have a gradient that is not finite: they change nothing but the scale,
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

/* Steps 3, 4 and 11 change nothing but the count, and a line names the variable. */
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

/* ------------------------------------------------------------------ multi -- */

/* v by Adam, w by Momentum, u by what is for all others. */
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

/* What v is after 8 steps, in a graph of its own. */
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
    tcase_add_loop_test(c, loss_scale, 0, VARIANTS);
    tcase_add_test(c, loss_scale_corners);
    tcase_add_test(c, fixed_loss_scale);
    tcase_add_loop_test(c, any_way_to_scale, 0, WAYS);
    tcase_add_test(c, unscaled_gradients);
    tcase_add_test(c, small_gradients);
    tcase_add_loop_test(c, skips_what_is_not_finite, 0, VARIANTS);
    tcase_add_loop_test(c, skips_with_others, 0, 3);
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
