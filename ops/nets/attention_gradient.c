/* attention_gradient.c -- the gradient of attention; and the gradient of that gradient, composed
 * of ordinary operations.
 *
 * With S = scale q k' + mask, P = softmax S, which is e^(S - sum), D = dy v' and G = P (D - delta),
 * where delta is the sum of dy y over a row, minus dsum, the gradients are dq = scale G k,
 * dk = scale G' q, dv = P' dy and, summed over the broadcast dimensions, dmask = G. */
#include "ops/nets/attention_gradient.h"
#include "ops/short_names.h"

#include <math.h>

/* ------------------------------------------------------------------- tools -- */

static eddy_tensor rows_by_rows(eddy_tensor a, eddy_tensor b)
{
    return eddy_batch_matmul(a, b, .adj_y = true);
}

static eddy_tensor along_rows(eddy_tensor a, eddy_tensor b)
{
    return eddy_batch_matmul(a, b, .adj_x = true);
}

static eddy_tensor row_sums(eddy_tensor x)
{
    return Sum(x, EDDY_AXES(-1), .keepdims = true);
}

static eddy_tensor column(eddy_tensor x) { return ExpandDims(x, -1); }

/* The scale, also if d is not yet known. */
static eddy_tensor scaled(const eddy_attention_terms *t, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(t->q);
    const int64_t    d = s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY;
    if (t->attrs->scale != 0) return Mul(t->attrs->scale, x);
    if (d >= 0) return Mul(1 / sqrt((double)(d > 0 ? d : 1)), x);
    const eddy_tensor rows = Maximum(eddy_size(t->sum, EDDY_INT64), 1);
    const eddy_tensor size = Maximum(FloorDiv(eddy_size(t->q, EDDY_INT64), rows), 1);
    return Mul(Rsqrt(CastLike(size, x)), x);
}

/* P, from S alone: beside a large score, sum has lost the sum. */
static eddy_tensor probabilities(const eddy_attention_terms *t)
{
    eddy_tensor s = scaled(t, rows_by_rows(t->q, t->k));
    if (eddy_is_valid(t->mask)) s = Add(s, t->mask);
    if (t->attrs->causal) {
        const eddy_tensor ones = OnesLike(s);
        s = Where(GreaterEqual(Cumsum(ones, -2), Cumsum(ones, -1)), s, -INFINITY);
    }
    return Softmax(s);
}

/* D - delta. */
static eddy_tensor above_mean(const eddy_attention_terms *t)
{
    const eddy_tensor delta = Sub(row_sums(Mul(t->dy, t->y)), column(t->dsum));
    return Sub(rows_by_rows(t->dy, t->v), delta);
}

eddy_tensor eddy__attention_dmask(const eddy_attention_terms *t)
{
    return SumLike(Mul(probabilities(t), above_mean(t)), t->mask);
}

/* X is the gradient of G; W = X P is that of D and of -delta, and Z is that of S. */
void eddy__attention_second(const eddy_attention_terms *t, const eddy_tensor *g, eddy_tensor *dx)
{
    const eddy_tensor p = probabilities(t), above = above_mean(t), slope = Mul(p, above);
    const eddy_tensor x = scaled(t, Add(rows_by_rows(g[0], t->k), rows_by_rows(t->q, g[1])));
    const eddy_tensor w = Mul(x, p), w_sums = row_sums(w);
    const eddy_tensor z = Mul(Add(rows_by_rows(t->dy, g[2]), Mul(x, above)), p);
    dx[0] = scaled(t, Add(eddy_batch_matmul(z, t->k), eddy_batch_matmul(slope, g[1])));
    dx[1] = scaled(t, Add(along_rows(z, t->q), along_rows(slope, g[0])));
    dx[2] = along_rows(w, t->dy);
    dx[3] = Neg(Mul(w_sums, t->dy));
    dx[4] = Neg(Sum(z, EDDY_AXES(-1)));
    dx[5] = Sub(Add(eddy_batch_matmul(p, g[2]), eddy_batch_matmul(w, t->v)), Mul(w_sums, t->y));
    dx[6] = Sum(w, EDDY_AXES(-1));
    if (eddy_is_valid(t->mask)) dx[7] = SumLike(z, t->mask);
}
