/* random_graph_parts.c -- the parts that a random graph is built from. */
#include "tests/lib/random_graphs/random_graph.h"
#include "tests/lib/sweep_rows.h"
#include "graph/body.h"

#include <stdlib.h>

static eddy_tensor number(random_graph *g, double v)
{
    return eddy_number(g->t.graph, g->dtype, v);
}

eddy_tensor pool_ints(random_graph *g, int64_t n, const int32_t *v)
{
    return eddy_const(g->t.graph, EDDY_INT32, EDDY_SHAPE(n), v);
}

static int64_t last_of(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    return s.rank ? s.dim[s.rank - 1] : 1;
}

/* --------------------------------------------------------------- elementwise -- */

static eddy_tensor unary(random_graph *g, eddy_tensor x)
{
    switch (pick(&g->t, 24)) {
    case 0:  return Neg(x);
    case 1:  return Abs(x);
    case 2:  return Square(pool_tame(g, x));
    case 3:  return Cos(x);
    case 4:  return Softplus(x);
    case 5:  return Relu(x);
    case 6:  return Exp(pool_tame(g, x));
    case 7:  return Sqrt(Add(Square(pool_tame(g, x)), 1));
    case 8:  return Rsqrt(Add(Abs(x), 1));
    case 9:  return Reciprocal(Add(Abs(x), 1));
    case 10: return Reciprocal(Sqrt(Add(Exp(pool_tame(g, x)), 1)));
    case 11: return Log(Add(Abs(x), 1));
    case 12: return Erf(x);
    case 13: return Neg(Neg(x));
    case 14: return Expm1(pool_tame(g, x));
    case 15: return Log1p(Abs(x));
    case 16: return eddy_gelu(x, .approximate = pick(&g->t, 2));
    case 17: return Floor(Mul(x, 3.7));
    case 18: return Pow(Add(Abs(pool_tame(g, x)), 0.5), pick(&g->t, 5) - 1);
    case 19: return Softmax(x);
    case 20: return LogSoftmax(x);
    case 21: return ZerosLike(x);
    case 22: return OnesLike(x);
    default: return pool_tame(g, x);
    }
}

static eddy_tensor any_unary(random_graph *g, eddy_tensor x)
{
    return shape_of(g, x).rank > 0 ? unary(g, x) : pool_tame(g, x);
}

/* A shape that broadcasts to s: fewer dimensions, some of one element. */
static eddy_shape narrower(random_graph *g, eddy_shape s)
{
    eddy_shape y = { .rank = s.rank };
    if (pick(&g->t, 2)) y.rank -= pick(&g->t, s.rank + 1);
    for (int i = 0; i < y.rank; i++)
        y.dim[i] = pick(&g->t, 3) ? s.dim[i + s.rank - y.rank] : 1;
    return y;
}

static eddy_tensor apply_binary(random_graph *g, eddy_tensor a, eddy_tensor b)
{
    switch (pick(&g->t, 14)) {
    case 0:  return Add(a, b);
    case 1:  return Sub(a, b);
    case 2:  return Mul(a, pool_tame(g, b));
    case 3:  return Maximum(a, b);
    case 4:  return Minimum(b, a);
    case 5:  return SquaredDifference(pool_tame(g, a), pool_tame(g, b));
    case 6:  return Div(a, Add(Square(b), 1));
    case 7:  return Where(Greater(a, b), a, Mul(b, 0.5));
    case 8:  return Sub(Neg(a), Neg(b));
    case 9:  return Add(a, Neg(b));
    case 10: return Mul(pool_tame(g, a), Reciprocal(Add(Abs(b), 1)));
    case 11: return DivNoNan(pool_tame(g, a), Add(Abs(b), 0.5));
    case 12: return Mul(Neg(pool_tame(g, a)), Neg(pool_tame(g, b)));
    default: return Add(Mul(pool_tame(g, a), 0.5), b);
    }
}

static eddy_tensor binary(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    const eddy_tensor y = pool_of(g, pick(&g->t, 2) ? s : narrower(g, s));
    return pick(&g->t, 2) ? apply_binary(g, x, y) : apply_binary(g, y, x);
}

