/* test_plans.c -- what a plan leaves out and keeps: inputs of which only the
 * type counts, results that are their operand, which reads see an update, and
 * callables that hold their plan. */
#include "tests/core.h"

#include <pthread.h>

Suite *plans_suite(void);

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

static eddy_array *count_up(int64_t n)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) eddy_array_set(a, i, (double)i);
    return a;
}

/* ------------------------------------------------------------- type only -- */

/* The references are not computed, however many there are. */
START_TEST(references_beyond_31)
{
    enum { N = 40 };
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(N)), refs[N];
    for (int i = 0; i < N; i++)
        refs[i] = eddy_check_numerics(eddy_placeholder(g, "ref", EDDY_FLOAT64, EDDY_SHAPE(1)), "");
    eddy_tensor y = eddy_output(eddy_split_like(x, (eddy_list){ N, refs }, 0), N - 1);
    eddy_array *in = count_up(N), *out = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_double_eq(eddy_array_item(out), N - 1);
    ck_assert_int_eq(eddy_session_plan_info(s).instructions, 0);
    eddy_array_free(in);
    eddy_array_free(out);
}
END_TEST

/* --------------------------------------------------------------- aliases -- */

typedef eddy_tensor like(eddy_tensor x, eddy_tensor ref);

static eddy_tensor along(eddy_tensor x, eddy_tensor ref)
{
    return eddy_broadcast_along(x, ref, EDDY_NO_DIMS, false);
}
static eddy_tensor to(eddy_tensor x, eddy_tensor ref)
{
    (void)ref;
    return eddy_broadcast_to(x, EDDY_SHAPE(4));
}
static like *const likes[] = { eddy_sum_like, eddy_broadcast_like, along, to };
enum { LIKES = sizeof likes / sizeof *likes };

/* Between equal shapes nothing is copied. */
START_TEST(equal_shapes_cost_nothing)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor y = Neg(likes[_i](Neg(x), Square(x)));
    eddy_array   *in = count_up(4), *out = NULL;
    eddy_session *plain = eddy_session_new(g, .without = EDDY_PASS_FUSE | EDDY_PASS_SIMPLIFY);
    ck_assert_int_eq(eddy_run(plain, EDDY_FEED({ x, in }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_int_eq(eddy_session_plan_info(plain).instructions, 2);
    ck_assert_int_eq(eddy_session_plan_info(plain).in_place, 1);
    ck_assert(eddy_array_equal(in, out));
    eddy_session_free(plain);
    eddy_array_free(in);
    eddy_array_free(out);
}
END_TEST

/* With other shapes in the same session it is. */
START_TEST(other_shapes_are_made)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor ref = eddy_placeholder(g, "ref", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor wide = eddy_broadcast_like(Neg(x), ref), y = eddy_sum_like(wide, x);
    for (int64_t n = 1; n <= 4; n += 3) {
        eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n)), *b = count_up(4), *out = NULL;
        eddy_array_set(a, 0, 3);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }, { ref, b }), EDDY_FETCH(y), &out),
                         EDDY_OK);
        ck_assert_int_eq(eddy_session_plan_info(s).instructions, 1);
        ck_assert_double_eq(eddy_array_get(out, 0), n == 4 ? -3 : -12);
        eddy_array_free(a);
        eddy_array_free(b);
        eddy_array_free(out);
    }
}
END_TEST

/* Nobody writes into what an alias stands for: a variable, a feed, a constant,
 * or a value that is read again or fetched. */
START_TEST(aliases_are_not_overwritten)
{
    const double old[] = { 1, 2, 3, 4 };
    eddy_tensor v = eddy_variable(g, .initial_value = vector(g, 4, old), .name = "v");
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor a = likes[_i](v, v), b = likes[_i](x, v), c = likes[_i](Square(v), v);
    eddy_tensor na = Neg(a), nb = Neg(b), nc = Neg(c);
    eddy_tensor changed = eddy_assign_add(v, nc), late = Sub(a, nc);
    runs(s, eddy_initializer(g));
    eddy_array *in = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(4), old), *out[8] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }),
                              EDDY_FETCH(a, b, c, na, nb, nc, changed, late), out), EDDY_OK);
    for (int i = 0; i < 4; i++) {
        const double o = old[i], q = o * o, want[] = { o, o, q, -o, -o, -q, o - q, o + q };
        for (int k = 0; k < 8; k++) ck_assert_double_eq(eddy_array_get(out[k], i), want[k]);
        ck_assert_double_eq(eddy_array_get(in, i), o);
    }
    for (int k = 0; k < 8; k++) eddy_array_free(out[k]);
    eddy_array_free(in);
    has(s, v, 4, (double[]){ 0, -2, -6, -12 });
}
END_TEST

