/* test_draws.c -- draws are counted by each operation's own executions: alone, in loops and
 * branches and their gradients, in stages, in eager evaluation and in several threads. */
#include "build/gen/suites.h"
#include "tests/lib/checks.h"

#include <math.h>
#include <pthread.h>

enum { ROWS = 12, COLUMNS = 5 };

static eddy_graph *g;
static eddy_tensor x;           /* [ROWS, COLUMNS] */

static void setup(void)
{
    double values[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = 1 + 0.3 * sin(i);
    g = eddy_graph_new();
    x = matrix(g, ROWS, COLUMNS, values);
}
static void teardown(void) { eddy_graph_free(g); }

/* --------------------------------------------------------------- models -- */

/* Each yields a tensor that is linear in x for given random numbers. */

static eddy_tensor dropped(eddy_tensor t) { return eddy_dropout(t, .rate = 0.5); }

static int drop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = dropped(in.at[0]);
    return 1;
}

static int keep(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Mul(in.at[0], 2);
    return 1;
}

/* h = dropout(h + row): in.at[0] is h. */
static int add_dropped(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = dropped(Add(in.at[0], Mul(in.at[1], 0.5)));
    return 1;
}

static eddy_tensor zeros(void) { return eddy_zeros_like(eddy_index(x, "0")); }

static eddy_tensor plain(void) { return dropped(x); }

static eddy_tensor mapped(void)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_map_fn({ .build = drop }, EDDY_LIST(x), y);
    return y[0];
}

static eddy_tensor scanned(eddy_recompute how)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_scan({ .build = add_dropped }, EDDY_LIST(x), y, EDDY_LIST(zeros()), .recompute = how);
    return y[0];
}
static eddy_tensor scan(void) { return scanned(EDDY_RECOMPUTE_NONE); }
static eddy_tensor scan_in_segments(void) { return scanned(EDDY_RECOMPUTE_SQRT); }
static eddy_tensor scan_in_levels(void) { return scanned(EDDY_RECOMPUTE_LOG); }

static int is_small(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_less(in.at[0], eddy_scalar(g, 4));
    return 1;
}
static int count_and_drop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(in.at[0], 1);
    y[1] = dropped(in.at[1]);
    return 2;
}

/* Without a limit, so that its stacks grow. */
static eddy_tensor open_loop(void)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_while_loop({ .build = is_small }, { .build = count_and_drop },
                    EDDY_LIST(eddy_scalar(g, 0), x), y);
    return y[1];
}

static eddy_tensor branch(void)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_cond(eddy_greater(eddy_sum(x), real(g, 0)), { .build = drop }, { .build = keep },
              y, EDDY_LIST(x));
    return y[0];
}

/* A scan, and a choice, for each row. */
static int inner_loop(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor a[EDDY_MAX_RESULTS], b[EDDY_MAX_RESULTS];
    (void)context;
    eddy_map_fn({ .build = drop }, EDDY_LIST(in.at[0]), a);
    eddy_cond(eddy_greater(eddy_sum(a[0]), real(g, 0)), { .build = drop },
              { .build = keep }, b, EDDY_LIST(a[0]));
    y[0] = Add(b[0], dropped(in.at[0]));
    return 1;
}

static eddy_tensor nested(void)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_map_fn({ .build = inner_loop }, EDDY_LIST(x), y);
    return y[0];
}

static eddy_tensor nested_in_segments(void)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    eddy_map_fn({ .build = inner_loop }, EDDY_LIST(x), y, .recompute = EDDY_RECOMPUTE_SQRT);
    return y[0];
}

/* Nodes that are computed again take the random numbers of the first time. */
static eddy_tensor recomputed(void)
{
    eddy_tensor y = Mul(dropped(Mul(x, 3)), 2), z = x;
    eddy_recompute_grad(EDDY_LIST(y), EDDY_LIST(x), &z);
    return z;
}

static const struct { const char *name; eddy_tensor (*make)(void); } models[] = {
    { "plain", plain }, { "map", mapped }, { "scan", scan },
    { "scan in segments", scan_in_segments }, { "scan in levels", scan_in_levels },
    { "open loop", open_loop }, { "branch", branch }, { "nested", nested },
    { "nested in segments", nested_in_segments }, { "recomputed", recomputed },
};
enum { MODELS = sizeof models / sizeof *models };

/* f, its gradient, something else that draws, and a constant. */
typedef struct parts {
    eddy_tensor f, df, other, constant;
} parts;

static parts make(int i)
{
    parts p;
    p.f = eddy_sum(models[i].make());
    p.df = eddy_gradient(p.f, x);
    p.other = eddy_random_uniform(g, EDDY_SHAPE(3));
    p.constant = eddy_scalar(g, 7);
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s: %s", models[i].name,
                  eddy_graph_message(g));
    return p;
}

