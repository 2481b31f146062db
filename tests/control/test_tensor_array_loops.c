/* test_tensor_array_loops.c -- arrays of tensors that loops and branches carry: values, and
 * derivatives against differences for several numbers of iterations; TensorFlow's public cases. */
#include "build/gen/suites.h"
#include "tests/lib/control_checks.h"
#include "tests/lib/finite_differences.h"

typedef eddy_tensor_array array;

/* The context of the bodies below, besides their loop variables. */
typedef struct context {
    array       like, other;
    eddy_tensor n, x;
} context;

static int fewer(eddy_list in, eddy_tensor *y, void *c)
{
    y[0] = Less(in.at[0], ((const context *)c)->n);
    return 1;
}
static int next_of(eddy_tensor i, array a, eddy_tensor state, eddy_tensor *y)
{
    y[0] = Add(i, 1), y[1] = a.values, y[2] = a.written, y[3] = state;
    return 4;
}

/* The loop variables are a counter, the array's two tensors and a state. */
static array loop_of(context *c, int (*body)(eddy_list, eddy_tensor *, void *), array a,
                     eddy_tensor state, eddy_tensor *end, int64_t most)
{
    eddy_tensor y[4];
    c->like = a;
    const eddy_function f = { .build = body, .name = "body", .context = c };
    const eddy_function go = { .build = fewer, .name = "fewer", .context = c };
    const int m = eddy_while_loop(go, f, EDDY_LIST(eddy_number(a.graph, I32, 0), a.values,
                                                   a.written, state),
                                  y, .maximum_iterations = most);
    ck_assert_msg(m == 4, "%s", eddy_graph_message(a.graph));
    if (end) *end = y[3];
    return eddy_tensor_array_at(a, &y[1]);
}

static array new_of(eddy_graph *g, int64_t n, eddy_shape s)
{
    return eddy_tensor_array_new(g, F64, n, .element_shape = &s, .name = "row");
}

/* ------------------------------------------------------------------ bodies -- */

static int write_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor s = Sin(Add(in.at[3], c->x));
    return next_of(in.at[0], eddy_tensor_array_write(a, in.at[0], Mul(s, in.at[3])), s, y);
}

/* Each element follows from the previous one. */
static int chain_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor i = in.at[0], old = eddy_tensor_array_read(a, i);
    a = eddy_tensor_array_write(a, Add(i, 1), Sin(Add(old, Mul(c->x, in.at[3]))));
    const eddy_tensor now = eddy_tensor_array_read(a, Add(i, 1));
    return next_of(i, a, Add(Mul(in.at[3], old), now), y);
}

/* Reads of a captured array, each element several times. */
static int read_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor r = eddy_tensor_array_read(c->other, FloorDiv(in.at[0], 2));
    a = eddy_tensor_array_write(a, in.at[0], Mul(r, in.at[3]));
    return next_of(in.at[0], a, Add(Square(in.at[3]), Mul(r, 0.25)), y);
}

/* Written at two indices in turn. */
static int scatter_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor i = in.at[0], both = eddy_stack(EDDY_LIST(i, Sub(17, i)));
    a = eddy_tensor_array_scatter(a, both, eddy_stack(EDDY_LIST(Sin(in.at[3]), c->x)));
    const eddy_tensor got = eddy_tensor_array_gather(a, both);
    return next_of(i, a, Mul(in.at[3], Mean(got, .axes = EDDY_AXES(0))), y);
}

static int maybe_write(eddy_list in, eddy_tensor *y, void *context_)
{
    array a = eddy_tensor_array_at(((const context *)context_)->like, &in.at[1]);
    a = eddy_tensor_array_write(a, in.at[0], Square(in.at[3]));
    y[0] = a.values, y[1] = a.written;
    return 2;
}
static int leave(eddy_list in, eddy_tensor *y, void *context_)
{
    (void)context_;
    y[0] = in.at[1], y[1] = in.at[2];
    return 2;
}
static int branch_step(eddy_list in, eddy_tensor *y, void *context_)
{
    context          *c = context_;
    const eddy_tensor even = Equal(FloorMod(in.at[0], 2), 0);
    y[0] = Add(in.at[0], 1), y[3] = Sin(Add(in.at[3], c->x));
    const eddy_function yes = { .build = maybe_write, .context = c }, no = { .build = leave };
    return eddy_cond(even, yes, no, &y[1], EDDY_LIST(in.at[0], in.at[1], in.at[2], in.at[3])) == 2
               ? 4 : 0;
}