/* An alias of a variable behind an update has the new value. */
START_TEST(alias_behind_an_update)
{
    eddy_tensor v = eddy_variable(g, .initial_value = vector(g, 4, (double[]){ 1, 2, 3, 4 }));
    eddy_tensor before = likes[_i](v, v), first = eddy_assign_add(v, v);
    eddy_control_begin(g, EDDY_LIST(first));
    eddy_tensor between = likes[_i](v, v);
    eddy_control_end(g);
    eddy_tensor second = eddy_assign_add(v, v), sum = Add(Mul(100, before), between);
    eddy_control_begin(g, EDDY_LIST(second));
    eddy_tensor done = Identity(sum);
    eddy_control_end(g);
    runs(s, eddy_initializer(g));
    has(s, done, 4, (double[]){ 102, 204, 306, 408 });
    has(s, v, 4, (double[]){ 3, 6, 9, 12 });
}
END_TEST

/* ----------------------------------------------------------------- order -- */

enum { NODES = 700, VARIABLES = 150, KINDS = 5 };

/* By node and variable: whether the node waits for an update, and whether
 * through a control edge. */
static uint8_t waits[4 * NODES][VARIABLES], by_control[4 * NODES][VARIABLES];

static void note_waits(eddy_tensor t, const int *variable_of)
{
    for (int i = 0; i < eddy_inputs_of(t) + eddy_controls_of(t); i++) {
        const bool control = i >= eddy_inputs_of(t);
        eddy_tensor from = control ? eddy_control(t, i - eddy_inputs_of(t)) : eddy_input(t, i);
        const bool update = strcmp(eddy_type_of(from), "AssignAdd") == 0;
        for (int v = 0; v < VARIABLES; v++) {
            const bool this = waits[from.node][v] ||
                              (update && variable_of[eddy_input(from, 0).node] == v);
            waits[t.node][v] |= this;
            by_control[t.node][v] |= control ? this : by_control[from.node][v];
        }
    }
}

