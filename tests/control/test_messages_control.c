/* test_messages_control.c -- error messages of loops and branches: while building, in a run,
 * without memory. test_messages_attributes.c has those of files. */
#include "build/gen/suites.h"
#include "control/internal.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"

#include <stdlib.h>

static eddy_graph *g, *other;
static eddy_tensor scalar, var, count, pred, rows, unknown, none, foreign, out[EDDY_MAX_RESULTS];

static void setup(void)
{
    g = eddy_graph_new();
    other = eddy_graph_new();
    scalar = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR);
    count = eddy_placeholder(g, "n", EDDY_INT32, EDDY_SCALAR);
    pred = eddy_placeholder(g, "p", EDDY_BOOL, EDDY_SCALAR);
    rows = eddy_placeholder(g, "m", EDDY_FLOAT64, EDDY_SHAPE(3, 2));
    unknown = eddy_placeholder(g, "unknown", EDDY_FLOAT64, EDDY_UNKNOWN_SHAPE);
    var = eddy_variable(g, eddy_number(g, EDDY_FLOAT64, 1), .name = "v");
    foreign = eddy_placeholder(other, "foreign", EDDY_FLOAT64, EDDY_SCALAR);
    none = eddy_none(g);
}

static void teardown(void)
{
    eddy_graph_free(g);
    eddy_graph_free(other);
}

/* -------------------------------------------------------------- good and bad -- */

static int some(eddy_list in, eddy_tensor *y, void *context)
{
    for (int i = 0; i < EDDY_MAX_RESULTS; i++) y[i] = in.count ? in.at[0] : scalar;
    return *(int *)context;
}
static eddy_function returning(int *n)
{
    return (eddy_function){ .build = some, .context = n, .name = "f" };
}

#undef x        /* BODY calls its arguments scalar; there is no macro of this name */
BODY(same, x[0])
BODY(pair, x[0], x[0])
BODY(narrowed, Cast(x[0], EDDY_FLOAT32))
BODY(widened, eddy_stack(EDDY_LIST(x[0], x[0])))
BODY(less, Less(x[0], 10))
BODY(number_less, x[0])
BODY(vector_less, eddy_stack(EDDY_LIST(Less(x[0], 1), Less(x[0], 1))))
BODY(two_less, Less(x[0], 1), Less(x[0], 1))
BODY(of_another_graph, c[0])
BODY(no_tensor, (eddy_tensor){ x[0].graph, 0, 0 })
BODY(asking, Cast(eddy_is_initialized(c[0]), EDDY_FLOAT64))
BODY(assigning_less, Less(eddy_assign_add(c[0], x[0]), 10))
BODY(product_of_odd_ones, eddy_matmul(x[0], x[0]))
BODY(add, Add(x[0], x[1]))
BODY(grown, eddy_reshape(x[0], EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1)))
BODY(square, Square(x[0]))
BODY(sum_less, Less(Sum(x[0]), 100))

