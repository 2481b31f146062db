/* test_body_variables.c -- variables that the bodies of loops and branches update: once an
 * iteration, in order, and only in the branch that is taken. */
#include "build/gen/suites.h"
#include "graph/internal.h"
#include "tests/lib/control_checks.h"

static eddy_tensor real_variable(trial *t, int n, const double *v)
{
    return eddy_variable(t->graph, n == 1 ? constant(t, v[0])
                                          : eddy_const(t->graph, F64, EDDY_SHAPE(n), v));
}

/* Runs y, and checks it and then the variable. */
static void leaves(trial *t, eddy_tensor y, int n, const double *want, eddy_tensor var, int m,
                   const double *left)
{
    is(t, y, n, want);
    is(t, var, m, left);
}

/* ------------------------------------------------------------------- loops -- */

/* x and the sum of the values of the variable before each iteration. */
static int count_up(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_assign_add(c[0], c[1]);
    y[0] = Add(in.at[0], c[0]);
    return 1;
}
START_TEST(an_update_an_iteration)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(10)), by = fed_real(&t, 1), x = fed_real(&t, 0.5), y[1];
    ck_assert_int_eq(eddy_iterate(4, FUNCTION(count_up, v, by), EDDY_LIST(x), y), 1);
    initialize(&t);
    leaves(&t, y[0], V(0.5 + 10 + 11 + 12 + 13), v, V(14));
    leaves(&t, y[0], V(0.5 + 14 + 15 + 16 + 17), v, V(18));
    refeed(&t, by, -2);
    leaves(&t, y[0], V(0.5 + 18 + 16 + 14 + 12), v, V(10));
    trial_end(&t);
}
END_TEST

/* An explicit read gives the value after the updates for which it waits. */
static int reads(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor v = *(eddy_tensor *)context;
    eddy_graph       *g = v.graph;
    const eddy_tensor first = eddy_assign_add(v, eddy_number(g, F64, 1));
    eddy_control_begin(g, EDDY_LIST(first));
    y[1] = eddy_read(v);
    y[2] = eddy_identity(v);
    eddy_control_end(g);
    y[3] = eddy_read(v);
    y[4] = eddy_assign(v, Mul(first, 2));
    eddy_control_begin(g, EDDY_LIST(y[4]));
    y[5] = eddy_read(v);
    eddy_control_end(g);
    y[6] = v;
    y[0] = in.at[0];
    return 7;
}
START_TEST(what_reads_see)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(3)), y[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_loop(FUNCTION(reads, v), EDDY_LIST(fed_real(&t, 0)), EDDY_LIST(), y, 2),
                     7);
    initialize(&t);
    eddy_tensor all = eddy_stack(((eddy_list){ 6, y + 1 }), .axis = 1);
    leaves(&t, all, V(4, 4, 3, 8, 8, 3, 9, 9, 8, 18, 18, 8), v, V(18));
    trial_end(&t);
}
END_TEST

/* The condition sees the variable of the iteration to come. */
static int not_yet(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    y[0] = Less(Add(c[0], Mul(in.at[0], 0)), c[1]);
    return 1;
}
static int twice(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_assign(c[0], Mul(c[0], 2));
    y[0] = Add(in.at[0], 1);
    return 1;
}
START_TEST(conditions_on_variables)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(3)), end = fed_real(&t, 100), n = fed_real(&t, 0), y[1];
    ck_assert_int_eq(eddy_while_loop(FUNCTION(not_yet, v, end), FUNCTION(twice, v), EDDY_LIST(n),
                                     y), 1);
    initialize(&t);
    leaves(&t, y[0], V(6), v, V(192));
    leaves(&t, y[0], V(0), v, V(192));
    refeed(&t, end, 193);
    leaves(&t, y[0], V(1), v, V(384));
    trial_end(&t);
}
END_TEST

/* Rows, with scans and maps, where results are stacks. */
static int running_sum(eddy_list in, eddy_tensor *y, void *context)
{
    y[0] = eddy_assign_add(*(eddy_tensor *)context, in.at[0]);
    return 1;
}
START_TEST(maps)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(0)), x = numbers(&t, V(1, 2, 3, 4)), y[1];
    ck_assert_int_eq(eddy_map_fn(FUNCTION(running_sum, v), EDDY_LIST(x), y), 1);
    initialize(&t);
    leaves(&t, y[0], V(1, 3, 6, 10), v, V(10));
    leaves(&t, y[0], V(11, 13, 16, 20), v, V(20));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------- kinds of updates -- */