/* What each of many random reads and updates yields, against the definition. */
START_TEST(reads_see_what_they_wait_for)
{
    static int variable_of[4 * NODES];
    double      old[VARIABLES], now[VARIABLES];
    eddy_tensor v[VARIABLES], made[NODES], one = real(g, 1);
    double      want[NODES];
    unsigned    random = (unsigned)_i * 2654435761u + 1;
    memset(waits, 0, sizeof waits);
    memset(by_control, 0, sizeof by_control);
    for (int i = 0; i < VARIABLES; i++) {
        old[i] = now[i] = i;
        v[i] = eddy_variable(g, .initial_value = real(g, i));
        variable_of[v[i].node] = i;
    }
    eddy_tensor init = eddy_initializer(g);
    for (int n = 0; n < NODES; n++) {
        random = random * 1664525u + 1013904223u;
        const int k = (int)(random >> 8) % (_i % 2 ? VARIABLES : 5);
        const int kind = (int)(random >> 20) % KINDS, back = n > 0 ? (int)(random >> 24) % n : 0;
        const bool waiting = n > 0 && random >> 31;
        if (waiting) eddy_control_begin(g, EDDY_LIST(made[back]));
        made[n] = kind == 0 ? eddy_assign_add(v[k], one) : kind == 1 ? eddy_read(v[k])
                : kind == 2 ? Neg(v[k]) : kind == 3 ? Identity(v[k])
                : n > 0     ? Add(v[k], Mul(0, made[n - 1])) : Neg(v[k]);
        if (waiting) eddy_control_end(g);
        for (int32_t id = n > 0 ? made[n - 1].node + 1 : 1; id <= made[n].node; id++)
            note_waits(eddy_node_at(g, id), variable_of);
        const int32_t id = made[n].node;
        const bool new = kind == 1 ? waits[id][k] : by_control[id][k];
        const double seen = new ? now[k] : old[k];
        want[n] = kind == 0 ? ++now[k] : kind == 2 || (kind == 4 && n == 0) ? -seen : seen;
    }
    static eddy_array *out[NODES];
    runs(s, init);
    const eddy_status status = eddy_run(s, EDDY_FEED(), ((eddy_list){ NODES, made }), out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    for (int n = 0; n < NODES; n++) {
        ck_assert_msg(eddy_array_item(out[n]) == want[n], "node %d, %s: %g, not %g", n,
                      eddy_type_of(made[n]), eddy_array_item(out[n]), want[n]);
        eddy_array_free(out[n]);
        out[n] = NULL;
    }
}
END_TEST

/* An input beyond the 32nd is no exception. */
START_TEST(late_reads_beyond_31)
{
    enum { N = 40 };
    eddy_tensor v = eddy_variable(g, .initial_value = real(g, 1)), all[N];
    for (int i = 0; i < N; i++) all[i] = v;
    eddy_tensor update = eddy_assign(v, real(g, 10));
    eddy_control_begin(g, EDDY_LIST(update));
    eddy_tensor sum = eddy_add_n((eddy_list){ N, all }, NULL);
    eddy_control_end(g);
    runs(s, eddy_initializer(g));
    has(s, sum, 1, (double[]){ 10 * N });
}
END_TEST

/* ------------------------------------------------------------- callables -- */

static double call(eddy_callable *c, int64_t n)
{
    eddy_array *in = count_up(n), *out = NULL;
    const eddy_status status = eddy_callable_run(c, (const eddy_array *[]){ in }, &out);
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
    const double y = eddy_array_item(out);
    eddy_array_free(in);
    eddy_array_free(out);
    return y;
}

/* Its plan is one of the session's, and survives others as if it were run. */
START_TEST(callable_keeps_its_plan)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Sum(x);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    eddy_callable *other = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    ck_assert_double_eq(call(c, 3), 3);
    for (int64_t n = 4; n < 200; n++) {
        const int plans = eddy_session_plan_info(s).plans;
        ck_assert_double_eq(call(other, n), (double)(n * (n - 1) / 2));
        ck_assert_int_eq(eddy_session_plan_info(s).plans, plans < 64 ? plans + 1 : 64);
        ck_assert_double_eq(call(c, n), (double)(n * (n - 1) / 2));
        ck_assert_double_eq(call(c, 3), 3);
        ck_assert_double_eq(call(other, 3), 3);
    }
    ck_assert_int_eq(eddy_session_plan_info(s).plans, 64);
    eddy_callable_free(c);
    ck_assert_double_eq(call(other, 300), 300 * 299 / 2);
}
END_TEST

/* The plan of an idle callable is dropped like any other. */
START_TEST(dropped_plan)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Sum(x);
    eddy_callable *idle = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    ck_assert_double_eq(call(idle, 5), 10);
    for (int64_t n = 6; n < 100; n++) {
        eddy_array *in = count_up(n);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, in }), EDDY_FETCH(y), NULL), EDDY_OK);
        eddy_array_free(in);
    }
    ck_assert_double_eq(call(idle, 5), 10);
}
END_TEST

