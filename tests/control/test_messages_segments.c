/* test_messages_segments.c -- error messages of loops in segments: while building, and in a run,
 * where they name the iteration as if there were no segments. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"

static eddy_graph *g;
static eddy_tensor scalar, count, rows, unknown, out[EDDY_MAX_RESULTS];

static void setup(void)
{
    g = eddy_graph_new();
    scalar = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR);
    count = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    rows = eddy_placeholder(g, "rows", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    unknown = eddy_placeholder(g, "unknown", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
}
static void teardown(void) { eddy_graph_free(g); }

BODY(same, x[0])
BODY(pair, x[0], x[0])
BODY(less, Less(x[0], 10))
BODY(sum, Add(x[0], x[1]))
BODY(narrowed, Cast(x[0], EDDY_FLOAT32))

static int as_many(eddy_list in, eddy_tensor *y, void *context)
{
    const int n = *(const int *)context;
    for (int k = 0; k < n; k++) y[k] = in.at[k];
    return n;
}

/* Stacks of carried values of a rank, and rows of it. */
static void ranks(int rank)
{
    const eddy_shape  s = { .rank = rank, .dim = { 4, 1, 1, 1, 1, 1, 1, 1 } };
    const eddy_tensor x = eddy_zeros(g, EDDY_FLOAT64, s);
    const eddy_tensor n = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(4));
    eddy_scan(PLAIN(same), EDDY_LIST(n), out, EDDY_LIST(x), .segment = 2), golden_graph(g);
    eddy_foldl(PLAIN(same), EDDY_LIST(x), out, EDDY_LIST(scalar), .segment = 2);
    if (rank == 8) golden_graph(g);
    else ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
}

/* Options, and what segments add to the arguments and results of a body. */
static void calls(void)
{
    const eddy_function f = PLAIN(same), less_than = PLAIN(less);
    const eddy_list     in = EDDY_LIST(scalar);
    eddy_tensor         many[EDDY_MAX_RESULTS];
    int                 n = EDDY_MAX_RESULTS;
    const eddy_function all = { .build = as_many, .context = &n };
    for (int i = 0; i < n; i++) many[i] = scalar;
    eddy_iterate(9, f, in, out, .recompute = (eddy_recompute)3), golden_graph(g);
    eddy_while_loop(less_than, f, in, out, .recompute = (eddy_recompute)-1), golden_graph(g);
    eddy_scan(PLAIN(sum), EDDY_LIST(unknown), out, in, .segment = -1), golden_graph(g);
    eddy_scan(PLAIN(sum), EDDY_LIST(unknown), out, in, .segment = ((int64_t)1 << 31) + 1);
    golden_graph(g);
    eddy_iterate(9, f, in, out, .recompute = EDDY_RECOMPUTE_LOG, .segment = 3), golden_graph(g);
    eddy_while_loop(less_than, all, ((eddy_list){ n, many }), out, .segment = 3), golden_graph(g);
    n = EDDY_MAX_RESULTS - 2;
    eddy_scan(all, ((eddy_list){ 1, &rows }), out, ((eddy_list){ n, many }), .segment = 3);
    golden_graph(g);
    eddy_map_fn(f, in, out, .segment = 2), golden_graph(g);
    ranks(7), ranks(8);
    eddy_iterate(9, PLAIN(pair), in, out, .segment = 2), golden_graph(g);
    eddy_iterate(9, PLAIN(narrowed), in, out, .segment = 2), golden_graph(g);
}

START_TEST(of_calls)
{
    golden_begin("control/segments");
    calls();
    golden_end();
    ck_assert_int_eq(eddy_iterate(9, PLAIN(same), EDDY_LIST(scalar), out, .segment = 2), 1);
}
END_TEST

/* -------------------------------------------------------------------- runs -- */

BODY(always, eddy_number(x[0].graph, EDDY_BOOL, 1))
BODY(divide, Sub(x[0], 1), FloorDiv(x[1], x[0]))
BODY(checked, Greater(FloorDiv(x[1], x[0]), 0))
BODY(count_down, Sub(x[0], 1), x[1])
BODY(divide_by_row, FloorDiv(x[0], x[1]))

static void run_says(eddy_tensor y, eddy_feeds feeds)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    for (int i = 0; i < 2; i++) {               /* the second run counts from 0 again */
        ck_assert_int_ne(eddy_run(s, feeds, EDDY_FETCH(y), &a), EDDY_OK);
        ck_assert_ptr_null(a);
        golden_line(eddy_session_message(s));
    }
    eddy_session_free(s);
}

/* Divisions by zero in iteration 6, and in row 6 of 9 and of 100. */
static void divisions(int64_t segment, eddy_recompute scheme)
{
    static int32_t    ones[100];
    const eddy_tensor big = eddy_number(g, EDDY_INT32, 1 << 30);
    const eddy_feed   six = { count, EDDY_NUMBER(EDDY_INT32, 6) };
    for (int i = 0; i < 100; i++) ones[i] = i != 6;
    const eddy_feed few = { rows, EDDY_VIEW(ones, 9) }, many = { rows, EDDY_VIEW(ones, 100) };
    eddy_while_loop(PLAIN(always), PLAIN(divide), EDDY_LIST(count, big), out, .segment = segment,
                    .recompute = scheme, .name = "dividing");
    run_says(out[1], EDDY_FEED(six));
    eddy_while_loop(PLAIN(checked), PLAIN(count_down), EDDY_LIST(count, big), out,
                    .maximum_iterations = 100, .segment = segment, .recompute = scheme,
                    .name = "checked");
    run_says(out[0], EDDY_FEED(six));
    eddy_foldl(PLAIN(divide_by_row), EDDY_LIST(rows), out, EDDY_LIST(big), .segment = segment,
               .recompute = scheme, .name = "forward");
    run_says(out[0], EDDY_FEED(few));
    eddy_scan(PLAIN(divide_by_row), EDDY_LIST(rows), out, EDDY_LIST(big), .segment = segment,
              .reverse = true, .recompute = scheme, .name = "backward");
    run_says(out[0], EDDY_FEED(few));
    run_says(out[0], EDDY_FEED(many));
}

/* Tensors of different lengths and equally many segments, where only a run knows the lengths. */
static void lengths(void)
{
    const eddy_tensor more = eddy_placeholder(g, "more", EDDY_INT32, EDDY_SHAPE(EDDY_ANY));
    const eddy_tensor eight = eddy_zeros(g, EDDY_INT32, EDDY_SHAPE(8));
    eddy_map_fn(PLAIN(sum), EDDY_LIST(rows, more), out, .segment = 4);
    run_says(out[0], EDDY_FEED({ rows, EDDY_INTS(1, 2, 3) }, { more, EDDY_INTS(1, 2) }));
    eddy_map_fn(PLAIN(sum), EDDY_LIST(eight, more), out, .segment = 4);
    run_says(out[0], EDDY_FEED({ more, EDDY_INTS(1, 2, 3, 4, 5, 6, 7) }));
}

START_TEST(of_runs)
{
    golden_begin("control/segment_runs");
    divisions(4, EDDY_RECOMPUTE_NONE);
    divisions(1, EDDY_RECOMPUTE_NONE);
    divisions(0, EDDY_RECOMPUTE_LOG);
    lengths();
    golden_end();
}
END_TEST

Suite *messages_segments_suite(void)
{
    Suite *s = suite_create("messages_segments");
    TCase *c = tcase_create("messages");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_calls);
    tcase_add_test(c, of_runs);
    suite_add_tcase(s, c);
    return s;
}
