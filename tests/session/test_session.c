/* test_session.c -- running graphs: TensorFlow's cases (group R), feeds, plans,
 * memory, checkpoints. */
#include "tests/lib/files/memory_files.h"
#include "tests/lib/session_fixture.h"

Suite *session_suite(void);

static eddy_array *array_of(int64_t n, const double *x)
{
    return eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(n), x);
}

/* A variable with the value 2, and all of them initialized. */
static eddy_tensor variable(const char *name) { return eddy_variable(g, real(g, 2), .name = name); }
static void initialize(void) { runs(s, eddy_initializer(g)); }

/* --------------------------------------------------------- TensorFlow's -- */

START_TEST(r01_product)
{
    has(s, MatMul(matrix(g, 1, 1, (double[]){ 6 }), matrix(g, 1, 1, (double[]){ 7 })), 1,
        (double[]){ 42 });
}
END_TEST

START_TEST(r03_unknown_name)
{
    eddy_scalar(g, 1);
    ck_assert_ptr_null(eddy_fetch(s, eddy_graph_tensor(g, "foo:0")));
    run_fails(s, EDDY_NOT_FOUND, "'foo:0'");
    eddy_graph_clear_error(g);
    ck_assert_ptr_null(eddy_fetch(s, (eddy_tensor){ .graph = g }));
    run_fails(s, EDDY_INVALID_ARGUMENT, "Fetch argument 0");
}
END_TEST

START_TEST(r09_the_graph_grows)
{
    eddy_tensor a = matrix(g, 1, 2, (double[]){ 1, 1 }),
                b = matrix(g, 2, 3, (double[]){ 2, 2, 2, 2, 2, 2 });
    eddy_tensor c = MatMul(a, b);
    has(s, c, 3, (double[]){ 4, 4, 4 });
    has(s, MatMul(c, matrix(g, 3, 1, (double[]){ 1, 2, 3 })), 1, (double[]){ 24 });
}
END_TEST

START_TEST(r11_constants_can_be_fed)
{
    eddy_tensor a = matrix(g, 1, 2, (double[]){ 1, 1 });
    eddy_tensor c = MatMul(a, matrix(g, 2, 3, (double[]){ 2, 2, 2, 2, 2, 2 })), h = Mul(c, 2);
    eddy_array *v = eddy_array_copy_of(EDDY_FLOAT64, EDDY_SHAPE(1, 2), (double[]){ 4, 4 }),
               *out = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, v }), EDDY_FETCH(c), &out), EDDY_OK);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(out, i), 16);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ c, out }), EDDY_FETCH(h), &out), EDDY_OK);
    for (int i = 0; i < 3; i++) ck_assert_double_eq(eddy_array_get(out, i), 32);
    eddy_array_free(v);
    eddy_array_free(out);
}
END_TEST

START_TEST(r13_feed_by_tensor_and_by_name)
{
    eddy_tensor x = eddy_named("x", vector(g, 2, (double[]){ 0, 0 })), y = Mul(2, x);
    eddy_array *ones = array_of(2, (double[]){ 1, 1 }), *out = NULL;
    const eddy_tensor keys[] = { x, eddy_graph_tensor(g, "x:0") };
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(eddy_run(s, EDDY_FEED({ keys[i], ones }), EDDY_FETCH(y), &out), EDDY_OK);
        ck_assert(eddy_array_get(out, 0) == 2 && eddy_array_get(out, 1) == 2);
    }
    has(s, y, 2, (double[]){ 0, 0 });
    eddy_array_free(ones);
    eddy_array_free(out);
}
END_TEST

START_TEST(r15_empty_graph)
{
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(), NULL), EDDY_INVALID_ARGUMENT);
    run_fails(s, EDDY_INVALID_ARGUMENT, "The Session graph is empty.");
    real(g, 1);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(), NULL), EDDY_OK);
}
END_TEST

START_TEST(r17_fetched_twice)
{
    eddy_tensor a = eddy_random_normal(g, EDDY_SHAPE(3)), b = real(g, 4);
    eddy_array *out[3] = { NULL };
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(a, b, a), out), EDDY_OK);
    ck_assert(eddy_array_equal(out[0], out[2]) && out[0] != out[2]);
    for (int i = 0; i < 3; i++) eddy_array_free(out[i]);
}
END_TEST

