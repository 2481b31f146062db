/* space_to_depth.c -- space_to_depth, space_to_batch and their inverses: blocks of spatial
 * positions are moved into channels or into the batch.
 *
 * Each operation is a permutation: the same loops with different strides in the two tensors. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* The effect of an operation on height and width. */
enum { SHRINKS, GROWS };

/* Loops over two tensors: narrow has few positions with many elements, wide has many positions. */
typedef struct loops {
    int     n;
    int64_t size[EDDY_BOX_RANK], narrow[EDDY_BOX_RANK], wide[EDDY_BOX_RANK];
} loops;

/* The copy from one to the other as a box, with its loops in the order of writing. */
static eddy_status set_box(eddy_kernel *k, const loops *l, bool to_wide)
{
    const int64_t *to = to_wide ? l->wide : l->narrow, *from = to_wide ? l->narrow : l->wide;
    bool      done[EDDY_BOX_RANK] = { false };
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    for (int round = 0; round < l->n; round++) {
        int next = -1;
        for (int i = 0; i < l->n; i++)
            if (!done[i] && (next < 0 || to[i] > to[next])) next = i;
        done[next] = true;
        eddy__box_add(b, l->size[next], to[next], from[next]);
    }
    return EDDY_OK;
}

/* ------------------------------------------------ channels: depth and space -- */

typedef struct depth_attrs {
    int64_t     block_size;
    const char *data_format;
} depth_attrs;

static const eddy_attr_field depth_fields[] = EDDY_FIELDS(depth_attrs, block_size, data_format);

#ifdef EDDY_HEADER
/* Options of eddy_space_to_depth and eddy_depth_to_space. */
typedef struct eddy_space_to_depth_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_space_to_depth_args));
    eddy_tensor x;
    int64_t     block_size;
    const char *data_format;       /* "NHWC" (default), or "NCHW" */
    const char *name;
} eddy_space_to_depth_args;
#endif

static bool channels_first(const depth_attrs *a)
{
    return a->data_format && strcmp(a->data_format, "NCHW") == 0;
}

/* The axes of height and channels in images of this rank; width follows height. */
static int height_of(const depth_attrs *a, int rank) { return rank - (channels_first(a) ? 2 : 3); }
static int channels_of(const depth_attrs *a, int rank)
{
    return rank - (channels_first(a) ? 3 : 1);
}

static bool depth_infer(eddy_infer *c)
{
    const bool to_depth = c->op->variant == SHRINKS;
    const depth_attrs *a = c->attrs;
    const int64_t block = a->block_size;
    eddy_shape s = c->in[0].shape;
    if (a->data_format && *a->data_format && !channels_first(a) &&
        strcmp(a->data_format, "NHWC") != 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "data_format is '%.40s'; it must be NHWC or NCHW", a->data_format);
    if (block < 1 || block > 1 << 15)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "block_size is %lld; expected 1 to 32768",
                               (long long)block);
    if (s.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, s);
    const int h = height_of(a, s.rank), at[3] = { h, h + 1, channels_of(a, s.rank) };
    const int64_t times[3] = { block, block, block * block };
    for (int i = 0; i < 3; i++) {
        int64_t   *d = &s.dim[at[i]];
        const bool shrinks = to_depth ? i < 2 : i == 2;
        if (*d == EDDY_ANY) continue;
        if (shrinks && *d % times[i] != 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "dimension %d is %lld, which is not a multiple of %lld", at[i],
                                   (long long)*d, (long long)times[i]);
        if (shrinks) *d /= times[i];
        else if (__builtin_mul_overflow(*d, times[i], d)) *d = INT64_MAX;
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

/* [..., h, w, c] with few positions, and the same as [..., h block, w block, c / block / block]. */
static eddy_status depth_prepare(eddy_kernel *k)
{
    const bool to_depth = k->op->variant == SHRINKS;
    const depth_attrs *a = k->attrs;
    const eddy_shape narrow = (to_depth ? k->out : k->in)[0]->type.shape;
    const eddy_shape wide = (to_depth ? k->in : k->out)[0]->type.shape;
    const int     h = height_of(a, narrow.rank), c = channels_of(a, narrow.rank);
    const int64_t b = a->block_size, own = wide.dim[c];
    int64_t n[EDDY_MAX_RANK], w[EDDY_MAX_RANK];
    eddy__strides_of(narrow, n);
    eddy__strides_of(wide, w);
    const int lead = channels_first(a) ? c : h;
    const loops l = {
        .n = 6,
        .size = { eddy__shape_product(narrow, 0, lead), narrow.dim[h], narrow.dim[h + 1], b, b,
                  own },
        .narrow = { n[lead] * narrow.dim[lead], n[h], n[h + 1], b * own * n[c], own * n[c], n[c] },
        .wide = { w[lead] * wide.dim[lead], b * w[h], b * w[h + 1], w[h], w[h + 1], w[c] },
    };
    return set_box(k, &l, !to_depth);
}

static void to_depth_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_depth_to_space, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_space_to_depth = {
    .name = "SpaceToDepth", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(3) }),
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(depth_attrs), .attrs = depth_fields,
    .variant = SHRINKS, .infer = depth_infer, .prepare = depth_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = to_depth_gradient, .batch = eddy_batch_as_is,
};

