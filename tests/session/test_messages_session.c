/* test_messages_session.c -- error messages of runs, variables and checkpoints, out-of-memory
 * messages included. */
#include "graph/base/cpu.h"
#include "session/session.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/plain_ops.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

Suite *messages_session_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static memory_files  files;

static void setup(void)
{
    memory_files_init(&files);
    g = eddy_graph_new(.files = &files.table);
    s = eddy_session_new(g);
}

static void teardown(void)
{
    eddy_session_free(s);
    eddy_graph_free(g);
    memory_files_free(&files);
}

/* The session's last call has failed with the next line. */
static void said(const eddy_session *session)
{
    ck_assert_int_ne(eddy_session_status(session), EDDY_OK);
    golden_line(eddy_session_message(session));
}

static void run_says(eddy_tensor t)
{
    ck_assert_ptr_null(eddy_fetch(s, t));
    said(s);
}

/* ------------------------------------------------------- feeds and fetches -- */

static void feeds(eddy_tensor x, eddy_tensor y)
{
    eddy_array *three = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3));
    eddy_array *whole = eddy_array_new(EDDY_INT32, EDDY_SHAPE(2));
    eddy_array *two = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_run(s, EDDY_FEED({ EDDY_ZERO_TENSOR, two }), EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, EDDY_FEED({ x, NULL }), EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, EDDY_FEED({ x, whole }), EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, EDDY_FEED({ x, two }, { x, two }), EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, (eddy_feeds){ -1, NULL }, EDDY_FETCH(y), NULL), said(s);
    eddy_run(s, EDDY_FEED(), (eddy_list){ 1, NULL }, NULL), said(s);
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(y, EDDY_ZERO_TENSOR), NULL), said(s);
    eddy_callable_new(s, (eddy_list){ -1, NULL }, EDDY_LIST(y)), said(s);
    eddy_callable_new(s, EDDY_LIST(x, EDDY_ZERO_TENSOR), EDDY_LIST(y)), said(s);
    run_says(y);
    run_says(Mul(eddy_placeholder(g, "rate", EDDY_FLOAT32, EDDY_SCALAR), 2));
    ck_assert(isnan(eddy_fetch_number(s, y, EDDY_FEED({ x, two })))), said(s);
    ck_assert(isnan(eddy_fetch_number(s, eddy_no_op(g)))), said(s);
    eddy_array_free(three);
    eddy_array_free(whole);
    eddy_array_free(two);
}

static void environment(eddy_tensor y)
{
    setenv("EDDY_CPU", "sse9", 1);
    eddy_limit_instructions(NULL);
    run_says(y);
    unsetenv("EDDY_CPU");
    eddy_limit_instructions(NULL);
}

static void sessions(eddy_tensor y)
{
    eddy_graph   *empty = eddy_graph_new();
    eddy_session *t = eddy_session_new(empty), *small = eddy_session_new(g, .max_bytes = 32);
    eddy_session *tight = eddy_session_new(g, .max_bytes = 48);
    eddy_fetch(t, y), said(t);
    eddy_graph_free(empty);
    eddy_fetch(t, y), said(t);
    eddy_save(t, "f", EDDY_LIST()), said(t);
    eddy_session_close(t);
    eddy_fetch(t, y), said(t);
    eddy_save(t, "f", EDDY_LIST()), said(t);
    eddy_session_free(t);
    ck_assert_ptr_null(eddy_fetch(small, eddy_random_uniform(g, EDDY_SHAPE(10))));
    said(small);
    ck_assert_ptr_null(eddy_eval_in(small, eddy_random_uniform(g, EDDY_SHAPE(10))));
    said(small);
    eddy_session_free(small);
    ck_assert_ptr_null(eddy_fetch(tight, eddy_random_uniform(g, EDDY_SHAPE(10))));
    said(tight);
    eddy_session_free(tight);
}

