/* test_growing_loops.c -- loops whose variables change their shape, or in whose bodies shapes
 * depend on the iteration. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

/* The types of a counter and of a vector of any length. */
static const eddy_shape scalar_and_vector[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };

BODY(fewer, Less(x[0], c[0]))
BODY(append, Add(x[0], 1), eddy_concat(EDDY_LIST(Mul(x[1], c[0]), Sin(Mul(eddy_index(x[1], ":1"),
                                                              c[0]))), 0))
BODY(twice_as_long, Add(x[0], 1), eddy_concat(EDDY_LIST(Sin(x[1]), Mul(x[1], x[1])), 0))

static eddy_tensor grow_in(eddy_function body, eddy_tensor n, eddy_tensor x, int64_t limit)
{
    eddy_tensor y[EDDY_MAX_RESULTS], zero = eddy_number(x.graph, EDDY_INT32, 0);
    ck_assert_msg(eddy_while_loop(FUNCTION(fewer, n), body, EDDY_LIST(zero, x), y,
                                  scalar_and_vector, .maximum_iterations = limit) == 2,
                  "%s", eddy_graph_message(x.graph));
    return y[1];
}

START_TEST(doubled)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -1, 1);
    eddy_tensor y = grow_in(PLAIN(twice_as_long), n, x, _i % 2 ? -1 : 7);
    const int counts[] = { 0, 1, 2, 7, 3 };
    for (int k = 0; k < 5; k++) {
        eddy_array_set(array_of(&t, n), 0, counts[k]);
        eddy_array *a = value(&t, y);
        ck_assert_int_eq(eddy_array_count(a), 2 << counts[k]);
        eddy_array_free(a);
        check_slopes(&t, y, 1, &x, counts[k] < 7 ? 3 : 2);
    }
    trial_end(&t);
}
END_TEST

START_TEST(appended)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    eddy_tensor x[] = { fed_numbers(&t, EDDY_SHAPE(2), -1, 1),
                        fed_numbers(&t, EDDY_SCALAR, 0.2, 0.8) };
    eddy_tensor y = grow_in(FUNCTION(append, x[1]), n, x[0], _i % 2 ? -1 : 7);
    for (int count = 0; count < 8; count += 1 + (count > 2) * 3) {
        eddy_array_set(array_of(&t, n), 0, count);
        check_slopes(&t, y, 2, x, 2);
    }
    trial_end(&t);
}
END_TEST

/* A matrix that gets more rows, times a captured one. */
BODY(more_rows, Add(x[0], 1), eddy_concat(EDDY_LIST(Tanh(MatMul(x[1], c[0])), x[1]), 0))

START_TEST(rows_of_products)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = whole(&t, 3), zero = whole(&t, 0), y[EDDY_MAX_RESULTS];
    eddy_tensor x[] = { fed_numbers(&t, EDDY_SHAPE(2, 3), -1, 1),
                        fed_numbers(&t, EDDY_SHAPE(3, 3), -1, 1) };
    const eddy_shape shapes[] = { { 0 }, EDDY_SHAPE(EDDY_ANY, 3) };
    eddy_while_loop(FUNCTION(fewer, n), FUNCTION(more_rows, x[1]), EDDY_LIST(zero, x[0]), y, shapes,
                    .maximum_iterations = _i % 2 ? -1 : 5);
    check_slopes(&t, y[1], 2, x, 2);
    trial_end(&t);
}
END_TEST

/* eddy_eval gives the same bits as a run. */
static void evaluates(trial *t, eddy_tensor y)
{
    for (int i = 0; i < t->n; i++)
        ck_assert_int_eq(eddy_eval_set(t->tensor[i], t->array[i]), EDDY_OK);
    const eddy_array *e = eddy_eval(y);
    eddy_array       *a = value(t, y);
    ck_assert_msg(e != NULL, "%s", eddy_session_message(eddy_eval_session(t->graph)));
    ck_assert(eddy_shape_equal(eddy_array_shape(a), eddy_array_shape(e)));
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        ck_assert_double_le(fabs(eddy_array_get(a, i) - eddy_array_get(e, i)), 1e-12);
    eddy_array_free(a);
}