/* Runs f and its gradient, which must have used the same numbers: f is linear, so it is x df. */
static double both(eddy_session *s, const parts *p, const char *name)
{
    eddy_array *out[2] = { NULL, NULL };
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(p->f, p->df), out) == EDDY_OK, "%s: %s",
                  name, eddy_session_message(s));
    const eddy_array *at = eddy_constant_value(x);
    const double      f = eddy_array_item(out[0]);
    double            sum = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += eddy_array_get(at, i) * eddy_array_get(out[1], i);
    ck_assert_msg(fabs(f - sum) <= 1e-12 * fabs(f), "%s: f is %.17g, x df %.17g", name, f, sum);
    ck_assert_msg(f != 0, "%s: nothing is left", name);
    eddy_array_free(out[0]);
    eddy_array_free(out[1]);
    return f;
}

/* --------------------------------------------------------------- in runs -- */

START_TEST(runs_count)
{
    const char   *name = models[_i].name;
    const parts   p = make(_i);
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(g);
    double        f[5];
    for (int i = 0; i < 5; i++) f[i] = both(s, &p, name);
    ck_assert_msg(f[0] != f[1] && f[1] != f[2], "%s: runs do not differ", name);
    runs(t, p.constant);
    ck_assert_double_eq(number(t, p.f), f[0]);
    runs(t, p.other);
    runs(t, p.constant);
    runs(t, p.df);
    ck_assert_double_eq(number(t, p.f), f[2]);
    ck_assert_double_eq(both(t, &p, name), f[3]);
    ck_assert_double_eq(both(t, &p, name), f[4]);
    eddy_session_free(s);
    eddy_session_free(t);
}
END_TEST

START_TEST(without_passes)
{
    const char   *name = models[_i].name;
    const parts   p = make(_i);
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(g, .without = EDDY_PASSES_ALL);
    for (int i = 0; i < 3; i++) {
        const double f = both(s, &p, name), h = both(t, &p, name);
        ck_assert_msg(fabs(f - h) <= 1e-12 * fabs(f), "%s: %.17g and %.17g", name, f, h);
    }
    eddy_session_free(s);
    eddy_session_free(t);
}
END_TEST

/* A graph that is read draws as the one that was written. */
START_TEST(from_a_file)
{
    const char   *name = models[_i].name;
    parts         p = make(_i);
    eddy_graph   *before = g;
    eddy_session *s = eddy_session_new(g);
    eddy_error    e = { 0 };
    eddy_tensor   loss = eddy_group(g, EDDY_LIST(p.f), "done");
    runs(s, loss);
    const double f = both(s, &p, name);
    char *text = eddy_graph_to_yaml(g);
    g = eddy_graph_load("graph", text, .error = &e);
    ck_assert_msg(g != NULL, "%s: %s", name, e.message);
    p.f.graph = p.df.graph = loss.graph = g;
    eddy_session *t = eddy_session_new(g);
    runs(t, loss);
    ck_assert_double_eq(both(t, &p, name), f);
    eddy_session_free(s);
    eddy_session_free(t);
    eddy_graph_free(before);
    eddy_string_free(text);
}
END_TEST

/* One operation with a seed that another has, too: equal numbers if they ran equally often. */
START_TEST(equal_seeds)
{
    eddy_tensor   a = eddy_random_uniform(g, EDDY_SHAPE(1), .seed = 5, .dtype = EDDY_FLOAT64);
    eddy_tensor   b = eddy_random_uniform(g, EDDY_SHAPE(1), .seed = 5, .dtype = EDDY_FLOAT64);
    eddy_session *s = eddy_session_new(g);
    const double  a0 = number(s, a), a1 = number(s, a);
    ck_assert_double_ne(a0, a1);
    ck_assert_double_eq(number(s, b), a0);
    ck_assert_double_eq(number(s, b), a1);
    eddy_session_free(s);
}
END_TEST

static double its_argument(void *data, double n)
{
    (void)data;
    return n;
}

static void count_line(void *lines, const char *line)
{
    (void)line;
    ++*(int *)lines;
}

/* Other operations that take the number of their executions. */
START_TEST(other_operations)
{
    int           lines = 0;
    eddy_tensor   n = eddy_host_scalar(g, its_argument);
    eddy_tensor   p = eddy_print(eddy_scalar(g, 1), .first_n = 2, .write = count_line,
                                 .user = &lines);
    eddy_session *s = eddy_session_new(g);
    for (int i = 0; i < 3; i++) {
        runs(s, x);
        ck_assert_double_eq(number(s, n), i);
        ck_assert_int_eq(lines, i < 2 ? i : 2);
        runs(s, p);
    }
    eddy_session_free(s);
}
END_TEST

/* The first stage computes a size; the operation that decides it, and one that both stages need,
 * are executed once in a run. */
