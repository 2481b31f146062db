/* test_graph.c -- graphs: names, scopes, collections, control dependencies, looking up names, and
 * failing allocations. */
#include "tests/lib/graph_fixture.h"
#include "tests/lib/files/memory_files.h"

Suite *graph_suite(void);

static eddy_tensor op(const char *name) { return eddy_no_op(g, name); }
static void called(const char *name, eddy_tensor t) { ck_assert_str_eq(eddy_name_of(t), name); }

/* ----------------------------------------------------------------- names -- */

START_TEST(n02_names_differ_whatever_their_case)
{
    called("foo", op("foo"));
    called("Foo_1", op("Foo"));
    eddy_scope_begin(g, "bar");
    ck_assert_str_eq(eddy_scope_name(g), "bar/");
    eddy_scope_end(g);
    eddy_scope_begin(g, "Bar");
    ck_assert_str_eq(eddy_scope_name(g), "Bar_1/");
    eddy_scope_end(g);
    fits(g);
}
END_TEST

START_TEST(n04_generated_names_and_scopes)
{
    called("NoOp", op(NULL));
    called("NoOp_1", op(NULL));
    eddy_scope_begin(g, "bar");
    called("bar/NoOp", op(NULL));
    called("bar/NoOp_1", op(NULL));
    called("bar", op(eddy_scope_name(g)));
    eddy_scope_end(g);
    eddy_scope_begin(g, "bar");
    called("bar_1/NoOp", op(NULL));
    eddy_scope_end(g);
    eddy_scope_begin(g, "bar/");
    called("bar/NoOp_2", op(NULL));
    eddy_scope_end(g);
    called("trailing", op("trailing/"));
    fits(g);
}
END_TEST

START_TEST(taken_suffixes_are_passed_over)
{
    called("foo_2", op("foo_2"));
    called("foo", op("foo"));
    called("foo_1", op("foo"));
    called("foo_3", op("foo"));
}
END_TEST

START_TEST(unique_name_previews_or_reserves)
{
    char buf[32], small[3];
    ck_assert_str_eq(eddy_unique_name(g, "a", false, buf, sizeof buf), "a");
    ck_assert_str_eq(eddy_unique_name(g, "a", true, buf, sizeof buf), "a");
    ck_assert_str_eq(eddy_unique_name(g, "a", false, buf, sizeof buf), "a_1");
    ck_assert_str_eq(eddy_unique_name(g, "a", false, small, sizeof small), "a_");
    called("a_1", op("a"));
    fits(g);
}
END_TEST

START_TEST(scope_null_is_the_root_for_a_while)
{
    eddy_scope_begin(g, "outer");
    eddy_scope_begin(g, "inner");
    called("outer/inner/a", op("a"));
    eddy_scope_begin(g, NULL);
    ck_assert_str_eq(eddy_scope_name(g), "");
    called("a", op("a"));
    eddy_scope_end(g);
    called("outer/inner/a_1", op("a"));
    eddy_scope_end(g);
    eddy_scope_begin(g, "_odd-/");
    fits(g);
    op("a");
    fails(g, EDDY_INVALID_ARGUMENT, "'_odd-/a' is not a valid name");
    eddy_scope_end(g);
    eddy_scope_end(g);
    fits(g);
}
END_TEST

START_TEST(bad_names_and_scopes)
{
    static const char *const bad[] = { "_a", "/a", "-a", "a b", "a:0", "a\nb", "\xc3\xa9", "a\\b",
                                       "" };
    for (int i = 0; i < 9; i++) {
        op(bad[i]);
        fails(g, EDDY_INVALID_ARGUMENT, "not a valid name");
    }
    eddy_scope_begin(g, "_a");
    fails(g, EDDY_INVALID_ARGUMENT, "not a valid scope name");
    eddy_scope_end(g);
    eddy_scope_end(g);
    fails(g, EDDY_INVALID_ARGUMENT, "no scope is open");
    ck_assert_int_eq(eddy_graph_size(g), 0);
    static char longest[10000];
    memset(longest, 'x', sizeof longest - 1);
    longest[4080] = 0;
    op(longest);
    fails(g, EDDY_LIMIT, "a name of 4080 characters is too long; the limit is 4079");
    longest[4079] = 0;
    op(longest);
    fits(g);
    longest[4079] = longest[4080] = 'x';
    op(longest);
    fails(g, EDDY_LIMIT, "too long");
    eddy_scope_begin(g, longest);
    fails(g, EDDY_LIMIT, "too long");
    eddy_scope_end(g);
}
END_TEST

