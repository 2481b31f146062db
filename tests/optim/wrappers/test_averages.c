/* test_averages.c -- averages of variables over the steps; TensorFlow's cases are called E-02 and
 * so on, the others are compared with loops in float64. */
#include "tests/lib/checks.h"

#include <math.h>

Suite *averages_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void) { g = eddy_graph_new(); }

static void teardown(void)
{
    eddy_session_free(s);
    s = NULL;
    eddy_graph_free(g);
}

static eddy_tensor n(double x) { return real(g, x); }
static eddy_tensor vec(double a, double b) { return vector(g, 2, (double[]){ a, b }); }
static eddy_tensor variable(eddy_tensor initial, const char *name)
{
    return eddy_variable(g, .initial_value = initial, .name = name);
}

static void start(void)
{
    eddy_tensor init = eddy_initializer(g);
    fits(g);
    s = eddy_session_new(g);
    runs(s, init);
}

#define HAS(t, ...)                                                             \
    has(s, t, (int)(sizeof((double[]){ __VA_ARGS__ }) / sizeof(double)), (double[]){ __VA_ARGS__ })

/* ------------------------------------------------------------ one variable -- */

START_TEST(e02_assign_moving_average)
{
    eddy_tensor v = variable(vec(0, 0), "v");
    eddy_tensor move = eddy_assign_moving_average(v, vec(1, 2), n(0.25));
    ck_assert(eddy_graph_has(g, "v/biased") && eddy_graph_has(g, "v/local_step"));
    ck_assert_str_eq(eddy_name_of(move), "AssignMovingAvg");
    start();
    runs(s, move);
    HAS(v, 1, 2);
}
END_TEST

/* Without the correction, and 20 runs with it, values changing. */
START_TEST(assign_moving_average)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_tensor v = variable(vec(10, 11), "v"), w = variable(vec(10, 11), "w");
    eddy_tensor biased = eddy_assign_moving_average(v, x, n(0.9), .no_zero_debias = true);
    eddy_tensor move = eddy_assign_moving_average(w, x, n(0.9));
    eddy_tensor both = eddy_group(g, EDDY_LIST(biased, move), NULL);
    start();
    double want[2] = { 10, 11 }, sum[2] = { 0, 0 };
    for (int i = 0; i < 20; i++) {
        const double at[2] = { sin(i), i };
        eddy_array *in = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), at);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(both), NULL), EDDY_OK);
        eddy_array_free(in);
        for (int k = 0; k < 2; k++) {
            want[k] -= (1 - 0.9) * (want[k] - at[k]);
            sum[k] = 0.9 * sum[k] + (1 - 0.9) * at[k];
        }
        const double weight = 1 - pow(0.9, i + 1);
        HAS(v, want[0], want[1]);
        HAS(w, sum[0] / weight, sum[1] / weight);
    }
}
END_TEST

START_TEST(e04_weighted_moving_average)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor w = eddy_placeholder(g, "w", EDDY_FLOAT64, EDDY_SCALAR);
    eddy_tensor y = eddy_weighted_moving_average(x, n(0.5), w);
    ck_assert_str_eq(eddy_name_of(y), "WeightedMovingAvg");
    ck_assert(eddy_graph_has(g, "WeightedMovingAvg/value_x_weight"));
    start();
    const double at[2][3] = { { 3, 4, 3 }, { 11, 22, 10.3333333 } };
    for (int i = 0; i < 2; i++) {
        eddy_array *a = eddy_array_of(EDDY_FLOAT64, at[i][0]),
                   *b = eddy_array_of(EDDY_FLOAT64, at[i][1]);
        eddy_array *out = NULL;
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }, { w, b }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert_double_lt(fabs(eddy_array_item(out) - at[i][2]), 1e-6);
        eddy_array_free(a);
        eddy_array_free(b);
        eddy_array_free(out);
    }
}
END_TEST

/* ------------------------------------------------------------- exponential -- */

