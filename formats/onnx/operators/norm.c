/* norm.c -- normalization and dropout: channels are second. */
#include "../build.h"
#include "../../../ops/short_names.h"

/* A vector over the channels of a tensor of rank 2 or more, as [C, 1, 1 ...]; other shapes are
 * left. */
static eddy_tensor per_channel(eddy_tensor v, int rank)
{
    const eddy_shape s = eddy_shape_of(v);
    if (s.rank != 1) return v;
    eddy_shape to = { .rank = rank - 1, .dim = { s.dim[0] == EDDY_ANY ? -1 : s.dim[0] } };
    for (int i = 1; i < to.rank; i++) to.dim[i] = 1;
    return Reshape(v, to);
}

/* All axes except the channels. */
static eddy_dims other_axes(int rank)
{
    eddy_dims d = { .count = rank - 1 };
    for (int i = 0, n = 0; i < rank; i++)
        if (i != 1) d.at[n++] = i;
    return d;
}

static eddy_tensor normalized(onnx_build *b, eddy_tensor mean, eddy_tensor variance, double epsilon)
{
    const int rank = eddy__onnx_rank(b, 0);
    const eddy_dtype d = eddy_dtype_of(eddy__onnx_in(b, 0));
    return eddy_batch_normalization(eddy__onnx_in(b, 0), per_channel(Cast(mean, d), rank),
                                    per_channel(Cast(variance, d), rank),
                                    per_channel(Cast(eddy__onnx_in(b, 2), d), rank),
                                    per_channel(Cast(eddy__onnx_in(b, 1), d), rank), epsilon);
}

/* An attribute from operator set 14 on; before, the number of outputs, and is_test before 7. */
static bool trains(const onnx_build *b)
{
    if (b->version >= 14) return eddy__onnx_int(b, "training_mode", 0) != 0;
    return eddy__onnx_wants(b, 1) && (b->version >= 7 || !eddy__onnx_int(b, "is_test", 0));
}

static bool batch_norm(onnx_build *b)
{
    const double epsilon = eddy__onnx_float(b, "epsilon", 1e-5),
                 keep = eddy__onnx_float(b, "momentum", 0.9);
    const int    rank = eddy__onnx_rank(b, 0);
    const bool   training = trains(b);
    for (int i = 3; i < 5; i++)
        if (eddy__onnx_value_in(b, i)) eddy__onnx_value_in(b, i)->statistic = true;
    const eddy_tensor mean = eddy__onnx_in(b, 3), variance = eddy__onnx_in(b, 4);
    if (rank < 2)
        return eddy__onnx_missing(b, "the rank of the input must be known and at least 2");
    if (!training) return eddy__onnx_put(b, 0, normalized(b, mean, variance, epsilon));
    const eddy_tensor m = eddy_moments(eddy__onnx_in(b, 0), other_axes(rank));
    const eddy_tensor v = eddy_output(m, 1);
    eddy__onnx_put(b, 1, Add(Mul(mean, keep), Mul(CastLike(m, mean), 1 - keep)));
    eddy__onnx_put(b, 2, Add(Mul(variance, keep), Mul(CastLike(v, variance), 1 - keep)));
    return eddy__onnx_put(b, 0, normalized(b, m, v, epsilon));
}

/* (x - mean) / sqrt(variance + epsilon) over these axes; *mean and *rstd if asked. */
static eddy_tensor standardized(eddy_tensor x, eddy_dims axes, double epsilon, eddy_tensor *mean,
                                eddy_tensor *rstd)
{
    const eddy_tensor m = eddy_moments(x, axes, .keepdims = true);
    const eddy_tensor r = eddy_rsqrt(Add(eddy_output(m, 1), epsilon));
    if (mean) *mean = m;
    if (rstd) *rstd = r;
    return Mul(Sub(x, m), r);
}

static bool instance_norm(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int         rank = eddy__onnx_rank(b, 0);
    eddy_dims         axes = { .count = rank - 2 };
    if (rank < 3)
        return eddy__onnx_missing(b, "the rank of the input must be known and at least 3");
    for (int i = 2; i < rank; i++) axes.at[i - 2] = i;
    const eddy_tensor z = standardized(x, axes, eddy__onnx_float(b, "epsilon", 1e-5), NULL, NULL);
    return eddy__onnx_put(b, 0, Add(Mul(z, per_channel(eddy__onnx_in(b, 1), rank)),
                                    per_channel(eddy__onnx_in(b, 2), rank)));
}