/* Each operand is repeated along another dimension. */
static eddy_tensor outer(random_graph *g)
{
    const int64_t rows = g->size[pick(&g->t, POOL_SIZES)];
    const int64_t columns = g->size[pick(&g->t, POOL_SIZES)];
    if (rows * columns > 8000) return number(g, 2);
    return apply_binary(g, pool_of(g, EDDY_SHAPE(rows, 1)), pool_of(g, EDDY_SHAPE(1, columns)));
}

/* With a constant of equal elements, where much can be left out. */
static eddy_tensor with_filled(random_graph *g, eddy_tensor x)
{
    static const double numbers[] = { 0, 1, -1, 2, 4, 0.25, 3 };
    const double      v = numbers[pick(&g->t, 7)];
    const eddy_shape  s = shape_of(g, x);
    eddy_tensor       c = number(g, v);
    if (pick(&g->t, 2)) c = eddy_broadcast_to(c, pick(&g->t, 2) ? s : narrower(g, s));
    switch (pick(&g->t, 10)) {
    case 0:  return Add(x, c);
    case 1:  return Add(c, x);
    case 2:  return Sub(x, c);
    case 3:  return Sub(c, x);
    case 4:  return Mul(x, c);
    case 5:  return Mul(c, x);
    case 6:  return v != 0 ? Div(x, c) : Mul(x, c);
    case 7:  return Div(c, Add(Abs(x), 1));
    case 8:  return Maximum(x, c);
    default: return Pow(Add(Abs(pool_tame(g, x)), 0.5), c);
    }
}

static eddy_tensor chosen(random_graph *g, eddy_tensor x)
{
    const eddy_tensor y = pool_of(g, shape_of(g, x));
    switch (pick(&g->t, 5)) {
    case 0:  return Where(LogicalNot(LogicalNot(Less(x, y))), x, y);
    case 1:  return Where(LogicalAnd(Greater(x, y), GreaterEqual(x, 0)), Neg(x), y);
    case 2:  return Where(LogicalOr(IsFinite(x), LessEqual(x, y)), x, 0);
    case 3:  return Mul(x, Cast(NotEqual(x, y), g->dtype));
    default: return eddy_clip_by_value(x, number(g, -0.75), number(g, 0.75));
    }
}

/* ---------------------------------------------------------------- reductions -- */

static eddy_dims some_axes(random_graph *g, int rank)
{
    eddy_dims a = EDDY_OMITTED_DIMS;
    switch (rank == 0 ? 0 : pick(&g->t, 5)) {
    case 0:  return a;
    case 1:  return EDDY_DIMS(0);
    case 2:  return EDDY_DIMS(-1);
    case 3:  return EDDY_DIMS(rank / 2);
    default:
        for (int i = 0; i < rank; i++)
            if (pick(&g->t, 2)) a.at[a.count++] = i;
        return a;
    }
}

static eddy_tensor reduction(random_graph *g, eddy_tensor x)
{
    const eddy_dims axes = some_axes(g, shape_of(g, x).rank);
    const bool      keep = pick(&g->t, 2);
    switch (pick(&g->t, 9)) {
    case 0:  return Mean(x, axes, keep);
    case 1:  return Max(x, axes, keep);
    case 2:  return Min(x, axes, keep);
    case 3:  return Prod(Sin(x), axes, keep);
    case 4:  return LogSumExp(x, axes, keep);
    case 5:  return Sum(Square(pool_tame(g, x)), axes, keep);
    case 6:  return Mul(Sum(Mul(x, 2), axes, keep), 0.125);
    case 7:  return eddy_l2_loss(pool_tame(g, x));
    default: return Sum(x, axes, keep);
    }
}

/* -------------------------------------------------------------------- shapes -- */

static eddy_tensor transposed(random_graph *g, eddy_tensor x)
{
    eddy_dims perm = { .count = shape_of(g, x).rank };
    for (int i = 0; i < perm.count; i++) {
        const int j = pick(&g->t, i + 1);
        perm.at[i] = perm.at[j];
        perm.at[j] = i;
    }
    return perm.count > 0 && pick(&g->t, 2) ? Transpose(x, perm) : Transpose(x);
}

static eddy_tensor reshaped(random_graph *g, eddy_tensor x)
{
    eddy_shape s = shape_of(g, x);
    if (s.rank < 2 || pick(&g->t, 3) == 0) return Reshape(x, EDDY_SHAPE(eddy_shape_count(s)));
    const int64_t d = s.dim[0];
    s.dim[0] = s.dim[1];
    s.dim[1] = d;
    return Reshape(x, s);
}

