/* slice_pad.c -- slice and zero padding: cutting a box out of a tensor, and placing a box among
 * zeros.
 *
 * Slice and Pad take the position of the box from attributes. The two operations used by their
 * gradients take it from the shape of a tensor, so that unknown sizes cause no difficulty:
 *
 *   slice_like(x, ref, begin)  the part of x at begin that has the shape of ref
 *   slice_grad(dy, ref, begin) zeros of the shape of ref, with dy at begin */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct slice_attrs {
    eddy_dims begin;
    eddy_dims size;
} slice_attrs;

static const eddy_attr_field begin_fields[] = EDDY_FIELDS(slice_attrs, begin);

/* Entry i of a list; the default if the list was omitted. */
static int64_t entry(const eddy_dims *d, int i, int64_t otherwise)
{
    return d->count > 0 ? d->at[i] : otherwise;
}

/* The offset in the whole at which the part begins. */
static int64_t offset_of(eddy_shape whole, const eddy_dims *begin)
{
    int64_t step[EDDY_MAX_RANK], at = 0;
    eddy__strides_of(whole, step);
    for (int i = 0; i < whole.rank; i++) at += step[i] * entry(begin, i, 0);
    return at;
}

/* The loops that copy a part out of the whole, input 0. */
static eddy_status cut_prepare(eddy_kernel *k)
{
    const slice_attrs *a = k->attrs;
    const eddy_shape x = k->in[0]->type.shape, y = k->out[0]->type.shape;
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_of_part(b, y, y, x);
    b->from_at = offset_of(x, &a->begin);
    return EDDY_OK;
}

/* A contiguous part needs no loops. */
static bool cut_parts(const void *attrs, int n_in, const eddy_type *in, int n_out,
                      const eddy_type *out, int64_t *first)
{
    const slice_attrs *a = attrs;
    (void)n_in;
    (void)n_out;
    first[0] = eddy_shape_count(out[0].shape) > 0 ? offset_of(in[0].shape, &a->begin) : 0;
    return eddy__lies_together(out[0].shape, in[0].shape);
}

/* Checks begin + size <= whole, and that all are >= 0, as far as known. */
static bool fits(eddy_infer *c, int axis, int64_t begin, int64_t size, int64_t whole)
{
    int64_t end;
    if (begin < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "begin[%d] = %lld is negative", axis,
                               (long long)begin);
    if (size < EDDY_ANY)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "size[%d] = %lld is below -1", axis,
                               (long long)size);
    if (whole == EDDY_ANY) return true;
    if (__builtin_add_overflow(begin, size > 0 ? size : 0, &end) || end > whole)
        return eddy_infer_fail(
            c, EDDY_BAD_SHAPE,
            "a slice of %lld elements from %lld is not within dimension %d, which is %lld",
            (long long)(size > 0 ? size : 0), (long long)begin, axis, (long long)whole);
    return true;
}

/* ----------------------------------------------------------------- slice -- */

/** y = the box of x that begins at `begin` and has the size `size`.
 *
 *  x      any element type and shape
 *  begin  one entry per dimension, >= 0; a zeroed eddy_dims is all 0
 *  size   one entry per dimension, -1 for the rest of the dimension; zeroed: all -1
 *
 *  Errors: EDDY_BAD_SHAPE if the box is not inside x or a list does not have one
 *  entry per dimension, EDDY_INVALID_ARGUMENT if an entry is invalid.
 *  Gradient: dx = zeros like x with dy at `begin`.  TensorFlow: Slice. */
static bool slice_infer(eddy_infer *c)
{
    const slice_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    int rank;
    if (!eddy__infer_dims_pair(c, "begin", a->begin, "size", a->size, &rank)) return false;
    eddy_shape s = eddy__shape_open(rank);
    for (int i = 0; i < rank; i++) {
        int64_t whole = x->shape.rank < 0 ? EDDY_ANY : x->shape.dim[i];
        int64_t begin = entry(&a->begin, i, 0), size = entry(&a->size, i, EDDY_ANY);
        if (!fits(c, i, begin, size, whole)) return false;
        s.dim[i] = size != EDDY_ANY ? size : whole == EDDY_ANY ? EDDY_ANY : whole - begin;
    }
    return eddy__infer_yield(c, 0, x->dtype, s);
}

static void slice_gradient(eddy_rule *r)
{
    const slice_attrs *a = r->attrs;
    r->dx[0] = eddy_slice_grad(r->dy[0], r->x[0], a->begin);
}

