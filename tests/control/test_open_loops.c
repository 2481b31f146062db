/* test_open_loops.c -- gradients of while loops that nothing but their condition limits: what they
 * need of each iteration is kept in memory that grows in the run. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "graph/internal.h"
#include "tests/lib/finite_differences.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

BODY(below, Less(x[0], c[0]))
BODY(fewer, Less(x[0], c[0]))
BODY(always, eddy_number(x[0].graph, EDDY_BOOL, 1))
BODY(square, Square(x[0]))
BODY(times_captured, Mul(x[0], c[0]))
BODY(add_one, Add(x[0], 1))
BODY(count_and_multiply, Add(x[0], 1), Mul(x[1], c[0]))
BODY(count_and_sine, Add(x[0], 1), Sin(Mul(x[1], c[0])))
BODY(halve_error, Sub(x[0], Div(Sub(Square(x[0]), x[1]), Mul(x[0], 2))), x[1])
BODY(inexact, Greater(Abs(Sub(Square(x[0]), x[1])), 1e-10))

static eddy_tensor one(eddy_function cond, eddy_function body, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS];
    ck_assert_msg(eddy_while_loop(cond, body, EDDY_LIST(x), y) == 1, "%s",
                  eddy_graph_message(x.graph));
    return y[0];
}

/* The second variable of a loop of n iterations. */
static eddy_tensor counted(eddy_function body, eddy_tensor n, eddy_tensor x)
{
    eddy_tensor y[EDDY_MAX_RESULTS], zero = eddy_number(x.graph, eddy_dtype_of(n), 0);
    ck_assert_msg(eddy_while_loop(FUNCTION(fewer, n), body, EDDY_LIST(zero, x), y) == 2, "%s",
                  eddy_graph_message(x.graph));
    return y[1];
}

/* ---------------------------------------------------------------- gradients -- */

/* 2 squared until it is 100 or more: x^8. */
START_TEST(squares)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2), y = one(FUNCTION(below, constant(&t, 100)), PLAIN(square), x);
    eddy_tensor d1 = slope(y, x), d2 = slope(d1, x), d3 = slope(d2, x);
    is(&t, y, V(256)), is(&t, d1, V(1024)), is(&t, d2, V(56 * 64)), is(&t, d3, V(336 * 32));
    refeed(&t, x, 5);                                                   /* x^4 */
    is(&t, y, V(625)), is(&t, d1, V(500)), is(&t, d2, V(300)), is(&t, d3, V(120));
    refeed(&t, x, 101);
    is(&t, y, V(101)), is(&t, d1, V(1)), is(&t, d2, V(0)), is(&t, d3, V(0));
    refeed(&t, x, 2);
    is(&t, d3, V(336 * 32)), is(&t, Add(d1, d3), V(1024 + 336 * 32));
    trial_end(&t);
}
END_TEST

START_TEST(captured_factor)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor a = fed_real(&t, 3), x = fed_real(&t, 2), d[2];
    eddy_tensor y = one(FUNCTION(below, constant(&t, 100)), FUNCTION(times_captured, a), x);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(a, x), d);
    is(&t, d[0], V(216)), is(&t, d[1], V(81)), is(&t, slope(d[0], a), V(216));
    is(&t, slope(d[0], x), V(108)), is(&t, slope(slope(d[0], a), a), V(144));
    trial_end(&t);
}
END_TEST

START_TEST(newtons_method)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2), y[2];
    eddy_while_loop(PLAIN(inexact), PLAIN(halve_error), EDDY_LIST(constant(&t, 1), x), y);
    eddy_tensor dx = slope(y[0], x);
    for (double at = 2; at < 1e5; at *= 5) {
        refeed(&t, x, at);
        ck_assert_double_le(fabs(scalar_value(&t, y[0]) - sqrt(at)), 1e-9);
        ck_assert_double_le(fabs(scalar_value(&t, dx) - 0.5 / sqrt(at)), 1e-6);
    }
    trial_end(&t);
}
END_TEST

/* The memory grows, stays for shorter runs, and grows again. */
START_TEST(lengths)
{
    trial            t = trial_begin((unsigned)_i);
    static const int ends[] = { 0, 1, 63, 64, 65, 2, 1000, 7, 0, 128, 129, 5000, 3 };
    eddy_tensor      n = integer(&t, 0), a = fed_real(&t, 0.999), x = fed_real(&t, 2);
    eddy_tensor      y = counted(FUNCTION(count_and_multiply, a), n, x), da = slope(y, a);
    eddy_tensor      dda = slope(da, a);
    for (int i = 0; i < 13; i++) {
        const double k = ends[i];
        refeed(&t, n, k);
        eddy_array *out[2] = { value(&t, da), value(&t, dda) };
        const double want[2] = { 2 * k * pow(0.999, k - 1), 2 * k * (k - 1) * pow(0.999, k - 2) };
        for (int j = 0; j < 2; j++) {
            ck_assert_double_le(fabs(eddy_array_item(out[j]) - want[j]), 1e-9 * (1 + want[j]));
            eddy_array_free(out[j]);
        }
    }
    trial_end(&t);
}
END_TEST