/* An invalid tensor can be neither fetched nor fed; an empty list of fetches is valid. */
START_TEST(r05_r07_r19_nothing)
{
    const eddy_tensor none = EDDY_ZERO_TENSOR, a = real(g, 1);
    eddy_array       *out[2] = { NULL };
    ck_assert_ptr_null(eddy_fetch(s, none));
    run_fails(s, EDDY_INVALID_ARGUMENT, "it is not a tensor; perhaps a missing gradient");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(a, none), out), EDDY_INVALID_ARGUMENT);
    ck_assert(!out[0] && !out[1]);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(), NULL), EDDY_OK);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ a, NULL }), EDDY_FETCH(a), out),
                     EDDY_INVALID_ARGUMENT);
}
END_TEST

START_TEST(r21_r23_wrong_feeds_and_graphs)
{
    eddy_graph   *other = eddy_graph_new();
    eddy_session *t = eddy_session_new(other);
    eddy_tensor   a = eddy_named("c", real(g, 1)), b = eddy_named("c", real(other, 2)),
                op = eddy_no_op(g, NULL);
    eddy_array   *v = eddy_array_of(EDDY_FLOAT64, 1);
    ck_assert(!eddy_is_valid(eddy_graph_tensor(g, "c")));
    eddy_graph_clear_error(g);
    ck_assert_ptr_null(eddy_fetch(s, b));
    run_fails(s, EDDY_INVALID_ARGUMENT, "is not an element of this graph");
    ck_assert_ptr_null(eddy_fetch(t, a));
    run_fails(t, EDDY_INVALID_ARGUMENT, "is not an element of this graph");
    ck_assert_int_eq(eddy_run(t, EDDY_FEED({ a, v }), EDDY_FETCH(b), NULL), EDDY_INVALID_ARGUMENT);
    run_fails(t, EDDY_INVALID_ARGUMENT, "Cannot interpret feed 0");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ op, v }), EDDY_FETCH(a), NULL), EDDY_INVALID_ARGUMENT);
    run_fails(s, EDDY_INVALID_ARGUMENT, "Cannot interpret feed 0");
    eddy_array_free(v);
    eddy_session_free(t);
    eddy_graph_free(other);
}
END_TEST

START_TEST(r31_uninitialized)
{
    eddy_tensor v = eddy_variable(g, real(g, 0), .name = "v"),
                w = eddy_variable(g, real(g, 1.1), .name = "w");
    eddy_tensor is = eddy_is_initialized(w), more = eddy_assign_add(v, real(g, 1));
    ck_assert_ptr_null(eddy_fetch(s, Add(v, 1)));
    run_fails(s, EDDY_UNINITIALIZED, "Attempting to use uninitialized value v");
    ck_assert_ptr_null(eddy_fetch(s, eddy_read(w)));
    run_fails(s, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
    ck_assert_ptr_null(eddy_fetch(s, more));
    run_fails(s, EDDY_UNINITIALIZED, "Attempting to use uninitialized value");
    ck_assert_ptr_null(eddy_variable_value(s, v));
    has(s, is, 1, (double[]){ 0 });
    initialize();
    has(s, is, 1, (double[]){ 1 });
    has(s, v, 1, (double[]){ 0 });
    has(s, w, 1, (double[]){ 1.1 });
}
END_TEST

/* ----------------------------------------------------------------- feeds -- */

START_TEST(feeds_are_checked)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY, 3)), y = Mul(x, 2);
    eddy_array *good = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2, 3)),
               *flat = array_of(3, (double[]){ 1, 2, 3 });
    eddy_array *ints = eddy_array_new(EDDY_INT32, EDDY_SHAPE(2, 3)), *out = NULL;
    eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out);
    run_fails(
        s, EDDY_NOT_FED,
        "You must feed a value for placeholder tensor 'x' with dtype float64 and shape [?,3]");
    eddy_run(s, EDDY_FEED({ x, flat }), EDDY_FETCH(y), &out);
    run_fails(s, EDDY_BAD_SHAPE,
              "Cannot feed value of shape [3] for Tensor 'x:0', which has shape [?,3]");
    eddy_run(s, EDDY_FEED({ x, ints }), EDDY_FETCH(y), &out);
    run_fails(s, EDDY_BAD_DTYPE, "of type float64");
    eddy_run(s, EDDY_FEED({ x, NULL }), EDDY_FETCH(y), &out);
    run_fails(s, EDDY_INVALID_ARGUMENT, "has no value");
    eddy_run(s, EDDY_FEED({ x, good }, { x, good }), EDDY_FETCH(y), &out);
    run_fails(s, EDDY_INVALID_ARGUMENT, "'x:0' is fed twice");
    eddy_run(s, (eddy_feeds){ -1, NULL }, EDDY_FETCH(y), &out);
    run_fails(s, EDDY_INVALID_ARGUMENT, "not a valid list");
    ck_assert_ptr_null(out);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, good }), EDDY_FETCH(y), NULL), EDDY_OK);
    eddy_array_free(good);
    eddy_array_free(flat);
    eddy_array_free(ints);
}
END_TEST

