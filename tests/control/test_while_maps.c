/* test_while_maps.c -- maps over examples of while loops that end at different times: their
 * values, and gradients inside the map, of the map, and of both. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

enum { EXAMPLES = 5 };
static const double xs[EXAMPLES] = { 3, 0.5, 12, 1.5, 40 };

/* Each example has its own number of iterations, and some have none. */
BODY(below, Less(x[0], c[0]))
BODY(step, Add(Mul(x[0], Add(c[1], Mul(Sin(x[0]), 0.1))), 0.5))
static double stepped(double x, double a, int *n)
{
    for (*n = 0; x < 10; ++*n) x = x * (a + 0.1 * sin(x)) + 0.5;
    return x;
}

static int64_t most;            /* of the loop; -1: open */
static eddy_tensor ended(eddy_tensor x, eddy_tensor a)
{
    eddy_tensor y[1];
    const eddy_tensor ten = eddy_number(x.graph, F64, 10);
    ck_assert_msg(eddy_while_loop(FUNCTION(below, ten), FUNCTION(step, ten, a), EDDY_LIST(x), y,
                                  .maximum_iterations = most) == 1,
                  "%s", eddy_graph_message(x.graph));
    return y[0];
}
BODY(ends, ended(x[0], c[0]))
BODY(slopes, slope(ended(x[0], c[0]), x[0]))
BODY(slopes_of_a, slope(ended(x[0], c[0]), c[0]))
BODY(curves, slope(slope(ended(x[0], c[0]), x[0]), x[0]))
BODY(mixed, slope(slope(ended(x[0], c[0]), x[0]), c[0]))
BODY(slopes_of_own_a, slope(ended(x[0], x[1]), x[1]))

static eddy_tensor mapped(eddy_function f, eddy_list x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_vmap(f, x, y) == 1, "%s", eddy_graph_message(x.at[0].graph));
    return y[0];
}

/* The same function of one example after the other. */
static void agree(trial *t, eddy_function f, eddy_list x)
{
    eddy_tensor  one[EDDY_MAX_RESULTS], rows[EXAMPLES];
    for (int k = 0; k < EXAMPLES; k++) {
        eddy_tensor in[2];
        for (int i = 0; i < x.count; i++)
            in[i] = eddy_gather(x.at[i], whole(t, k));
        ck_assert_int_eq(f.build((eddy_list){ x.count, in }, one, f.context), 1);
        rows[k] = one[0];
    }
    eddy_array *want = value(t, eddy_stack((eddy_list){ EXAMPLES, rows }));
    is(t, mapped(f, x), EXAMPLES, eddy_array_data(want));
    eddy_array_free(want);
}

/* A map needs known ranks. */
static eddy_tensor vector(trial *t, int n, const double *v)
{
    return eddy_set_shape(numbers(t, n, v), EDDY_SHAPE(n));
}

static eddy_tensor known(trial *t, double v)
{
    return eddy_set_shape(fed_real(t, v), EDDY_SCALAR);
}

static trial begin(int i)
{
    most = i % 2 ? 50 : -1;
    return trial_begin((unsigned)i);
}

START_TEST(values)
{
    trial       t = begin(_i);
    eddy_tensor x = vector(&t, EXAMPLES, xs), a = known(&t, 1.25);
    eddy_tensor y = mapped(FUNCTION(ends, a), EDDY_LIST(x));
    double      want[EXAMPLES];
    int         n;
    for (int k = 0; k < EXAMPLES; k++) want[k] = stepped(xs[k], 1.25, &n);
    is(&t, y, EXAMPLES, want);
    trial_end(&t);
}
END_TEST

START_TEST(gradients_inside)
{
    trial       t = begin(_i);
    eddy_tensor x = vector(&t, EXAMPLES, xs), a = known(&t, 1.25);
    agree(&t, FUNCTION(slopes, a), EDDY_LIST(x));
    agree(&t, FUNCTION(slopes_of_a, a), EDDY_LIST(x));
    agree(&t, FUNCTION(curves, a), EDDY_LIST(x));
    agree(&t, FUNCTION(mixed, a), EDDY_LIST(x));
    agree(&t, PLAIN(slopes_of_own_a),
          EDDY_LIST(x, vector(&t, V(1.25, 1.5, 1.75, 1.5, 2))));
    trial_end(&t);
}
END_TEST