START_TEST(named_renames)
{
    eddy_scope_begin(g, "s");
    eddy_tensor t = eddy_named("loss", Neg(eddy_scalar(g, 1)));
    called("s/loss", t);
    eddy_tensor u = eddy_named("loss", Neg(t));
    called("s/loss_1", u);
    called("top", eddy_named("top/", u));
    eddy_scope_end(g);
    ck_assert(!eddy_graph_has(g, "s/Neg"));
    ck_assert(!eddy_graph_has(g, "s/loss_1"));
    ck_assert(eddy_same(eddy_graph_tensor(g, "top:0"), u));
    called("top", eddy_named("no spaces", u).node ? u : u);
    fails(g, EDDY_INVALID_ARGUMENT, "not a valid name");
    ck_assert(eddy_same(eddy_graph_tensor(g, "top:0"), u));
    eddy_named("", t);
    fails(g, EDDY_INVALID_ARGUMENT, "no name");
}
END_TEST

/* --------------------------------------------------------------- look-up -- */

START_TEST(look_up_by_name)
{
    eddy_tensor c = eddy_named("c", eddy_scalar(g, 1)), n = op("n");
    eddy_tensor parts = eddy_unstack(eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(2), (float[]){ 1, 2 }));
    eddy_named("parts", parts);
    ck_assert(eddy_same(eddy_graph_tensor(g, "c:0"), c));
    ck_assert(eddy_same(eddy_graph_operation(g, "n"), n));
    ck_assert(eddy_same(eddy_graph_tensor(g, "parts:1"), eddy_output(parts, 1)));
    ck_assert(eddy_graph_has(g, "parts") && eddy_graph_has(g, "parts:1"));
    ck_assert(!eddy_graph_has(g, "parts:2") && !eddy_graph_has(g, "C") &&
              !eddy_graph_has(g, "n:0"));
    fits(g);
    eddy_graph_tensor(g, "nope:0");
    fails(g, EDDY_NOT_FOUND, "The operation, 'nope', does not exist in the graph.");
    eddy_graph_tensor(g, "c:1");
    fails(g, EDDY_NOT_FOUND, "exists but only has 1 outputs.");
    eddy_graph_tensor(g, "C:0");
    fails(g, EDDY_NOT_FOUND, "does not exist");
    static const char *const malformed[] = { "c",    "c:",   ":0", "c:x",
                                             "c:-1", "c:0 ", "",   "c:99999999999" };
    for (int i = 0; i < 8; i++) {
        eddy_graph_tensor(g, malformed[i]);
        fails(g, EDDY_INVALID_ARGUMENT, "is not the name of a tensor");
    }
    eddy_graph_operation(g, "c:0");
    fails(g, EDDY_NOT_FOUND, "refers to an Operation not in the graph.");
    eddy_graph_operation(g, NULL);
    fails(g, EDDY_NOT_FOUND, "not in the graph");
}
END_TEST

/* ----------------------------------------------------------- collections -- */

START_TEST(n06_collections_keep_order_and_repeats)
{
    eddy_tensor a = op("prefix/foo"), b = op("junk/foo"), out[3];
    eddy_collection_add(g, "key", a);
    eddy_collection_add(g, "key", b);
    eddy_collection_add(g, "key", a);
    ck_assert_int_eq(eddy_collection_get(g, "key", NULL, out, 3), 3);
    ck_assert(eddy_same(out[0], a) && eddy_same(out[1], b) && eddy_same(out[2], a));
    ck_assert_int_eq(eddy_collection_size(g, "absent"), 0);
    ck_assert_int_eq(eddy_collection_get(g, "absent", NULL, out, 3), 0);
    ck_assert_int_eq(eddy_collection_get(g, "key", "prefix", out, 3), 2);
    ck_assert_int_eq(eddy_collection_get(g, "key", "foo", out, 3), 0);
    ck_assert_int_eq(eddy_collection_get(g, "key", "", out, 1), 3);
    ck_assert(eddy_same(eddy_collection_at(g, "key", 1), b));
    eddy_collection_clear(g, "key");
    ck_assert_int_eq(eddy_collection_size(g, "key"), 0);
    fits(g);
}
END_TEST