START_TEST(many_feeds_and_a_fed_variable)
{
    enum { N = 40 };
    eddy_feed   feeds[N];
    eddy_tensor x[N], v = variable("v"), y = Mul(v, 3);
    for (int i = 0; i < N; i++) {
        x[i] = eddy_placeholder(g, NULL, EDDY_FLOAT64, EDDY_SCALAR);
        feeds[i] = (eddy_feed){ x[i], eddy_array_of(EDDY_FLOAT64, i) };
    }
    eddy_array *out = NULL;
    ck_assert_int_eq(eddy_run(s, (eddy_feeds){ N, feeds },
                              EDDY_FETCH(eddy_add_n((eddy_list){ N, x }, NULL)), &out),
                     EDDY_OK);
    ck_assert_double_eq(eddy_array_item(out), N * (N - 1) / 2);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ v, feeds[7].value }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_double_eq(eddy_array_item(out), 21);
    eddy_array_free(out);
    for (int i = 0; i < N; i++) eddy_array_free((eddy_array *)(uintptr_t)feeds[i].value);
}
END_TEST

START_TEST(callables)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SCALAR), y = Square(x),
                op = eddy_no_op(g, NULL);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y, op));
    eddy_array    *at = eddy_array_of(EDDY_FLOAT64, 0), *out[2] = { NULL, NULL };
    for (int i = 0; i < 5; i++) {
        eddy_array_set(at, 0, i);
        ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *const[]){ at }, out), EDDY_OK);
        ck_assert_double_eq(eddy_array_item(out[0]), i * i);
        ck_assert_ptr_null(out[1]);
    }
    ck_assert_int_eq(eddy_callable_run(c, NULL, out), EDDY_INVALID_ARGUMENT);
    eddy_callable_free(c);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *const[]){ at }, out),
                     EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(op), EDDY_LIST(y)));
    ck_assert_ptr_null(
        eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y, (eddy_tensor){ .graph = g, .node = 99 })));
    c = eddy_callable_new(s, EDDY_LIST(x), EDDY_LIST(y));
    eddy_session_free(s);
    ck_assert_int_eq(eddy_callable_run(c, (const eddy_array *const[]){ at }, out),
                     EDDY_INVALID_ARGUMENT);
    s = eddy_session_new(g);
    eddy_array_free(at);
    eddy_array_free(out[0]);
}
END_TEST

START_TEST(out_arrays_are_used_again)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(EDDY_ANY)), y = Mul(x, 2);
    eddy_array *two = array_of(2, (double[]){ 1, 2 }), *three = array_of(3, (double[]){ 1, 2, 3 }),
               *out = NULL;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(y), &out), EDDY_OK);
    eddy_array *first = out;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_ptr_eq(out, first);
    eddy_array *kept = eddy_array_retain(out);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, two }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_ptr_ne(out, kept);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, out }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_double_eq(eddy_array_get(out, 1), 8);
    ck_assert_double_eq(eddy_array_get(kept, 1), 4);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, three }), EDDY_FETCH(y), &out), EDDY_OK);
    ck_assert_int_eq(eddy_array_count(out), 3);
    eddy_array *before = out;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(y), &out), EDDY_NOT_FED);
    ck_assert_ptr_eq(out, before);
    eddy_array_free(kept);
    eddy_array_free(out);
    eddy_array_free(two);
    eddy_array_free(three);
}
END_TEST

