/* sweep_rows.c -- the rows, by family; see sweep_rows.h.
 *
 * Inputs stay away from where a function has a kink or a pole.  All elements
 * of a row's inputs are different if their intervals are the same, so that
 * maxima and comparisons have no ties. */
#include "tests/sweep_rows.h"
#include "ops/math.h"
#include "ops/pairs.h"
#include "ops/product_fused.h"
#include "build/gen/table.h"

/* ----------------------------------------------------------- what they build -- */

#define BUILD(name, formula)                                                    \
    static eddy_tensor name(eddy_graph *g, const eddy_tensor *x)                \
    {                                                                           \
        (void)g; (void)x;                                                       \
        return formula;                                                         \
    }
#define AXES(...) .axes = EDDY_AXES(__VA_ARGS__)

/* 0, 1, 0, ... as many as x has rows; and n numbers from a list. */
static eddy_tensor pairs(eddy_tensor x)
{
    return FloorMod(eddy_row_numbers(x, EDDY_INT32), 2);
}
static eddy_tensor numbers(eddy_graph *g, eddy_shape s, const int32_t *v)
{
    return eddy_const(g, EDDY_INT32, s, v);
}
#define INTS(shape, ...) numbers(g, shape, (const int32_t[]){ __VA_ARGS__ })

static eddy_dtype other_float(eddy_tensor x)
{
    return eddy_dtype_of(x) == EDDY_FLOAT32 ? EDDY_FLOAT64 : EDDY_FLOAT32;
}

static eddy_tensor where_larger(eddy_tensor a, eddy_tensor b) { return Where(Greater(a, b), a, b); }
static eddy_tensor both(eddy_tensor a, eddy_tensor b)
{
    return LogicalAnd(Greater(a, 0), Greater(b, 0));
}
static eddy_tensor either(eddy_tensor a, eddy_tensor b)
{
    return LogicalOr(Greater(a, 0), Greater(b, 0));
}
static eddy_tensor one_of(eddy_tensor a, eddy_tensor b)
{
    return LogicalXor(Greater(a, 0), Greater(b, 0));
}
/* Real functions of a + bi. */
static eddy_tensor conj_ab(eddy_tensor a, eddy_tensor b) { return Imag(Exp(Conj(Complex(a, b)))); }
static eddy_tensor real_ab(eddy_tensor a, eddy_tensor b) { return Real(Square(Complex(a, b))); }
static eddy_tensor imag_ab(eddy_tensor a, eddy_tensor b) { return Imag(Square(Complex(a, b))); }
static eddy_tensor abs_ab(eddy_tensor a, eddy_tensor b) { return Abs(Complex(a, b)); }
static eddy_tensor angle_ab(eddy_tensor a, eddy_tensor b) { return Angle(Complex(a, b)); }
static eddy_tensor complex_ab(eddy_tensor a, eddy_tensor b) { return Real(Sin(Complex(a, b))); }
static eddy_tensor not_positive(eddy_tensor x) { return LogicalNot(Greater(x, 0)); }

BUILD(there_and_back, Cast(Cast(x[0], other_float(x[0])), eddy_dtype_of(x[0])))
BUILD(clipped, eddy_clip_by_value(x[0], x[1], x[2]))
BUILD(add_n, eddy_add_n((eddy_list){ 3, x }, NULL))
BUILD(check_numerics, eddy_check_numerics(x[0], "sweep"))
BUILD(with_default, eddy_placeholder_with_default(x[0], NULL, eddy_shape_of(x[0])))
BUILD(pass_through, eddy_grad_pass_through(eddy_stop_gradient(x[0]), x[0]))
BUILD(identity_n, eddy_identity_n((eddy_list){ 2, x }, 2))
BUILD(prevent, eddy_prevent_gradient(x[0], "sweep"))
BUILD(fill, eddy_fill(INTS(EDDY_SHAPE(2), 2, 3), x[0]))
BUILD(constant, Add(INTS(EDDY_SHAPE(2), 2, 3), 1))

BUILD(sum_axis, Sum(x[0], AXES(1)))
BUILD(sum_all, Sum(x[0]))
BUILD(sum_keep, Sum(x[0], AXES(0, 2), .keepdims = true))
BUILD(mean_axis, Mean(x[0], AXES(1)))
BUILD(mean_keep, Mean(x[0], AXES(0, 2), .keepdims = true))
BUILD(max_axis, Max(x[0], AXES(1)))
BUILD(max_keep, Max(x[0], AXES(0, -1), .keepdims = true))
BUILD(min_axis, Min(x[0], AXES(1)))
BUILD(prod_axis, Prod(x[0], AXES(1)))
BUILD(prod_all, Prod(x[0]))
BUILD(any_axis, eddy_any(Greater(x[0], 0), AXES(1)))
BUILD(all_axis, eddy_all(Greater(x[0], 0), AXES(0)))
BUILD(argmax, eddy_argmax(x[0], 1))
BUILD(argmin, eddy_argmin(x[0], -1, .output_type = EDDY_INT32))
BUILD(cumsum, Cumsum(x[0], 1))
BUILD(cumsum_back, Cumsum(x[0], 0, .exclusive = true, .reverse = true))
BUILD(cumprod, Cumprod(x[0], 1))
BUILD(cumprod_exclusive, Cumprod(x[0], 0, .exclusive = true))
BUILD(cumprod_back, Cumprod(x[0], 0, .exclusive = true, .reverse = true))
BUILD(linear_scan, eddy_linear_scan(x[0], x[1], .axis = 1))
BUILD(linear_scan_back, eddy_linear_scan(x[0], x[1], .axis = 0, .reverse = true))
BUILD(shift, eddy_shift(x[0], 1, 1))
BUILD(shift_back, eddy_shift(x[0], -2, 0))
BUILD(gelu, eddy_gelu(x[0]))
BUILD(gelu_tanh, eddy_gelu(x[0], .approximate = true))
/* The gradient of y with respect to x, where dy arrives. */
static eddy_tensor backwards(eddy_tensor y, eddy_tensor x, eddy_tensor dy)
{
    eddy_tensor dx = { 0 };
    eddy_gradients(EDDY_LIST(y), EDDY_LIST(x), &dx, .grad_ys = EDDY_LIST(dy));
    return dx;
}
#define SMALL EDDY_DIMS(2), EDDY_DIMS(2)
#define LARGE EDDY_DIMS(3, 2), EDDY_DIMS(2, 1), "SAME"
BUILD(max_pool, eddy_max_pool2d(x[0], SMALL))
BUILD(max_pool_large, eddy_max_pool2d(x[0], LARGE))
BUILD(max_pool_planes, eddy_max_pool2d(x[0], .ksize = EDDY_DIMS(2), .data_format = "NCHW"))
BUILD(max_pool_grad, backwards(eddy_max_pool2d(x[0], SMALL), x[0], x[1]))
BUILD(max_pool_grad_large, backwards(eddy_max_pool2d(x[0], LARGE), x[0], x[1]))
BUILD(max_pool_grad_grad,
      backwards(backwards(eddy_max_pool2d(x[0], LARGE), x[0], x[1]), x[1], x[2]))