/** y = images whose pixels are blocks of pixels of x: [..., h/b, w/b, c b b] from [..., h, w, c].
 *
 *  x            any element type, rank at least 3
 *  block_size   b, 1 to 32768; must divide height and width
 *  data_format  "NHWC" (default): channels last; "NCHW": channels before height and width
 *
 *  Channel (i b + j) c + k of y is channel k at position (i, j) of the block.
 *  Errors: EDDY_INVALID_ARGUMENT or EDDY_BAD_SHAPE for invalid arguments.
 *  Gradient: dx = eddy_depth_to_space of dy.  TensorFlow: SpaceToDepth. */
eddy_tensor eddy_space_to_depth_with(const eddy_space_to_depth_args *given)
{
    eddy_space_to_depth_args a = EDDY_TAKE(eddy_space_to_depth_args, given);
    return eddy__apply_named(a.name, &eddy_op_space_to_depth,
                             &(depth_attrs){ a.block_size, a.data_format }, 1, &a.x);
}

static void to_space_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_space_to_depth, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_depth_to_space = {
    .name = "DepthToSpace", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(3) }),
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(depth_attrs), .attrs = depth_fields,
    .variant = GROWS, .infer = depth_infer, .prepare = depth_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = to_space_gradient, .batch = eddy_batch_as_is,
};

/** y = images whose blocks of pixels are pixels of x: [..., h b, w b, c/b/b] from [..., h, w, c].
 *
 *  x            any element type, rank at least 3
 *  block_size   b, 1 to 32768; its square must divide the number of channels
 *  data_format  as for eddy_space_to_depth
 *
 *  The inverse of eddy_space_to_depth.
 *  Errors: EDDY_INVALID_ARGUMENT or EDDY_BAD_SHAPE for invalid arguments.
 *  Gradient: dx = eddy_space_to_depth of dy.  TensorFlow: DepthToSpace. */
eddy_tensor eddy_depth_to_space_with(const eddy_space_to_depth_args *given)
{
    eddy_space_to_depth_args a = EDDY_TAKE(eddy_space_to_depth_args, given);
    return eddy__apply_named(a.name, &eddy_op_depth_to_space,
                             &(depth_attrs){ a.block_size, a.data_format }, 1, &a.x);
}

/* ------------------------------------------------ examples: batch and space -- */

typedef struct batch_attrs {
    eddy_dims block_shape;
    int64_t   axis;                /* the batch; the spatial dimensions follow */
} batch_attrs;

static const eddy_attr_field batch_fields[] = EDDY_FIELDS(batch_attrs, block_shape, axis);

static bool block_is_valid(eddy_infer *c, int64_t *all)
{
    const batch_attrs *a = c->attrs;
    const int rank = c->in[0].shape.rank, n = a->block_shape.count;
    *all = 1;
    if (a->axis < 0 || a->axis > EDDY_MAX_RANK || n < -1 || n > EDDY_MAX_RANK ||
        (rank >= 0 && a->axis + 1 + (n > 0 ? n : 0) > rank))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of entries of block_shape is %d, which exceeds the "
                               "number of dimensions after axis %lld",
                               a->block_shape.count, (long long)a->axis);
    for (int i = 0; i < a->block_shape.count; i++)
        if (a->block_shape.at[i] < 1 || __builtin_mul_overflow(*all, a->block_shape.at[i], all))
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "block_shape[%d] is %lld; it must be positive", i,
                                   (long long)a->block_shape.at[i]);
    return true;
}

