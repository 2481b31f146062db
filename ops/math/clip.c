/* clip.c -- clipping by value, by norm and by global norm.
 *
 * No operation here has a kernel: each function composes other operations, inside a name scope of
 * its own. For IndexedSlices, only the rows that they hold count, and the results are
 * IndexedSlices too. */
#include "ops/kernels/reduction/reduce_engine.h"
#include "graph/call_options.h"
#include "ops/math/elementwise_rows.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"

/* The elements to be clipped: the rows of slices, or t itself. */
static eddy_tensor values_of(eddy_tensor t)
{
    eddy_tensor values, indices;
    return eddy_slices_parts(t, &values, &indices) ? values : t;
}

/* `values` as the new values of t: as the same slices if t is slices. */
static eddy_tensor with_values(eddy_tensor t, eddy_tensor values)
{
    eddy_tensor old, indices;
    return eddy_slices_parts(t, &old, &indices) ? eddy_slices_with_values(t, values) : values;
}

/* y, unless its shape is known to differ from that of x, from which it was computed. */
static eddy_tensor same_shape(const char *what, eddy_tensor x, eddy_tensor y)
{
    char was[96], is[96];
    if (!eddy_is_valid(y) || eddy_shape_compatible(eddy_shape_of(x), eddy_shape_of(y))) return y;
    return eddy_fail(y.graph, EDDY_BAD_SHAPE, "%s: the bounds would broadcast x, %s, to %s", what,
                     eddy_shape_print(eddy_shape_of(x), was, sizeof was),
                     eddy_shape_print(eddy_shape_of(y), is, sizeof is));
}

static void begin(eddy_graph *g, const char *name, const char *otherwise)
{
    eddy_scope_begin(g, name && name[0] ? name : otherwise);
}

/* Closes the scope; t, built in it, gets the scope's own name. */
static eddy_tensor end_scope(eddy_graph *g, eddy_tensor t)
{
    if (eddy_is_valid(t)) eddy_named(eddy_scope_name(g), t);
    eddy_scope_end(g);
    return t;
}

/** y = max(min(x, hi), lo).
 *
 *  x       float32, float64, int32, int64 or uint8, any shape
 *  lo, hi  same type as x; scalars, or shapes that broadcast to that of x
 *
 *  Where lo > hi, y is lo.  NaN stays NaN.
 *  Errors: EDDY_BAD_DTYPE if the types differ; EDDY_BAD_SHAPE if a bound does
 *  not broadcast to the shape of x.
 *  Gradient: dx = dy where lo <= x <= hi; elsewhere dy goes to the bound.
 *  TensorFlow: tf.clip_by_value. */
eddy_tensor eddy_clip_by_value(eddy_tensor x, eddy_tensor lo, eddy_tensor hi)
{
    eddy_graph *g = x.graph;
    begin(g, NULL, "clip_by_value");
    eddy_tensor v = values_of(x);
    eddy_tensor below = same_shape("clip_by_value", v, Minimum(v, hi));
    eddy_tensor y = same_shape("clip_by_value", v, Maximum(below, lo));
    return with_values(x, end_scope(g, y));
}

#ifdef EDDY_HEADER
typedef struct eddy_clip_by_norm_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_clip_by_norm_args));
    eddy_tensor x, clip;
    eddy_dims   axes;             /* of each norm; default all */
    const char *name;             /* of the result and its scope */
} eddy_clip_by_norm_args;
#endif
/* x clip / max(norm, clip), with x / max(norm, clip) computed first: its magnitude is at most
 * about 1, whereas x clip may overflow and clip / norm may underflow. */
static eddy_tensor scaled(const char *what, eddy_tensor x, eddy_tensor norm, eddy_tensor clip)
{
    const eddy_tensor part = Mul(Div(x, Maximum(norm, clip)), clip);
    return same_shape(what, x, Where(Less(norm, clip), x, part));
}

/** y = x clip / max(n, clip), with n the square root of the sum of x^2 over `axes`.
 *
 *  x     float32 or float64, any shape
 *  clip  the largest norm allowed, same type as x; a scalar, or a shape that broadcasts to that
 *        of x
 *  axes  the axes over which each norm is computed; default all; negative axes count from the end
 *
 *  Where the norm is below clip, y is exactly x.  Zeros stay zeros, with a finite gradient.  An
 *  infinite element becomes NaN, and the other elements with the same norm become 0.
 *  Errors: EDDY_BAD_DTYPE if the types differ; EDDY_BAD_SHAPE if clip does not broadcast to the
 *  shape of x; EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: that of the formula.  TensorFlow: tf.clip_by_norm. */