static void branches(void)
{
    eddy_function f = PLAIN(same), missing = { .name = "missing" }, fs[2] = { f, PLAIN(pair) };
    const eddy_function nameless = { 0 };
    eddy_list     in = EDDY_LIST(scalar);
    eddy_cond(scalar, f, f, out, in), golden_graph(g);
    eddy_cond(eddy_stack(EDDY_LIST(pred, pred)), f, f, out, in), golden_graph(g);
    eddy_cond(none, f, f, out, in), golden_graph(g);
    eddy_cond(pred, f, f, NULL, in), golden_graph(g);
    eddy_cond(pred, f, missing, out, in), golden_graph(g);
    eddy_cond(pred, nameless, f, out, in), golden_graph(g);
    eddy_cond(pred, f, nameless, out, in), golden_graph(g);
    eddy_switch_case(count, (eddy_function[]){ f, nameless }, 2, out, in), golden_graph(g);
    eddy_cond(pred, f, PLAIN(pair), out, in), golden_graph(g);
    eddy_cond(pred, f, PLAIN(narrowed), out, in), golden_graph(g);
    eddy_cond(pred, f, returning(&(int){ 0 }), out, in), golden_graph(g);
    eddy_cond(pred, f, returning(&(int){ 65 }), out, in), golden_graph(g);
    eddy_cond(pred, f, PLAIN(no_tensor), out, in), golden_graph(g);
    eddy_cond(pred, f, FUNCTION(of_another_graph, foreign), out, in), golden_graph(g);
    eddy_cond(pred, f, f, out, EDDY_LIST(foreign)), golden_graph(g);
    eddy_cond(pred, f, FUNCTION(asking, var), out, in), golden_graph(g);
    eddy_cond(pred, f, PLAIN(product_of_odd_ones), out, in), golden_graph(g);
    eddy_switch_case(count, fs, 0, out, in), golden_graph(g);
    eddy_switch_case(count, NULL, 2, out, in), golden_graph(g);
    eddy_switch_case(count, fs, 2, out, in), golden_graph(g);
    eddy_switch_case(scalar, fs, 1, out, in), golden_graph(g);
    eddy_switch_case(none, fs, 1, out, in), golden_graph(g);
    eddy_case(&pred, NULL, 1, out, .x = in), golden_graph(g);
    eddy_case(&scalar, fs, 1, out, .x = in), golden_graph(g);
}

static void loops(void)
{
    const eddy_function f = PLAIN(same), missing = { .name = "missing" };
    const eddy_function nameless = { 0 };
    const eddy_list     in = EDDY_LIST(scalar), nothing = EDDY_LIST();
    eddy_while_loop(PLAIN(less), f, in, NULL), golden_graph(g);
    eddy_while_loop(PLAIN(less), missing, in, out), golden_graph(g);
    eddy_while_loop(missing, f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), nameless, in, out), golden_graph(g);
    eddy_while_loop(nameless, f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(number_less), f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(vector_less), f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(two_less), f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), PLAIN(pair), in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), PLAIN(narrowed), in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), PLAIN(widened), in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), FUNCTION(of_another_graph, foreign), in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), FUNCTION(asking, var), in, out), golden_graph(g);
    eddy_while_loop(FUNCTION(assigning_less, var), f, in, out), golden_graph(g);
    eddy_while_loop(PLAIN(less), f, in, out, .maximum_iterations = -2), golden_graph(g);
    eddy_while_loop(PLAIN(less), f, EDDY_LIST(scalar, foreign), out), golden_graph(g);
    eddy_while_loop(PLAIN(sum_less), f, EDDY_LIST(rows), out, &EDDY_SHAPE(4, 2)), golden_graph(g);
    eddy_iterate(-3, f, in, out), golden_graph(g);
    eddy_iterate(3, PLAIN(pair), in, out), golden_graph(g);
    eddy_loop(f, in, EDDY_LIST(scalar), out), golden_graph(g);
    eddy_loop(f, in, EDDY_LIST(rows, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(4))), out),
        golden_graph(g);
    eddy_loop(f, in, nothing, out, -1), golden_graph(g);
    eddy_loop(f, in, EDDY_LIST(rows), out, .iterations = rows), golden_graph(g);
    eddy_loop(f, in, EDDY_LIST(rows), out, .iterations = foreign), golden_graph(g);
    fits(other);
    eddy_loop(PLAIN(add), EDDY_LIST(scalar, scalar), nothing, out, 3), golden_graph(g);
}

static void folds(void)
{
    const eddy_function f = PLAIN(add);
    const eddy_list     in = EDDY_LIST(scalar);
    eddy_tensor         many[EDDY_MAX_RESULTS + 1];
    for (int i = 0; i <= EDDY_MAX_RESULTS; i++) many[i] = rows;
    const eddy_list too_many = { EDDY_MAX_RESULTS + 1, many };
    eddy_scan(f, in, out), golden_graph(g);
    eddy_scan(f, EDDY_LIST(unknown), out), golden_graph(g);
    eddy_scan(f, EDDY_LIST(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0, 2))), out), golden_graph(g);
    eddy_foldl(f, too_many, out), golden_graph(g);
    eddy_foldl(f, too_many, out, in), golden_graph(g);
    eddy_foldr(PLAIN(pair), EDDY_LIST(rows), out, in), golden_graph(g);
    eddy_map_fn(f, in, out), golden_graph(g);
    eddy_map_fn(PLAIN(same), EDDY_LIST(foreign, scalar), out), golden_graph(other);
    eddy_map_fn(PLAIN(same), EDDY_LIST(none), out), golden_graph(g);
    eddy_map_fn(PLAIN(grown), EDDY_LIST(rows), out), golden_graph(g);
    eddy_map_fn(PLAIN(grown), EDDY_LIST(eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(3))), out);
    golden_graph(g);
}

