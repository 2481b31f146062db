/* test_schedules.c -- learning rates that depend on the step. TensorFlow's cases are called L-02
 * and so on; the values of PyTorch 1.13 were printed by its lr_scheduler. */
#include "tests/lib/checks.h"

#include <math.h>

Suite *schedules_suite(void);

static const double PI = 3.14159265358979323846;

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   step;         /* float64, fed */

static void setup(void)
{
    g = eddy_graph_new();
    step = eddy_placeholder(g, "step", EDDY_FLOAT64, EDDY_SCALAR);
}

static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double x) { return real(g, x); }

/* y when x is fed. */
static double fed(eddy_tensor y, eddy_tensor x, double value)
{
    eddy_array *in = eddy_array_of(eddy_dtype_of(x), value), *out = NULL;
    fits(g);
    if (!s) s = eddy_session_new(g);
    ck_assert_msg(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), &out) == EDDY_OK, "%s",
                  eddy_session_message(s));
    const double got = eddy_array_item(out);
    eddy_array_free(in);
    eddy_array_free(out);
    return got;
}

static void is(eddy_tensor y, double at, double want, double tolerance)
{
    const double got = fed(y, step, at);
    ck_assert_msg(fabs(got - want) <= tolerance * fmax(1, fabs(want)),
                  "%s at %g is %.12g, not %.12g", eddy_name_of(y), at, got, want);
}

/* y at `first`, `first` + `by`, ... */
static void follows(eddy_tensor y, double first, double by, int count, const double *want)
{
    for (int i = 0; i < count; i++) is(y, first + by * i, want[i], 1e-8);
}
#define FOLLOWS(y, first, by, ...)                                             \
    follows(y, first, by, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), \
            (const double[]){ __VA_ARGS__ })

/* ---------------------------------------------------------- TensorFlow's -- */