static eddy_tensor alias_chain(random_graph *g, eddy_tensor x)
{
    const eddy_dtype other = g->dtype == EDDY_FLOAT64 ? EDDY_FLOAT32 : EDDY_FLOAT64;
    for (int i = pick(&g->t, 4); i >= 0; i--) {
        const int rank = shape_of(g, x).rank;
        switch (pick(&g->t, 8)) {
        case 0:  x = Identity(x); break;
        case 1:  x = reshaped(g, x); break;
        case 2:  x = rank < 5 ? ExpandDims(x, pick(&g->t, rank + 1)) : x; break;
        case 3:  x = Cast(Cast(x, other), g->dtype); break;
        case 4:  x = pick(&g->t, 4) ? Cast(x, g->dtype) : StopGradient(x); break;
        case 5:  x = Squeeze(x); break;
        case 6:  x = ReshapeLike(Tanh(x), x); break;
        default: x = transposed(g, x); break;
        }
    }
    return x;
}

static eddy_tensor joined(random_graph *g, eddy_tensor x)
{
    const int         rank = shape_of(g, x).rank, axis = rank > 0 ? pick(&g->t, rank) : 0;
    const eddy_tensor y = pool_of(g, shape_of(g, x));
    if (rank == 0 || pick(&g->t, 3) == 0)
        return rank < 5 ? eddy_stack(EDDY_LIST(x, y, Neg(x)), rank > 0 ? axis : 0) : x;
    return eddy_concat(EDDY_LIST(x, y, Tanh(y)), axis);
}

static void taken_apart(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    if (s.rank == 0) return;
    const int axis = pick(&g->t, s.rank);
    eddy_tensor y = EDDY_ZERO_TENSOR;
    if (s.dim[axis] > 0 && s.dim[axis] <= 8) y = eddy_unstack(x, axis, s.dim[axis]);
    else if (s.dim[axis] > 0 && s.dim[axis] % 4 == 0) y = eddy_split(x, 4, axis);
    for (int i = 0; eddy_is_valid(y) && i < eddy_outputs_of(y) && i < 4; i++)
        if (pick(&g->t, 3)) pool_add(g, eddy_output(y, i));
}

static eddy_tensor part_of(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    eddy_dims begin = { .count = s.rank }, size = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) {
        begin.at[i] = s.dim[i] > 0 ? pick(&g->t, (int)s.dim[i]) : 0;
        size.at[i] = s.dim[i] - begin.at[i];
        if (size.at[i] > 1 && pick(&g->t, 2)) size.at[i]--;
    }
    return s.rank > 0 ? eddy_slice(x, begin, size) : x;
}

static eddy_tensor moved(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    const int        axis = s.rank > 0 ? pick(&g->t, s.rank) : 0;
    eddy_dims        some = { .count = s.rank };
    for (int i = 0; i < s.rank; i++) some.at[i] = pick(&g->t, 3);
    if (s.rank == 0) return x;
    const int32_t last = (int32_t)s.dim[axis] - 1;
    switch (pick(&g->t, 9)) {
    case 0:  return joined(g, x);
    case 1:  return part_of(g, x);
    case 2:  return eddy_pad(x, some, some, .value = pick(&g->t, 3));
    case 3:  some.at[axis] = 1;
             return eddy_shape_count(s) < 3000 ? eddy_tile(x, some) : part_of(g, x);
    case 4:  return last >= 0 ? Gather(x, pool_ints(g, 3, (int32_t[]){ last, 0, last }), axis) : x;
    case 5:  return Cumsum(pool_tame(g, x), axis, .reverse = pick(&g->t, 2));
    case 6:  return eddy_shift(x, pick(&g->t, 5) - 2, axis);
    case 7:  return Cumprod(Sin(x), axis);
    default: return eddy_broadcast_to(x, s);
    }
}

/* ------------------------------------------------------------------ products -- */

static eddy_tensor as_matrix(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    if (s.rank == 2) return x;
    const int64_t n = last_of(g, x);
    return Reshape(x, EDDY_SHAPE(n > 0 ? eddy_shape_count(s) / n : 0, n));
}

