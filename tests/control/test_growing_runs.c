/* test_growing_runs.c -- runs of loops whose shapes change: side effects, nesting, maps, files,
 * limits, threads, messages. The values and derivatives are in test_growing_loops.c. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <pthread.h>

static const eddy_shape scalar_and_vector[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };

BODY(fewer, Less(x[0], c[0]))
BODY(longer, Add(x[0], 1), eddy_concat(EDDY_LIST(Mul(x[1], 0.5), eddy_index(x[1], ":1")), 0))

static eddy_tensor grow_in(eddy_function body, eddy_tensor n, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS], zero = eddy_number(x.graph, EDDY_INT32, 0);
    ck_assert_msg(eddy_while_loop(FUNCTION(fewer, n), body, EDDY_LIST(zero, x), y,
                                  scalar_and_vector) == 2, "%s", eddy_graph_message(x.graph));
    return y[1];
}

/* ----------------------------------------------------------- effects, draws -- */

static char seen[1000];
static void note(void *user, const char *line) { (void)user, strcat(strcat(seen, line), ", "); }
static eddy_tensor noted(eddy_tensor x)
{
    return eddy_print(x, .message = "i ", .write = note);
}
BODY(longer_and_noted, Add(noted(x[0]), 1),
     eddy_concat(EDDY_LIST(Sin(x[1]), eddy_index(x[1], ":1")), 0))

/* Once an iteration and in order, also where a gradient needs the iterations. */
START_TEST(prints_once)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -1, 1);
    eddy_tensor y = Sum(grow_in(PLAIN(longer_and_noted), whole(&t, 3), x)), d = slope(y, x);
    eddy_tensor both = Add(Sum(d), y);
    const eddy_tensor what[] = { y, d, both, slope(Sum(Square(d)), x) };
    for (int k = 0; k < 4; k++) {
        seen[0] = '\0';
        eddy_array_free(value(&t, what[k]));
        ck_assert_str_eq(seen, "i [0], i [1], i [2], ");
    }
    trial_end(&t);
}
END_TEST

BODY(add_a_draw, Add(x[0], 1),
     eddy_concat(EDDY_LIST(x[1],
                           eddy_random_uniform(x[1].graph, EDDY_SHAPE(1), .dtype = EDDY_FLOAT64)),
                 0))
START_TEST(draws_differ)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_zeros(t.graph, F64, EDDY_SHAPE(0));
    eddy_tensor y = grow_in(PLAIN(add_a_draw), whole(&t, 20), x);
    eddy_array *a = value(&t, y), *b = value(&t, y);
    ck_assert_int_eq(eddy_array_count(a), 20);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++) {
            ck_assert(i == j || eddy_array_get(a, i) != eddy_array_get(a, j));
            ck_assert(eddy_array_get(a, i) != eddy_array_get(b, j));
        }
    eddy_array_free(a), eddy_array_free(b);
    trial_end(&t);
}
END_TEST

static eddy_tensor counter;
static int longer_and_counted(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    eddy_assign_add(counter, Sum(in.at[1]));
    y[0] = Add(in.at[0], 1);
    y[1] = eddy_concat(EDDY_LIST(in.at[1], eddy_index(in.at[1], ":1")), 0);
    return 2;
}

START_TEST(updates_a_variable)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = eddy_ones(t.graph, F64, EDDY_SHAPE(1));
    counter = eddy_variable(t.graph, .initial_value = constant(&t, 0));
    initialize(&t);
    eddy_tensor y = Sum(grow_in(PLAIN(longer_and_counted), whole(&t, 4), x));
    ck_assert_double_eq(scalar_value(&t, y), 5);
    ck_assert_double_eq(scalar_value(&t, counter), 10);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------- nesting -- */