/* L-01, L-02 */
START_TEST(l02_exponential_decay)
{
    eddy_tensor smooth = eddy_exponential_decay(n(0.1), step, n(3), n(0.96));
    eddy_tensor stairs = eddy_exponential_decay(n(0.1), step, n(3), n(0.96), .staircase = true);
    FOLLOWS(stairs, 1, 1, 0.1, 0.1, 0.096);
    is(stairs, 100, 0.0259986436, 1e-9);
    is(smooth, 4, 0.1 * pow(0.96, 4. / 3), 1e-15);
    ck_assert_str_eq(eddy_name_of(smooth), "ExponentialDecay");
    ck_assert_str_eq(eddy_name_of(stairs), "ExponentialDecay_1");
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

START_TEST(l04_piecewise_constant)
{
    const eddy_list values = EDDY_LIST(n(1), n(2), n(3), n(4));
    eddy_tensor y = eddy_piecewise_constant(step, EDDY_LIST(n(100), n(110), n(120)), values);
    FOLLOWS(y, 90, 5, 1, 1, 1, 2, 2, 3, 3, 4);
    /* int32 boundaries suit an int64 step. */
    eddy_tensor big = eddy_placeholder(g, "big", EDDY_INT64, EDDY_SCALAR);
    const eddy_list edges = EDDY_LIST(eddy_number(g, EDDY_INT32, 2), eddy_number(g, EDDY_INT32, 4));
    eddy_tensor z = eddy_piecewise_constant(big, edges, EDDY_LIST(n(1), n(2), n(3)));
    eddy_session_free(s);
    s = NULL;
    ck_assert_double_eq(fed(z, big, 2), 1);
    ck_assert_double_eq(fed(z, big, 3), 2);
    ck_assert_double_eq(fed(z, big, 5), 3);
    /* One value stands alone; other types and numbers of them are refused. */
    ck_assert_double_eq(fed(eddy_piecewise_constant(big, EDDY_LIST(), EDDY_LIST(n(7))), big, 5), 7);
    eddy_tensor x = eddy_number(g, EDDY_INT32, 5);
    eddy_piecewise_constant(x, EDDY_LIST(n(1), n(2)), EDDY_LIST(n(1), n(2), n(3)));
    fails(g, EDDY_BAD_DTYPE, "Boundaries (float64) must have the same dtype as x (int32).");
    eddy_piecewise_constant(step, EDDY_LIST(n(1), n(2)), EDDY_LIST(n(1), x, x));
    fails(g, EDDY_BAD_DTYPE,
          "Values must have elements all with the same dtype (float64 vs int32)");
    eddy_piecewise_constant(step, EDDY_LIST(n(1), n(2)), EDDY_LIST(n(1), n(2)));
    fails(g, EDDY_INVALID_ARGUMENT, "boundaries should be 1 less than the length of values");
}
END_TEST

START_TEST(l06_polynomial_decay)
{
    is(eddy_polynomial_decay(n(0.05), step, n(10), n(0)), 5, 0.025, 1e-12);
    eddy_tensor y = eddy_polynomial_decay(n(0.05), step, n(10), n(0.001));
    FOLLOWS(y, 5, 5, 0.0255, 0.001, 0.001);
    /* The defaults: down to 0.0001 in a straight line. */
    is(eddy_polynomial_decay(n(0.05), step, n(10)), 5, 0.02505, 1e-12);
}
END_TEST

START_TEST(l08_polynomial_decay_of_the_root)
{
    const eddy_tensor half = n(0.5), end = n(0.001);
    is(eddy_polynomial_decay(n(0.05), step, n(10), n(0), half), 5, 0.0353553391, 1e-9);
    is(eddy_polynomial_decay(n(0.05), step, n(10), end, half), 5, 0.0356482323, 1e-9);
    eddy_tensor y = eddy_polynomial_decay(n(0.05), step, n(10), end, n(1), .cycle = true);
    FOLLOWS(y, 0, 5, 0.05, 0.0255, 0.001, 0.01325, 0.001);
    /* L-08: 15 of 20 with the root is a quarter's root, a half. */
    is(eddy_polynomial_decay(n(0.05), step, n(10), end, half, .cycle = true), 15, 0.0255, 1e-9);
}
END_TEST

START_TEST(l10_natural_exp_decay)
{
    eddy_tensor y = eddy_natural_exp_decay(n(0.1), step, n(10), n(0.96));
    is(y, 1, 0.0908464016, 1e-9);
    is(y, 5, 0.0618783392, 1e-9);
    is(y, 10, 0.0382892886, 1e-9);
    y = eddy_natural_exp_decay(n(0.1), step, n(10), n(0.96), .staircase = true);
    for (int i = 0; i < 10; i++) is(y, i, 0.1, 1e-12);
    is(y, 10, 0.0382892886, 1e-9);
}
END_TEST

/* 0.1 / (1 + 0.96 i / 10). */
START_TEST(inverse_time_decay)
{
    eddy_tensor y = eddy_inverse_time_decay(n(0.1), step, n(10), n(0.96));
    for (int i = 0; i < 30; i++) is(y, i, 0.1 / (1 + 0.96 * i / 10), 1e-14);
    y = eddy_inverse_time_decay(n(0.1), step, n(10), n(0.96), .staircase = true);
    for (int i = 0; i < 30; i++) is(y, i, 0.1 / (1 + 0.96 * (i / 10)), 1e-14);
}
END_TEST

START_TEST(l12_cosine_decay)
{
    FOLLOWS(eddy_cosine_decay(n(1), step, n(1000)), 0, 250, 1, .853553391, .5, .146446609, 0, 0);
    FOLLOWS(eddy_cosine_decay(n(1), step, n(1000), .alpha = n(0.1)), 0, 250, 1, .8681980519, .55,
            .2318019481, .1, .1);
}
END_TEST

START_TEST(l14_cosine_decay_restarts)
{
    eddy_tensor y = eddy_cosine_decay_restarts(n(1), step, n(1000));
    FOLLOWS(y, 0, 250, 1, .853553391, .5, .146446609, 1, .961939766);
    /* TensorFlow's testAlpha, testMMul, testTMul. */
    y = eddy_cosine_decay_restarts(n(1), step, n(1000), .alpha = n(0.1));
    is(y, 250, 0.1 + 0.9 * 0.853553391, 1e-8);
    y = eddy_cosine_decay_restarts(n(1), step, n(1000), .m_mul = n(0.9));
    FOLLOWS(y, 0, 250, 1, .853553391, .5, .146446609, .9, .865745789);
    y = eddy_cosine_decay_restarts(n(1), step, n(1000), .t_mul = n(1));
    FOLLOWS(y, 0, 250, 1, .853553391, .5, .146446609, 1, .853553391);
    /* A third period begins at 3000 and is four times the first. */
    is(eddy_cosine_decay_restarts(n(1), step, n(1000)), 5000, 0.5, 1e-9);
}
END_TEST

START_TEST(l16_linear_cosine_decay)
{
    eddy_tensor y = eddy_linear_cosine_decay(n(1), step, n(1000));
    FOLLOWS(y, 0, 250, 1.001, .641165043, .251, .037611652, .001, .001);
    /* Written out: alpha 0.1, beta 1e-4, five periods. */
    y = eddy_linear_cosine_decay(n(1), step, n(1000), n(5), n(0.1), n(1e-4));
    for (int i = 0; i <= 1250; i += 50) {
        const double at = fmin(i, 1000) / 1000, cosine = (1 + cos(2 * PI * 5 * at)) / 2;
        is(y, i, (0.1 + 1 - at) * cosine + 1e-4, 1e-12);
    }
}
END_TEST

/* The noise has the deviation sqrt(1 / (1 + s)^0.55), and none at variance 0. */
START_TEST(noisy_linear_cosine_decay)
{
    enum { RUNS = 4000 };
    eddy_tensor quiet = eddy_noisy_linear_cosine_decay(n(1), step, n(1000), n(0));
    FOLLOWS(quiet, 0, 250, 1.001, .641165043, .251, .037611652, .001, .001);
    eddy_tensor y = eddy_noisy_linear_cosine_decay(n(1), step, n(1000), .seed = 3);
    const double cosine = (1 + cos(PI / 4)) / 2, deviation = sqrt(1 / pow(251, 0.55));
    double sum = 0, squares = 0;
    for (int i = 0; i < RUNS; i++) {
        const double z = ((fed(y, step, 250) - 0.001) / cosine - 0.75) / deviation;
        sum += z;
        squares += z * z;
    }
    ck_assert_double_lt(fabs(sum / sqrt(RUNS)), 4);
    ck_assert_double_lt(fabs(squares / RUNS - 1), 4 * sqrt(2. / RUNS));
}
END_TEST

/* L-18, for each of them. */
START_TEST(l18_no_global_step)
{
    eddy_exponential_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for exponential_decay.");
    eddy_natural_exp_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for natural_exp_decay.");
    eddy_inverse_time_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for inverse_time_decay.");
    eddy_polynomial_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for polynomial_decay.");
    eddy_cosine_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for cosine_decay.");
    eddy_cosine_decay_restarts(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for cosine_decay_restarts.");
    eddy_linear_cosine_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for linear_cosine_decay.");
    eddy_noisy_linear_cosine_decay(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for noisy_linear_cosine_decay.");
    eddy_linear_warmup(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for linear_warmup.");
    eddy_one_cycle(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "global_step is required for one_cycle.");
    ck_assert(!eddy_is_valid(eddy_cosine_decay()));
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

/* The type is the rate's, whatever the others are. */
START_TEST(types)
{
    eddy_tensor count = eddy_create_global_step(g), steps = eddy_number(g, EDDY_INT32, 3);
    eddy_tensor y = eddy_exponential_decay(eddy_scalar(g, 0.1), count, steps, n(0.96));
    ck_assert_int_eq(eddy_dtype_of(y), EDDY_FLOAT32);
    eddy_tensor v = eddy_variable(g, n(0), .name = "v");
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, y), v, .global_step = count);
    s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    double want = 0;
    for (int i = 0; i < 20; i++) {
        runs(s, train);
        want -= 0.1 * pow(0.96, i / 3.);
        ck_assert_double_lt(fabs(number(s, v) - want), 1e-6);
    }
}
END_TEST

/* ------------------------------------------------------------- and beyond -- */

/* PyTorch's LinearLR(start_factor = 0.25, total_iters = 4). */
START_TEST(linear_warmup)
{
    eddy_tensor y = eddy_linear_warmup(n(1), step, n(4), n(0.25));
    FOLLOWS(y, 0, 1, 0.25, 0.4375, 0.625, 0.8125, 1, 1, 1);
    FOLLOWS(eddy_linear_warmup(n(2), step, n(4)), 0, 1, 0, 0.5, 1, 1.5, 2, 2);
    is(eddy_linear_warmup(n(2), step, n(0)), 0, 2, 0);
    /* Over a schedule that begins when it is warm. */
    eddy_tensor later = eddy_cosine_decay(n(1), Maximum(Sub(step, 4), 0), n(1000));
    y = eddy_linear_warmup(later, step, n(4));
    is(y, 2, 0.5, 1e-12);
    is(y, 254, .853553391, 1e-9);
}
END_TEST

/* Vaswani et al. 2017, equation 3, with d_model 64 and 10 steps. */
START_TEST(inverse_square_root)
{
    eddy_tensor y = eddy_inverse_square_root_decay(n(1 / sqrt(64. * 10)), step, n(10));
    is(y, 0, 0, 0);
    for (int i = 1; i < 40; i++)
        is(y, i, pow(64, -0.5) * fmin(pow(i, -0.5), i * pow(10, -1.5)), 1e-14);
    is(eddy_inverse_square_root_decay(n(1), step, n(0)), 4, 0.5, 1e-14);
}
END_TEST

/* PyTorch's OneCycleLR(max_lr = 0.1, total_steps = 20), and its momentum. */
START_TEST(one_cycle)
{
    FOLLOWS(eddy_one_cycle(n(0.1), step, n(20)), 0, 1, 0.0040000000000000036, 0.013167184270002533,
            0.037167184270002526, 0.066832815729997469, 0.090832815729997476, 0.1,
            0.098746400623508743, 0.095048463201347383, 0.089091617757105002, 0.081174565394976306,
            0.071694300179130088, 0.06112620219362893, 0.050000200000000002, 0.038874197806371073,
            0.028306099820869922, 0.018825834605023701, 0.010908782242895003,
            0.0049519367986526289, 0.0012539993764912555, 4e-07, 4e-07, 4e-07);
    FOLLOWS(eddy_one_cycle_momentum(n(0.95), step, n(20)), 0, 1, 0.95, 0.94045084971874737,
            0.91545084971874735, 0.88454915028125258, 0.85954915028125256, 0.85,
            0.8512536043909088, 0.85495155660487898, 0.86090842587659844, 0.86882550990706331,
            0.87830581304412203, 0.88887395330218422, 0.9, 0.91112604669781572, 0.9216941869558779,
            0.93117449009293662, 0.9390915741234015, 0.94504844339512095, 0.94874639560909113,
            0.95, 0.95);
}
END_TEST

/* anneal_strategy = 'linear', three_phase and pct_start = 0.4. */
START_TEST(one_cycle_in_three_phases)
{
    FOLLOWS(eddy_one_cycle(n(0.1), step, n(20), .linear = true), 0, 6, 0.004,
            0.092857171428571431, 0.050000200000000002, 0.0071432285714285726);
    FOLLOWS(eddy_one_cycle(n(0.1), step, n(20), n(0.4), .three_phase = true), 0, 1,
            0.0040000000000000036, 0.0087534943406838844, 0.022072489510780793,
            0.041318995170096913, 0.062681004829903103, 0.081927510489219216, 0.095246505659316125,
            0.1, 0.095246505659316125, 0.081927510489219216, 0.062681004829903089,
            0.041318995170096906, 0.022072489510780793, 0.0087534943406838862, 0.004,
            0.0036180721853510196, 0.0026181721853510195, 0.0013822278146489802,
            0.00038232781464898029, 4e-07);
    FOLLOWS(eddy_one_cycle(n(0.1), step, n(20), n(0.4), n(10), n(100), .linear = true,
                           .three_phase = true),
            6, 1, 0.087142857142857147, 0.1, 0.087142857142857147, 0.074285714285714288,
            0.06142857142857143, 0.048571428571428571, 0.035714285714285712, 0.022857142857142854,
            0.01, 0.00802, 0.00604, 0.00406, 0.00208, 0.0001);
    FOLLOWS(eddy_one_cycle_momentum(n(0.95), step, n(20), .pct_start = n(0.4), .linear = true,
                                    .three_phase = true),
            5, 1, 0.87857142857142856, 0.86428571428571432, 0.85, 0.86428571428571421,
            0.87857142857142856, 0.89285714285714279, 0.90714285714285714, 0.92142857142857137,
            0.93571428571428572, 0.95, 0.95);
}
END_TEST

/* ------------------------------------------------------------- plateaus -- */

static const double metrics[] = { 1, 0.9, 0.95, 0.91, 0.92, 0.9, 0.5, 0.5, 0.5, 0.5, 0.49999, 0.6,
                                  0.7, 0.8, 0.3, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9 };
enum { EPOCHS = (int)(sizeof metrics / sizeof *metrics) };

static void goes_down(eddy_plateau p, eddy_tensor metric, const double *want)
{
    fits(g);
    s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int i = 0; i < EPOCHS; i++) {
        const double got = fed(p.update, metric, metrics[i]);
        ck_assert_msg(fabs(got - want[i]) <= 1e-12 * want[i], "epoch %d: %.12g, not %.12g", i, got,
                      want[i]);
        ck_assert_double_eq(number(s, p.learning_rate), got);
    }
    eddy_session_free(s);
    s = NULL;
}

/* PyTorch's ReduceLROnPlateau: patience 2; patience 1, cooldown 2, factor 0.5, min_lr 0.1;
 * mode max, patience 0, threshold 0.05 abs, factor 0.7. */
START_TEST(reduce_on_plateau)
{
    eddy_tensor m = eddy_placeholder(g, "metric", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_plateau p = eddy_reduce_on_plateau(n(1), m, .patience = 2);
    goes_down(p, m, (const double[]){ 1, 1, 1, 1, .1, .1, .1, .1, .1, .01, .01, .01, 1e-3, 1e-3,
                                      1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5, 1e-6 });
    p = eddy_reduce_on_plateau(n(1), m, n(0.5), 1, .cooldown = 2, .min_learning_rate = n(0.1));
    goes_down(p, m, (const double[]){ 1, 1, 1, .5, .5, .5, .5, .5, .25, .25, .25, .25, .125, .125,
                                      .125, .125, .1, .1, .1, .1, .1, .1, .1, .1 });
    p = eddy_reduce_on_plateau(n(1), m, n(0.7), -1, n(0.05), .absolute_threshold = true,
                               .maximize = true);
    double want[EPOCHS] = { 1 };
    for (int i = 1; i < EPOCHS; i++) want[i] = want[i - 1] * 0.7;
    goes_down(p, m, want);
    ck_assert_str_eq(eddy_name_of(p.learning_rate), "ReduceOnPlateau_2/learning_rate");
    ck_assert_str_eq(eddy_name_of(p.update), "ReduceOnPlateau_2");
    ck_assert(!eddy_collection_has(g, EDDY_TRAINABLE_VARIABLES, p.learning_rate));
}
END_TEST

/* Patience of 10 epochs; a metric that is NaN is bad; too small a step is not made. */
START_TEST(plateau_corners)
{
    eddy_tensor  m = eddy_placeholder(g, "metric", EDDY_FLOAT32, EDDY_SCALAR);
    eddy_plateau p = eddy_reduce_on_plateau(n(1), m);
    eddy_plateau q = eddy_reduce_on_plateau(n(1e-9), m, .patience = -1);
    s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int i = 0; i < 11; i++)
        ck_assert_double_eq(fed(p.update, m, (double)NAN), i < 10 ? 1 : 0.1);
    ck_assert_double_eq(fed(q.update, m, (double)NAN), 1e-9);
    eddy_reduce_on_plateau(n(1), m, .cooldown = -1);
    fails(g, EDDY_INVALID_ARGUMENT, "reduce_on_plateau: cooldown is -1; it must not be negative");
    eddy_reduce_on_plateau(n(1));
    fails(g, EDDY_INVALID_ARGUMENT, "metric is required for reduce_on_plateau.");
    ck_assert_str_eq(eddy_scope_name(g), "");
}
END_TEST

/* ------------------------------------------------------ from the program -- */

typedef struct calls {
    int    count;
    double last;
} calls;

static double half(void *data, double x)
{
    calls *c = data;
    c->count++;
    c->last = x;
    return x / 2;
}

/* Called once in each run that needs it, not merged with its twin, not kept. */
START_TEST(host_scalar)
{
    calls one = { 0 }, two = { 0 }, each = { 0 };
    eddy_tensor a = eddy_host_scalar(g, half, &one), b = eddy_host_scalar(g, half, &two);
    eddy_tensor c = eddy_host_scalar(.function = half, .data = &each, .x = n(7));
    ck_assert_str_eq(eddy_name_of(a), "HostScalar");
    s = eddy_session_new(g);
    for (int i = 0; i < 5; i++) ck_assert_double_eq(number(s, Add(a, b)), i);
    ck_assert_int_eq(one.count, 5);
    ck_assert_int_eq(two.count, 5);
    ck_assert_double_eq(one.last, 4);
    ck_assert_int_eq(each.count, 0);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(number(s, Mul(c, 2)), 7);
    ck_assert_int_eq(each.count, 3);
    ck_assert(!eddy_is_valid(eddy_gradient(eddy_host_scalar(g, half, &one, step), step)));
    fits(g);
    eddy_host_scalar(g);
    fails(g, EDDY_INVALID_ARGUMENT, "there is no function to call");
}
END_TEST

/* A schedule in C, of the global step. */
START_TEST(host_schedule)
{
    calls c = { 0 };
    eddy_tensor count = eddy_create_global_step(g), v = eddy_variable(g, n(10), .name = "v");
    eddy_tensor rate = eddy_host_scalar(g, half, &c, count);
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, rate), v, .global_step = count);
    s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    for (int i = 0; i < 4; i++) runs(s, train);
    ck_assert_double_eq(number(s, v), 10 - (0 + 0.5 + 1 + 1.5));
    ck_assert_int_eq(c.count, 4);
}
END_TEST

