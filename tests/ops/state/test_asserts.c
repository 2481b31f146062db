/* test_asserts.c -- assertions about values, ranks, shapes and types. */
#include "autodiff/functions.h"
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *asserts_suite(void);

static eddy_tensor open(void)
{
    return eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
}

/* Runs t with x fed these numbers. */
static eddy_status feeds(eddy_tensor t, eddy_tensor x, eddy_shape shape, const double *v)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, shape);
    for (int64_t i = 0; i < eddy_array_count(a); i++) eddy_array_set(a, i, v[i]);
    fits(g);
    const eddy_status status = eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(t), NULL);
    eddy_array_free(a);
    return status;
}

/* ------------------------------------------------------------------- values -- */

typedef eddy_tensor pair_fn(const eddy_assert_pair_args *a);

/* Which of x < y, x == y, x > y fulfills the claim. */
static const struct { pair_fn *fn; bool holds[3]; const char *says; } pairs[] = {
    { eddy_assert_equal_with, { false, true, false }, "x == y did not" },
    { eddy_assert_none_equal_with, { true, false, true }, "x != y for every single element did" },
    { eddy_assert_less_with, { true, false, false }, "x < y did not" },
    { eddy_assert_less_equal_with, { true, true, false }, "x <= y did not" },
    { eddy_assert_greater_with, { false, false, true }, "x > y did not" },
    { eddy_assert_greater_equal_with, { false, true, true }, "x >= y did not" },
};

START_TEST(of_two)
{
    const eddy_tensor y = vector(g, 2, (double[]){ 5, 6 });
    for (int k = 0; k < 3; k++) {
        const double v[] = { 4 + k, 5 + k };
        const eddy_tensor x = open();
        const eddy_tensor fed = pairs[_i].fn(EDDY_ARGS(eddy_assert_pair_args, .x = x, .y = y));
        const eddy_status status = feeds(fed, x, EDDY_SHAPE(2), v);
        ck_assert_int_eq(status, pairs[_i].holds[k] ? EDDY_OK : EDDY_CHECK_FAILED);
        if (status != EDDY_OK) run_fails(s, EDDY_CHECK_FAILED, pairs[_i].says);
        const eddy_tensor known =
            pairs[_i].fn(EDDY_ARGS(eddy_assert_pair_args, .x = vector(g, 2, v), .y = y));
        if (pairs[_i].holds[k]) ck_assert_str_eq(eddy_type_of(known), "NoOp");
        else fails(g, EDDY_CHECK_FAILED, pairs[_i].says);
    }
}
END_TEST

typedef eddy_tensor one_fn(const eddy_assert_one_args *a);

static const struct { one_fn *fn; bool holds[3]; const char *says; } signs[] = {
    { eddy_assert_negative_with, { true, false, false }, "x < 0 did not" },
    { eddy_assert_non_positive_with, { true, true, false }, "x <= 0 did not" },
    { eddy_assert_non_negative_with, { false, true, true }, "x >= 0 did not" },
    { eddy_assert_positive_with, { false, false, true }, "x > 0 did not" },
};

START_TEST(of_one)
{
    for (int k = 0; k < 3; k++) {
        const double v[] = { k - 1 };
        const eddy_tensor x = open();
        const eddy_tensor fed = signs[_i].fn(EDDY_ARGS(eddy_assert_one_args, .x = x));
        const eddy_status status = feeds(fed, x, EDDY_SHAPE(1), v);
        ck_assert_int_eq(status, signs[_i].holds[k] ? EDDY_OK : EDDY_CHECK_FAILED);
        if (status != EDDY_OK) run_fails(s, EDDY_CHECK_FAILED, signs[_i].says);
        signs[_i].fn(EDDY_ARGS(eddy_assert_one_args, .x = vector(g, 1, v)));
        if (signs[_i].holds[k]) fits(g);
        else fails(g, EDDY_CHECK_FAILED, signs[_i].says);
    }
}
END_TEST