START_TEST(n08_each_key_once)
{
    eddy_tensor t = op("t");
    eddy_collections_add(g, (const char *const[]){ "1", "2", "1" }, 3, t);
    ck_assert_int_eq(eddy_collection_size(g, "1"), 1);
    ck_assert_int_eq(eddy_collection_size(g, "2"), 1);
    eddy_collections_add(g, (const char *const[]){ "abc" }, 1, t);
    ck_assert_int_eq(eddy_collection_size(g, "abc"), 1);
    ck_assert_int_eq(eddy_collection_size(g, "a"), 0);
    ck_assert(eddy_collection_has(g, "abc", t));
}
END_TEST

/* -------------------------------------------------------------- controls -- */

static bool waits_for(eddy_tensor t, int n, const eddy_tensor *want)
{
    if (eddy_controls_of(t) != n) return false;
    for (int i = 0; i < n; i++) {
        bool found = false;
        for (int k = 0; k < n; k++) found = found || eddy_same(eddy_control(t, k), want[i]);
        if (!found) return false;
    }
    return true;
}

START_TEST(n10_nested_controls_add_up)
{
    eddy_tensor a[4] = { eddy_scalar(g, 1), eddy_scalar(g, 2), eddy_scalar(g, 3),
                         eddy_scalar(g, 4) };
    eddy_control_begin(g, (eddy_list){ 4, a });
    eddy_tensor at_once = eddy_scalar(g, 5);
    eddy_control_end(g);
    for (int i = 0; i < 4; i++) eddy_control_begin(g, (eddy_list){ 1, &a[i] });
    eddy_tensor nested = eddy_scalar(g, 5);
    eddy_control_clear(g);
    ck_assert_int_eq(eddy_controls_of(eddy_scalar(g, 5)), 0);
    eddy_control_end(g);
    for (int i = 0; i < 4; i++) eddy_control_end(g);
    ck_assert(waits_for(at_once, 4, a) && waits_for(nested, 4, a));
    eddy_control_end(g);
    fails(g, EDDY_INVALID_ARGUMENT, "no block is open");
}
END_TEST

START_TEST(n12_complex_controls)
{
    eddy_tensor a[5], b[5], c[5], d[5], e[5];
    for (int i = 1; i <= 4; i++) a[i] = eddy_scalar(g, i);
    e[0] = eddy_scalar(g, 9);
    for (int i = 1; i <= 4; i++) {
        eddy_control_begin(g, (eddy_list){ 1, &a[i] });
        b[i] = Add(a[3], a[4]);
        c[i] = Add(a[1], b[1]);
        d[i] = Add(b[i], c[i]);
        e[i] = Add(e[i - 1], e[i - 1]);
    }
    for (int i = 1; i <= 4; i++) eddy_control_end(g);
    fits(g);
    ck_assert(waits_for(b[1], 1, &a[1]) && waits_for(b[2], 2, &a[1]));
    ck_assert(waits_for(b[3], 2, &a[1]) && waits_for(b[4], 2, &a[1]));
    ck_assert(waits_for(c[1], 0, a) && waits_for(c[2], 1, &a[2]));
    ck_assert(waits_for(c[3], 2, &a[2]) && waits_for(c[4], 3, &a[2]));
    for (int i = 1; i <= 4; i++) ck_assert(waits_for(d[i], 0, a) && waits_for(e[i], 1, &a[i]));
}
END_TEST

START_TEST(n14_variables_wait_for_nothing)
{
    eddy_tensor c = eddy_scalar(g, 1), first = eddy_scalar(g, 2);
    eddy_control_begin(g, EDDY_LIST(c));
    eddy_tensor v = eddy_variable(g, first), k = eddy_scalar(g, 3);
    eddy_control_end(g);
    ck_assert_int_eq(eddy_controls_of(v), 0);
    ck_assert_int_eq(eddy_controls_of(eddy_collection_at(g, EDDY_INITIALIZERS, 0)), 0);
    ck_assert(waits_for(k, 1, &c));
}
END_TEST

/* ------------------------------------------------------------- variables -- */