START_TEST(evaluated)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = whole(&t, 3), zero = whole(&t, 0), y[EDDY_MAX_RESULTS];
    eddy_tensor x[] = { fed_numbers(&t, EDDY_SHAPE(2, 3), -1, 1),
                        fed_numbers(&t, EDDY_SHAPE(3, 3), -1, 1) };
    const eddy_shape shapes[] = { { 0 }, EDDY_SHAPE(EDDY_ANY, 3) };
    eddy_while_loop(FUNCTION(fewer, n), FUNCTION(more_rows, x[1]), EDDY_LIST(zero, x[0]), y, shapes,
                    .maximum_iterations = _i % 2 ? -1 : 5);
    eddy_tensor d = slope(Sum(Square(y[1])), x[1]), dd = slope(Sum(Square(d)), x[1]);
    evaluates(&t, y[1]), evaluates(&t, d), evaluates(&t, dd);
    evaluates(&t, slope(Sum(Square(dd)), x[0]));
    trial_end(&t);
}
END_TEST

/* Folds and loops over rows, with an accumulator that grows. */
BODY(joined, eddy_concat(EDDY_LIST(Sin(x[0]), Mul(x[1], x[1])), 0))
BODY(joined_and_row, eddy_concat(EDDY_LIST(Sin(x[0]), Mul(x[1], x[1])), 0), Mul(Sum(x[0]), x[1]))

START_TEST(over_rows)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x[] = { fed_numbers(&t, EDDY_SHAPE(2), -1, 1),
                        fed_numbers(&t, EDDY_SHAPE(3, 2), -1, 1) }, y[2];
    const eddy_shape any = EDDY_SHAPE(EDDY_ANY);
    ck_assert_int_eq(eddy_foldl(PLAIN(joined), EDDY_LIST(x[1]), y, EDDY_LIST(x[0]),
                                .shape_invariants = &any), 1);
    check_slopes(&t, y[0], 2, x, 3);
    ck_assert_int_eq(eddy_foldr(PLAIN(joined), EDDY_LIST(x[1]), y, EDDY_LIST(x[0]),
                                .shape_invariants = &any), 1);
    check_slopes(&t, y[0], 2, x, 2);
    ck_assert_int_eq(eddy_loop(PLAIN(joined_and_row), EDDY_LIST(x[0]), EDDY_LIST(x[1]), y,
                               .shape_invariants = &any), 2);
    check_slopes(&t, y[1], 2, x, 2);
    check_slopes(&t, Add(Sum(y[0]), y[1]), 2, x, 2);
    trial_end(&t);
}
END_TEST

/* ------------------------------------- branches whose results differ in shape -- */

BODY(longer, eddy_concat(EDDY_LIST(Sin(x[0]), Mul(x[0], x[0])), 0))
BODY(as_long, Mul(x[0], Sin(x[0])))
BODY(more_than_two, Mul(Sin(eddy_index(x[0], "2:")), 0.5))

static int longer_or_not(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *x = in.at;
    const eddy_function branches[] = { PLAIN(as_long), PLAIN(longer), PLAIN(more_than_two) };
    (void)context;
    y[0] = Add(x[0], 1);
    eddy_switch_case(x[0], branches, 3, &y[1], EDDY_LIST(x[1]));
    return 2;
}

START_TEST(branches)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -1, 1);
    eddy_tensor y = grow_in(PLAIN(longer_or_not), n, x, _i % 2 ? -1 : 7);
    for (int count = 0; count < 4; count++) {
        eddy_array_set(array_of(&t, n), 0, count);
        check_slopes(&t, y, 1, &x, 3);
    }
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------- sizes from the iteration -- */

BODY(sum_of_range, Add(x[0], 1),
     Add(x[1], Sum(Sin(Mul(x[1], eddy_cast(eddy_range(eddy_number(x[0].graph, EDDY_INT32, 0), x[0],
                                                      eddy_number(x[0].graph, EDDY_INT32, 1)),
                                           EDDY_FLOAT64))))))
BODY(sum_of_large, Add(x[0], 1),
     Mul(Add(x[1], Sum(Square(eddy_boolean_mask(x[1], Greater(x[1], 0))))), 0.5))
BODY(sum_of_first, Add(x[0], 1),
     Add(x[1],
         Sum(Sin(Mul(x[1],
                     eddy_gather(c[0], eddy_range(eddy_number(x[0].graph, EDDY_INT32, 0), x[0],
                                                  eddy_number(x[0].graph, EDDY_INT32, 1))))))))