static void slice_batch(eddy_batch *b)
{
    slice_attrs a = *(const slice_attrs *)b->attrs;
    if (eddy__batch_entries(&a.begin, 0) && eddy__batch_entries(&a.size, EDDY_ANY))
        eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_slice = {
    .name = "Slice", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(slice_attrs),
    .attrs = EDDY_ATTRS(slice_attrs, begin, size),
    .infer = slice_infer, .prepare = cut_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = slice_gradient, .batch = slice_batch, .parts = cut_parts,
};

eddy_tensor eddy_slice(eddy_tensor x, eddy_dims begin, eddy_dims size)
{
    return eddy_apply1(&eddy_op_slice, &(slice_attrs){ begin, size }, x);
}

/* ------------------------------------------------------------ slice_like -- */

/** y = the box of x that begins at `begin` and has the shape of `ref`.
 *
 *  x      any element type and shape
 *  ref    same rank as x; only its shape is used; it is not computed
 *  begin  one entry per dimension, >= 0; zeroed: all 0
 *
 *  Errors: EDDY_BAD_SHAPE if the box is not inside x, EDDY_INVALID_ARGUMENT if
 *  an entry is negative.
 *  Gradient: dx = zeros like x with dy at `begin`; `ref` has none.
 *  TensorFlow: Slice(x, begin, Shape(ref)). */
static bool slice_like_infer(eddy_infer *c)
{
    const slice_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape, ref = c->in[1].shape;
    int rank;
    if (!eddy__infer_dims(c, "begin", a->begin, &rank)) return false;
    if (rank >= 0 && ref.rank >= 0 && rank != ref.rank)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the part has rank %d; rank %d expected",
                               ref.rank, rank);
    eddy_shape s = ref.rank < 0 ? eddy__shape_open(rank) : ref;
    for (int i = 0; i < s.rank; i++)
        if (!fits(c, i, entry(&a->begin, i, 0), s.dim[i], x.rank < 0 ? EDDY_ANY : x.dim[i]))
            return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

const eddy_op_def eddy_op_slice_like = {
    .name = "SliceLike", .label = "Slice", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 1u << 1,
    .attrs_size = sizeof(slice_attrs), .attrs = begin_fields,
    .infer = slice_like_infer, .prepare = cut_prepare, .kernel = eddy__box_copy_kernel,
    .gradient = slice_gradient, .batch = slice_batch, .parts = cut_parts,
};

eddy_tensor eddy_slice_like(eddy_tensor x, eddy_tensor ref, eddy_dims begin)
{
    return eddy_apply2(&eddy_op_slice_like, &(slice_attrs){ .begin = begin }, x, ref);
}

/* ------------------------------------------------------------ slice_grad -- */

/** y = zeros of the shape of `ref` with dy placed at `begin`: the gradient of eddy_slice.
 *
 *  dy     any element type and shape
 *  ref    same rank as dy; only its shape is used; it is not computed
 *  begin  one entry per dimension, >= 0; zeroed: all 0
 *
 *  Errors: EDDY_BAD_SHAPE if dy is not inside ref, EDDY_INVALID_ARGUMENT if an
 *  entry is negative.
 *  Gradient: ddy = the part of the gradient at `begin`; `ref` has none.
 *  TensorFlow: Pad. */
static bool slice_grad_infer(eddy_infer *c)
{
    const slice_attrs *a = c->attrs;
    const eddy_shape dy = c->in[0].shape, ref = c->in[1].shape;
    int rank;
    if (!eddy__infer_dims(c, "begin", a->begin, &rank)) return false;
    if (rank >= 0 && ref.rank >= 0 && rank != ref.rank)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the part has rank %d; rank %d expected", rank,
                               ref.rank);
    eddy_shape s = ref.rank < 0 ? eddy__shape_open(rank) : ref;
    for (int i = 0; i < s.rank; i++)
        if (!fits(c, i, entry(&a->begin, i, 0), dy.rank < 0 ? EDDY_ANY : dy.dim[i], s.dim[i]))
            return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static eddy_status slice_grad_prepare(eddy_kernel *k)
{
    const slice_attrs *a = k->attrs;
    const eddy_shape dy = k->in[0]->type.shape, y = k->out[0]->type.shape;
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_of_part(b, dy, y, dy);
    b->to_at = offset_of(y, &a->begin);
    return EDDY_OK;
}

static eddy_status slice_grad_kernel(eddy_kernel *k)
{
    const eddy_buffer *y = k->out[0];
    if (y->count > 0) memset(y->data, 0, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    return eddy__box_copy_kernel(k);
}

static void slice_grad_gradient(eddy_rule *r)
{
    const slice_attrs *a = r->attrs;
    r->dx[0] = eddy_slice_like(r->dy[0], r->x[0], a->begin);
}

const eddy_op_def eddy_op_slice_grad = {
    .name = "SliceGrad", .label = "Pad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 1u << 1,
    .attrs_size = sizeof(slice_attrs), .attrs = begin_fields,
    .infer = slice_grad_infer, .prepare = slice_grad_prepare, .kernel = slice_grad_kernel,
    .gradient = slice_grad_gradient, .batch = slice_batch,
};

eddy_tensor eddy_slice_grad(eddy_tensor dy, eddy_tensor ref, eddy_dims begin)
{
    return eddy_apply2(&eddy_op_slice_grad, &(slice_attrs){ .begin = begin }, dy, ref);
}

/* ------------------------------------------------------------------- pad -- */

/** y = x padded with before[i] elements `value` before dimension i and after[i] after it.
 *
 *  x       float32, float64, int32, int64, uint8 or bool, any shape
 *  before  one entry per dimension, >= 0; default: all 0
 *  after   likewise
 *  value   the padding value; default: 0; saturated for integers
 *
 *  Errors: EDDY_BAD_SHAPE if a list does not have one entry per dimension,
 *  EDDY_INVALID_ARGUMENT if an entry is negative, EDDY_LIMIT if y is too large.
 *  Gradient: dx = the part of dy that corresponds to x.  TensorFlow: Pad, PadV2. */
#ifdef EDDY_HEADER
typedef struct eddy_pad_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pad_args));
    eddy_tensor x;
    eddy_dims   before, after;
    double      value;
    const char *name;
} eddy_pad_args;
#endif
typedef struct pad_attrs {
    eddy_dims before, after;
    double    value;
} pad_attrs;

