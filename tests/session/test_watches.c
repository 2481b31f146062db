/* test_watches.c -- watches, dumps and traces of a session. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/plain_ops.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

Suite *watches_suite(void);

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

static void ok(eddy_status status)
{
    ck_assert_msg(status == EDDY_OK, "%s", eddy_session_message(s));
}

typedef struct seen {
    int     n;
    int64_t run[20], iteration[20];
    double  value[20];
} seen;

static void note(void *user, const eddy_watched *w)
{
    seen *to = user;
    to->run[to->n] = w->run;
    to->iteration[to->n] = w->iteration;
    to->value[to->n++] = eddy_array_get(w->value, eddy_array_count(w->value) - 1);
}

static bool is_large(void *user, const eddy_watched *w)
{
    (void)user;
    return eddy_array_get(w->value, 1) > 10;
}

/* A value inside what the compiler fuses is seen, in the runs that compute it. */
START_TEST(values)
{
    seen              all = { 0 }, large = { 0 }, fed = { 0 };
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor inner = Mul(x, 3), y = Add(Exp(inner), 1), other = Sub(x, 1);
    const int         one = eddy_watch(s, inner, .callback = note, .user = &all);
    const int two = eddy_watch(s, inner, .condition = is_large, .callback = note, .user = &large);
    eddy_watch(s, x, .callback = note, .user = &fed);
    ck_assert_int_eq(one, 1);
    ck_assert_int_eq(two, 2);
    for (int i = 0; i < 5; i++) {
        ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, i) }), EDDY_FETCH(y), NULL));
        ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, i) }), EDDY_FETCH(other), NULL));
    }
    ck_assert_int_eq(all.n, 5);
    ck_assert_int_eq(large.n, 1);
    ck_assert_int_eq(fed.n, 10);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(all.run[i], i);
        ck_assert_double_eq(all.value[i], 3.0 * i);
    }
    ck_assert_double_eq(large.value[0], 12);
    ck_assert_int_eq(large.run[0], 4);
    eddy_unwatch(s, one);
    ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 9) }), EDDY_FETCH(y), NULL));
    ck_assert_int_eq(all.n, 5);
    ck_assert_int_eq(large.n, 2);
    eddy_unwatch(s, 0);
    ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 9) }), EDDY_FETCH(y), NULL));
    ck_assert_int_eq(large.n, 2);
}
END_TEST

/* Constants, variables and updates are seen, and a callable is compiled again. */
START_TEST(kinds)
{
    seen              constant = { 0 }, old = { 0 }, new = { 0 };
    const eddy_tensor c = eddy_doubles(g, 2, 5);
    const eddy_tensor v = eddy_variable(g, eddy_doubles(g, 0, 0)), step = eddy_assign_add(v, c);
    eddy_callable    *run = eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(step));
    ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL));
    ok(eddy_callable_run(run, NULL, NULL));
    eddy_watch(s, c, .callback = note, .user = &constant);
    eddy_watch(s, v, .callback = note, .user = &old);
    eddy_watch(s, step, .callback = note, .user = &new);
    for (int i = 0; i < 3; i++) ok(eddy_callable_run(run, NULL, NULL));
    ck_assert_int_eq(constant.n, 3);
    ck_assert_int_eq(old.n, 3);
    ck_assert_int_eq(new.n, 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq(constant.value[i], 5);
        ck_assert_double_eq(old.value[i], 5.0 * (i + 1));
        ck_assert_double_eq(new.value[i], 5.0 * (i + 2));
    }
}
END_TEST

/* ------------------------------------------------------------------ bodies -- */

static eddy_tensor built;       /* by the last body */

static int below_three(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Less(v.at[0], 3);
    return 1;
}

/* With a context the second variable grows, so that no plan can be made for all iterations. */
static int double_it(eddy_list v, eddy_tensor *y, void *context)
{
    built = Mul(v.at[0], 2);
    y[0] = Add(v.at[0], 1);
    y[1] = context ? eddy_concat(EDDY_LIST(v.at[1], Reshape(built, EDDY_SHAPE(1))), 0)
                   : Add(v.at[1], built);
    return 2;
}

static void check_iterations(const seen *all, int from, int64_t first, int64_t step)
{
    ck_assert_int_eq(all->n, from + 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(all->run[from + i], from + i);
        ck_assert_int_eq(all->iteration[from + i], first + step * i);
        ck_assert_double_eq(all->value[from + i], 2.0 * (double)all->iteration[from + i]);
    }
}

