/* quantized_matmul.c -- products with 8-bit weights, and their values in float32. */
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/kernels/matmul/quantized_product.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_quantize_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_quantize_args));
    eddy_tensor w;                /* [k,n] */
    int64_t     group EDDY_DEFAULT(EDDY_OMITTED);   /* rows with one scale; default: a column */
} eddy_quantize_args;
#endif

/* ----------------------------------------------------------------- quantize -- */

/** 8-bit values and their scales for the weights w [k,n], as two outputs: values, uint8 [k,n], and
 *  scales, float32 [n] or, with .group, [k/group,n].
 *
 *  w      float32, a matrix of known shape
 *  group  a divisor of k
 *
 *  A scale is the largest magnitude of its weights / 127, and a value is 128 plus the weight
 *  divided by its scale and rounded, ties to even; so eddy_dequantize of both differs from w by at
 *  most half a scale, unless the scale is a denormal number.  The scale of zeros is 0.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for other ranks and unknown
 *  shapes; EDDY_INVALID_ARGUMENT for a group that does not divide k.
 *  Gradient: that of the scales; values have none.  TensorFlow: UniformQuantize. */
eddy_tensor eddy_quantize_with(const eddy_quantize_args *given)
{
    eddy_quantize_args a = EDDY_TAKE(eddy_quantize_args, given);
    eddy_graph        *g = a.w.graph;
    char               buf[100];
    if (!eddy_is_valid(a.w)) return eddy_none(g);
    const eddy_shape s = eddy_shape_of(a.w);
    if (!eddy__expect_type(g, "quantize", "w", eddy_dtype_of(a.w), EDDY_TYPE(EDDY_FLOAT32)))
        return eddy_none(g);
    if (s.rank != 2 || !eddy_shape_is_known(s))
        return eddy_fail(g, EDDY_BAD_SHAPE, "quantize: w has shape %s; a matrix of known shape "
                         "expected", eddy_shape_print(s, buf, sizeof buf));
    const int64_t k = s.dim[0], group = a.group == EDDY_OMITTED ? k : a.group;
    if (a.group != EDDY_OMITTED && (group < 1 || k % group != 0))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "quantize: group is %lld; a divisor of the "
                         "number of rows, %lld, expected", (long long)group, (long long)k);
    const int64_t     groups = group > 0 ? k / group : 1;
    const eddy_tensor w = eddy_reshape(a.w, EDDY_SHAPE(groups, group, s.dim[1]));
    const eddy_tensor scales = Div(Max(Abs(w), EDDY_AXES(1), .keepdims = true), 127);
    const eddy_tensor values = Add(eddy_rint(DivNoNan(w, scales)), 128);
    const eddy_tensor both[] = {
        eddy_reshape(Cast(values, EDDY_UINT8), s),
        eddy_reshape(scales, a.group == EDDY_OMITTED ? EDDY_SHAPE(s.dim[1])
                                                     : EDDY_SHAPE(groups, s.dim[1])),
    };
    return eddy_identity_n((eddy_list){ 2, both }, 2);
}

/* --------------------------------------------------------------- dequantize -- */

static eddy_tensor no_scales(eddy_tensor w, eddy_tensor scales)
{
    char have[100], want[100];
    return eddy_fail(w.graph, EDDY_BAD_SHAPE,
                     "dequantize: scales has shape %s; a vector along the last axis of %s, or the "
                     "same rank and dimensions that divide it expected",
                     eddy_shape_print(eddy_shape_of(scales), have, sizeof have),
                     eddy_shape_print(eddy_shape_of(w), want, sizeof want));
}

/* Each scale repeated for the elements that it belongs to, unless it is broadcast anyway. */
static eddy_tensor spread(eddy_tensor w, eddy_tensor scales)
{
    const eddy_shape to = eddy_shape_of(w), s = eddy_shape_of(scales);
    const int64_t last = to.rank > 0 ? to.dim[to.rank - 1] : to.rank;
    if (s.rank == 1 && (last < 0 || s.dim[0] < 0 || s.dim[0] == last || s.dim[0] == 1))
        return scales;
    if (s.rank != to.rank) return no_scales(w, scales);
    for (int d = 0; d < s.rank; d++) {
        if (s.dim[d] == to.dim[d] || s.dim[d] == 1) continue;
        if (s.dim[d] < 1 || to.dim[d] < 0 || to.dim[d] % s.dim[d] != 0) return no_scales(w, scales);
        const int64_t times = to.dim[d] / s.dim[d];
        scales = eddy_repeat(scales, eddy_number(w.graph, EDDY_INT64, (double)times), EDDY_AXES(d));
    }
    return scales;
}

/** y = (values - 128) scales: the weights that 8-bit values stand for, in float32.
 *
 *  values  uint8, any shape
 *  scales  float32: a vector along the last axis, as the columns of a matrix have them; or of the
 *          rank of values, with dimensions that divide those of values: [k/64,n] for a scale of
 *          each 64 rows of a column of [k,n], [k,1] for one of each row
 *
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for other shapes of scales.
 *  Gradient: dscales = (values - 128) dy, summed over the elements of each scale.
 *  TensorFlow: UniformDequantize, with zero points of 128. */
eddy_tensor eddy_dequantize(eddy_tensor values, eddy_tensor scales)
{
    if (!eddy_is_valid(values) || !eddy_is_valid(scales)) return eddy_none(values.graph);
    if (!eddy__expect_type(values.graph, "dequantize", "values", eddy_dtype_of(values),
                           EDDY_TYPE(EDDY_UINT8)) ||
        !eddy__expect_type(values.graph, "dequantize", "scales", eddy_dtype_of(scales),
                           EDDY_TYPE(EDDY_FLOAT32)))
        return eddy_none(values.graph);
    return Mul(Sub(Cast(values, EDDY_FLOAT32), 128), spread(values, scales));
}