BUILD(avg_pool, eddy_avg_pool2d(x[0], SMALL))
BUILD(avg_pool_large, eddy_avg_pool2d(x[0], LARGE))
BUILD(avg_pool_grad, backwards(eddy_avg_pool2d(x[0], LARGE), x[0], x[1]))
BUILD(layer_norm, eddy_layer_norm(x[0], x[1], x[2]))
BUILD(batch_norm, eddy_fused_batch_norm(x[0], x[1], x[2], .is_training = true))
BUILD(batch_norm_planes, eddy_fused_batch_norm(x[0], x[1], x[2], .is_training = true,
                                               .data_format = "NCHW"))
/* Of dy, x and scale, with a mean and an rstd that are no such thing. */
BUILD(layer_norm_grad, eddy_apply(&eddy_op_layer_norm_grad, NULL, 5, (eddy_tensor[]){
          x[0], x[1], x[2], Mean(Tanh(x[1]), AXES(-1), .keepdims = true),
          Exp(Mean(x[0], AXES(-1), .keepdims = true)) }, (eddy_apply_args){ 0 }))
BUILD(batch_norm_grad, eddy_apply(&eddy_op_fused_batch_norm_grad, NULL, 5, (eddy_tensor[]){
          x[0], x[1], x[2], SumLike(Tanh(x[1]), x[2]), Exp(Mul(0.1, SumLike(x[0], x[2]))) },
          (eddy_apply_args){ 0 }))
BUILD(softmax, Softmax(x[0]))
BUILD(softmax_first, Softmax(x[0], EDDY_AXES(0)))
BUILD(log_softmax, LogSoftmax(x[0]))
BUILD(log_softmax_first, LogSoftmax(x[0], EDDY_AXES(0)))
BUILD(attention, eddy_scaled_dot_product_attention(x[0], x[1], x[2]))
BUILD(attention_causal, eddy_scaled_dot_product_attention(x[0], x[1], x[2], .causal = true))
BUILD(packed_attention, eddy_packed_self_attention(x[0]))
BUILD(packed_causal, eddy_packed_self_attention(x[0], .causal = true, .scale = 0.4))
BUILD(lstm_gates, eddy_lstm_gates(x[0], x[1]))
BUILD(block_lstm, eddy_block_lstm(eddy_set_shape(x[0], EDDY_SHAPE(3, EDDY_ANY, 8)), x[1],
                                  Neg(x[1]), x[2]))
BUILD(attention_masked,
      eddy_scaled_dot_product_attention(x[0], x[1], x[1], x[2], .scale = 0.3))

BUILD(matmul, MatMul(x[0], x[1]))
BUILD(matmul_a, MatMul(x[0], x[1], .transpose_a = true))
BUILD(matmul_b, MatMul(x[0], x[1], .transpose_b = true))
BUILD(matmul_ab, MatMul(x[0], x[1], .transpose_a = true, .transpose_b = true))
BUILD(batch_matmul, eddy_batch_matmul(x[0], x[1]))
BUILD(batch_matmul_a, eddy_batch_matmul(x[0], x[1], .adj_x = true))
BUILD(batch_matmul_b, eddy_batch_matmul(x[0], x[1], .adj_y = true))
BUILD(batch_matmul_ab, eddy_batch_matmul(x[0], x[1], .adj_x = true, .adj_y = true))
BUILD(fused_matmul, eddy_apply(&eddy_op_fused_matmul, &(eddy_fused_matmul_attrs){
          .alpha = 0.5, .activation = 2, .has_bias = true }, 3, x, (eddy_apply_args){ 0 }))
BUILD(fused_matmul_residual, eddy_apply(&eddy_op_fused_matmul, &(eddy_fused_matmul_attrs){
          .transposes = { true, true }, .alpha = 1, .has_residual = true }, 3, x,
          (eddy_apply_args){ 0 }))
BUILD(matmul_accumulate, eddy_apply(&eddy_op_matmul_accumulate,
          &(eddy_matmul_accumulate_attrs){ { true, false }, -2 }, 3, x, (eddy_apply_args){ 0 }))
