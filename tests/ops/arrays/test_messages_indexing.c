/* test_messages_indexing.c -- error messages of slices, mirroring, tuples, diagonals, blocks and
 * selection by value. */
#include "tests/lib/golden.h"
#include "build/gen/table.h"

Suite *messages_indexing_suite(void);

static eddy_graph *g;
static eddy_tensor x, v, i, flags, scalar, wide, open, half, pairs;     /* of the shapes below */

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor ints(eddy_shape s) { return of(EDDY_INT32, s); }

static void setup(void)
{
    g = eddy_graph_new();
    x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    v = eddy_placeholder(g, "v", EDDY_FLOAT32, EDDY_SHAPE(5));
    i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(5));
    flags = eddy_placeholder(g, "flags", EDDY_BOOL, EDDY_SHAPE(2, 3));
    scalar = eddy_placeholder(g, "scalar", EDDY_FLOAT32, EDDY_SCALAR);
    wide = eddy_placeholder(g, "wide", EDDY_FLOAT32, EDDY_SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
    open = eddy_placeholder(g, "open", EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE);
    half = eddy_placeholder(g, "half", EDDY_FLOAT16, EDDY_SHAPE(2, 3));
    pairs = eddy_placeholder(g, "pairs", EDDY_COMPLEX64, EDDY_SHAPE(2, 3));
}

static void teardown(void) { eddy_graph_free(g); }

/* The gradient of y to x where dy has another shape or type than y. */
static void back(eddy_tensor y, eddy_tensor dy)
{
    const eddy_node *node = eddy_node_of(y);
    const bool slice = strcmp(node->op->name, "StridedSlice") == 0;
    eddy_apply2(slice ? &eddy_op_strided_slice_grad : &eddy_op_mirror_pad_grad, node->attrs, dy,
                node->inputs[0]);
    golden_graph(g);
}

/* ----------------------------------------------------------------- slices -- */

