/* test_messages_attributes.c -- error messages of Loop and Case nodes with invalid attributes, as a
 * damaged file may have them. */
#include "build/gen/suites.h"
#include "control/internal.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"

static eddy_graph *g;
static eddy_tensor scalar, count, rows;

static void setup(void)
{
    g = eddy_graph_new();
    scalar = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR);
    count = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    rows = eddy_placeholder(g, "m", EDDY_FLOAT64, EDDY_SHAPE(3, 2));
}

static void teardown(void) { eddy_graph_free(g); }

/* A body of two float64 scalars after the iteration: their sum, and an assertion. */
static eddy_graph *body_of_two(void)
{
    eddy_graph     *b = eddy_graph_new();
    const eddy_type trip = { EDDY_INT64, EDDY_SCALAR }, number = { EDDY_FLOAT64, EDDY_SCALAR };
    eddy__argument(b, trip);
    const eddy_tensor u = eddy__argument(b, number), w = eddy__argument(b, number);
    Add(u, w);
    eddy_assert(Less(u, w), EDDY_LIST(u));
    return b;
}

/* A Loop of two scalars whose body returns outs; the node owns the body. */
static void loop_of(eddy_loop_attrs a, int64_t n, const int64_t *outs, eddy_list in)
{
    a.body = body_of_two();
    a.outs = (eddy_ints){ n, outs };
    eddy_apply(&eddy_op_loop, &a, in.count, in.at, (eddy_apply_args){ .graph = g });
    golden_graph(g);
}
static void case_of(eddy_case_attrs a, eddy_list in)
{
    a.body = body_of_two();
    eddy_apply(&eddy_op_case, &a, in.count, in.at, (eddy_apply_args){ .graph = g });
    golden_graph(g);
}
#define OUTS(...) sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[]){ __VA_ARGS__ }

/* Invalid loops in a file. */
static void loop_attributes(void)
{
    const eddy_loop_attrs two = { .n_carried = 2, .trips = 3 };
    const eddy_list       in = EDDY_LIST(scalar, scalar);
    eddy_loop_attrs       a = two;
    a.n_carried = -1, loop_of(a, OUTS(4, 0, 2, 0), in);
    a.n_carried = 3, loop_of(a, OUTS(4, 0, 2, 0, 2, 0), in);
    a = two, a.n_stacked = 65536, loop_of(a, OUTS(4, 0, 2, 0), in);
    a = two, a.trips = -1, loop_of(a, OUTS(4, 0, 2, 0), in);
    a = two, a.counted = true, loop_of(a, OUTS(4, 0, 2, 0), EDDY_LIST(scalar, scalar, scalar));
    loop_of(two, OUTS(4, 0, 2, 0), EDDY_LIST(scalar, scalar, scalar, scalar));
    loop_of(two, OUTS(4, 0), in);
    loop_of(two, OUTS(4, 0, 2), in);
    loop_of(two, OUTS(4, 0, 99, 0), in);
    loop_of(two, OUTS(4, 0, 2, 1), in);
    loop_of(two, OUTS(4, 0, 6, 0), in);
    loop_of(two, OUTS(4, 0, 5, 0), in);
    loop_of(two, OUTS(4, 0, 1, 0), in);
    a = two, a.open = true, loop_of(a, OUTS(4, 0, 2, 0), in);
    a = two, a.conditional = true, loop_of(a, OUTS(4, 0, 4, 0, 2, 0), in);
    a = two, a.n_carried = 1, a.n_sliced = 1, loop_of(a, OUTS(4, 0), in);
    a = two, a.n_carried = 1, a.n_sliced = 1, loop_of(a, OUTS(4, 0), EDDY_LIST(scalar, rows));
    eddy_apply(&eddy_op_loop, &two, 2, in.at, (eddy_apply_args){ .graph = g }), golden_graph(g);
}

static void case_attributes(void)
{
    /* the first argument of the body is an int64 scalar */
    const eddy_list       in = EDDY_LIST(count, eddy_number(g, EDDY_INT64, 1), scalar, scalar);
    const eddy_case_attrs one = { .n_branches = 1, .n_out = 1, .outs = { OUTS(4, 0) } };
    eddy_case_attrs       a = one;
    a.n_branches = 0, case_of(a, in);
    a = one, a.n_branches = 2, a.outs = (eddy_ints){ OUTS(4, 0, 1, 0) }, case_of(a, in);
    a = one, a.effects = (eddy_ints){ OUTS(0) }, case_of(a, in);
    a = one, a.effects = (eddy_ints){ OUTS(1, 6) }, case_of(a, in);
    case_of(one, EDDY_LIST(scalar, scalar, scalar, scalar));
    case_of(one, EDDY_LIST(count, scalar, scalar, scalar));
}

START_TEST(of_attributes)
{
    golden_begin("control/attributes");
    loop_attributes();
    case_attributes();
    golden_end();
}
END_TEST

Suite *messages_attributes_suite(void)
{
    Suite *s = suite_create("messages_attributes");
    TCase *c = tcase_create("attributes");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_attributes);
    suite_add_tcase(s, c);
    return s;
}
