/* test_effects.c -- side effects that occur in each iteration and only in the branch that is taken:
 * random draws, assertions, printed lines. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"

enum { DRAWS = 50 };

/* ------------------------------------------------------------------ random -- */

static eddy_tensor draw(eddy_graph *g)
{
    return eddy_random_uniform(g, EDDY_SCALAR, .dtype = EDDY_FLOAT64);
}

BODY(draws, Add(x[0], 1), draw(x[0].graph))
BODY(two_draws, Add(x[0], 1), draw(x[0].graph), draw(x[0].graph))
BODY(draws_normal, Add(x[0], eddy_random_normal(x[0].graph, EDDY_SCALAR, .dtype = EDDY_FLOAT64)))
BODY(draw_a_row, Mul(eddy_random_uniform(x[0].graph, EDDY_SHAPE(2), .dtype = EDDY_FLOAT64), x[0]))
BODY(one_draw, draw(x[0].graph))
BODY(zero, ZerosLike(x[0]))
BODY(with_outer_draw, Add(x[0], 1), Identity(c[0]))
BODY(stateless, Add(x[0], 1),
     eddy_stateless_random_uniform(EDDY_SCALAR, c[0], .dtype = EDDY_FLOAT64))
BODY(dropped, eddy_dropout(x[0], 0.5))
BODY(scaled_by_draw, Mul(x[0], draw(x[0].graph)))

static int drawing_loop(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS];
    (void)context;
    const int n = eddy_loop(PLAIN(draws), EDDY_LIST(eddy_number(in.at[0].graph, EDDY_INT32, 0)),
                            EDDY_LIST(), z, 3);
    y[0] = Add(in.at[0], 1);
    y[1] = z[1];
    return n == 2 ? 2 : 0;
}

static eddy_tensor rows_of(trial *t, eddy_function f, int count, eddy_tensor *y)
{
    const int n = eddy_loop(f, EDDY_LIST(whole(t, 0)), EDDY_LIST(), y, count);
    ck_assert_msg(n >= 2, "%s", eddy_graph_message(t->graph));
    return y[1];
}

static void all_differ(const eddy_array *a, const eddy_array *b)
{
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        for (int64_t k = 0; k < eddy_array_count(b); k++)
            ck_assert((a == b && i == k) || eddy_array_get(a, i) != eddy_array_get(b, k));
}

START_TEST(iterations_draw_anew)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor y[EDDY_MAX_RESULTS], u = rows_of(&t, PLAIN(draws), DRAWS, y);
    eddy_array *first = value(&t, u), *second = value(&t, u);
    all_differ(first, first), all_differ(second, second), all_differ(first, second);
    double mean = 0;
    for (int i = 0; i < DRAWS; i++) mean += eddy_array_get(first, i) / DRAWS;
    ck_assert(mean > 0.3 && mean < 0.7);
    eddy_array_free(first), eddy_array_free(second);
    trial_end(&t);
}
END_TEST

/* Two nodes of one body, two loops with equal bodies, a loop in a loop: none repeats another. */
START_TEST(no_two_loops_draw_the_same)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor y[EDDY_MAX_RESULTS], z[EDDY_MAX_RESULTS], w[EDDY_MAX_RESULTS], all[4];
    rows_of(&t, PLAIN(two_draws), 6, y), rows_of(&t, PLAIN(draws), 6, z);
    rows_of(&t, PLAIN(drawing_loop), 6, w);
    all[0] = y[1], all[1] = y[2], all[2] = z[1], all[3] = eddy_reshape(w[1], EDDY_SHAPE(18));
    eddy_array *a = value(&t, eddy_concat(((eddy_list){ 4, all }), 0));
    ck_assert_int_eq(eddy_array_count(a), 36);
    all_differ(a, a);
    eddy_array_free(a);
    trial_end(&t);
}
END_TEST

/* The same graph in a new session draws the same; another seed draws others. */
START_TEST(seeds)
{
    eddy_array *got[3] = { NULL };
    for (int k = 0; k < 3; k++) {
        eddy_graph *g = eddy_graph_new(.seed = k < 2 ? 5 : 6);
        trial       t = { .graph = g, .session = eddy_session_new(g) };
        eddy_tensor y[EDDY_MAX_RESULTS], u = rows_of(&t, PLAIN(drawing_loop), 4, y);
        got[k] = value(&t, u);
        eddy_session *again = eddy_session_new(g, .threads = 1 + k, .without = EDDY_PASSES_ALL);
        eddy_array   *same = eddy_fetch(again, u);
        ck_assert(eddy_array_equal(same, got[k]));
        eddy_array_free(same);
        eddy_session_free(again);
        trial_end(&t);
    }
    ck_assert(eddy_array_equal(got[0], got[1]));
    all_differ(got[0], got[2]);
    for (int k = 0; k < 3; k++) eddy_array_free(got[k]);
}
END_TEST