static eddy_tensor finished(random_graph *g, eddy_tensor y)
{
    const eddy_shape s = shape_of(g, y);
    if (pick(&g->t, 4) == 0) y = Mul(y, 0.5);
    if (pick(&g->t, 2)) {
        const eddy_tensor bias = pool_of(g, EDDY_SHAPE(s.dim[s.rank - 1]));
        y = pick(&g->t, 2) ? BiasAdd(y, bias) : Add(bias, y);
    }
    if (pick(&g->t, 3) == 0) y = Add(y, pool_of(g, s));
    switch (pick(&g->t, 8)) {
    case 0:  return Relu(y);
    case 1:  return eddy_gelu(y, .approximate = pick(&g->t, 2));
    case 2:  return Sigmoid(y);
    case 3:  return y;
    case 4:  return Maximum(y, 0);
    case 5:  return Mul(y, Sigmoid(y));
    default: return Tanh(y);
    }
}

/* One of the graph's sizes, below 100. */
static int64_t small_size(const random_graph *g, int i)
{
    const int64_t n = g->size[i] % 100;
    return n == 0 && g->keeps ? 1 : n;
}

static eddy_tensor product(random_graph *g, eddy_tensor x)
{
    const eddy_tensor a = as_matrix(g, pool_tame(g, x));
    const eddy_shape  s = shape_of(g, a);
    const int64_t     n = small_size(g, pick(&g->t, POOL_SIZES));
    const bool        ta = pick(&g->t, 2), tb = pick(&g->t, 2);
    const int64_t     inner = s.dim[ta ? 0 : 1], rows = s.dim[ta ? 1 : 0];
    if (rows * n > 8000 || inner * n > 8000) return Sum(a, .axes = EDDY_AXES(0));
    eddy_tensor b = pool_of(g, tb ? EDDY_SHAPE(n, inner) : EDDY_SHAPE(inner, n));
    if (pick(&g->t, 3) == 0) b = Transpose(pool_of(g, tb ? EDDY_SHAPE(inner, n)
                                                         : EDDY_SHAPE(n, inner)));
    const eddy_tensor y = MatMul(pick(&g->t, 4) ? a : Mul(a, 0.25), b, ta, tb);
    return finished(g, pick(&g->t, 6) ? y : Transpose(y));
}

static eddy_tensor batch_product(random_graph *g)
{
    const int64_t m = small_size(g, 0), k = small_size(g, 1), n = small_size(g, 2);
    const int64_t b = 1 + pick(&g->t, 3);
    if (b * m * k > 8000 || b * k * n > 8000 || b * m * n > 8000) return number(g, 1);
    const bool        tx = pick(&g->t, 2), ty = pick(&g->t, 2);
    const eddy_tensor x = pool_of(g, tx ? EDDY_SHAPE(b, k, m) : EDDY_SHAPE(b, m, k));
    const eddy_tensor y = pool_of(g, ty ? EDDY_SHAPE(b, n, k) : EDDY_SHAPE(b, k, n));
    return finished(g, eddy_batch_matmul(pool_tame(g, x), pool_tame(g, y), tx, ty));
}

static eddy_tensor convolution(random_graph *g)
{
    const int64_t b = 1 + pick(&g->t, 2), h = 3 + pick(&g->t, 4), c = 1 + pick(&g->t, 3),
                  k = 1 + pick(&g->t, 3), out = 1 + pick(&g->t, 9);
    const bool    planes = pick(&g->t, 3) == 0;
    const eddy_shape  s = planes ? EDDY_SHAPE(b, c, h, h + 1) : EDDY_SHAPE(b, h, h + 1, c);
    const eddy_tensor x = pool_of(g, s);
    const eddy_tensor y = eddy_conv2d(pool_tame(g, x), pool_of(g, EDDY_SHAPE(k, k, c, out)),
                                      .padding = pick(&g->t, 2) ? "SAME" : "VALID",
                                      .strides = EDDY_DIMS(1 + pick(&g->t, 2)),
                                      .data_format = planes ? "NCHW" : "NHWC");
    return planes ? pool_tame(g, y) : finished(g, y);
}

/* ---------------------------------------------------- made of several parts -- */

static eddy_tensor softmax_by_parts(eddy_tensor x)
{
    const eddy_tensor e = Exp(Sub(x, Max(x, .axes = EDDY_AXES(-1), .keepdims = true)));
    return Div(e, Sum(e, .axes = EDDY_AXES(-1), .keepdims = true));
}

