/* test_array_types.c -- shapes that array operations know before a run, and inputs that they
 * refuse. */
#include "tests/lib/array_trial.h"

Suite *array_types_suite(void);

/* ---------------------------------------------------------- static shapes -- */

/* Builds row `i` on x [?,4] and z [2,3]; returns its static shape. */
static eddy_tensor open_row(eddy_graph *g, int i)
{
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(EDDY_ANY, 4));
    eddy_tensor z = eddy_placeholder(g, "z", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_tensor v = eddy_placeholder(g, "v", EDDY_INT32, EDDY_SHAPE(2));
    switch (i) {
    case 0: return eddy_reshape(x, EDDY_SHAPE(-1, 2));
    case 1: return eddy_reshape(z, EDDY_SHAPE(3, -1));
    case 2: return eddy_reshape_to(x, v);
    case 3: return eddy_expand_dims(x, 0);
    case 4: return eddy_squeeze(eddy_expand_dims(x, -1), .axes = EDDY_AXES(-1));
    case 5: return eddy_squeeze(x);
    case 6: return eddy_transpose(x);
    case 7: return eddy_broadcast_like(eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(5, 1)), x);
    case 8: return eddy_sum_like(x, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(4)));
    case 9: return eddy_concat(EDDY_LIST(x, x), 0);
    case 10: return eddy_concat(EDDY_LIST(x, eddy_ones(g, EDDY_FLOAT32, EDDY_SHAPE(6, 1))), -1);
    case 11: return eddy_stack(EDDY_LIST(x, x), 1);
    case 12: return eddy_unstack(x, 1);
    case 13: return eddy_split(x, 3, 0);
    case 14: return eddy_slice(x, EDDY_DIMS(1, 1), EDDY_DIMS(-1, -1));
    case 15: return eddy_pad(x, EDDY_DIMS(1, 1), EDDY_DIMS(0, 1));
    case 16: return eddy_tile(x, EDDY_DIMS(2, 2));
    case 17: return eddy_gather(x, v, 1);
    case 18: return eddy_one_hot(v, 7);
    default: return eddy_shape_tensor(x, 0);
    }
}

static const char *const open_shapes[] = {
    "[?,2]", "[3,2]", "[?,?]", "[1,?,4]", "[?,4]", "?",     "[4,?]",   "[5,4]", "[4]",   "[?,4]",
    "[6,5]", "[?,2,4]", "[?]", "[?,4]",   "[?,3]", "[?,6]", "[?,8]",   "[?,2]", "[2,7]", "[2]",
};

START_TEST(static_shapes)
{
    char text[64];
    eddy_graph *g = eddy_graph_new();
    eddy_shape  s = eddy_shape_of(open_row(g, _i));
    ck_assert_msg(eddy_graph_status(g) == EDDY_OK, "%s", eddy_graph_message(g));
    ck_assert_str_eq(eddy_shape_print(s, text, sizeof text), open_shapes[_i]);
    eddy_graph_free(g);
}
END_TEST

/* --------------------------------------------------------------- refusals -- */

