/* test_compiled_wrong.c -- graphs that were once compiled wrong. */
#include "tests/lib/random_graphs/plan_truth.h"
#include "build/gen/suites.h"

#include <math.h>

/* A graph of one's own, with one fetch more each time. */
static random_graph by_hand(void)
{
    return (random_graph){ .t = { .graph = eddy_graph_new() }, .dtype = EDDY_FLOAT64,
                           .fetch = { .title = "by hand" } };
}

static eddy_tensor fed_with(random_graph *g, eddy_shape s)
{
    trial *t = &g->t;
    t->array[t->n] = eddy_array_new(g->dtype, s);
    for (int64_t i = 0; i < eddy_array_count(t->array[t->n]); i++)
        eddy_array_set(t->array[t->n], i, 0.25 + 0.125 * (double)(i * 7 % 11));
    return t->tensor[t->n++] = eddy_placeholder(t->graph, NULL, g->dtype, s);
}

/* Fetches y; with all passes, without each, and in three threads. */
static void agrees_everywhere(random_graph *g, eddy_tensor y)
{
    char why[600] = "";
    keep_fetch(&g->fetch, y);
    ck_assert_msg(eddy_graph_status(g->t.graph) == EDDY_OK, "%s", eddy_graph_message(g->t.graph));
    truth t = truth_of(g, &g->fetch);
    for (int i = 0; i <= EDDY_PASSES; i++) {
        const way w = { .options = { .threads = 1 + i % 3,
                                     .without = i < EDDY_PASSES ? 1u << i : 0 } };
        ck_assert_msg(agrees(&t, &w, why, sizeof why), "%s", why);
    }
    ck_assert_int_eq(t.unsure, 0);
    free_truth(&t);
    random_graph_free(g);
}

static eddy_tensor repeated(random_graph *g, double v, eddy_shape s)
{
    return eddy_broadcast_to(eddy_number(g->t.graph, g->dtype, v), s);
}

/* A constant that the compiler computes is no equal of a zero there was before. */
START_TEST(computed_constant_beside_zero)
{
    random_graph g = by_hand();
    const eddy_tensor x = fed_with(&g, EDDY_SHAPE(2, 3));
    const eddy_tensor c = Tanh(repeated(&g, 0.5, EDDY_SHAPE(2, 3)));
    agrees_everywhere(&g, Add(Maximum(x, 0), Maximum(c, repeated(&g, 0, EDDY_SHAPE(2, 3)))));
}
END_TEST

/* ... behind an update, where nothing was folded before. */
START_TEST(computed_constant_behind_update)
{
    random_graph g = by_hand();
    const eddy_tensor v = eddy_variable(g.t.graph, repeated(&g, 3, EDDY_SHAPE(1, 7)));
    const eddy_tensor once = eddy_assign_sub(v, eddy_zeros(g.t.graph, g.dtype, EDDY_SHAPE(1, 7)));
    eddy_control_begin(g.t.graph, EDDY_LIST(once));
    const eddy_tensor y = Add(Mul(v, 0.5), Tanh(repeated(&g, 0.5, EDDY_SHAPE(1, 7))));
    eddy_control_end(g.t.graph);
    agrees_everywhere(&g, eddy_assign(v, y));
}
END_TEST

/* The mean of no elements is NaN, and their sum is 0. */
START_TEST(folds_of_no_equal_elements)
{
    random_graph g = by_hand();
    const eddy_tensor none = fed_with(&g, EDDY_SHAPE(3, 0));
    const eddy_tensor x = Exp(repeated(&g, 1000, EDDY_SHAPE(3, 0)));
    keep_fetch(&g.fetch, Mean(BroadcastLike(eddy_number(g.t.graph, g.dtype, 2), none)));
    keep_fetch(&g.fetch, Sum(x));
    keep_fetch(&g.fetch, Max(x));
    agrees_everywhere(&g, Mean(x));
}
END_TEST

/* One tensor as several operands of an op that overwrites the first. */
START_TEST(overwritten_operand_read_besides)
{
    random_graph g = by_hand();
    const eddy_tensor x = Exp(fed_with(&g, EDDY_SHAPE(40, 40)));
    keep_fetch(&g.fetch, eddy_linear_scan(Mul(x, 0.25), Mul(x, 0.25), .axis = 0));
    const eddy_tensor c = MatMul(x, x), d = Mul(MatMul(x, c), 0x1p-20);
    agrees_everywhere(&g, Add(MatMul(d, d), d));
}
END_TEST

/* An update behind a check that fails: it is not made, whatever becomes of the operations
 * between the two.  `inside`: only a constant that its operand is made of waits for them. */
static void check_guard(bool inside, unsigned without)
{
    random_graph g = by_hand();
    eddy_graph  *graph = g.t.graph;
    const eddy_shape  s = EDDY_SHAPE(2, 2);
    const eddy_tensor x = fed_with(&g, s), y = fed_with(&g, s);
    const eddy_tensor v = eddy_variable(graph, eddy_zeros(graph, g.dtype, s));
    const eddy_tensor early = MatMul(y, y);
    const eddy_tensor guard = Add(eddy_check_numerics(x, "guard"), Neg(y));
    eddy_feed at[TRIAL_FEEDS];
    eddy_control_begin(graph, EDDY_LIST(guard));
    const double      one[] = { 1, 1, 1, 1 };
    const eddy_tensor ones = inside ? eddy_const(graph, g.dtype, s, one) : early;
    const eddy_tensor update = eddy_assign_add(v, inside ? Tanh(ones) : early);
    eddy_control_end(graph);
    eddy_session *session = eddy_session_new(graph, .threads = 1, .without = without);
    ck_assert_int_eq(eddy_run(session, EDDY_FEED(), EDDY_FETCH(eddy_initializer(graph)), NULL),
                     EDDY_OK);
    eddy_array_set(g.t.array[0], 1, INFINITY);
    const eddy_feeds feeds = feeds_of(&g.t, g.t.array, at);
    ck_assert_int_eq(eddy_run(session, feeds, EDDY_FETCH(early, update), NULL),
                     EDDY_CHECK_FAILED);
    eddy_array *value = eddy_variable_value(session, v);
    ck_assert_double_eq(eddy_array_item(value), 0);
    eddy_array_free(value);
    eddy_session_free(session);
    random_graph_free(&g);
}

START_TEST(update_behind_a_check)
{
    const unsigned without = _i / 2 < EDDY_PASSES ? 1u << _i / 2 : 0;
    check_guard(_i % 2, without);
}
END_TEST

Suite *compiled_wrong_suite(void)
{
    Suite *s = suite_create("compiled_wrong");
    TCase *c = tcase_create("graphs");
    tcase_add_test(c, computed_constant_beside_zero);
    tcase_add_test(c, computed_constant_behind_update);
    tcase_add_test(c, folds_of_no_equal_elements);
    tcase_add_test(c, overwritten_operand_read_besides);
    tcase_add_loop_test(c, update_behind_a_check, 0, 2 * (EDDY_PASSES + 1));
    suite_add_tcase(s, c);
    return s;
}
