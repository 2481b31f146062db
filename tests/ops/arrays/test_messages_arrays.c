/* test_messages_arrays.c -- error messages of the operations that move, join, split and create
 * elements, apart from those in tests/graph/test_errors.c. */
#include "tests/lib/golden.h"
#include "build/gen/table.h"

Suite *messages_arrays_suite(void);

static eddy_graph *g;
static eddy_tensor x, i, flags, scalar, wide, open;     /* of the shapes below */

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor floats(eddy_shape s) { return of(EDDY_FLOAT32, s); }
static eddy_tensor ints(eddy_shape s) { return of(EDDY_INT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(5));
    flags = eddy_placeholder(g, "flags", EDDY_BOOL, EDDY_SHAPE(2, 3));
    scalar = eddy_placeholder(g, "scalar", EDDY_FLOAT32, EDDY_SCALAR);
    wide = eddy_placeholder(g, "wide", EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
    open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
}

static void teardown(void) { eddy_graph_free(g); }

/* ---------------------------------------------------- shapes and elements -- */

static void broadcasting(void)
{
    eddy_broadcast_to(x, EDDY_SHAPE(EDDY_ANY, 3)), golden_graph(g);
    eddy_broadcast_like(x, i), golden_graph(g);
    eddy_sum_like(flags, x), golden_graph(g);
    eddy_sum_like(x, i), golden_graph(g);
    eddy_broadcast_along(x, floats(EDDY_SHAPE(2, 3, 4)), EDDY_AXES(1), false), golden_graph(g);
    eddy_broadcast_along(x, floats(EDDY_SHAPE(2, 3, 4)), EDDY_AXES(2), true), golden_graph(g);
    eddy_broadcast_along(x, i, EDDY_AXES(0), false), golden_graph(g);
    eddy_cast(x, EDDY_DEFAULT_DTYPE), golden_graph(g);
}

static void reshaping(void)
{
    eddy_reshape(x, EDDY_UNKNOWN_SHAPE), golden_graph(g);
    eddy_reshape(x, EDDY_SHAPE(0, -1)), golden_graph(g);
    eddy_reshape(x, EDDY_SHAPE(4, -1)), golden_graph(g);
    eddy_reshape(eddy_placeholder(g, "rows", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 3)), EDDY_SHAPE(4));
    golden_graph(g);
    eddy_reshape_to(x, scalar), golden_graph(g);
    eddy_reshape_to(x, ints(EDDY_SHAPE(1, 2))), golden_graph(g);
    eddy_reshape_to(x, ints(EDDY_SHAPE(9))), golden_graph(g);
    eddy_reshape_like(x, i), golden_graph(g);
    eddy_merge_leading(x, i), golden_graph(g);
    eddy_expand_dims(wide, 0), golden_graph(g);
    eddy_squeeze(x, (eddy_dims){ .count = 9 }), golden_graph(g);
    eddy_transpose(x, (eddy_dims){ .count = 9 }), golden_graph(g);
    eddy_transpose(x, EDDY_DIMS(0)), golden_graph(g);
}

static void sizes_and_numbers(void)
{
    const eddy_tensor one = eddy_scalar(g, 1), two = eddy_scalar(g, 2);
    eddy_shape_tensor(x, EDDY_FLOAT32), golden_graph(g);
    eddy_size(of(EDDY_UINT8, EDDY_SHAPE((int64_t)1 << 40)), EDDY_INT32), golden_graph(g);
    eddy_row_numbers(scalar, EDDY_INT32), golden_graph(g);
    eddy_range(one, two, eddy_scalar(g, 0)), golden_graph(g);
    eddy_range(one, two, eddy_scalar(g, -1)), golden_graph(g);
    eddy_range(one, two, i), golden_graph(g);
    eddy_range(one, two, x), golden_graph(g);
    eddy_range(of(EDDY_UINT8, EDDY_SCALAR), of(EDDY_UINT8, EDDY_SCALAR),
               of(EDDY_UINT8, EDDY_SCALAR)), golden_graph(g);
    eddy_one_hot(x, 4), golden_graph(g);
    eddy_one_hot(i, 4, .dtype = (eddy_dtype)77), golden_graph(g);
    eddy_one_hot(i, -1), golden_graph(g);
    eddy_one_hot(eddy_cast(wide, EDDY_INT32), 4), golden_graph(g);
    eddy_one_hot(i, 4, .axis = EDDY_AXES(0, 1)), golden_graph(g);
}

