/* group_norm.c -- group, instance, RMS and weight normalization; composed of other operations. */
#include "ops/arrays/arrays.h"
#include "ops/nets/expect_shape.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_group_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_group_norm_args));
    eddy_tensor x;
    int64_t     groups;
    eddy_tensor scale, offset;     /* per channel; either may be omitted */
    double      epsilon EDDY_DEFAULT(1e-5);
    const char *data_format;       /* channels last (default) or second */
    const char *name;
} eddy_group_norm_args;
typedef struct eddy_instance_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_instance_norm_args));
    eddy_tensor x;
    eddy_tensor scale, offset;
    double      epsilon EDDY_DEFAULT(1e-5);
    const char *data_format;
    const char *name;
} eddy_instance_norm_args;
typedef struct eddy_rms_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_rms_norm_args));
    eddy_tensor x;
    eddy_tensor scale;             /* per element of a row; may be omitted */
    double      epsilon EDDY_DEFAULT(1e-6);
    const char *name;
} eddy_rms_norm_args;
#endif

/* ----------------------------------------------------------------- groups -- */

/* The position and number of the channels of x. */
typedef struct layout {
    const char *op;
    int         rank, axis;
    int64_t     channels, groups;
    eddy_dims   places;            /* the spatial axes */
} layout;

static bool fail_shape(const char *op, eddy_tensor x, const char *what)
{
    char text[128];
    eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: x has shape %s; %s", op,
              eddy_shape_print(eddy_shape_of(x), text, sizeof text), what);
    return false;
}

static bool find_layout(const char *op, eddy_tensor x, const char *format, layout *l)
{
    const eddy_shape s = eddy_shape_of(x);
    const size_t     n = format ? strlen(format) : 0;
    const bool planes = n > 1 && format[1] == 'C';
    *l = (layout){ .op = op, .rank = s.rank, .axis = planes ? 1 : s.rank - 1 };
    if (s.rank < 2) return fail_shape(op, x, "rank 2 or more expected");
    if (format && (format[0] != 'N' || (!planes && format[n - 1] != 'C') || (int)n != s.rank)) {
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                  "%s: data_format is '%.40s'; it must name %d dimensions, with C last or second",
                  op, format, s.rank);
        return false;
    }
    l->channels = s.dim[l->axis];
    if (l->channels < 1) return fail_shape(op, x, "the number of channels must be known and not 0");
    l->places = (eddy_dims){ .count = s.rank > 2 ? s.rank - 2 : -1 };
    for (int i = 0; i < s.rank - 2; i++) l->places.at[i] = i + (planes ? 2 : 1);
    return true;
}

/* Reshapes v, one number per channel, to broadcast with x. */
static eddy_tensor beside_channels(const layout *l, eddy_tensor v)
{
    eddy_shape s = { .rank = l->rank };
    for (int i = 0; i < l->rank; i++) s.dim[i] = 1;
    s.dim[l->axis] = l->channels;
    const bool as_is = l->axis == l->rank - 1 && eddy_shape_is_known(eddy_shape_of(v));
    return as_is ? v : eddy_reshape(v, s);
}

/* The means of t over each group of each example, one number per channel. */
static eddy_tensor mean_by_group(const layout *l, eddy_tensor t)
{
    const int64_t batch = eddy_shape_of(t).dim[0];
    eddy_dims     all = l->places;
    if (l->groups == 1) {
        all.count = all.count < 0 ? 0 : all.count;
        all.at[all.count++] = l->axis;
        return Mean(t, .axes = all, .keepdims = true);
    }
    const eddy_tensor each = Mean(t, .axes = l->places, .keepdims = true);
    if (l->groups == l->channels) return each;
    const eddy_tensor apart = eddy_reshape(each, EDDY_SHAPE(batch, l->groups,
                                                            l->channels / l->groups));
    const eddy_tensor mean = Mean(apart, .axes = EDDY_AXES(2), .keepdims = true);
    return ReshapeLike(BroadcastLike(mean, apart), each);
}

/* Checks for a vector with one number per channel. */
static bool check_vector(const layout *l, eddy_tensor x, const char *what, eddy_tensor v)
{
    const eddy_shape s = eddy_shape_of(v);
    char text[128];
    if (!eddy_is_valid(v) || eddy_shape_compatible(s, EDDY_SHAPE(l->channels))) return true;
    eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: %s has shape %s; expected [%lld]", l->op, what,
              eddy_shape_print(s, text, sizeof text), (long long)l->channels);
    return false;
}