/* ----------------------------------------------------------------- plans -- */

/* The loss after three steps, and the first weights, in a session like this. */
static eddy_array *trained(network n, eddy_session *t, eddy_array **weights)
{
    eddy_array *batch = network_batch(7), *out = NULL;
    runs(t, n.init);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(eddy_run(t, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train), NULL),
                         EDDY_OK);
    ck_assert_int_eq(eddy_run(t, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.loss), &out), EDDY_OK);
    *weights = eddy_variable_value(t, n.w1);
    eddy_array_free(batch);
    return out;
}

START_TEST(optimizations_do_not_change_a_bit)
{
    network     n = network_build(g);
    eddy_array *w, *loss = trained(n, s, &w);
    static const unsigned BITS[] = { EDDY_PASS_FOLD, EDDY_PASS_IN_PLACE, EDDY_PASS_REUSE,
                                     EDDY_PASS_FUSE };
    for (int k = 1; k < 16; k++) {
        unsigned passes = 0;
        for (int i = 0; i < 4; i++) passes |= k >> i & 1 ? BITS[i] : 0;
        eddy_session        *t = eddy_session_new(g, .without = passes);
        eddy_array   *v, *other = trained(n, t, &v);
        const eddy_plan_info p = eddy_session_plan_info(t);
        ck_assert(eddy_array_equal(loss, other) && eddy_array_equal(w, v));
        if (k & 1) ck_assert_int_eq(p.folded, 0);
        if (k & 2) ck_assert_int_eq(p.in_place, 0);
        ck_assert_int_eq(p.fused > 0, k < 8);
        eddy_array_free(v);
        eddy_array_free(other);
        eddy_session_free(t);
    }
    ck_assert(eddy_array_item(loss) < 0.3);
    eddy_array_free(w);
    eddy_array_free(loss);
}
END_TEST

START_TEST(max_bytes)
{
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(1000)), y = Sum(Exp(x));
    eddy_session *t = eddy_session_new(g, .max_bytes = 4000);
    eddy_array   *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(1000));
    ck_assert_int_eq(eddy_run(t, EDDY_FEED({ x, v }), EDDY_FETCH(y), NULL), EDDY_LIMIT);
    run_fails(t, EDDY_LIMIT, "max_bytes of the session is 4000");
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ x, v }), EDDY_FETCH(y), NULL), EDDY_OK);
    eddy_array_free(v);
    eddy_session_free(t);
}
END_TEST

/* Values that a fused loop keeps in registers need no memory. */
START_TEST(max_bytes_counts_memory)
{
    eddy_tensor   x = eddy_placeholder(g, "x", EDDY_FLOAT64, EDDY_SHAPE(100000)), y = Sum(Exp(x));
    eddy_session *t = eddy_session_new(g, .max_bytes = 100000);
    eddy_array   *v = eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(100000));
    ck_assert_msg(eddy_run(t, EDDY_FEED({ x, v }), EDDY_FETCH(y), NULL) == EDDY_OK, "%s",
                  eddy_session_message(t));
    ck_assert_uint_lt(eddy_session_plan_info(t).arena_bytes, 100000);
    eddy_array_free(v);
    eddy_session_free(t);
}
END_TEST

START_TEST(a_run_allocates_nothing)
{
    failing_allocator a;
    failing_allocator_init(&a);
    eddy_graph   *h = eddy_graph_new(&a.table);
    network       n = network_build(h);
    eddy_session *t = eddy_session_new(h);
    eddy_array   *batch = network_batch(7), *out[2] = { NULL, NULL };
    fits(h);
    runs(t, n.init);
    ck_assert_int_eq(eddy_run(t, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train, n.loss), out),
                     EDDY_OK);
    const long        calls = a.calls;
    const eddy_array *loss = out[1];
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(eddy_run(t, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train, n.loss), out),
                         EDDY_OK);
    ck_assert_int_eq(a.calls, calls);
    ck_assert_ptr_eq(out[1], loss);
    eddy_array_free(batch);
    eddy_array_free(out[1]);
    eddy_session_free(t);
    eddy_graph_free(h);
    ck_assert_int_eq(a.live, 0);
}
END_TEST