static eddy_dims axes_from(int axis, int rank)
{
    eddy_dims d = { .count = rank - axis };
    for (int i = axis; i < rank; i++) d.at[i - axis] = i;
    return d;
}

/* Over the last axis, without the statistics, it is one operation. */
static bool layer_norm(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), scale = eddy__onnx_in(b, 1);
    const int         rank = eddy__onnx_rank(b, 0),
              axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", -1), rank);
    const double epsilon = eddy__onnx_float(b, "epsilon", 1e-5);
    if (axis < 0) return false;
    eddy_tensor y, mean, rstd;
    if (axis == rank - 1 && eddy_shape_of(scale).rank == 1 && !eddy__onnx_wants(b, 1) &&
        !eddy__onnx_wants(b, 2)) {
        const eddy_tensor offset = eddy__onnx_has(b, 2) ? eddy__onnx_in(b, 2) : ZerosLike(scale);
        return eddy__onnx_put(b, 0, eddy_layer_norm(x, scale, offset, epsilon));
    }
    y = Mul(standardized(x, axes_from(axis, rank), epsilon, &mean, &rstd), scale);
    if (eddy__onnx_has(b, 2)) y = Add(y, eddy__onnx_in(b, 2));
    eddy__onnx_put(b, 1, mean);
    eddy__onnx_put(b, 2, rstd);
    return eddy__onnx_put(b, 0, y);
}

static bool rms_norm(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int         rank = eddy__onnx_rank(b, 0),
              axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", -1), rank);
    if (axis < 0) return false;
    const eddy_tensor m = Mean(Square(x), axes_from(axis, rank), .keepdims = true);
    const eddy_tensor r = eddy_rsqrt(Add(m, eddy__onnx_float(b, "epsilon", 1e-5)));
    return eddy__onnx_put(b, 0, Mul(Mul(x, r), eddy__onnx_in(b, 1)));
}

/* Scale and offset are for each group before operator set 21, then for each channel. */
static bool group_norm(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_shape  s = eddy_shape_of(x);
    const int64_t     groups = eddy__onnx_int(b, "num_groups", 1);
    if (s.rank < 3 || s.dim[1] < 0 || groups < 1 || s.dim[1] % groups)
        return eddy__onnx_missing(b, "the channels must be known and a multiple of the groups");
    eddy_tensor       scale = eddy__onnx_in(b, 1), offset = eddy__onnx_in(b, 2);
    int64_t rest = s.dim[1] / groups;
    for (int i = 2; i < s.rank; i++) rest = s.dim[i] < 0 || rest < 0 ? -1 : rest * s.dim[i];
    if (s.dim[0] < 0 && rest < 0) return eddy__onnx_missing(b, "too many dimensions are unknown");
    const eddy_tensor split = Reshape(x, EDDY_SHAPE(s.dim[0], groups, rest));
    const eddy_tensor z = ReshapeLike(
        standardized(split, EDDY_AXES(2), eddy__onnx_float(b, "epsilon", 1e-5), NULL, NULL), x);
    if (b->version < 21) {
        scale = eddy_repeat(scale, eddy_number(b->graph, EDDY_INT32, (double)(s.dim[1] / groups)),
                            EDDY_AXES(0));
        offset = eddy_repeat(offset, eddy_number(b->graph, EDDY_INT32, (double)(s.dim[1] / groups)),
                             EDDY_AXES(0));
    }
    return eddy__onnx_put(b, 0,
                          Add(Mul(z, per_channel(scale, s.rank)), per_channel(offset, s.rank)));
}

/* y = x / (bias + alpha / size s)^beta, s the sum of squares over `size` channels around each. */
static bool lrn(onnx_build *b)
{
    const int64_t     size = eddy__onnx_int(b, "size", 1);
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int         rank = eddy__onnx_rank(b, 0);
    if (rank < 2 || size < 1 || size > 1024)
        return eddy__onnx_missing(b, "the rank must be known and the size valid");
    const int64_t before = (size - 1) / 2, after = size - 1 - before;
    eddy_dims     lead = { .count = rank }, tail = { .count = rank }, at = { .count = rank };
    lead.at[1] = before;
    tail.at[1] = after;
    const eddy_tensor squares = eddy_pad(Square(x), lead, tail);
    eddy_tensor       s = eddy_slice_like(squares, x, at);
    for (at.at[1] = 1; at.at[1] < size; at.at[1]++) s = Add(s, eddy_slice_like(squares, x, at));
    const double      alpha = eddy__onnx_float(b, "alpha", 1e-4) / (double)size;
    const eddy_tensor base = Add(Mul(s, alpha), eddy__onnx_float(b, "bias", 1));
    return eddy__onnx_put(b, 0, Mul(x, Pow(base, -eddy__onnx_float(b, "beta", 0.75))));
}