static int host_of(eddy_list x, eddy_tensor *y, void *data)
{
    y[0] = Add(Mul(eddy_host_scalar(x.at[0].graph, half, data, x.at[0]), 3),
               eddy_host_scalar(x.at[0].graph, half, data, n(10)));
    return 1;
}

/* A map hands over each example, and once what is the same for all. */
START_TEST(host_scalar_in_a_map)
{
    calls c = { 0 };
    const eddy_function f = { .build = host_of, .context = &c };
    eddy_tensor x = vector(g, 3, (double[]){ 2, 4, 6 }), y;
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), &y), 1);
    has_value(y, 3, (double[]){ 8, 11, 14 });
    ck_assert_int_eq(c.count, 4);
}
END_TEST

/* A graph file cannot hold the function. */
START_TEST(host_scalar_in_a_file)
{
    calls c = { 0 };
    eddy_error e = { 0 };
    eddy_host_scalar(g, half, &c);
    ck_assert_ptr_null(eddy_graph_to_yaml(g));
    ck_assert_int_eq(eddy_graph_save(g, "build/host.yaml", &e), EDDY_UNIMPLEMENTED);
    ck_assert_str_eq(e.message,
                     "'HostScalar' (HostScalar) holds a value that a graph file cannot store");
    fits(g);
}
END_TEST

