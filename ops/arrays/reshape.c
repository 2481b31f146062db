/* reshape.c -- reshape, expand_dims, squeeze: the same elements with another shape. All are
 * aliases, so a run copies nothing. They differ in the source of the new shape. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

/* ------------------------------------------------------------- resolving -- */

/* The product of the known dimensions, and the number of open ones. */
static int64_t known_product(eddy_shape s, int *open)
{
    int64_t p = 1;
    *open = 0;
    for (int i = 0; i < s.rank; i++) {
        if (s.dim[i] == EDDY_ANY) ++*open;
        else p *= s.dim[i];
    }
    return p;
}

/* Uses TensorFlow's sentence if `values`, the number of elements of input 0, is known (>= 0). */
static bool refuse(eddy_infer *c, eddy_shape s, int64_t values)
{
    char    x[128], y[128];
    int     open;
    int64_t known = known_product(s, &open);
    if (values >= 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "Input to reshape is a tensor with %lld values, but the requested "
                               "shape %s %lld (%s)", (long long)values,
                               open > 0 ? "requires a multiple of" : "has", (long long)known,
                               eddy_shape_print(s, y, sizeof y));
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "cannot reshape %s to %s",
                           eddy_shape_print(c->in[0].shape, x, sizeof x),
                           eddy_shape_print(s, y, sizeof y));
}

/* out[0] = input 0 with the shape s, of which one open dimension is inferred from
 * the number of elements if that is known. */
static bool yield_reshaped(eddy_infer *c, eddy_shape s)
{
    const eddy_type *x = &c->in[0];
    int     x_open, open;
    int64_t x_known = known_product(x->shape, &x_open), known = known_product(s, &open);
    bool    counted = x->shape.rank >= 0 && (x_open == 0 || x_known == 0);

    if (s.rank >= 0 && open == 0) {
        bool fits = counted ? x_known == known : known % x_known == 0;
        if (!fits) return refuse(c, s, counted ? x_known : -1);
    }
    if (open == 1 && counted && known > 0) {
        if (x_known % known != 0) return refuse(c, s, x_known);
        for (int i = 0; i < s.rank; i++)
            if (s.dim[i] == EDDY_ANY) s.dim[i] = x_known / known;
    }
    return eddy__infer_yield(c, 0, x->dtype, s);
}

/* The same for a shape s from the caller, who may leave one dimension open to be inferred. */
static bool yield_requested(eddy_infer *c, eddy_shape s)
{
    char text[128];
    int  open;
    if (s.rank < 0 || !eddy_shape_is_valid(s))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s is not a valid target shape",
                               eddy_shape_print(s, text, sizeof text));
    int64_t known = known_product(s, &open);
    if (open > 1)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "%s has %d unknown dimensions; at most one is allowed",
                               eddy_shape_print(s, text, sizeof text), open);
    if (open == 1 && known == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the unknown dimension of %s cannot be inferred beside a 0",
                               eddy_shape_print(s, text, sizeof text));
    return yield_reshaped(c, s);
}

static void reshape_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_reshape_like(r->dy[0], r->x[0]);
}

/* --------------------------------------------------------------- reshape -- */

/** y = the elements of x, in order, with the shape `shape`.
 *
 *  x      any element type and shape
 *  shape  EDDY_SHAPE(2, -1): as many elements as x has; one dimension may be -1
 *         and is inferred from the others, which must then not be 0
 *
 *  Costs nothing at run time.
 *  Errors: EDDY_BAD_SHAPE if the numbers of elements differ or do not divide: "Input to
 *  reshape is a tensor with 4 values, but the requested shape has 21";
 *  EDDY_INVALID_ARGUMENT if more than one dimension is open, or one is open and another is 0.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: Reshape, constant shape. */
typedef struct reshape_attrs {
    eddy_shape shape;
} reshape_attrs;

static bool reshape_infer(eddy_infer *c)
{
    const reshape_attrs *a = c->attrs;
    return yield_requested(c, a->shape);
}

