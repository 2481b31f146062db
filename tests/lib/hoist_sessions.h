/* hoist_sessions.h -- for tests of hoisting: one graph, a session that keeps values from run to run
 * and one that does not, and runs in both. */
#ifndef EDDY_TESTS_HOIST_SESSIONS_H
#define EDDY_TESTS_HOIST_SESSIONS_H

#include "session/state/internal.h"
#include "tests/lib/checks.h"
#include "tests/lib/files/memory_files.h"

#include <math.h>
#include <pthread.h>

enum { SIZE = 48, PASS = 13 };       /* PASS: the number of EDDY_PASS_HOIST */
_Static_assert(EDDY_PASS_HOIST == 1 << PASS, "the number of the pass");

static memory_files files;
static eddy_graph   *g;
static eddy_session *on, *off;      /* with the pass, and without */

static inline void setup(void)
{
    memory_files_init(&files);
    g = eddy_graph_new(.files = &files.table);
    on = eddy_session_new(g, .threads = 1, .profile = true);
    off = eddy_session_new(g, .threads = 1, .without = EDDY_PASS_HOIST);
}

static inline void teardown(void)
{
    eddy_session_free(on);
    eddy_session_free(off);
    eddy_graph_free(g);
    memory_files_free(&files);
}

/* ------------------------------------------------------------------- helpers -- */

/* Numbers between -1 and 1, others for each seed. */
static inline eddy_array *numbers(eddy_shape s, int seed)
{
    eddy_array *a = eddy_array_new(EDDY_FLOAT64, s);
    for (int64_t i = 0; i < eddy_array_count(a); i++)
        eddy_array_set(a, i, sin((double)(i * 7 + seed * 13 + 1)));
    return a;
}

static inline eddy_tensor constant(eddy_shape s, int seed)
{
    eddy_array       *a = numbers(s, seed);
    const eddy_tensor t = eddy_const(g, EDDY_FLOAT64, s, eddy_array_data(a));
    eddy_array_free(a);
    return t;
}

static inline eddy_tensor variable(eddy_shape s, int seed) { return eddy_variable(g, constant(s, seed)); }

static inline eddy_tensor square(int seed) { return variable(EDDY_SHAPE(SIZE, SIZE), seed); }

static inline eddy_tensor fed(void)
{
    return eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SHAPE(SIZE, SIZE));
}

static inline void check_session(const eddy_session *s)
{
    eddy_error e = { 0 };
    for (const eddy_plan *p = s->plans; p; p = p->next)
        ck_assert_msg(eddy__plan_check(p, &e), "%s", e.message);
}

/* In both sessions. */
static inline void do_run(eddy_tensor t)
{
    runs(on, t);
    runs(off, t);
}

static inline void begin(void)
{
    fits(g);
    do_run(eddy_initializer(g));
}

/* How many instructions the runs of a plan executed. */
static inline int64_t executed(const eddy_plan *p)
{
    int64_t calls = 0;
    for (int32_t i = 0; i < p->n_code; i++) calls += p->profile->each[i].calls;
    return calls;
}

/* Runs y in both sessions, fed a if it is not NULL, with the same result. */
static inline void same(eddy_tensor x, const eddy_array *a, eddy_tensor y)
{
    eddy_array      *want = NULL, *got = NULL;
    const eddy_feed  feed = { x, a };
    const eddy_feeds given = { a ? 1 : 0, &feed };
    ck_assert_msg(eddy_run(on, given, EDDY_LIST(y), &got) == EDDY_OK, "%s",
                  eddy_session_message(on));
    ck_assert_msg(eddy_run(off, given, EDDY_LIST(y), &want) == EDDY_OK, "%s",
                  eddy_session_message(off));
    ck_assert(eddy_array_equal(got, want));
    check_session(on);
    eddy_array_free(want);
    eddy_array_free(got);
}

static inline int hoisted(void) { return eddy_session_plan_info(on).changes[PASS]; }

/* The next run of y, fed a, runs the whole plan, or only the part after the hoisted front. */
static inline void takes(bool whole, eddy_tensor x, const eddy_array *a, eddy_tensor y)
{
    const eddy_plan *p = on->plans;
    const int64_t    before = executed(p);
    same(x, a, y);
    ck_assert_ptr_eq(p, on->plans);
    ck_assert_int_gt(p->n_invariant, 0);
    ck_assert_int_eq(executed(p) - before, whole ? p->n_code : p->n_code - p->n_invariant);
}

/* y = x (exp(v) c): the product of exp(v) and c is kept. */
typedef struct served {
    eddy_tensor x, v, y;
    eddy_array *a;
} served;

static inline served serve(void)
{
    served m = { .x = fed(), .v = square(1), .a = numbers(EDDY_SHAPE(SIZE, SIZE), 5) };
    m.y = MatMul(m.x, MatMul(Exp(m.v), constant(EDDY_SHAPE(SIZE, SIZE), 2)));
    return m;
}

static inline served ready(void)
{
    const served m = serve();
    begin();
    same(m.x, m.a, m.y);
    takes(false, m.x, m.a, m.y);
    return m;
}

static inline void add(Suite *s, const char *name, const TTest *test, int n)
{
    TCase *c = tcase_create(name);
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_loop_test(c, test, 0, n);
    suite_add_tcase(s, c);
}

#endif