/* Errors leave the graph as it was: the same calls done right. */
static void works(void)
{
    eddy_array  *y = NULL;
    eddy_while_loop(PLAIN(less), PLAIN(square), EDDY_LIST(scalar), out, .maximum_iterations = 9);
    eddy_session *s = eddy_session_new(g);
    ck_assert_int_eq(
        eddy_run(s, EDDY_FEED({ scalar, EDDY_NUMBER(EDDY_FLOAT64, 9) }), EDDY_FETCH(out[0]), &y),
        EDDY_OK);
    ck_assert(eddy_array_item(y) == 81);
    eddy_array_free(y);
    eddy_session_free(s);
}

START_TEST(of_builders)
{
    golden_begin("control/control");
    branches();
    loops();
    folds();
    golden_end();
    works();
}
END_TEST

/* --------------------------------------------------------------------- runs -- */

BODY(divide, Sub(x[0], 1), FloorDiv(x[1], x[0]))
BODY(checked_positive, Greater(FloorDiv(x[1], x[0]), 0))
BODY(always, eddy_number(x[0].graph, EDDY_BOOL, 1))
BODY(divided, FloorDiv(c[0], x[0]))
static int outer(eddy_list in, eddy_tensor *y, void *context)
{
    eddy_tensor z[EDDY_MAX_RESULTS], *c = context;
    const int   n = eddy_map_fn(FUNCTION(divided, c[0]), in, z);
    y[0] = z[0];
    return n;
}