/* A loop in the loop fills an array of its own. */
static int inner_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    context        inner = { .n = eddy_number(c->n.graph, I32, 2), .x = in.at[3] };
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    array b = loop_of(&inner, write_step, new_of(c->n.graph, 3, EDDY_SHAPE(2)), c->x, NULL, 3);
    const eddy_tensor s = Sum(eddy_tensor_array_stack(b), .axes = EDDY_AXES(0));
    return next_of(in.at[0], eddy_tensor_array_write(a, in.at[0], s), Mul(s, 0.5), y);
}

typedef struct model {
    const char *name;
    int       (*body)(eddy_list, eddy_tensor *, void *);
    int         size;
    int64_t     most;
} model;
static const model models[] = {
    { "write", write_step, 9, 30 }, { "chain", chain_step, 9, 30 }, { "read", read_step, 9, 30 },
    { "scatter", scatter_step, 18, 30 }, { "branch", branch_step, 9, 30 },
    { "inner", inner_step, 9, 30 }, { "open write", write_step, 9, -1 },
    { "open chain", chain_step, 9, -1 }, { "open read", read_step, 9, -1 },
};
enum { MODELS = sizeof models / sizeof *models, COUNTS = 4 };
static const int counts[COUNTS] = { 0, 1, 2, 7 };

static eddy_tensor build(const model *m, eddy_tensor n, eddy_tensor x, eddy_tensor rows)
{
    eddy_tensor end;
    context     c = { .n = n, .x = x };
    c.other = eddy_tensor_array_unstack(new_of(n.graph, 4, EDDY_SHAPE(2)), rows);
    array a = new_of(n.graph, m->size, EDDY_SHAPE(2));
    if (m->body == chain_step)
        a = eddy_tensor_array_write(a, eddy_number(n.graph, I32, 0), eddy_index(rows, "1"));
    a = loop_of(&c, m->body, a, eddy_index(rows, "0"), &end, m->most);
    return Add(Sum(Square(eddy_tensor_array_stack(a))), Sum(Mul(end, x)));
}

START_TEST(derivatives_are_differences)
{
    trial       t = trial_begin((unsigned)_i % 95);
    eddy_tensor n = integer(&t, counts[_i % COUNTS]);
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -0.8, 0.8);
    eddy_tensor rows = fed_numbers(&t, EDDY_SHAPE(4, 2), -0.8, 0.8);
    const eddy_tensor fed[2] = { t.tensor[1], t.tensor[2] };
    x = eddy_set_shape(x, EDDY_SHAPE(2)), rows = eddy_set_shape(rows, EDDY_SHAPE(4, 2));
    check_slopes(&t, build(&models[_i / COUNTS], n, x, rows), 2, fed, 3);
    trial_end(&t);
}
END_TEST

/* --------------------------------------------------------------- TensorFlow -- */

/* v0 is written first; then state + i * var, twice the state; tf: testWhileLoopWritePackGradients,
 * testWhileLoopDynamicWritePackGradients */
static int tensorflow_step(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor i = in.at[0];
    a = eddy_tensor_array_write(a, i, Mul(2, Add(eddy_tensor_array_read(c->other, i), in.at[3])));
    return next_of(i, a, Add(in.at[3], c->x), y);
}