BUILD(bias_add, BiasAdd(x[0], x[1]))
#define STRIDED .strides = EDDY_DIMS(2, 1), .padding = "SAME"
#define PLANES .padding = "SAME", .data_format = "NCHW", .dilations = EDDY_DIMS(1, 2)
#define PADDED .explicit_paddings = EDDY_DIMS(2, 1, 0, 1), .dilations = EDDY_DIMS(2, 1)
BUILD(conv_strided, eddy_conv2d(x[0], x[1], STRIDED))
BUILD(conv_planes, eddy_conv2d(x[0], x[1], PLANES))
BUILD(conv_padded, eddy_conv2d(x[0], x[1], PADDED))
BUILD(conv_input, eddy_conv2d_backprop_input(x[0], x[1], x[2], STRIDED))
BUILD(conv_input_planes, eddy_conv2d_backprop_input(x[0], x[1], x[2], PLANES))
BUILD(conv_filter, eddy_conv2d_backprop_filter(x[0], x[1], x[2], STRIDED))
BUILD(conv_filter_planes, eddy_conv2d_backprop_filter(x[0], x[1], x[2], PLANES))
BUILD(conv_transpose, eddy_conv2d_transpose(x[0], x[1], EDDY_SHAPE(EDDY_ANY, 5, 4, 4), STRIDED))
#undef STRIDED
#undef PLANES
#undef PADDED
/* The rule for the logits is meant for labels that sum to 1. */
BUILD(softmax_loss, eddy_softmax_cross_entropy(Softmax(x[0]), x[1]))
BUILD(softmax_loss_first,
      eddy_softmax_cross_entropy(Softmax(x[0], EDDY_AXES(0)), x[1], EDDY_AXES(0)))
BUILD(sparse_loss, eddy_sparse_softmax_cross_entropy(pairs(x[0]), x[0]))
BUILD(sigmoid_loss, eddy_sigmoid_cross_entropy(x[0], x[1]))
BUILD(l2_loss, eddy_l2_loss(x[0]))

BUILD(broadcast_to, eddy_broadcast_to(x[0], EDDY_SHAPE(2, 3, 4)))
BUILD(broadcast_like, BroadcastLike(x[0], x[1]))
BUILD(sum_like, SumLike(x[0], x[1]))
BUILD(along, BroadcastAlong(x[0], x[1], EDDY_AXES(1), false))
BUILD(along_kept, BroadcastAlong(x[0], x[1], EDDY_AXES(0, 2), true))
BUILD(reshape, Reshape(x[0], EDDY_SHAPE(-1, 2)))
BUILD(reshape_to, eddy_reshape_to(x[0], INTS(EDDY_SHAPE(2), 2, 6)))
BUILD(reshape_like, ReshapeLike(x[0], x[1]))
BUILD(merge_leading, eddy_merge_leading(x[0], x[1]))
BUILD(batch_like, eddy_batch_like(x[0], x[1]))
BUILD(unflatten_like, eddy_unflatten_like(x[0], x[1], 1, 1))
BUILD(expand_dims, ExpandDims(x[0], 1))
BUILD(squeeze, Squeeze(x[0], .axes = EDDY_AXES(1)))
BUILD(transpose, Transpose(x[0]))
BUILD(transpose_perm, Transpose(x[0], EDDY_DIMS(1, 2, 0)))
BUILD(tile, eddy_tile(x[0], EDDY_DIMS(2, 3)))
BUILD(tile_grad, eddy_tile_grad(x[0], x[1], EDDY_DIMS(2, 2)))
BUILD(slice, eddy_slice(x[0], EDDY_DIMS(1, 0), EDDY_DIMS(2, -1)))
BUILD(slice_like, eddy_slice_like(x[0], x[1], EDDY_DIMS(1, 2)))
BUILD(slice_grad, eddy_slice_grad(x[0], x[1], EDDY_DIMS(1, 2)))
BUILD(pad, eddy_pad(x[0], EDDY_DIMS(1, 0), EDDY_DIMS(0, 2), .value = 3))
BUILD(concat, eddy_concat((eddy_list){ 3, x }, 1))
BUILD(stack, eddy_stack((eddy_list){ 3, x }, 1))
BUILD(unstack, eddy_unstack(x[0], 1, .num = 4))
BUILD(split, eddy_split(x[0], 2, .axis = 1))
BUILD(split_sizes, eddy_split_sizes(x[0], (const int64_t[]){ 1, 0, -1 }, 3, .axis = 1))
BUILD(split_like, eddy_split_like(x[0], (eddy_list){ 2, x + 1 }, 1))