enum { PLAIN_ROWS = 40 };
static eddy_tensor refused_row(eddy_tensor x, eddy_tensor i, int row)
{
    const eddy_shape big = EDDY_SHAPE((int64_t)1 << 40, (int64_t)1 << 40);
    switch (row) {
    case 0: return eddy_reshape(x, EDDY_SHAPE(4));
    case 1: return eddy_reshape(x, EDDY_SHAPE(-1, -1));
    case 2: return eddy_reshape(x, EDDY_SHAPE(-1, 4));
    case 3: return eddy_reshape(x, EDDY_SHAPE(0, -1));
    case 4: return eddy_reshape(x, big);
    case 5: return eddy_reshape_to(x, x);
    case 6: return eddy_reshape_like(x, i);
    case 7: return eddy_expand_dims(x, 4);
    case 8: return eddy_squeeze(x, .axes = EDDY_AXES(0));
    case 9: return eddy_squeeze(x, .axes = EDDY_AXES(2));
    case 10: return eddy_transpose(x, .perm = EDDY_DIMS(0));
    case 11: return eddy_transpose(x, .perm = EDDY_DIMS(1, -1));
    case 12: return eddy_transpose(x, .perm = EDDY_DIMS(0, 2));
    case 13: return eddy_broadcast_to(x, EDDY_SHAPE(2, 4));
    case 14: return eddy_broadcast_to(x, EDDY_SHAPE(-1, 3));
    case 15: return eddy_broadcast_like(x, i);
    case 16: return eddy_sum_like(x, i);
    case 17: return eddy_concat(EDDY_LIST(x, i), 0);
    case 18: return eddy_concat(EDDY_LIST(x, eddy_reshape(x, EDDY_SHAPE(6))), 0);
    case 19: return eddy_concat(EDDY_LIST(x, eddy_transpose(x)), 0);
    case 20: return eddy_concat(EDDY_LIST(x, x), 2);
    case 21: return eddy_stack(EDDY_LIST(x, eddy_transpose(x)), 0);
    case 22: return eddy_stack(EDDY_LIST(x, x), 3);
    case 23: return eddy_unstack(x, 0, .num = 3);
    case 24: return eddy_split(x, 0, 0);
    case 25: return eddy_split(x, 2, 1);
    case 26: return eddy_split_sizes(x, ((const int64_t[]){ 1, 3 }), 2, 1);
    case 27: return eddy_split_sizes(x, ((const int64_t[]){ -1, -1 }), 2, 1);
    case 28: return eddy_split_like(x, EDDY_LIST(x, x), 1);
    case 29: return eddy_slice(x, EDDY_DIMS(0, 2), EDDY_DIMS(1, 2));
    case 30: return eddy_slice(x, EDDY_DIMS(-1, 0), EDDY_DIMS(1, 1));
    case 31: return eddy_slice(x, EDDY_DIMS(INT64_MAX, 0), EDDY_DIMS(INT64_MAX, 1));
    case 32: return eddy_pad(x, EDDY_DIMS(-1, 0), EDDY_DIMS(0, 0));
    case 33: return eddy_pad(x, EDDY_DIMS(INT64_MAX, 0), EDDY_DIMS(0, 0));
    case 34: return eddy_tile(x, EDDY_DIMS(-1, 1));
    case 35: return eddy_tile(x, EDDY_DIMS(INT64_MAX, INT64_MAX));
    case 36: return eddy_gather(x, x);
    case 37: return eddy_gather(x, i, 2);
    case 38: return eddy_one_hot(i, -1);
    case 39: return eddy_one_hot(x, 3);
    default: return eddy_one_hot(i, (int64_t)1 << 60);
    }
}

/* The same for the operations of gradients, which check their inputs too. */
static eddy_tensor refused_adjoint(eddy_tensor x, eddy_tensor i, int row)
{
    const eddy_dims zeros = EDDY_DIMS(0, 0);
    switch (row) {
    case 0: return eddy_merge_leading(x, i);
    case 1: return eddy_tile_grad(x, x, EDDY_DIMS(2, 1));
    case 2: return eddy_tile_grad(x, i, EDDY_DIMS(2, 1));
    case 3: return eddy_slice_grad(x, i, zeros);
    case 4: return eddy_slice_like(x, x, EDDY_DIMS(1, 0));
    case 5: return eddy_slice_grad(x, x, EDDY_DIMS(0, 1));
    case 6: return eddy_gather_grad(x, i, x);
    case 7: return eddy_gather_grad(x, x, x);
    case 8: return eddy_indexed_slices_of(x, i, EDDY_SHAPE(9, 3));
    case 9: return eddy_indexed_slices_of(x, eddy_slice(i, EDDY_DIMS(0), EDDY_DIMS(2)),
                                          EDDY_SHAPE(9, 4));
    case 10: return eddy_slices_sum_duplicates(x, x);
    case 11: return eddy_slices_sum_duplicates(eddy_is_nan(x), i);
    case 12: return eddy_sum_like(eddy_is_nan(x), x);
    default: return eddy_first_positions(eddy_size(i, EDDY_INT32));
    }
}