/* The map first, and then the gradient; and once more of a gradient inside. */
START_TEST(gradients_outside)
{
    trial       t = begin(_i);
    eddy_tensor x = vector(&t, EXAMPLES, xs), a = known(&t, 1.25);
    eddy_tensor inside = mapped(FUNCTION(slopes, a), EDDY_LIST(x));
    eddy_tensor outside = slope(mapped(FUNCTION(ends, a), EDDY_LIST(x)), x);
    eddy_array *want = value(&t, inside);
    is(&t, outside, EXAMPLES, eddy_array_data(want));
    eddy_array_free(want);
    want = value(&t, mapped(FUNCTION(curves, a), EDDY_LIST(x)));
    is(&t, slope(outside, x), EXAMPLES, eddy_array_data(want));
    is(&t, slope(inside, x), EXAMPLES, eddy_array_data(want));
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* All examples end at once, or there is only one. */
START_TEST(few_iterations)
{
    trial       t = begin(_i);
    eddy_tensor x = vector(&t, V(20, 30)), a = known(&t, 1.25);
    is(&t, mapped(FUNCTION(ends, a), EDDY_LIST(x)), V(20, 30));
    is(&t, mapped(FUNCTION(slopes, a), EDDY_LIST(x)), V(1, 1));
    is(&t, mapped(FUNCTION(curves, a), EDDY_LIST(x)), V(0, 0));
    is(&t, mapped(FUNCTION(slopes_of_a, a), EDDY_LIST(x)), V(0, 0));
    trial_end(&t);
}
END_TEST

/* Jacobians of vectors, forward mode, and rows of vectors. */
BODY(vector_below, Less(Sum(x[0]), c[0]))
BODY(vector_step, Add(Mul(x[0], 1.5), Mul(eddy_roll(x[0], 1, 0), 0.25)))
static int of_vectors(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor *c = context, z[1];
    eddy_while_loop(FUNCTION(vector_below, c[0]), PLAIN(vector_step), EDDY_LIST(in.at[0]), z,
                    .maximum_iterations = most);
    y[0] = slope(Square(z[0]), in.at[0]);
    return 1;
}
START_TEST(vectors)
{
    trial       t = begin(_i);
    eddy_tensor x = eddy_set_shape(given(&t, F64, EDDY_SHAPE(3, 2),
                                         (double[]){ 1, 2, 0.5, 0.25, 6, 9 }),
                                   EDDY_SHAPE(3, 2));
    eddy_tensor ten = known(&t, 10), y = mapped(FUNCTION(of_vectors, ten), EDDY_LIST(x)), one;
    eddy_tensor rows[3];
    for (int k = 0; k < 3; k++) {
        const eddy_tensor row = eddy_gather(x, whole(&t, k));
        eddy_tensor       c[1] = { ten };
        ck_assert_int_eq(of_vectors(EDDY_LIST(row), &one, c), 1);
        rows[k] = one;
    }
    eddy_array *want = value(&t, eddy_stack((eddy_list){ 3, rows }));
    is(&t, y, 6, eddy_array_data(want));
    eddy_array_free(want);
    trial_end(&t);
}
END_TEST

/* A loop that draws, and its gradient in the same map, use the same numbers: the sum of x times
 * draws, and the sum of the draws, at x = 1. */
BODY(add_draw, Add(x[0], Mul(c[0], eddy_random_uniform(x[0].graph, EDDY_SCALAR, .dtype = F64))))
BODY(twice_drawn, Mul(Add(x[0], eddy_random_uniform(x[0].graph, EDDY_SCALAR, .dtype = F64)), c[0]))
static int value_and_slope(eddy_list x, eddy_tensor *y, void *context)
{
    const eddy_tensor of = x.at[0], zero = eddy_zeros_like(of);
    const bool        linear = *(const bool *)context;
    const eddy_function f = linear ? FUNCTION(add_draw, of) : FUNCTION(twice_drawn, of);
    if (eddy_iterate(3, f, EDDY_LIST(zero), y) != 1) return 0;
    y[1] = eddy_gradient(y[0], of);
    return 2;
}

START_TEST(draws_of_gradients)
{
    trial         t = begin(_i);
    const double  ones[EXAMPLES] = { 1, 1, 1, 1, 1 };
    bool          linear = true;
    eddy_tensor   x = vector(&t, EXAMPLES, ones), y[EDDY_MAX_RESULTS];
    eddy_function f = { .build = value_and_slope, .context = &linear };
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), y), 2);
    eddy_array *drawn = value(&t, y[0]);
    is(&t, Sub(y[0], y[1]), EXAMPLES, (double[EXAMPLES]){ 0 });
    ck_assert_double_ne(eddy_array_get(drawn, 0), eddy_array_get(drawn, 1));
    eddy_array_free(drawn);
    /* h = (h + u) x three times: at x = 1 the slope is 3 u1 + 2 u2 + u3, above the value */
    linear = false;
    ck_assert_int_eq(eddy_vmap(f, EDDY_LIST(x), y), 2);
    eddy_tensor between = LogicalAnd(Less(y[0], y[1]), Less(y[1], Mul(3, y[0])));
    is(&t, Cast(between, F64), EXAMPLES, ones);
    trial_end(&t);
}
END_TEST

Suite *while_maps_suite(void)
{
    Suite *s = suite_create("while_maps");
    TCase *c = tcase_create("maps");
    tcase_add_loop_test(c, values, 0, SEEDS);
    tcase_add_loop_test(c, gradients_inside, 0, SEEDS);
    tcase_add_loop_test(c, gradients_outside, 0, SEEDS);
    tcase_add_loop_test(c, few_iterations, 0, SEEDS);
    tcase_add_loop_test(c, vectors, 0, SEEDS);
    tcase_add_loop_test(c, draws_of_gradients, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
