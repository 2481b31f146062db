/* test_optim_sparse.c -- sparse updates: the rows that they read and write, and the gradients that
 * they refuse. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/optimizer_formulas.h"

#include <math.h>

Suite *optim_sparse_suite(void);

enum { ROWS = 5000, COLUMNS = 4, NAMED = 5 };
static const int32_t AT[NAMED] = { 17, 4999, 17, 3, 17 };   /* row 0 is not among them */

static bool is_named(int64_t row) { return row == 17 || row == 4999 || row == 3; }

/* NaN in every row that is not named. */
static void poison(eddy_session *s, eddy_tensor t)
{
    eddy_array *a = eddy_fetch(s, t);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        if (!is_named(i / COLUMNS)) eddy_array_set(a, i, NAN);
    ck_assert_int_eq(eddy_variable_set(s, t, a), EDDY_OK);
    eddy_array_free(a);
}

static void is_poisoned_elsewhere(eddy_session *s, eddy_tensor t, const char *who)
{
    eddy_array *a = eddy_fetch(s, t);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++)
        ck_assert_msg(isnan(eddy_array_get(a, i)) == !is_named(i / COLUMNS), "%s: %s[%d] is %g",
                      who, eddy_name_of(t), (int)i, eddy_array_get(a, i));
    eddy_array_free(a);
}

static eddy_tensor table(int64_t rows)
{
    return eddy_variable(g, eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(rows, COLUMNS)), .name = "table");
}

/* Rows that are not named neither change nor have a say; nothing of the table's size is made. */
START_TEST(named_rows_alone)
{
    const optimizer_case *c = &optimizer_cases[_i];
    if (c->everywhere) return;
    double values[NAMED * COLUMNS];
    for (int i = 0; i < NAMED * COLUMNS; i++) values[i] = 0.1 * i - 0.7;
    eddy_tensor v = table(ROWS), at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(NAMED), AT), slots[4];
    eddy_tensor rows = matrix(g, NAMED, COLUMNS, values);
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(ROWS, COLUMNS)), v };
    eddy_optimizer    *o = c->make(g);
    eddy_tensor        train = eddy_apply_gradients(o, &p, 1);
    const int          n = eddy_optimizer_variables(o, slots, 4);
    eddy_session      *s = started(g);
    poison(s, v);
    for (int i = 0; i < n; i++) poison(s, slots[i]);
    runs(s, train);
    ck_assert_uint_lt(eddy_session_plan_info(s).arena_bytes, 8192);
    is_poisoned_elsewhere(s, v, c->name);
    for (int i = 0; i < n; i++) is_poisoned_elsewhere(s, slots[i], c->name);
    eddy_session_free(s);
}
END_TEST

/* No rows: nothing happens, but that the moments of Adam decay. */
START_TEST(no_rows)
{
    const optimizer_case *c = &optimizer_cases[_i];
    eddy_tensor v = table(3), at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(0), NULL);
    eddy_tensor rows = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, COLUMNS));
    eddy_gradient_pair p = { eddy_indexed_slices_of(rows, at, EDDY_SHAPE(3, COLUMNS)), v };
    eddy_tensor        train = eddy_apply_gradients(c->make(g), &p, 1);
    eddy_session      *s = started(g);
    runs(s, train);
    const double ones[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    has(s, v, 3 * COLUMNS, ones);
    eddy_session_free(s);
}
END_TEST

static eddy_array *integers(int64_t n, const int32_t *x)
{
    return eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(n), x);
}