static bool mean_variance(onnx_build *b)
{
    int            n;
    const int64_t *list = eddy__onnx_ints(b, "axes", &n);
    const eddy_dims axes =
        list && n <= EDDY_MAX_RANK ? eddy__onnx_dims(list, n) : EDDY_AXES(0, 2, 3);
    const eddy_tensor x = eddy__onnx_in(b, 0), m = eddy_moments(x, axes, .keepdims = true);
    return eddy__onnx_put(b, 0, Div(Sub(x, m), Add(Sqrt(eddy_output(m, 1)), 1e-9)));
}

/* 0 where the norm is 0. */
static bool lp_norm(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int axis = eddy__onnx_axis(b, eddy__onnx_int(b, "axis", -1), eddy__onnx_rank(b, 0));
    if (axis < 0) return false;
    const eddy_tensor norm = eddy__onnx_int(b, "p", 2) == 1
                                 ? Sum(Abs(x), EDDY_AXES(axis), .keepdims = true)
                                 : eddy_euclidean_norm(x, EDDY_AXES(axis), .keepdims = true);
    return eddy__onnx_put(b, 0, DivNoNan(x, norm));
}

/* ------------------------------------------------------------------- dropout -- */

/* The ratio is a number; `training`, if it is valid, is a condition. */
static bool dropped(onnx_build *b, eddy_tensor ratio, eddy_tensor training)
{
    const eddy_tensor x = eddy__onnx_in(b, 0), kept = Sub(1, ratio);
    const int64_t     seed = eddy__onnx_int(b, "seed", 0);
    const eddy_tensor drawn = eddy_random_uniform_like(x, .seed = seed);
    eddy_tensor mask = GreaterEqual(drawn, ratio), y = Where(mask, Div(x, kept), ZerosLike(x));
    if (eddy_is_valid(training)) {
        mask = LogicalOr(mask, LogicalNot(training));
        y = Where(training, y, x);
    }
    eddy__onnx_put_as(b, 1, mask, ONNX_BOOL);
    return eddy__onnx_put(b, 0, y);
}

/* Training is an input from operator set 12 on, before 7 the attribute is_test, and not there in
 * between. */
static bool dropout(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const bool        inputs = b->version >= 12, has_ratio = inputs && eddy__onnx_has(b, 1);
    const eddy_array *mode = inputs ? eddy__onnx_array_of(b, eddy__onnx_value_in(b, 2)) : NULL;
    const bool        computed = inputs && eddy__onnx_is_computed(b, 2);
    const bool        old = b->version < 7 && eddy__onnx_attr(b, "is_test");
    const bool        training =
        mode ? eddy_array_item(mode) != 0 : old && !eddy__onnx_int(b, "is_test", 0);
    const double      given = eddy__onnx_float(b, "ratio", 0.5);
    if ((training || computed) && (has_ratio || (given > 0 && given < 1))) {
        const eddy_tensor ratio = has_ratio ? CastLike(Reshape(eddy__onnx_in(b, 1), EDDY_SCALAR), x)
                                            : NumberLike(given, x);
        return dropped(b, ratio, computed ? Reshape(eddy__onnx_in(b, 2), EDDY_SCALAR)
                                          : EDDY_NO_TENSOR);
    }
    eddy__onnx_put_as(b, 1, Cast(OnesLike(x), EDDY_BOOL),
                      b->version < 10 ? eddy__onnx_type_in(b, 0) : ONNX_BOOL);
    return eddy__onnx_put(b, 0, Identity(x));
}

const onnx_operator eddy__onnx_norm[] = {
    { "BatchNormalization", 1, batch_norm }, { "InstanceNormalization", 1, instance_norm },
    { "LayerNormalization", 17, layer_norm }, { "RMSNormalization", 23, rms_norm },
    { "GroupNormalization", 18, group_norm }, { "LRN", 1, lrn },
    { "MeanVarianceNormalization", 9, mean_variance }, { "LpNormalization", 1, lp_norm },
    { "Dropout", 1, dropout }, { NULL },
};