START_TEST(slices)
{
    const eddy_dims nine = { .count = 9 };
    golden_begin("ops/indexing_slices");
    eddy_strided_slice(x, nine, nine), golden_graph(g);
    eddy_strided_slice(x, EDDY_DIMS(0), EDDY_DIMS(1, 2)), golden_graph(g);
    eddy_strided_slice(x, EDDY_DIMS(0), EDDY_DIMS(1), EDDY_DIMS(0)), golden_graph(g);
    eddy_strided_slice(x, EDDY_DIMS(0), EDDY_DIMS(1), EDDY_DIMS(-1), .shrink_axis_mask = 1);
    golden_graph(g);
    eddy_strided_slice(x, EDDY_DIMS(0, 0), EDDY_DIMS(1, 1), .ellipsis_mask = 3), golden_graph(g);
    eddy_index(x, "2"), golden_graph(g);
    eddy_index(x, ":, :, 1"), golden_graph(g);
    eddy_index(wide, "newaxis"), golden_graph(g);
    back(eddy_index(x, "1"), x);
    eddy_index((eddy_tensor){ .graph = g }, "1"), golden_graph(g);
    eddy_index(x, NULL), golden_graph(g);
    static const char *const texts[] = {
        "", "1, a", "1 2", "..", "..., ...", "1:2:0", "99999999999999999999", "1,,2",
        "1,1,1,1,1,1,1,1,1",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        eddy_index(x, texts[k]), golden_graph(g);
    golden_end();
}
END_TEST

START_TEST(mirror_padding)
{
    golden_begin("ops/indexing_mirror_pad");
    eddy_mirror_pad(x, EDDY_DIMS(0, -1), EDDY_DIMS(0, 0)), golden_graph(g);
    eddy_mirror_pad(x, EDDY_DIMS(0, 3), EDDY_DIMS(0, 0)), golden_graph(g);
    eddy_mirror_pad(open, EDDY_DIMS(1), EDDY_DIMS(0, 0)), golden_graph(g);
    back(eddy_mirror_pad(x, EDDY_DIMS(1, 1), EDDY_DIMS(0, 0)), x);
    back(eddy_mirror_pad(x, EDDY_DIMS(1, 1), EDDY_DIMS(0, 0)), flags);
    back(eddy_mirror_pad(v), x);
    golden_end();
}
END_TEST

static void lengths(void)
{
    eddy_reverse_sequence(x, ints(EDDY_SHAPE(2, 2)), 1, 0), golden_graph(g);
    eddy_reverse_sequence(x, i, 1, -1), golden_graph(g);
    eddy_reverse_sequence(x, i, 1, 0), golden_graph(g);
    eddy_roll(x, INT64_MIN), golden_graph(g);
}

/* ----------------------------------------------------------------- tuples -- */

static void tuples(void)
{
    eddy_gather_nd(x, ints(EDDY_SCALAR)), golden_graph(g);
    eddy_gather_nd(x, i, .batch_dims = 1), golden_graph(g);
    eddy_gather_nd(x, ints(EDDY_SHAPE(4, 3))), golden_graph(g);
    eddy_gather_nd(x, ints(EDDY_SHAPE(4, 1)), .batch_dims = 1), golden_graph(g);
    eddy_gather_nd(wide, ints(EDDY_SHAPE(4, 4, 1))), golden_graph(g);
    eddy_scatter_nd_like(ints(EDDY_SHAPE(4, 1)), v, x, 0), golden_graph(g);
    eddy_scatter_nd_like(ints(EDDY_SHAPE(4, 1)), flags, x, 0), golden_graph(g);
    eddy_tensor_scatter_update(x, ints(EDDY_SHAPE(2, 1)), flags), golden_graph(g);
    eddy_tensor_scatter_add(flags, ints(EDDY_SHAPE(2, 1)), flags), golden_graph(g);
}

static void diagonals(void)
{
    eddy_matrix_diag(v, .align = "CENTER"), golden_graph(g);
    eddy_matrix_diag(v, EDDY_DIMS(1, 0)), golden_graph(g);
    eddy_matrix_diag(half, .padding_value = 2), golden_graph(g);
    eddy_matrix_diag(v, .num_rows = -1), golden_graph(g);
    eddy_matrix_diag(v, .num_rows = 6, .num_cols = 6), golden_graph(g);
    eddy_matrix_diag(x, EDDY_DIMS(0, 4)), golden_graph(g);
    eddy_matrix_diag(wide), golden_graph(g);
    eddy_matrix_diag_part(v), golden_graph(g);
    eddy_matrix_diag_part(x, EDDY_DIMS(3)), golden_graph(g);
    eddy_matrix_set_diag(x, i), golden_graph(g);
    eddy_matrix_set_diag(x, v), golden_graph(g);
    eddy_tril(v, 0), golden_graph(g);
    eddy_tril(x, (int64_t)1 << 40), golden_graph(g);
    eddy_diag(scalar), golden_graph(g);
    eddy_diag_part(x), golden_graph(g);
    eddy_eye(g, -1, 0, EDDY_FLOAT32), golden_graph(g);
}

static void blocks(void)
{
    const eddy_dims no = { 0 };
    eddy_space_to_depth(wide, 2, "CHWN"), golden_graph(g);
    eddy_space_to_depth(wide, 0), golden_graph(g);
    eddy_space_to_depth(x, 2), golden_graph(g);
    eddy_space_to_depth(wide, 2), golden_graph(g);
    eddy_space_to_batch_nd(v, EDDY_DIMS(2), no, no), golden_graph(g);
    eddy_space_to_batch_nd(x, EDDY_DIMS(0), no, no), golden_graph(g);
    eddy_space_to_batch_nd(x, EDDY_DIMS(2), no, no), golden_graph(g);
    eddy_space_to_batch_nd(x, EDDY_DIMS(2), EDDY_DIMS(1, 1), no), golden_graph(g);
    eddy_space_to_batch_nd(open, EDDY_DIMS(2), EDDY_DIMS(1), EDDY_DIMS(0)), golden_graph(g);
    eddy_batch_to_space_nd(x, EDDY_DIMS(2), EDDY_DIMS(-1), EDDY_DIMS(0)), golden_graph(g);
    eddy_batch_to_space_nd(x, EDDY_DIMS(2), EDDY_DIMS(3), EDDY_DIMS(4)), golden_graph(g);
}

START_TEST(rows_and_diagonals)
{
    golden_begin("ops/indexing_rows");
    lengths();
    tuples();
    diagonals();
    blocks();
    golden_end();
}
END_TEST

/* ---------------------------------------------------------- chosen by values -- */

/* Examples side by side, without a number of rows for each. */
static void select_examples(eddy_tensor t)
{
    const struct { int64_t size; double fill; int64_t batch_dims; eddy_dtype out_idx; } a = {
        .batch_dims = 1, .out_idx = EDDY_INT32,
    };
    eddy_apply1(&eddy_op_nonzero, &a, t), golden_graph(g);
    eddy_apply1(&eddy_op_unique, &a, t), golden_graph(g);
}

static void chosen(void)
{
    const eddy_tensor none = { .graph = g };
    eddy_nonzero(x, -1), golden_graph(g);
    eddy_nonzero(x, 0), golden_graph(g);
    eddy_nonzero(x, 1, .fill = 0.5), golden_graph(g);
    select_examples(x);
    eddy_nonzero(pairs), golden_graph(g);
    eddy_unique(half), golden_graph(g);
    eddy_unique(v, 1, .out_idx = EDDY_FLOAT32), golden_graph(g);
    eddy_unique(x, 1), golden_graph(g);
    eddy_unique_along(pairs), golden_graph(g);
    eddy_unique_along(x, 2), golden_graph(g);
    eddy_apply1(&eddy_op_first_equal, ((int64_t[]){ 0, -1 }), x), golden_graph(g);
    eddy_apply1(&eddy_op_first_equal, ((int64_t[]){ 0, 1 }), x), golden_graph(g);
    eddy_boolean_mask(none, flags), golden_graph(g);
    eddy_dynamic_stitch(EDDY_LIST(i, none), EDDY_LIST(x, x)), golden_graph(g);
    ck_assert(!eddy_is_valid(eddy_dynamic_stitch(EDDY_LIST(EDDY_ZERO_TENSOR), EDDY_LIST(x))));
    eddy_boolean_mask(x, i), golden_graph(g);
    eddy_boolean_mask(of(EDDY_FLOAT32, EDDY_UNKNOWN_SHAPE), flags, .axis = 1), golden_graph(g);
    eddy_dynamic_partition(none, i, 2), golden_graph(g);
    eddy_dynamic_partition(v, i, 0), golden_graph(g);
    eddy_dynamic_partition(v, v, 2), golden_graph(g);
    eddy_dynamic_stitch(EDDY_LIST(i), EDDY_LIST(v, v)), golden_graph(g);
    const eddy_tensor last = eddy_const(g, EDDY_INT64, EDDY_SHAPE(1), (int64_t[]){ INT64_MAX });
    eddy_dynamic_stitch(EDDY_LIST(last), EDDY_LIST(v)), golden_graph(g);
    eddy_searchsorted(v, i), golden_graph(g);
    eddy_searchsorted(v, v, .out_type = EDDY_FLOAT32), golden_graph(g);
    eddy_searchsorted(x, v), golden_graph(g);
    eddy_invert_permutation(ints(EDDY_SCALAR)), golden_graph(g);
}

static void arrays(void)
{
    const eddy_tensor none = { .graph = g };
    eddy_swapaxes(none, 0, 1), golden_graph(g);
    eddy_swapaxes(open, 0, 1), golden_graph(g);
    eddy_moveaxis(x, 0, 2), golden_graph(g);
    eddy_flatten(open), golden_graph(g);
    eddy_rot90(x, 1, 0, -2), golden_graph(g);
    eddy_take_along_axis(x, ints(EDDY_SHAPE(3, 3)), 1), golden_graph(g);
    eddy_take_along_axis(x, i, 0), golden_graph(g);
    eddy_repeat(none, i), golden_graph(g);
    eddy_repeat(v, ints(EDDY_SHAPE(1)), EDDY_AXES(0), .size = -1), golden_graph(g);
    eddy_repeat(x, none), golden_graph(g);
    eddy_repeat(x, v), golden_graph(g);
    eddy_repeat(x, i), golden_graph(g);
    eddy_repeat(wide, eddy_number(g, EDDY_INT32, 2), .axis = EDDY_AXES(0)), golden_graph(g);
    eddy_repeat(x, eddy_number(g, EDDY_INT32, -1)), golden_graph(g);
    eddy_repeat(x, ints(EDDY_SCALAR)), golden_graph(g);
    eddy_linspace(none, scalar, 2), golden_graph(g);
    eddy_linspace(scalar, scalar, 0), golden_graph(g);
    eddy_meshgrid((eddy_list){ 9, (eddy_tensor[9]){ v } }, true), golden_graph(g);
    eddy_meshgrid(EDDY_LIST(v, x), true), golden_graph(g);
    eddy_sequence_mask(i, -1, EDDY_BOOL), golden_graph(g);
    eddy_sequence_mask(v, 2, EDDY_BOOL), golden_graph(g);
    eddy_broadcast_dynamic_shape(i, x), golden_graph(g);
    eddy_unravel_index(i, EDDY_SHAPE(2, 0)), golden_graph(g);
    eddy_unravel_index(v, EDDY_SHAPE(2, 2)), golden_graph(g);
}

static void run_fails_with(eddy_tensor y)
{
    static const int32_t places[] = { 7, 7, 0, 0, 0 };
    eddy_session *s = eddy_session_new(g);
    eddy_array   *in = eddy_array_copy_of(EDDY_INT32, EDDY_SHAPE(5), places);
    eddy_array   *rows = eddy_array_new(EDDY_FLOAT32, EDDY_SHAPE(5)), *out = NULL;
    ck_assert_int_ne(eddy_run(s, EDDY_FEED({ i, in }, { v, rows }), EDDY_FETCH(y), &out), EDDY_OK);
    golden_line(eddy_session_message(s));
    eddy_array_free(in);
    eddy_array_free(rows);
    eddy_session_free(s);
}

static void say_nothing(void *user, const char *line)
{
    (void)user;
    (void)line;
}

START_TEST(chosen_rows)
{
    golden_begin("ops/indexing_chosen");
    chosen();
    arrays();
    run_fails_with(eddy_nonzero(eddy_print(v, .write = say_nothing)));
    run_fails_with(eddy_reverse_sequence(eddy_reshape(v, EDDY_SHAPE(5, 1)), i, 1, 0));
    run_fails_with(eddy_gather_nd(v, eddy_expand_dims(i, 1)));
    run_fails_with(eddy_invert_permutation(eddy_floordiv(i, eddy_number(g, EDDY_INT32, 3))));
    golden_end();
}
END_TEST

Suite *messages_indexing_suite(void)
{
    Suite *s = suite_create("messages_indexing");
    TCase *c = tcase_create("messages_indexing");
    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, slices);
    tcase_add_test(c, mirror_padding);
    tcase_add_test(c, rows_and_diagonals);
    tcase_add_test(c, chosen_rows);
    suite_add_tcase(s, c);
    return s;
}
