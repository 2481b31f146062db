/* test_profile.c -- profiles of runs, and large results that are computed in the arrays that the
 * caller gets. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

Suite *profile_suite(void);

enum { LARGE = 2000 };          /* numbers of float64: more than are copied */

static eddy_graph   *g;
static eddy_session *s;

static void setup(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g, .profile = true);
    ck_assert_ptr_nonnull(s);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* 1, 2, 3, ... times `factor`. */
static eddy_array *numbers(int64_t n, double factor)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(n));
    for (int64_t i = 0; i < n; i++) eddy_array_set(a, i, factor * (double)(i + 1));
    return a;
}

static void is_numbers(const eddy_array *a, int64_t n, double factor)
{
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(eddy_array_count(a), n);
    for (int64_t i = 0; i < n; i++)
        ck_assert_double_eq(eddy_array_get(a, i), factor * (double)(i + 1));
}

static eddy_tensor any_numbers(const char *name)
{
    return eddy_placeholder(g, name, EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
}

static void ok(eddy_status status)
{
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
}

static void free_all(eddy_array **a, int n)
{
    for (int i = 0; i < n; i++) eddy_array_free(a[i]);
}

/* --------------------------------------------------------------- profiles -- */

/* The text of a profile, owned by the caller. */
static char *written(eddy_status (*profile)(eddy_session *, FILE *))
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(to);
    ok(profile(s, to));
    fclose(to);
    return text;
}

static void says(const char *text, const char *what)
{
    ck_assert_msg(strstr(text, what) != NULL, "no '%s' in\n%s", what, text);
}

START_TEST(tables)
{
    network     n = network_build(g);
    eddy_array *batch = network_batch(7);
    char       *text = written(eddy_session_profile);
    says(text, "all plans: 0 runs, 0.000 ms");
    free(text);
    runs(s, n.init);
    for (int i = 0; i < 5; i++)
        ok(eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train, n.loss), NULL));
    text = written(eddy_session_profile);
    says(text, "plan 1: ");
    says(text, "plan 2: ");
    says(text, "5 runs of ");
    says(text, eddy_name_of(n.train));
    says(text, "Fused(");
    says(text, "MatMul(float64[");
    says(text, "[node '");
    says(text, "all plans: 6 runs");
    says(text, "Fused x");
    free(text);
    eddy_array_free(batch);
}
END_TEST

/* The number behind "name": in a line. */
static double field(const char *line, const char *name)
{
    char key[40];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(line, key);
    ck_assert_msg(at != NULL, "no %s in %s", key, line);
    return strtod(at + strlen(key), NULL);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct sums {
    int    lines;
    double seconds, flops, calls;
} sums;

static sums sums_of(char *text)
{
    sums  all = { 0 };
    char *rest = text;
    for (char *line; (line = strtok_r(rest, "\n", &rest)) != NULL; all.lines++) {
        ck_assert(line[0] == '{' && line[strlen(line) - 1] == '}');
        all.seconds += field(line, "seconds");
        all.flops += field(line, "flops");
        all.calls += field(line, "calls");
        ck_assert_double_gt(field(line, "bytes"), 0);
    }
    return all;
}

/* The instructions have the time of the runs, and the arithmetic of the plan. */
START_TEST(sums_are_those_of_runs)
{
    enum { RUNS = 20, SIZE = 150 };
    eddy_tensor x = eddy_random_normal(g, EDDY_SHAPE(SIZE, SIZE)), y = x;
    for (int i = 0; i < 4; i++) y = Tanh(MatMul(y, x));
    y = Sum(Add(y, Mul(x, x)));
    runs(s, y);
    char       *text = written(eddy_session_profile_json);
    const sums  before = sums_of(text);
    const double begun = now();
    for (int i = 0; i < RUNS; i++) runs(s, y);
    const double took = now() - begun;
    free(text);
    text = written(eddy_session_profile_json);
    says(text, "\"op\": \"Fused\"");
    says(text, "\"parts\": {");
    says(text, "\"inputs\": [\"float32[150,150]\", ");
    const sums after = sums_of(text);
    const double instructions = after.seconds - before.seconds;
    ck_assert_double_lt(instructions, took * 1.02);
    ck_assert_double_gt(instructions, took * 0.3);
    ck_assert_int_eq(after.lines, eddy_session_plan_info(s).instructions);
    ck_assert_double_eq(after.calls, (RUNS + 1) * after.lines);
    ck_assert_double_eq_tol(after.flops, eddy_session_plan_info(s).flops, 0.5);
    free(text);
}
END_TEST

/* Runs that do not come to their end are counted as far as they came. */
START_TEST(runs_that_fail)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_INT32, EDDY_SHAPE(2));
    eddy_tensor y = Sum(eddy_floordiv(eddy_ones(g, EDDY_INT32, EDDY_SHAPE(2)), x));
    eddy_array *zeros = eddy_array_new(EDDY_INT32, EDDY_SHAPE(2));
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, zeros }), EDDY_FETCH(y), NULL), EDDY_OK);
    char *text = written(eddy_session_profile);
    says(text, "plan 1: 1 runs");
    free(text);
    eddy_array_free(zeros);
}
END_TEST

