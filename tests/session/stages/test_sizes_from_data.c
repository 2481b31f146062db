/* test_sizes_from_data.c -- runs in which elements that no compilation knows decide shapes. */
#include "tests/lib/checks.h"
#include "build/gen/suites.h"
#include "control/control.h"
#include "session/state/internal.h"

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   lengths, longest;

static void setup(void)
{
    g = eddy_graph_new(.seed = 3);
    s = eddy_session_new(g);
    lengths = eddy_placeholder(g, "lengths", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    longest = eddy_max(lengths);
}
static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_tensor whole(double v) { return eddy_number(g, EDDY_INT32, v); }
static eddy_tensor up_to(eddy_tensor n) { return eddy_range(whole(0), n, whole(1)); }

/* n lengths, the longest of which is `most`. */
static eddy_array *some_lengths(int64_t n, int32_t most)
{
    eddy_array *a = eddy_array_new(EDDY_INT32, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++)
        ((int32_t *)eddy_array_data(a))[i] = i == n / 2 ? most : (int32_t)(i % (most + 1));
    return a;
}

static double run_once(eddy_tensor y, int64_t n, int32_t most)
{
    eddy_array *in = some_lengths(n, most), *out = eddy_fetch(s, y, EDDY_FEED({ lengths, in }));
    ck_assert_msg(out != NULL, "%s", eddy_session_message(s));
    const double value = eddy_array_get(out, 0);
    eddy_array_free(in);
    eddy_array_free(out);
    return value;
}

static double steps_of(int64_t n, int32_t most)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += i == n / 2 ? most : (double)(i % (most + 1));
    return sum;
}

/* The elements of the range are not computed, only their number. */
START_TEST(only_the_shape_is_asked_for)
{
    const eddy_tensor x = up_to(longest), two = eddy_stack(EDDY_LIST(x, x));
    ck_assert_double_eq(run_once(eddy_size(x, EDDY_INT32), 5, 17), 17);
    ck_assert_double_eq(run_once(eddy_shape_tensor(x, EDDY_INT32), 5, 18), 18);
    ck_assert_double_eq(run_once(eddy_size(two, EDDY_INT32), 5, 19), 38);
    ck_assert_double_eq(run_once(eddy_rank(two), 5, 20), 2);
    ck_assert_double_eq(run_once(Add(eddy_size(x, EDDY_INT32), 1), 5, 0), 1);
}
END_TEST

/* Any number of lengths; their largest is a dimension. */
START_TEST(masks_of_fed_lengths)
{
    const eddy_tensor y = eddy_sum(eddy_sequence_mask(lengths, 0, EDDY_FLOAT32));
    for (int64_t n = 1; n < 3000; n = 3 * n + 2)
        for (int32_t most = 0; most < 40; most += 13)
            ck_assert_double_eq(run_once(y, n, most), steps_of(n, most));
}
END_TEST

/* The plan of a size serves all data of that size. */
START_TEST(plans_are_kept_by_size)
{
    const eddy_tensor y = eddy_sum(eddy_sequence_mask(lengths, 0, EDDY_FLOAT32));
    eddy_array *in = some_lengths(6, 5);
    int32_t    *at = eddy_array_data(in);
    for (int i = 0; i < 5; i++) {
        at[0] = i;
        eddy_array *out = eddy_fetch(s, y, EDDY_FEED({ lengths, in }));
        ck_assert_double_eq(eddy_array_get(out, 0), 17 + i);
        eddy_array_free(out);
    }
    ck_assert_int_eq(eddy_session_plan_info(s).plans, 2);
    eddy_array_free(in);
}
END_TEST

/* Fetches with two sizes each: the stages of all are kept, so later runs compile nothing. */
START_TEST(stages_of_many_fetches)
{
    enum { FETCHES = 80 };
    eddy_tensor y[FETCHES];
    for (int i = 0; i < FETCHES; i++)
        y[i] = Add(eddy_sum(up_to(eddy_sum(up_to(longest)))), whole(i));
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < FETCHES; i++) ck_assert_double_eq(run_once(y[i], 20, 3), 3 + i);
    ck_assert_int_eq(s->n_stages, FETCHES);
}
END_TEST