BODY(squared, Square(x[0]))
BODY(halved, Mul(x[0], 0.5))
static int inner_growth(eddy_list in, eddy_tensor *y, void *context)
{
    const eddy_tensor *x = in.at, *c = context;
    eddy_tensor        z[EDDY_MAX_RESULTS], branch;
    y[0] = Add(x[0], 1);
    y[1] = Sin(Mul(grow_in(PLAIN(longer), x[0], x[1]), c[0]));
    eddy_iterate(2, PLAIN(halved), EDDY_LIST(y[1]), z);
    eddy_cond(Greater(x[0], 1), PLAIN(squared), PLAIN(halved), &branch, EDDY_LIST(z[0]));
    y[1] = eddy_concat(EDDY_LIST(branch, Mul(eddy_index(branch, ":2"), c[0])), 0);
    return 2;
}

START_TEST(nested)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x[] = { fed_numbers(&t, EDDY_SHAPE(2), -1, 1), fed_numbers(&t, EDDY_SCALAR, 1, 2) };
    eddy_tensor n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    eddy_tensor y = grow_in(FUNCTION(inner_growth, x[1]), n, x[0]);
    for (int count = 0; count < 4; count++) {
        eddy_array_set(array_of(&t, n), 0, count);
        check_slopes(&t, y, 2, x, 2);
    }
    trial_end(&t);
}
END_TEST

BODY(longer_sine, Add(x[0], 1), eddy_concat(EDDY_LIST(Sin(x[1]), eddy_index(x[1], ":1")), 0))
START_TEST(in_segments)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -1, 1), y[4], zero = whole(&t, 0);
    eddy_while_loop(FUNCTION(fewer, whole(&t, 7)), PLAIN(longer_sine), EDDY_LIST(zero, x), y,
                    scalar_and_vector, .segment = 3);
    check_slopes(&t, y[1], 1, &x, 2);
    trial_end(&t);
}
END_TEST

/* A loop over rows: sizes from the row. Its stacks are ordinary tensors. */
BODY(prefix_sum, Add(x[0], Sum(Sin(Mul(Mul(x[0], 0.2), eddy_cast(eddy_range(
         eddy_number(x[0].graph, EDDY_INT32, 0), x[1], eddy_number(x[0].graph, EDDY_INT32, 1)),
         EDDY_FLOAT64))))), Sin(x[0]))
START_TEST(over_rows)
{
    trial         t = trial_begin((unsigned)_i);
    const double  sizes[] = { 3, 0, 5, 2 };
    eddy_tensor   x = fed_numbers(&t, EDDY_SCALAR, -1, 1), y[4];
    eddy_tensor   rows = given(&t, I32, EDDY_SHAPE(4), sizes);
    eddy_tensor   n = fed(&t, eddy_array_new(EDDY_INT32, EDDY_SCALAR));
    ck_assert_int_eq(eddy_loop(PLAIN(prefix_sum), EDDY_LIST(x), EDDY_LIST(rows), y,
                               .iterations = n), 2);
    for (int count = 0; count <= 4; count += 1 + (count > 1)) {
        eddy_array_set(array_of(&t, n), 0, count);
        is_shaped(&t, y[1], EDDY_SHAPE(4));
        check_slopes(&t, Add(Sin(y[0]), Sum(y[1])), 1, &x, 2);
    }
    trial_end(&t);
}
END_TEST

/* -------------------------------------------------------- maps, jvp, files -- */

static int grown(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = grow_in(PLAIN(longer_sine), eddy_number(in.at[0].graph, EDDY_INT32, 3), in.at[0]);
    return 1;
}

START_TEST(mapped)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(4, 2), -1, 1), y, one, first;
    ck_assert_msg(eddy_vmap(PLAIN(grown), EDDY_LIST(x), &y) == 1, "%s",
                  eddy_graph_message(t.graph));
    first = eddy_index(x, "1");
    grown(EDDY_LIST(first), &one, NULL);
    eddy_array *all = value(&t, y), *row = value(&t, one);
    ck_assert_int_eq(eddy_array_count(all), 20);
    for (int i = 0; i < 5; i++)
        ck_assert_double_le(fabs(eddy_array_get(all, 5 + i) - eddy_array_get(row, i)), 1e-15);
    eddy_array_free(all), eddy_array_free(row);
    check_slopes(&t, y, 1, &x, 2);
    trial_end(&t);
}
END_TEST