static eddy_tensor loss_by_parts(random_graph *g, eddy_tensor x)
{
    const eddy_tensor labels = Softmax(pool_of(g, shape_of(g, x)));
    const eddy_tensor p = pick(&g->t, 2) ? Softmax(x) : softmax_by_parts(x);
    const eddy_tensor y = Neg(Sum(Mul(labels, Log(p)), .axes = EDDY_AXES(-1)));
    return pick(&g->t, 2) ? Mean(y) : y;
}

static eddy_tensor norm_by_parts(random_graph *g, eddy_tensor x, eddy_dims axes, eddy_shape scale)
{
    const eddy_tensor mean = Mean(x, axes, true), d = Sub(x, mean);
    const eddy_tensor v = pick(&g->t, 2) ? Mean(Square(d), axes, true)
                                         : Mean(SquaredDifference(x, mean), axes, true);
    const eddy_tensor e = Add(v, 1e-3);
    eddy_tensor y = pick(&g->t, 2) ? Mul(d, Rsqrt(e)) : Div(d, Sqrt(e));
    if (pick(&g->t, 3)) y = Add(Mul(y, pool_of(g, scale)), pool_of(g, scale));
    return y;
}

static eddy_tensor gelu_by_parts(random_graph *g, eddy_tensor x)
{
    if (pick(&g->t, 2)) return Mul(Mul(x, 0.5), Add(Erf(Mul(x, 0.70710678118654752)), 1));
    const eddy_tensor cube = pick(&g->t, 2) ? Pow(x, 3) : Mul(x, Square(x));
    const eddy_tensor inner = Mul(Add(x, Mul(cube, 0.044715)), 0.7978845608028654);
    return Mul(Mul(0.5, x), Add(1, Tanh(inner)));
}

static eddy_tensor attention_by_parts(random_graph *g)
{
    const int64_t b = 1 + pick(&g->t, 2), s = 1 + pick(&g->t, 6), u = 1 + pick(&g->t, 6),
                  d = 1 + pick(&g->t, 5), h = pick(&g->t, 2) ? 2 : 1;
    const eddy_tensor q = pool_of(g, EDDY_SHAPE(b, h, s, d));
    const eddy_tensor k = pool_of(g, EDDY_SHAPE(b, h, u, d));
    eddy_tensor scores = pick(&g->t, 2)
        ? eddy_batch_matmul(q, k, false, true)
        : eddy_batch_matmul(q, Transpose(k, EDDY_DIMS(0, 1, 3, 2)));
    scores = pick(&g->t, 2) ? Mul(scores, 0.5) : Div(scores, 3);
    if (pick(&g->t, 3) == 0) scores = Add(scores, pool_of(g, EDDY_SHAPE(s, u)));
    const eddy_tensor p = pick(&g->t, 2) ? Softmax(scores) : softmax_by_parts(scores);
    return eddy_batch_matmul(p, pool_of(g, EDDY_SHAPE(b, h, u, d)));
}

/* e^x times a sum of quotients by the sum of the e^x, as in gradients. */
static eddy_tensor over_sum_of_exps(random_graph *g, eddy_tensor x)
{
    const eddy_dims   axis = EDDY_DIMS(pick(&g->t, shape_of(g, x).rank));
    const eddy_tensor e = Exp(pool_tame(g, x)), sum = Sum(e, axis, true);
    const eddy_tensor over = Div(pool_of(g, narrower(g, shape_of(g, x))), sum);
    return Mul(e, Sum(pick(&g->t, 2) ? over : Add(over, Div(x, sum)), axis, true));
}