static int change_rows(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor v = *(eddy_tensor *)context, i = in.at[0];
    eddy_graph       *g = v.graph;
    const eddy_tensor at = eddy_expand_dims(i, 0), three = eddy_const(g, F64, EDDY_SHAPE(1, 2),
                                                                      (double[]){ 3, 4 });
    eddy_scatter_update(v, at, three);
    eddy_scatter_add(v, at, Mul(three, 10));
    eddy_scatter_sub(v, eddy_const(g, I32, EDDY_SHAPE(1), (int[]){ -1 }), three,
                     .skip_negative = true);
    eddy_scatter_mul(v, eddy_const(g, I32, EDDY_SHAPE(1), (int[]){ 2 }), three);
    eddy_scatter_nd_add(v, eddy_const(g, I32, EDDY_SHAPE(1, 2), (int[]){ 2, 1 }),
                        eddy_const(g, F64, EDDY_SHAPE(1), (double[]){ 0.5 }));
    eddy_index_assign(v, "2, 0", Cast(i, F64));
    y[0] = Add(i, 1);
    return 1;
}
START_TEST(parts_of_a_variable)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor ones = eddy_ones(t.graph, F64, EDDY_SHAPE(3, 2));
    eddy_tensor v = eddy_variable(t.graph, ones), i = integer(&t, 0), y[1];
    ck_assert_int_eq(eddy_iterate(2, FUNCTION(change_rows, v), EDDY_LIST(i), y), 1);
    initialize(&t);
    leaves(&t, y[0], V(2), v, V(33, 44, 33, 44, 1, (1 * 4 + 0.5) * 4 + 0.5));
    refeed(&t, i, 5);
    check_run_fails(&t, y[0], EDDY_OUT_OF_RANGE, "iteration 0 of 'iterate/loop'");
    refeed(&t, i, 2);
    check_run_fails(&t, y[0], EDDY_OUT_OF_RANGE, "iteration 1 of 'iterate/loop'");
    is(&t, v, V(33, 44, 33, 44, 1, 18.5));           /* as before a run that fails */
    trial_end(&t);
}
END_TEST

static int flip(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_assign(c[0], LogicalNot(c[0]));
    eddy_assign_sub(c[1], eddy_const(c[1].graph, I32, EDDY_SHAPE(2), (int[]){ 1, 2 }));
    y[0] = eddy_count_up_to(c[2], 4);
    y[0] = Add(in.at[0], y[0]);
    return 1;
}
START_TEST(types)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor b = eddy_variable(t.graph, eddy_number(t.graph, EDDY_BOOL, 1));
    eddy_tensor k =
        eddy_variable(t.graph, eddy_const(t.graph, I32, EDDY_SHAPE(2), (int[]){ 5, 6 }));
    eddy_tensor n = eddy_variable(t.graph, whole(&t, 0)), y[1];
    ck_assert_int_eq(eddy_iterate(3, FUNCTION(flip, b, k, n), EDDY_LIST(whole(&t, 0)), y), 1);
    initialize(&t);
    leaves(&t, y[0], V(3), b, V(0)), is(&t, k, V(2, 0)), is(&t, n, V(3));
    check_run_fails(&t, y[0], EDDY_OUT_OF_RANGE, "Reached limit of 4");
    is(&t, b, V(0)), is(&t, k, V(2, 0)), is(&t, n, V(3));
    trial_end(&t);
}
END_TEST

/* ---------------------------------------------------------------- branches -- */

static int add_ten(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    y[0] = Add(in.at[0], eddy_assign_add(c[0], eddy_number(c[0].graph, F64, 10)));
    return 1;
}
static int set_other(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_assign(c[1], Add(c[0], in.at[0]));
    y[0] = c[1];
    return 1;
}
START_TEST(branches)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(1)), w = real_variable(&t, V(2)), p = truth(&t, true);
    eddy_tensor x = fed_real(&t, 0.25), y[1];
    ck_assert_int_eq(eddy_cond(p, FUNCTION(add_ten, v, w), FUNCTION(set_other, v, w), y,
                               EDDY_LIST(x)), 1);
    initialize(&t);
    leaves(&t, y[0], V(11.25), v, V(11)), is(&t, w, V(2));
    leaves(&t, y[0], V(21.25), v, V(21)), is(&t, w, V(2));
    refeed(&t, p, 0);
    leaves(&t, y[0], V(2), v, V(21)), is(&t, w, V(21.25));
    leaves(&t, y[0], V(21.25), v, V(21)), is(&t, w, V(21.25));
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ nested -- */

