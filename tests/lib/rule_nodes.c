/* rule_nodes.c -- see rule_nodes.h. */
#include "tests/lib/rule_nodes.h"
#include "build/gen/table.h"
#include "ops/linear/fused_matmul.h"
#include "ops/nets/conv2d_fused.h"
#include "ops/short_names.h"

static eddy_graph *g;

static eddy_tensor of(eddy_dtype d, eddy_shape s) { return eddy_placeholder(g, NULL, d, s); }
static eddy_tensor real(eddy_shape s) { return of(EDDY_FLOAT64, s); }
static eddy_tensor variable(eddy_dtype d, eddy_shape s)
{
    return eddy_variable(g, eddy_zeros(g, d, s));
}
static eddy_tensor whole(int n, const int64_t *v)
{
    return eddy_const(g, EDDY_INT64, n < 0 ? EDDY_SCALAR : EDDY_SHAPE(n), v);
}
#define WHOLE(...) \
    whole((int)(sizeof((int64_t[]){ __VA_ARGS__ }) / 8), (const int64_t[]){ __VA_ARGS__ })
static eddy_tensor number(int64_t v) { return whole(-1, &v); }

/* ------------------------------------------------------------------ variables -- */

static void change_rows(eddy_tensor v)
{
    const eddy_tensor rows = of(EDDY_INT32, EDDY_SHAPE(2)), new = real(EDDY_SHAPE(2, 4));
    eddy_scatter_update(v, rows, new);
    eddy_scatter_add(v, rows, new);
    eddy_scatter_sub(v, rows, new, .skip_negative = true);
    eddy_scatter_mul(v, rows, new);
    eddy_scatter_div(v, rows, new);
    eddy_scatter_min(v, rows, new);
    eddy_scatter_max(v, rows, new);
    eddy_scatter_add(variable(EDDY_FLOAT64, EDDY_SHAPE(3, 4, 5)),
                     of(EDDY_INT64, EDDY_SHAPE(2, 3)), real(EDDY_SHAPE(2, 3, 4, 5)));
    const eddy_tensor tuples = of(EDDY_INT32, EDDY_SHAPE(2, 1));
    eddy_scatter_nd_update(v, tuples, new);
    eddy_scatter_nd_add(v, tuples, new);
    eddy_scatter_nd_sub(v, tuples, new);
    eddy_scatter_nd_min(v, tuples, new);
    eddy_scatter_nd_max(v, tuples, new);
    eddy_batch_scatter_update(variable(EDDY_FLOAT64, EDDY_SHAPE(2, 3, 4)),
                              of(EDDY_INT64, EDDY_SHAPE(2, 5)), real(EDDY_SHAPE(2, 5, 4)));
    eddy_index_assign(v, "1:, ::2", real(EDDY_SHAPE(2, 2)));
    eddy_index_assign(v, "-1, newaxis", real(EDDY_SHAPE(1, 4)));
}

static void of_variables(void)
{
    const eddy_tensor v = variable(EDDY_FLOAT64, EDDY_SHAPE(3, 4)), new = real(EDDY_SHAPE(3, 4));
    eddy_assign(v, new);
    eddy_assign_add(v, new);
    eddy_assign_sub(v, new);
    eddy_assign(eddy_variable(g, eddy_zeros(g, EDDY_FLOAT64, EDDY_SHAPE(2)),
                              .no_validate_shape = true), real(EDDY_SHAPE(3, 4)));
    eddy_read(v);
    eddy_is_initialized(v);
    eddy_initialized_value(v);
    eddy_count_up_to(variable(EDDY_INT32, EDDY_SCALAR), 10);
    eddy_count_up_to(variable(EDDY_INT64, EDDY_SCALAR), 10);
    change_rows(v);
}

/* ----------------------------------------------------------------- assertions -- */

static double one(void *data, double x)
{
    (void)data;
    return x;
}