START_TEST(forward_mode)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -1, 1),
                v = fed_numbers(&t, EDDY_SHAPE(2), -1, 1);
    eddy_tensor y = grow_in(PLAIN(longer_sine), whole(&t, 3), x), dy, dx;
    eddy_jvp(EDDY_LIST(y), EDDY_LIST(x), EDDY_LIST(v), &dy);
    eddy_tensor u = fed_numbers(&t, EDDY_SHAPE(5), -1, 1);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, EDDY_LIST(u));
    ck_assert_double_le(fabs(scalar_value(&t, Sum(Mul(dy, u))) - scalar_value(&t, Sum(Mul(dx, v)))),
                        1e-13);
    trial_end(&t);
}
END_TEST

START_TEST(files)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_const(g, F64, EDDY_SHAPE(2), (double[]){ 0.25, 0.5 });
    eddy_tensor y = grow_in(PLAIN(longer_sine), eddy_number(g, EDDY_INT32, 3), x);
    eddy_tensor d = eddy_named("d", slope(Sum(Square(slope(Sum(Square(y)), x))), x));
    char       *text = eddy_graph_to_yaml(g);
    ck_assert_msg(text != NULL, "%s", eddy_graph_message(g));
    eddy_graph *h = eddy_graph_load(.text = text, .path = "g.yaml");
    ck_assert_ptr_nonnull(h);
    eddy_session *s = eddy_session_new(g), *r = eddy_session_new(h);
    eddy_array   *a = eddy_fetch(s, d), *b = eddy_fetch(r, eddy_graph_tensor(h, "d:0"));
    ck_assert_msg(a && b, "%s", eddy_session_message(s));
    ck_assert(eddy_array_equal(a, b));
    eddy_array_free(a), eddy_array_free(b);
    eddy_session_free(s), eddy_session_free(r);
    eddy_graph_free(g), eddy_graph_free(h);
    eddy_string_free(text);
}
END_TEST

/* ---------------------------------------------------------- many iterations -- */

/* The last 100 elements at most. */
BODY(window, Add(x[0], 1),
     eddy_index(eddy_concat(EDDY_LIST(x[1], eddy_index(Mul(x[1], 0.5), "-1:")), 0), "-100:"))
START_TEST(ten_thousand)
{
    trial       t = trial_begin(0);
    eddy_tensor x = eddy_ones(t.graph, F64, EDDY_SHAPE(1));
    eddy_tensor y = grow_in(PLAIN(window), whole(&t, 10000), x);
    eddy_tensor d = slope(Sum(y), x);
    eddy_array *a = value(&t, y), *b = value(&t, d);
    ck_assert_int_eq(eddy_array_count(a), 100);
    ck_assert_int_eq(eddy_array_count(b), 1);
    ck_assert_int_le(eddy_session_plan_info(t.session).plans, 8);
    eddy_array_free(a), eddy_array_free(b);
    trial_end(&t);
}
END_TEST

/* A callable, and a session that measures, run such a loop like any other. */
START_TEST(callables_and_profiles)
{
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor   y = Sum(grow_in(PLAIN(longer), n, eddy_ones(g, F64, EDDY_SHAPE(1))));
    eddy_session *s = eddy_session_new(g, .profile = true);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(n), EDDY_LIST(y));
    eddy_array    *a = NULL, *count = eddy_array_of(EDDY_INT32, 0);
    for (int k = 0; k < 4; k++) {
        eddy_array_set(count, 0, k);
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *[]){ count }, &a), EDDY_OK);
        double want = 1, first = 1;
        for (int i = 0; i < k; i++) want = want / 2 + first, first /= 2;
        ck_assert_double_eq_tol(eddy_array_item(a), want, 1e-15);
    }
    ck_assert_int_gt(eddy_callable_plan_info(c).instructions, 0);
    eddy_array_free(a), eddy_array_free(count);
    eddy_callable_free(c);
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------- threads -- */

typedef struct runner {
    eddy_session *session;
    eddy_tensor   n, x, d;
    int           count;
    bool          ok;
} runner;