/* A run of y, in a session whose allocation number `at` fails; false if it has none. */
static bool run_without_memory(long at, bool large)
{
    failing_allocator a;
    failing_allocator_init(&a);
    eddy_graph       *h = eddy_graph_new(&a.table);
    network           n = network_build(h);
    eddy_tensor       x = eddy_placeholder(h, "one", EDDY_FLOAT64, EDDY_SHAPE(2));
    const eddy_tensor y = Exp(x);
    eddy_session     *t = eddy_session_new(h);
    eddy_array *batch = large ? network_batch(7) : eddy_array_new(EDDY_FLOAT64, EDDY_SHAPE(2));
    eddy_array *out = NULL;
    runs(t, n.init);
    const long        calls = a.calls;
    a.at = a.calls + at;
    const eddy_status status = eddy_run(t, EDDY_FEED({ large ? n.x : x, batch }),
                                        EDDY_FETCH(large ? n.loss : y), &out);
    const bool failed = a.calls >= calls + at;
    ck_assert_int_eq(status == EDDY_OK, out != NULL);
    if (status != EDDY_OK) run_fails(t, EDDY_NO_MEMORY, "memory");
    eddy_array_free(out);
    eddy_array_free(batch);
    eddy_session_free(t);
    eddy_graph_free(h);
    ck_assert_int_eq(a.live, 0);
    return failed;
}

START_TEST(without_memory_a_run_gives_all_or_nothing)
{
    for (int large = 0; large < 2; large++) {
        long at = 1;
        while (run_without_memory(at, large)) at += large ? 7 : 1;
        ck_assert_int_gt(at, 10);
    }
}
END_TEST

/* ----------------------------------------------------------- life, files -- */

START_TEST(closed)
{
    eddy_tensor v = variable("v");
    initialize();
    eddy_session_close(s);
    eddy_session_close(s);
    ck_assert_ptr_null(eddy_fetch(s, v));
    run_fails(s, EDDY_CLOSED, "Attempted to use a closed Session.");
    ck_assert_int_eq(eddy_save(s, "x", EDDY_LIST()), EDDY_CLOSED);
    ck_assert_ptr_null(eddy_variable_value(s, v));
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(v)));
}
END_TEST

static void close_now(void *user, const char *line)
{
    (void)line;
    eddy_session_close(user);
}

/* A run ends before the next operation; variables that it has assigned keep their new values. */
START_TEST(closed_during_a_run)
{
    eddy_tensor v = variable("v"), w = variable("w");
    initialize();
    const eddy_tensor first = eddy_assign(v, real(g, 7));
    eddy_control_begin(g, EDDY_LIST(first));
    const eddy_tensor shown = eddy_print(real(g, 8), .write = close_now, .user = s);
    eddy_control_end(g);
    eddy_array *out = NULL;
    const eddy_tensor second = eddy_assign(w, shown);
    ck_assert_int_eq(eddy_run(s, EDDY_FEED(), EDDY_FETCH(second), &out), EDDY_CANCELLED);
    ck_assert_ptr_null(out);
    run_fails(s, EDDY_CANCELLED, "closed during the run");
    run_fails(s, EDDY_CANCELLED, "Assign");
}
END_TEST

static bool like_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status calling_kernel(eddy_kernel *k)
{
    const double x = *(const double *)k->in[0]->data;
    eddy_run(s, EDDY_FEED(), EDDY_LIST(), NULL);
    run_fails(s, EDDY_INVALID_ARGUMENT, "the session is running in this thread");
    *(double *)k->out[0]->data = 2 * x;
    return EDDY_OK;
}
static const eddy_op_def calling = { .name = "Calling", .min_inputs = 1, .max_inputs = 1,
                                     .outputs = 1, .infer = like_infer,
                                     .kernel = calling_kernel };

/* Operations on constants run while a plan is compiled. */
START_TEST(calls_back_while_compiling)
{
    has(s, eddy_apply1(&calling, NULL, real(g, 3)), 1, (double[]){ 6 });
}
END_TEST