static void run_says(eddy_tensor y, eddy_feeds feeds)
{
    eddy_session *s = eddy_session_new(g);
    eddy_array   *a = NULL;
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_int_ne(eddy_run(s, feeds, EDDY_FETCH(y), &a), EDDY_OK);
    ck_assert_ptr_null(a);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

/* An integer division by zero in iteration 6 (of 0, 1, ...), in a condition, deep inside. */
static void divisions(void)
{
    eddy_tensor seven = eddy_number(g, EDDY_INT32, 700), y[2];
    eddy_tensor table = eddy_placeholder(g, "table", EDDY_INT32, EDDY_SHAPE(EDDY_ANY, 2));
    eddy_while_loop(PLAIN(always), PLAIN(divide), EDDY_LIST(count, seven), y,
                    .maximum_iterations = 9);
    run_says(y[1], EDDY_FEED({ count, EDDY_NUMBER(EDDY_INT32, 6) }));
    eddy_while_loop(PLAIN(checked_positive), PLAIN(divide), EDDY_LIST(count, count), y,
                    .maximum_iterations = 9, .name = "checked");
    run_says(y[1], EDDY_FEED({ count, EDDY_NUMBER(EDDY_INT32, 0) }));
    eddy_map_fn(FUNCTION(outer, seven), EDDY_LIST(table), y, .name = "rows");
    run_says(y[0], EDDY_FEED({ table, EDDY_VIEW(((const int32_t[]){ 1, 2, 3, 4, 5, 0 }), 3, 2) }));
    eddy_cond(pred, FUNCTION(divided, seven), PLAIN(same), y, EDDY_LIST(count), .name = "dividing");
    run_says(y[0],
             EDDY_FEED({ pred, EDDY_NUMBER(EDDY_BOOL, 1) }, { count, EDDY_NUMBER(EDDY_INT32, 0) }));
}

BODY(elementwise_less, Less(x[0], 100))

/* Shapes that only a run knows. */
static void shapes(void)
{
    eddy_tensor       open = eddy_placeholder(g, "open", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y[2];
    eddy_tensor       more = eddy_placeholder(g, "more", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_tensor       preds = eddy_placeholder(g, "preds", EDDY_BOOL, EDDY_UNKNOWN_SHAPE);
    eddy_tensor       index = eddy_placeholder(g, "index", EDDY_INT32, EDDY_UNKNOWN_SHAPE);
    const eddy_feed   two = { open, EDDY_DOUBLES(1, 2) }, three = { more, EDDY_DOUBLES(1, 2, 3) };
    const eddy_feed   number = { unknown, EDDY_NUMBER(EDDY_FLOAT64, 1) };
    const eddy_feed   several = { unknown, EDDY_DOUBLES(1, 2) };
    const eddy_function two_of[2] = { PLAIN(same), PLAIN(same) };
    eddy_map_fn(PLAIN(add), EDDY_LIST(open, more), y, .name = "rows_of_two");
    run_says(y[0], EDDY_FEED(two, three));
    eddy_map_fn(PLAIN(same), EDDY_LIST(unknown), y, .name = "rows_of_a_number");
    run_says(y[0], EDDY_FEED(number));
    eddy_cond(pred, PLAIN(same), PLAIN(same), y, EDDY_LIST(open), .name = "lengths");
    run_says(y[0], EDDY_FEED({ pred, EDDY_BOOLS(true) }, two));
    eddy_while_loop(PLAIN(elementwise_less), PLAIN(square), EDDY_LIST(unknown), y,
                    .name = "vector");
    run_says(y[0], EDDY_FEED(several));
    eddy_cond(preds, PLAIN(same), PLAIN(square), y, EDDY_LIST(scalar), .name = "vector_pred");
    run_says(y[0], EDDY_FEED({ preds, EDDY_BOOLS(true, false) },
                             { scalar, EDDY_NUMBER(EDDY_FLOAT64, 1) }));
    eddy_switch_case(index, two_of, 2, y, EDDY_LIST(scalar), .name = "vector_index");
    run_says(y[0], EDDY_FEED({ index, EDDY_INTS(0, 1) }, { scalar, EDDY_NUMBER(EDDY_FLOAT64, 1) }));
}

static int claims(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    y[0] = eddy_add(in.at[0], eddy_number(g, EDDY_FLOAT64, 1));
    eddy_assert(Less(in.at[0], 3), EDDY_LIST(in.at[0]), "it is large");
    return 1;
}

static void others(void)
{
    eddy_tensor     y[2];
    const eddy_feed two = { scalar, EDDY_NUMBER(EDDY_FLOAT64, 2) };
    eddy_iterate(9, PLAIN(claims), EDDY_LIST(scalar), y, .name = "asserting");
    run_says(y[0], EDDY_FEED(two));
    eddy_iterate(INT64_MAX / 2, PLAIN(square), EDDY_LIST(scalar), y, .name = "long");
    eddy_gradient(y[0], scalar), golden_graph(g);
    works();
}

/* An output of the node with most outputs: what a gradient needs of each iteration. */
static eddy_tensor stack_of(eddy_graph *in)
{
    eddy_tensor t = none;
    for (int32_t id = 1, most = 0; id <= in->size; id++) {
        if (strcmp(in->nodes[id]->op->name, "Loop") != 0 || in->nodes[id]->n_outputs <= most)
            continue;
        most = in->nodes[id]->n_outputs;
        t = eddy__tensor_at(in, id, 1);
    }
    return t;
}

static void said(eddy_session *s, eddy_feed feed, eddy_tensor y)
{
    eddy_array *a = NULL;
    ck_assert_int_ne(eddy_run(s, ((eddy_feeds){ 1, &feed }), EDDY_FETCH(y), &a), EDDY_OK);
    ck_assert_ptr_null(a);
    golden_line(eddy_session_message(s));
    eddy_session_free(s);
}

static eddy_session *open_session;
static void close_at_4(void *user, const char *line)
{
    (void)user;
    if (strcmp(line, "[4]") == 0) eddy_session_close(open_session);
}
BODY(closing, Add(eddy_print(x[0], .write = close_at_4), 1))
BODY(a_little_more, Add(x[0], Mul(Square(x[0]), 1e-4)))

static void *at_most_64_kib(void *context, size_t bytes)
{
    return bytes > 65536 && *(bool *)context ? NULL : malloc(bytes);
}
static void give_back(void *context, void *p, size_t bytes)
{
    (void)context, (void)bytes;
    free(p);
}

/* Loops that nothing limits. */
static void open_loops(void)
{
    bool                 scarce = false;
    const eddy_allocator memory = { at_most_64_kib, give_back, &scarce };
    eddy_graph *h = eddy_graph_new(.allocator = &memory);
    eddy_tensor x = eddy_placeholder(h, "x", EDDY_FLOAT64, EDDY_SCALAR), y[2], d;
    const eddy_feed      one = { x, EDDY_NUMBER(EDDY_FLOAT64, 1) };
    eddy_while_loop(PLAIN(less), PLAIN(closing), EDDY_LIST(x), &y[1], .name = "closed");
    open_session = eddy_session_new(h);
    said(open_session, one, y[1]);
    eddy_while_loop(PLAIN(less), PLAIN(a_little_more), EDDY_LIST(Square(x)), y,
                    .name = "unlimited");
    d = eddy_gradient(eddy_gradient(y[0], x), x);
    said(eddy_session_new(h, .max_bytes = 4096), one, d);
    scarce = true;
    said(eddy_session_new(h), one, d);
    scarce = false;
    said(eddy_session_new(h), one, Neg(stack_of(h)));
    eddy_gradients(EDDY_LIST(stack_of(h)), EDDY_LIST(x), &d,
                   .grad_ys = EDDY_LIST(eddy_placeholder(h, "dy", EDDY_FLOAT64,
                                                         EDDY_SHAPE(EDDY_ANY))));
    golden_graph(h);
    eddy_graph_free(h);
}

static eddy_tensor seven_hundred(eddy_tensor x) { return eddy_number(x.graph, EDDY_INT32, 700); }

/* An error in a branch names it. */
BODY(quotient, FloorDiv(seven_hundred(x[0]), x[0]))
BODY(itself, x[0])
static void in_branches(void)
{
    eddy_tensor y[2];
    eddy_cond(Greater(count, -1), PLAIN(quotient), PLAIN(itself), y, EDDY_LIST(count),
              .name = "of");
    run_says(y[0], EDDY_FEED({ count, EDDY_NUMBER(EDDY_INT32, 0) }));
}

/* Bodies that cannot be mapped over examples. */
static int asserting_loop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_iterate(2, PLAIN(claims), in, y, .name = "asserting");
}
static bool opaque_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static const eddy_op_def opaque = { .name = "Opaque", .min_inputs = 1, .max_inputs = 1,
                                    .outputs = 1, .infer = opaque_infer };
BODY(opaquely, eddy_apply1(&opaque, NULL, x[0]))
static int opaque_loop(eddy_list in, eddy_tensor *y, void *context)
{
    (void)context;
    return eddy_iterate(2, PLAIN(opaquely), in, y, .name = "opaque");
}
static void in_maps(void)
{
    eddy_tensor y[2];
    eddy_tensor xs = eddy_placeholder(g, "xs", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY));
    eddy_vmap(PLAIN(asserting_loop), EDDY_LIST(xs), y), golden_graph(g);
    eddy_vmap(PLAIN(opaque_loop), EDDY_LIST(xs), y), golden_graph(g);
    works();
}

START_TEST(of_runs)
{
    golden_begin("control/runs");
    divisions();
    in_branches();
    shapes();
    others();
    open_loops();
    in_maps();
    golden_end();
}
END_TEST

/* ---------------------------------------------------------------- arrays -- */

static eddy_tensor ints_of(int64_t n, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), v);
}