/* A number drawn outside is the same for all iterations, and so is a stateless draw. */
START_TEST(draws_from_outside)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor outside = draw(t.graph), y[EDDY_MAX_RESULTS], z[EDDY_MAX_RESULTS];
    eddy_tensor seed = eddy_const(t.graph, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    rows_of(&t, FUNCTION(with_outer_draw, outside), 4, y);
    rows_of(&t, FUNCTION(stateless, seed), 4, z);
    is(&t, Sub(y[1], outside), V(0, 0, 0, 0));
    is(&t, Sub(z[1], eddy_index(z[1], "0")), V(0, 0, 0, 0));
    trial_end(&t);
}
END_TEST

/* The backward loop sees the numbers that the forward loop drew. */
START_TEST(gradients_know_what_was_drawn)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3, 4)), y[EDDY_MAX_RESULTS], z[EDDY_MAX_RESULTS];
    ck_assert_int_eq(eddy_map_fn(PLAIN(draw_a_row), EDDY_LIST(x), y), 1);
    is(&t, Sub(Sum(Mul(slope(y[0], x), x)), Sum(y[0])), V(0));
    ck_assert_int_eq(
        eddy_map_fn(PLAIN(dropped), EDDY_LIST(eddy_ones(t.graph, F64, EDDY_SHAPE(3, 40))), y), 1);
    eddy_array *a = value(&t, y[0]);
    bool        same = true;
    for (int i = 0; i < 40; i++) same = same && eddy_array_get(a, i) == eddy_array_get(a, 40 + i);
    ck_assert(!same);
    eddy_array_free(a);
    eddy_tensor one = fed_real(&t, 2);
    ck_assert_int_eq(eddy_iterate(5, PLAIN(scaled_by_draw), EDDY_LIST(one), z), 1);
    is(&t, Sub(Mul(slope(z[0], one), one), z[0]), V(0));
    trial_end(&t);
}
END_TEST

START_TEST(draws_of_a_branch)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, 1), y[1], z[1];
    ck_assert_int_eq(eddy_cond(p, PLAIN(one_draw), PLAIN(zero), y, EDDY_LIST(x)), 1);
    eddy_array *a = value(&t, y[0]), *b = value(&t, y[0]);
    ck_assert(eddy_array_item(a) != eddy_array_item(b));
    eddy_array_free(a), eddy_array_free(b);
    refeed(&t, p, 0);
    is(&t, y[0], V(0));
    ck_assert_int_eq(eddy_iterate(100, PLAIN(draws_normal), EDDY_LIST(x), z), 1);
    a = value(&t, z[0]), b = value(&t, z[0]);
    ck_assert(eddy_array_item(a) != eddy_array_item(b));
    ck_assert_double_le(fabs(eddy_array_item(a)), 50);
    eddy_array_free(a), eddy_array_free(b);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ prints -- */

typedef struct lines {
    int  n;
    char last[100];
} lines;
static lines seen;
static void note(void *user, const char *line)
{
    lines *l = user;
    l->n++;
    snprintf(l->last, sizeof l->last, "%s", line);
}
static eddy_tensor printed(eddy_tensor x, const char *message)
{
    return eddy_print(x, .message = message, .write = note, .user = &seen);
}

BODY(print_and_add, Add(printed(x[0], "at "), 1))
BODY(print_square, Square(printed(x[0], "yes ")))
BODY(print_double, Mul(printed(x[0], "no "), 2))

/* A line is printed even if its value is not read. */
static int print_aside(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    printed(in.at[0], "aside ");
    y[0] = Add(in.at[0], 1);
    return 1;
}

START_TEST(a_line_an_iteration)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 3), y[1], z[1];
    ck_assert_int_eq(eddy_iterate(4, PLAIN(print_and_add), EDDY_LIST(x), y), 1);
    ck_assert_int_eq(eddy_iterate(4, PLAIN(print_aside), EDDY_LIST(x), z), 1);
    seen.n = 0;
    is(&t, y[0], V(7));
    ck_assert_int_eq(seen.n, 4);
    ck_assert_str_eq(seen.last, "at [6]");
    is(&t, slope(y[0], x), V(1));
    seen.n = 0;
    is(&t, z[0], V(7));
    ck_assert_int_eq(seen.n, 4);
    ck_assert_str_eq(seen.last, "aside [6]");
    trial_end(&t);
}
END_TEST