/* Once in each iteration, also where the gradient needs the iterations; and dumps likewise. */
START_TEST(loops)
{
    static const eddy_shape open[] = { { 0 }, { .rank = 1, .dim = { EDDY_ANY } } };
    seen              all = { 0 };
    bool              grows = true;
    eddy_tensor       y[2], d;
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_while_loop((eddy_function){ .build = below_three },
                    (eddy_function){ .build = double_it, .context = _i ? &grows : NULL },
                    EDDY_LIST(eddy_number(g, EDDY_FLOAT64, 0), x), y, _i ? open : NULL);
    const eddy_tensor loss = Sum(Square(y[1]));
    eddy_gradients(EDDY_LIST(loss), EDDY_LIST(x), &d);
    const int watch = eddy_watch(s, built, .callback = note, .user = &all);
    ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 2) }), EDDY_FETCH(loss), NULL));
    check_iterations(&all, 0, 0, 1);
    ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 2) }), EDDY_FETCH(loss, d), NULL));
    check_iterations(&all, 3, 0, 1);
    eddy_unwatch(s, watch);
    ck_assert_int_gt(eddy_dump(s, built, .folder = "/nowhere/at all"), 0);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(1, 2) }), EDDY_FETCH(loss), NULL),
                     EDDY_IO);
    ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "[iteration 0 of '"));
    ck_assert_int_eq(all.n, 6);
}
END_TEST

static int double_row(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    built = Mul(v.at[1], 2);
    y[0] = Add(v.at[0], built);
    return 1;
}

/* From the last row to the first. */
START_TEST(reverse_loops)
{
    seen        all = { 0 };
    eddy_tensor y;
    eddy_scan((eddy_function){ .build = double_row }, EDDY_LIST(eddy_doubles(g, 0, 1, 2)), &y,
              EDDY_LIST(eddy_number(g, EDDY_FLOAT64, 1)), .reverse = true);
    eddy_watch(s, built, .callback = note, .user = &all);
    ok(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), NULL));
    check_iterations(&all, 0, 2, -1);
}
END_TEST

static int root(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    built = Sqrt(v.at[0]);
    y[0] = Add(built, 1);
    return 1;
}

static int negative(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Neg(v.at[0]);
    return 1;
}

/* Only where the branch is taken. */
START_TEST(branches)
{
    seen              all = { 0 };
    eddy_tensor       y;
    const eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(1));
    eddy_cond(Greater(Sum(x), 0), (eddy_function){ .build = root },
              (eddy_function){ .build = negative }, &y, EDDY_LIST(x));
    eddy_watch(s, built, .callback = note, .user = &all);
    for (int i = -4; i <= 4; i += 4)
        ok(eddy_run(s, EDDY_FEED({ x, EDDY_DOUBLES(i) }), EDDY_FETCH(y), NULL));
    ck_assert_int_eq(all.n, 1);
    ck_assert_double_eq(all.value[0], 2);
    ck_assert_int_eq(all.iteration[0], -1);
}
END_TEST

START_TEST(dumps)
{
    char              folder[] = "/tmp/eddy-dumps-" "XX" "XX" "XX", path[200];
    const eddy_tensor x = eddy_placeholder(g, "in/x", EDDY_FLOAT32, EDDY_SHAPE(2));
    const eddy_tensor y = eddy_named("out/y", Mul(x, 2));
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_gt(eddy_dump(s, y, .folder = folder, .every = 2), 0);
    for (int i = 0; i < 4; i++)
        ok(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(1, (float)i) }), EDDY_FETCH(Add(y, 1)), NULL));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/out.y.0-%06d.npy", folder, i);
        eddy_array *a = eddy_array_load(path, NULL, NULL);
        ck_assert_int_eq(a != NULL, i % 2 == 0);
        if (a) ck_assert_double_eq(eddy_array_get(a, 1), 2.0 * i);
        eddy_array_free(a);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, EDDY_FLOATS(1, 2) }), EDDY_FETCH(y), NULL),
                     EDDY_IO);
}
END_TEST

START_TEST(refused)
{
    golden_begin("session/watches");
    eddy_graph       *other = eddy_graph_new();
    const eddy_tensor x = eddy_scalar(g, 1), none = eddy_no_op(g);
    ck_assert_int_eq(eddy_watch(s, x), 0);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_watch(s, none, .callback = note), 0);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_watch(s, eddy_scalar(other, 1), .callback = note), 0);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_dump(s, none), 0);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_dump(s, x, .every = 0), 0);
    golden_line(eddy_session_message(s));
    ck_assert_int_gt(eddy_dump(s, x, .folder = "/nowhere/at all"), 0);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(x), NULL), golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_session_trace(s, stdout), EDDY_INVALID_ARGUMENT);
    golden_line(eddy_session_message(s));
    ck_assert_int_eq(eddy_watch(NULL, x, .callback = note), 0);
    eddy_unwatch(NULL, 1);
    eddy_unwatch(s, 99);
    eddy_graph_free(other);
    golden_end();
}
END_TEST