START_TEST(n18_assignments_yield_the_new_value)
{
    eddy_tensor v = eddy_variable(g, eddy_scalar(g, 0)), one = eddy_scalar(g, 1);
    eddy_tensor plus = eddy_assign_add(v, one), minus = eddy_assign_sub(v, eddy_scalar(g, 2));
    eddy_tensor four = eddy_assign(v, eddy_scalar(g, 4)), init = eddy_initializer(g);
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, init);
    has(s, plus, 1, (double[]){ 1 });
    has(s, minus, 1, (double[]){ -1 });
    has(s, four, 1, (double[]){ 4 });
    has(s, v, 1, (double[]){ 4 });
    eddy_session_free(s);
}
END_TEST

START_TEST(n20_initialization_from_another_variable)
{
    eddy_tensor rnd = eddy_variable(g, eddy_random_normal(g, EDDY_SHAPE(3, 6)), .name = "rnd");
    eddy_tensor dep = eddy_variable(g, eddy_initialized_value(rnd), .name = "dep");
    eddy_tensor both = Add(Add(eddy_initialized_value(rnd), eddy_initialized_value(dep)), 2);
    eddy_tensor depdep = eddy_variable(g, both, .name = "depdep"), init = eddy_initializer(g);
    eddy_tensor first = Sub(dep, rnd), second = Sub(depdep, Add(Mul(2, rnd), 2));
    fits(g);
    eddy_session *s = eddy_session_new(g);
    runs(s, init);
    has(s, first, 18, (double[18]){ 0 });
    has(s, second, 18, (double[18]){ 0 });
    eddy_session_free(s);
}
END_TEST

/* ----------------------------------------------- finalize, shapes, others -- */

START_TEST(finalize_ends_building)
{
    eddy_tensor a = eddy_scalar(g, 2), y = Mul(a, 3), out;
    eddy_collection_add(g, "key", a);
    eddy_graph_finalize(g);
    ck_assert(eddy_graph_is_finalized(g));
    const int32_t size = eddy_graph_size(g);
    Add(a, a);
    fails(g, EDDY_FINALIZED, "Graph is finalized and cannot be modified.");
    eddy_collection_add(g, "key", y);
    fails(g, EDDY_FINALIZED, "finalized");
    eddy_collection_clear(g, "key");
    fails(g, EDDY_FINALIZED, "finalized");
    eddy_named("other", a);
    fails(g, EDDY_FINALIZED, "finalized");
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(a), &out);
    fails(g, EDDY_FINALIZED, "finalized");
    ck_assert_int_eq(eddy_graph_size(g), size);
    ck_assert_int_eq(eddy_collection_size(g, "key"), 1);
    is_number(y, 6);
}
END_TEST

START_TEST(set_shape_narrows)
{
    char buf[32];
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    ck_assert(eddy_same(eddy_set_shape(x, EDDY_SHAPE(EDDY_ANY, 3)), x));
    eddy_set_shape(x, EDDY_UNKNOWN_SHAPE);
    eddy_set_shape(x, EDDY_SHAPE(2, EDDY_ANY));
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(x), buf, sizeof buf), "[2,3]");
    fits(g);
    eddy_set_shape(x, EDDY_SHAPE(2, 4));
    fails(g, EDDY_BAD_SHAPE, "'x' is not compatible with [2,4]");
    eddy_set_shape(x, EDDY_SHAPE(2));
    fails(g, EDDY_BAD_SHAPE, "is not compatible with [2]");
    eddy_set_shape(x, (eddy_shape){ .rank = 99 });
    fails(g, EDDY_BAD_SHAPE, "is not compatible with");
    ck_assert_str_eq(eddy_shape_print(eddy_shape_of(x), buf, sizeof buf), "[2,3]");
}
END_TEST

START_TEST(shapes_of_too_many_dimensions_fit_nothing)
{
    const eddy_shape one = EDDY_SHAPE(1), any = EDDY_UNKNOWN_SHAPE;
    eddy_shape much = { .rank = EDDY_MAX_RANK + 1 }, more = { .rank = INT32_MAX }, out;
    ck_assert(!eddy_shape_equal(much, much) && !eddy_shape_equal(more, more));
    ck_assert(!eddy_shape_compatible(much, much) && !eddy_shape_compatible(more, any));
    ck_assert(!eddy_shape_compatible(any, much) && !eddy_shape_compatible(one, more));
    ck_assert(!eddy_shape_broadcast(much, one, &out) && !eddy_shape_broadcast(any, more, &out));
    ck_assert(eddy_shape_broadcast(one, any, NULL) && eddy_shape_broadcast(one, one, NULL));
}
END_TEST