/* All lines, one behind the other. */
static char all_lines[2000];
static void collect(void *user, const char *line)
{
    (void)user;
    const size_t n = strlen(all_lines);
    snprintf(all_lines + n, sizeof all_lines - n, "%s ", line);
}
static eddy_tensor told(eddy_tensor x, const char *message)
{
    return eddy_print(x, .message = message, .write = collect);
}
BODY(inner_lines, Add(told(x[0], "i"), 0.5))
static int outer_lines(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    const eddy_tensor x = told(in.at[0], "o");
    eddy_control_begin(x.graph, EDDY_LIST(x));
    eddy_iterate(2, PLAIN(inner_lines), EDDY_LIST(x), y);
    eddy_control_end(x.graph);
    eddy_control_begin(x.graph, EDDY_LIST(y[0]));
    told(Mul(x, 10), "e");
    eddy_control_end(x.graph);
    return 1;
}
START_TEST(lines_in_order)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 1), y[1];
    ck_assert_int_eq(eddy_iterate(2, PLAIN(outer_lines), EDDY_LIST(x), y), 1);
    for (int k = 0; k < 2; k++) {
        all_lines[0] = 0;
        is(&t, y[0], V(3));
        ck_assert_str_eq(all_lines, "o[1] i[1] i[1.5] e[10] o[2] i[2] i[2.5] e[20] ");
    }
    trial_end(&t);
}
END_TEST

BODY(inner_squares, Square(told(x[0], "i")))
static eddy_tensor one_of(int n, const eddy_tensor *y)
{
    ck_assert_int_eq(n, 1);
    return y[0];
}
BODY(outer_squares, one_of(eddy_iterate(2, PLAIN(inner_squares), EDDY_LIST(told(x[0], "o")),
                                        (eddy_tensor *)(uintptr_t)c), c))
/* A gradient computes an inner loop again, but its lines are not written again. */
START_TEST(inner_lines_once_with_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 1), y[1], room[1];
    const eddy_function f = { .build = outer_squares, .context = room };
    ck_assert_int_eq(eddy_iterate(2, f, EDDY_LIST(x), y), 1);
    eddy_tensor d = slope(y[0], x), dd = slope(d, x);
    all_lines[0] = 0;
    is(&t, eddy_stack(EDDY_LIST(y[0], d, dd)), V(1, 16, 240));
    ck_assert_str_eq(all_lines, "o[1] i[1] i[1] o[1] i[1] i[1] ");
    trial_end(&t);
}
END_TEST

START_TEST(a_line_of_the_branch_taken)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor p = truth(&t, true), x = fed_real(&t, 3), y[1], z[1];
    ck_assert_int_eq(eddy_cond(p, PLAIN(print_square), PLAIN(print_double), y, EDDY_LIST(x)), 1);
    ck_assert_int_eq(eddy_cond(p, PLAIN(zero), PLAIN(print_aside), z, EDDY_LIST(x)), 1);
    for (int k = 0; k < 4; k++) {
        refeed(&t, p, k % 2);
        seen.n = 0;
        is(&t, y[0], V(k % 2 ? 9 : 6));
        ck_assert_int_eq(seen.n, 1);
        ck_assert_str_eq(seen.last, k % 2 ? "yes [3]" : "no [3]");
        seen.n = 0;
        is(&t, z[0], V(k % 2 ? 0 : 4));
        ck_assert_int_eq(seen.n, 1 - k % 2);
    }
    trial_end(&t);
}
END_TEST

/* The gradient of a loop and the loop itself, in one run: every line once. */
START_TEST(lines_once_with_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 1.5), y[1];
    ck_assert_int_eq(eddy_iterate(3, PLAIN(print_square), EDDY_LIST(x), y), 1);
    eddy_tensor d = slope(y[0], x), dd = slope(d, x);
    seen.n = 0;
    is(&t, eddy_stack(EDDY_LIST(y[0], d, dd)),
       V(pow(1.5, 8), 8 * pow(1.5, 7), 56 * pow(1.5, 6)));
    ck_assert_int_eq(seen.n, 3);
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------------- assertions -- */

static int checked_step(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor x = in.at[0], limit = *(eddy_tensor *)context;
    eddy_assert(Less(x, limit), EDDY_LIST(x), "too large");
    y[0] = Add(x, 1);
    return 1;
}