BUILD(gather, Gather(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2)))
BUILD(gather_many, Gather(x[0], INTS(EDDY_SHAPE(2, 3), 2, 0, -1, 3, 0, 0), .skip_negative = true))
BUILD(gather_axis, Gather(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2), .axis = 1))
BUILD(gather_grad, eddy_gather_grad(x[0], INTS(EDDY_SHAPE(3), 2, 0, 2), x[1], .axis = 1))
BUILD(indexed_slices, eddy_indexed_slices(x[0], pairs(x[0]), x[1]))
BUILD(sum_duplicates, eddy_slices_sum_duplicates(x[0], pairs(x[0])))
BUILD(first_positions, eddy_first_positions(pairs(x[0])))
/* 0, 0, 1, 1, ... as many as x has rows; and -1, 0, 1, -1, ... */
static eddy_tensor by_two(eddy_tensor x) { return FloorDiv(eddy_row_numbers(x, EDDY_INT32), 2); }
static eddy_tensor some_ids(eddy_tensor x)
{
    return Sub(FloorMod(eddy_row_numbers(x, EDDY_INT64), 3), 1);
}
#define GAPS INTS(EDDY_SHAPE(4), 1, 1, 1, 3)
#define ALL_OF_3 INTS(EDDY_SHAPE(5), 2, 0, -1, 1, 0)
#define IDS_2_3 INTS(EDDY_SHAPE(2, 3), 2, 0, -1, 3, 0, 0)
BUILD(segment_sum, eddy_segment_sum(x[0], by_two(x[0])))
BUILD(segment_sum_gaps, eddy_segment_sum(x[0], GAPS))
BUILD(segment_mean, eddy_segment_mean(x[0], by_two(x[0])))
BUILD(segment_mean_gaps, eddy_segment_mean(x[0], GAPS))
BUILD(segment_prod, eddy_segment_prod(x[0], by_two(x[0])))
BUILD(segment_prod_gaps, eddy_segment_prod(x[0], GAPS))
BUILD(segment_min, eddy_segment_min(x[0], by_two(x[0])))
BUILD(segment_max, eddy_segment_max(x[0], by_two(x[0])))
BUILD(segment_max_gaps, eddy_segment_max(x[0], GAPS))
BUILD(unsorted_sum, eddy_unsorted_segment_sum(x[0], some_ids(x[0]), 3))
BUILD(unsorted_sum_many, eddy_unsorted_segment_sum(x[0], IDS_2_3, 4))
BUILD(unsorted_prod, eddy_unsorted_segment_prod(x[0], some_ids(x[0]), 3))
BUILD(unsorted_prod_many, eddy_unsorted_segment_prod(x[0], IDS_2_3, 4))
BUILD(unsorted_min, eddy_unsorted_segment_min(x[0], ALL_OF_3, 3))
BUILD(unsorted_max, eddy_unsorted_segment_max(x[0], ALL_OF_3, 3))
BUILD(unsorted_mean, eddy_unsorted_segment_mean(x[0], some_ids(x[0]), 3))
BUILD(unsorted_sqrt_n, eddy_unsorted_segment_sqrt_n(x[0], IDS_2_3, 4))
BUILD(one_hot, OneHot(pairs(x[0]), 4, .dtype = eddy_dtype_of(x[0])))
BUILD(shape_of, eddy_shape_tensor(x[0], EDDY_INT64))
BUILD(size_of, eddy_size(x[0], EDDY_INT32))
BUILD(row_numbers, eddy_row_numbers(x[0], EDDY_INT64))
BUILD(range, eddy_range(eddy_number(g, EDDY_FLOAT64, 1), eddy_number(g, EDDY_FLOAT64, 2),
                        eddy_number(g, EDDY_FLOAT64, 0.25)))

BUILD(uniform, eddy_random_uniform_like(x[0]))
BUILD(integers, eddy_random_uniform_int(g, EDDY_SHAPE(3, 4), 2, 9))
BUILD(normal, eddy_random_normal_like(x[0]))
BUILD(truncated, eddy_truncated_normal_like(x[0]))
BUILD(shuffle, eddy_random_shuffle(x[0]))
BUILD(orthogonal, eddy_init_orthogonal(g, EDDY_FLOAT64, EDDY_SHAPE(2, 3), 5))

/* ------------------------------------------------------------------- the rows -- */

/* EDDY_SHAPE as an initializer. */
#define S(...) { (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), { __VA_ARGS__ } }
#define UNARY(type, fn, from, to) \
    { .op = type, .unary = fn, .n = 1, .shape = { S(3, 4) }, .low = { from }, .high = { to } }
/* Both operands from one interval, or each from its own. */
#define BINARY(type, fn, from, to) BINARY_OF(type, fn, from, to, from, to)
#define BINARY_OF(type, fn, from_a, to_a, from_b, to_b)                         \
    { .op = type, .binary = fn, .n = 2, .shape = { S(3, 4), S(3, 4) },          \
      .low = { from_a, from_b }, .high = { to_a, to_b } }
#define OP(type, option, fn, count, ...) \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ } }
#define OP_KEEP(type, option, fn, count, kept, ...) \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, .keep = kept }
/* The other inputs only lend their shape. */
#define OP_LIKE(type, option, fn, count, kept, ...)                             \
    { .op = type, .how = option, .build = fn, .n = count, .shape = { __VA_ARGS__ }, \
      .keep = kept, .constant = 6 }
#define KEEP(...) { __VA_ARGS__ }

static eddy_tensor pair(const eddy_tensor *x, int64_t first, int64_t second)
{
    return eddy_apply(&eddy_op_pair, &(eddy_pair_attrs){ first, second }, 3, x,
                      (eddy_apply_args){ 0 });
}
BUILD(add_sub, pair(x, EDDY_PAIR_ADD, EDDY_PAIR_SUB))
BUILD(sub_mul, pair(x, EDDY_PAIR_SUB, EDDY_PAIR_MUL))
BUILD(sub_from, pair(x, EDDY_PAIR_SUB, EDDY_PAIR_SUB_FROM))
BUILD(mul_add, pair(x, EDDY_PAIR_MUL, EDDY_PAIR_ADD))
BUILD(mul_div, pair(x, EDDY_PAIR_MUL, EDDY_PAIR_DIV))
BUILD(div_into, pair(x, EDDY_PAIR_ADD, EDDY_PAIR_DIV_INTO))