START_TEST(devices_nest)
{
    eddy_device_begin(g, "/cpu:0");
    eddy_tensor a = eddy_scalar(g, 1);
    eddy_device_begin(g, "/gpu:1");
    eddy_tensor b = eddy_scalar(g, 1);
    eddy_device_begin(g, NULL);
    eddy_tensor c = eddy_scalar(g, 1);
    for (int i = 0; i < 3; i++) eddy_device_end(g);
    ck_assert_str_eq(eddy_device_of(a), "/cpu:0");
    ck_assert_str_eq(eddy_device_of(b), "/gpu:1");
    ck_assert_str_eq(eddy_device_of(c), "");
    fits(g);
    eddy_device_end(g);
    fails(g, EDDY_INVALID_ARGUMENT, "no device scope is open");
}
END_TEST

static void note(void *user, eddy_status s, const char *message)
{
    ck_assert_int_eq(s, EDDY_BAD_SHAPE);
    ck_assert(strstr(message, "MatMul") != NULL);
    ++*(int *)user;
}

START_TEST(the_first_error_wins)
{
    int calls = 0;
    eddy_graph_on_error(g, note, &calls);
    eddy_tensor a = eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)), bad = MatMul(a, a);
    ck_assert(!eddy_is_valid(bad) && bad.graph == g);
    ck_assert(!eddy_is_valid(Add(bad, 1)) && !eddy_is_valid(MatMul(a, bad)));
    op("not valid");
    ck_assert_int_eq(calls, 1);
    fails(g, EDDY_BAD_SHAPE, "MatMul(float32[2,3], float32[2,3])");
    ck_assert(eddy_is_valid(Add(a, 1)));
    fits(g);
}
END_TEST

START_TEST(handles_after_free)
{
    eddy_graph   *h = eddy_graph_new();
    eddy_tensor   t = eddy_scalar(h, 1), y = Neg(t), dx;
    eddy_session *s = eddy_session_new(h);
    eddy_callable *c = eddy_callable_new(s, EDDY_LIST(), EDDY_LIST(y));
    eddy_graph_free(h);
    eddy_graph_free(h);
    ck_assert(!eddy_is_valid(t) && !eddy_is_valid(Neg(t)) && !eddy_is_valid(Add(t, y)));
    ck_assert(!eddy_is_valid(eddy_no_op(h, NULL)) && !eddy_is_valid(eddy_scalar(h, 1)));
    ck_assert_str_eq(eddy_name_of(t), "");
    ck_assert_int_eq(eddy_graph_status(h), EDDY_INVALID_ARGUMENT);
    ck_assert_int_eq(eddy_gradients(EDDY_LIST(y), EDDY_LIST(t), &dx), EDDY_INVALID_ARGUMENT);
    ck_assert(!eddy_is_valid(Add(eddy_scalar(g, 1), t)));
    ck_assert_int_ne(eddy_graph_status(g), EDDY_OK);
    ck_assert_ptr_null(eddy_session_new(h));
    ck_assert_ptr_null(eddy_fetch(s, y));
    run_fails(s, EDDY_CLOSED, "the session's graph has been freed");
    ck_assert_int_eq(eddy_callable_run(c, NULL, NULL), EDDY_CLOSED);
    eddy_session_free(s);
    eddy_session_free(s);
    eddy_session_close(s);
    eddy_callable_free(c);
    ck_assert_int_eq(eddy_callable_run(c, NULL, NULL), EDDY_INVALID_ARGUMENT);
    ck_assert_ptr_null(eddy_fetch(s, y));
    ck_assert_int_eq(eddy_session_status(s), EDDY_INVALID_ARGUMENT);
}
END_TEST

/* ---------------------------------------------------------------- memory -- */

