/* test_control_memory.c -- loops and branches when memory ends, at each allocation once: while
 * they are built, differentiated, compiled and run. The error says so, nothing leaks, and a
 * session that could not run runs when there is memory again. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/files/memory_files.h"

BODY(row_step, Tanh(Add(MatMul(x[1], c[0]), Mul(x[0], 0.5))), Square(x[0]))
BODY(squared, Square(Sin(x[0])))
BODY(below, Less(x[0], c[0]))
BODY(grow, Add(Mul(x[0], 1.25), 0.5))
BODY(itself, x[0])
BODY(sum, Sin(Add(x[0], x[1])))

static eddy_tensor first(int n, const eddy_tensor *y, eddy_tensor x)
{
    return n > 0 ? y[0] : eddy_none(x.graph);
}

static eddy_tensor scan(eddy_tensor x)
{
    eddy_tensor y[2], w = eddy_ones(x.graph, F64, EDDY_SHAPE(2, 2));
    eddy_tensor rows = eddy_reshape(x, EDDY_SHAPE(3, 1, 2));
    eddy_tensor h = eddy_ones(x.graph, F64, EDDY_SHAPE(1, 2));
    const eddy_function f = FUNCTION(row_step, w);
    return eddy_loop(f, EDDY_LIST(h), EDDY_LIST(rows), y) == 2 ? Add(Sum(y[0]), Sum(y[1]))
                                                               : eddy_none(x.graph);
}
static eddy_tensor map(eddy_tensor x)
{
    eddy_tensor y[1];
    return Sum(first(eddy_map_fn(PLAIN(squared), EDDY_LIST(x), y), y, x));
}
static eddy_tensor open(eddy_tensor x)
{
    eddy_tensor y[1], end = eddy_number(x.graph, F64, 1e9), start = eddy_index(x, "0, 0");
    return first(eddy_while_loop(FUNCTION(below, end), PLAIN(grow), EDDY_LIST(Square(start)), y), y,
                 x);
}
static int slope_of_open(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor end = eddy_number(in.at[0].graph, F64, 100);
    (void)context;
    if (eddy_while_loop(FUNCTION(below, end), PLAIN(grow), EDDY_LIST(in.at[0]), y) != 1) return 0;
    y[0] = eddy_gradient(Square(y[0]), in.at[0]);
    return 1;
}
static eddy_tensor mapped_slopes(eddy_tensor x)
{
    eddy_tensor y[1];
    eddy_tensor flat = eddy_reshape(x, EDDY_SHAPE(6));
    return Sum(first(eddy_vmap(PLAIN(slope_of_open), EDDY_LIST(flat), y), y, x));
}
static eddy_tensor segments(eddy_tensor x)
{
    eddy_tensor y[2] = { EDDY_ZERO_TENSOR }, rows = eddy_reshape(x, EDDY_SHAPE(6));
    eddy_tensor end = eddy_index(x, "1, 1");
    eddy_scan(PLAIN(sum), EDDY_LIST(rows), y, EDDY_LIST(end), .segment = 4, .reverse = true);
    return Sum(first(eddy_while_loop(FUNCTION(below, end), PLAIN(grow), EDDY_LIST(Sum(y[0])), y,
                                     .maximum_iterations = 9, .recompute = EDDY_RECOMPUTE_LOG),
                     y, x));
}
static int update(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor v = *(eddy_tensor *)context, z[1];
    eddy_scatter_add(v, eddy_const(v.graph, I32, EDDY_SHAPE(1), (int[]){ 1 }),
                     eddy_ones(v.graph, F64, EDDY_SHAPE(1, 2)));
    if (eddy_cond(Less(Sum(v), 100), PLAIN(itself), PLAIN(squared), z, EDDY_LIST(in.at[0])) != 1)
        return 0;
    y[0] = Add(z[0], Sum(v));
    return 1;
}
static eddy_tensor updates(eddy_tensor x)
{
    eddy_tensor y[1];
    eddy_tensor v = eddy_variable(x.graph, eddy_ones(x.graph, F64, EDDY_SHAPE(3, 2)));
    return first(eddy_iterate(3, FUNCTION(update, v), EDDY_LIST(eddy_index(x, "1, 1")), y), y, x);
}
static eddy_tensor (*const built[])(eddy_tensor x) = { scan,          map,      open,
                                                    mapped_slopes, segments, updates };
enum { MODELS = sizeof built / sizeof *built };

static void runs_later(eddy_session *s, failing_allocator *f, eddy_tensor y, eddy_feeds feeds)
{
    eddy_array *a = NULL;
    f->at = 0;
    ck_assert_msg(eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(y.graph)), NULL) ==
                  EDDY_OK &&
                  eddy_run(s, feeds, EDDY_FETCH(y), &a) == EDDY_OK,
                  "%s", eddy_session_message(s));
    eddy_array_free(a);
}

/* One attempt, in which allocation f->at fails. */
static void attempt(failing_allocator *f, int model)
{
    static const double v[6] = { 0.5, 1, 2, 3, 4, 5 };
    const long          at = f->at;
    f->at = 0;
    eddy_graph *g = eddy_graph_new(.allocator = &f->table);
    eddy_tensor x = eddy_placeholder(g, "x", F64, EDDY_SHAPE(3, 2));
    f->at = f->calls + at;
    eddy_tensor y = built[model](x);
    if (eddy_graph_status(g) == EDDY_OK) y = eddy_stack(EDDY_LIST(y, Sum(eddy_gradient(y, x))));
    if (eddy_graph_status(g) != EDDY_OK) {
        ck_assert_msg(eddy_graph_status(g) == EDDY_NO_MEMORY, "%ld: %s", at, eddy_graph_message(g));
        ck_assert_int_ge(f->calls, f->at);
    }
    const eddy_feed feed = { x, EDDY_VIEW(v, 3, 2) };
    eddy_session   *s = eddy_graph_status(g) == EDDY_OK ? eddy_session_new(g) : NULL;
    eddy_array     *a = NULL;
    if (s && eddy_run(s, EDDY_FEED(), EDDY_FETCH(eddy_initializer(g)), NULL) == EDDY_OK)
        eddy_run(s, ((eddy_feeds){ 1, &feed }), EDDY_FETCH(y), &a);
    if (s && !a) ck_assert_int_ge(f->calls, f->at);
    if (s && eddy_graph_status(g) == EDDY_OK) runs_later(s, f, y, (eddy_feeds){ 1, &feed });
    eddy_array_free(a);
    eddy_session_free(s);
    eddy_graph_free(g);
    f->at = at;
}

START_TEST(every_allocation)
{
    for (long at = 1;; at++) {
        failing_allocator f;
        failing_allocator_init(&f);
        f.at = at;
        const long before = f.calls;
        attempt(&f, _i);
        ck_assert_int_eq(f.live, 0);
        if (f.calls - before < at) break;
    }
}
END_TEST

Suite *control_memory_suite(void)
{
    Suite *s = suite_create("control_memory");
    TCase *c = tcase_create("memory");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, every_allocation, 0, MODELS);
    suite_add_tcase(s, c);
    return s;
}
