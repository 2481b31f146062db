/* attention.c -- scaled dot-product attention and its gradient, with the scores as tensors. */
#include "../rules.h"

#include <math.h>

/* An attribute of 0, but not of -0, stands for 1 / sqrt(d), where d is the last size of input 0. */
static const char *scale_of(onnx_part *p)
{
    const double     scale = eddy__part_float(p, "scale");
    const eddy_shape q = eddy__part_type(p, 0).shape;
    const int64_t    d = q.rank > 0 ? q.dim[q.rank - 1] : EDDY_ANY;
    if (scale == 0 && !signbit(scale) && d == EDDY_ANY)
        return eddy__part_missing(p, "the last size of input 0 must be known"), "";
    return eddy__part_number(p, p->node->outputs[0].dtype,
                             scale != 0 || signbit(scale) ? scale
                                                          : 1 / sqrt((double)(d > 0 ? d : 1)));
}

/* Scores scale q k' + mask; with `causal`, -infinity behind the row's own position. */
static const char *scores(onnx_part *p, const char *q, const char *k, const char *mask, int rank)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    int64_t          order[EDDY_MAX_RANK];
    for (int i = 0; i < rank; i++) order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    const char *s = eddy__part_formula(p, d, "Mul(MatMul(a, b), c)", q,
                                       eddy__part_transpose(p, k, rank, order), scale_of(p));
    if (*mask) s = eddy__part_binary(p, "Add", s, mask);
    if (!eddy__part_bool(p, "causal")) return s;
    onnx_call from = eddy__call(p, "Shape", 1, &s), to = eddy__call(p, "Shape", 1, &s);
    eddy__call_int(&from, "start", rank - 2);
    eddy__call_int(&from, "end", rank - 1);
    const char *rows = eddy__call_end(&from);
    eddy__call_int(&to, "start", rank - 1);
    const char *columns = eddy__call_end(&to), *zero = eddy__part_one(p, 0);
    const char *seen = eddy__part_formula(
        p, EDDY_INT64,
        "LessOrEqual(Range(0, Squeeze(b, c), 1), Unsqueeze(Range(0, Squeeze(a, c), 1), d))", rows,
        columns, zero, eddy__part_one(p, 1));
    return eddy__part_formula(p, d, "Where(a, b, c)", seen, s, eddy__part_number(p, d, -INFINITY));
}

static const char *along_last(onnx_part *p, const char *op, const char *x, int rank)
{
    const int64_t last = rank - 1;
    return eddy__part_reduce(p, op, x, 1, &last, false);
}

/* y, and the logarithms of the sums of exponentials if they are read. */
static void attend(onnx_part *p, const char *q, const char *k, const char *v, const char *mask,
                   int rank, const char *out[2])
{
    const char *s = scores(p, q, k, mask, rank);
    out[0] = eddy__part_formula(p, EDDY_FLOAT32, "MatMul(Softmax[axis=-1](a), b)", s, v);
    if (eddy__part_wants(p, 1)) out[1] = along_last(p, "ReduceLogSumExp", s, rank);
}

/* The tensors of a gradient; dsum is that of the logarithms. */
typedef struct attention {
    const char *q, *k, *v, *y, *sum, *dy, *dsum, *mask;
} attention;

static void attend_grad(onnx_part *p, const attention *a, int rank, const char *out[3])
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    int64_t          order[EDDY_MAX_RANK];
    for (int i = 0; i < rank; i++) order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    const char *one = eddy__part_one(p, -1);
    const char *s = scores(p, a->q, a->k, a->mask, rank);
    const char *probability =
        eddy__part_formula(p, d, "Exp(Sub(a, Unsqueeze(b, c)))", s, a->sum, one);
    const int64_t last = rank - 1;
    const char   *delta = eddy__part_binary(
          p, "Sub", eddy__part_sum(p, eddy__part_binary(p, "Mul", a->dy, a->y), 1, &last, false),
          a->dsum);
    const char *g = eddy__part_formula(
        p, d, "Mul(Mul(a, Sub(MatMul(b, c), Unsqueeze(d, e))), f)", probability, a->dy,
        eddy__part_transpose(p, a->v, rank, order), delta, one, scale_of(p));
    out[0] = eddy__part_binary(p, "MatMul", g, a->k);
    out[1] = eddy__part_binary(p, "MatMul", eddy__part_transpose(p, g, rank, order), a->q);
    out[2] =
        eddy__part_binary(p, "MatMul", eddy__part_transpose(p, probability, rank, order), a->dy);
}

static bool plain(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    attend(p, eddy__part_in(p, 0), eddy__part_in(p, 1), eddy__part_in(p, 2), eddy__part_in(p, 3),
           rank, p->out);
    return true;
}