static void sources(void)
{
    eddy_placeholder_with_default(x, NULL, EDDY_SHAPE(2, 4)), golden_graph(g);
    eddy_constant(g, NULL, NULL), golden_graph(g);
    eddy_const(g, (eddy_dtype)77, EDDY_SCALAR, NULL), golden_graph(g);
    eddy_number(g, (eddy_dtype)77, 1), golden_graph(g);
    eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY)), golden_graph(g);
    eddy_ones(g, EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE), golden_graph(g);
    eddy_fill(i, x), golden_graph(g);
    eddy_fill(x, scalar), golden_graph(g);
    eddy_fill(ints(EDDY_SHAPE(1, 2)), scalar), golden_graph(g);
    eddy_fill(ints(EDDY_SHAPE(9)), scalar), golden_graph(g);
    eddy_fill(eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 2, -3 }), scalar);
    golden_graph(g);
}

START_TEST(shapes_and_sources)
{
    golden_begin("ops/arrays_shapes");
    broadcasting();
    reshaping();
    sizes_and_numbers();
    sources();
    golden_end();
}
END_TEST

/* ------------------------------------------------- joining and cutting -- */

static void joining(void)
{
    enum { MANY = 1 << 15 };
    static eddy_tensor many[MANY];
    many[0] = floats(EDDY_SHAPE((int64_t)1 << 48, 0));
    for (int k = 1; k < MANY; k++) many[k] = many[0];
    eddy_add_n(EDDY_LIST(flags, flags), NULL), golden_graph(g);
    eddy_add_n(EDDY_LIST(x, wide), NULL), golden_graph(g);
    eddy_concat(EDDY_LIST(x, i), 0), golden_graph(g);
    eddy_concat(EDDY_LIST(scalar, scalar), 0), golden_graph(g);
    eddy_concat(((eddy_list){ MANY, many }), 0), golden_graph(g);
    eddy_stack(EDDY_LIST(x, i), 0), golden_graph(g);
    eddy_stack(EDDY_LIST(wide, wide), 0), golden_graph(g);
}

static void splitting(void)
{
    const eddy_tensor long_one = of(EDDY_UINT8, EDDY_SHAPE(65536));
    eddy_unstack(x, 0, .num = -1), golden_graph(g);
    eddy_unstack(open, 0), golden_graph(g);
    eddy_unstack(x, 0, .num = 3), golden_graph(g);
    eddy_unstack(long_one, 0), golden_graph(g);
    eddy_split(x, 0), golden_graph(g);
    eddy_split_sizes(x, NULL, 0), golden_graph(g);
    eddy_split_sizes(x, ((int64_t[]){ 1, -2 }), 2), golden_graph(g);
    eddy_split_sizes(x, ((int64_t[]){ -1, -1 }), 2), golden_graph(g);
    eddy_split_sizes(open, ((int64_t[]){ INT64_MAX, 1 }), 2), golden_graph(g);
    eddy_split_sizes(x, ((int64_t[]){ 1, 3 }), 2, .axis = 1), golden_graph(g);
    eddy_split_like(x, EDDY_LIST(x, x), 1), golden_graph(g);
    eddy_split_like((eddy_tensor){ .graph = g }, EDDY_LIST(x), 1), golden_graph(g);
    eddy_split_like(x, EDDY_LIST(), 1), golden_graph(g);
}