static const struct { eddy_status status; const char *says; } refusals[] = {
    { EDDY_BAD_SHAPE, "a tensor with 6 values, but the requested shape has 4 ([4])" },
    { EDDY_INVALID_ARGUMENT, "has 2 unknown dimensions" },
    { EDDY_BAD_SHAPE, "the requested shape requires a multiple of 4 ([?,4])" },
    { EDDY_INVALID_ARGUMENT, "beside a 0" },
    { EDDY_INVALID_ARGUMENT, "is not a valid target shape" },
    { EDDY_BAD_DTYPE, "shape is float32; int32 or int64 expected" },
    { EDDY_BAD_SHAPE, "a tensor with 6 values, but the requested shape has 5 ([5])" },
    { EDDY_INVALID_ARGUMENT, "axis 4 is not in [-3, 3)" },
    { EDDY_BAD_SHAPE, "dimension 0 is 2; expected 1" },
    { EDDY_INVALID_ARGUMENT, "axis 2 is not in [-2, 2)" },
    { EDDY_BAD_SHAPE, "the number of entries of perm is 1; expected 2" },
    { EDDY_INVALID_ARGUMENT, "perm contains axis 1 twice" },
    { EDDY_INVALID_ARGUMENT, "axis 2 is not in [-2, 2)" },
    { EDDY_BAD_SHAPE, "[2,3] does not broadcast to [2,4]" },
    { EDDY_INVALID_ARGUMENT, "the target shape [?,3] is unknown" },
    { EDDY_BAD_SHAPE, "[2,3] does not broadcast to [5]" },
    { EDDY_BAD_SHAPE, "[5] does not broadcast to [2,3]" },
    { EDDY_BAD_DTYPE, "xs[1] is int32, but xs[0] is float32" },
    { EDDY_BAD_SHAPE, "input 1 has shape [6], which is not compatible with [2,3]" },
    { EDDY_BAD_SHAPE, "input 1 has shape [3,2], which is not compatible with [2,3]" },
    { EDDY_INVALID_ARGUMENT, "axis 2 is not in [-2, 2)" },
    { EDDY_BAD_SHAPE, "input 1 has shape [3,2], which is not compatible with [2,3]" },
    { EDDY_INVALID_ARGUMENT, "axis 3 is not in [-3, 3)" },
    { EDDY_BAD_SHAPE, "dimension 0 is 2; expected num = 3" },
    { EDDY_INVALID_ARGUMENT, "num is 0; expected 1 to" },
    { EDDY_BAD_SHAPE, "dimension 1 is 3, which is not a multiple of num = 2" },
    { EDDY_BAD_SHAPE, "the sizes add up to 4, but dimension 1 is 3" },
    { EDDY_INVALID_ARGUMENT, "sizes[1] is -1; sizes must not be negative" },
    { EDDY_BAD_SHAPE, "the references add up to 6, but dimension 1 is 3" },
    { EDDY_BAD_SHAPE, "a slice of 2 elements from 2 is not within dimension 1, which is 3" },
    { EDDY_INVALID_ARGUMENT, "begin[0] = -1 is negative" },
    { EDDY_BAD_SHAPE, "is not within dimension 0, which is 2" },
    { EDDY_INVALID_ARGUMENT, "dimension 0 cannot be padded by -1 and 0" },
    { EDDY_LIMIT, "the limits are" },
    { EDDY_INVALID_ARGUMENT, "multiples[0] = -1 is negative" },
    { EDDY_LIMIT, "the limits are" },
    { EDDY_BAD_DTYPE, "indices is float32; int32 or int64 expected" },
    { EDDY_INVALID_ARGUMENT, "axis 2 is not in [-2, 2)" },
    { EDDY_INVALID_ARGUMENT, "depth is -1; it must not be negative" },
    { EDDY_BAD_DTYPE, "indices is float32; int32, int64 or uint8 expected" },
    { EDDY_LIMIT, "the limits are" },
    { EDDY_BAD_SHAPE, "the shape [2,3] does not begin with [5]" },
    { EDDY_BAD_SHAPE, "dimension 0 is 2; expected 2 times that of the reference" },
    { EDDY_BAD_SHAPE, "dy has rank 2; rank 1 expected" },
    { EDDY_BAD_SHAPE, "the part has rank 2; rank 1 expected" },
    { EDDY_BAD_SHAPE, "a slice of 2 elements from 1 is not within dimension 0, which is 2" },
    { EDDY_BAD_SHAPE, "a slice of 3 elements from 1 is not within dimension 1, which is 3" },
    { EDDY_BAD_SHAPE, "dy has shape [2,3]; expected [5,3]" },
    { EDDY_BAD_DTYPE, "indices is float32" },
    { EDDY_BAD_SHAPE, "the number of rows of values is 2, but the number of indices is 5" },
    { EDDY_BAD_SHAPE, "the values are not rows of a tensor of shape [9,4]" },
    { EDDY_BAD_DTYPE, "indices is float32" },
    { EDDY_BAD_DTYPE, "values is bool" },
    { EDDY_BAD_DTYPE, "x is bool" },
    { EDDY_BAD_SHAPE, "indices has rank 0" },
};

START_TEST(refused)
{
    eddy_graph *g = eddy_graph_new();
    eddy_tensor x = eddy_placeholder(g, "x", EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_tensor i = eddy_placeholder(g, "i", EDDY_INT32, EDDY_SHAPE(5));
    eddy_tensor y = _i <= PLAIN_ROWS ? refused_row(x, i, _i)
                                     : refused_adjoint(x, i, _i - PLAIN_ROWS - 1);
    ck_assert(!eddy_is_valid(y));
    ck_assert_msg(strstr(eddy_graph_message(g), refusals[_i].says), "%s", eddy_graph_message(g));
    ck_assert_str_eq(eddy_status_name(eddy_graph_status(g)), eddy_status_name(refusals[_i].status));
    eddy_graph_free(g);
}
END_TEST

Suite *array_types_suite(void)
{
    Suite *s = suite_create("array_types");
    TCase *c = tcase_create("types");
    tcase_add_loop_test(c, static_shapes, 0, (int)(sizeof open_shapes / sizeof *open_shapes));
    tcase_add_loop_test(c, refused, 0, (int)(sizeof refusals / sizeof *refusals));
    suite_add_tcase(s, c);
    return s;
}