/* What eddy_run refuses, a callable refuses after any number of good runs. */
START_TEST(callable_checks_its_feeds)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Sum(x);
    eddy_tensor n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(1));
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    eddy_callable *filled =
        eddy_callable_new(s, EDDY_LIST(n), EDDY_LIST(Sum(eddy_fill(n, real(g, 2)))));
    eddy_array *wrong = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2)), *out = NULL;
    ck_assert_double_eq(call(c, 2), 1);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ wrong }, NULL), EDDY_BAD_DTYPE);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ NULL }, NULL),
                     EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_callable_run(c, NULL, NULL), EDDY_INVALID_ARGUMENT);
    for (int32_t i = 1; i < 9; i++) {
        eddy_array *size = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(1), &(int32_t){ i / 2 });
        ck_assert_int_eq(eddy_callable_run(filled, (const eddy_array *[]){ size }, &out), EDDY_OK);
        ck_assert_double_eq(eddy_array_item(out), i / 2 * 2);
        eddy_array_free(size);
    }
    ck_assert_double_eq(call(c, 2), 1);
    eddy_set_shape(x, EDDY_SHAPE(7));
    eddy_array *two = count_up(2);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ two }, NULL), EDDY_BAD_SHAPE);
    eddy_array_free(two);
    eddy_array_free(wrong);
    eddy_array_free(out);
}
END_TEST

START_TEST(callable_ends)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Sum(x);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    eddy_array *two = count_up(2);
    ck_assert_double_eq(call(c, 2), 1);
    MatMul(x, x);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ two }, NULL),
                     eddy_graph_status(g));
    eddy_graph_clear_error(g);
    ck_assert_double_eq(call(c, 2), 1);
    eddy_session_close(s);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ two }, NULL), EDDY_CLOSED);
    eddy_callable_free(c);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ two }, NULL),
                     EDDY_INVALID_ARGUMENT);
    eddy_array_free(two);
}
END_TEST

/* A variable whose shape changed is another plan. */
START_TEST(callable_and_a_changing_variable)
{
    eddy_tensor v = eddy_variable(g, real(g, 1), .no_validate_shape = true);
    eddy_callable *sum = eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(Sum(v)));
    for (int64_t n = 2; n < 8; n++) {
        eddy_array *value = count_up(n / 2), *out = NULL;
        ck_assert_int_eq(eddy_variable_set(s, v, value), EDDY_OK);
        ck_assert_int_eq(eddy_callable_run(sum, NULL, &out), EDDY_OK);
        ck_assert_double_eq(eddy_array_item(out), (double)(n / 2 * (n / 2 - 1) / 2));
        eddy_array_free(value);
        eddy_array_free(out);
    }
}
END_TEST

typedef struct caller {
    eddy_callable *callable;
    int64_t        most;
    int            wrong;
} caller;

static void *call_often(void *p)
{
    caller *c = p;
    eddy_array *out = NULL;
    for (int i = 0; i < 300; i++) {
        const int64_t n = 1 + i % c->most;
        eddy_array *in = count_up(n);
        c->wrong += eddy_callable_run(c->callable, (const eddy_array *[]){ in }, &out) != EDDY_OK ||
                    eddy_array_item(out) != (double)(n * (n - 1) / 2);
        eddy_array_free(in);
    }
    eddy_array_free(out);
    return NULL;
}

/* One callable in many threads, with few and with too many shapes to keep. */
START_TEST(callable_in_threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    caller    callers[THREADS];
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Sum(x);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){ c, _i ? 100 : 1, 0 };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(callers[i].wrong, 0);
    }
}
END_TEST

Suite *plans_suite(void)
{
    Suite *suite = suite_create("plans");
    TCase *c = tcase_create("plans"), *threads = tcase_create("threads");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, references_beyond_31);
    tcase_add_loop_test(c, equal_shapes_cost_nothing, 0, LIKES);
    tcase_add_test(c, other_shapes_are_made);
    tcase_add_loop_test(c, aliases_are_not_overwritten, 0, LIKES);
    tcase_add_loop_test(c, alias_behind_an_update, 0, LIKES);
    tcase_add_loop_test(c, reads_see_what_they_wait_for, 0, 20);
    tcase_add_test(c, late_reads_beyond_31);
    tcase_add_test(c, callable_keeps_its_plan);
    tcase_add_test(c, dropped_plan);
    tcase_add_test(c, callable_checks_its_feeds);
    tcase_add_test(c, callable_ends);
    tcase_add_test(c, callable_and_a_changing_variable);
    tcase_add_checked_fixture(threads, setup, teardown);
    tcase_set_tags(threads, "threads");
    tcase_add_loop_test(threads, callable_in_threads, 0, 2);
    suite_add_tcase(suite, c);
    suite_add_tcase(suite, threads);
    return suite;
}