static void profile_again(void *status, const char *line)
{
    (void)line;
    *(eddy_status *)status = eddy_session_profile(s, NULL);
}

static void said(const eddy_session *by, eddy_status status, eddy_status want)
{
    ck_assert_int_eq(status, want);
    golden_line(eddy_session_message(by));
}

static void profile_without_memory(failing_allocator *f, eddy_error *e)
{
    const long at = f->at;
    f->at = 0;
    eddy_graph   *h = eddy_graph_new(&f->table);
    eddy_tensor   y = Sum(eddy_random_uniform(h, EDDY_SHAPE(3)));
    eddy_session *t = eddy_session_new(h, .profile = true);
    FILE         *to = tmpfile();
    runs(t, y);
    f->at = f->calls + at;
    e->status = eddy_session_profile_json(t, to);
    if (e->status != EDDY_OK)
        snprintf(e->message, sizeof e->message, "%s", eddy_session_message(t));
    fclose(to);
    eddy_session_free(t);
    eddy_graph_free(h);
}

START_TEST(messages)
{
    eddy_status   inside = EDDY_OK;
    eddy_tensor   one = real(g, 1);
    eddy_tensor   shown = eddy_print(one, .data = EDDY_LIST(one), .write = profile_again,
                                     .user = &inside);
    eddy_session *plain = eddy_session_new(g);
    golden_begin("session/profile");
    runs(plain, one);
    said(plain, eddy_session_profile(plain, NULL), EDDY_INVALID_ARGUMENT);
    said(plain, eddy_session_profile_json(plain, NULL), EDDY_INVALID_ARGUMENT);
    runs(s, shown);
    said(s, inside, EDDY_INVALID_ARGUMENT);
    eddy_session_close(s);
    said(s, eddy_session_profile(s, NULL), EDDY_CLOSED);
    golden_no_memory(profile_without_memory);
    golden_end();
    ck_assert_int_eq(eddy_session_profile(NULL, NULL), EDDY_INVALID_ARGUMENT);
    eddy_session_free(plain);
    ck_assert_int_eq(eddy_session_profile(plain, NULL), EDDY_INVALID_ARGUMENT);
}
END_TEST

/* ------------------------------------------------------------------ results -- */

/* Large values of every kind in one run, again and again, in this session. */
static void check_kinds(eddy_session *t)
{
    enum { N = 9 };
    eddy_tensor x = any_numbers("x"), v, c;
    eddy_array *one = numbers(LARGE, 1), *out[N] = { NULL };
    c = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(LARGE), eddy_array_data(one));
    v = eddy_variable(g, c);
    eddy_tensor y = Mul(x, 2), z = Mul(Add(y, x), 2), more = eddy_assign_add(v, x);
    eddy_tensor rows = Reshape(y, EDDY_SHAPE(2, EDDY_ANY)), less = Sub(z, y);
    runs(t, eddy_initializer(g));
    for (int i = 1; i <= 4; i++) {
        eddy_array *fed = numbers(LARGE, i);
        ok(eddy_run(t, EDDY_FEED({ x, fed }), EDDY_FETCH(y, y, x, c, v, more, rows, z, less), out));
        for (int k = 0; k < 3; k++) is_numbers(out[k], LARGE, k < 2 ? 2 * i : i);
        is_numbers(out[3], LARGE, 1);
        is_numbers(out[4], LARGE, 1 + i * (i - 1) / 2);
        is_numbers(out[5], LARGE, 1 + i * (i + 1) / 2);
        is_numbers(out[6], LARGE, 2 * i);
        ck_assert_int_eq(eddy_array_shape(out[6]).rank, 2);
        is_numbers(out[7], LARGE, 6 * i);
        is_numbers(out[8], LARGE, 4 * i);
        for (int k = 0; k < N; k++)
            for (int j = 0; j < k; j++) ck_assert_ptr_ne(out[k], out[j]);
        eddy_array_free(fed);
    }
    free_all(out, N);
    eddy_array_free(one);
}

START_TEST(values_of_all_kinds) { check_kinds(s); }
END_TEST

START_TEST(values_without_passes)
{
    eddy_session *t = eddy_session_new(g, .without = 1u << _i);
    check_kinds(t);
    eddy_session_free(t);
}
END_TEST