/* Vectors of 100 000 elements: what a short run hardly uses is given back. */
START_TEST(large_rows)
{
    eddy_graph *g = eddy_graph_new();
    trial       t = { .graph = g, .session = eddy_session_new(g) };
    eddy_tensor n = integer(&t, 0), x = eddy_ones(g, F64, EDDY_SHAPE(100000));
    eddy_tensor y = counted(FUNCTION(count_and_sine, x), n, x), d = slope(y, x);
    for (int i = 0; i < 4; i++) {
        const int k = i % 2 ? 2 : 300;
        double    v = 1, dv = 1;
        for (int j = 0; j < k; j++) dv = cos(v) * dv, v = sin(v);
        refeed(&t, n, k);
        eddy_array *a = value(&t, d);
        /* d/dx of x_k, where each step also has x as a factor */
        double w = 1, dw = 1;
        for (int j = 0; j < k; j++) dw = cos(w) * (dw + w), w = sin(w);
        ck_assert_double_le(fabs(eddy_array_get(a, 99999) - dw), 1e-9);
        eddy_array_free(a);
    }
    trial_end(&t);
}
END_TEST

START_TEST(a_million_iterations)
{
    eddy_graph *g = eddy_graph_new();
    trial       t = { .graph = g, .session = eddy_session_new(g) };
    eddy_tensor n = integer(&t, 1000000), x = fed_real(&t, 2), a = fed_real(&t, 0.999999);
    eddy_tensor y = counted(FUNCTION(count_and_multiply, a), n, x);
    eddy_tensor da = slope(y, a);
    const double want = 2 * 1e6 * pow(0.999999, 1e6 - 1);
    ck_assert_double_le(fabs(scalar_value(&t, da) - want), 1e-6 * want);
    trial_end(&t);
}
END_TEST

/* Without a gradient, a loop keeps nothing of an iteration. */
START_TEST(ten_million_iterations)
{
    eddy_graph *g = eddy_graph_new();
    trial       t = { .graph = g, .session = eddy_session_new(g) };
    eddy_tensor n = integer(&t, 10000000);
    eddy_tensor y = one(FUNCTION(fewer, n), PLAIN(add_one), eddy_number(g, I32, 0));
    ck_assert_double_eq(scalar_value(&t, y), 1e7);
    const eddy_memory_info m = eddy_session_memory_info(t.session);
    ck_assert_uint_le(m.run_bytes + m.value_bytes, 16384);
    trial_end(&t);
}
END_TEST

START_TEST(eager)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor n = eddy_number(g, I32, 70), a = eddy_number(g, F64, 0.75);
    eddy_tensor y = counted(FUNCTION(count_and_multiply, a), n, a), d = slope(y, a);
    eddy_tensor dd = slope(d, a);
    const eddy_array *v = eddy_eval(d);
    ck_assert_ptr_nonnull(v);
    ck_assert_double_le(fabs(eddy_array_item(v) / (71 * pow(0.75, 70)) - 1), 1e-12);
    v = eddy_eval(dd);
    ck_assert_ptr_nonnull(v);
    ck_assert_double_le(fabs(eddy_array_item(v) / (71 * 70 * pow(0.75, 69)) - 1), 1e-12);
    eddy_graph_free(g);
}
END_TEST

/* The stack itself: its length is that of the run. Only loops may compute with it. */
START_TEST(fetched_stacks)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 5), a = fed_real(&t, 0.5), x = numbers(&t, V(1, 2, 3));
    eddy_tensor y = counted(FUNCTION(count_and_multiply, a), n, x), stack = { 0 };
    slope(y, a);
    for (int32_t id = 1; id <= t.graph->size; id++) {
        const eddy_node *node = t.graph->nodes[id];
        if (strcmp(node->op->name, "Loop") == 0 && node->n_outputs > 3)
            stack = eddy__tensor_at(t.graph, id, 2);
    }
    ck_assert(eddy_is_valid(stack));
    is_shaped(&t, stack, EDDY_SHAPE(5, 3));
    is(&t, stack, V(1, 2, 3, .5, 1, 1.5, .25, .5, .75, .125, .25, .375, .0625, .125, .1875));
    refeed(&t, n, 2);
    is(&t, stack, V(1, 2, 3, .5, 1, 1.5));
    refeed(&t, n, 0);
    is_shaped(&t, stack, EDDY_SHAPE(0, 3));
    check_run_fails(&t, Neg(stack), EDDY_UNIMPLEMENTED, "Neg cannot read the stack");
    check_run_fails(&t, Sum(Identity(stack)), EDDY_UNIMPLEMENTED, "cannot read the stack");
    trial_end(&t);
}
END_TEST

/* ----------------------------------------------------------- end of memory -- */