START_TEST(sizes_from_iterations)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    eddy_tensor x = fed_numbers(&t, EDDY_SCALAR, 0, 1), v = fed_numbers(&t, EDDY_SHAPE(5), -1, 1);
    eddy_tensor many = fed_numbers(&t, EDDY_SHAPE(9), -1, 1), zero = whole(&t, 0), y[4];
    const int64_t limit = _i % 2 ? -1 : 8;
    for (int count = 0; count < 8; count += 1 + (count > 1) * 5) {
        eddy_array_set(array_of(&t, n), 0, count);
        eddy_while_loop(FUNCTION(fewer, n), PLAIN(sum_of_range), EDDY_LIST(zero, x), y,
                        .maximum_iterations = limit);
        check_slopes(&t, y[1], 1, &x, 3);
        eddy_while_loop(FUNCTION(fewer, n), PLAIN(sum_of_large), EDDY_LIST(zero, v), y,
                        .maximum_iterations = limit);
        check_slopes(&t, y[1], 1, &v, 2);
        eddy_while_loop(FUNCTION(fewer, n), FUNCTION(sum_of_first, many), EDDY_LIST(zero, x), y,
                        .maximum_iterations = limit);
        check_slopes(&t, y[1], 2, (eddy_tensor[]){ x, many }, 2);
    }
    trial_end(&t);
}
END_TEST

/* -------------------------------------- an operation that may overwrite its second operand -- */

/* y[i] = x[0][n - 1 - i] + x[1][i] */
static bool turned_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}

static eddy_status turned_kernel(eddy_kernel *k)
{
    const double *a = k->in[0]->data, *b = k->in[1]->data;
    double       *y = k->out[0]->data;
    const int64_t n = k->out[0]->count;
    for (int64_t i = 0; i < n; i++) y[i] = a[n - 1 - i] + b[i];
    return EDDY_OK;
}

static const eddy_op_def turned = {
    .name = "TurnedSum", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .flags = EDDY_OP_IN_PLACE,
    .in_place_input = 1,
    .inputs = EDDY_INPUTS({ "a", EDDY_TYPE(EDDY_FLOAT64) }, { "b", EDDY_LIKE(0) }),
    .infer = turned_infer, .kernel = turned_kernel,
};

BODY(turned_and_longer, Add(x[0], 1),
     eddy_concat(EDDY_LIST(eddy_apply2(&turned, NULL, Mul(x[1], 2), Add(x[1], 1)),
                           eddy_index(x[1], ":1")), 0))

START_TEST(overwrites_its_second_operand)
{
    enum { STEPS = 4, MOST = 2 + STEPS };
    trial             t = trial_begin((unsigned)_i);
    const eddy_tensor n = whole(&t, STEPS), v = fed_numbers(&t, EDDY_SHAPE(2), -1, 1);
    eddy_array       *a = value(&t, grow_in(PLAIN(turned_and_longer), n, v, _i % 2 ? -1 : STEPS));
    double            x[MOST], y[MOST];
    for (int i = 0; i < 2; i++) x[i] = eddy_array_get(array_of(&t, v), i);
    for (int count = 2; count < MOST; count++) {
        for (int i = 0; i < count; i++) y[i] = 2 * x[count - 1 - i] + (x[i] + 1);
        y[count] = x[0];
        memcpy(x, y, sizeof x);
    }
    ck_assert_int_eq(eddy_array_count(a), MOST);
    for (int i = 0; i < MOST; i++) ck_assert_double_eq(eddy_array_get(a, i), x[i]);
    eddy_array_free(a);
    trial_end(&t);
}
END_TEST

Suite *growing_loops_suite(void)
{
    Suite *s = suite_create("growing_loops");
    TCase *c = tcase_create("values");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, doubled, 0, 6);
    tcase_add_loop_test(c, appended, 0, 6);
    tcase_add_loop_test(c, rows_of_products, 0, 6);
    tcase_add_loop_test(c, evaluated, 0, 4);
    tcase_add_loop_test(c, over_rows, 0, 6);
    tcase_add_loop_test(c, branches, 0, 4);
    tcase_add_loop_test(c, sizes_from_iterations, 0, 4);
    tcase_add_loop_test(c, overwrites_its_second_operand, 0, 6);
    suite_add_tcase(s, c);
    return s;
}