const eddy_op_def eddy_op_reshape = {
    .name = "Reshape", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .attrs_size = sizeof(reshape_attrs), .attrs = EDDY_ATTRS(reshape_attrs, shape),
    .infer = reshape_infer, .gradient = reshape_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_reshape(eddy_tensor x, eddy_shape shape)
{
    return eddy_apply1(&eddy_op_reshape, &(reshape_attrs){ shape }, x);
}

/* ------------------------------------------------------------ reshape_to -- */

/** y = the elements of x, in order, with the shape given by a tensor.
 *
 *  x      any element type and shape
 *  shape  int32 or int64 [r], r <= 8; one entry may be -1 as in eddy_reshape
 *
 *  If `shape` is unknown while the graph is built, only the rank of y is known.
 *  Errors: as for eddy_reshape, while building or at run time; EDDY_BAD_DTYPE or
 *  EDDY_BAD_SHAPE if `shape` is not a vector of integers.
 *  Gradient: dx = dy reshaped to the shape of x; `shape` has none.
 *  TensorFlow: Reshape. */
static bool reshape_to_infer(eddy_infer *c)
{
    const eddy_shape  want = c->in[1].shape;
    const eddy_array *value = c->value[1];
    int64_t rank = value ? eddy_array_count(value) : want.rank == 1 ? want.dim[0] : EDDY_ANY;
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %lld; the limit is %d",
                               (long long)rank, EDDY_MAX_RANK);
    if (!value) return yield_reshaped(c, eddy__shape_open((int)rank));

    eddy_shape s = { .rank = (int)rank };
    for (int i = 0; i < s.rank; i++) s.dim[i] = eddy__array_integer(value, i);
    return yield_requested(c, s);
}

static void reshape_to_batch(eddy_batch *b)
{
    if (!b->batched[1]) eddy__batch_reshape(b);
}

const eddy_op_def eddy_op_reshape_to = {
    .name = "ReshapeTo", .label = "Reshape", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "shape", EDDY_TAKES_INDICES | EDDY_RANK(1) }),
    .flags = EDDY_OP_ALIAS, .value_inputs = 1u << 1,
    .infer = reshape_to_infer, .gradient = reshape_gradient, .batch = reshape_to_batch,
};

eddy_tensor eddy_reshape_to(eddy_tensor x, eddy_tensor shape)
{
    return eddy_apply2(&eddy_op_reshape_to, NULL, x, shape);
}

/* ---------------------------------------------------------- reshape_like -- */

/** y = the elements of x, in order, with the shape of `ref`.
 *
 *  x    any element type and shape
 *  ref  a tensor with as many elements; only its shape is used; it is not computed
 *
 *  Errors: EDDY_BAD_SHAPE if the numbers of elements differ.
 *  Gradient: dx = dy reshaped to the shape of x; `ref` has none.
 *  TensorFlow: Reshape(x, Shape(ref)). */
static bool reshape_like_infer(eddy_infer *c)
{
    return yield_reshaped(c, c->in[1].shape);
}

const eddy_op_def eddy_op_reshape_like = {
    .name = "ReshapeLike", .label = "Reshape", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .shape_inputs = 1u << 1,
    .infer = reshape_like_infer, .gradient = reshape_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_reshape_like(eddy_tensor x, eddy_tensor ref)
{
    return eddy_apply2(&eddy_op_reshape_like, NULL, x, ref);
}

/* --------------------------------------------------------- merge_leading -- */

/** y = x with its leading dimensions, those of `ref`, merged into one.
 *
 *  x    any element type; its shape begins with that of `ref`
 *  ref  only its shape is used; if it is a scalar, y has a new first dimension of 1
 *
 *  The gradient of eddy_gather uses it to reshape dy for indices of any rank.
 *  Errors: EDDY_BAD_SHAPE if the shape of x does not begin with that of ref.
 *  Gradient: dx = dy reshaped to the shape of x; `ref` has none.
 *  TensorFlow: Reshape to [-1, ...]. */
static bool merge_leading_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape, ref = c->in[1].shape;
    if (x.rank < 0 || ref.rank < 0)
        return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_UNKNOWN_SHAPE);
    bool fits = ref.rank <= x.rank;
    int64_t count = 1;
    for (int i = 0; fits && i < ref.rank; i++) {
        int64_t d = x.dim[i];
        fits = eddy__dim_unify(&d, ref.dim[i]);
        if (d == 0 || count == 0) count = 0;
        else if (d == EDDY_ANY || count == EDDY_ANY) count = EDDY_ANY;
        else if (__builtin_mul_overflow(count, d, &count)) count = INT64_MAX;
    }
    if (!fits) {
        char whole[128], text[128];
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the shape %s does not begin with %s",
                               eddy_shape_print(x, whole, sizeof whole),
                               eddy_shape_print(ref, text, sizeof text));
    }
    eddy_shape s = { .rank = x.rank - ref.rank + 1, .dim = { count } };
    for (int i = 1; i < s.rank && i < EDDY_MAX_RANK; i++) s.dim[i] = x.dim[ref.rank + i - 1];
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