/* Formulas that lose digits where another does not, or cost more than one op. */
static eddy_tensor formula(random_graph *g, eddy_tensor x)
{
    switch (pick(&g->t, 15)) {
    case 0:  return Log(Add(Softmax(x), 0));
    case 1:  return Log(Softmax(x));
    case 2:  return Log(Add(1, Square(x)));
    case 3:  return Sub(Exp(pool_tame(g, x)), 1);
    case 4:  return Log(Sigmoid(x));
    case 5:  return Log(Sub(1, Mul(0.5, Sigmoid(x))));
    case 6:  return Log(Add(1, Exp(pool_tame(g, x))));
    case 7:  return Reciprocal(Add(1, Exp(Neg(pool_tame(g, x)))));
    case 8:  return Div(1, Add(1, Exp(Neg(pool_tame(g, x)))));
    case 9:  return Log(Sum(Exp(pool_tame(g, x)), .axes = EDDY_AXES(-1), .keepdims = true));
    case 10: return Mul(x, Sigmoid(x));
    case 11: return Sqrt(Add(Mul(x, x), 0.25));
    case 12: return Div(x, Sqrt(Add(Sum(Square(x), .axes = EDDY_AXES(-1), .keepdims = true), 1)));
    case 13: return over_sum_of_exps(g, x);
    default: return Square(Sub(x, pool_of(g, shape_of(g, x))));
    }
}

static eddy_tensor by_parts(random_graph *g, eddy_tensor x)
{
    const eddy_shape s = shape_of(g, x);
    if (s.rank == 0) return gelu_by_parts(g, x);
    eddy_dims leading = { .count = s.rank - 1 };
    for (int i = 0; i < s.rank - 1; i++) leading.at[i] = i;
    switch (pick(&g->t, 8)) {
    case 0:  return softmax_by_parts(x);
    case 1:  return loss_by_parts(g, x);
    case 2:  return norm_by_parts(g, x, EDDY_DIMS(-1), EDDY_SHAPE(last_of(g, x)));
    case 3:  return s.rank > 1 ? norm_by_parts(g, x, leading, EDDY_SHAPE(last_of(g, x))) : x;
    case 4:  return gelu_by_parts(g, x);
    case 5:  return attention_by_parts(g);
    default: return formula(g, x);
    }
}

/* ------------------------------------------------------------- other numbers -- */

static eddy_tensor whole_numbers(random_graph *g, eddy_tensor x)
{
    const eddy_dtype  d = pick(&g->t, 2) ? EDDY_INT32 : EDDY_INT64;
    const eddy_tensor n = Cast(Mul(pool_tame(g, x), 100), d);
    switch (pick(&g->t, 9)) {
    case 0:  return FloorMod(n, 7);
    case 1:  return FloorDiv(n, 3);
    case 2:  return Add(Mul(n, 3), Mul(n, 1));
    case 3:  return Sub(n, 0);
    case 4:  return Neg(Neg(n));
    case 5:  return Sum(n, some_axes(g, shape_of(g, x).rank));
    case 6:  return Maximum(n, FloorDiv(Mul(n, n), 10));
    case 7:  return TruncateDiv(n, 1);
    default: return Square(Neg(n));
    }
}

static void other_types(random_graph *g, eddy_tensor x)
{
    eddy_tensor y;
    const int rank = shape_of(g, x).rank;
    const bool some = rank > 0 && eddy_shape_count(shape_of(g, x)) > 0;
    switch (pick(&g->t, 6)) {
    case 0:  y = Greater(x, 0.25); break;
    case 1:  y = LogicalXor(Greater(x, 0), LogicalNot(Less(x, 0.5))); break;
    case 2:  y = some ? eddy_argmax(x, pick(&g->t, rank)) : IsNan(x); break;
    case 3:  y = eddy_any(Greater(x, 1), some_axes(g, rank)); break;
    default: y = whole_numbers(g, x); break;
    }
    pool_keep(g, y);
    if (pick(&g->t, 2)) pool_add(g, pool_tame(g, Cast(y, g->dtype)));
}

static eddy_tensor random_numbers(random_graph *g, eddy_tensor x)
{
    switch (pick(&g->t, 4)) {
    case 0:  return Add(x, eddy_random_uniform_like(x, -1, 1));
    case 1:  return Mul(x, eddy_random_normal_like(x));
    case 2:  return Mul(x, Cast(Less(eddy_random_uniform_like(x), 0.75), g->dtype));
    default: return eddy_dropout(x, .rate = 0.25);
    }
}

/* ---------------------------------------------------------- an op of the table -- */

/* Within the row's bounds: a new input, or a function of an existing tensor. */
static eddy_tensor row_input(random_graph *g, const sweep_row *r, int k)
{
    const double      a = r->low[k], b = r->high[k], low = a < b ? a : -2, high = a < b ? b : 2;
    const eddy_tensor x = pool_of(g, r->shape[k]);
    return Add(Mul(Sigmoid(x), high - low), low);
}

