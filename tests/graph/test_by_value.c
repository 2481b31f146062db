/* test_by_value.c -- shapes and lists passed by value that no struct holds: ranks of -5 and 100,
 * counts of -1, INT_MAX and INT_MIN, no elements where there should be two. Builders of operations
 * get them from `make hostile`. */
#include "tests/lib/checks.h"

#include <limits.h>

Suite *by_value_suite(void);

static eddy_graph   *g;
static eddy_session *s;
static eddy_tensor   x, y;              /* y = x^2 */
static eddy_array   *value;

static void begin(void)
{
    g = eddy_graph_new();
    s = eddy_session_new(g);
    x = eddy_variable(g, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(2)));
    y = Square(x);
    value = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2));
    runs(s, eddy_initializer(g));
}

static void end(void)
{
    eddy_array_free(value);
    eddy_session_free(s);
    eddy_graph_free(g);
}

/* ---------------------------------------------------------------------- shapes -- */

static const eddy_shape shapes[] = {
    { -5, { 0 } }, { 9, { 0 } }, { 100, { 0 } }, { INT_MAX, { 1 } }, { INT_MIN, { 1 } },
    { 1, { -2 } }, { 2, { INT64_MAX, INT64_MAX } }, { 2, { (int64_t)1 << 62, 4 } },
    { 3, { 0, (int64_t)1 << 40, (int64_t)1 << 40 } }, { 1, { INT64_MIN } },
};

START_TEST(of_shapes)
{
    const eddy_shape bad = shapes[_i], good = EDDY_SHAPE(2, 3);
    eddy_shape       out = good;
    char             text[100];
    ck_assert(!eddy_shape_is_valid(bad));
    eddy_shape_is_known(bad);
    eddy_shape_count(bad);
    eddy_shape_equal(bad, good), eddy_shape_equal(good, bad), eddy_shape_equal(bad, bad);
    eddy_shape_compatible(bad, good), eddy_shape_compatible(good, bad);
    eddy_shape_compatible(bad, bad);
    eddy_shape_broadcast(bad, good, &out), eddy_shape_broadcast(good, bad, &out);
    eddy_shape_broadcast(bad, bad, &out), eddy_broadcast_static_shape(bad, bad, &out);
    for (size_t n = 0; n <= sizeof text; n += 20) eddy_shape_print(bad, text, n);
    ck_assert_ptr_nonnull(memchr(text, '\0', sizeof text));
}
END_TEST

static void keep(void *context, void *data) { (void)context, (void)data; }

START_TEST(of_arrays)
{
    const eddy_shape bad = shapes[_i];
    float            data[6] = { 0 };
    eddy_array_room  room;
    ck_assert_ptr_null(eddy_array_new(EDDY_FLOAT32, bad));
    ck_assert_ptr_null(eddy_array_new_in(NULL, EDDY_FLOAT32, bad));
    ck_assert_ptr_null(eddy_array_copy_of(EDDY_FLOAT32, bad, data));
    ck_assert_ptr_null(eddy_array_borrow(EDDY_FLOAT32, bad, data));
    ck_assert_ptr_null(eddy_array_adopt(EDDY_FLOAT32, bad, data, keep, NULL));
    ck_assert_ptr_null(eddy_array_view(&room, EDDY_FLOAT32, bad, data));
    ck_assert_ptr_null(eddy_array_shaped(&room, value, bad));
    eddy_const(g, EDDY_FLOAT32, bad, data), fails(g, eddy_graph_status(g), "hape");
    eddy_set_shape(y, bad), fails(g, EDDY_BAD_SHAPE, "set_shape");
    ck_assert(!eddy_is_valid(eddy_placeholder(g, NULL, EDDY_FLOAT32, bad)));
    fails(g, eddy_graph_status(g), "Placeholder");
}
END_TEST

/* ----------------------------------------------------------------------- lists -- */

static eddy_tensor two[2];
static const struct { int count; bool has_elements; } lists[] = {
    { -1, false }, { -1, true }, { INT_MIN, true }, { 2, false }, { INT_MAX, false },
};
enum { LISTS = sizeof lists / sizeof *lists };

static eddy_list list_at(int i)
{
    two[0] = two[1] = y;
    return (eddy_list){ lists[i].count, lists[i].has_elements ? two : NULL };
}

static int same(eddy_list in, eddy_tensor *out, void *context)
{
    (void)context;
    out[0] = in.at[0];
    return 1;
}
static const eddy_function itself = { .build = same };

/* The call before has recorded an error, which is cleared. */
static void refused(const char *what)
{
    ck_assert_msg(eddy_graph_status(g) != EDDY_OK, "%s takes the list", what);
    ck_assert_str_ne(eddy_graph_message(g), "");
    eddy_graph_clear_error(g);
}