static void array_sizes(void)
{
    const eddy_tensor n = eddy_placeholder(g, "size", EDDY_INT32, EDDY_SHAPE(2));
    eddy_tensor_array_new(g, .size = 2, .name = "a"), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, -1, .name = "a"), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, 1, .capacity = 4), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, .size_tensor = n), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, .size_tensor = count, .dynamic_size = true),
        golden_graph(g);
    eddy_tensor_array a = eddy_tensor_array_new(g, EDDY_FLOAT64, 2);
    eddy_tensor_array_at(a, (eddy_tensor[]){ rows, rows }), golden_graph(g);
    eddy_tensor_array_at(a, (eddy_tensor[]){ rows, eddy_no_op(g) }), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, 2, .like = foreign), golden_graph(g);
    eddy_tensor_array_new(g, EDDY_FLOAT64, .size_tensor = foreign), golden_graph(g);
    const eddy_tensor marks = eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(9));
    eddy_tensor_array_at(a, (eddy_tensor[]){ rows, marks }), golden_graph(g);
    a = eddy_tensor_array_new(g, EDDY_FLOAT64, 3, .element_shape = &EDDY_SHAPE(7));
    eddy_tensor_array_at(a, (eddy_tensor[]){ rows, eddy_slice(marks, EDDY_DIMS(0), EDDY_DIMS(3)) });
    golden_graph(g);
    eddy_tensor_array_read((eddy_tensor_array){ .graph = g, .name = "b" }, count), golden_graph(g);
}