const eddy_op_def eddy_op_merge_leading = {
    .name = "MergeLeading", .label = "Reshape", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .shape_inputs = 1u << 1,
    .infer = merge_leading_infer, .gradient = reshape_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_merge_leading(eddy_tensor x, eddy_tensor ref)
{
    return eddy_apply2(&eddy_op_merge_leading, NULL, x, ref);
}

/* ----------------------------------------------------------- expand_dims -- */

/** y = x with a dimension of 1 inserted at `axis`.
 *
 *  x     any element type, rank below 8
 *  axis  the position of the new dimension in y, -rank-1 <= axis <= rank;
 *        -1 makes it the last
 *
 *  Errors: EDDY_INVALID_ARGUMENT if y has no such axis, EDDY_LIMIT if x has rank 8.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: ExpandDims. */
typedef struct expand_dims_attrs {
    int64_t axis;
} expand_dims_attrs;

static bool expand_dims_infer(eddy_infer *c)
{
    const expand_dims_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    int axis;
    if (x->shape.rank < 0) return eddy__infer_yield(c, 0, x->dtype, EDDY_UNKNOWN_SHAPE);
    if (x->shape.rank == EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x->shape.rank + 1,
                               EDDY_MAX_RANK);
    if (!eddy__infer_axis(c, a->axis, x->shape.rank + 1, &axis)) return false;
    return eddy__infer_yield(c, 0, x->dtype, eddy__shape_with(x->shape, axis, 1));
}

const eddy_op_def eddy_op_expand_dims = {
    .name = "ExpandDims", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .attrs_size = sizeof(expand_dims_attrs), .attrs = EDDY_ATTRS(expand_dims_attrs, axis),
    .infer = expand_dims_infer, .gradient = reshape_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_expand_dims(eddy_tensor x, int64_t axis)
{
    return eddy_apply1(&eddy_op_expand_dims, &(expand_dims_attrs){ axis }, x);
}

/* --------------------------------------------------------------- squeeze -- */

/** y = x without the dimensions `axes`, which must be 1.
 *
 *  x     any element type and shape
 *  axes  in [-rank, rank); omitted or empty: every dimension of 1
 *
 *  Without axes, y has unknown rank if a dimension of x is unknown.
 *  Errors: EDDY_INVALID_ARGUMENT if x has no such axis, EDDY_BAD_SHAPE if the
 *  dimension there is not 1.
 *  Gradient: dx = dy reshaped to the shape of x.  TensorFlow: Squeeze. */
#ifdef EDDY_HEADER
typedef struct eddy_squeeze_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_squeeze_args));
    eddy_tensor x;
    eddy_dims   axes;
    const char *name;
} eddy_squeeze_args;
#endif
typedef struct squeeze_attrs {
    eddy_dims axes;
} squeeze_attrs;

static bool squeeze_infer(eddy_infer *c)
{
    const squeeze_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    const int rank = x->shape.rank;
    bool gone[EDDY_MAX_RANK] = { false };
    if (a->axes.count < -1 || a->axes.count > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the number of entries of 'axes' is %d; expected 0 to %d",
                               a->axes.count, EDDY_MAX_RANK);
    if (rank < 0 || (a->axes.count <= 0 && !eddy_shape_is_known(x->shape)))
        return eddy__infer_yield(c, 0, x->dtype, EDDY_UNKNOWN_SHAPE);
    for (int i = 0; i < a->axes.count; i++) {
        int axis;
        if (!eddy__infer_axis(c, a->axes.at[i], rank, &axis)) return false;
        gone[axis] = true;
        if (x->shape.dim[axis] != 1 && x->shape.dim[axis] != EDDY_ANY)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dimension %d is %lld; expected 1", axis,
                                   (long long)x->shape.dim[axis]);
    }
    eddy_shape s = { .rank = 0 };
    for (int i = 0; i < rank; i++)
        if (a->axes.count > 0 ? !gone[i] : x->shape.dim[i] != 1) s.dim[s.rank++] = x->shape.dim[i];
    return eddy__infer_yield(c, 0, x->dtype, s);
}

const eddy_op_def eddy_op_squeeze = {
    .name = "Squeeze", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .flags = EDDY_OP_ALIAS,
    .attrs_size = sizeof(squeeze_attrs), .attrs = EDDY_ATTRS(squeeze_attrs, axes),
    .infer = squeeze_infer, .gradient = reshape_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_squeeze_with(const eddy_squeeze_args *given)
{
    eddy_squeeze_args a = EDDY_TAKE(eddy_squeeze_args, given);
    return eddy__apply_named(a.name, &eddy_op_squeeze, &(squeeze_attrs){ a.axes }, 1, &a.x);
}
