/* test_variables.c -- the values that reads and updates of variables see. */
#include "tests/lib/session_fixture.h"

Suite *variables_suite(void);

static eddy_array *array_of(int64_t n, const double *x)
{
    return eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(n), x);
}

/* A variable with the value 2, and all of them initialized. */
static eddy_tensor variable(const char *name) { return eddy_variable(g, real(g, 2), .name = name); }
static void initialize(void) { runs(s, eddy_initializer(g)); }

/* Both fetched in one run. */
static void pair_is(eddy_tensor a, eddy_tensor b, double want_a, double want_b)
{
    eddy_array *out[2] = { NULL, NULL };
    const eddy_status status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(a, b), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_item(out[0]), want_a);
    ck_assert_double_eq(eddy_array_item(out[1]), want_b);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
}

START_TEST(reads_see_the_value_from_before)
{
    eddy_tensor v = variable("v"), nine = eddy_assign(v, real(g, 9)), twice = Mul(v, 2),
                same = Identity(v);
    eddy_tensor read = eddy_read(v);
    initialize();
    pair_is(v, nine, 2, 9);
    initialize();
    pair_is(nine, twice, 9, 4);
    initialize();
    pair_is(same, nine, 2, 9);
    initialize();
    pair_is(nine, read, 9, 2);
    pair_is(v, same, 9, 9);
}
END_TEST

START_TEST(updates_in_order_of_creation)
{
    eddy_tensor v = variable("v"), add = eddy_assign_add(v, real(g, 1)),
                sub = eddy_assign_sub(v, real(g, 5));
    eddy_tensor tenfold = eddy_assign(v, Mul(v, 10));
    initialize();
    pair_is(sub, add, -2, 3);
    has(s, v, 1, (double[]){ -2 });
    initialize();
    pair_is(tenfold, add, 20, 3);
    has(s, v, 1, (double[]){ 20 });
}
END_TEST

START_TEST(values_are_exchanged)
{
    eddy_tensor a = variable("a"), b = eddy_variable(g, real(g, 7), .name = "b");
    eddy_tensor swap = eddy_group(g, EDDY_LIST(eddy_assign(a, b), eddy_assign(b, a)), NULL);
    initialize();
    runs(s, swap);
    pair_is(a, b, 7, 2);
    runs(s, swap);
    pair_is(a, b, 2, 7);
}
END_TEST

START_TEST(reads_behind_an_update)
{
    eddy_tensor v = variable("v"), add = eddy_assign_add(v, real(g, 1));
    eddy_control_begin(g, EDDY_LIST(add));
    eddy_tensor after = eddy_read(v), plain = Mul(v, 1), same = Identity(v);
    eddy_control_end(g);
    eddy_tensor before = Mul(v, 1);
    eddy_tensor later = eddy_assign(v, Mul(after, 100));
    initialize();
    pair_is(after, before, 3, 2);
    initialize();
    pair_is(plain, v, 3, 2);
    initialize();
    pair_is(same, later, 3, 300);
    initialize();
    pair_is(after, later, 3, 300);
    has(s, v, 1, (double[]){ 300 });
}
END_TEST

START_TEST(unneeded_updates_are_not_run)
{
    eddy_tensor v = variable("v"), w = variable("w");
    eddy_tensor update = eddy_assign(v, real(g, 5));
    eddy_control_begin(g, EDDY_LIST(update));
    eddy_tensor y = Mul(w, w);
    eddy_control_end(g);
    eddy_tensor dy = eddy_gradient(y, w);
    initialize();
    has(s, dy, 1, (double[]){ 4 });
    has(s, v, 1, (double[]){ 2 });
    has(s, y, 1, (double[]){ 4 });
    has(s, v, 1, (double[]){ 5 });
}
END_TEST

START_TEST(updates_before_an_error_stay)
{
    eddy_tensor v = variable("v"), add = eddy_assign_add(v, real(g, 1));
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SCALAR), bad;
    eddy_control_begin(g, EDDY_LIST(add));
    bad = FloorDiv(x, x);
    eddy_control_end(g);
    eddy_array *zero = eddy_array_of(EDDY_INT32, 0), *out = NULL;
    initialize();
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, zero }), EDDY_FETCH(bad), &out), EDDY_OK);
    ck_assert_ptr_null(out);
    has(s, v, 1, (double[]){ 3 });
    eddy_array_free(zero);
}
END_TEST

START_TEST(shapes_that_change)
{
    eddy_tensor v = eddy_variable(g, real(g, 1), .no_validate_shape = true);
    eddy_tensor y = Mul(v, 2);
    initialize();
    has(s, y, 1, (double[]){ 2 });
    eddy_array *three = array_of(3, (double[]){ 1, 2, 3 });
    ck_assert_int_eq(eddy_variable_set(s, v, three), EDDY_OK);
    has(s, y, 3, (double[]){ 2, 4, 6 });
    eddy_array_free(three);
    initialize();
    has(s, y, 1, (double[]){ 2 });
}
END_TEST

START_TEST(set_and_get)
{
    eddy_tensor v = variable("v"), c = real(g, 1);
    eddy_array *six = eddy_array_of(EDDY_FLOAT64, 6), *wrong = eddy_array_of(EDDY_FLOAT32, 6);
    ck_assert_int_eq(eddy_variable_set(s, v, six), EDDY_OK);
    has(s, v, 1, (double[]){ 6 });
    eddy_array *got = eddy_variable_value(s, v);
    ck_assert(eddy_array_equal(got, six) && got != six);
    ck_assert_int_eq(eddy_variable_set(s, v, wrong), EDDY_BAD_DTYPE);
    ck_assert_int_eq(eddy_variable_set(s, v, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_variable_set(s, c, six), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_variable_value(s, c));
    eddy_session *t = eddy_session_new(g);
    ck_assert_ptr_null(eddy_variable_value(t, v));
    eddy_session_free(t);
    eddy_array_free(got);
    eddy_array_free(six);
    eddy_array_free(wrong);
}
END_TEST

/* A variable of open shape keeps its own through updates of some rows. */
START_TEST(open_shape_scatter)
{
    eddy_tensor x = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(3, 2), (float[]){ 1, 2, 3, 4, 5, 6 });
    eddy_tensor rows = eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2, 2), (float[]){ 1, 2, 3, 4 });
    eddy_tensor at = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 0, 1 });
    eddy_tensor v = eddy_variable(g, x, .no_validate_shape = true);
    eddy_tensor sum = eddy_scatter_add(v, at, rows), init = eddy_initializer(g);
    runs(s, init);
    has(s, sum, 6, (double[]){ 2, 4, 6, 8, 5, 6 });
    has(s, v, 6, (double[]){ 2, 4, 6, 8, 5, 6 });
}
END_TEST

Suite *variables_suite(void)
{
    const TTest *const tests[] = {
        reads_see_the_value_from_before, updates_in_order_of_creation, values_are_exchanged,
        reads_behind_an_update, unneeded_updates_are_not_run, updates_before_an_error_stay,
        shapes_that_change, set_and_get, open_shape_scatter,
    };
    Suite *suite = suite_create("variables");
    TCase *c = tcase_create("variables");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return suite;
}