START_TEST(near_and_finite)
{
    const eddy_tensor y = vector(g, 2, (double[]){ 1, 1000 });
    const struct { double rtol, atol, v[2]; bool holds; } cases[] = {
        { 0, 0, { 1, 1000 }, true },          { 0, 0, { 1, 1000.001 }, false },
        { 1e-3, -1, { 1.0009, 1000.9 }, true }, { -1, 0.5, { 1.4, 1000.6 }, false },
        { -1, -1, { 1, 1000 }, true },        { 1, 1, { 1, (double)NAN }, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eddy_tensor x = open();
        const eddy_tensor t = eddy_assert_near(x, y, cases[i].rtol, cases[i].atol);
        ck_assert_int_eq(feeds(t, x, EDDY_SHAPE(2), cases[i].v),
                         cases[i].holds ? EDDY_OK : EDDY_CHECK_FAILED);
    }
    const eddy_tensor x = open(), finite = eddy_assert_all_finite(x, "of x");
    ck_assert_int_eq(feeds(finite, x, EDDY_SHAPE(2), (double[]){ 1, (double)INFINITY }),
                     EDDY_CHECK_FAILED);
    run_fails(s, EDDY_CHECK_FAILED, "of x : Tensor had Inf values");
}
END_TEST

START_TEST(order)
{
    const struct { int n; double v[4]; double is[2]; } cases[] = {
        { 0, { 0 }, { 1, 1 } }, { 1, { 5 }, { 1, 1 } }, { 3, { 1, 2, 2 }, { 1, 0 } },
        { 4, { 1, 2, 3, 4 }, { 1, 1 } }, { 2, { 2, 1 }, { 0, 0 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eddy_tensor x = vector(g, cases[i].n, cases[i].v);
        is_number(eddy_is_non_decreasing(x), cases[i].is[0]);
        is_number(eddy_is_strictly_increasing(x), cases[i].is[1]);
    }
    const eddy_tensor rows = matrix(g, 2, 2, (double[]){ 1, 3, 2, 4 });
    is_number(eddy_is_non_decreasing(rows), 0);
}
END_TEST

/* The values shown and their number; empty tensors; broadcasting. */
START_TEST(text)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    const eddy_tensor one = real(g, 1);
    const eddy_tensor t = eddy_assert_less(x, one, .message = "too large.", .summarize = 2);
    ck_assert_int_eq(feeds(t, x, EDDY_SHAPE(3), (double[]){ 0, 1, 2 }), EDDY_CHECK_FAILED);
    run_fails(s, EDDY_CHECK_FAILED, "too large. Condition x < y did not hold element-wise: x is "
                                    "'x', y is 'Const' [0 1...][1]");
    const eddy_tensor shown = eddy_assert_less(x, one, EDDY_LIST(Mul(x, 2)));
    ck_assert_int_eq(feeds(shown, x, EDDY_SHAPE(1), (double[]){ 4 }), EDDY_CHECK_FAILED);
    run_fails(s, EDDY_CHECK_FAILED, "[8]");
    ck_assert_int_eq(feeds(t, x, EDDY_SHAPE(0), NULL), EDDY_OK);
}
END_TEST

/* An assertion that no node waits for does not run. */
START_TEST(waiting)
{
    const eddy_tensor x = open(), y = Neg(x);
    const eddy_tensor check = eddy_assert_positive(x), rank = eddy_assert_rank(x, 1);
    eddy_control_begin(g, EDDY_LIST(check));
    const eddy_tensor after = Neg(x);
    eddy_control_end(g);
    eddy_control_begin(g, EDDY_LIST(rank));
    const eddy_tensor of_rank = Neg(x);
    eddy_control_end(g);
    const double below[] = { -1 };
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(1), below), EDDY_OK);
    ck_assert_int_eq(feeds(after, x, EDDY_SHAPE(1), below), EDDY_CHECK_FAILED);
    ck_assert_int_eq(feeds(of_rank, x, EDDY_SHAPE(1), below), EDDY_OK);
    ck_assert_int_eq(feeds(of_rank, x, EDDY_SHAPE(1, 1), below), EDDY_CHECK_FAILED);
    run_fails(s, EDDY_CHECK_FAILED, "the rank is 2, not in [1]");
}
END_TEST

/* ------------------------------------------------------------------- shapes -- */

START_TEST(ranks)
{
    const eddy_tensor x = open(), m = matrix(g, 1, 2, (double[]){ 1, 2 });
    const double v[] = { 1, 2, 3, 4 };
    const struct { eddy_tensor t; int fits[3]; } cases[] = {     /* ranks 0, 1 and 2 */
        { eddy_assert_rank(x, 1), { 0, 1, 0 } },
        { eddy_assert_rank_at_least(x, 1), { 0, 1, 1 } },
        { eddy_assert_rank_in(x, EDDY_DIMS(0, 2)), { 1, 0, 1 } },
        { eddy_assert_scalar(x, NULL), { 1, 0, 0 } },
    };
    const eddy_shape shapes[] = { EDDY_SCALAR, EDDY_SHAPE(2), EDDY_SHAPE(2, 2) };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(feeds(cases[i].t, x, shapes[k], v),
                             cases[i].fits[k] ? EDDY_OK : EDDY_CHECK_FAILED);
    eddy_assert_rank(m, 2), fits(g);
    eddy_assert_rank(m, 1), fails(g, EDDY_CHECK_FAILED, "the rank is 2, not in [1]");
    eddy_assert_rank_at_least(m, 3, .message = "of m"),
        fails(g, EDDY_CHECK_FAILED, "of m: the rank is 2, not at least [3]");
    eddy_assert_scalar(m, "m"), fails(g, EDDY_CHECK_FAILED, "m: the rank is 2, not in [0]");
}
END_TEST