/* Builds, watches, checks and traces a run that fails, with one allocation that fails. */
static eddy_status try_all(failing_allocator *f)
{
    seen        all = { 0 };
    eddy_status status = EDDY_NO_MEMORY;
    eddy_graph *graph = eddy_graph_new(.allocator = &f->table);
    const eddy_tensor x = eddy_placeholder(graph, "x", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor y = Add(eddy_named("bad", Sqrt(Add(x, 1))), 1);
    eddy_session     *t = eddy_session_new(graph, .check_numerics = true, .trace = true);
    if (t && eddy_graph_status(graph) == EDDY_OK) {
        if (eddy_watch(t, y, .callback = note, .user = &all) == 0 ||
            eddy_dump(t, x, .folder = "/tmp", .every = 1 << 20) == 0)
            status = eddy_session_status(t);
        else {
            eddy_unwatch(t, 2);
            status = eddy_run(t, EDDY_FEED({ x, EDDY_DOUBLES(1, -2) }), EDDY_FETCH(y), NULL);
        }
    }
    eddy_session_free(t);
    eddy_graph_free(graph);
    return status;
}

START_TEST(lack_of_memory)
{
    failing_allocator f;
    int               lacked = 0;
    for (long at = 1; at < 2000; at++) {
        failing_allocator_init(&f);
        f.at = at;
        const eddy_status status = try_all(&f);
        ck_assert_msg(status == EDDY_CHECK_FAILED || status == EDDY_NO_MEMORY, "%ld: %d", at,
                      (int)status);
        ck_assert_int_eq(f.live, 0);
        lacked += status == EDDY_NO_MEMORY;
        if (f.calls < at) break;
    }
    ck_assert_int_lt(f.calls, f.at);
    ck_assert_int_gt(lacked, 15);
}
END_TEST

/* ------------------------------------------------------------------ traces -- */

static int below_five(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Less(v.at[0], 5);
    return 1;
}

static int next(eddy_list v, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = Add(v.at[0], 1);
    y[1] = eddy_tanh(MatMul(v.at[1], v.at[1]));
    return 2;
}

static char *trace_of(eddy_session *of)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *to = open_memstream(&text, &size);
    ck_assert_int_eq(eddy_session_trace(of, to), EDDY_OK);
    fclose(to);
    return text;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

/* Python reads the JSON; the events of a thread lie within each other or behind each other, by the
 * sums of readers that add in floating point and of those that cut off to nanoseconds. */
static const char check_json[] =
    "import json, sys\n"
    "t = json.load(open(sys.argv[1]))['traceEvents']\n"
    "def check(x):\n"
    "    open_ = []\n"
    "    for tid, at, d in sorted(x):\n"
    "        while open_ and (open_[-1][0] != tid or open_[-1][1] <= at): open_.pop()\n"
    "        assert not open_ or at - d <= open_[-1][1], (tid, at, d, open_)\n"
    "        open_.append((tid, at - d))\n"
    "x = [(e['tid'], e['ts'], -e['dur']) for e in t if e['ph'] == 'X']\n"
    "assert len(x) > 20 and all(d <= 0 for _, _, d in x)\n"
    "check(x)\n"
    "check([(tid, int(1000 * at), int(1000 * d)) for tid, at, d in x])\n"
    "assert any(e['ph'] == 'C' and e['args']['bytes'] > 0 for e in t)\n";

static void read_by_python(const char *text)
{
    char path[] = "/tmp/eddy-trace-" "XX" "XX" "XX", command[2000];
    if (system("python3 -c '' 2>/dev/null") != 0) return;
    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    snprintf(command, sizeof command, "python3 -c \"%s\" %s", check_json, path);
    ck_assert_int_eq(system(command), 0);
    unlink(path);
}

START_TEST(traces)
{
    eddy_session     *t = eddy_session_new(g, .trace = true);
    const eddy_tensor x = eddy_constant(g, eddy_eval(eddy_eye(g, 40)));
    eddy_tensor       y[2];
    eddy_while_loop((eddy_function){ .build = below_five }, (eddy_function){ .build = next },
                    EDDY_LIST(eddy_scalar(g, 0), x), y);
    const eddy_tensor z = eddy_named("after", MatMul(y[1], y[1]));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(eddy_run(t, EDDY_FEED(), EDDY_FETCH(z), NULL), EDDY_OK);
    char *text = trace_of(t);
    ck_assert_int_eq(count(text, "\"name\": \"run\""), 3);
    ck_assert_int_eq(count(text, "\"name\": \"wait for other runs\""), 3);
    ck_assert_int_eq(count(text, "\"name\": \"iteration 4\""), 3);
    ck_assert_int_eq(count(text, "\"node\": \"after\""), 3);
    ck_assert_int_ge(count(text, "MatMul\", \"cat\": \"node\""), 18);
    read_by_python(text);
    free(text);
    text = trace_of(t);
    ck_assert_int_eq(count(text, "\"ph\": \"X\""), 0);
    free(text);
    eddy_session_free(t);
}
END_TEST

Suite *watches_suite(void)
{
    Suite *suite = suite_create("watches");
    TCase *t = tcase_create("watches");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, values);
    tcase_add_test(t, kinds);
    tcase_add_loop_test(t, loops, 0, 2);
    tcase_add_test(t, reverse_loops);
    tcase_add_test(t, branches);
    tcase_add_test(t, dumps);
    tcase_add_test(t, refused);
    tcase_add_test(t, lack_of_memory);
    tcase_add_test(t, traces);
    suite_add_tcase(suite, t);
    return suite;
}