static bool batch_infer(eddy_infer *c)
{
    const bool to_batch = c->op->variant == SHRINKS;
    const batch_attrs *a = c->attrs;
    eddy_shape s = c->in[0].shape;
    int64_t    all;
    if (!block_is_valid(c, &all)) return false;
    if (s.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, s);
    for (int i = -1; i < a->block_shape.count; i++) {
        int64_t      *d = &s.dim[a->axis + 1 + i];
        const int64_t times = i < 0 ? all : a->block_shape.at[i];
        if (*d == EDDY_ANY) continue;
        if ((i < 0) == to_batch) {
            if (__builtin_mul_overflow(*d, times, d)) *d = INT64_MAX;
        } else if (*d % times != 0) {
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "dimension %d is %lld, which is not a multiple of %lld",
                                   (int)a->axis + 1 + i, (long long)*d, (long long)times);
        } else {
            *d /= times;
        }
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

/* narrow: many examples with few positions; wide: few examples with many positions. */
static eddy_status batch_prepare(eddy_kernel *k)
{
    const bool to_batch = k->op->variant == SHRINKS;
    const batch_attrs *a = k->attrs;
    const eddy_shape narrow = (to_batch ? k->out : k->in)[0]->type.shape;
    const eddy_shape wide = (to_batch ? k->in : k->out)[0]->type.shape;
    const int     axis = (int)a->axis, m = a->block_shape.count > 0 ? a->block_shape.count : 0;
    int64_t n[EDDY_MAX_RANK], w[EDDY_MAX_RANK], step;
    eddy__strides_of(narrow, n);
    eddy__strides_of(wide, w);
    loops l = { .n = 3, .size = { eddy__shape_product(wide, 0, axis), wide.dim[axis],
                                  eddy__shape_product(wide, axis + 1 + m, wide.rank) },
                .narrow = { n[axis] * narrow.dim[axis], n[axis], 1 },
                .wide = { w[axis] * wide.dim[axis], w[axis], 1 } };
    step = n[axis] * wide.dim[axis];
    for (int i = m - 1; i >= 0; i--) {
        const int d = axis + 1 + i;
        const int64_t block = a->block_shape.at[i];
        l.size[l.n] = narrow.dim[d], l.narrow[l.n] = n[d], l.wide[l.n++] = w[d] * block;
        l.size[l.n] = block, l.narrow[l.n] = step, l.wide[l.n++] = w[d];
        step *= block;
    }
    return set_box(k, &l, !to_batch);
}

static void batch_batch(eddy_batch *b)
{
    batch_attrs a = *(const batch_attrs *)b->attrs;
    a.axis++;
    eddy_batch_apply(b, &a);
}

static void to_batch_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_batch_to_space_nd, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_space_to_batch_nd = {
    .name = "SpaceToBatchND", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .attrs_size = sizeof(batch_attrs), .attrs = batch_fields,
    .variant = SHRINKS, .infer = batch_infer, .prepare = batch_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = to_batch_gradient, .batch = batch_batch,
};

static void from_batch_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_space_to_batch_nd, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_batch_to_space_nd = {
    .name = "BatchToSpaceND", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .attrs_size = sizeof(batch_attrs), .attrs = batch_fields,
    .variant = GROWS, .infer = batch_infer, .prepare = batch_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = from_batch_gradient, .batch = batch_batch,
};

/* A list for the dimensions from 1 on; the last dimension has no entry for the remainder. */
static bool takes(eddy_tensor x, const char *op, eddy_dims block, eddy_dims before, eddy_dims after)
{
    const int  n = block.count;
    const bool fits = n > 0 && n < EDDY_MAX_RANK && (before.count == 0 || before.count == n) &&
                      (after.count == 0 || after.count == n);
    if (!fits)
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                  "%s: the number of entries of block_shape is %d, of the paddings %d and %d", op,
                  n < 0 ? 0 : n, before.count < 0 ? 0 : before.count,
                  after.count < 0 ? 0 : after.count);
    return fits;
}

static bool has_any(eddy_dims before, eddy_dims after)
{
    for (int i = 0; i < before.count; i++) if (before.at[i] != 0) return true;
    for (int i = 0; i < after.count; i++) if (after.at[i] != 0) return true;
    return false;
}

/** y = x divided into block_shape[0] block_shape[1] ... times as many examples, each with every
 *  block_shape[i]-th element along dimension i + 1.
 *
 *  x            any element type that eddy_pad takes, [n, spatial dimensions..., ...]
 *  block_shape  one entry >= 1 per spatial dimension
 *  before       leading zero padding, one entry per spatial dimension; default: none
 *  after        trailing zero padding; each padded size must be a multiple of the block
 *
 *  Errors: EDDY_INVALID_ARGUMENT or EDDY_BAD_SHAPE for invalid arguments.
 *  Gradient: dx = eddy_batch_to_space_nd of dy.  TensorFlow: SpaceToBatchND. */