/* ---------------------------------------------------------------- suite -- */

Suite *schedules_suite(void)
{
    Suite *suite = suite_create("schedules");
    TCase *c = tcase_create("schedules");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, l02_exponential_decay);
    tcase_add_test(c, l04_piecewise_constant);
    tcase_add_test(c, l06_polynomial_decay);
    tcase_add_test(c, l08_polynomial_decay_of_the_root);
    tcase_add_test(c, l10_natural_exp_decay);
    tcase_add_test(c, inverse_time_decay);
    tcase_add_test(c, l12_cosine_decay);
    tcase_add_test(c, l14_cosine_decay_restarts);
    tcase_add_test(c, l16_linear_cosine_decay);
    tcase_add_test(c, noisy_linear_cosine_decay);
    tcase_add_test(c, l18_no_global_step);
    tcase_add_test(c, types);
    tcase_add_test(c, linear_warmup);
    tcase_add_test(c, inverse_square_root);
    tcase_add_test(c, one_cycle);
    tcase_add_test(c, one_cycle_in_three_phases);
    tcase_add_test(c, reduce_on_plateau);
    tcase_add_test(c, plateau_corners);
    tcase_add_test(c, host_scalar);
    tcase_add_test(c, host_schedule);
    tcase_add_test(c, host_scalar_in_a_map);
    tcase_add_test(c, host_scalar_in_a_file);
    suite_add_tcase(suite, c);
    return suite;
}