START_TEST(while_loop_gradients)
{
    trial       t = trial_begin((unsigned)_i);
    const bool  grows = _i % 2;
    eddy_tensor v0 = fed_numbers(&t, EDDY_SHAPE(3, 5), -1, 1),
                var = fed_numbers(&t, EDDY_SHAPE(5), -1, 1);
    eddy_tensor state0 = eddy_set_shape(fed_numbers(&t, EDDY_SHAPE(5), -1, 1), EDDY_SHAPE(5)), end,
                d[3];
    context     c = { .n = whole(&t, 3), .x = eddy_set_shape(var, EDDY_SHAPE(5)) };
    c.other = eddy_tensor_array_unstack(eddy_tensor_array_new(t.graph, F64, 3),
                                        eddy_set_shape(v0, EDDY_SHAPE(3, 5)));
    array a = eddy_tensor_array_new(t.graph, F64, grows ? 0 : 3, .dynamic_size = grows,
                                    .capacity = grows ? 6 : 0, .element_shape = &EDDY_SHAPE(5));
    a = loop_of(&c, tensorflow_step, a, state0, &end, 10);
    is(&t, eddy_tensor_array_size(a), V(3));
    is_shaped(&t, eddy_tensor_array_stack(a), EDDY_SHAPE(3, 5));
    eddy_tensor y = eddy_tensor_array_stack(a);
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(v0, state0, var), d);
    is(&t, Sub(d[0], 2), V(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    is(&t, d[1], V(6, 6, 6, 6, 6)), is(&t, d[2], V(6, 6, 6, 6, 6));
    trial_end(&t);
}
END_TEST

/* tf: testGradSerialTwoLoops */
static int doubled(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    const eddy_tensor i = in.at[0], before = eddy_tensor_array_read(a, Sub(i, 1));
    return next_of(i, eddy_tensor_array_write(a, i, Mul(before, c->x)), in.at[3], y);
}
static int from_four(eddy_list in, eddy_tensor *y, void *context_)
{
    eddy_tensor shifted[4] = { Add(in.at[0], 4), in.at[1], in.at[2], in.at[3] };
    const int   n = doubled((eddy_list){ 4, shifted }, y, context_);
    y[0] = Add(in.at[0], 1);
    return n;
}
static int from_one(eddy_list in, eddy_tensor *y, void *context_)
{
    eddy_tensor shifted[4] = { Add(in.at[0], 1), in.at[1], in.at[2], in.at[3] };
    const int   n = doubled((eddy_list){ 4, shifted }, y, context_);
    y[0] = Add(in.at[0], 1);
    return n;
}

START_TEST(two_loops)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = fed_real(&t, 2);
    context     c = { .n = whole(&t, 3), .x = eddy_set_shape(x, EDDY_SCALAR) };
    array       a = new_of(t.graph, 8, EDDY_SCALAR);
    a = eddy_tensor_array_write(a, whole(&t, 0), c.x);
    a = loop_of(&c, from_one, a, whole(&t, 0), NULL, 5);
    a = loop_of(&c, from_four, a, whole(&t, 0), NULL, 5);
    is(&t, eddy_tensor_array_stack(a), V(2, 4, 8, 16, 32, 64, 128, 0));
    const eddy_tensor last = eddy_tensor_array_read(a, whole(&t, 6)), d = slope(last, x);
    is(&t, d, V(7 * 64)), is(&t, slope(d, x), V(42 * 32));
    trial_end(&t);
}
END_TEST

/* A scan and a map over rows that carry or read an array. */
static int scan_step(eddy_list in, eddy_tensor *y, void *context_)
{
    array a = eddy_tensor_array_at(((const context *)context_)->like, &in.at[1]);
    return next_of(in.at[0], eddy_tensor_array_write(a, in.at[0], Mul(in.at[4], 3)),
                   Add(in.at[3], in.at[4]), y);
}
START_TEST(rows_into_an_array)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2, 3)), y[4];
    array       a = new_of(t.graph, 4, EDDY_SCALAR);
    context     c = { .like = a };
    const eddy_function f = { .build = scan_step, .context = &c };
    const int n = eddy_loop(f, EDDY_LIST(whole(&t, 0), a.values, a.written, constant(&t, 0)),
                            EDDY_LIST(x), y);
    ck_assert_msg(n == 4, "%s", eddy_graph_message(t.graph));
    a = eddy_tensor_array_at(a, &y[1]);
    is(&t, eddy_tensor_array_stack(a), V(3, 6, 9, 0)), is(&t, y[3], V(6));
    is(&t, slope(Square(eddy_tensor_array_stack(a)), x), V(18, 36, 54));
    trial_end(&t);
}
END_TEST