START_TEST(the_graph_goes_first)
{
    eddy_tensor v = variable("v");
    initialize();
    eddy_graph_free(g);
    ck_assert_ptr_null(eddy_fetch(s, v));
    run_fails(s, EDDY_CLOSED, "the session's graph has been freed");
    ck_assert_int_eq(eddy_save(s, "x", EDDY_LIST()), EDDY_CLOSED);
    ck_assert_ptr_null(eddy_variable_value(s, v));
    eddy_session_free(s);
    setup();
}
END_TEST

START_TEST(an_erroneous_graph)
{
    eddy_tensor a = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)), y = Add(a, 1);
    MatMul(a, a);
    ck_assert_ptr_null(eddy_fetch(s, y));
    run_fails(s, EDDY_BAD_SHAPE, "MatMul");
    eddy_session *t = eddy_session_new(g);
    run_fails(t, EDDY_BAD_SHAPE, "MatMul");
    eddy_session_free(t);
    eddy_graph_clear_error(g);
    has(s, y, 6, (double[]){ 2, 2, 2, 2, 2, 2 });
}
END_TEST

START_TEST(save_and_restore)
{
    memory_files m;
    memory_files_init(&m);
    eddy_graph   *h = eddy_graph_new(.files = &m.table);
    eddy_tensor   v = eddy_variable(h, vector(h, 2, (double[]){ 1, 2 }), .name = "v");
    eddy_tensor   w = eddy_variable(h, eddy_scalar(h, 3), .name = "w"),
                nine = eddy_assign(w, eddy_scalar(h, 9));
    eddy_session *t = eddy_session_new(h);
    ck_assert_int_eq(eddy_save(t, "all", EDDY_LIST()), EDDY_UNINITIALIZED);
    ck_assert_int_eq(eddy_restore(t, "all", EDDY_LIST()), EDDY_NOT_FOUND);
    runs(t, eddy_initializer(h));
    ck_assert_int_eq(eddy_save(t, "all", EDDY_LIST()), EDDY_OK);
    ck_assert_int_eq(eddy_save(t, "some", EDDY_LIST(v)), EDDY_OK);
    runs(t, nine);
    ck_assert_int_eq(eddy_restore(t, "some", EDDY_LIST()), EDDY_NOT_FOUND);
    run_fails(t, EDDY_NOT_FOUND, "the variable 'w'");
    has(t, w, 1, (double[]){ 9 });
    eddy_session *u = eddy_session_new(h);
    ck_assert_int_eq(eddy_restore(u, "some", EDDY_LIST(v)), EDDY_OK);
    has(u, v, 2, (double[]){ 1, 2 });
    ck_assert_ptr_null(eddy_variable_value(u, w));
    ck_assert_int_eq(eddy_restore(u, "all", EDDY_LIST()), EDDY_OK);
    has(u, w, 1, (double[]){ 3 });
    ck_assert_int_eq(eddy_save(u, NULL, EDDY_LIST()), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_save(u, "x", EDDY_LIST(nine)), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(memory_files_count(&m), 2);
    eddy_session_free(u);
    eddy_session_free(t);
    eddy_graph_free(h);
    memory_files_free(&m);
}
END_TEST

Suite *session_suite(void)
{
    const TTest *const tests[] = {
        r01_product, r03_unknown_name, r09_the_graph_grows, r11_constants_can_be_fed,
        r13_feed_by_tensor_and_by_name, r15_empty_graph, r17_fetched_twice,
        r05_r07_r19_nothing, r21_r23_wrong_feeds_and_graphs, r31_uninitialized,
        feeds_are_checked, many_feeds_and_a_fed_variable, callables, out_arrays_are_used_again,
        optimizations_do_not_change_a_bit, max_bytes, max_bytes_counts_memory,
        a_run_allocates_nothing, without_memory_a_run_gives_all_or_nothing, closed,
        closed_during_a_run, calls_back_while_compiling,
        the_graph_goes_first, an_erroneous_graph, save_and_restore,
    };
    Suite *suite = suite_create("session");
    TCase *c = tcase_create("session");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(suite, c);
    return suite;
}