/* The message says which iteration, and the next run is right again. */
START_TEST(assertions_of_iterations)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 0), limit = fed_real(&t, 100), y[1], z[1], p = truth(&t, true);
    ck_assert_int_eq(eddy_iterate(10, FUNCTION(checked_step, limit), EDDY_LIST(x), y), 1);
    ck_assert_int_eq(eddy_cond(p, FUNCTION(checked_step, limit), PLAIN(zero), z, EDDY_LIST(x)), 1);
    is(&t, y[0], V(10)), is(&t, z[0], V(1));
    refeed(&t, limit, 6);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "too large");
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "[iteration 6 of 'iterate/loop']");
    refeed(&t, limit, 0);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "[iteration 0 of 'iterate/loop']");
    check_run_fails(&t, z[0], EDDY_CHECK_FAILED, "[branch 0 of 'cond/case']");
    refeed(&t, p, 0);
    is(&t, z[0], V(0));
    refeed(&t, limit, 10), refeed(&t, p, 1);
    is(&t, y[0], V(10)), is(&t, z[0], V(1));
    trial_end(&t);
}
END_TEST

/* Assertions hold in the gradient too, and a loop of no iteration checks nothing. */
START_TEST(assertions_and_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 0), limit = fed_real(&t, 5), y[1], z[1];
    ck_assert_int_eq(eddy_iterate(10, FUNCTION(checked_step, limit), EDDY_LIST(Square(x)), y), 1);
    ck_assert_int_eq(eddy_iterate(0, FUNCTION(checked_step, limit), EDDY_LIST(x), z), 1);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "too large");
    refeed(&t, x, 9);
    is(&t, z[0], V(9));
    refeed(&t, limit, 1e3);
    is(&t, slope(y[0], x), V(18));
    trial_end(&t);
}
END_TEST

/* Of a loop and of a branch inside of a loop only the assertions count. */
static int checks_inside(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_function step = { .build = checked_step, .context = context };
    eddy_tensor         z[1], p = eddy_greater(Sum(in.at[0]), eddy_number(in.at[0].graph, F64, 0));
    eddy_iterate(2, step, in, z);
    eddy_cond(p, step, PLAIN(zero), z, in);
    y[0] = Add(in.at[0], 1);
    return 1;
}

START_TEST(unread_results_of_what_checks)
{
    enum { MANY = 40 };
    double      ones[MANY], threes[MANY];
    for (int i = 0; i < MANY; i++) ones[i] = 1, threes[i] = 3;
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, MANY, ones), limit = fed_real(&t, 5), y[1], z[1];
    ck_assert_int_eq(eddy_iterate(2, FUNCTION(checks_inside, limit), EDDY_LIST(x), y), 1);
    ck_assert_int_eq(eddy_cond(truth(&t, true), FUNCTION(checks_inside, limit), PLAIN(zero), z,
                               EDDY_LIST(x)), 1);
    is(&t, y[0], MANY, threes), is(&t, slope(y[0], x), MANY, ones);
    is(&t, Add(z[0], 1), MANY, threes);
    refeed(&t, limit, 2.5);
    check_run_fails(&t, y[0], EDDY_CHECK_FAILED, "[iteration 1 of 'iterate/loop']");
    trial_end(&t);
}
END_TEST

Suite *effects_suite(void)
{
    Suite *s = suite_create("effects");
    TCase *c = tcase_create("random");
    tcase_add_loop_test(c, iterations_draw_anew, 0, SEEDS);
    tcase_add_loop_test(c, no_two_loops_draw_the_same, 0, SEEDS);
    tcase_add_test(c, seeds);
    tcase_add_loop_test(c, draws_from_outside, 0, SEEDS);
    tcase_add_loop_test(c, gradients_know_what_was_drawn, 0, SEEDS);
    tcase_add_loop_test(c, draws_of_a_branch, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("acts");
    tcase_add_loop_test(c, a_line_an_iteration, 0, SEEDS);
    tcase_add_loop_test(c, lines_in_order, 0, SEEDS);
    tcase_add_loop_test(c, inner_lines_once_with_gradients, 0, SEEDS);
    tcase_add_loop_test(c, a_line_of_the_branch_taken, 0, SEEDS);
    tcase_add_loop_test(c, lines_once_with_gradients, 0, SEEDS);
    tcase_add_loop_test(c, assertions_of_iterations, 0, SEEDS);
    tcase_add_loop_test(c, assertions_and_gradients, 0, SEEDS);
    tcase_add_loop_test(c, unread_results_of_what_checks, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