static void *run_many(void *user)
{
    runner     *r = user;
    eddy_array *a = NULL, *n = eddy_array_of(EDDY_INT32, r->count);
    eddy_array *x = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(2), (double[]){ 0.5, 0.25 });
    double      first = 0;
    r->ok = true;
    for (int i = 0; i < 40 && r->ok; i++) {
        r->ok = eddy_run(r->session, EDDY_FEED({ r->n, n }, { r->x, x }), EDDY_FETCH(r->d), &a) ==
                EDDY_OK;
        if (i == 0 && r->ok) first = eddy_array_get(a, 0);
        r->ok = r->ok && eddy_array_get(a, 0) == first && eddy_array_count(a) == 2;
    }
    eddy_array_free(a), eddy_array_free(n), eddy_array_free(x);
    return NULL;
}

START_TEST(at_the_same_time)
{
    enum { THREADS = 4 };
    eddy_graph   *g = eddy_graph_new();
    eddy_tensor   n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_tensor   d = slope(Sum(Square(grow_in(PLAIN(longer_sine), n, x))), x);
    eddy_session *s = eddy_session_new(g);
    pthread_t     threads[THREADS];
    runner        r[THREADS];
    for (int i = 0; i < THREADS; i++) {
        r[i] = (runner){ s, n, x, d, 2 + 3 * i, false };
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_many, &r[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        ck_assert_msg(r[i].ok, "%d: %s", i, eddy_session_message(s));
    eddy_session_free(s);
    eddy_graph_free(g);
}
END_TEST

/* ------------------------------------------------------------------ messages -- */

BODY(divides, Add(x[0], 1),
     eddy_concat(EDDY_LIST(x[1], eddy_reshape(eddy_cast(FloorDiv(c[0], Sub(c[0], x[0])), F64),
                                              EDDY_SHAPE(1))), 0))
BODY(wider, Add(x[0], 1), eddy_concat(EDDY_LIST(x[1], x[1]), 1))
BODY(range_of, Add(x[0], 1), eddy_range(eddy_number(x[0].graph, EDDY_INT32, 0), x[0],
                                        eddy_number(x[0].graph, EDDY_INT32, 1)))

BODY(only_element_is_small, Less(eddy_squeeze(x[0]), 100))
BODY(itself_twice, eddy_concat(EDDY_LIST(x[0], x[0]), 0))
BODY(positive, Add(x[0], 1), eddy_boolean_mask(x[1], Greater(x[1], 0)))

static void says(eddy_tensor y, size_t max_bytes)
{
    eddy_session *s = eddy_session_new(y.graph, .max_bytes = max_bytes);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_graph_status(y.graph) == EDDY_OK, "%s", eddy_graph_message(y.graph));
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &a), EDDY_OK);
    ck_assert_ptr_null(a);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