static void of_assertions(void)
{
    const eddy_tensor x = real(EDDY_SHAPE(3, 4)), y = real(EDDY_SHAPE(4));
    eddy_assert_rank(x, 2);
    eddy_assert_rank_at_least(x, 1, .message = "said");
    eddy_assert_rank_in(x, EDDY_DIMS(1, 2, 3));
    eddy_assert_scalar(real(EDDY_SCALAR));
    eddy_assert_shapes(EDDY_LIST(x, y), "n, d; d");
    eddy_assert_shapes(EDDY_LIST(x, y), "3, >=4; *");
    eddy_assert_shapes(EDDY_LIST(x, y, x), "..., d;d ;n,...");
    eddy_assert_shapes(EDDY_LIST(x, real(EDDY_SCALAR)), "_n1, 4;");
    eddy_assert_shapes(EDDY_LIST(real(EDDY_SHAPE(1, 2, 3, 4, 5, 6, 7, 8))),
                       "a, ..., c, d, e, f, g, h, 8");
    eddy_assert(of(EDDY_BOOL, EDDY_SCALAR), .data = EDDY_LIST(x));
    eddy_print(x, .data = EDDY_LIST(y));
    eddy_check_numerics(x, "said");
    eddy_host_scalar(g, one);
    eddy_host_scalar(.function = one, .x = y);
    eddy_no_op(g, NULL);
    eddy_group(g, EDDY_LIST(x, y), NULL);
}

/* ------------------------------------------------------------------- products -- */

/* Operations that sessions put in the place of several. */
static void of_fused_products(void)
{
    const eddy_tensor x = real(EDDY_SHAPE(2, 3)), w = real(EDDY_SHAPE(3, 4));
    const eddy_tensor b = real(EDDY_SHAPE(4));
    const eddy_tensor y = real(EDDY_SHAPE(2, 4)), image = real(EDDY_SHAPE(2, 5, 5, 3));
    const eddy_tensor filter = real(EDDY_SHAPE(3, 3, 3, 4)), sum = real(EDDY_SHAPE(2, 3, 3, 4));
    for (int i = 0; i < 4; i++) {
        const bool bias = i & 1, residual = i & 2;
        eddy_tensor in[4] = { x, w, bias ? b : y, y };
        eddy_apply(&eddy_op_fused_matmul,
                   &(eddy_fused_matmul_attrs){ .alpha = 1, .has_bias = bias,
                                               .has_residual = residual },
                   2 + bias + residual, in, (eddy_apply_args){ .name = NULL });
        in[0] = image, in[1] = filter, in[2] = bias ? b : sum, in[3] = sum;
        eddy_apply(&eddy_op_fused_conv2d,
                   &(eddy_fused_conv_attrs){
                       .conv = { .strides = EDDY_DIMS(1, 1, 1, 1), .padding = "VALID",
                                 .dilations = EDDY_DIMS(1, 1, 1, 1), .data_format = "NHWC" },
                       .has_bias = bias, .has_residual = residual },
                   2 + bias + residual, in, (eddy_apply_args){ .name = NULL });
    }
}

static void of_products(void)
{
    const eddy_tensor x = of(EDDY_FLOAT32, EDDY_SHAPE(2, 3));
    eddy_quantized_matmul(x, of(EDDY_UINT8, EDDY_SHAPE(3, 4)), of(EDDY_FLOAT32, EDDY_SHAPE(4)));
    eddy_quantized_matmul(of(EDDY_FLOAT32, EDDY_SHAPE(2, 6)), of(EDDY_UINT8, EDDY_SHAPE(6, 4)),
                          of(EDDY_FLOAT32, EDDY_SHAPE(3, 4)));
}

/* ------------------------------------------------------------- known elements -- */

static void of_constants(void)
{
    const double  nine[] = { 1, 0, 2, 2, 0, 1, 3, 0, 5 };
    const eddy_tensor v = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(9), nine);
    const eddy_tensor m = eddy_const(g, EDDY_FLOAT64, EDDY_SHAPE(3, 3), nine);
    eddy_range(number(1), number(10), number(2));
    eddy_range(number(10), number(1), number(-3));
    eddy_range(eddy_number(g, EDDY_FLOAT32, 0), eddy_number(g, EDDY_FLOAT32, 0.3),
               eddy_number(g, EDDY_FLOAT32, 0.1));
    eddy_range(eddy_number(g, EDDY_FLOAT64, 0), eddy_number(g, EDDY_FLOAT64, 1),
               eddy_number(g, EDDY_FLOAT64, 0.25));
    eddy_nonzero(v);
    eddy_nonzero(m);
    eddy_nonzero(real(EDDY_SHAPE(2, 3, 4)), 5);
    eddy_unique(v);
    eddy_placeholder(g, NULL, EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY));
    eddy_fill(WHOLE(2, 3), eddy_scalar(g, 1));
    eddy_reshape_to(real(EDDY_SHAPE(3, 4)), WHOLE(2, 6));
    eddy_reshape_to(real(EDDY_SHAPE(3, 4)), WHOLE(2, -1));
}