/* Plans for fed sizes are found by them, and not by trying all. */
START_TEST(plans_of_fed_sizes_have_keys)
{
    const eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    const eddy_tensor y = eddy_sum(eddy_fill(eddy_reshape(n, EDDY_SHAPE(1)), eddy_scalar(g, 1)));
    for (int k = 1; k < 30; k++) {
        eddy_array *in = eddy_array_of(EDDY_INT32, k);
        eddy_array *out = eddy_fetch(s, y, EDDY_FEED({ n, in }));
        ck_assert_double_eq(eddy_array_get(out, 0), k);
        eddy_array_free(in);
        eddy_array_free(out);
    }
    ck_assert_int_eq(s->n_plans, 29);
    for (const eddy_plan *p = s->plans; p; p = p->next)
        for (const eddy_plan *q = p->next; q; q = q->next) ck_assert_uint_ne(p->key, q->key);
}
END_TEST

/* Sums and products of sizes, and sizes of tensors with such a size. */
START_TEST(sizes_are_numbers)
{
    const eddy_tensor n = Add(longest, Mul(longest, 2));
    const eddy_tensor a = eddy_fill(eddy_stack(EDDY_LIST(longest, n)), eddy_scalar(g, 2));
    const eddy_tensor b = eddy_reshape_to(a, eddy_stack(EDDY_LIST(n, whole(-1))));
    const eddy_tensor c = eddy_fill(eddy_shape_tensor(b, EDDY_INT32), eddy_scalar(g, 0.5));
    const eddy_tensor y =
        Add(eddy_sum(Mul(b, c)), Cast(eddy_sum(up_to(eddy_size(c, EDDY_INT32))), EDDY_FLOAT32));
    ck_assert_double_eq(run_once(y, 100, 3), 27 + 27 * 26 / 2);
    ck_assert_double_eq(run_once(y, 7, 5), 75 + 75 * 74 / 2);
}
END_TEST

START_TEST(several_sizes_in_sequence)
{
    const eddy_tensor first = up_to(longest), second = up_to(eddy_sum(first));
    const eddy_tensor y = eddy_sum(Cast(up_to(eddy_sum(second)), EDDY_FLOAT64));
    ck_assert_double_eq(run_once(y, 50, 4), 15 * 14 / 2);
    ck_assert_double_eq(run_once(y, 20, 3), 3);
}
END_TEST

/* A size that variables decide, before they are updated. */
START_TEST(sizes_of_variables)
{
    const eddy_tensor v = eddy_variable(g, .initial_value = eddy_number(g, EDDY_INT32, 2));
    const eddy_tensor n = eddy_sum(eddy_fill(eddy_reshape(v, EDDY_SHAPE(1)), eddy_scalar(g, 1)));
    const eddy_tensor more = eddy_assign_add(v, whole(1));
    runs(s, eddy_initializer(g));
    for (int i = 2; i < 5; i++) {
        eddy_array *out[2] = { NULL };
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(n, more), out), EDDY_OK);
        ck_assert_double_eq(eddy_array_get(out[0], 0), i);
        ck_assert_double_eq(eddy_array_get(out[1], 0), i + 1);
        eddy_array_free(out[0]);
        eddy_array_free(out[1]);
    }
}
END_TEST

/* The stages of a run draw the numbers of one run: the second has those of a session whose sizes
 * are constant. */
START_TEST(random_numbers_of_a_run)
{
    const eddy_tensor drawn = eddy_random_uniform(g, EDDY_SHAPE(1), .seed = 4);
    const eddy_tensor y = Add(drawn, Cast(eddy_sum(up_to(longest)), EDDY_FLOAT32));
    eddy_session     *other = eddy_session_new(g);
    for (int i = 0; i < 3; i++) {
        eddy_array *plain = eddy_fetch(other, drawn, EDDY_FEED());
        ck_assert_double_eq(run_once(y, 12, 2), (float)((float)eddy_array_get(plain, 0) + 1));
        eddy_array_free(plain);
    }
    eddy_session_free(other);
}
END_TEST