static void array_elements(void)
{
    const int32_t     v[3] = { 1, 2, -1 };
    eddy_tensor_array a = eddy_tensor_array_new(g, EDDY_FLOAT64, 2, .name = "a");
    eddy_tensor_array_read(a, count), golden_graph(g);
    eddy_tensor_array_write(a, scalar, scalar), golden_graph(g);
    eddy_tensor_array_write(a, ints_of(1, v), scalar), golden_graph(g);
    eddy_tensor_array_write(a, none, scalar), golden_graph(g);
    eddy_tensor_array_write(a, count, foreign), golden_graph(g);
    eddy_tensor_array_write(a, count, pred), golden_graph(g);
    a = eddy_tensor_array_write(a, count, scalar);
    eddy_tensor_array_write(a, count, eddy_index(rows, "0")), golden_graph(g);
    eddy_tensor_array open = eddy_tensor_array_new(g, EDDY_FLOAT64, 2, .name = "a",
                                                   .element_shape = &EDDY_SHAPE(EDDY_ANY),
                                                   .no_infer_shape = true);
    open = eddy_tensor_array_write(open, count, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2)));
    eddy_tensor_array_write(open, count, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(3)));
    golden_graph(g);
    eddy_tensor_array_concat(a), golden_graph(g);
    eddy_tensor_array_gather(a, count), golden_graph(g);
    eddy_tensor_array_unstack(a, rows), golden_graph(g);
    eddy_tensor_array_unstack(a, scalar), golden_graph(g);
    eddy_tensor_array_unstack(a, eddy_index(rows, ":, 0")), golden_graph(g);
    eddy_tensor_array_scatter(a, ints_of(2, v), eddy_index(rows, ":, 0")), golden_graph(g);
}

static void array_splits(void)
{
    const int32_t     v[3] = { 1, 2, -1 }, same[3] = { 1, 1, 1 };
    eddy_tensor_array a = eddy_tensor_array_new(g, EDDY_FLOAT64, 2, .name = "a");
    eddy_tensor_array_split(a, rows, ints_of(2, v)), golden_graph(g);
    eddy_tensor_array_split(a, rows, ints_of(1, v + 2)), golden_graph(g);
    eddy_tensor_array_split(a, rows, ints_of(2, same)), golden_graph(g);
    eddy_tensor_array_split(a, rows, ints_of(3, same)), golden_graph(g);
    eddy_tensor_array_split(a, unknown, ints_of(2, same)), golden_graph(g);
    eddy_tensor_array_split(a, none, ints_of(2, same)), golden_graph(g);
    eddy_tensor_array_split(a, foreign, ints_of(2, same)), golden_graph(g);
    const eddy_tensor high = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2, 1, 1, 1, 1, 1, 1, 1));
    eddy_tensor_array_split(a, high, ints_of(2, same)), golden_graph(g);
    const int64_t     huge[4] = { 1LL << 62, 1LL << 62, 1LL << 62, 1LL << 62 };
    const eddy_tensor empty = eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(0));
    eddy_tensor_array_split(a, empty, eddy_const(g, EDDY_INT64, EDDY_SHAPE(4), huge));
    golden_graph(g);
    eddy_tensor_array_split(a, rows, eddy_placeholder(g, "lengths", EDDY_INT32, EDDY_SHAPE(2))),
        golden_graph(g);
}