START_TEST(messages)
{
    trial            t = trial_begin(0);
    eddy_graph      *g = t.graph;
    eddy_tensor      zero = eddy_number(g, EDDY_INT32, 0), x = eddy_ones(g, F64, EDDY_SHAPE(1));
    eddy_tensor six = eddy_number(g, EDDY_INT32, 6), ten = eddy_number(g, EDDY_INT32, 10), y[4];
    eddy_tensor      m = eddy_ones(g, F64, EDDY_SHAPE(2, 2)), any;
    eddy_tensor      three = eddy_const(g, F64, EDDY_SHAPE(3), (double[]){ 1, -1, 2 });
    const eddy_shape matrix[] = { { 0 }, EDDY_SHAPE(EDDY_ANY, 2) };
    golden_begin("control/growing");
    says(grow_in(FUNCTION(divides, six), ten, x), 0);
    says(grow_in(PLAIN(longer), ten, eddy_ones(g, F64, EDDY_SHAPE(1000))), 20000);
    any = eddy_placeholder_with_default(m, "any", EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    eddy_while_loop(FUNCTION(fewer, ten), PLAIN(wider), EDDY_LIST(zero, any), y, matrix);
    golden_graph(g);
    eddy_loop(PLAIN(range_of), EDDY_LIST(zero), EDDY_LIST(), y, 3);
    says(y[1], 0);
    says(eddy_reshape(y[1], EDDY_SHAPE(-1, 2)), 0);
    says(Sum(eddy_reshape_like(eddy_ones(g, I32, EDDY_SHAPE(6)), y[1])), 0);
    eddy_while_loop(PLAIN(only_element_is_small), PLAIN(itself_twice), EDDY_LIST(x), y,
                    &EDDY_SHAPE(EDDY_ANY), .name = "vector");
    says(y[0], 0);
    eddy_while_loop(FUNCTION(fewer, ten), PLAIN(positive), EDDY_LIST(zero, three), y,
                    .name = "shorter");
    says(y[1], 0);
    eddy_tensor printed = eddy_print(x, .message = "x", .write = note);
    says(grow_in(PLAIN(longer), ten, printed), 0);
    eddy_while_loop(FUNCTION(fewer, ten), PLAIN(longer), EDDY_LIST(zero, m), y, scalar_and_vector);
    golden_graph(g);
    eddy_while_loop(FUNCTION(fewer, ten), PLAIN(longer), EDDY_LIST(zero, x), y);
    golden_graph(g);
    golden_end();
    trial_end(&t);
}
END_TEST

/* The k-th allocation of a run fails: out of memory, and the same run then gives the same bits. */
START_TEST(every_allocation_may_fail)
{
    failing_allocator f;
    failing_allocator_init(&f);
    eddy_graph   *g = eddy_graph_new(.allocator = &f.table);
    eddy_tensor   x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(2));
    eddy_tensor   y = Sum(grow_in(PLAIN(longer), eddy_number(g, EDDY_INT32, 3), Sin(x)));
    eddy_tensor   both = Add(y, Sum(slope(y, x)));
    eddy_session *s = eddy_session_new(g, .threads = 1);
    const double  want = eddy_fetch_number(s, both, EDDY_FEED({ x, EDDY_DOUBLES(0.3, 0.4) }));
    eddy_session_free(s);
    ck_assert(want > 0);
    for (long k = 1, failed = 1; failed; k++) {
        eddy_array *out = NULL;
        s = eddy_session_new(g, .threads = 1);
        f.at = f.calls + k;
        const eddy_status status = eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(0.3, 0.4) }),
                                            EDDY_FETCH(both), &out);
        failed = f.calls >= f.at;
        f.at = 0;
        ck_assert_msg(status == (failed ? EDDY_NO_MEMORY : EDDY_OK) || status == EDDY_OK,
                      "allocation %ld: %s", k, eddy_session_message(s));
        eddy_array_free(out);
        ck_assert_double_eq(
            eddy_fetch_number(s, both, EDDY_FEED({ x, EDDY_DOUBLES(0.3, 0.4) })), want);
        eddy_session_free(s);
    }
    eddy_graph_free(g);
    ck_assert_int_eq(f.live, 0);
}
END_TEST

Suite *growing_runs_suite(void)
{
    Suite *s = suite_create("growing_runs");
    TCase *c = tcase_create("runs"), *threads = tcase_create("threads");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, prints_once, 0, 4);
    tcase_add_loop_test(c, draws_differ, 0, 2);
    tcase_add_loop_test(c, updates_a_variable, 0, 4);
    tcase_add_loop_test(c, nested, 0, 4);
    tcase_add_loop_test(c, in_segments, 0, 4);
    tcase_add_loop_test(c, over_rows, 0, 4);
    tcase_add_loop_test(c, mapped, 0, 4);
    tcase_add_loop_test(c, forward_mode, 0, 4);
    tcase_add_test(c, files);
    tcase_add_test(c, ten_thousand);
    tcase_add_test(c, callables_and_profiles);
    tcase_add_test(c, every_allocation_may_fail);
    tcase_add_test(c, messages);
    tcase_set_tags(threads, "threads");
    tcase_add_test(threads, at_the_same_time);
    suite_add_tcase(s, c);
    suite_add_tcase(s, threads);
    return s;
}