static void run_again(void *tensor, const char *line)
{
    (void)line;
    ck_assert_ptr_null(eddy_fetch(s, *(eddy_tensor *)tensor));
}

/* A callback of a run uses the session that is running. */
static void callback(void)
{
    eddy_tensor one = eddy_scalar(g, 1);
    eddy_tensor shown = eddy_print(one, .data = EDDY_LIST(one), .write = run_again, .user = &one);
    runs(s, shown);
    said(s);
}

static void close_now(void *session, const char *line)
{
    (void)line;
    eddy_session_close(session);
}

/* An operation of the run closes the session. */
static void closed_inside(void)
{
    eddy_session     *one = eddy_session_new(g);
    const eddy_tensor x = eddy_random_uniform(g, EDDY_SHAPE(4));
    const eddy_tensor shown = eddy_print(x, .write = close_now, .user = one);
    eddy_run(one, EDDY_FEED(), EDDY_FETCH(eddy_sort(shown)), NULL), said(one);
    eddy_session_free(one);
}

/* The largest array, of which nothing is there, is fed and fetched. */
static void huge_fetch(void)
{
    const int64_t most = (int64_t)1 << (sizeof(void *) > 4 ? 47 : 30);
    struct rlimit before, little;
    eddy_tensor x = eddy_placeholder(g, "huge", EDDY_UINT8, EDDY_UNKNOWN_SHAPE);
    eddy_array *a = eddy_array_borrow(EDDY_UINT8, EDDY_SHAPE(most), &(char){ 0 }), *out = NULL;
    getrlimit(RLIMIT_AS, &before);
    little = before;
    little.rlim_cur = (rlim_t)most / 2;
    if (sizeof(void *) < 8) setrlimit(RLIMIT_AS, &little);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(x), &out), EDDY_NO_MEMORY);
    setrlimit(RLIMIT_AS, &before);
    said(s);
    eddy_array_free(a);
}

/* A shape that was set turns out to be wrong. */
static void wrong_claims(void)
{
    eddy_tensor x = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, EDDY_ANY));
    eddy_tensor y = Relu(eddy_set_shape(Neg(x), EDDY_SHAPE(EDDY_ANY, 3)));
    eddy_array *a = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(0, 4));
    eddy_run(s, EDDY_FEED({ x, a }), EDDY_FETCH(y), NULL), said(s);
    eddy_eval_set_in(s, x, a);
    ck_assert_ptr_null(eddy_eval_in(s, y));
    said(s);
    eddy_eval_forget(s);
    eddy_array_free(a);
}

START_TEST(of_runs)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2)), y = Mul(x, 2);
    golden_begin("session/session_runs");
    feeds(x, y);
    sessions(y);
    environment(y);
    callback();
    huge_fetch();
    closed_inside();
    wrong_claims();
    golden_end();
}
END_TEST

/* ------------------------------------------------------------- operations -- */

static bool same_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
/* As many outputs as the input has rows, as far as that is known. */
static bool rows_infer(eddy_infer *c)
{
    const int64_t rows = c->in[0].shape.dim[0];
    if (!eddy_infer_outputs(c, rows < 0 ? 1 : (int)rows)) return false;
    for (int i = 0; i < c->n_out; i++) c->out[i] = (eddy_type){ c->in[0].dtype, EDDY_SCALAR };
    return true;
}
static eddy_status nothing(eddy_kernel *k)
{
    (void)k;
    return EDDY_OK;
}
static eddy_status refusal(eddy_kernel *k)
{
    (void)k;
    return EDDY_UNIMPLEMENTED;
}

static const eddy_op_def op_mute = { .name = "Mute", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
                                     .infer = same_infer, .kernel = refusal };
static const eddy_op_def op_unready = { .name = "Unready", .min_inputs = 1, .max_inputs = 1,
                                        .outputs = 1, .infer = same_infer, .prepare = refusal,
                                        .kernel = nothing };
