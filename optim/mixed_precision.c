/* mixed_precision.c -- mixed precision: casts the inputs of each operation that a program builds,
 * as the lists below say. An operation of the program is in none of them, whatever its name. */
#include "optim/mixed_precision.h"
#include "graph/internal.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/math.h"
#include "ops/weak_ops.h"

/* Compute in the 16-bit type. */
static const eddy_op_def *const always[] = {
    &eddy_op_matmul, &eddy_op_batch_matmul, &eddy_op_conv2d, &eddy_op_depthwise,
    &eddy_op_scaled_dot_product_attention, &eddy_op_packed_self_attention,
    &eddy_op_cached_attention, &eddy_op_block_lstm,
};

/* Compute in the 16-bit type if an input has it. */
static const eddy_op_def *const if_given[] = {
    /* arithmetic */
    &eddy_op_abs, &eddy_op_add, &eddy_op_add_n, &eddy_op_bias_add, &eddy_op_copysign,
    &eddy_op_div_no_nan, &eddy_op_maximum, &eddy_op_minimum, &eddy_op_mul, &eddy_op_mul_no_nan,
    &eddy_op_neg, &eddy_op_div, &eddy_op_reciprocal, &eddy_op_rsqrt, &eddy_op_sign,
    &eddy_op_sqrt, &eddy_op_square, &eddy_op_squared_difference, &eddy_op_sub, &eddy_op_max,
    &eddy_op_min,
    /* activations, normalizations, pooling */
    &eddy_op_elu, &eddy_op_erf, &eddy_op_erfc, &eddy_op_gelu, &eddy_op_gelu_tanh,
    &eddy_op_hard_shrink, &eddy_op_hard_sigmoid, &eddy_op_lstm_gates, &eddy_op_leaky_relu,
    &eddy_op_log_softmax, &eddy_op_mish, &eddy_op_prelu, &eddy_op_relu, &eddy_op_relu6,
    &eddy_op_selu, &eddy_op_sigmoid, &eddy_op_soft_shrink, &eddy_op_softmax, &eddy_op_softplus,
    &eddy_op_softsign, &eddy_op_tanh,
    &eddy_op_fused_batch_norm, &eddy_op_layer_norm, &eddy_op_avg_pool, &eddy_op_avg_pool3d,
    &eddy_op_max_pool, &eddy_op_max_pool3d, &eddy_op_max_pool_with_argmax,
    /* comparison and movement */
    &eddy_op_equal, &eddy_op_greater, &eddy_op_greater_equal, &eddy_op_less,
    &eddy_op_less_equal, &eddy_op_not_equal, &eddy_op_where, &eddy_op_broadcast_along,
    &eddy_op_broadcast_like, &eddy_op_broadcast_to, &eddy_op_concat, &eddy_op_gather,
    &eddy_op_gather_nd, &eddy_op_mirror_pad, &eddy_op_stack, &eddy_op_pad, &eddy_op_tile,
};

static bool is_listed(size_t n, const eddy_op_def *const *list, const eddy_op_def *op)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == op) return true;
    return false;
}

static eddy_dtype type_of(eddy_tensor t)
{
    const eddy_node *node = eddy_node_of(t);
    return node && t.output < node->n_outputs ? node->outputs[t.output].dtype : EDDY_DEFAULT_DTYPE;
}

static bool has_type(int n, const eddy_tensor *in, eddy_dtype d)
{
    for (int i = 0; i < n; i++)
        if (type_of(in[i]) == d) return true;
    return false;
}

/* Statistics and parameters of a normalization may be float32 (ops/nets/normalization.h). */
static bool keeps_float32(const eddy_op_def *op, int i)
{
    return (op == &eddy_op_fused_batch_norm || op == &eddy_op_layer_norm) && i > 0;
}

static void cast_inputs(eddy_graph *g, const eddy_op_def *op, int n, eddy_tensor *in)
{
    const eddy_dtype half = g->precision;
    const bool       narrow =
        is_listed(sizeof always / sizeof *always, always, op) ||
        (is_listed(sizeof if_given / sizeof *if_given, if_given, op) && has_type(n, in, half));
    if (narrow && has_type(n, in, EDDY_FLOAT64)) return;
    for (int i = 0; i < n; i++) {
        const eddy_dtype d = in[i].graph == g ? type_of(in[i]) : EDDY_DEFAULT_DTYPE;
        if (narrow && d == EDDY_FLOAT32 && !keeps_float32(op, i)) in[i] = eddy_cast(in[i], half);
        else if (!narrow && d == half && !eddy__input_moves(op, i))
            in[i] = eddy_cast(in[i], EDDY_FLOAT32);
    }
}

void eddy_mixed_precision(eddy_graph *g, eddy_dtype dtype)
{
    if (!eddy__graph_ready(g)) return;
    if (!eddy__expect_type(g, "mixed_precision", "dtype", dtype,
                           EDDY_TAKES_HALVES | EDDY_TYPE(EDDY_FLOAT32)))
        return;
    g->precision = dtype;
    g->cast_inputs = dtype == EDDY_FLOAT32 ? NULL : cast_inputs;
}