static eddy_tensor normalized(const layout *l, const eddy_group_norm_args *a)
{
    if (!check_vector(l, a->x, "scale", a->scale) || !check_vector(l, a->x, "offset", a->offset))
        return eddy_none(a->x.graph);
    eddy_scope_begin(a->x.graph, a->name ? a->name : l->op);
    const double      epsilon = a->epsilon;
    const eddy_tensor mean = mean_by_group(l, a->x);
    const eddy_tensor variance = mean_by_group(l, SquaredDifference(a->x, mean));
    eddy_tensor       factor = Rsqrt(Add(variance, epsilon));
    if (a->scale.graph) factor = Mul(factor, beside_channels(l, a->scale));
    eddy_tensor shift = Neg(Mul(mean, factor));
    if (a->offset.graph) shift = Add(shift, beside_channels(l, a->offset));
    const eddy_tensor y = Add(Mul(a->x, factor), shift);
    eddy_scope_end(a->x.graph);
    return y;
}

static bool check_epsilon(const char *op, eddy_tensor x, double epsilon)
{
    if (epsilon >= 0 && !isinf(epsilon)) return true;
    eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: epsilon is %g; it must be finite and not "
              "negative", op, epsilon);
    return false;
}

/** y = (x - mean) / sqrt(variance + epsilon) scale + offset, where mean and variance are those of
 *  each group of adjacent channels of each example.
 *
 *  x            float32 or float64 [batch, spatial dimensions..., channels], or with channels
 *               second; rank 2 or more, the number of channels known
 *  groups       must divide the number of channels
 *  scale        same type, [channels]; default: 1
 *  offset       same type, [channels]; default: 0
 *  epsilon      not negative
 *  data_format  the dimensions of x, N first and C last, such as "NHWC" (default); or C second
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE if shapes do not match or x is not sufficiently known;
 *  EDDY_INVALID_ARGUMENT for invalid groups, epsilon or data_format.
 *  Gradient: that of the operations that it is composed of.
 *  Y. Wu, K. He, Group normalization, 2018.  TensorFlow: keras.layers.GroupNormalization. */
eddy_tensor eddy_group_norm_with(const eddy_group_norm_args *given)
{
    eddy_group_norm_args a = EDDY_TAKE(eddy_group_norm_args, given);
    layout l;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    const eddy_tensor none = eddy_none(a.x.graph);
    if (!eddy__check_floats("group_norm", a.x) || !check_epsilon("group_norm", a.x, a.epsilon) ||
        !find_layout("group_norm", a.x, a.data_format, &l)) return none;
    l.groups = a.groups;
    if (a.groups < 1 || l.channels % a.groups != 0)
        return eddy_fail(
            a.x.graph, EDDY_INVALID_ARGUMENT,
            "group_norm: groups is %lld; expected a divisor of the number of channels, %lld",
            (long long)a.groups, (long long)l.channels);
    return normalized(&l, &a);
}

/** y = (x - mean) / sqrt(variance + epsilon) scale + offset, where mean and variance are those of
 *  each channel of each example.
 *
 *  x, scale, offset, epsilon, data_format  as for eddy_group_norm; x has rank 3 or more
 *
 *  Errors, gradient: those of eddy_group_norm.
 *  D. Ulyanov, A. Vedaldi, V. Lempitsky, Instance normalization, 2016.
 *  TensorFlow: contrib.layers.instance_norm. */
eddy_tensor eddy_instance_norm_with(const eddy_instance_norm_args *given)
{
    eddy_instance_norm_args a = EDDY_TAKE(eddy_instance_norm_args, given);
    const eddy_group_norm_args whole = { .x = a.x, .scale = a.scale, .offset = a.offset,
                                         .epsilon = a.epsilon, .name = a.name };
    layout l;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    const eddy_tensor none = eddy_none(a.x.graph);
    if (!eddy__check_floats("instance_norm", a.x) ||
        !check_epsilon("instance_norm", a.x, a.epsilon) ||
        !find_layout("instance_norm", a.x, a.data_format, &l))
        return none;
    if (l.rank < 3) return fail_shape(l.op, a.x, "rank 3 or more expected"), none;
    l.groups = l.channels;
    return normalized(&l, &whole);
}

/* ------------------------------------------------------------------- rows -- */