/* Gradients, of first and second order, reach what has such a shape. */
START_TEST(gradients)
{
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor m = eddy_reshape_to(x, eddy_stack(EDDY_LIST(longest, whole(-1))));
    const eddy_tensor like =
        eddy_zeros_of(eddy_shape_tensor(eddy_transpose(m), EDDY_INT32), EDDY_FLOAT64);
    const eddy_tensor y = eddy_sum(Mul(Mul(m, Square(m)), eddy_transpose(eddy_exp(like))));
    const eddy_tensor dx = eddy_gradient(y, x), d2 = eddy_gradient(eddy_sum(dx), x);
    eddy_array *in = some_lengths(30, 2), *out[2] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ lengths, in }, { x, EDDY_DOUBLES(1, 2, 3, 4) }),
                              EDDY_FETCH(dx, d2), out), EDDY_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq(eddy_array_get(out[0], i), 3 * (i + 1) * (i + 1));
        ck_assert_double_eq(eddy_array_get(out[1], i), 6 * (i + 1));
    }
    eddy_array_free(in);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
}
END_TEST

/* ------------------------------------------------------------------ bodies -- */

static int add_range(eddy_list in, eddy_tensor *out, void *size)
{
    const eddy_tensor n = *(const eddy_tensor *)size;
    out[0] = Add(in.at[0], Cast(eddy_sum(up_to(n)), EDDY_FLOAT32));
    return 1;
}

/* In a body, a size that is the same in all iterations. */
START_TEST(bodies_with_captured_sizes)
{
    eddy_tensor y, n = Add(longest, 1);
    eddy_function f = { .build = add_range, .context = &n };
    eddy_iterate(3, f, EDDY_LIST(eddy_scalar(g, 10)), &y);
    fits(g);
    ck_assert_double_eq(run_once(y, 40, 3), 10 + 3 * 6);
    ck_assert_double_eq(run_once(y, 5, 2), 10 + 3 * 3);
    ck_assert_double_eq(run_once(y, 5, 2), 10 + 3 * 3);
}
END_TEST

static int taken(eddy_list in, eddy_tensor *out, void *size)
{
    const eddy_tensor n = *(const eddy_tensor *)size;
    (void)in;
    out[0] = eddy_sum(eddy_fill(eddy_reshape(Mul(n, 2), EDDY_SHAPE(1)), eddy_scalar(g, 1)));
    return 1;
}
static int left(eddy_list in, eddy_tensor *out, void *size)
{
    (void)in, (void)size;
    out[0] = eddy_scalar(g, -1);
    return 1;
}

START_TEST(branches_with_captured_sizes)
{
    eddy_tensor y;
    eddy_function yes = { .build = taken, .context = &longest }, no = { .build = left };
    ck_assert_int_eq(eddy_cond(Greater(longest, 2), yes, no, &y), 1);
    fits(g);
    ck_assert_double_eq(run_once(y, 40, 3), 6);
    ck_assert_double_eq(run_once(y, 40, 2), -1);
}
END_TEST

static int counts_on(eddy_list in, eddy_tensor *out, void *none)
{
    (void)none;
    out[0] = Add(in.at[0], eddy_sum(up_to(in.at[0])));
    return 1;
}

/* A size that changes from iteration to iteration. */
START_TEST(a_size_that_changes)
{
    eddy_tensor y;
    eddy_function f = { .build = counts_on };
    eddy_iterate(3, f, EDDY_LIST(longest), &y);
    fits(g);
    ck_assert_double_eq(run_once(y, 40, 3), 231);
    ck_assert_double_eq(run_once(y, 40, 2), 21);
}
END_TEST

/* ------------------------------------------------------------- other callers -- */