/* Errors of iterations. */
static int write_twice(eddy_list in, eddy_tensor *y, void *context_)
{
    array a = eddy_tensor_array_at(((const context *)context_)->like, &in.at[1]);
    a = eddy_tensor_array_write(a, FloorMod(in.at[0], 3), in.at[3]);
    return next_of(in.at[0], a, in.at[3], y);
}
START_TEST(errors_of_runs)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor n = integer(&t, 3), z = fed_real(&t, 1);
    context     c = { .n = n, .x = constant(&t, 1) };
    array       a = loop_of(&c, write_twice, new_of(t.graph, 3, EDDY_SCALAR),
                            eddy_set_shape(z, EDDY_SCALAR), NULL, 9);
    array       b = loop_of(&c, write_step, new_of(t.graph, 3, EDDY_SCALAR),
                            eddy_set_shape(z, EDDY_SCALAR), NULL, 9);
    is(&t, eddy_tensor_array_stack(a), V(1, 1, 1));
    refeed(&t, n, 4);
    check_run_fails(&t, eddy_tensor_array_stack(a), EDDY_INVALID_ARGUMENT,
                    "TensorArray row: Could not write to TensorArray index 0 because it has "
                    "already been written to");
    check_run_fails(&t, eddy_tensor_array_stack(b), EDDY_OUT_OF_RANGE,
                    "TensorArray row: Tried to write to index 3 but array is not resizeable and "
                    "size is: 3");
    a = eddy_tensor_array_unstack(new_of(t.graph, 3, EDDY_SCALAR), numbers(&t, V(1, 2, 3)));
    check_run_fails(&t, eddy_tensor_array_read(a, n), EDDY_OUT_OF_RANGE,
                    "TensorArray row: Tried to read from index 4 but array size is: 3");
    trial_end(&t);
}
END_TEST

/* Elements that are gradients of a loop. */
static int gradient_inside(eddy_list in, eddy_tensor *y, void *context_)
{
    const context *c = context_;
    context        inner = { .n = eddy_number(c->n.graph, I32, 3), .x = in.at[3] };
    array          a = eddy_tensor_array_at(c->like, &in.at[1]);
    array b = loop_of(&inner, write_step, new_of(c->n.graph, 3, EDDY_SHAPE(2)), c->x, NULL, 3);
    const eddy_tensor d = Mul(0.1, eddy_gradient(eddy_tensor_array_stack(b), in.at[3]));
    return next_of(in.at[0], eddy_tensor_array_write(a, in.at[0], d), Sin(d), y);
}
START_TEST(gradients_in_loops)
{
    trial       t = trial_begin((unsigned)_i);
    const model m = { "gradient inside", gradient_inside, 4, 9 };
    eddy_tensor x = fed_numbers(&t, EDDY_SHAPE(2), -0.8, 0.8),
                rows = fed_numbers(&t, EDDY_SHAPE(4, 2), -0.8, 0.8);
    const eddy_tensor fed[2] = { x, rows };
    check_slopes(&t, build(&m, whole(&t, 2), eddy_set_shape(x, EDDY_SHAPE(2)),
                           eddy_set_shape(rows, EDDY_SHAPE(4, 2))), 2, fed, 1);
    trial_end(&t);
}
END_TEST

/* Examples that write at the same indices. */
static int mapped(eddy_list in, eddy_tensor *y, void *context_)
{
    context c = *(const context *)context_;
    c.x = in.at[0];
    array a = loop_of(&c, write_step, new_of(c.n.graph, 4, EDDY_SCALAR), in.at[0], NULL, 4);
    y[0] = eddy_tensor_array_stack(a);
    return 1;
}
START_TEST(maps)
{
    trial       t = trial_begin((unsigned)_i);
    eddy_tensor x = numbers(&t, V(1, 2)), y[1];
    context     c = { .n = whole(&t, 2) };
    const eddy_function f = { .build = mapped, .context = &c };
    ck_assert_msg(eddy_vmap(f, EDDY_LIST(x), y) == 1, "%s", eddy_graph_message(t.graph));
    double want[8] = { 0 };
    for (int k = 0; k < 2; k++) {
        double s = k + 1;
        for (int i = 0; i < 2; i++) {
            const double next = sin(s + k + 1);
            want[4 * k + i] = next * s;
            s = next;
        }
    }
    is(&t, y[0], 8, want);
    trial_end(&t);
}
END_TEST

Suite *tensor_array_loops_suite(void)
{
    Suite *s = suite_create("tensor_array_loops");
    TCase *c = tcase_create("loops");
    tcase_add_loop_test(c, derivatives_are_differences, 0, MODELS * COUNTS);
    tcase_add_loop_test(c, while_loop_gradients, 0, SEEDS);
    tcase_add_loop_test(c, two_loops, 0, SEEDS);
    tcase_add_loop_test(c, rows_into_an_array, 0, SEEDS);
    tcase_add_loop_test(c, errors_of_runs, 0, SEEDS);
    tcase_add_loop_test(c, gradients_in_loops, 0, SEEDS);
    tcase_add_loop_test(c, maps, 0, SEEDS);
    suite_add_tcase(s, c);
    return s;
}