/* --------------------------------------------------------- quantized_matmul -- */

/* The number of scales of a column. */
static int64_t groups_of(eddy_shape scales) { return scales.rank == 1 ? 1 : scales.dim[0]; }

static bool quantized_matmul_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape, w = c->in[1].shape, s = c->in[2].shape;
    int64_t k = w.rank < 0 ? EDDY_ANY : w.dim[0], n = w.rank < 0 ? EDDY_ANY : w.dim[1];
    eddy_shape y = x;
    if (s.rank > 2)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "scales must be a vector or a matrix");
    if (x.rank > 0 && !eddy__dim_unify(&k, x.dim[x.rank - 1]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "inner dimensions %lld and %lld differ",
                               (long long)x.dim[x.rank - 1], (long long)k);
    if (s.rank > 0 && !eddy__dim_unify(&n, s.dim[s.rank - 1]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of scales is %lld; expected one for each of the %lld "
                               "columns", (long long)s.dim[s.rank - 1], (long long)n);
    if (s.rank == 2 && s.dim[0] >= 0 && k >= 0 && (s.dim[0] == 0 || k % s.dim[0] != 0))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "%lld rows cannot be divided into %lld groups of equal size",
                               (long long)k, (long long)s.dim[0]);
    if (y.rank > 0) y.dim[y.rank - 1] = n;
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_quantized_product product_of(const eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape, w = k->in[1]->type.shape;
    return (eddy_quantized_product){
        .m = eddy__shape_product(x, 0, x.rank - 1), .n = w.dim[1], .k = w.dim[0],
        .groups = groups_of(k->in[2]->type.shape), .x = k->in[0]->data, .w = k->in[1]->data,
        .scales = k->in[2]->data, .y = k->out[0]->data,
    };
}

static eddy_status quantized_matmul_prepare(eddy_kernel *k)
{
    eddy_quantized_product p = product_of(k);
    k->scratch_size = eddy__quantized_plan(&p, k, 1);
    eddy_quantized_product *kept = eddy_kernel_state(k, sizeof *kept);
    if (kept) *kept = p;
    return EDDY_OK;
}

static eddy_status quantized_matmul_kernel(eddy_kernel *k)
{
    eddy_quantized_product p = product_of(k);
    const eddy_quantized_product *planned = k->state;
    p.tiles = planned->tiles;
    p.packed = planned->packed;
    eddy__quantized_run(k, &p);
    return EDDY_OK;
}

static void quantized_matmul_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_matmul(r->dy[0], CastLike(eddy_dequantize(r->x[1], r->x[2]), r->dy[0]),
                           .transpose_b = true);
}

/* Examples are more rows; if each has its own weights, there is a product for each. */
static void quantized_matmul_batch(eddy_batch *b)
{
    if (!b->batched[1] && !b->batched[2])
        b->y[0] = eddy_quantized_matmul(b->x[0], b->x[1], b->x[2]);
}

static double quantized_matmul_flops(const void *attrs, int n_in, const eddy_type *in,
                                     const eddy_type *out)
{
    (void)attrs, (void)n_in;
    return 2 * (double)eddy_shape_count(out->shape) * (double)in[1].shape.dim[0];
}

const eddy_op_def eddy_op_quantized_matmul = {
    .name = "QuantizedMatMul", .min_inputs = 3, .max_inputs = 3, .outputs = 1,
    .inputs = EDDY_INPUTS(
        { "x", EDDY_TYPE(EDDY_FLOAT32) | EDDY_TAKES_HALVES | EDDY_RANK_FROM(2) },
        { "values", EDDY_TYPE(EDDY_UINT8) | EDDY_RANK(2) },
        { "scales", EDDY_TYPE(EDDY_FLOAT32) | EDDY_RANK_FROM(1) }),
    .infer = quantized_matmul_infer, .prepare = quantized_matmul_prepare,
    .kernel = quantized_matmul_kernel, .gradient = quantized_matmul_gradient,
    .batch = quantized_matmul_batch, .flops = quantized_matmul_flops,
};

/** y = x w, where the weights w = (values - 128) scales are stored in 8 bits, and x is quantized to
 *  8 bits on the way, so that integers are multiplied.
 *
 *  x       float32 [...,m,k]; y is [...,m,n] of its type
 *  values  uint8 [k,n]
 *  scales  float32 [n], one for each column; or [groups,n], one for each k/groups rows of a column
 *
 *  Each row of x is divided by its largest magnitude / 127 and rounded to whole numbers, ties to
 *  even; with groups, each group of the row by its own.  Sums of products of integers are exact, so
 *  the bits are the same on every processor.  An element of x changes by up to 1/254 of the largest
 *  of its row.  A group of a row with an infinity or NaN makes the row NaN; one whose elements are
 *  all smaller than 1e-36 counts as zeros.  eddy_quantize makes values and scales, and eddy_extract
 *  with .quantize replaces the products of a trained model.
 *  Errors: EDDY_BAD_SHAPE if the inner dimensions differ, or the scales do not fit the columns, or
 *  their groups the rows.
 *  Gradient: dx = dy w', as if x were not rounded; values and scales have none.
 *  TensorFlow: UniformQuantizedDotHybrid, which quantizes x with zero points. */
eddy_tensor eddy_quantized_matmul(eddy_tensor x, eddy_tensor values, eddy_tensor scales)
{
    return eddy_apply(&eddy_op_quantized_matmul, NULL, 3, (eddy_tensor[]){ x, values, scales },
                      (eddy_apply_args){ 0 });
}