const sweep_row sweep_rows[] = {
    UNARY("Neg", eddy_neg, -2, 2),
    UNARY("Abs", eddy_abs, -2, 2),
    UNARY("Sign", eddy_sign, -2, 2),
    UNARY("Square", eddy_square, -2, 2),
    UNARY("Reciprocal", eddy_reciprocal, 0.5, 2),
    UNARY("Reciprocal", eddy_reciprocal, -2, -0.5),
    UNARY("Sqrt", eddy_sqrt, 0.5, 3),
    UNARY("Rsqrt", eddy_rsqrt, 0.5, 3),
    UNARY("Exp", eddy_exp, -2, 2),
    UNARY("Expm1", eddy_expm1, -2, 2),
    UNARY("Log", eddy_log, 0.5, 3),
    UNARY("Log1p", eddy_log1p, -0.5, 3),
    UNARY("Sin", eddy_sin, -4, 4),
    UNARY("Cos", eddy_cos, -4, 4),
    UNARY("Tanh", eddy_tanh, -2, 2),
    UNARY("Sigmoid", eddy_sigmoid, -4, 4),
    UNARY("Softplus", eddy_softplus, -4, 4),
    UNARY("Erf", eddy_erf, -2, 2),
    UNARY("Relu", eddy_relu, -2, 2),
    UNARY("Floor", eddy_floor, -3, 3),
    UNARY("Ceil", eddy_ceil, -3, 3),
    UNARY("Round", eddy_round, -3, 3),
    UNARY("Rint", eddy_rint, -3, 3),
    UNARY("IsNan", eddy_is_nan, -2, 2),
    UNARY("IsInf", eddy_is_inf, -2, 2),
    UNARY("IsFinite", eddy_is_finite, -2, 2),
    UNARY("LogicalNot", not_positive, -2, 2),
    UNARY("Identity", eddy_identity, -2, 2),
    UNARY("StopGradient", eddy_stop_gradient, -2, 2),
    UNARY("ZerosLike", eddy_zeros_like, -2, 2),
    UNARY("OnesLike", eddy_ones_like, -2, 2),
    UNARY("BasisLike", eddy_basis_like, -2, 2),
    UNARY("Example", eddy_example, -2, 2),
    UNARY("Rank", eddy_rank, -2, 2),

    BINARY("Add", eddy_add, -2, 2),
    BINARY("Sub", eddy_sub, -2, 2),
    BINARY("Mul", eddy_mul, -2, 2),
    BINARY("RealDiv", eddy_div, 0.5, 2),
    BINARY("DivNoNan", eddy_div_no_nan, 0.5, 2),
    BINARY("MulNoNan", eddy_mul_no_nan, 0.5, 2),
    BINARY("Xlogy", eddy_xlogy, 0.5, 2),
    BINARY("Xdivy", eddy_xdivy, 0.5, 2),
    BINARY("Pow", eddy_pow, 0.5, 2),
    BINARY("Maximum", eddy_maximum, -2, 2),
    BINARY("Minimum", eddy_minimum, -2, 2),
    BINARY("SquaredDifference", eddy_squared_difference, -2, 2),
    BINARY("FloorDiv", eddy_floordiv, 0.5, 3),
    BINARY_OF("FloorMod", eddy_floormod, 4.2, 4.8, 2, 2.08),
    BINARY_OF("FloorMod", eddy_floormod, -4.8, -4.2, 2, 2.08),
    BINARY("TruncateDiv", eddy_truncatediv, 0.5, 3),
    BINARY("Less", eddy_less, -2, 2),
    BINARY("LessEqual", eddy_less_equal, -2, 2),
    BINARY("Greater", eddy_greater, -2, 2),
    BINARY("GreaterEqual", eddy_greater_equal, -2, 2),
    BINARY("Equal", eddy_equal, -2, 2),
    BINARY("NotEqual", eddy_not_equal, -2, 2),
    BINARY("LogicalAnd", both, -2, 2),
    BINARY("LogicalOr", either, -2, 2),
    BINARY("LogicalXor", one_of, -2, 2),
    BINARY("SelectV2", where_larger, -2, 2),
    BINARY("ReluGrad", eddy_relu_grad, -2, 2),
    BINARY("GeluGrad", eddy_gelu_grad, -2, 2),
    BINARY("GeluTanhGrad", eddy_gelu_tanh_grad, -2, 2),
    BINARY("Conj", conj_ab, -1, 1),
    BINARY("Real", real_ab, -2, 2),
    BINARY("Imag", imag_ab, -2, 2),
    BINARY_OF("ComplexAbs", abs_ab, -2, 2, 0.5, 2),
    BINARY_OF("Angle", angle_ab, -2, 2, 0.5, 2),
    BINARY("Complex", complex_ab, -2, 2),

    OP("Cast", "", there_and_back, 1, S(3, 4)),
    { .op = "Minimum", .how = "clip", .build = clipped, .n = 3,
      .shape = { S(3, 4), S(4), S(4) }, .low = { -2, -1.5, 0.5 }, .high = { 2, -0.5, 1.5 } },
    OP("AddN", "", add_n, 3, S(3, 4), S(3, 4), S(3, 4)),
    OP("CheckNumerics", "", check_numerics, 1, S(3, 4)),
    OP("PlaceholderWithDefault", "", with_default, 1, S(3, 4)),
    OP("GradPassThrough", "", pass_through, 1, S(3, 4)),
    OP("IdentityN", "", identity_n, 2, S(3, 4), S(2)),
    { .op = "PreventGradient", .build = prevent, .n = 1, .shape = { S(3, 4) },
      .options = SWEEP_REFUSES },
    OP("Fill", "", fill, 1, { .rank = 0 }),
    OP("Const", "", constant, 1, S(3, 4)),

    OP("Sum", "axis", sum_axis, 1, S(3, 4)),
    OP("Sum", "all", sum_all, 1, S(3, 4)),
    OP("Sum", "keepdims", sum_keep, 1, S(2, 3, 4)),
    OP("Mean", "axis", mean_axis, 1, S(3, 4)),
    OP("Mean", "keepdims", mean_keep, 1, S(2, 3, 4)),
    OP("Max", "axis", max_axis, 1, S(3, 4)),
    OP("Max", "keepdims", max_keep, 1, S(2, 3, 4)),
    OP("Min", "axis", min_axis, 1, S(3, 4)),
    OP("Prod", "axis", prod_axis, 1, S(3, 4)),
    OP("Prod", "all", prod_all, 1, S(2, 3)),
    OP("Any", "axis", any_axis, 1, S(3, 4)),
    OP("All", "axis", all_axis, 1, S(3, 4)),
    OP_KEEP("ArgMax", "axis", argmax, 1, KEEP(4), S(3, 4)),
    OP_KEEP("ArgMin", "last", argmin, 1, KEEP(4), S(3, 4)),
    OP("Cumsum", "axis", cumsum, 1, S(3, 4)),
    OP("Cumsum", "exclusive, reverse", cumsum_back, 1, S(3, 4)),
    OP("Cumprod", "axis", cumprod, 1, S(3, 4)),
    OP("Cumprod", "exclusive", cumprod_exclusive, 1, S(3, 4)),
    OP("Cumprod", "exclusive, reverse", cumprod_back, 1, S(3, 4)),
    OP("LinearScan", "axis", linear_scan, 2, S(3, 4), S(3, 4)),
    OP("LinearScan", "reverse", linear_scan_back, 2, S(3, 4), S(3, 4)),
    OP("Shift", "1", shift, 1, S(3, 4)),
    OP("Shift", "-2", shift_back, 1, S(3, 4)),
    OP("Gelu", "", gelu, 1, S(3, 4)),
    OP("GeluTanh", "", gelu_tanh, 1, S(3, 4)),
    OP("LayerNorm", "", layer_norm, 3, S(2, 3, 4), S(4), S(4)),
    OP("LayerNormGrad", "", layer_norm_grad, 3, S(3, 4), S(3, 4), S(4)),
    OP("FusedBatchNormV3", "", batch_norm, 3, S(2, 5, 3), S(3), S(3)),
    OP("FusedBatchNormV3", "NCHW", batch_norm_planes, 3, S(2, 3, 2, 2), S(3), S(3)),
    OP("FusedBatchNormGradV3", "", batch_norm_grad, 3, S(5, 3), S(5, 3), S(3)),
    OP_KEEP("MaxPool", "", max_pool, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("MaxPool", "SAME", max_pool_large, 1, S(2, 5, 4, 3)),
    OP_KEEP("MaxPool", "NCHW", max_pool_planes, 1, KEEP(4), S(2, 3, 4, 4)),
    OP_KEEP("MaxPoolGrad", "", max_pool_grad, 2, KEEP(2, 4), S(1, 4, 4, 3), S(1, 2, 2, 3)),
    OP_KEEP("MaxPoolGrad", "SAME", max_pool_grad_large, 2, KEEP(3, 4, 5), S(2, 5, 4, 1),
            S(2, 3, 4, 1)),
    { .op = "MaxPoolGradGrad", .build = max_pool_grad_grad, .n = 3,
      .shape = { S(2, 5, 4, 1), S(2, 3, 4, 1), S(2, 5, 4, 1) }, .keep = { 3, 4, 5 },
      .constant = 2 },
    OP_KEEP("AvgPool", "", avg_pool, 1, KEEP(4, 5), S(2, 4, 5, 3)),
    OP("AvgPool", "SAME", avg_pool_large, 1, S(2, 5, 4, 3)),
    { .op = "AvgPoolGrad", .build = avg_pool_grad, .n = 2,
      .shape = { S(2, 5, 4, 1), S(2, 3, 4, 1) }, .keep = { 3, 4, 5 }, .constant = 1 },
    OP("Softmax", "last", softmax, 1, S(3, 4)),
    OP("Softmax", "first", softmax_first, 1, S(3, 4)),
    OP("LogSoftmax", "last", log_softmax, 1, S(3, 4)),
    OP("LogSoftmax", "first", log_softmax_first, 1, S(3, 4)),
    OP_KEEP("PackedSelfAttention", "", packed_attention, 1, KEEP(3), S(2, 4, 3, 2, 5)),
    OP_KEEP("PackedSelfAttention", "causal", packed_causal, 1, KEEP(3), S(1, 5, 3, 2, 4)),
    OP_KEEP("LSTMGates", "", lstm_gates, 2, KEEP(8, 2), S(3, 8), S(3, 2)),
    OP_KEEP("BlockLSTM", "", block_lstm, 3, KEEP(3, 8, 2), S(3, 4, 8), S(4, 2), S(2, 8)),
    OP("ScaledDotProductAttention", "", attention, 3, S(3, 4), S(2, 4), S(2, 5)),
    OP("ScaledDotProductAttention", "causal", attention_causal, 3, S(2, 3, 4), S(2, 5, 4),
       S(2, 5, 2)),
    OP("ScaledDotProductAttention", "masked", attention_masked, 3, S(2, 3, 4), S(2, 5, 4),
       S(3, 5)),
    OP("ScaledDotProductAttention", "mask of rows", attention_masked, 3, S(3, 2, 4), S(3, 5, 4),
       S(3, 1, 5)),

    OP("MatMul", "", matmul, 2, S(2, 3), S(3, 4)),
    OP("MatMul", "transpose_a", matmul_a, 2, S(3, 2), S(3, 4)),
    OP("MatMul", "transpose_b", matmul_b, 2, S(2, 3), S(4, 3)),
    OP("MatMul", "both", matmul_ab, 2, S(3, 2), S(4, 3)),
    OP("MatMul", "square", matmul, 2, S(3, 3), S(3, 3)),
    OP("MatMul", "square, transpose_b", matmul_b, 2, S(2, 3), S(2, 3)),
    OP("_Pair", "a + b - c", add_sub, 3, S(2, 3), S(3), S(2, 1)),
    OP("_Pair", "(a - b) c", sub_mul, 3, S(2, 3), S(2, 3), S(1)),
    OP("_Pair", "c - (a - b)", sub_from, 3, S(2, 1), S(1, 3), S(2, 3)),
    OP("_Pair", "a b + c", mul_add, 3, S(2, 3), S(3), S(3)),
    { .op = "_Pair", .how = "a b / c", .build = mul_div, .n = 3,
      .shape = { S(2, 3), S(2, 3), S(2, 3) }, .low = { -2, -2, 1 }, .high = { 2, 2, 3 } },
    { .op = "_Pair", .how = "c / (a + b)", .build = div_into, .n = 3,
      .shape = { S(2, 3), S(1), S(3) }, .low = { 1, 1, -2 }, .high = { 2, 2, 2 } },
    OP("_FusedMatMul", "bias, tanh", fused_matmul, 3, S(2, 3), S(3, 4), S(4)),
    OP("_FusedMatMul", "residual", fused_matmul_residual, 3, S(3, 2), S(4, 3), S(2, 4)),
    OP("_MatMulAccumulate", "", matmul_accumulate, 3, S(2, 4), S(3, 2), S(3, 4)),
    OP("BatchMatMulV2", "by a matrix", batch_matmul, 2, S(2, 3, 4), S(4, 5)),
    OP("BatchMatMulV2", "by a transpose", batch_matmul_b, 2, S(2, 3, 4), S(5, 4)),
    OP("BatchMatMulV2", "broadcast", batch_matmul, 2, S(2, 1, 3, 4), S(5, 4, 2)),
    OP("BatchMatMulV2", "adj_x", batch_matmul_a, 2, S(3, 2), S(2, 3, 4)),
    OP("BatchMatMulV2", "adj_y", batch_matmul_b, 2, S(2, 2, 3), S(2, 4, 3)),
    OP("BatchMatMulV2", "both", batch_matmul_ab, 2, S(2, 4, 3), S(1, 5, 4)),
    OP("BiasAdd", "2", bias_add, 2, S(3, 4), S(4)),
    OP("BiasAdd", "3", bias_add, 2, S(2, 3, 4), S(4)),
    OP_KEEP("Conv2D", "strides", conv_strided, 2, KEEP(2, 3), S(1, 5, 4, 2), S(3, 3, 2, 4)),
    OP_KEEP("Conv2D", "NCHW, groups", conv_planes, 2, KEEP(2, 3, 4), S(1, 4, 4, 5), S(3, 3, 2, 4)),
    OP_KEEP("Conv2D", "paddings", conv_padded, 2, KEEP(2, 3, 4), S(1, 4, 4, 2), S(3, 4, 2, 3)),
    { .op = "Conv2DBackpropInput", .how = "strides", .build = conv_input, .n = 3, .constant = 1,
      .shape = { S(1, 5, 4, 2), S(3, 2, 2, 3), S(1, 3, 4, 3) }, .keep = { 2, 3, 5 } },
    { .op = "Conv2DBackpropInput", .how = "NCHW", .build = conv_input_planes, .n = 3, .constant = 1,
      .shape = { S(1, 2, 4, 4), S(3, 3, 2, 3), S(1, 3, 4, 4) }, .keep = { 2, 3 } },
    { .op = "Conv2DBackpropInput", .how = "conv2d_transpose", .build = conv_transpose, .n = 2,
      .shape = { S(1, 3, 4, 2), S(3, 2, 4, 2) }, .keep = { 2, 3, 4 } },
    { .op = "Conv2DBackpropFilter", .how = "strides", .build = conv_filter, .n = 3, .constant = 2,
      .shape = { S(1, 5, 4, 2), S(3, 2, 2, 3), S(1, 3, 4, 3) }, .keep = { 2, 3, 5 } },
    { .op = "Conv2DBackpropFilter", .how = "NCHW", .build = conv_filter_planes, .n = 3,
      .constant = 2, .shape = { S(1, 2, 4, 4), S(3, 3, 2, 3), S(1, 3, 4, 4) }, .keep = { 2, 3 } },
    OP("SoftmaxCrossEntropyWithLogits", "last", softmax_loss, 2, S(3, 4), S(3, 4)),
    OP("SoftmaxCrossEntropyWithLogits", "first", softmax_loss_first, 2, S(3, 4), S(3, 4)),
    OP_KEEP("SparseSoftmaxCrossEntropyWithLogits", "", sparse_loss, 1, KEEP(4), S(3, 4)),
    OP("SigmoidCrossEntropyWithLogits", "", sigmoid_loss, 2, S(3, 4), S(3, 4)),
    OP("L2Loss", "", l2_loss, 1, S(3, 4)),

    OP_KEEP("BroadcastTo", "", broadcast_to, 1, KEEP(3), S(3, 1)),
    OP_LIKE("BroadcastLike", "", broadcast_like, 2, KEEP(0), S(3, 1), S(2, 3, 4)),
    OP_LIKE("SumLike", "", sum_like, 2, KEEP(0), S(2, 3, 4), S(3, 1)),
    OP_LIKE("BroadcastAlong", "", along, 2, KEEP(0), S(3), S(3, 4)),
    OP_LIKE("BroadcastAlong", "keepdims", along_kept, 2, KEEP(0), S(1, 3, 1), S(2, 3, 4)),
    OP_KEEP("Reshape", "", reshape, 1, KEEP(4), S(3, 4)),
    OP_KEEP("ReshapeTo", "", reshape_to, 1, KEEP(3, 4), S(3, 4)),
    OP_LIKE("ReshapeLike", "", reshape_like, 2, KEEP(2, 3, 4, 6), S(3, 4), S(2, 6)),
    OP_LIKE("MergeLeading", "", merge_leading, 2, KEEP(0), S(2, 3, 4), S(2, 3)),
    OP_LIKE("BatchLike", "", batch_like, 2, KEEP(0), S(3, 4), S(2, 3)),
    OP_LIKE("UnflattenLike", "", unflatten_like, 2, KEEP(2, 3, 6), S(4, 6), S(5, 2, 3)),
    OP("ExpandDims", "", expand_dims, 1, S(3, 4)),
    OP("Squeeze", "", squeeze, 1, S(3, 1, 4)),
    OP("Transpose", "", transpose, 1, S(3, 4)),
    OP("Transpose", "perm", transpose_perm, 1, S(2, 3, 4)),
    OP("Tile", "", tile, 1, S(3, 4)),
    OP_LIKE("TileGrad", "", tile_grad, 2, KEEP(2, 3, 4, 6), S(6, 4), S(3, 2)),
    OP_KEEP("Slice", "", slice, 1, KEEP(3), S(3, 4)),
    OP_LIKE("SliceLike", "", slice_like, 2, KEEP(4, 5), S(4, 5), S(2, 3)),
    OP_LIKE("SliceGrad", "", slice_grad, 2, KEEP(4, 5), S(2, 3), S(4, 5)),
    OP("PadV2", "", pad, 1, S(3, 4)),
    OP("ConcatV2", "", concat, 3, S(2, 3), S(2, 4), S(2, 1)),
    OP("Pack", "", stack, 3, S(3, 4), S(3, 4), S(3, 4)),
    OP_KEEP("Unpack", "", unstack, 1, KEEP(4), S(3, 4)),
    OP_KEEP("Split", "", split, 1, KEEP(4), S(3, 4)),
    OP_KEEP("SplitV", "", split_sizes, 1, KEEP(4), S(3, 4)),
    OP_LIKE("SplitLike", "", split_like, 3, KEEP(3, 4, 7), S(2, 7), S(2, 3), S(2, 4)),

    OP_KEEP("GatherV2", "", gather, 1, KEEP(4), S(4, 2)),
    OP_KEEP("GatherV2", "skip_negative", gather_many, 1, KEEP(4), S(4, 2)),
    OP_KEEP("GatherV2", "axis", gather_axis, 1, KEEP(4), S(2, 4)),
    OP_LIKE("GatherGrad", "", gather_grad, 2, KEEP(3, 4), S(2, 3), S(2, 4)),
    OP_LIKE("IndexedSlices", "", indexed_slices, 2, KEEP(4), S(3, 2), S(4, 2)),
    OP("SumDuplicates", "", sum_duplicates, 1, S(3, 4)),
    OP("FirstPositions", "", first_positions, 1, S(3, 4)),
    OP("SegmentSum", "", segment_sum, 1, S(5, 3)),
    OP_KEEP("SegmentSum", "gaps", segment_sum_gaps, 1, KEEP(4), S(4, 3)),
    OP("SegmentMean", "", segment_mean, 1, S(5, 3)),
    OP_KEEP("SegmentMean", "gaps", segment_mean_gaps, 1, KEEP(4), S(4)),
    OP("SegmentProd", "", segment_prod, 1, S(5, 3)),
    OP_KEEP("SegmentProd", "gaps", segment_prod_gaps, 1, KEEP(4), S(4, 3)),
    OP("SegmentMin", "", segment_min, 1, S(5, 3)),
    OP("SegmentMax", "", segment_max, 1, S(5, 3)),
    OP_KEEP("SegmentMax", "gaps", segment_max_gaps, 1, KEEP(4), S(4, 2, 3)),
    OP("UnsortedSegmentSum", "", unsorted_sum, 1, S(4, 2)),
    OP_KEEP("UnsortedSegmentSum", "ids of rank 2", unsorted_sum_many, 1, KEEP(2, 3), S(2, 3, 4)),
    OP("UnsortedSegmentProd", "", unsorted_prod, 1, S(5, 3)),
    OP_KEEP("UnsortedSegmentProd", "ids of rank 2", unsorted_prod_many, 1, KEEP(2, 3), S(2, 3)),
    OP_KEEP("UnsortedSegmentMin", "", unsorted_min, 1, KEEP(5), S(5, 3)),
    OP_KEEP("UnsortedSegmentMax", "", unsorted_max, 1, KEEP(5), S(5, 3)),
    OP("UnsortedSegmentSum", "mean", unsorted_mean, 1, S(5, 3)),
    OP_KEEP("UnsortedSegmentSum", "sqrt_n", unsorted_sqrt_n, 1, KEEP(2, 3), S(2, 3, 4)),
    OP("OneHot", "", one_hot, 1, S(3, 4)),
    OP("Shape", "", shape_of, 1, S(3, 4)),
    OP("Size", "", size_of, 1, S(3, 4)),
    OP("RowNumbers", "", row_numbers, 1, S(3, 4)),
    OP("Range", "", range, 1, S(3, 4)),

#define RANDOM(type, fn, how_more)                                              \
    { .op = type, .build = fn, .n = 1, .shape = { S(3, 4) },                    \
      .options = SWEEP_RANDOM | (how_more) }
    RANDOM("RandomUniform", uniform, 0),
    RANDOM("RandomUniformInt", integers, 0),
    RANDOM("RandomStandardNormal", normal, 0),
    RANDOM("TruncatedNormal", truncated, 0),
    RANDOM("RandomShuffle", shuffle, SWEEP_REFUSES),
    RANDOM("RandomOrthogonal", orthogonal, 0),
};
const int sweep_rows_count = (int)(sizeof sweep_rows / sizeof *sweep_rows);

#define STATE "works on a variable's state"
const sweep_exempt sweep_exempts[] = {
    { "Placeholder", "is every row's input" },
    { "PackedSelfAttentionGrad", "is the gradient in the rows of its op" },
    { "LSTMGatesGrad", "is the gradient in the rows of its op" },
    { "BlockLSTMGrad", "is the gradient in the rows of its op" },
    { "ScaledDotProductAttentionGrad", "is the gradient in the rows of its op" },
    { "_FusedConv2D", "is what sessions make of others, after differentiation" },
    { "NoOp", "has no value" },
    { "Assert", "has no value" },
    { "Print", "writes to the error stream" },
    { "Variable", STATE },
    { "Assign", STATE },
    { "AssignAdd", STATE },
    { "AssignSub", STATE },
    { "ScatterUpdate", STATE },
    { "ScatterAdd", STATE },
    { "ScatterSub", STATE },
    { "ReadVariable", STATE },
    { "IsVariableInitialized", STATE },
    { "InitializedValue", STATE },
};
const int sweep_exempts_count = (int)(sizeof sweep_exempts / sizeof *sweep_exempts);