START_TEST(limit_of_the_session)
{
    eddy_graph *g = eddy_graph_new();
    trial       t = { .graph = g, .session = eddy_session_new(g, .max_bytes = 1 << 20) };
    eddy_tensor n = integer(&t, 1000), a = fed_real(&t, 0.999), x = fed_real(&t, 2);
    eddy_tensor d = slope(counted(FUNCTION(count_and_multiply, a), n, x), a);
    eddy_tensor forever = slope(one(PLAIN(always), FUNCTION(times_captured, a), x), a);
    const double want = 2 * 1000 * pow(0.999, 999);
    for (int i = 0; i < 2; i++) {
        check_run_fails(&t, forever, EDDY_LIMIT, "max_bytes of the session is 1048576");
        ck_assert_double_le(fabs(scalar_value(&t, d) - want), 1e-9 * want);
        refeed(&t, n, 1e6);
        check_run_fails(&t, d, EDDY_LIMIT, "max_bytes of the session is 1048576");
        refeed(&t, n, 1000);
    }
    trial_end(&t);
}
END_TEST

/* An allocator that has no large blocks. */
static void *allocate_little(void *context, size_t bytes)
{
    return bytes > *(size_t *)context ? NULL : malloc(bytes);
}
static void release(void *context, void *p, size_t bytes)
{
    (void)context, (void)bytes;
    free(p);
}

START_TEST(no_memory)
{
    size_t               most = 1 << 20;
    const eddy_allocator little = { .allocate = allocate_little, .release = release,
                                    .context = &most };
    eddy_graph *g = eddy_graph_new(.allocator = &little);
    trial       t = { .graph = g, .session = eddy_session_new(g) };
    eddy_tensor n = integer(&t, 0), a = fed_real(&t, 0.999), x = fed_real(&t, 2);
    eddy_tensor d = slope(counted(FUNCTION(count_and_multiply, a), n, x), a);
    refeed(&t, n, 1e6);
    check_run_fails(&t, d, EDDY_NO_MEMORY, "the values that the gradient keeps of");
    check_run_fails(&t, d, EDDY_NO_MEMORY, "stacks of 'while/loop'");
    refeed(&t, n, 10);
    is(&t, d, V(2 * 10 * pow(0.999, 9)));
    most = SIZE_MAX;
    refeed(&t, n, 1e6);
    ck_assert_double_le(scalar_value(&t, d), 1e-9);
    trial_end(&t);
}
END_TEST

/* ------------------------------------------------------------------ an end -- */

static atomic_bool begun;

static void note_begin(void *user, const char *line)
{
    (void)user, (void)line;
    atomic_store(&begun, true);
}
BODY(noted_square, Square(eddy_print(x[0], .write = note_begin)))

static void *close_when_begun(void *session)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    while (!atomic_load(&begun)) nanosleep(&moment, NULL);
    eddy_session_close(session);
    return NULL;
}

static int forever_inside(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_iterate(INT64_MAX, PLAIN(noted_square), in, y);
}

/* A loop that would not end ends when another thread closes the session. */
START_TEST(closed_sessions)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_number(g, F64, 1), y[3], rows = eddy_ones(g, F64, EDDY_SHAPE(3));
    ck_assert_int_eq(eddy_iterate(INT64_MAX, PLAIN(noted_square), EDDY_LIST(x), &y[0]), 1);
    const int loops = eddy_while_loop(PLAIN(always), PLAIN(noted_square), EDDY_LIST(x), &y[1]);
    ck_assert_int_eq(loops, 1);
    ck_assert_int_eq(eddy_map_fn(PLAIN(forever_inside), EDDY_LIST(rows), &y[2]), 1);
    for (int i = 0; i < 3; i++) {
        eddy_session *s = eddy_session_new(g);
        eddy_array   *a = NULL;
        pthread_t     thread;
        atomic_store(&begun, false);
        ck_assert_int_eq(pthread_create(&thread, NULL, close_when_begun, s), 0);
        ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y[i]), &a), EDDY_CANCELLED);
        ck_assert_ptr_null(a);
        ck_assert_ptr_nonnull(strstr(eddy_session_message(s), "closed during the run [iteration"));
        pthread_join(thread, NULL);
        eddy_session_free(s);
    }
    eddy_graph_free(g);
}
END_TEST

Suite *open_loops_suite(void)
{
    Suite *s = suite_create("open_loops");
    TCase *c = tcase_create("gradients");
    tcase_add_loop_test(c, squares, 0, SEEDS);
    tcase_add_loop_test(c, captured_factor, 0, SEEDS);
    tcase_add_loop_test(c, newtons_method, 0, SEEDS);
    tcase_add_loop_test(c, lengths, 0, SEEDS);
    tcase_add_test(c, eager);
    tcase_add_loop_test(c, fetched_stacks, 0, SEEDS);
    suite_add_tcase(s, c);
    c = tcase_create("long");
    tcase_set_tags(c, "slow");
    tcase_add_test(c, large_rows);
    tcase_add_test(c, a_million_iterations);
    tcase_add_test(c, ten_million_iterations);
    suite_add_tcase(s, c);
    c = tcase_create("memory");
    tcase_add_test(c, limit_of_the_session);
    tcase_add_test(c, no_memory);
    tcase_add_test(c, closed_sessions);
    suite_add_tcase(s, c);
    return s;
}