/* Builds, differentiates and trains; the status of the first thing that fails. */
static eddy_status whole_life(const eddy_allocator *a, double *loss)
{
    eddy_graph *h = eddy_graph_new(a);
    if (!h) return EDDY_NO_MEMORY;
    eddy_scope_begin(h, "model");
    network n = network_build(h);
    eddy_scope_end(h);
    eddy_status status = eddy_graph_status(h);
    eddy_session *s = eddy_session_new(h);
    eddy_array   *batch = network_batch(4), *out = NULL;
    if (!s && status == EDDY_OK) status = EDDY_NO_MEMORY;
    if (status == EDDY_OK) status = eddy_run(s, EDDY_FEED(), EDDY_FETCH(n.init), NULL);
    for (int i = 0; i < 2 && status == EDDY_OK; i++)
        status = eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train), NULL);
    if (status == EDDY_OK)
        status = eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.loss), &out);
    if (status == EDDY_OK) *loss = eddy_array_item(out);
    eddy_array_free(out);
    eddy_array_free(batch);
    eddy_session_free(s);
    eddy_graph_free(h);
    return status;
}

/* Refuses each allocation in turn, then also all after it: an error or the
 * right answer, no leak. */
START_TEST(every_allocation_may_fail)
{
    failing_allocator a;
    double            loss = 0, again = 0;
    failing_allocator_init(&a);
    ck_assert_int_eq(whole_life(&a.table, &loss), EDDY_OK);
    ck_assert_int_eq(a.live, 0);
    const long all = a.calls;
    ck_assert_int_gt(all, 20);
    for (long k = 1; k <= 2 * all; k++) {
        failing_allocator_init(&a);
        a.at = (k + 1) / 2;
        a.persistent = k % 2;
        const eddy_status status = whole_life(&a.table, &again);
        const bool        right =
            status == EDDY_OK && !a.persistent && memcmp(&loss, &again, sizeof loss) == 0;
        ck_assert_msg(status == EDDY_NO_MEMORY || right, "allocation %ld of %ld: %s", a.at, all,
                      eddy_status_name(status));
        ck_assert_msg(a.live == 0, "allocation %ld of %ld: %ld bytes leaked", a.at, all, a.live);
    }
    failing_allocator_init(&a);
    ck_assert_int_eq(whole_life(&a.table, &again), EDDY_OK);
    ck_assert(memcmp(&loss, &again, sizeof loss) == 0);
}
END_TEST

/* A run that had no memory can be tried again in the same session. */
START_TEST(memory_comes_back)
{
    failing_allocator a;
    failing_allocator_init(&a);
    eddy_graph   *h = eddy_graph_new(&a.table);
    network       n = network_build(h);
    eddy_session *s = eddy_session_new(h);
    eddy_array   *batch = network_batch(4);
    fits(h);
    runs(s, n.init);
    a.persistent = true;
    for (long k = 1;; k++) {
        a.at = a.calls + k;
        const eddy_status status =
            eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.train), NULL);
        if (status == EDDY_OK) break;
        ck_assert_int_eq(status, EDDY_NO_MEMORY);
        ck_assert_int_eq(eddy_graph_status(h), EDDY_OK);
    }
    a.at = 0;
    ck_assert_int_eq(eddy_run(s, EDDY_FEED({ n.x, batch }), EDDY_FETCH(n.loss), NULL), EDDY_OK);
    eddy_array_free(batch);
    eddy_session_free(s);
    eddy_graph_free(h);
    ck_assert_int_eq(a.live, 0);
}
END_TEST

Suite *graph_suite(void)
{
    const TTest *const tests[] = {
        n02_names_differ_whatever_their_case, n04_generated_names_and_scopes,
        taken_suffixes_are_passed_over, unique_name_previews_or_reserves,
        scope_null_is_the_root_for_a_while, bad_names_and_scopes, named_renames, look_up_by_name,
        n06_collections_keep_order_and_repeats, n08_each_key_once, n10_nested_controls_add_up,
        n12_complex_controls, n14_variables_wait_for_nothing,
        n18_assignments_yield_the_new_value, n20_initialization_from_another_variable,
        finalize_ends_building, set_shape_narrows, shapes_of_too_many_dimensions_fit_nothing,
        devices_nest, the_first_error_wins,
        handles_after_free, every_allocation_may_fail, memory_comes_back,
    };
    Suite *s = suite_create("graph");
    TCase *c = tcase_create("graph");
    tcase_add_checked_fixture(c, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) tcase_add_test(c, tests[i]);
    suite_add_tcase(s, c);
    return s;
}