/* Gradients of whole orthogonal factors need to know which side is the longer one. */
static bool has_gradient(const sweep_row *r, const eddy_tensor *x)
{
    return !(r->options & SWEEP_REFUSES) &&
           ((strcmp(r->op, "Svd") != 0 && strcmp(r->op, "Qr") != 0) ||
            eddy_shape_is_known(eddy_shape_of(x[0])));
}

static void row(random_graph *g)
{
    const sweep_row *r = sweep_row_at(pick(&g->t, sweep_count()));
    eddy_tensor      x[SWEEP_INPUTS] = { EDDY_ZERO_TENSOR };
    for (int k = 0; k < r->n; k++) x[k] = row_input(g, r, k);
    const eddy_tensor y = r->unary ? r->unary(x[0])
                        : r->binary ? r->binary(x[0], x[1]) : r->build(g->t.graph, x);
    for (int i = 0; eddy_is_valid(y) && i < eddy_outputs_of(y); i++) {
        if (has_gradient(r, x)) pool_add(g, eddy_output(y, i));
        else pool_keep(g, eddy_output(y, i));
    }
}

/* Whether it is made of an argument of a body, which has a value only there. */
static bool is_inside(const eddy_graph *graph, int32_t id)
{
    bool *inside = calloc((size_t)id + 1, sizeof *inside);
    for (int32_t k = 1; k <= id; k++) {
        const eddy_node *n = graph->nodes[k];
        inside[k] = n->traced || strcmp(n->op->name, "Argument") == 0;
        for (int i = 0; i < n->n_inputs; i++) inside[k] = inside[k] || inside[n->inputs[i].node];
        for (int i = 0; i < n->n_controls; i++) inside[k] = inside[k] || inside[n->controls[i]];
    }
    const bool is = inside[id];
    free(inside);
    return is;
}

/* An intermediate value of an earlier operation is read again. */
static void read_again(random_graph *g)
{
    enum { NOT = EDDY_OP_VARIABLE | EDDY_OP_UPDATES | EDDY_OP_SLICES };
    const int32_t     id = 1 + pick(&g->t, eddy_graph_size(g->t.graph));
    const eddy_tensor x = eddy_node_at(g->t.graph, id);
    const eddy_node  *node = eddy_node_of(x);
    if (eddy_outputs_of(x) == 0 || (node->op->flags & NOT)) return;
    if (g->depth > 0 || is_inside(g->t.graph, id) || eddy__is_open_stack(node, 0)) return;
    if (pick(&g->t, 3) == 0) pool_fetch(g, x);
    const char *const type = eddy_type_of(x);
    if (strcmp(type, "PreventGradient") == 0 || strcmp(type, "RandomShuffle") == 0) pool_keep(g, x);
    else pool_add(g, x);
}

/* One tensor made of x; kinds from 0 on. */
static eddy_tensor value_of(random_graph *g, eddy_tensor x, int kind)
{
    switch (kind) {
    case 0: case 1: case 2: case 3: return any_unary(g, x);
    case 4: case 5: case 6: case 7: return binary(g, x);
    case 8:                         return outer(g);
    case 9: case 10:                return with_filled(g, x);
    case 11:                        return chosen(g, x);
    case 12: case 13: case 14:      return reduction(g, x);
    case 15: case 16:               return alias_chain(g, x);
    case 17: case 18:               return moved(g, x);
    case 19: case 20:               return product(g, x);
    case 21:                        return batch_product(g);
    case 22:                        return random_numbers(g, x);
    case 23:                        return convolution(g);
    default:                        return by_parts(g, x);
    }
}

void random_part(random_graph *g)
{
    enum { VALUES = 28 };
    const eddy_tensor x = pool_any(g);
    const int         kind = pick(&g->t, VALUES + 9);
    if (g->wide && pick(&g->t, 2)) row(g);
    else if (kind < VALUES) pool_add(g, value_of(g, x, kind));
    else if (kind == VALUES) other_types(g, x);
    else if (kind < VALUES + 3) random_state(g);
    else if (kind == VALUES + 3) taken_apart(g, x);
    else if (kind == VALUES + 4) read_again(g);
    else if (kind < VALUES + 7 && g->depth < 2) random_control(g);
    else row(g);
}