eddy_tensor eddy_clip_by_norm_with(const eddy_clip_by_norm_args *given)
{
    eddy_clip_by_norm_args a = EDDY_TAKE(eddy_clip_by_norm_args, given);
    eddy_graph *g = a.x.graph;
    begin(g, a.name, "clip_by_norm");
    eddy_tensor x = values_of(a.x), norm = eddy__norm_of(x, a.axes, true);
    return with_values(a.x, end_scope(g, scaled("clip_by_norm", x, norm, a.clip)));
}

/** y = x clip / max(n / N, clip), with n the norm of x and N its number of elements.
 *
 *  x     float32 or float64, any shape
 *  clip  the largest n / N allowed, a scalar of the same type as x
 *
 *  Note that n is divided by N, not by its square root.  Zeros stay zeros.
 *  Errors: EDDY_BAD_DTYPE if the types differ; EDDY_BAD_SHAPE if clip does not
 *  broadcast to the shape of x.
 *  Gradient: that of the formula.  TensorFlow: tf.clip_by_average_norm. */
eddy_tensor eddy_clip_by_average_norm(eddy_tensor x, eddy_tensor clip)
{
    eddy_graph *g = x.graph;
    begin(g, NULL, "clip_by_average_norm");
    eddy_tensor size = CastLike(eddy_size(x, EDDY_INT64), x);
    eddy_tensor mean = Div(eddy__norm_of(x, (eddy_dims){ 0 }, false), size);
    return end_scope(g, scaled("clip_by_average_norm", x, mean, clip));
}

/* The graph of a list that may contain invalid tensors. */
static eddy_graph *graph_of(eddy_list xs)
{
    for (int i = 0; i < xs.count && xs.at; i++)
        if (eddy__graph_alive(xs.at[i].graph)) return xs.at[i].graph;
    return NULL;
}

/* The square root of the sum of squares, from the eddy_l2_loss of each part: n scalars. */
static eddy_tensor root_of(const eddy_tensor *half, int n)
{
    return Sqrt(Mul(eddy_add_n((eddy_list){ n, half }, NULL), 2));
}

/* The norm of n parts, computed in float64, in which the squares of smaller types neither overflow
 * nor underflow. */
static eddy_tensor norm_in_float64(const eddy_tensor *x, int n, eddy_tensor *part)
{
    for (int i = 0; i < n; i++) part[i] = eddy_l2_loss(Cast(x[i], EDDY_FLOAT64));
    return CastLike(root_of(part, n), x[0]);
}

/* The norm of n parts, scaled by their norm, so that no square overflows or underflows. The norm
 * of the norms alone has no second derivative where a part is 0. */
static eddy_tensor norm_in_units(const eddy_tensor *x, int n, eddy_tensor *part)
{
    for (int i = 0; i < n; i++) part[i] = eddy__norm_of(x[i], (eddy_dims){ 0 }, false);
    const eddy_tensor size = eddy_euclidean_norm(eddy_stack((eddy_list){ n, part }, 0));
    const eddy_tensor fits = LogicalAnd(Greater(size, 0), IsFinite(size));
    const eddy_tensor unit = eddy_stop_gradient(Where(fits, size, 1));
    for (int i = 0; i < n; i++) part[i] = eddy_l2_loss(Div(x[i], unit));
    return Mul(unit, root_of(part, n));
}

/* The norm of n parts of the same type; `part` has room for n tensors. */
static eddy_tensor norm_of_parts(eddy_graph *g, const eddy_tensor *x, int n, eddy_tensor *part)
{
    if (n == 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "global_norm: no tensor is given");
    const eddy_dtype d = eddy_dtype_of(x[0]);
    for (int i = 0; i < n; i++) {
        const eddy_dtype own = eddy_dtype_of(x[i]);
        if (!eddy__expect_type(g, "global_norm", "a tensor", own, EDDY_TAKES_WIDE_FLOATS))
            return eddy_none(g);
        if (own != d)
            return eddy_fail(g, EDDY_BAD_DTYPE,
                             "global_norm: a tensor is %s, but another is %s; cast one",
                             eddy_dtype_name(d), eddy_dtype_name(own));
    }
    return d == EDDY_FLOAT64 ? norm_in_units(x, n, part) : norm_in_float64(x, n, part);
}

