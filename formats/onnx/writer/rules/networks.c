/* networks.c -- softmax, its losses, and normalizations with their gradients. */
#include "../rules.h"

/* The mean over axes, whose sizes become 1. */
static const char *mean_over(onnx_part *p, const char *x, int n, const int64_t *axes)
{
    return eddy__part_reduce(p, "ReduceMean", x, n, axes, true);
}

static bool softmax(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    onnx_call c = eddy__call(p, p->node->op->name, 1, (const char *[]){ eddy__part_in(p, 0) });
    eddy__call_int(&c, "axis", eddy__part_axis(p, rank));
    return eddy__part_put(p, 0, eddy__call_end(&c));
}

static const char *along(onnx_part *p, const char *op, const char *x, int64_t axis)
{
    onnx_call c = eddy__call(p, op, 1, &x);
    eddy__call_int(&c, "axis", axis);
    return eddy__call_end(&c);
}

/* The loss, and its derivative with respect to the logits. */
static bool cross_entropy(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 1);
    int              rank;
    if (!eddy__part_known_rank(p, 1, &rank)) return false;
    const int64_t axis = eddy__part_axis(p, rank);
    const char *labels = eddy__part_in(p, 0), *logits = eddy__part_in(p, 1);
    const char *terms = eddy__part_formula(p, d, "Where(Equal(a, 0), 0, Mul(a, b))", labels,
                                           along(p, "LogSoftmax", logits, axis));
    eddy__part_put(p, 0, eddy__part_unary(p, "Neg", eddy__part_sum(p, terms, 1, &axis, false)));
    return eddy__part_put(p, 1,
                          eddy__part_binary(p, "Sub", along(p, "Softmax", logits, axis), labels));
}

static bool sparse_cross_entropy(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 1);
    int              rank;
    if (!eddy__part_known_rank(p, 1, &rank)) return false;
    const int64_t last = rank - 1;
    const char   *labels =
        eddy__part_cast(p, eddy__part_in(p, 0), eddy__part_dtype(p, 0), EDDY_INT64);
    const char *logits = eddy__part_in(p, 1);
    const char *rows = eddy__part_unsqueeze(p, labels, 1, &last);
    const char *log_p = along(p, "LogSoftmax", logits, last);
    const char *const in[] = { log_p, rows };
    onnx_call c = eddy__call(p, "GatherElements", 2, in);
    eddy__call_int(&c, "axis", last);
    const char *own = eddy__part_binary(p, "Squeeze", eddy__call_end(&c), eddy__part_one(p, last));
    eddy__part_put(p, 0, eddy__part_unary(p, "Neg", own));
    const eddy_shape s = eddy__part_type(p, 1).shape;
    const char *classes = eddy__part_binary(
        p, "Squeeze", eddy__part_size(p, logits, s, (int)last), eddy__part_one(p, 0));
    const char *equal =
        eddy__part_formula(p, EDDY_INT64, "Equal(a, Range(0, b, 1))", rows, classes);
    return eddy__part_put(p, 1, eddy__part_formula(p, d, "Sub(a, real(b))",
                                                   along(p, "Softmax", logits, last), equal));
}

/* ------------------------------------------------------------ normalization -- */

/* The axes over which rows are normalized: the last one, or, for a batch, all others. */
static int norm_axes(const onnx_part *p, int rank, int64_t axes[EDDY_MAX_RANK])
{
    if (p->node->op->name[0] == 'L') return axes[0] = rank - 1, 1;
    for (int i = 0; i < rank - 1; i++) axes[i] = i;
    return rank - 1;
}

/* (x, scale, offset): y, mean, 1 / standard deviation; for a batch the mean, the variance with n -
 * 1, and 1 / standard deviation, without the other axes. ONNX Runtime recognizes layer
 * normalization by this form, if nothing reads the parts. */
static bool normalize(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0);
    int64_t          axes[EDDY_MAX_RANK];
    int              rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const bool  rows = p->node->op->name[0] == 'L';
    const int   n = norm_axes(p, rank, axes);
    const char *x = eddy__part_in(p, 0), *mean = mean_over(p, x, n, axes);
    const char *off = eddy__part_binary(p, "Sub", x, mean);
    const char *variance = mean_over(p, eddy__part_formula(p, d, "Pow(a, 2)", off), n, axes);
    const char *deviation = eddy__part_formula(p, d, "Sqrt(Add(a, #epsilon))", variance);
    eddy__part_put(p, 0, eddy__part_formula(p, d, "Add(Mul(Div(a, b), c), d)", off, deviation,
                                            eddy__part_in(p, 1), eddy__part_in(p, 2)));
    const char *rstd = eddy__part_wants(p, rows ? 2 : 3)
                           ? eddy__part_unary(p, "Reciprocal", deviation) : NULL;
    if (rows) {
        eddy__part_put(p, 1, mean);
        return eddy__part_put(p, 2, rstd);
    }
    const char *flat = eddy__part_one(p, -1);
    const char *unbiased = eddy__part_formula(
        p, d, "u=real(Div(Size(a), Size(b))); Mul(b, Div(u, Max(Sub(u, 1), 1)))", x, variance);
    eddy__part_put(p, 1, eddy__part_reshape(p, mean, flat));
    eddy__part_put(p, 2, eddy__part_reshape(p, unbiased, flat));
    return eddy__part_put(p, 3, eddy__part_reshape(p, rstd, flat));
}

/* (dy, x, scale, mean, rstd): dx, dscale, doffset. */
static bool normalize_grad(onnx_part *p)
{
    const eddy_dtype d = eddy__part_dtype(p, 0);
    int64_t          axes[EDDY_MAX_RANK], others[EDDY_MAX_RANK];
    int              rank;
    if (!eddy__part_known_rank(p, 1, &rank)) return false;
    const int   n = norm_axes(p, rank, axes);
    for (int i = 0; i < rank - 1; i++) others[i] = i;
    const char *dy = eddy__part_in(p, 0), *rstd = eddy__part_in(p, 4);
    const char *z = eddy__part_formula(p, d, "Mul(Sub(a, b), c)", eddy__part_in(p, 1),
                                       eddy__part_in(p, 3), rstd);
    const char *g = eddy__part_binary(p, "Mul", dy, eddy__part_in(p, 2));
    const char *dz = eddy__part_binary(p, "Mul", dy, z), *gz = eddy__part_binary(p, "Mul", g, z);
    eddy__part_put(p, 0,
                   eddy__part_formula(p, d, "Mul(a, Sub(Sub(b, c), Mul(d, e)))", rstd, g,
                                      mean_over(p, g, n, axes), z, mean_over(p, gz, n, axes)));
    eddy__part_put(p, 1, eddy__part_sum(p, dz, rank - 1, others, false));
    return eddy__part_put(p, 2, eddy__part_sum(p, dy, rank - 1, others, false));
}

static const onnx_row rows[] = {
    { "Softmax", softmax },
    { "LogSoftmax", softmax },
    { "SoftmaxCrossEntropyWithLogits", cross_entropy },
    { "SparseSoftmaxCrossEntropyWithLogits", sparse_cross_entropy },
    { "LayerNorm", normalize },
    { "LayerNormGrad", normalize_grad },
    { "FusedBatchNormV3", normalize },
    { "FusedBatchNormGradV3", normalize_grad },
};

const onnx_family eddy__write_networks = FAMILY_OF(rows);
