/* test_root.c -- roots by Newton's method: values, and implicit derivatives against formulas and
 * finite differences. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

BODY(square_less, Sub(Square(x[0]), x[1]))
BODY(square_less_captured, Sub(Square(x[0]), c[0]))
/* A vector, of each element of which an equation holds. */
BODY(cubes, Sub(Add(Mul(Mul(x[0], x[0]), x[0]), x[0]), c[0]))
/* A circle and a line; unknowns and equations have different shapes. */
BODY(circle_and_line, eddy_stack(EDDY_LIST(Sub(Add(Square(x[0]), Sum(Square(x[1]))), c[0]),
                                           Sub(Sum(x[1]), Mul(c[1], x[0])))))

static eddy_tensor root_of(eddy_function f, eddy_tensor x0)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_root(f, EDDY_LIST(x0), y) == 1, "%s", eddy_graph_message(x0.graph));
    return y[0];
}

/* The square root, and its derivatives. */
START_TEST(square_roots)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_real(&t, 2), y, one = constant(&t, 1);
    ck_assert_int_eq(eddy_root(PLAIN(square_less), EDDY_LIST(one), &y, EDDY_LIST(a)), 1);
    const double r = sqrt(2);
    is(&t, y, V(r));
    is(&t, slope(y, a), V(0.5 / r));
    is(&t, slope(slope(y, a), a), V(-0.25 / (2 * r)));
    is(&t, slope(slope(slope(y, a), a), a), V(0.375 / (4 * r)));
    ck_assert(!eddy_is_valid(eddy_gradient(y, one)));
    /* from the other side, the other root */
    is(&t, root_of(FUNCTION(square_less_captured, a), constant(&t, -9)), V(-r));
    trial_end(&t);
}
END_TEST

START_TEST(derivatives_are_differences)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_numbers(&t, EDDY_SHAPE(4), 0.5, 2);
    eddy_tensor y = root_of(FUNCTION(cubes, eddy_set_shape(a, EDDY_SHAPE(4))),
                            eddy_ones(t.graph, F64, EDDY_SHAPE(4)));
    check_slopes(&t, y, 1, &a, 3);
    trial_end(&t);
}
END_TEST

START_TEST(systems)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor c[2] = { fed_numbers(&t, EDDY_SCALAR, 2, 3), fed_numbers(&t, EDDY_SCALAR, 0.5, 1) };
    eddy_tensor y[EDDY_MAX_RESULTS], x0 = constant(&t, 1),
                                     x1 = eddy_ones(t.graph, F64, EDDY_SHAPE(1, 1));
    ck_assert_msg(eddy_root(FUNCTION(circle_and_line, eddy_set_shape(c[0], EDDY_SCALAR),
                                     eddy_set_shape(c[1], EDDY_SCALAR)), EDDY_LIST(x0, x1), y) == 2,
                  "%s", eddy_graph_message(t.graph));
    const double r = scalar_value(&t, c[0]), m = scalar_value(&t, c[1]), u = sqrt(r / (1 + m * m));
    is(&t, y[0], V(u));
    is_shaped(&t, y[1], EDDY_SHAPE(1, 1));
    is(&t, y[1], V(m * u));
    is(&t, slope(y[0], c[0]), V(0.5 * u / r));
    check_slopes(&t, Add(y[1], Square(y[0])), 2, c, 2);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------- batches -- */

BODY(root_of_one, root_of(FUNCTION(square_less_captured, x[0]), OnesLike(x[0])))
BODY(slope_of_one, slope(root_of(FUNCTION(square_less_captured, x[0]), OnesLike(x[0])), x[0]))

/* One system of all elements, a map with a system for each, and a loop. */
START_TEST(batches)
{
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor a = eddy_set_shape(numbers(&t, V(1, 4, 9, 0.25)), EDDY_SHAPE(4));
    eddy_tensor       y[EDDY_MAX_RESULTS], dy[EDDY_MAX_RESULTS];
    eddy_tensor       all = root_of(FUNCTION(square_less_captured, a), OnesLike(a));
    ck_assert_int_eq(eddy_vmap(PLAIN(root_of_one), EDDY_LIST(a), y), 1);
    ck_assert_int_eq(eddy_vmap(PLAIN(slope_of_one), EDDY_LIST(a), dy), 1);
    is(&t, all, V(1, 2, 3, 0.5));
    is(&t, y[0], V(1, 2, 3, 0.5));
    is(&t, slope(all, a), V(0.5, 0.25, 1.0 / 6, 1));
    is(&t, slope(y[0], a), V(0.5, 0.25, 1.0 / 6, 1));
    is(&t, dy[0], V(0.5, 0.25, 1.0 / 6, 1));
    is(&t, slope(dy[0], a), V(-0.25, -0.25 / 8, -0.25 / 27, -2));
    ck_assert_int_eq(eddy_map_fn(PLAIN(slope_of_one), EDDY_LIST(a), dy), 1);
    is(&t, slope(dy[0], a), V(-0.25, -0.25 / 8, -0.25 / 27, -2));
    trial_end(&t);
}
END_TEST

START_TEST(single_precision)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor a = eddy_constant(g, EDDY_FLOATS(4, 9)), y;
    ck_assert_int_eq(eddy_root(PLAIN(square_less), EDDY_LIST(OnesLike(a)), &y, EDDY_LIST(a)), 1);
    eddy_session *s = eddy_session_new(g);
    eddy_array   *d = eddy_fetch(s, slope(y, a));
    ck_assert_msg(d != NULL, "%s", eddy_session_message(s));
    ck_assert_double_eq_tol(eddy_array_get(d, 0), 0.25, 1e-6);
    ck_assert_double_eq_tol(eddy_array_get(d, 1), 1.0 / 6, 1e-6);
    eddy_array_free(d);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

Suite *root_suite(void)
{
    Suite *suite = suite_create("root");
    TCase *c = tcase_create("root");
    tcase_add_loop_test(c, square_roots, 0, SEEDS);
    tcase_add_loop_test(c, derivatives_are_differences, 0, SEEDS);
    tcase_add_loop_test(c, systems, 0, SEEDS);
    tcase_add_loop_test(c, batches, 0, SEEDS);
    tcase_add_test(c, single_precision);
    suite_add_tcase(suite, c);
    return suite;
}
