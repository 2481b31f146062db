/* test_messages_kernels.c -- error messages for invalid values in a run, and out-of-memory messages
 * of operations and builders. */
#include "tests/lib/golden.h"
#include "tests/lib/files/memory_files.h"
#include "tests/lib/session_fixture.h"

#include <math.h>

Suite *messages_kernels_suite(void);

/* A run of t fails with the next line. */
static void run_says(eddy_tensor t)
{
    fits(g);
    ck_assert_int_ne(eddy_run(s, EDDY_FEED(), EDDY_FETCH(t), NULL), EDDY_OK);
    golden_line(eddy_session_message(s));
}

static eddy_tensor floats(int64_t n, const float *v)
{
    return eddy_const(g, EDDY_FLOAT32, EDDY_SHAPE(n), v);
}

static eddy_tensor ints(int64_t n, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, EDDY_SHAPE(n), v);
}

/* -------------------------------------------------------------- bad values -- */

static void checks(void)
{
    const eddy_tensor inf = floats(3, (float[]){ 1, INFINITY, 2 });
    const eddy_tensor nan = floats(3, (float[]){ NAN, 0, 0 });
    const eddy_tensor both = eddy_stack(EDDY_LIST(nan, inf), 0);
    const eddy_tensor x = floats(4, (float[]){ 1, 2, 3, 4 });
    run_says(eddy_check_numerics(inf, "x is broken"));
    run_says(eddy_check_numerics(nan, "x is broken"));
    run_says(eddy_check_numerics(both, ""));
    run_says(eddy_ensure(x, Less(x, 3), "x is not below 3"));
    run_says(eddy_ensure(nan, Less(x, 3), NULL));
    run_says(eddy_assert(Less(x, 3), .message = "x is below 3"));
    run_says(eddy_assert(Less(x, 3), EDDY_LIST(x, Square(x)), "x is below 3"));
    run_says(eddy_assert(Less(x, 3), EDDY_LIST(x), .summarize = -1));
}

static void integers_and_indices(void)
{
    const eddy_tensor a = ints(2, (int32_t[]){ 4, 5 }), b = ints(2, (int32_t[]){ 2, 0 });
    const eddy_tensor minus = ints(2, (int32_t[]){ 1, -1 });
    const eddy_tensor logits = eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    run_says(Div(a, b));
    run_says(FloorDiv(a, b));
    run_says(Pow(a, minus));
    run_says(eddy_gather(a, minus));
    run_says(eddy_gather(a, eddy_const(g, EDDY_INT64, EDDY_SHAPE(1, 2), (int64_t[]){ 0, 2 })));
    run_says(eddy_gather_grad(floats(2, (float[]){ 1, 1 }), b, floats(2, (float[]){ 1, 1 })));
    run_says(eddy_sparse_softmax_cross_entropy(a, logits));
    run_says(eddy_sparse_softmax_cross_entropy(minus, logits));
}

static void rows_and_variables(void)
{
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2)));
    const eddy_tensor at = ints(2, (int32_t[]){ 0, 2 }), rows = floats(2, (float[]){ 1, 1 });
    run_says(eddy_read(v));
    run_says(eddy_assign_add(v, rows));
    run_says(eddy_scatter_add(v, at, rows));
    run_says(eddy_indexed_slices(rows, at, v));
    run_says(eddy_indexed_slices_of(rows, at, EDDY_UNKNOWN_SHAPE));
    run_says(eddy_slices_sum_duplicates_of(rows, at, v));
    runs(s, eddy_initializer(g));
    run_says(eddy_scatter_update(v, at, rows));
}

/* --------------------------------------------------- an op that breaks rules -- */

static bool six_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_tile_fn six_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in;
    (void)out;
    return NULL;
}

static const eddy_op_def six = { .name = "Six", .min_inputs = 1, .max_inputs = 6, .outputs = 1,
                                 .flags = EDDY_OP_ELEMENTWISE, .infer = six_infer,
                                 .tile = six_tile };

static eddy_status failing_loop(int64_t n, void *y, const void *const *x, const void *attrs)
{
    (void)n;
    (void)y;
    (void)x;
    (void)attrs;
    return EDDY_OUT_OF_RANGE;
}
static eddy_tile_fn failing_tile(const eddy_type *in, const eddy_type *out)
{
    (void)in;
    (void)out;
    return failing_loop;
}
static const eddy_op_def failing = { .name = "Pow", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
                                     .flags = EDDY_OP_ELEMENTWISE, .infer = six_infer,
                                     .tile = failing_tile };
static const eddy_op_def explained = { .name = "Explained", .min_inputs = 1, .max_inputs = 1,
                                       .outputs = 1, .flags = EDDY_OP_ELEMENTWISE,
                                       .infer = six_infer, .tile = failing_tile,
                                       .no_result = "x is a leap second" };

static void elementwise(void)
{
    const eddy_tensor one = eddy_scalar(g, 1), in[] = { one, one, one, one, one, one };
    run_says(eddy_apply1(&failing, NULL, one));
    run_says(eddy_apply1(&explained, NULL, one));
    run_says(eddy_apply1(&six, NULL, one));
    run_says(eddy_apply(&six, NULL, 6, in, (eddy_apply_args){ 0 }));
}

START_TEST(of_kernels)
{
    golden_begin("ops/kernels");
    checks();
    integers_and_indices();
    rows_and_variables();
    elementwise();
    golden_end();
}
END_TEST