/* Two arrays take turns; there is no third, and no room in the arena. */
START_TEST(two_arrays_take_turns)
{
    eddy_tensor    x = any_numbers("x"), y = Mul(x, 3);
    eddy_callable *call = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    eddy_array    *fed = numbers(LARGE, 1), *out = NULL, *turn[2] = { NULL, NULL };
    for (int i = 0; i < 10; i++) {
        const eddy_array *feeds[1] = { fed };
        ok(i < 5 ? eddy_run(s, EDDY_FEED({ x, fed }), EDDY_FETCH(y), &out)
                 : eddy_callable_run(call, feeds, &out));
        if (i < 2) turn[i] = out;
        ck_assert_ptr_eq(out, turn[i & 1]);
        is_numbers(out, LARGE, 3);
        if (i == 3) ok(eddy_run(s, EDDY_FEED({ x, fed }), EDDY_FETCH(y), NULL));
    }
    ck_assert_uint_lt(eddy_session_plan_info(s).arena_bytes, LARGE * sizeof(double));
    eddy_array_free(out);
    eddy_array_free(fed);
}
END_TEST

/* Arrays that the caller keeps are not overwritten: shared, fed, of other memory or shape. */
START_TEST(what_is_kept_stays)
{
    static double lent[LARGE];
    eddy_tensor   x = any_numbers("x"), y = Mul(x, 2);
    eddy_array   *fed = numbers(LARGE, 1), *short_one = numbers(LARGE - 1, 1), *kept[4],
               *out = NULL;
    for (int i = 0; i < 4; i++) {
        ok(eddy_run(s, EDDY_FEED({ x, fed }), EDDY_FETCH(y), &out));
        kept[i] = eddy_array_retain(out);
    }
    for (int i = 0; i < 4; i++) {
        is_numbers(kept[i], LARGE, 2);
        for (int j = 0; j < i; j++) ck_assert_ptr_ne(kept[i], kept[j]);
    }
    ok(eddy_run(s, EDDY_FEED({ x, short_one }), EDDY_FETCH(y), &out));
    is_numbers(out, LARGE - 1, 2);
    eddy_array_free(out);
    out = eddy_array_borrow(EDDY_FLOAT64, EDDY_SHAPE(LARGE), lent);
    for (int i = 0; i < 3; i++) ok(eddy_run(s, EDDY_FEED({ x, fed }), EDDY_FETCH(y), &out));
    ck_assert_double_eq(lent[5], 0);
    is_numbers(out, LARGE, 2);
    free_all(kept, 4);
    eddy_array_free(out);
    eddy_array_free(fed);
    eddy_array_free(short_one);
}
END_TEST

/* A state that each run takes and gives; and one that changes its shape, and is fetched. */
START_TEST(results_are_fed)
{
    eddy_tensor x = any_numbers("x"), y = Mul(x, 2);
    eddy_tensor one = eddy_ones(g, EDDY_FLOAT64, EDDY_SHAPE(1));
    eddy_tensor longer = eddy_concat(EDDY_LIST(x, one));
    eddy_array *state = numbers(LARGE, 1), *out[2] = { NULL, NULL };
    for (int i = 0; i < 8; i++) ok(eddy_run(s, EDDY_FEED({ x, state }), EDDY_FETCH(y), &state));
    is_numbers(state, LARGE, 256);
    out[0] = state;
    for (int i = 0; i < 3; i++) {
        ok(eddy_run(s, EDDY_FEED({ x, out[0] }), EDDY_FETCH(longer, x), out));
        ck_assert_int_eq(eddy_array_count(out[0]), LARGE + 1 + i);
        ck_assert_int_eq(eddy_array_count(out[1]), LARGE + i);
        ck_assert_double_eq(eddy_array_get(out[0], LARGE - 1), 256 * LARGE);
        ck_assert_double_eq(eddy_array_get(out[1], LARGE - 1), 256 * LARGE);
        ck_assert_double_eq(eddy_array_get(out[0], LARGE + i), 1);
    }
    free_all(out, 2);
}
END_TEST