/** y = x / sqrt(mean of x^2 + epsilon) scale, where the mean is that of each row of x along its
 *  last axis.
 *
 *  x        float32 or float64 [..., n]; y has its type and shape
 *  scale    same type, [n]; default: 1
 *  epsilon  not negative
 *
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE for a scalar and as for the operations that it is
 *  composed of; EDDY_INVALID_ARGUMENT for a negative epsilon.
 *  Gradient: that of the operations that it is composed of.
 *  B. Zhang, R. Sennrich, Root mean square layer normalization, 2019. */
eddy_tensor eddy_rms_norm_with(const eddy_rms_norm_args *given)
{
    eddy_rms_norm_args a = EDDY_TAKE(eddy_rms_norm_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    const eddy_tensor none = eddy_none(a.x.graph);
    if (!eddy__check_floats("rms_norm", a.x) || !check_epsilon("rms_norm", a.x, a.epsilon))
        return none;
    if (eddy_shape_of(a.x).rank == 0)
        return fail_shape("rms_norm", a.x, "rank 1 or more expected"), none;
    const eddy_shape s = eddy_shape_of(a.x);
    const layout     l = { .op = "rms_norm",
                           .channels = s.rank > 0 ? s.dim[s.rank - 1] : EDDY_ANY };
    if (!check_vector(&l, a.x, "scale", a.scale)) return none;
    eddy_scope_begin(a.x.graph, a.name ? a.name : "rms_norm");
    const eddy_tensor squares = Mean(Square(a.x), EDDY_AXES(-1), true);
    eddy_tensor       y = Mul(a.x, Rsqrt(Add(squares, a.epsilon)));
    if (a.scale.graph) y = Mul(y, a.scale);
    eddy_scope_end(a.x.graph);
    return y;
}

/* ---------------------------------------------------------------- weights -- */

/** w = v / |v| g: weights given by their direction and norm, for each index along `axis`.
 *
 *  v     float32 or float64, of known rank, at least 1: a matrix, a filter
 *  g     same type, a vector as long as dimension `axis` of v
 *  axis  the axis that is not reduced, in [-rank, rank): -1 is that of a layer's outputs
 *
 *  |v| is the square root of the sum of squares over all other axes; if it is 0, w is NaN.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE unless v has a known rank of at least 1, g is a vector
 *  and both match; EDDY_INVALID_ARGUMENT for an axis that v does not have.
 *  Gradient: that of the operations that it is composed of.
 *  T. Salimans, D. Kingma, Weight normalization, 2016.  PyTorch: nn.utils.weight_norm. */
eddy_tensor eddy_weight_norm(eddy_tensor v, eddy_tensor g, int64_t axis)
{
    const eddy_shape s = eddy_shape_of(v);
    char text[2][128];
    if (!eddy_is_valid(v)) return eddy_identity(v);
    if (!eddy_is_valid(g))
        return eddy_fail(v.graph, EDDY_INVALID_ARGUMENT, "weight_norm: g is not a valid tensor");
    if (!eddy__check_floats("weight_norm", v)) return eddy_none(v.graph);
    const eddy_shape of_g = eddy_shape_of(g);
    if (axis < -s.rank || axis >= s.rank || s.rank < 1)
        return eddy_fail(v.graph, s.rank < 1 ? EDDY_BAD_SHAPE : EDDY_INVALID_ARGUMENT,
                         "weight_norm: v has shape %s, which has no axis %lld",
                         eddy_shape_print(s, text[0], sizeof text[0]), (long long)axis);
    const int  kept = eddy__axis_of(axis, s.rank);
    eddy_dims  others = { .count = s.rank > 1 ? s.rank - 1 : -1 };
    eddy_shape beside = { .rank = s.rank };
    if (!eddy_shape_compatible(of_g, EDDY_SHAPE(s.dim[kept])))
        return eddy_fail(
            v.graph, EDDY_BAD_SHAPE,
            "weight_norm: g has shape %s; expected a vector as long as axis %d of v, %s",
            eddy_shape_print(of_g, text[0], sizeof text[0]), kept,
            eddy_shape_print(s, text[1], sizeof text[1]));
    for (int i = 0; i < s.rank - 1; i++) others.at[i] = i + (i >= kept);
    for (int i = 0; i < s.rank; i++) beside.dim[i] = i == kept ? s.dim[kept] : 1;
    const eddy_tensor length = eddy_euclidean_norm(v, .axes = others, .keepdims = true);
    return Mul(v, Div(eddy_reshape(g, beside), length));
}