/* The joint norm of all elements of xs. */
static eddy_tensor norm_of_all(eddy_graph *g, eddy_list xs)
{
    const eddy_allocator *memory = eddy__graph_allocator(g);
    const size_t size = 2 * (size_t)xs.count;
    eddy_tensor *x = eddy__allocate_zeroed(memory, size, sizeof *x);
    if (!x) return eddy_fail(g, EDDY_NO_MEMORY, "global_norm: out of memory");
    int n = 0;
    for (int i = 0; i < xs.count; i++)
        if (eddy_is_valid(xs.at[i])) x[n++] = values_of(xs.at[i]);
    const eddy_tensor y = norm_of_parts(g, x, n, x + xs.count);
    eddy__release(memory, x, size * sizeof *x);
    return y;
}

/** y = the square root of the sum of the squares of all elements of all tensors.
 *
 *  xs  float32 or float64, all of one type, any shapes.  Invalid tensors are ignored;
 *      IndexedSlices contribute the rows they hold, repeated rows separately
 *
 *  An empty list, or one in which every tensor is { 0 }, has no graph in which to record an
 *  error: the result is the invalid tensor.
 *  Errors: EDDY_INVALID_ARGUMENT if no tensor is valid; EDDY_BAD_DTYPE for other or unequal
 *  element types.
 *  Gradient: that of the formula; NaN where y is 0.
 *  TensorFlow: tf.global_norm. */
eddy_tensor eddy_global_norm(eddy_list xs)
{
    eddy_graph *g = graph_of(xs);
    if (!g) return eddy_fail(NULL, EDDY_INVALID_ARGUMENT, "global_norm: no tensors");
    begin(g, NULL, "global_norm");
    eddy_tensor y = eddy_named("global_norm", norm_of_all(g, xs));
    eddy_scope_end(g);
    return y;
}

#ifdef EDDY_HEADER
typedef struct eddy_clip_by_global_norm_args {
    size_t       size_ EDDY_DEFAULT(sizeof(eddy_clip_by_global_norm_args));
    eddy_list    list;
    eddy_tensor  clip;
    eddy_tensor *out;             /* room for list.count tensors; may be list.at itself */
    eddy_tensor  use_norm;        /* the norm, if it is already known */
    const char  *name;            /* of the scope */
} eddy_clip_by_global_norm_args;
#endif
/** out[i] = list[i] clip min(1 / norm, 1 / clip); returns `norm`, the joint norm of the list.
 *
 *  list      float32 or float64, all of one type, any shapes.  Invalid tensors are ignored and
 *            stay invalid; IndexedSlices contribute the rows they hold and stay IndexedSlices
 *  clip      the largest norm allowed, a scalar of the same type
 *  out       receives the results, one for each tensor of the list
 *  use_norm  the norm, if it is already known; it is not checked
 *
 *  The returned norm is the norm before clipping: global_norm(list), or use_norm.  Zeros stay
 *  zeros; an infinite or NaN norm makes every element NaN.  A list without a graph is handled as
 *  in eddy_global_norm.
 *  Errors: EDDY_INVALID_ARGUMENT if no tensor is valid or out is NULL; EDDY_BAD_DTYPE for other
 *  or unequal element types; EDDY_BAD_SHAPE if clip or use_norm is not a scalar and would
 *  broadcast a tensor to a larger shape.
 *  Gradient: that of the formula.  TensorFlow: tf.clip_by_global_norm. */
eddy_tensor eddy_clip_by_global_norm_with(const eddy_clip_by_global_norm_args *given)
{
    eddy_clip_by_global_norm_args a = EDDY_TAKE(eddy_clip_by_global_norm_args, given);
    eddy_graph *g = graph_of(a.list);
    if (!g) return eddy_fail(NULL, EDDY_INVALID_ARGUMENT, "clip_by_global_norm: no tensors");
    if (!a.out)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "clip_by_global_norm: out is NULL");
    eddy_tensor norm = a.use_norm;
    if (!norm.graph) norm = eddy_global_norm(a.list);
    begin(g, a.name, "clip_by_global_norm");
    eddy_tensor scale = Mul(a.clip, Minimum(Div(1, norm), Div(1, a.clip)));
    /* 0 for every finite norm, else NaN. */
    scale = Add(scale, Sub(norm, norm));
    for (int i = 0; i < a.list.count; i++) {
        eddy_tensor x = a.list.at[i], v = values_of(x);
        a.out[i] = eddy_none(g);
        if (eddy_is_valid(x))
            a.out[i] = with_values(x, same_shape("clip_by_global_norm", v, Mul(v, scale)));
    }
    eddy_scope_end(g);
    return norm;
}