START_TEST(shapes)
{
    const eddy_tensor x = open(), y = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(3, 4));
    const struct { const char *text; bool fits; } cases[] = {      /* of x [4,3,2] and y */
        { "a, b, c; b, a", true }, { "a, b, c; a, b", false }, { "..., 2; *, 4", true },
        { "4, ..., n; ...", true }, { "a, 3, 2; 3, a", true }, { "a, 3, 2; a, a", false },
        { "a, b; b, a", false }, { "..., a, b, c, d; ...", false }, { ">=4, >=1, 2; 3, >=4", true },
        { "*, >=4, *; ...", false }, { " ... ; b , 4 ", true },
    };
    double v[24] = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const eddy_tensor t = eddy_assert_shapes(EDDY_LIST(x, y), cases[i].text);
        const eddy_status built = eddy_graph_status(g);
        eddy_graph_clear_error(g);
        const eddy_status status = built ? built : feeds(t, x, EDDY_SHAPE(4, 3, 2), v);
        ck_assert_msg(status == (cases[i].fits ? EDDY_OK : EDDY_CHECK_FAILED), "%s: %s",
                      cases[i].text, eddy_session_message(s));
    }
    const char *const odd[] = { "a, b", "a,; b", "a b; c", "..., ...; *", "-1; *", "a; b; c",
                                "a, a, a, a, a, a, a, a, a, a; *", ">=; *" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        eddy_assert_shapes(EDDY_LIST(x, y), odd[i]);
        ck_assert_msg(eddy_graph_status(g) == EDDY_INVALID_ARGUMENT, "%s", odd[i]);
        eddy_graph_clear_error(g);
    }
    eddy_assert_shapes(EDDY_LIST(real(g, 1), y), "; 3, 4"), fits(g);
}
END_TEST

START_TEST(shape_ensured)
{
    const eddy_tensor x = open(), y = eddy_ensure_shape(x, EDDY_SHAPE(EDDY_ANY, 2));
    const double v[] = { 1, 2, 3, 4 };
    ck_assert(eddy_shape_equal(eddy_shape_of(y), EDDY_SHAPE(EDDY_ANY, 2)));
    ck_assert(eddy_shape_of(x).rank < 0);
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(2, 2), v), EDDY_OK);
    ck_assert_int_eq(feeds(y, x, EDDY_SHAPE(4), v), EDDY_BAD_SHAPE);
    run_fails(s, EDDY_BAD_SHAPE, "the shape is not compatible with [?,2]");
    eddy_ensure_shape(vector(g, 4, v), EDDY_SHAPE(3));
    fails(g, EDDY_BAD_SHAPE, "not compatible with [3]");
}
END_TEST

START_TEST(types)
{
    const eddy_tensor x = real(g, 1), n = eddy_number(g, EDDY_UINT8, 1);
    eddy_assert_type(x, EDDY_FLOAT64, NULL), fits(g);
    eddy_assert_type(x, EDDY_FLOAT32, "x"),
        fails(g, EDDY_BAD_DTYPE, "assert_type: x: 'Const' is float64, not float32");
    eddy_assert_integer(n, NULL), fits(g);
    eddy_assert_integer(x, NULL), fails(g, EDDY_BAD_DTYPE, "is float64, not an integer");
}
END_TEST

/* An assertion about each example is one about all of them, and so is one about its shape. */
static int checked(eddy_list x, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor all[] = { eddy_assert_rank(x.at[0], 1), eddy_assert_positive(x.at[0]),
                                eddy_assert_shapes(EDDY_LIST(x.at[0]), "2") };
    eddy_control_begin(g, (eddy_list){ 3, all });
    y[0] = eddy_ensure_shape(Log(x.at[0]), EDDY_SHAPE(2));
    eddy_control_end(g);
    return 1;
}

START_TEST(mapped)
{
    const eddy_tensor x = open();
    eddy_tensor       y[1];
    eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_vmap((eddy_function){ .build = checked }, EDDY_LIST(x), y);
    ck_assert_int_eq(feeds(y[0], x, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, 4 }), EDDY_OK);
    ck_assert_int_eq(feeds(y[0], x, EDDY_SHAPE(2, 2), (double[]){ 1, 2, 3, -4 }),
                     EDDY_CHECK_FAILED);
}
END_TEST

Suite *asserts_suite(void)
{
    Suite *suite = suite_create("asserts");
    TCase *c = tcase_create("asserts");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, of_two, 0, 6);
    tcase_add_loop_test(c, of_one, 0, 4);
    tcase_add_test(c, near_and_finite);
    tcase_add_test(c, order);
    tcase_add_test(c, text);
    tcase_add_test(c, waiting);
    tcase_add_test(c, ranks);
    tcase_add_test(c, shapes);
    tcase_add_test(c, shape_ensured);
    tcase_add_test(c, types);
    tcase_add_test(c, mapped);
    suite_add_tcase(suite, c);
    return suite;
}