START_TEST(callables_and_values)
{
    const eddy_tensor y = eddy_sum(eddy_sequence_mask(lengths, 0, EDDY_FLOAT32));
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(lengths), EDDY_LIST(y));
    eddy_array *out = NULL;
    for (int i = 0; i < 4; i++) {
        eddy_array *in = some_lengths(9 + i / 2, 4);
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ in }, &out), EDDY_OK);
        ck_assert_double_eq(eddy_array_get(out, 0), steps_of(9 + i / 2, 4));
        eddy_array_free(in);
    }
    eddy_array_free(out);
    const eddy_tensor v = eddy_const(g, EDDY_INT32, EDDY_SHAPE(3), (int32_t[]){ 1, 4, 2 });
    ck_assert_double_eq(eddy_array_get(eddy_eval_in(s, eddy_sum(up_to(eddy_max(v)))), 0), 6);
    eddy_tensor loop, n = eddy_max(Add(v, 0));
    const eddy_function look = { .build = add_range, .context = &n };
    eddy_iterate(2, look, EDDY_LIST(eddy_scalar(g, 1)), &loop);
    const eddy_array *seen = eddy_eval_in(s, loop);
    ck_assert_msg(seen, "%s", eddy_session_message(s));
    ck_assert_double_eq(eddy_array_get(seen, 0), 13);
}
END_TEST

static int one_more(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(in.at[0], 1);
    return 1;
}

/* The body of a loop reads no row, so only their number matters, which is known only in a run. */
START_TEST(rows_that_only_count)
{
    const eddy_tensor rows = up_to(longest), alone = eddy_sum(Mul(rows, 2));
    eddy_tensor       y;
    ck_assert_int_eq(eddy_foldl((eddy_function){ .build = one_more }, EDDY_LIST(rows), &y,
                                EDDY_LIST(whole(0))), 1);
    for (int most = 0; most < 5; most++) ck_assert_double_eq(run_once(y, 3, most), most);
    ck_assert_double_eq(run_once(Add(y, alone), 3, 4), 16);
}
END_TEST

START_TEST(what_cannot_be_a_size)
{
    const eddy_tensor y = eddy_sum(up_to(Neg(longest)));
    eddy_array *in = some_lengths(40, 3);
    ck_assert_ptr_null(eddy_fetch(s, y, EDDY_FEED({ lengths, in })));
    run_fails(s, EDDY_INVALID_ARGUMENT, "does not lead from 0 to -3");
    const eddy_tensor shown = eddy_print(longest, EDDY_LIST(longest), "longest");
    ck_assert_ptr_null(eddy_fetch(s, eddy_sum(up_to(shown)), EDDY_FEED({ lengths, in })));
    run_fails(s, EDDY_UNIMPLEMENTED, "side effect");
    ck_assert_ptr_null(eddy_fetch(s, eddy_sum(up_to(longest)), EDDY_FEED()));
    run_fails(s, EDDY_NOT_FED, "lengths");
    eddy_array_free(in);
}
END_TEST

Suite *sizes_from_data_suite(void)
{
    Suite *suite = suite_create("sizes_from_data");
    TCase *c = tcase_create("sizes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, masks_of_fed_lengths);
    tcase_add_test(c, plans_are_kept_by_size);
    tcase_add_test(c, stages_of_many_fetches);
    tcase_add_test(c, plans_of_fed_sizes_have_keys);
    tcase_add_test(c, sizes_are_numbers);
    tcase_add_test(c, several_sizes_in_sequence);
    tcase_add_test(c, sizes_of_variables);
    tcase_add_test(c, random_numbers_of_a_run);
    tcase_add_test(c, gradients);
    tcase_add_test(c, bodies_with_captured_sizes);
    tcase_add_test(c, branches_with_captured_sizes);
    tcase_add_test(c, only_the_shape_is_asked_for);
    tcase_add_test(c, a_size_that_changes);
    tcase_add_test(c, callables_and_values);
    tcase_add_test(c, rows_that_only_count);
    tcase_add_test(c, what_cannot_be_a_size);
    suite_add_tcase(suite, c);
    return suite;
}