static void array_runs(void)
{
    const eddy_feed   nine = { count, EDDY_NUMBER(EDDY_INT32, 9) },
                    one = { count, EDDY_NUMBER(EDDY_INT32, 1) },
                    two = { scalar, EDDY_NUMBER(EDDY_FLOAT64, 2) };
    eddy_tensor_array a = eddy_tensor_array_new(g, EDDY_FLOAT64, 2, .name = "a"), d = a;
    a = eddy_tensor_array_write(a, count, scalar);
    run_says(eddy_tensor_array_stack(a), EDDY_FEED(nine, two));
    run_says(eddy_tensor_array_stack(eddy_tensor_array_write(a, count, scalar)),
             EDDY_FEED(one, two));
    d = eddy_tensor_array_unstack(d, eddy_constant(g, EDDY_DOUBLES(1, 2)));
    run_says(eddy_tensor_array_read(d, count), EDDY_FEED(nine));
    d = eddy_tensor_array_new(g, EDDY_FLOAT64, 0, .dynamic_size = true, .capacity = 4);
    run_says(eddy_tensor_array_stack(eddy_tensor_array_write(d, count, scalar)),
             EDDY_FEED(nine, two));
    const eddy_array_index_attrs named = { "a", false };
    const eddy_tensor            w = eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(2, 3));
    eddy_apply2(&eddy_op_tensor_array_write, &named, w, ints_of(2, (int32_t[]){ 0, 1 }));
    golden_graph(g);
}

START_TEST(of_arrays)
{
    golden_begin("control/arrays");
    array_sizes();
    array_elements();
    array_splits();
    array_runs();
    golden_end();
}
END_TEST

/* ---------------------------------------------------------------- no memory -- */

static void build_without_memory(failing_allocator *f, eddy_error *e)
{
    static char long_name[1 << 17];
    const long  at = f->at;
    eddy_tensor y[EDDY_MAX_RESULTS];
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor a = eddy_placeholder(h, "a", EDDY_FLOAT64, EDDY_SCALAR);
    f->at = f->calls + at;
    eddy_while_loop(PLAIN(less), PLAIN(square), EDDY_LIST(a), y, .maximum_iterations = 9);
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[0], a);
    if (eddy_graph_status(h) == EDDY_OK)
        eddy_cond(Less(a, 1), PLAIN(square), PLAIN(same), y, EDDY_LIST(a));
    const eddy_function both[] = { PLAIN(square), PLAIN(same) };
    const eddy_tensor   preds[] = { Less(a, 1), Less(a, 2) };
    if (eddy_graph_status(h) == EDDY_OK) eddy_case(preds, both, 2, y, .x = EDDY_LIST(a));
    if (eddy_graph_status(h) == EDDY_OK) eddy_gradient(y[0], a);
    memset(long_name, 'x', sizeof long_name - 1);       /* needs memory of its own */
    if (eddy_graph_status(h) == EDDY_OK)
        eddy_tensor_array_new(h, EDDY_FLOAT64, 2, .name = long_name);
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("control/memory");
    golden_no_memory(build_without_memory);
    golden_end();
}
END_TEST

Suite *messages_control_suite(void)
{
    Suite *s = suite_create("messages_control");
    TCase *c = tcase_create("control");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_builders);
    tcase_add_test(c, of_runs);
    tcase_add_test(c, of_arrays);
    tcase_add_test(c, of_memory);
    suite_add_tcase(s, c);
    return s;
}
