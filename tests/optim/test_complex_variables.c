/* test_complex_variables.c -- optimizers update complex variables, whole or some of their rows. */
#include "tests/lib/checks.h"

#include <complex.h>

Suite *complex_variables_suite(void);

static eddy_graph *g;

static void setup(void) { ck_assert_ptr_nonnull(g = eddy_graph_new()); }
static void teardown(void) { eddy_graph_free(g); }

static double trained(eddy_optimizer *o, eddy_tensor loss)
{
    eddy_session *s = eddy_session_new(g);
    const eddy_tensor step = eddy_minimize(o, loss);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    runs(s, eddy_initializer(g));
    for (int i = 0; i < 200; i++) runs(s, step);
    const double left = number(s, loss);
    eddy_session_free(s);
    return left;
}

/* |v - (1 + 2i)|^2 goes to 0; assignments and sparse steps work too. */
START_TEST(variables_learn)
{
    const float complex start[] = { 3 - I, -2 + 5 * I }, goal[] = { 1 + 2 * I, -1 - I };
    const eddy_tensor v =
        eddy_variable(g, .initial_value = eddy_const(g, EDDY_COMPLEX64, EDDY_SHAPE(2), start));
    const eddy_tensor loss =
        Sum(Square(Abs(Sub(v, eddy_const(g, EDDY_COMPLEX64, EDDY_SHAPE(2), goal)))));
    const eddy_tensor rate = eddy_scalar(g, 0.1);
    ck_assert_double_le(trained(eddy_gradient_descent(g, rate), loss), 1e-9);
    ck_assert_double_le(trained(eddy_momentum(g, rate, eddy_scalar(g, 0.5)), loss), 1e-9);
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    const eddy_tensor more = eddy_assign_add(v, v);
    eddy_array *a = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(more), &a), EDDY_OK);
    ck_assert_double_eq(eddy_array_get(a, 0), 6);
    ck_assert_double_eq(eddy_array_get_imag(a, 1), 10);
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_minimize(eddy_adam(g), loss);
    fails(g, EDDY_BAD_DTYPE, "Invalid type complex64");
}
END_TEST

START_TEST(sparse_rows_learn)
{
    const double complex start[] = { 3 - I, -2 + 5 * I };
    const eddy_tensor v =
        eddy_variable(g, .initial_value = eddy_const(g, EDDY_COMPLEX128, EDDY_SHAPE(2), start));
    const eddy_tensor twice = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[2]){ 1, 1 });
    const eddy_tensor rows = Gather(v, twice);
    const eddy_tensor step = eddy_minimize(eddy_gradient_descent(g, eddy_scalar(g, 0.25)),
                                           Sum(Square(Abs(rows))));
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = NULL;
    runs(s, eddy_initializer(g));
    runs(s, step);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(v), &a), EDDY_OK);
    ck_assert_double_eq(eddy_array_get(a, 0), 3);
    ck_assert_double_eq_tol(eddy_array_get(a, 1), 0, 1e-6);
    ck_assert_double_eq_tol(eddy_array_get_imag(a, 1), 0, 1e-6);
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

Suite *complex_variables_suite(void)
{
    Suite *s = suite_create("complex_variables");
    TCase *t = tcase_create("complex_variables");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, variables_learn);
    tcase_add_test(t, sparse_rows_learn);
    suite_add_tcase(s, t);
    return s;
}