static const eddy_op_def op_rows = { .name = "Rows", .min_inputs = 1, .max_inputs = 1,
                                     .outputs = EDDY_MANY, .infer = rows_infer,
                                     .kernel = nothing };

START_TEST(of_operations)
{
    eddy_tensor one = eddy_scalar(g, 1), draw = eddy_random_uniform(g, EDDY_SHAPE(2));
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor rows = eddy_apply1(&op_rows, NULL, x);
    eddy_array *two = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2));
    golden_begin("session/session_operations");
    run_says(eddy_apply1(&op_mute, NULL, draw));
    run_says(eddy_apply1(&op_mute, NULL, one));
    run_says(eddy_apply1(&op_unready, NULL, draw));
    run_says(eddy_apply1(&op_unready, NULL, one));
    run_says(eddy_apply1(&plain_same, NULL, draw));
    run_says(eddy_apply1(&plain_same, NULL, one));
    run_says(Mul(eddy_apply1(&plain_same, NULL, draw), 2));
    run_says(eddy_apply(&plain_all, &(all_attrs){ 0 }, 0, NULL, (eddy_apply_args){ g, NULL }));
    eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(rows), NULL), said(s);
    golden_end();
    eddy_array_free(two);
}
END_TEST

/* -------------------------------------------------------------- variables -- */

/* The initializer gives a variable of open shape another one while something of
 * the same run was compiled for the old one; in a run of its own it may. */
static void shape_changes(void)
{
    const float ones[] = { 1, 1, 1 };
    eddy_array *two = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(2), ones);
    eddy_array *three = eddy_array_copy_of(EDDY_FLOAT32, EDDY_SHAPE(3), ones);
    eddy_tensor x = eddy_placeholder(g, "start", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor v = eddy_variable(g, x, .no_validate_shape = true, .name = "open");
    eddy_tensor init = eddy_initializer(g);
    eddy_tensor more = eddy_assign_add(v, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)));
    eddy_control_begin(g, EDDY_LIST(init));
    eddy_tensor now = eddy_read(v);
    eddy_control_end(g);
    run_says(v);
    eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(init), NULL);
    eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(init, more), NULL), said(s);
    eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(now), NULL), said(s);
    has(s, v, 2, (double[]){ 1, 1 });
    has(s, more, 2, (double[]){ 2, 2 });
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(init), NULL), EDDY_OK);
    has(s, v, 3, (double[]){ 1, 1, 1 });
    eddy_array_free(two);
    eddy_array_free(three);
}

static void values(eddy_tensor v, eddy_tensor other)
{
    eddy_array *number = eddy_array_of(EDDY_FLOAT32, 1), *whole = eddy_array_of(EDDY_INT32, 1);
    run_says(v);
    eddy_variable_set(s, v, number), said(s);
    eddy_variable_set(s, v, whole), said(s);
    eddy_variable_set(s, v, NULL), said(s);
    eddy_variable_value(s, other), said(s);
    eddy_variable_value(s, eddy_named("sum", Add(v, 1))), said(s);
    eddy_array_free(number);
    eddy_array_free(whole);
}

static void checkpoints(eddy_tensor v)
{
    eddy_graph   *h = eddy_graph_new(.files = &files.table);
    eddy_tensor   larger = eddy_variable(h, eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(3)), .name = "v");
    eddy_session *t = eddy_session_new(h);
    eddy_save(s, "f", EDDY_LIST(v)), said(s);
    eddy_save(s, NULL, EDDY_LIST(v)), said(s);
    eddy_save(s, "f", (eddy_list){ -1, NULL }), said(s);
    eddy_restore(s, NULL, EDDY_LIST(v)), said(s);
    eddy_restore(s, "f", EDDY_LIST(v)), said(s);
    runs(t, eddy_initializer(h));
    ck_assert_int_eq(eddy_save(t, "f", EDDY_LIST(larger)), EDDY_OK);
    eddy_restore(s, "f", EDDY_LIST(v)), said(s);
    eddy_restore(s, "f", EDDY_LIST(eddy_variable(g, eddy_scalar(g, 1), .name = "w"))), said(s);
    eddy_session_free(t);
    eddy_graph_free(h);
}