/* ------------------------------------------------ sizes of 1, 0, and unknown -- */

static void of_odd_sizes(void)
{
    const eddy_tensor x = real(EDDY_SHAPE(3, 4)), row = real(EDDY_SHAPE(1, 4));
    const eddy_tensor open = real(EDDY_SHAPE(EDDY_ANY, 4));
    BroadcastLike(row, x);
    BroadcastLike(row, real(EDDY_SHAPE(EDDY_ANY, 4)));
    SumLike(x, row);
    SumLike(real(EDDY_SHAPE(2, 1, 4)), real(EDDY_SHAPE(EDDY_ANY, 4)));
    eddy_broadcast_to(row, EDDY_SHAPE(2, 3, 4));
    Reshape(open, EDDY_SHAPE(2, -1));
    Reshape(open, EDDY_SHAPE(6, 2));
    Reshape(open, EDDY_SHAPE(0, 2));
    Reshape(real(EDDY_SHAPE(0, EDDY_ANY)), EDDY_SHAPE(-1, 3));
    Reshape(real(EDDY_SHAPE(0, 4)), EDDY_SHAPE(2, 0));
    ReshapeLike(open, real(EDDY_SHAPE(2, 6)));
    eddy_merge_leading(real(EDDY_SHAPE(0, EDDY_ANY, 4)), real(EDDY_SHAPE(EDDY_ANY, EDDY_ANY)));
    eddy_merge_leading(real(EDDY_SHAPE(EDDY_ANY, 0, 4)), real(EDDY_SHAPE(EDDY_ANY, EDDY_ANY)));
    Squeeze(real(EDDY_SHAPE(1, 3, 1)));
    Squeeze(real(EDDY_SHAPE(1, EDDY_ANY)));
    eddy_tile(real(EDDY_SHAPE(1, EDDY_ANY)), EDDY_DIMS(2, 0));
    eddy_concat(EDDY_LIST(open, x, real(EDDY_UNKNOWN_SHAPE)), 0);
    eddy_stack(EDDY_LIST(open, real(EDDY_UNKNOWN_SHAPE)), 2);
    eddy_split_sizes(x, (const int64_t[]){ -1, 1 }, 2, .axis = 1);
    eddy_shape_tensor(x, EDDY_INT32);
    eddy_max_pool2d(of(EDDY_FLOAT32, EDDY_SHAPE(2, EDDY_ANY, 5, 3)), EDDY_DIMS(2, 2),
                    EDDY_DIMS(1, 1), "VALID");
    eddy_max_pool2d(of(EDDY_FLOAT32, EDDY_SHAPE(2, 5, EDDY_ANY, 3)), EDDY_DIMS(2, 2),
                    EDDY_DIMS(1, 1), "VALID");
    eddy_max_pool2d(of(EDDY_FLOAT32, EDDY_SHAPE(2, 1, 5, 3)), EDDY_DIMS(1, 2),
                    EDDY_DIMS(1, 1), "VALID");
    eddy_resize_nearest_neighbor_to(real(EDDY_SHAPE(2, 5, 4, 3)),
                                    eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), (int32_t[]){ 3, 2 }));
    eddy_range(number(5), number(5), number(1));
    eddy_range(number(5), number(5), number(-1));
    eddy_range(eddy_number(g, EDDY_FLOAT64, 1), eddy_number(g, EDDY_FLOAT64, 1),
               eddy_number(g, EDDY_FLOAT64, -0.5));
}

static void of_random_numbers(void)
{
    eddy_random_uniform(g, EDDY_SHAPE(2, 3));
    eddy_random_uniform(g, EDDY_SHAPE(2), -3e38, 3e37);
    eddy_random_uniform(g, EDDY_SHAPE(2), -3e37, 3e38);
    eddy_random_uniform(g, EDDY_SHAPE(2, 3), 0, 10, EDDY_INT32);
    eddy_random_uniform(g, EDDY_SHAPE(2, 3), 0, 256, EDDY_UINT8);
    eddy_random_normal(g, EDDY_SHAPE(2, 3));
    eddy_truncated_normal(g, EDDY_SHAPE(2, 3));
}

void rule_nodes_build(eddy_graph *graph)
{
    g = graph;
    of_variables();
    of_assertions();
    of_products();
    of_fused_products();
    of_constants();
    of_odd_sizes();
    of_random_numbers();
}