eddy_tensor eddy_space_to_batch_nd(eddy_tensor x, eddy_dims block_shape, eddy_dims before,
                                   eddy_dims after)
{
    const int rank = eddy_shape_of(x).rank;
    if (!takes(x, "SpaceToBatchND", block_shape, before, after))
        return eddy_none(x.graph);
    if (has_any(before, after)) {
        if (rank < 0)
            return eddy_fail(x.graph, EDDY_BAD_SHAPE,
                             "SpaceToBatchND: the rank of x is unknown");
        eddy_dims front = { .count = rank }, back = { .count = rank };
        for (int i = 0; i < block_shape.count && i + 1 < rank; i++) {
            front.at[i + 1] = before.at[i];
            back.at[i + 1] = after.at[i];
        }
        x = eddy_pad(x, front, back);
    }
    return eddy_apply1(&eddy_op_space_to_batch_nd, &(batch_attrs){ block_shape, 0 }, x);
}

/* Crops the ends of dimensions 1 to n, some of which have unknown sizes. */
static eddy_tensor left_out(eddy_tensor y, int n, eddy_dims before, eddy_dims after)
{
    const eddy_shape s = eddy_shape_of(y);
    eddy_strided_slice_args cut = *EDDY_ARGS(eddy_strided_slice_args, y, .begin_mask = 1,
                                             .end_mask = 1);
    char least[16 + 32 * EDDY_MAX_RANK] = "*";
    bool open = false;
    cut.begin = cut.end = (eddy_dims){ .count = n + 1 };
    for (int i = 0; i < n; i++) {
        if (before.at[i] < 0 || after.at[i] < 0)
            return eddy_fail(y.graph, EDDY_INVALID_ARGUMENT,
                             "BatchToSpaceND: crops of %lld and %lld must not be negative",
                             (long long)before.at[i], (long long)after.at[i]);
        const int64_t d = s.rank < 0 ? EDDY_ANY : s.dim[i + 1];
        if (d != EDDY_ANY && (before.at[i] > d || after.at[i] > d - before.at[i]))
            return eddy_fail(y.graph, EDDY_BAD_SHAPE,
                             "BatchToSpaceND: crops of %lld and %lld exceed the size %lld",
                             (long long)before.at[i], (long long)after.at[i], (long long)d);
        snprintf(least + strlen(least), 32, ", >=%llu",
                 (unsigned long long)before.at[i] + (unsigned long long)after.at[i]);
        open = open || d == EDDY_ANY;
        cut.begin.at[i + 1] = before.at[i];
        cut.end.at[i + 1] = -after.at[i];
        if (after.at[i] == 0) cut.end_mask |= (int64_t)2 << i;
    }
    if (!open) return eddy_strided_slice_with(&cut);
    strcat(least, ", ...");
    eddy_control_begin(y.graph, EDDY_LIST(eddy_assert_shapes(EDDY_LIST(y), least)));
    const eddy_tensor part = eddy_strided_slice_with(&cut);
    eddy_control_end(y.graph);
    return part;
}

/** y = x with blocks of examples interleaved again: the inverse of eddy_space_to_batch_nd.
 *
 *  x            any element type, [n, spatial dimensions..., ...], where n is a multiple of the
 *               product of block_shape
 *  block_shape  one entry >= 1 per spatial dimension
 *  before       elements cropped at the beginning, one entry per spatial dimension; default: none
 *  after        elements cropped at the end; both together at most the size
 *
 *  Errors: EDDY_INVALID_ARGUMENT or EDDY_BAD_SHAPE for invalid arguments.
 *  Gradient: dx = eddy_space_to_batch_nd of dy, padded with zeros.  TensorFlow: BatchToSpaceND. */
eddy_tensor eddy_batch_to_space_nd(eddy_tensor x, eddy_dims block_shape, eddy_dims before,
                                   eddy_dims after)
{
    if (!takes(x, "BatchToSpaceND", block_shape, before, after))
        return eddy_none(x.graph);
    const eddy_tensor y = eddy_apply1(&eddy_op_batch_to_space_nd, &(batch_attrs){ block_shape, 0 },
                                      x);
    if (!has_any(before, after) || !eddy_is_valid(y)) return y;
    return left_out(y, block_shape.count, before, after);
}