START_TEST(of_variables)
{
    eddy_graph *h = eddy_graph_new();
    eddy_tensor v = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)), .name = "v");
    eddy_tensor w = eddy_variable(h, eddy_scalar(h, 1), .name = "stranger");
    golden_begin("session/session_variables");
    values(v, w);
    checkpoints(v);
    shape_changes();
    golden_end();
    eddy_graph_free(h);
}
END_TEST

/* ----------------------------------------------------------------- memory -- */

enum { MANY_FEEDS = 20 };

/* A session whose allocations fail, and a model with something for each stage
 * of compiling and running. */
typedef struct model {
    memory_files  files;
    eddy_graph   *graph;
    eddy_session *session;
    eddy_tensor   x[MANY_FEEDS], sum, fixed, start, init, folded, ordered;
    eddy_array   *value, *two, *three;
} model;

static void model_build(model *m, const eddy_allocator *a)
{
    memory_files_init(&m->files);
    eddy_graph *h = m->graph = eddy_graph_new(a, .files = &m->files.table);
    for (int i = 0; i < MANY_FEEDS; i++)
        m->x[i] = eddy_placeholder(h, NULL, EDDY_FLOAT32, EDDY_SCALAR);
    m->sum = eddy_add_n((eddy_list){ MANY_FEEDS, m->x }, NULL);
    m->fixed = eddy_variable(h, eddy_scalar(h, 1), .name = "fixed");
    m->start = eddy_placeholder(h, "start", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY));
    eddy_variable(h, m->start, .no_validate_shape = true, .name = "open");
    m->init = eddy_initializer(h);
    eddy_tensor ones = eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(4, 4, 4, 4, 4));
    m->folded = eddy_tile_grad(ones, eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(2, 2, 2, 2, 2)),
                               EDDY_DIMS(2, 2, 2, 2, 2));
    eddy_control_begin(h, EDDY_LIST(eddy_assign_add(m->fixed, m->sum)));
    m->ordered = Mul(eddy_read(m->fixed), eddy_random_uniform(h, EDDY_SHAPE(2)));
    eddy_control_end(h);
    fits(h);
    m->session = eddy_session_new(h);
    m->value = eddy_array_of(EDDY_FLOAT32, 1);
    m->two = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2));
    m->three = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(3));
}

static eddy_status model_run(model *m)
{
    eddy_feed   feed[MANY_FEEDS];
    eddy_status status;
    for (int i = 0; i < MANY_FEEDS; i++) feed[i] = (eddy_feed){ m->x[i], m->value };
    status = eddy_run(m->session, EDDY_FEED({ m->start, m->two }), EDDY_FETCH(m->init), NULL);
    if (status == EDDY_OK)
        status = eddy_run(m->session, EDDY_FEED({ m->start, m->three }),
                          EDDY_FETCH(m->init, m->folded), NULL);
    if (status == EDDY_OK)
        status = eddy_run(m->session, (eddy_feeds){ MANY_FEEDS, feed }, EDDY_FETCH(m->ordered),
                          NULL);
    return status;
}

static void model_free(model *m, eddy_error *e)
{
    e->status = eddy_session_status(m->session);
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(m->session));
    eddy_array_free(m->value);
    eddy_array_free(m->two);
    eddy_array_free(m->three);
    eddy_session_free(m->session);
    eddy_graph_free(m->graph);
    memory_files_free(&m->files);
}

/* Builds, and lets the call f->at from here on fail. */
static void model_begin(model *m, failing_allocator *f)
{
    const long at = f->at;
    f->at = 0;
    model_build(m, &f->table);
    f->at = f->calls + at;
}