static bool plain_grad(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const attention a = { eddy__part_in(p, 0), eddy__part_in(p, 1), eddy__part_in(p, 2),
                          eddy__part_in(p, 3), eddy__part_in(p, 4), eddy__part_in(p, 5),
                          eddy__part_in(p, 6), eddy__part_in(p, 7) };
    attend_grad(p, &a, rank, p->out);
    return true;
}

/* ------------------------------------------------------------------- packed -- */

/* Positions and heads change places: [batch, s, heads, d], or without d. */
static const char *swap(onnx_part *p, const char *x, int rank)
{
    static const int64_t order[] = { 0, 2, 1, 3 };
    return eddy__part_transpose(p, x, rank, order);
}

/* Part i of qkv, [batch, s, 3, heads, d]. */
static const char *unpacked(onnx_part *p, int i)
{
    return swap(p, eddy__part_formula(p, EDDY_INT64, "Gather[axis=2](a, b)", eddy__part_in(p, 0),
                                      eddy__part_number(p, EDDY_INT64, i)), 4);
}

static bool packed(onnx_part *p)
{
    const char *out[2] = { NULL, NULL };
    attend(p, unpacked(p, 0), unpacked(p, 1), unpacked(p, 2), "", 4, out);
    eddy__part_put(p, 0, swap(p, out[0], 4));
    return eddy__part_put(p, 1, out[1] ? swap(p, out[1], 3) : NULL);
}

static bool packed_grad(onnx_part *p)
{
    const int64_t   axis = 2;
    const char     *out[3];
    const attention a = { unpacked(p, 0), unpacked(p, 1), unpacked(p, 2),
                          swap(p, eddy__part_in(p, 1), 4), swap(p, eddy__part_in(p, 2), 3),
                          swap(p, eddy__part_in(p, 3), 4), swap(p, eddy__part_in(p, 4), 3), "" };
    attend_grad(p, &a, 4, out);
    for (int i = 0; i < 3; i++) out[i] = eddy__part_unsqueeze(p, swap(p, out[i], 4), 1, &axis);
    return eddy__part_put(p, 0, eddy__part_concat(p, axis, 3, out));
}

/* ------------------------------------------------------------------- cached -- */

/* Rows that are not filled may have any values. A row of the result that sees none is 0. */
static bool cached(onnx_part *p)
{
    static const int64_t turned[] = { 0, 1, 3, 2 }, column[] = { -1, 1, 1, 1 };
    const eddy_dtype     d = p->node->outputs[0].dtype;
    const char *q = eddy__part_in(p, 0), *k = eddy__part_in(p, 1), *v = eddy__part_in(p, 2);
    const char *zero = eddy__part_one(p, 0), *one = eddy__part_one(p, 1);
    const char *filled = eddy__part_reshape(
        p, eddy__part_cast(p, eddy__part_in(p, 3), eddy__part_dtype(p, 3), EDDY_INT64),
        eddy__part_ints(p, 4, column));
    const char *t = eddy__part_size(p, v, eddy__part_type(p, 2).shape, 2), *seen = filled;
    const char *places = eddy__part_formula(p, EDDY_INT64, "Range(0, Squeeze(a, b), 1)", t, zero);
    if (eddy__part_bool(p, "causal"))
        seen = eddy__part_formula(
            p, EDDY_INT64, "Add(a, Sub(Unsqueeze(Range(1, Squeeze(Add(b, 1), c), 1), d), b))",
            filled, eddy__part_size(p, q, eddy__part_type(p, 0).shape, 2), zero, one);
    const char *s = eddy__part_formula(p, d, "Mul(MatMul(a, b), c)", q,
                                       eddy__part_transpose(p, k, 4, turned), scale_of(p));
    s = eddy__part_formula(p, d, "Softmax[axis=-1](Where(Less(a, b), c, d))", places, seen, s,
                           eddy__part_number(p, d, -INFINITY));
    v = eddy__part_formula(p, d, "Where(Less(Unsqueeze(a, b), c), d, 0)", places, one, filled, v);
    return eddy__part_put(p, 0, eddy__part_formula(p, d, "Where(Less(a, b), MatMul(c, d), 0)",
                                                   eddy__part_number(p, EDDY_INT64, 0), seen, s,
                                                   v));
}

static const onnx_row rows[] = {
    { "ScaledDotProductAttention", plain },
    { "ScaledDotProductAttentionGrad", plain_grad },
    { "PackedSelfAttention", packed },
    { "PackedSelfAttentionGrad", packed_grad },
    { "CachedAttention", cached },
};

const onnx_family eddy__write_attention = FAMILY_OF(rows);