/* Each optimizer passes over padding, which has no row, and refuses an index outside. */
START_TEST(padding_and_bad_indices)
{
    const optimizer_case *c = &optimizer_cases[_i];
    const int32_t         padded[] = { 1, -1 }, outside[] = { 1, 3 };
    eddy_tensor v = table(3), w = table(3);
    eddy_tensor at = eddy_placeholder(g, "at", EDDY_INT32, EDDY_SHAPE(2));
    eddy_tensor rows = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2, COLUMNS));
    eddy_tensor slices = eddy_indexed_slices_of(rows, at, EDDY_SHAPE(3, COLUMNS));
    eddy_tensor lenient = eddy_apply_gradients(
        c->make(g), &(eddy_gradient_pair){ eddy_slices_padded(slices), v }, 1);
    eddy_tensor strict = eddy_apply_gradients(c->make(g), &(eddy_gradient_pair){ slices, w }, 1);
    eddy_session *s = started(g);
    eddy_array   *pad = integers(2, padded), *bad = integers(2, outside);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ at, pad }), EDDY_FETCH(lenient), NULL), EDDY_OK);
    eddy_array *a = eddy_fetch(s, v);
    for (int i = 0; i < 3 * COLUMNS; i++)
        ck_assert((eddy_array_get(a, i) == 1) == (i / COLUMNS != 1));
    eddy_array_free(a);
    eddy_run(s, EDDY_FEED({ at, pad }), EDDY_FETCH(strict), NULL);
    run_fails(s, EDDY_OUT_OF_RANGE, "indices[1] = -1 is not in [0, 3)");
    eddy_run(s, EDDY_FEED({ at, bad }), EDDY_FETCH(strict), NULL);
    run_fails(s, EDDY_OUT_OF_RANGE, "indices[1] = 3 is not in [0, 3)");
    a = eddy_fetch(s, w);
    for (int i = 0; i < 3 * COLUMNS; i++) ck_assert(eddy_array_get(a, i) == 1);
    eddy_array_free(a);
    eddy_array_free(pad);
    eddy_array_free(bad);
    eddy_session_free(s);
}
END_TEST

/* A row of the gradient has the shape of a row of the variable: nothing is broadcast. */
START_TEST(rows_that_do_not_fit)
{
    eddy_tensor v = table(3), scalar = eddy_variable(g, real(g, 1), .name = "scalar");
    eddy_tensor at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 2 });
    eddy_tensor narrow = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(2, 1));
    eddy_gradient_pair p = { eddy_indexed_slices_of(narrow, at, EDDY_SHAPE(3, 1)), v };
    eddy_apply_gradients(eddy_adagrad(g, real(g, 1)), &p, 1);
    fails(g, EDDY_BAD_SHAPE,
          "var and grad must match in all dimensions except the first: 'table' [3,4], [2,1]");
    p.variable = scalar;
    eddy_apply_gradients(eddy_adagrad(g, real(g, 1)), &p, 1);
    fails(g, EDDY_BAD_SHAPE, "'scalar' [], [2,1]");

    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    p = (eddy_gradient_pair){ eddy_indexed_slices(x, at, v), v };
    eddy_tensor   train = eddy_apply_gradients(eddy_adagrad(g, real(g, 1)), &p, 1);
    eddy_session *s = started(g);
    eddy_array   *bad = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 1));
    eddy_array   *good = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, COLUMNS));
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, bad }), EDDY_FETCH(train), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, good }), EDDY_FETCH(train), NULL), EDDY_OK);
    eddy_array_free(bad);
    eddy_array_free(good);
    eddy_session_free(s);
}
END_TEST

/* Indices of either type, as many as a run brings. */
START_TEST(any_number_of_rows)
{
    const eddy_dtype d = _i ? EDDY_INT64 : EDDY_INT32;
    eddy_tensor v = table(4), at = eddy_placeholder(g, "at", d, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor train = eddy_minimize(eddy_proximal_gradient_descent(g, real(g, 1)),
                                      Sum(Gather(v, at)));
    eddy_session *s = started(g);
    for (int64_t n = 0; n < 6; n++) {
        eddy_array *rows = eddy_array_new(d, EDDY_SHAPE(n));        /* all of them row 0 */
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ at, rows }), EDDY_FETCH(train), NULL), EDDY_OK);
        eddy_array_free(rows);
    }
    ck_assert_double_eq(number(s, v), 1 - (1 + 2 + 3 + 4 + 5));
    eddy_session_free(s);
}
END_TEST

Suite *optim_sparse_suite(void)
{
    Suite *suite = suite_create("optim_sparse");
    TCase *c = tcase_create("optim_sparse");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, named_rows_alone, 0, optimizer_case_count);
    tcase_add_loop_test(c, no_rows, 0, optimizer_case_count);
    tcase_add_loop_test(c, padding_and_bad_indices, 0, optimizer_case_count);
    tcase_add_test(c, rows_that_do_not_fit);
    tcase_add_loop_test(c, any_number_of_rows, 0, 2);
    suite_add_tcase(suite, c);
    return suite;
}
