/* test_padded_slices.c -- slices in which a negative index selects no row, as lookups with padding
 * produce them, and slices behind gates. */
#include "tests/lib/golden.h"
#include "tests/lib/graph_fixture.h"

Suite *padded_slices_suite(void);

enum { OPTIMIZERS = 4, ROWS = 3 };

static eddy_optimizer *optimizer(int i)
{
    eddy_tensor rate = real(g, 0.5);
    switch (i) {
    case 0: return eddy_gradient_descent(g, rate);
    case 1: return eddy_momentum(g, rate, real(g, 0.9));
    case 2: return eddy_momentum(g, rate, real(g, 0.9), .use_nesterov = true);
    default: return eddy_adam(g, .learning_rate = rate);
    }
}

static eddy_tensor table(void)
{
    return eddy_variable(g, matrix(g, ROWS, 2, (double[]){ 1, 2, 3, 4, 5, 6 }), .name = "table");
}

static eddy_tensor places(int64_t n, const int32_t *at)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), at);
}

/* Padding in a lookup changes no row except those that were looked up. */
START_TEST(every_optimizer_passes_over_padding)
{
    const int32_t at[] = { 1, -1, 1, -7 };
    eddy_tensor v = table();
    eddy_tensor rows = eddy_gather(v, places(4, at), .skip_negative = true);
    eddy_tensor step = eddy_minimize(optimizer(_i), eddy_sum(rows));
    eddy_session *s = eddy_session_new(g);
    runs(s, eddy_initializer(g));
    runs(s, step);
    eddy_array *a = eddy_variable_value(s, v);
    const double was[] = { 1, 2, 3, 4, 5, 6 };
    for (int i = 0; i < 2 * ROWS; i++)
        ck_assert((eddy_array_get(a, i) == was[i]) == (i / 2 != 1));
    if (_i == 0) ck_assert(eddy_array_get(a, 2) == 3 - 0.5 * 2);
    eddy_array_free(a);
    eddy_session_free(s);
}
END_TEST

/* Without padding being said, a negative index is a mistake. */
START_TEST(no_optimizer_passes_over_mistakes)
{
    const int32_t at[] = { 1, -1 };
    eddy_tensor v = table(), rows = matrix(g, 2, 2, (double[]){ 1, 1, 1, 1 });
    eddy_tensor slices = eddy_indexed_slices(rows, places(2, at), v);
    eddy_gradient_pair p = { slices, v }, q = { eddy_slices_padded(slices), v };
    eddy_tensor bad = eddy_apply_gradients(optimizer(_i), &p, 1);
    eddy_tensor good = eddy_apply_gradients(optimizer(_i), &q, 1), init = eddy_initializer(g);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, init);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(bad), NULL), EDDY_OUT_OF_RANGE);
    runs(s, good);
    eddy_session_free(s);
}
END_TEST

START_TEST(padding_survives_what_is_done_to_slices)
{
    const int32_t at[] = { 1, -1 };
    eddy_tensor v = table(), rows = matrix(g, 2, 2, (double[]){ 1, 1, 1, 1 });
    eddy_tensor plain = eddy_indexed_slices(rows, places(2, at), v), gated[2];
    eddy_tensor padded = eddy_slices_padded(plain);
    ck_assert(!eddy_slices_skip_negative(plain) && eddy_slices_skip_negative(padded));
    ck_assert(!eddy_slices_skip_negative(rows) && !eddy_slices_skip_negative(EDDY_NO_TENSOR));
    ck_assert(eddy_slices_skip_negative(eddy_slices_with_values(padded, Neg(rows))));
    ck_assert(!eddy_slices_skip_negative(eddy_slices_with_values(plain, Neg(rows))));
    ck_assert(eddy_slices_skip_negative(eddy_slices_add(EDDY_LIST(plain, padded))));
    ck_assert(!eddy_slices_skip_negative(eddy_slices_add(EDDY_LIST(plain, v))));
    const int32_t first[] = { 0, 1, 1 };
    eddy_tensor outer = eddy_indexed_slices(eddy_indexed_slices(rows, places(2, at), v),
                                            places(ROWS, first), v);
    ck_assert(!eddy_slices_skip_negative(outer));
    outer = eddy_indexed_slices(padded, places(ROWS, first), v);
    ck_assert(eddy_slices_skip_negative(outer));
    eddy_tuple(g, EDDY_LIST(padded, rows), gated, NULL);
    ck_assert(eddy_slices_skip_negative(gated[0]));
    ck_assert(!eddy_slices_parts(gated[1], NULL, NULL));
    fits(g);
    golden_begin("ops/padded_slices");
    eddy_slices_padded(rows), golden_graph(g);
    golden_end();
}
END_TEST

/* A gate, of an op or of the whole, keeps slices as they are. */
START_TEST(gates_keep_gradients_sparse)
{
    const int32_t at[] = { 1, 0 };
    eddy_tensor v = table(), w = real(g, 2);
    eddy_tensor y = eddy_sum(Mul(eddy_gather(v, places(2, at)), w)), dx[2], gated[2];
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(v, w), dx, .gate_gradients = true);
    ck_assert(eddy_slices_parts(dx[0], NULL, NULL));
    eddy_tuple(g, EDDY_LIST(dx[0], dx[1]), gated, NULL);
    ck_assert(eddy_slices_parts(gated[0], NULL, NULL) && eddy_is_valid(gated[1]));
    eddy_gradient_pair pairs[1];
    ck_assert_int_eq(eddy_compute_gradients(optimizer(0), y, pairs, 1,
                                            .gate_gradients = EDDY_GATE_GRAPH), 1);
    ck_assert(eddy_slices_parts(pairs[0].gradient, NULL, NULL));
    fits(g);
}
END_TEST

START_TEST(a_weight_of_y_is_a_number)
{
    eddy_tensor x = eddy_scalar(g, 3), dx;
    eddy_gradients(EDDY_LIST(x), EDDY_LIST(x), &dx, EDDY_LIST(eddy_equal(x, x)));
    fails(g, EDDY_BAD_DTYPE, "grad_ys[0] is bool[]; it must be float32[], like ys[0]");
}
END_TEST

Suite *padded_slices_suite(void)
{
    Suite *s = suite_create("padded_slices");
    TCase *c = tcase_create("padded_slices");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, every_optimizer_passes_over_padding, 0, OPTIMIZERS);
    tcase_add_loop_test(c, no_optimizer_passes_over_mistakes, 0, OPTIMIZERS);
    tcase_add_test(c, padding_survives_what_is_done_to_slices);
    tcase_add_test(c, gates_keep_gradients_sparse);
    tcase_add_test(c, a_weight_of_y_is_a_number);
    suite_add_tcase(s, c);
    return s;
}