/* The large value is there when the division fails. */
START_TEST(an_error_changes_nothing)
{
    eddy_tensor x = any_numbers("x"), n = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SHAPE(2));
    eddy_tensor y = Mul(x, 2);
    eddy_tensor ten = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 10, 10 });
    eddy_control_begin(g, EDDY_LIST(y));
    eddy_tensor q = eddy_floordiv(ten, n);
    eddy_control_end(g);
    eddy_array *one = numbers(LARGE, 1), *two = numbers(LARGE, 2), *out[2] = { NULL };
    eddy_array *good = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 2 });
    eddy_array *bad = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 1, 0 });
    for (int i = 0; i < 3; i++) {
        ok(eddy_run(s, EDDY_FEED({ x, one }, { n, good }), EDDY_FETCH(y, q), out));
        eddy_array *before[2] = { out[0], out[1] };
        for (int k = 0; k < 2; k++)
            ck_assert_int_ne(eddy_run(s, EDDY_FEED({ x, two }, { n, bad }), EDDY_FETCH(y, q), out),
                             EDDY_OK);
        ck_assert(out[0] == before[0] && out[1] == before[1]);
        is_numbers(out[0], LARGE, 2);
        ck_assert_double_eq(eddy_array_get(out[1], 1), 5);
        ok(eddy_run(s, EDDY_FEED({ x, two }, { n, good }), EDDY_FETCH(y, q), out));
        is_numbers(out[0], LARGE, 4);
    }
    free_all(out, 2);
    free_all((eddy_array *[]){ one, two, good, bad }, 4);
}
END_TEST

/* A plan that the variable's new shape makes stale leaves no trace. */
START_TEST(shapes_of_variables)
{
    eddy_tensor x = any_numbers("x"), v = eddy_variable(g, x, .no_validate_shape = true);
    eddy_tensor init = eddy_initializer(g), y = Mul(v, 2);
    eddy_array *out = NULL;
    for (int i = 0; i < 6; i++) {
        eddy_array *value = numbers(i % 2 ? LARGE : LARGE + 1, i);
        ok(eddy_run(s, EDDY_FEED({ x, value }), EDDY_FETCH(init), NULL));
        ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out));
        is_numbers(out, eddy_array_count(value), 2 * i);
        eddy_array_free(value);
    }
    eddy_array_free(out);
}
END_TEST

/* The limit counts what a result needs. */
START_TEST(limits_count_results)
{
    eddy_tensor   x = any_numbers("x"), y = Mul(x, 2);
    eddy_session *t = eddy_session_new(g, .max_bytes = LARGE * sizeof(double));
    eddy_array   *fits_it = numbers(LARGE - 8, 1), *too_long = numbers(LARGE + 1, 1), *out = NULL;
    ok(eddy_run(t, EDDY_FEED({ x, fits_it }), EDDY_FETCH(y), &out));
    ck_assert_int_eq(eddy_run(t, EDDY_FEED({ x, too_long }), EDDY_FETCH(y), &out), EDDY_LIMIT);
    is_numbers(out, LARGE - 8, 2);
    free_all((eddy_array *[]){ fits_it, too_long, out }, 3);
    eddy_session_free(t);
}
END_TEST

/* ----------------------------------------------------------------- threads -- */

enum { THREADS = 6, ROUNDS = 40 };

typedef struct runner {
    pthread_t   thread;
    eddy_tensor x, y, sum;
    double      factor;
    int         wrong;
} runner;

static void *run_often(void *p)
{
    runner     *r = p;
    eddy_array *fed = numbers(LARGE, r->factor), *out[2] = { NULL, NULL };
    for (int i = 0; i < ROUNDS; i++) {
        r->wrong += eddy_run(s, EDDY_FEED({ r->x, fed }), EDDY_FETCH(r->y, r->sum), out) != EDDY_OK;
        r->wrong += eddy_array_get(out[0], LARGE - 1) != 2 * r->factor * LARGE;
        r->wrong += eddy_array_item(out[1]) != r->factor * LARGE * (LARGE + 1);
        if (i % 8 == 0) {
            FILE *to = tmpfile();
            r->wrong += eddy_session_profile(s, to) != EDDY_OK;
            fclose(to);
        }
    }
    free_all(out, 2);
    eddy_array_free(fed);
    return NULL;
}

START_TEST(from_several_threads)
{
    runner      r[THREADS];
    eddy_tensor x = any_numbers("x"), y = Mul(x, 2), sum = Sum(y);
    for (int i = 0; i < THREADS; i++) {
        r[i] = (runner){ .x = x, .y = y, .sum = sum, .factor = i + 1 };
        ck_assert_int_eq(pthread_create(&r[i].thread, NULL, run_often, &r[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        ck_assert_int_eq(r[i].wrong, 0);
    }
}
END_TEST

Suite *profile_suite(void)
{
    const TTest *const tests[] = {
        tables, sums_are_those_of_runs, runs_that_fail, messages, values_of_all_kinds,
        two_arrays_take_turns, what_is_kept_stays, results_are_fed, an_error_changes_nothing,
        shapes_of_variables, limits_count_results, from_several_threads,
    };
    Suite *suite = suite_create("profile");
    TCase *c = tcase_create("profile");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    tcase_add_loop_test(c, values_without_passes, 0, EDDY_PASSES);
    suite_add_tcase(suite, c);
    return suite;
}