/* -------------------------------------------------------------- no memory -- */

/* Ops that keep something from run to run, of floats x [2,4] and integers row [4]. */
typedef eddy_tensor keeper(eddy_tensor x, eddy_tensor row);

static eddy_tensor summed_like(eddy_tensor x, eddy_tensor row) { return eddy_sum_like(x, row); }
static eddy_tensor added(eddy_tensor x, eddy_tensor row)
{
    (void)row;
    return Add(x, x);
}
static eddy_tensor folded(eddy_tensor x, eddy_tensor row)
{
    (void)row;
    return eddy_max(x, EDDY_AXES(0));
}
static eddy_tensor moved(eddy_tensor x, eddy_tensor row)
{
    (void)row;
    return eddy_transpose(x);
}
static eddy_tensor padded(eddy_tensor x, eddy_tensor row)
{
    (void)row;
    return eddy_pad(x, EDDY_DIMS(1, 1));
}
static eddy_tensor untiled(eddy_tensor x, eddy_tensor row)
{
    return eddy_tile_grad(x, eddy_expand_dims(row, 0), EDDY_DIMS(2, 1));
}
static eddy_tensor one_hot(eddy_tensor x, eddy_tensor row)
{
    (void)x;
    return eddy_one_hot(row, 3);
}

static eddy_tensor basis(eddy_tensor x, eddy_tensor row)
{
    (void)x;
    return eddy_basis_like(row);
}

/* A run of n nodes of one op in which the allocation `at` fails; false if there
 * were less.  Which of the nodes it meets is left out of the message. */
static bool run_keepers(keeper *make, int n, long at, eddy_error *e)
{
    enum { MOST = 500 };
    eddy_tensor       y[MOST];
    failing_allocator f;
    failing_allocator_init(&f);
    eddy_graph   *h = eddy_graph_new(.allocator = &f.table);
    eddy_tensor   x = eddy_placeholder(h, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 4));
    eddy_tensor   row = eddy_placeholder(h, "row", EDDY_INT32, EDDY_SHAPE(4));
    eddy_session *t = eddy_session_new(h, .without = EDDY_PASSES_ALL);
    eddy_array   *x_value = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(2, 4));
    eddy_array   *row_value = eddy_array_new(EDDY_INT32, EDDY_SHAPE(4));
    for (int k = 0; k < n && n <= MOST; k++) y[k] = make(x, row);
    fits(h);
    f.at = f.calls + at;
    eddy_run(t, EDDY_FEED({ x, x_value }, { row, row_value }), (eddy_list){ n, y }, NULL);
    snprintf(e->message, sizeof e->message, "%s", eddy_session_message(t));
    char *node = strstr(e->message, " [node");
    if (node) *node = 0;
    eddy_array_free(x_value);
    eddy_array_free(row_value);
    eddy_session_free(t);
    eddy_graph_free(h);
    return f.calls >= f.at;
}

/* The memory that ops keep grows now and then: tries until it does so there. */
static void keeper_says(keeper *make)
{
    eddy_error e = { 0 };
    for (int n = 1; n < 500; n++)
        for (long at = 1; run_keepers(make, n, at, &e); at++)
            if (strstr(e.message, ": out of memory for the ")) {
                golden_error(&e);
                return;
            }
    ck_abort_msg("no kernel ran out of memory");
}

/* Builders that need memory for a list. */
static void build_without_memory(failing_allocator *f, eddy_error *e)
{
    enum { MANY = 20 };
    const long  at = f->at;
    f->at = 0;
    eddy_graph *h = eddy_graph_new(.allocator = &f->table);
    eddy_tensor x = eddy_ones(h, EDDY_FLOAT32, EDDY_SHAPE(1, 2)), all[MANY], out[2];
    eddy_tensor indices = eddy_placeholder(h, "i", EDDY_INT32, EDDY_SHAPE(1));
    eddy_tensor wide = eddy_placeholder(h, "wide", EDDY_FLOAT32, EDDY_SHAPE(MANY, 2));
    eddy_tensor slices = eddy_indexed_slices(x, indices, x);
    for (int i = 0; i < MANY; i++) all[i] = x;
    eddy_variable(h, x);
    f->at = f->calls + at;
    eddy_global_norm(EDDY_LIST(x, x));
    eddy_tuple(h, EDDY_LIST(x, x), out, NULL);
    eddy_split_like(wide, (eddy_list){ MANY, all }, 0);
    eddy_slices_add(EDDY_LIST(slices, slices));
    eddy_initializer(h);
    eddy_const(h, EDDY_UINT8, EDDY_SHAPE(3, 4), "a dozen of it");
    e->status = eddy_graph_status(h);
    snprintf(e->message, sizeof e->message, "%s", eddy_graph_message(h));
    golden_forget_nodes(e);
    eddy_graph_free(h);
}

START_TEST(of_memory)
{
    golden_begin("ops/kernels_ops_memory");
    keeper *const all[] = { summed_like, added, folded, moved, padded, untiled, one_hot,
                            basis };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) keeper_says(all[k]);
    golden_no_memory(build_without_memory);
    golden_end();
}
END_TEST

Suite *messages_kernels_suite(void)
{
    Suite *suite = suite_create("messages_kernels");
    TCase *c = tcase_create("kernels");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, of_kernels);
    tcase_add_test(c, of_memory);
    suite_add_tcase(suite, c);
    return suite;
}