/* E-06; without the correction TensorFlow's tensor begins at 0: 30 and 37.5. */
START_TEST(e06_averages_of_scalars)
{
    eddy_tensor v0 = variable(n(10), "v0"), v1 = variable(n(30), "v1"), t = Add(v0, v1);
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.25), .zero_debias = _i == 0);
    eddy_tensor update = eddy_averages_apply(a, EDDY_LIST(v0, v1, t));
    start();
    eddy_tensor of0 = eddy_averages_of(a, v0), of1 = eddy_averages_of(a, v1);
    HAS(of0, 10);
    HAS(of1, 30);
    HAS(eddy_averages_of(a, t), 0);
    runs(s, update);
    HAS(of0, 10);
    HAS(eddy_averages_of(a, t), _i == 0 ? 40 : 30);
    runs(s, update);
    HAS(of1, 30);
    HAS(eddy_averages_of(a, t), _i == 0 ? 40 : 37.5);
    ck_assert_str_eq(eddy_name_of(update), "ExponentialMovingAverage");
    ck_assert_int_eq(eddy_collection_size(g, EDDY_MOVING_AVERAGE_VARIABLES), 2);
}
END_TEST

/* The decay is min(0.25, (1 + 1) / (10 + 1)). */
START_TEST(e08_num_updates)
{
    const double ten[] = { 10, 10, 10, 10, 10 }, thirty[] = { 30, 30, 30, 30, 30 };
    eddy_tensor v0 = variable(vector(g, 5, ten), "v0"), v1 = variable(vector(g, 5, thirty), "v1");
    eddy_tensor t = Add(v0, v1), few = eddy_number(g, EDDY_INT64, 1);
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.25), few, true);
    eddy_tensor update = eddy_averages_apply(a, EDDY_LIST(v0, v1, t));
    eddy_tensor change = eddy_assign_add(v0, vector(g, 5, ten));
    start();
    for (int i = 0; i < 2; i++) {
        runs(s, update);
        HAS(eddy_averages_of(a, t), 40, 40, 40, 40, 40);
    }
    runs(s, change);
    runs(s, update);
    const double moved = 10 + (1 - 2. / 11) * 10;
    HAS(eddy_averages_of(a, v0), moved, moved, moved, moved, moved);
}
END_TEST

START_TEST(e10_under_a_control_dependency)
{
    eddy_tensor v0 = variable(n(0), "v0"), v1 = variable(vector(g, 1, (double[]){ 10 }), "v1");
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.25));
    eddy_control_begin(g, EDDY_LIST(eddy_assign_add(v0, n(1))));
    eddy_tensor update = eddy_averages_apply(a, EDDY_LIST(v1));
    eddy_control_end(g);
    eddy_tensor shadow = eddy_averages_of(a, v1),
                init = eddy_graph_operation(g, "v1/ExponentialMovingAverage/Assign");
    ck_assert_int_eq(eddy_controls_of(init), 0);
    fits(g);
    s = eddy_session_new(g);
    runs(s, init);
    HAS(shadow, 10);
    runs(s, eddy_initializer(g));
    eddy_array *twenty = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1), (double[]){ 20 });
    ck_assert_int_eq(eddy_variable_set(s, v1, twenty), EDDY_OK);
    eddy_array_free(twenty);
    runs(s, update);
    HAS(v0, 1);
    HAS(shadow, 17.5);
}
END_TEST

/* In one run with a step, and after it, averages see the updated values. */
START_TEST(averages_after_a_step)
{
    eddy_tensor v = variable(vec(1, 2), "v");
    eddy_tensor train = eddy_minimize(eddy_gradient_descent(g, n(0.1)), Square(v));
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.5));
    eddy_control_begin(g, EDDY_LIST(train));
    eddy_tensor step = eddy_averages_apply(a, (eddy_list){ 0 });
    eddy_control_end(g);
    start();
    double x = 1, mean = 1;
    for (int i = 0; i < 20; i++) {
        runs(s, step);
        x -= 0.1 * 2 * x;
        mean -= 0.5 * (mean - x);
        HAS(v, x, 2 * x);
        HAS(eddy_averages_of(a, v), mean, 2 * mean);
    }
}
END_TEST

static bool restores(const eddy_named_variable *all, int count, const char *name, eddy_tensor v)
{
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0) return eddy_same(all[i].variable, v);
    return false;
}