/* A branch of every second iteration, and an inner loop that updates another variable. */
static int step_if_even(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_tensor        z[1], w[1];
    const eddy_tensor  even = Equal(FloorMod(in.at[0], 2), 0);
    eddy_cond(even, FUNCTION(add_ten, c[0], c[1]), FUNCTION(set_other, c[0], c[1]), z,
              EDDY_LIST(in.at[1]));
    eddy_iterate(2, FUNCTION(count_up, c[1], eddy_number(c[0].graph, F64, 1)), EDDY_LIST(z[0]), w);
    y[0] = Add(in.at[0], 1);
    y[1] = w[0];
    return 2;
}
BODY(below, Less(x[0], c[0]))
START_TEST(nested)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(1)), w = real_variable(&t, V(2)), n = integer(&t, 0), y[2];
    ck_assert_int_eq(eddy_while_loop(FUNCTION(below, n), FUNCTION(step_if_even, v, w),
                                     EDDY_LIST(whole(&t, 0), fed_real(&t, 0.5)), y), 2);
    initialize(&t);
    double a = 1, b = 2;
    for (int end = 0; end < 5; end++) {
        double x = 0.5;
        for (int i = 0; i < end; i++) {
            const double before = b;
            if (i % 2 == 0) a += 10, x += a;
            else b = a + x, x = before;
            x += b, b += 1, x += b, b += 1;
        }
        refeed(&t, n, end);
        leaves(&t, y[1], V(x), v, V(a)), is(&t, w, V(b));
    }
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------- other nodes -- */

/* Updates before and behind the loop, in order of creation; a plain read is from before. */
START_TEST(order)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(1)), one = constant(&t, 1), y[1];
    eddy_tensor before = eddy_assign(v, Mul(v, 3));
    ck_assert_int_eq(eddy_iterate(2, FUNCTION(count_up, v, one), EDDY_LIST(fed_real(&t, 0)), y), 1);
    eddy_tensor after = eddy_assign(v, Mul(y[0], 100)), old = eddy_identity(v);
    eddy_control_begin(t.graph, EDDY_LIST(y[0]));
    eddy_tensor now = eddy_read(v);
    eddy_control_end(t.graph);
    initialize(&t);
    leaves(&t, y[0], V(1 + 2), v, V(3));
    leaves(&t, eddy_stack(EDDY_LIST(before, y[0], old)), V(9, 9 + 10, 3), v, V(11));
    leaves(&t, eddy_stack(EDDY_LIST(y[0], now)), V(11 + 12, 13), v, V(13));
    leaves(&t, after, V(100 * (13 + 14)), v, V(2700));
    trial_end(&t);
}
END_TEST

/* A variable that is read alone is a value from outside; updates of others do not matter. */
static int read_only(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_assign_add(c[1], in.at[0]);
    y[0] = Mul(Add(in.at[0], eddy_read(c[0])), 0.5);
    return 1;
}
START_TEST(gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(4)), w = real_variable(&t, V(0)), x = fed_real(&t, 2), y[1];
    ck_assert_int_eq(eddy_iterate(3, FUNCTION(read_only, v, w), EDDY_LIST(Square(x)), y), 1);
    eddy_tensor dx = eddy_gradient(y[0], x), dv = eddy_gradient(y[0], v);
    initialize(&t);
    leaves(&t, y[0], V(4), w, V(12));
    leaves(&t, dx, V(0.5), w, V(24));       /* a run of the gradient alone updates too */
    leaves(&t, eddy_stack(EDDY_LIST(dx, dv, y[0])), V(0.5, 0.875, 4), w, V(36));
    trial_end(&t);
}
END_TEST

/* Gradient descent, Adam: a hundred steps in one run are a hundred runs of one. */
static eddy_tensor loss_of(eddy_tensor w, eddy_tensor b)
{
    return Sum(Square(Sub(Add(Mul(w, w), b), 2)));
}
static int train(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *c = context;
    eddy_graph        *g = c[0].graph;
    eddy_optimizer    *adam = eddy_adam(g, .learning_rate = eddy_number(g, F64, 0.05));
    const eddy_tensor  loss = loss_of(c[0], c[1]);
    eddy_minimize(adam, loss);
    y[0] = Add(Mul(in.at[0], 0), loss);
    return 1;
}
START_TEST(training)
{
    eddy_array *got[2][2] = { { NULL } };
    for (int k = 0; k < 2; k++) {
        trial       t = trial_begin((unsigned)_i);
        eddy_tensor c[2] = { real_variable(&t, V(1, 2, 3)), real_variable(&t, V(0.5)) };
        eddy_tensor x = fed_real(&t, 0), y[1];
        const eddy_function f = { .build = train, .context = c };
        if (k == 0) ck_assert_int_eq(eddy_iterate(30, f, EDDY_LIST(x), y), 1);
        else {
            eddy_optimizer *adam =
                eddy_adam(t.graph, .learning_rate = eddy_number(t.graph, F64, 0.05));
            y[0] = eddy_minimize(adam, loss_of(c[0], c[1]));
        }
        ck_assert_msg(eddy_graph_status(t.graph) == EDDY_OK, "%s", eddy_graph_message(t.graph));
        initialize(&t);
        for (int i = 0; i < (k == 0 ? 2 : 60); i++) {
            const eddy_feed feed = { x, EDDY_NUMBER(EDDY_FLOAT64, 0) };
            ck_assert_msg(eddy_run(t.session, (eddy_feeds){ 1, &feed }, EDDY_FETCH(y[0]), NULL) ==
                          EDDY_OK, "%s", eddy_session_message(t.session));
        }
        for (int i = 0; i < 2; i++) got[k][i] = value(&t, c[i]);
        trial_end(&t);
    }
    for (int i = 0; i < 2; i++) {
        for (int64_t j = 0; j < eddy_array_count(got[0][i]); j++)
            ck_assert_double_le(fabs(eddy_array_get(got[0][i], j) - eddy_array_get(got[1][i], j)),
                                1e-12);
        eddy_array_free(got[0][i]), eddy_array_free(got[1][i]);
    }
}
END_TEST