static bool pad_infer(eddy_infer *c)
{
    const pad_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    int rank;
    if (!eddy__infer_dims_pair(c, "before", a->before, "after", a->after, &rank)) return false;
    eddy_shape s = eddy__shape_open(rank);
    for (int i = 0; i < s.rank; i++) {
        int64_t before = entry(&a->before, i, 0), after = entry(&a->after, i, 0), more;
        if (before < 0 || after < 0 || __builtin_add_overflow(before, after, &more))
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "dimension %d cannot be padded by %lld and %lld", i,
                                   (long long)before, (long long)after);
        if (x->shape.rank >= 0 && x->shape.dim[i] != EDDY_ANY &&
            __builtin_add_overflow(more, x->shape.dim[i], &s.dim[i]))
            s.dim[i] = INT64_MAX;
    }
    return eddy__infer_yield(c, 0, x->dtype, s);
}

typedef struct pad_state {
    eddy_box box;            /* first, for eddy__box_copy_kernel */
    char     value[16];
} pad_state;

static eddy_status pad_prepare(eddy_kernel *k)
{
    const pad_attrs *a = k->attrs;
    const eddy_type x = k->in[0]->type, y = k->out[0]->type;
    pad_state  *s = eddy_kernel_state(k, sizeof *s);
    eddy_array *v = eddy_array_of(x.dtype, a->value);
    if (s && v) {
        *s = (pad_state){ .box = { .rank = 0 } };
        memcpy(s->value, eddy_array_data(v), eddy_array_bytes(v));
        eddy__box_of_part(&s->box, x.shape, y.shape, x.shape);
        s->box.to_at = offset_of(y.shape, &a->before);
    }
    eddy_array_free(v);
    return s && v ? EDDY_OK : eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
}

static eddy_status pad_kernel(eddy_kernel *k)
{
    const pad_state *s = k->state;
    eddy_box all = { .rank = 0 };
    eddy__box_add(&all, k->out[0]->count, 1, 0);
    eddy__box_copy_parallel(k, &all, eddy_dtype_size(k->out[0]->type.dtype), k->out[0]->data,
                            s->value);
    return eddy__box_copy_kernel(k);
}

static void pad_gradient(eddy_rule *r)
{
    const pad_attrs *a = r->attrs;
    r->dx[0] = eddy_slice_like(r->dy[0], r->x[0], a->before);
}

static void pad_batch(eddy_batch *b)
{
    pad_attrs a = *(const pad_attrs *)b->attrs;
    if (eddy__batch_entries(&a.before, 0) && eddy__batch_entries(&a.after, 0))
        eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_pad = {
    .name = "PadV2", .label = "Pad", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(pad_attrs),
    .attrs = EDDY_ATTRS(pad_attrs, before, after, value),
    .infer = pad_infer, .prepare = pad_prepare, .kernel = pad_kernel, .gradient = pad_gradient,
    .batch = pad_batch,
};

eddy_tensor eddy_pad_with(const eddy_pad_args *given)
{
    eddy_pad_args a = EDDY_TAKE(eddy_pad_args, given);
    return eddy__apply_named(a.name, &eddy_op_pad, &(pad_attrs){ a.before, a.after, a.value }, 1,
                             &a.x);
}