/* E-12, with and without the correction. */
START_TEST(e12_names)
{
    const bool debias = _i > 0;
    eddy_tensor v0 = variable(n(10), "v0"), v1 = variable(n(30), "v1"),
                t = eddy_named("add", Add(v0, v1));
    eddy_tensor v2 = eddy_variable(g, .initial_value = n(20), .not_trainable = true, .name = "v2");
    eddy_averages *a =
        eddy_exponential_moving_average(g, n(0.25), .zero_debias = debias, .name = "foo");
    char name[64];
    ck_assert_str_eq(eddy_averages_name(a, v0, name, sizeof name), "v0/foo");
    ck_assert_str_eq(eddy_averages_name(a, t, name, sizeof name), "add/foo");
    eddy_averages_apply(a, EDDY_LIST(v0, v1, t));
    ck_assert_str_eq(eddy_averages_name(a, v0, name, sizeof name), "v0/foo");
    ck_assert_str_eq(eddy_name_of(eddy_averages_of(a, v0)), "v0/foo");
    ck_assert_str_eq(eddy_name_of(eddy_averages_of(a, t)), "add/foo");
    eddy_named_variable all[16];
    const int count = eddy_averages_to_restore(a, all, 16);
    ck_assert_int_eq(count, debias ? 6 : 4);
    ck_assert_int_eq(eddy_averages_to_restore(a, NULL, 0), count);
    ck_assert(restores(all, count, "v0/foo", v0));
    ck_assert(restores(all, count, "v1/foo", v1));
    ck_assert(restores(all, count, "v2", v2));
    ck_assert(restores(all, count, "add/foo", eddy_averages_of(a, t)));
    if (debias) {
        ck_assert(restores(all, count, "add/foo/biased", eddy_graph_tensor(g, "add/foo/biased:0")));
        ck_assert(restores(all, count, "add/foo/local_step",
                           eddy_graph_tensor(g, "add/foo/local_step:0")));
    }
    fits(g);
}
END_TEST

/* A second apply uses the shadows that are there. */
START_TEST(apply_again)
{
    eddy_tensor v = variable(n(4), "v");
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.5));
    eddy_averages_apply(a, EDDY_LIST(v));
    const int before = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    eddy_tensor again = eddy_averages_apply(a, EDDY_LIST(v));
    ck_assert_int_eq(eddy_collection_size(g, EDDY_GLOBAL_VARIABLES), before);
    ck_assert_str_eq(eddy_name_of(again), "ExponentialMovingAverage_1");
    ck_assert(!eddy_is_valid(eddy_averages_of(a, again)));
    fits(g);
}
END_TEST

/* For an evaluation and back, to the bit. */
START_TEST(swap_and_back)
{
    eddy_tensor v = variable(vec(1, 2), "v"), w = variable(n(0.1), "w");
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.75));
    eddy_tensor update = eddy_averages_apply(a, EDDY_LIST(v, w, Mul(v, w)));
    eddy_tensor    change =
        eddy_group(g, EDDY_LIST(eddy_assign(v, vec(5, -6)), eddy_assign(w, n(0.3))), NULL);
    eddy_tensor swap = eddy_averages_swap(a);
    start();
    runs(s, change);
    runs(s, update);
    eddy_array *before = eddy_fetch(s, w);
    HAS(eddy_averages_of(a, v), 2, 0);
    runs(s, swap);
    HAS(v, 2, 0);
    HAS(w, 0.15);
    HAS(eddy_averages_of(a, v), 5, -6);
    runs(s, swap);
    HAS(v, 5, -6);
    eddy_array *after = eddy_fetch(s, w);
    ck_assert(eddy_array_equal(before, after));
    eddy_array_free(before);
    eddy_array_free(after);
}
END_TEST

/* An average of a variable is one loop over it. */
START_TEST(averages_are_fused)
{
    eddy_tensor v = variable(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(100, 100)), "v");
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.99));
    eddy_tensor update = eddy_averages_apply(a, EDDY_LIST(v));
    start();
    runs(s, update);
    ck_assert_int_eq(eddy_session_plan_info(s).instructions, 1);
    ck_assert_uint_lt(eddy_session_plan_info(s).arena_bytes, 40000);
}
END_TEST

/* -------------------------------------------------------------- stochastic -- */