START_TEST(eager)
{
    trial       t = { .graph = eddy_graph_new() };
    eddy_tensor v = real_variable(&t, V(10)), y[1];
    ck_assert_int_eq(eddy_iterate(4, FUNCTION(count_up, v, constant(&t, 1)),
                                  EDDY_LIST(constant(&t, 0.5)), y), 1);
    eddy_eval(eddy_initializer(t.graph));
    const eddy_array *a = eddy_eval(y[0]);
    ck_assert_ptr_nonnull(a);
    ck_assert(eddy_array_item(a) == 0.5 + 10 + 11 + 12 + 13);
    a = eddy_eval(eddy_read(v));
    ck_assert(a && eddy_array_item(a) == 14);
    eddy_graph_free(t.graph);
}
END_TEST

/* ------------------------------------------------------------------ errors -- */

START_TEST(uninitialized)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = real_variable(&t, V(10)), y[1];
    ck_assert_int_eq(eddy_iterate(4, FUNCTION(count_up, v, constant(&t, 1)),
                                  EDDY_LIST(constant(&t, 0.5)), y), 1);
    check_run_fails(&t, y[0], EDDY_UNINITIALIZED, "uninitialized");
    initialize(&t);
    leaves(&t, y[0], V(46.5), v, V(14));
    trial_end(&t);
}
END_TEST

/* A file has the bodies; the graph read from it updates the same variables. */
START_TEST(files)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor v = eddy_variable(t.graph, eddy_ones(t.graph, F64, EDDY_SHAPE(3, 2))), y[1];
    ck_assert_int_eq(eddy_iterate(2, FUNCTION(change_rows, v), EDDY_LIST(whole(&t, 0)), y), 1);
    char       *text = eddy_graph_to_yaml(t.graph);
    eddy_error  e = { 0 };
    eddy_graph *g = text ? eddy_graph_load(.text = text, .path = "g.yaml", .error = &e) : NULL;
    ck_assert_msg(g != NULL, "%s", e.message);
    trial       u = { .graph = g, .session = eddy_session_new(g) };
    initialize(&u);
    v.graph = y[0].graph = g;
    leaves(&u, y[0], V(2), v, V(33, 44, 33, 44, 1, (1 * 4 + 0.5) * 4 + 0.5));
    eddy_string_free(text);
    trial_end(&u);
    trial_end(&t);
}
END_TEST

Suite *body_variables_suite(void)
{
    Suite *s = suite_create("body_variables");
    TCase *c = tcase_create("updates");
    tcase_add_loop_test(c, an_update_an_iteration, 0, SEEDS);
    tcase_add_loop_test(c, what_reads_see, 0, SEEDS);
    tcase_add_loop_test(c, conditions_on_variables, 0, SEEDS);
    tcase_add_loop_test(c, maps, 0, SEEDS);
    tcase_add_loop_test(c, parts_of_a_variable, 0, SEEDS);
    tcase_add_loop_test(c, types, 0, SEEDS);
    tcase_add_loop_test(c, branches, 0, SEEDS);
    tcase_add_loop_test(c, nested, 0, SEEDS);
    tcase_add_loop_test(c, order, 0, SEEDS);
    tcase_add_loop_test(c, gradients, 0, SEEDS);
    tcase_add_loop_test(c, training, 0, SEEDS);
    tcase_add_test(c, eager);
    tcase_add_loop_test(c, uninitialized, 0, SEEDS);
    tcase_add_loop_test(c, files, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