static void cutting(void)
{
    const eddy_tensor two = eddy_const(g, EDDY_INT64, EDDY_SHAPE(2), (const int64_t[]){ 0, 0 });
    eddy_slice(x, (eddy_dims){ .count = 9 }, EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_slice(x, EDDY_DIMS(0), EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_slice(x, EDDY_DIMS(-1, 0), EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_slice(x, EDDY_DIMS(0, 0), EDDY_DIMS(1, -2)), golden_graph(g);
    eddy_slice(open, EDDY_DIMS(0), EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_slice_like(x, i, EDDY_DIMS(0, 0)), golden_graph(g);
    eddy_slice_grad(x, i, EDDY_DIMS(0, 0)), golden_graph(g);
    eddy_slice_at(x, floats(EDDY_SHAPE(2)), x), golden_graph(g);
    eddy_slice_at(x, i, x), golden_graph(g);
    eddy_slice_at(x, two, i), golden_graph(g);
    eddy_slice_at(x, two, floats(EDDY_SHAPE(2, 4))), golden_graph(g);
    eddy_pad_at(floats(EDDY_SHAPE(2, 4)), two, x), golden_graph(g);
    eddy_pad(open, .before = EDDY_DIMS(1), .after = EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_pad(x, .before = EDDY_DIMS(-1, 0)), golden_graph(g);
    eddy_tile(x, EDDY_DIMS(2, -1)), golden_graph(g);
    eddy_tile_grad(flags, x, EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_tile_grad(x, i, EDDY_DIMS(1, 1)), golden_graph(g);
    eddy_tile_grad(x, x, EDDY_DIMS(1, 2)), golden_graph(g);
}

START_TEST(joining_and_cutting)
{
    golden_begin("ops/arrays_parts");
    joining();
    splitting();
    cutting();
    golden_end();
}
END_TEST

/* ------------------------------------------------------ rows and variables -- */

static void gathering(void)
{
    eddy_gather(scalar, i), golden_graph(g);
    eddy_gather(wide, ints(EDDY_SHAPE(2, 2))), golden_graph(g);
    eddy_gather_grad(flags, i, x), golden_graph(g);
    eddy_gather_grad(x, i, x), golden_graph(g);
    eddy_gather(x, i, .batch_dims = -9), golden_graph(g);
    eddy_gather(x, i, .axis = 1, .batch_dims = 2), golden_graph(g);
    eddy_gather(x, i, .axis = 1, .batch_dims = 1), golden_graph(g);
}

static void examples(void)
{
    eddy_example(scalar), golden_graph(g);
    eddy_batch_like(x, scalar), golden_graph(g);
    eddy_batch_like(wide, x), golden_graph(g);
    eddy_basis_like(wide), golden_graph(g);
    eddy_unflatten_like(x, i, 0, 2), golden_graph(g);
    eddy_unflatten_like(x, wide, 0, 0), golden_graph(g);
    eddy_unflatten_like(x, i, 0, 0), golden_graph(g);
}

static void slices(void)
{
    const eddy_tensor two = ints(EDDY_SHAPE(2));
    eddy_indexed_slices(flags, two, flags), golden_graph(g);
    eddy_indexed_slices(x, ints(EDDY_SHAPE(2, 1)), x), golden_graph(g);
    eddy_indexed_slices(scalar, two, x), golden_graph(g);
    eddy_indexed_slices(x, i, x), golden_graph(g);
    eddy_indexed_slices(x, two, i), golden_graph(g);
    eddy_slices_with_values(x, x), golden_graph(g);
    eddy_inplace_add(flags, two, flags), golden_graph(g);
    eddy_inplace_add(x, i, x), golden_graph(g);
    eddy_first_positions(ints(EDDY_SCALAR)), golden_graph(g);
    eddy_slices_sum_duplicates_of(x, two, scalar), golden_graph(g);
}

static void variables(void)
{
    const eddy_tensor v = eddy_variable(g, eddy_zeros(g, EDDY_FLOAT32, EDDY_SHAPE(2, 3)));
    const eddy_tensor yes = eddy_variable(g, eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(2, 3)));
    const eddy_tensor step = eddy_variable(g, eddy_scalar(g, 0));
    eddy_scatter_update(v, i, ints(EDDY_SHAPE(5, 3))), golden_graph(g);
    eddy_scatter_update(step, i, x), golden_graph(g);
    eddy_scatter_update(v, i, x), golden_graph(g);
    eddy_scatter_add(yes, i, flags), golden_graph(g);
    eddy_assign_add(yes, flags), golden_graph(g);
    eddy_initialized_value(x), golden_graph(g);
    eddy_apply2(&eddy_op_initialized_value, NULL, v, i), golden_graph(g);
    eddy_apply2(&eddy_op_initialized_value, NULL, v, wide), golden_graph(g);
    eddy_tuple(g, EDDY_LIST(), &(eddy_tensor){ .graph = NULL }, NULL), golden_graph(g);
    eddy_grad_pass_through(x, i), golden_graph(g);
    eddy_identity_n(EDDY_LIST(x), 2), golden_graph(g);
}

START_TEST(rows_and_variables)
{
    golden_begin("ops/arrays_rows");
    gathering();
    examples();
    slices();
    variables();
    golden_end();
}
END_TEST

Suite *messages_arrays_suite(void)
{
    Suite *suite = suite_create("messages_arrays");
    TCase *c = tcase_create("arrays");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, shapes_and_sources);
    tcase_add_test(c, joining_and_cutting);
    tcase_add_test(c, rows_and_variables);
    suite_add_tcase(suite, c);
    return suite;
}