static void run_without_memory(failing_allocator *f, eddy_error *e)
{
    model m;
    model_begin(&m, f);
    model_run(&m);
    model_free(&m, e);
}

static void call_without_memory(failing_allocator *f, eddy_error *e)
{
    model             m;
    const eddy_array *values_of_x[MANY_FEEDS];
    model_begin(&m, f);
    for (int i = 0; i < MANY_FEEDS; i++) values_of_x[i] = m.value;
    eddy_callable *c =
        eddy_callable_new(m.session, (eddy_list){ MANY_FEEDS, m.x }, EDDY_LIST(m.sum));
    if (c) eddy_callable_run(c, values_of_x, NULL);
    model_free(&m, e);
}

static void set_without_memory(failing_allocator *f, eddy_error *e)
{
    model m;
    model_begin(&m, f);
    eddy_variable_set(m.session, m.fixed, m.value);
    model_free(&m, e);
}

static void save_without_memory(failing_allocator *f, eddy_error *e)
{
    model      m;
    const long at = f->at;
    f->at = 0;
    model_build(&m, &f->table);
    ck_assert_int_eq(model_run(&m), EDDY_OK);
    f->at = f->calls + at;
    if (eddy_save(m.session, "f", EDDY_LIST()) == EDDY_OK)
        eddy_restore(m.session, "f", EDDY_LIST());
    model_free(&m, e);
}

/* Each node by itself: a sum of many, and an update that reads what it changes. */
static void look_without_memory(failing_allocator *f, eddy_error *e)
{
    enum { ROWS = 300 };
    const long  at = f->at;
    int32_t     first[ROWS] = { 0 };
    eddy_tensor many[ROWS];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(&f->table);
    eddy_tensor ones = eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(ROWS, 10));
    eddy_tensor v = eddy_variable(h, ones, .name = "v");
    eddy_tensor w = eddy_scatter_add(v, eddy_const(h, EDDY_INT32, EDDY_SHAPE(ROWS), first), v);
    for (int i = 0; i < ROWS; i++) many[i] = w;
    eddy_tensor   sum = eddy_add_n((eddy_list){ ROWS, many }, NULL);
    eddy_session *t = eddy_session_new(h);
    fits(h);
    f->at = f->calls + at;
    eddy_eval_in(t, sum);
    e->status = eddy_session_status(t);
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(t));
    eddy_session_free(t);
    eddy_graph_free(h);
}

/* A run that takes several stages. */
static void stage_without_memory(failing_allocator *f, eddy_error *e)
{
    const long  at = f->at;
    f->at = 0;
    eddy_graph   *h = eddy_graph_new(&f->table);
    eddy_tensor   x = eddy_placeholder(h, NULL, EDDY_FLOAT32, EDDY_SHAPE(2));
    eddy_tensor   places = eddy_nonzero(Sub(x, 1));
    eddy_session *t = eddy_session_new(h);
    eddy_array   *two = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2)), *out[1] = { NULL };
    fits(h);
    f->at = f->calls + at;
    eddy_run(t, EDDY_FEED({ x, two }), EDDY_FETCH(places), out);
    e->status = eddy_session_status(t);
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(t));
    eddy_array_free(two);
    eddy_array_free(out[0]);
    eddy_session_free(t);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("session/session_memory");
    golden_no_memory(run_without_memory);
    golden_no_memory(call_without_memory);
    golden_no_memory(set_without_memory);
    golden_no_memory(save_without_memory);
    golden_no_memory(look_without_memory);
    golden_no_memory(stage_without_memory);
    golden_end();
}
END_TEST

Suite *messages_session_suite(void)
{
    Suite *suite = suite_create("messages_session");
    TCase *c = tcase_create("messages_session");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_runs);
    tcase_add_test(c, of_operations);
    tcase_add_test(c, of_variables);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