/* From run 3 on every second counts: 5, 7, 9 and so on. */
START_TEST(stochastic_weight_average)
{
    eddy_tensor v = variable(vec(1, 2), "v");
    eddy_tensor grow = eddy_assign_add(v, Mul(v, 0.1));
    eddy_averages *a = eddy_stochastic_weight_average(g, 3, 2);
    eddy_control_begin(g, EDDY_LIST(grow));
    eddy_tensor step = eddy_averages_apply(a, EDDY_LIST(v));
    eddy_control_end(g);
    start();
    double x = 1, sum = 0, taken = 0;
    for (int i = 1; i <= 20; i++) {
        eddy_array *before = eddy_fetch(s, eddy_averages_of(a, v));
        runs(s, step);
        eddy_array *after = eddy_fetch(s, eddy_averages_of(a, v));
        x += 0.1 * x;
        const bool counts = i > 3 && (i - 3) % 2 == 0;
        if (counts) {
            sum += x;
            taken++;
            ck_assert_double_lt(fabs(eddy_array_get(after, 0) - sum / taken), 1e-12 * sum);
        }
        ck_assert_int_eq(eddy_array_equal(before, after), !counts);
        eddy_array_free(before);
        eddy_array_free(after);
    }
    HAS(eddy_graph_tensor(g, "StochasticWeightAverage/taken:0"), 8);
}
END_TEST

/* The mean of all iterates: PyTorch's AveragedModel after 4 updates from 1, 2, 4, 8. */
START_TEST(polyak_average)
{
    eddy_tensor v = variable(n(0.5), "v");
    eddy_averages *a = eddy_stochastic_weight_average(g);
    eddy_control_begin(g, EDDY_LIST(eddy_assign(v, Mul(v, 2))));
    eddy_tensor step = eddy_averages_apply(a, (eddy_list){ 0 });
    eddy_control_end(g);
    start();
    const double want[] = { 1, 1.5, 7. / 3, 3.75 };
    for (int i = 0; i < 4; i++) {
        runs(s, step);
        HAS(eddy_averages_of(a, v), want[i]);
    }
}
END_TEST

START_TEST(handles_that_are_nothing)
{
    eddy_tensor v = variable(n(1), "v");
    ck_assert(!eddy_is_valid(eddy_averages_apply(NULL, EDDY_LIST(v))));
    fails(g, EDDY_INVALID_ARGUMENT, "averages_apply: the object is NULL or has been freed");
    ck_assert(!eddy_is_valid(eddy_averages_apply(NULL, EDDY_LIST())));
    ck_assert(!eddy_is_valid(eddy_averages_of(NULL, v)));
    ck_assert(!eddy_is_valid(eddy_averages_swap(NULL)));
    ck_assert_int_eq(eddy_averages_to_restore(NULL, NULL, 0), 0);
    ck_assert_ptr_null(eddy_stochastic_weight_average(NULL));
    ck_assert_ptr_null(eddy_exponential_moving_average(.graph = NULL));
    eddy_averages *a = eddy_exponential_moving_average(g, n(0.5));
    fits(g);
    eddy_graph_free(g);
    g = NULL;
    ck_assert(!eddy_is_valid(eddy_averages_swap(a)));
    ck_assert(!eddy_is_valid(eddy_averages_of(a, v)));
}
END_TEST

Suite *averages_suite(void)
{
    Suite *suite = suite_create("averages");
    TCase *c = tcase_create("averages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, e02_assign_moving_average);
    tcase_add_test(c, assign_moving_average);
    tcase_add_test(c, e04_weighted_moving_average);
    tcase_add_loop_test(c, e06_averages_of_scalars, 0, 2);
    tcase_add_test(c, e08_num_updates);
    tcase_add_test(c, e10_under_a_control_dependency);
    tcase_add_test(c, averages_after_a_step);
    tcase_add_loop_test(c, e12_names, 0, 2);
    tcase_add_test(c, apply_again);
    tcase_add_test(c, swap_and_back);
    tcase_add_test(c, averages_are_fused);
    tcase_add_test(c, stochastic_weight_average);
    tcase_add_test(c, polyak_average);
    tcase_add_test(c, handles_that_are_nothing);
    suite_add_tcase(suite, c);
    return suite;
}