static void differentiate(eddy_list bad)
{
    const eddy_list ys = EDDY_LIST(y), xs = EDDY_LIST(x);
    eddy_tensor out[4];
    eddy_gradients(bad, xs, out), refused("ys");
    eddy_gradients(ys, bad, out), refused("xs");
    eddy_gradients(ys, xs, out, .grad_ys = bad), refused("grad_ys");
    eddy_gradients(ys, xs, out, .stop_gradients = bad), refused("stop_gradients");
    eddy_jvp(.ys = bad, .xs = xs, .vs = xs, .out = out), refused("jvp ys");
    eddy_jvp(.ys = ys, .xs = bad, .vs = xs, .out = out), refused("jvp xs");
    eddy_jvp(.ys = ys, .xs = xs, .vs = bad, .out = out), refused("jvp vs");
    eddy_vjp(.ys = bad, .xs = xs, .us = ys, .out = out), refused("vjp ys");
    eddy_vjp(.ys = ys, .xs = bad, .us = ys, .out = out), refused("vjp xs");
    eddy_vjp(.ys = ys, .xs = xs, .us = bad, .out = out), refused("vjp us");
    eddy_hessian_vector_product(Sum(y), bad, xs, out), refused("hessian xs");
    eddy_hessian_vector_product(Sum(y), xs, bad, out), refused("hessian vs");
    eddy_jacobian(y, bad, out), refused("jacobian");
    eddy_hessians(Sum(y), bad, out), refused("hessians");
    eddy_custom_gradient(.y = bad, .x = xs, .out = out), refused("custom y");
    eddy_recompute_grad(bad, xs, out), refused("recompute y");
    eddy_recompute_grad(ys, bad, out), refused("recompute x");
}

static void record(eddy_list bad)
{
    eddy_tensor out[4];
    eddy_tape  *t = eddy_tape_new(g, .persistent = true);
    eddy_tape_watch(t, bad), refused("watch");
    eddy_tape_watch(t, EDDY_LIST(x));
    const eddy_tensor z = Square(x);
    eddy_tape_gradient(t, .target = bad, .sources = EDDY_LIST(x), .out = out), refused("target");
    eddy_tape_gradient(t, .target = EDDY_LIST(z), .sources = bad, .out = out), refused("sources");
    eddy_tape_gradient(t, .target = EDDY_LIST(z), .sources = EDDY_LIST(x), .out = out,
                       .output_gradients = bad);
    refused("output_gradients");
    eddy_tape_free(t);
}

static void control(eddy_list bad)
{
    /* Without a tensor there is no graph that could have an error. */
    const eddy_list xs = EDDY_LIST(x);
    eddy_tensor out[EDDY_MAX_RESULTS], yes = eddy_number(g, EDDY_BOOL, 1);
    ck_assert_int_le(eddy_vmap(itself, bad, out), 0);
    eddy_cond(yes, itself, itself, .x = bad, .out = out), refused("cond");
    ck_assert_int_le(eddy_while_loop(itself, itself, bad, out), 0);
    ck_assert_int_le(eddy_iterate(3, itself, bad, out), 0);
    eddy_loop(itself, bad, xs, out), refused("carried");
    eddy_loop(itself, xs, bad, out), refused("rows");
    eddy_scan(itself, bad, out, xs), refused("elems");
    eddy_scan(itself, xs, out, bad), refused("initializer");
    ck_assert_int_le(eddy_foldl(itself, bad, out), 0);
    ck_assert_int_le(eddy_foldr(itself, bad, out), 0);
    ck_assert_int_le(eddy_map_fn(itself, bad, out), 0);
    ck_assert_int_le(eddy_fixed_point(itself, bad, out, xs), 0);
    eddy_fixed_point(itself, xs, out, bad), refused("theta");
    ck_assert_int_le(eddy_root(itself, bad, out, xs), 0);
    eddy_root(itself, xs, out, bad), refused("root of theta");
    eddy_control_begin(g, bad), refused("control_begin");
    eddy_control_end(g);
    eddy_graph_clear_error(g);
}

START_TEST(of_builders)
{
    static void (*const calls[])(eddy_list) = { differentiate, record, control };
    calls[_i / LISTS](list_at(_i % LISTS));
    runs(s, y);
}
END_TEST

START_TEST(of_runs)
{
    const eddy_list  bad = list_at(_i);
    const eddy_feeds feeds = { lists[_i].count, NULL };
    eddy_array      *out[2] = { NULL };
    ck_assert_int_ne(eddy_run(s, feeds, EDDY_LIST(y), out), EDDY_OK);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), bad, NULL), EDDY_OK);
    ck_assert_ptr_null(eddy_callable_new(s, bad, EDDY_LIST(y)));
    ck_assert_ptr_null(eddy_callable_new(s, EDDY_LIST(), bad));
    ck_assert_int_ne(eddy_save(s, "build/by_value.safetensors", bad), EDDY_OK);
    ck_assert_int_ne(eddy_restore(s, "build/by_value.safetensors", bad), EDDY_OK);
    ck_assert_ptr_null(eddy_extract(bad, .freeze = s));
    ck_assert_ptr_null(eddy_extract(EDDY_LIST(y), .freeze = s, .inputs = bad));
    ck_assert_str_ne(eddy_session_message(s), "");
    eddy_graph_clear_error(g);
    runs(s, y);
}
END_TEST

Suite *by_value_suite(void)
{
    Suite *suite = suite_create("by_value");
    TCase *c = tcase_create("values");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_loop_test(c, of_shapes, 0, (int)(sizeof shapes / sizeof *shapes));
    tcase_add_loop_test(c, of_arrays, 0, (int)(sizeof shapes / sizeof *shapes));
    tcase_add_loop_test(c, of_builders, 0, 3 * LISTS);
    tcase_add_loop_test(c, of_runs, 0, LISTS);
    suite_add_tcase(suite, c);
    return suite;
}