START_TEST(stages)
{
    eddy_tensor   n = eddy_random_uniform_int(g, EDDY_SCALAR, 1, 1000);
    eddy_tensor   ones = eddy_range(eddy_zeros_like(n), n, eddy_ones_like(n));
    eddy_tensor   late = eddy_random_uniform(g, EDDY_SHAPE(1));
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(g);
    double        first[4], second[4];
    for (int i = 0; i < 4; i++) {
        eddy_array *out[3] = { NULL, NULL, NULL };
        ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(n, ones, late), out) == EDDY_OK, "%s",
                      eddy_session_message(s));
        first[i] = eddy_array_item(out[0]);
        second[i] = eddy_array_item(out[2]);
        ck_assert_int_eq(eddy_array_count(out[1]), (int)first[i]);
        for (int k = 0; k < 3; k++) eddy_array_free(out[k]);
    }
    ck_assert(first[0] != first[1] || first[1] != first[2]);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(number(t, n), first[i]);
    for (int i = 0; i < 4; i++) ck_assert_double_eq(number(t, late), second[i]);
    eddy_session_free(s);
    eddy_session_free(t);
}
END_TEST

/* ------------------------------------------------------------------ eval -- */

/* Evaluated values belong to one run until they are forgotten. */
START_TEST(evaluated)
{
    const char   *name = models[_i].name;
    eddy_tensor   f = eddy_sum(models[_i].make());
    eddy_session *s = eddy_session_new(g), *t = eddy_session_new(g);
    const double  first = eddy_array_item(eddy_eval_in(s, f));
    parts         p = { .f = f, .df = eddy_gradient(f, x) };
    for (int k = 0; k < 2; k++) {
        const double      value = eddy_array_item(eddy_eval_in(s, f));
        const eddy_array *df = eddy_eval_in(s, p.df), *at = eddy_constant_value(x);
        double            sum = 0;
        ck_assert_msg(df != NULL, "%s: %s", name, eddy_session_message(s));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            sum += eddy_array_get(at, i) * eddy_array_get(df, i);
        ck_assert_msg(fabs(value - sum) <= 1e-12 * fabs(value), "%s: f is %.17g, x df %.17g", name,
                      value, sum);
        ck_assert_double_eq_tol(value, both(t, &p, name), 1e-12 * fabs(value));
        if (k == 0) ck_assert_double_eq(value, first);
        else ck_assert_double_ne(value, first);
        eddy_eval_forget(s);
    }
    eddy_session_free(s);
    eddy_session_free(t);
}
END_TEST

/* --------------------------------------------------------------- threads -- */

enum { EACH = 50 };

typedef struct worker {
    pthread_t     thread;
    eddy_session *session;
    eddy_tensor   a, b;
    double        got[EACH][2];
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (int i = 0; i < EACH; i++) {
        eddy_array *out[2] = { NULL, NULL };
        eddy_run(w->session, EDDY_FEED(), EDDY_FETCH(w->a, w->b), out);
        for (int k = 0; k < 2; k++) {
            w->got[i][k] = eddy_array_item(out[k]);
            eddy_array_free(out[k]);
        }
    }
    return NULL;
}

static void work_in_parallel(worker *w, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_int_eq(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    for (int i = 0; i < n; i++) ck_assert_int_eq(pthread_join(w[i].thread, NULL), 0);
}

/* Two sessions draw the same; two threads of one session share the pairs of one after another. */
START_TEST(in_parallel)
{
    static worker w[4];
    const eddy_tensor a = eddy_random_normal(g, EDDY_SCALAR), b = eddy_sum(mapped());
    eddy_session     *s[3] = { eddy_session_new(g), eddy_session_new(g), eddy_session_new(g) };
    for (int i = 0; i < 4; i++) w[i] = (worker){ .session = s[i < 2 ? i : 2], .a = a, .b = b };
    work_in_parallel(w, 4);
    ck_assert_mem_eq(w[0].got, w[1].got, sizeof w->got);
    eddy_session *one = eddy_session_new(g);
    int           found = 0;
    for (int i = 0; i < 2 * EACH; i++) {
        worker v = { .session = one, .a = a, .b = b };
        if (i % EACH == 0) work(&v), memcpy(w[0].got, v.got, sizeof v.got);
        for (int k = 0; k < 2 * EACH; k++)
            found += memcmp(w[2 + k / EACH].got[k % EACH], w[0].got[i % EACH],
                            sizeof w->got[0]) == 0;
    }
    ck_assert_int_eq(found, 2 * EACH);
    eddy_session_free(one);
    for (int i = 0; i < 3; i++) eddy_session_free(s[i]);
}
END_TEST

Suite *draws_suite(void)
{
    Suite *s = suite_create("draws");
    TCase *t = tcase_create("runs"), *threads = tcase_create("threads");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, runs_count, 0, MODELS);
    tcase_add_loop_test(t, without_passes, 0, MODELS);
    tcase_add_loop_test(t, from_a_file, 0, MODELS);
    tcase_add_loop_test(t, evaluated, 0, MODELS);
    tcase_add_test(t, equal_seeds);
    tcase_add_test(t, other_operations);
    tcase_add_test(t, stages);
    tcase_add_checked_fixture(threads, setup, teardown);
    tcase_set_tags(threads, "threads");
    tcase_add_test(threads, in_parallel);
    suite_add_tcase(s, t);
    suite_add_tcase(s, threads);
    return s;
}
