/* strided_slice.c -- strided slices, x[1:8:2, -1, ..., newaxis]: ranges, single elements and new
 * axes; their gradient; and assignment to a strided slice of a variable.
 *
 * A list of entries describes the selection. Applied to a shape it gives a view: for each
 * dimension its begin, its stride and its number of elements. */
#include "graph/base/min_max.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/state/variable.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct strided_attrs {
    eddy_dims begin, end, strides;
    int64_t   begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
} strided_attrs;

static const eddy_attr_field strided_fields[] =
    EDDY_FIELDS(strided_attrs, begin, end, strides, begin_mask, end_mask, ellipsis_mask,
                new_axis_mask, shrink_axis_mask);

typedef struct range {
    int64_t begin, step, size;
} range;

typedef struct view {
    range      of[EDDY_MAX_RANK];      /* one for each dimension of x */
    eddy_shape y;
} view;

/* --------------------------------------------------------------- entries -- */

static bool marked(int64_t mask, int i) { return mask >> i & 1; }

static bool is_rest(const strided_attrs *a, int i) { return marked(a->ellipsis_mask, i); }
static bool is_new(const strided_attrs *a, int i)
{
    return marked(a->new_axis_mask, i) && !is_rest(a, i);
}
static bool is_place(const strided_attrs *a, int i)
{
    return marked(a->shrink_axis_mask, i) && !is_rest(a, i) && !is_new(a, i);
}

static int64_t step_of(const strided_attrs *a, int i)
{
    return a->strides.count > 0 ? a->strides.at[i] : 1;
}

/* The number of dimensions of x that the entries name individually. */
static int named(const strided_attrs *a)
{
    int n = 0;
    for (int i = 0; i < a->begin.count; i++) n += !is_rest(a, i) && !is_new(a, i);
    return n;
}

static bool entries_are_valid(eddy_infer *c)
{
    const strided_attrs *a = c->attrs;
    const int n = a->begin.count, strides = a->strides.count;
    int rests = 0;
    if (n < -1 || n > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of 'begin' is %d; "
                               "expected 0 to %d", n, EDDY_MAX_RANK);
    if (a->end.count != n || (strides != 0 && strides != n))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the number of entries of begin is %d, of end %d and of strides %d; "
                               "expected equal numbers, or no strides", n < 0 ? 0 : n,
                               a->end.count < 0 ? 0 : a->end.count, strides < 0 ? 0 : strides);
    for (int i = 0; i < n; i++) {
        rests += is_rest(a, i);
        if (is_rest(a, i) || is_new(a, i)) continue;
        if (step_of(a, i) == 0 || step_of(a, i) == INT64_MIN)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "strides[%d] = %lld is not a valid stride", i,
                                   (long long)step_of(a, i));
        if (is_place(a, i) && step_of(a, i) < 0)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "entry %d is a single index, but its stride is %lld", i,
                                   (long long)step_of(a, i));
    }
    if (rests > 1)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "%d ellipses given; at most one is allowed", rests);
    return true;
}

/* ----------------------------------------------------------------- views -- */

/* Entry i as a range of a dimension of this size. */
static range range_of(const strided_attrs *a, int i, int64_t dim)
{
    const int64_t step = step_of(a, i), begin = a->begin.at[i], end = a->end.at[i];
    if (dim == EDDY_ANY) return (range){ 0, step, EDDY_ANY };
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? dim : dim - 1;
    const int64_t from = marked(a->begin_mask, i)
                             ? (step > 0 ? least : most)
                             : eddy__clamp(begin < 0 ? begin + dim : begin, least, most);
    const int64_t to = marked(a->end_mask, i) ? (step > 0 ? most : least)
                                              : eddy__clamp(end < 0 ? end + dim : end, least, most);
    const int64_t length = to - from;
    const bool    none = length == 0 || (length < 0) != (step < 0);
    return (range){ from, step, none ? 0 : length / step + (length % step != 0) };
}

/* Applies entry i to dimension d of x; returns false after reporting an index out of range. */
static bool apply_entry(eddy_infer *c, const strided_attrs *a, int i, int d, int64_t dim, view *v)
{
    if (!is_place(a, i)) {
        v->of[d] = range_of(a, i, dim);
        v->y.dim[v->y.rank++] = v->of[d].size;
        return true;
    }
    const int64_t begin = a->begin.at[i], at = begin < 0 && dim != EDDY_ANY ? begin + dim : begin;
    v->of[d] = (range){ at, 1, 1 };
    if (dim == EDDY_ANY || (at >= 0 && at < dim)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "index %lld is out of range for dimension %d, which is %lld",
                           (long long)begin, d, (long long)dim);
}

static void take_whole(eddy_shape x, int d, int n, view *v)
{
    for (int i = d; i < d + n; i++) {
        v->of[i] = (range){ 0, 1, x.dim[i] };
        v->y.dim[v->y.rank++] = x.dim[i];
    }
}

/* Applies the entries to a shape of known rank; c is used only to report errors. */
static bool view_of(eddy_infer *c, const strided_attrs *a, eddy_shape x, view *v)
{
    const int n = a->begin.count, rest = x.rank - named(a);
    int  d = 0, news = 0, places = 0;
    bool has_rest = false;
    *v = (view){ .y = { .rank = 0 } };
    for (int i = 0; i < n; i++) news += is_new(a, i), places += is_place(a, i);
    if (rest < 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of indexed dimensions is %d; expected at most %d, the "
                               "rank of x",
                               named(a), x.rank);
    if (x.rank + news - places > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x.rank + news - places, EDDY_MAX_RANK);
    for (int i = 0; i < n; i++) {
        if (is_new(a, i)) {
            v->y.dim[v->y.rank++] = 1;
        } else if (is_rest(a, i)) {
            has_rest = true;
            take_whole(x, d, rest, v);
            d += rest;
        } else if (!apply_entry(c, a, i, d, x.dim[d], v)) {
            return false;
        } else {
            d++;
        }
    }
    if (!has_rest) take_whole(x, d, rest, v);
    return true;
}

/* The offset of the view in x, and its steps in x and in y. */
static int64_t steps_of(const view *v, eddy_shape x, int64_t *in_x, int64_t *in_y)
{
    eddy_shape sizes = { .rank = x.rank };
    int64_t    at = 0;
    for (int i = 0; i < x.rank; i++) sizes.dim[i] = v->of[i].size;
    eddy__strides_of(x, in_x);
    eddy__strides_of(sizes, in_y);
    for (int i = 0; i < x.rank; i++) {
        at += in_x[i] * v->of[i].begin;
        in_x[i] *= v->of[i].step;
    }
    return at;
}

/* The same slice of each example: the batch axis in front is taken whole. */
static void strided_batch(eddy_batch *b)
{
    strided_attrs a = *(const strided_attrs *)b->attrs;
    const int     n = a.begin.count;
    if (n == EDDY_MAX_RANK) return;
    if (n > 0) {
        eddy__batch_entries(&a.begin, 0);
        eddy__batch_entries(&a.end, 0);
        if (a.strides.count > 0) eddy__batch_entries(&a.strides, 1);
        a.begin_mask = a.begin_mask << 1 | 1;
        a.end_mask = a.end_mask << 1 | 1;
        a.ellipsis_mask <<= 1;
        a.new_axis_mask <<= 1;
        a.shrink_axis_mask <<= 1;
    }
    eddy_batch_apply(b, &a);
}

/* --------------------------------------------------------- strided_slice -- */

/** y = x[begin[0]:end[0]:strides[0], ...]: ranges of the dimensions of x.
 *
 *  x                 any element type and shape
 *  begin, end        one entry per range: from begin up to, but not including, end.  Negative
 *                    entries count from the end of the dimension; entries beyond its ends are
 *                    clipped.  Dimensions without an entry are taken whole.
 *  strides           as many, not 0; a negative stride goes backwards; default: all 1
 *  begin_mask        bit i: begin[i] is ignored; the range begins at the start of the dimension
 *                    (at its end for a negative stride)
 *  end_mask          bit i: end[i] is ignored; the range extends to the end of the dimension
 *                    (to its start for a negative stride)
 *  ellipsis_mask     bit i: entry i stands for all dimensions that no other entry names
 *  new_axis_mask     bit i: entry i is a new dimension of 1
 *  shrink_axis_mask  bit i: entry i is the single index begin[i]; the dimension is dropped
 *
 *  At most 8 entries.  eddy_index takes the same from a string.
 *  Errors: EDDY_INVALID_ARGUMENT if entries are invalid, EDDY_BAD_SHAPE if there are
 *  more than dimensions or a single index is out of range, EDDY_LIMIT if y has rank above 8.
 *  Gradient: dx = zeros like x with dy at the selected positions.  TensorFlow: StridedSlice. */
#ifdef EDDY_HEADER
typedef struct eddy_strided_slice_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_strided_slice_args));
    eddy_tensor x;
    eddy_dims   begin, end, strides;
    int64_t     begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    const char *name;
} eddy_strided_slice_args;
#endif
static bool strided_infer(eddy_infer *c)
{
    const eddy_type *x = &c->in[0];
    view v = { .y = EDDY_UNKNOWN_SHAPE };
    if (!entries_are_valid(c)) return false;
    if (x->shape.rank >= 0 && !view_of(c, c->attrs, x->shape, &v)) return false;
    return eddy__infer_yield(c, 0, x->dtype, v.y);
}

static eddy_status strided_prepare(eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    int64_t   in_x[EDDY_MAX_RANK], in_y[EDDY_MAX_RANK];
    view      v;
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    view_of(NULL, k->attrs, x, &v);
    b->from_at = steps_of(&v, x, in_x, in_y);
    for (int i = 0; i < x.rank; i++) eddy__box_add(b, v.of[i].size, in_y[i], in_x[i]);
    return EDDY_OK;
}

/* Without strides, a contiguous part needs no loops. */
static bool strided_parts(const void *attrs, int n_in, const eddy_type *in, int n_out,
                          const eddy_type *out, int64_t *first)
{
    const eddy_shape x = in[0].shape;
    eddy_shape part = { .rank = x.rank };
    int64_t    in_x[EDDY_MAX_RANK], in_y[EDDY_MAX_RANK];
    view       v;
    (void)n_in;
    (void)n_out;
    view_of(NULL, attrs, x, &v);
    const int64_t at = steps_of(&v, x, in_x, in_y);
    first[0] = eddy_shape_count(out[0].shape) > 0 ? at : 0;
    for (int i = 0; i < x.rank; i++) {
        part.dim[i] = v.of[i].size;
        if (part.dim[i] > 1 && v.of[i].step != 1) return false;
    }
    return eddy__lies_together(part, x);
}

static eddy_tensor back(eddy_tensor dy, eddy_tensor ref, const void *attrs)
{
    return eddy_apply2(&eddy_op_strided_slice_grad, attrs, dy, ref);
}

static void strided_gradient(eddy_rule *r) { r->dx[0] = back(r->dy[0], r->x[0], r->attrs); }

const eddy_op_def eddy_op_strided_slice = {
    .name = "StridedSlice", .label = "strided_slice", .min_inputs = 1, .max_inputs = 1,
    .outputs = 1, .attrs_size = sizeof(strided_attrs), .attrs = strided_fields,
    .flags = EDDY_OP_MOVES, .infer = strided_infer, .prepare = strided_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = strided_gradient, .batch = strided_batch, .parts = strided_parts,
};

eddy_tensor eddy_strided_slice_with(const eddy_strided_slice_args *given)
{
    eddy_strided_slice_args a = EDDY_TAKE(eddy_strided_slice_args, given);
    const strided_attrs attrs = { a.begin, a.end, a.strides, a.begin_mask, a.end_mask,
                                  a.ellipsis_mask, a.new_axis_mask, a.shrink_axis_mask };
    return eddy__apply_named(a.name, &eddy_op_strided_slice, &attrs, 1, &a.x);
}

/* ---------------------------------------------------- strided_slice_grad -- */

/* Checks that `part` has the shape of the slice of `whole`. */
static bool part_fits(eddy_infer *c, const char *what, eddy_shape part, eddy_shape whole)
{
    char got[128], want[128];
    view v = { .y = EDDY_UNKNOWN_SHAPE };
    if (!entries_are_valid(c)) return false;
    if (whole.rank >= 0 && !view_of(c, c->attrs, whole, &v)) return false;
    if (eddy_shape_compatible(v.y, part)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE, "%s has shape %s, but the slice has shape %s", what,
                           eddy_shape_print(part, got, sizeof got),
                           eddy_shape_print(v.y, want, sizeof want));
}

static bool strided_grad_infer(eddy_infer *c)
{
    const eddy_shape ref = c->in[1].shape;
    return part_fits(c, "dy", c->in[0].shape, ref) &&
           eddy__infer_yield(c, 0, c->in[0].dtype, ref);
}

/* The loops over a part, which write to its positions in y. */
static eddy_status part_prepare(eddy_kernel *k, eddy_shape y)
{
    int64_t   in_whole[EDDY_MAX_RANK], in_part[EDDY_MAX_RANK];
    view      v;
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    view_of(NULL, k->attrs, y, &v);
    b->to_at = steps_of(&v, y, in_whole, in_part);
    for (int i = 0; i < y.rank; i++) eddy__box_add(b, v.of[i].size, in_whole[i], in_part[i]);
    return EDDY_OK;
}

static eddy_status strided_grad_prepare(eddy_kernel *k)
{
    return part_prepare(k, k->out[0]->type.shape);
}

static eddy_status strided_grad_kernel(eddy_kernel *k)
{
    const eddy_buffer *y = k->out[0];
    if (y->count > k->in[0]->count)
        memset(y->data, 0, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    return eddy__box_copy_kernel(k);
}

static void strided_grad_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_apply1(&eddy_op_strided_slice, r->attrs, r->dy[0]);
}

const eddy_op_def eddy_op_strided_slice_grad = {
    .name = "StridedSliceGrad", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .shape_inputs = 1u << 1, .attrs_size = sizeof(strided_attrs), .attrs = strided_fields,
    .infer = strided_grad_infer, .prepare = strided_grad_prepare, .kernel = strided_grad_kernel,
    .gradient = strided_grad_gradient, .batch = strided_batch,
};

/* ------------------------------------------------- strided_slice_assign -- */

#ifdef EDDY_HEADER
typedef struct eddy_strided_slice_assign_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_strided_slice_assign_args));
    eddy_tensor var, value;
    eddy_dims   begin, end, strides;
    int64_t     begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
    const char *name;
} eddy_strided_slice_assign_args;
#endif

static bool assign_infer(eddy_infer *c)
{
    const eddy_type *var = &c->in[0];
    return part_fits(c, "the value", c->in[1].shape, var->shape) &&
           eddy__infer_yield(c, 0, var->dtype, var->shape);
}

static eddy_status assign_prepare(eddy_kernel *k) { return part_prepare(k, k->in[0]->type.shape); }

static eddy_status assign_kernel(eddy_kernel *k)
{
    const eddy_status s = eddy__variable_ready(k);
    if (s != EDDY_OK) return s;
    eddy__box_copy_parallel(k, k->state, eddy_dtype_size(k->in[0]->type.dtype), k->in[0]->data,
                            k->in[1]->data);
    return eddy__variable_yield(k);
}

const eddy_op_def eddy_op_strided_slice_assign = {
    .name = "StridedSliceAssign", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "var", EDDY_ANY_TYPE }, { "value", EDDY_LIKE(0) }),
    .flags = EDDY_OP_REFERENCE | EDDY_OP_UPDATES | EDDY_OP_SIDE_EFFECT | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(strided_attrs), .attrs = strided_fields,
    .infer = assign_infer, .prepare = assign_prepare, .kernel = assign_kernel,
    .gradient = eddy_not_differentiable,
};

/** var[begin[0]:end[0]:strides[0], ...] = value; y = the variable's new value.
 *
 *  var    a variable
 *  value  same type as var, with the shape of the slice
 *  begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
 *         as for eddy_strided_slice
 *
 *  eddy_index_assign takes the slice from a string.
 *  Errors: those of eddy_strided_slice; EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the value does not
 *  match; at run time, EDDY_UNINITIALIZED.
 *  Gradient: none.  TensorFlow: StridedSliceAssign. */
eddy_tensor eddy_strided_slice_assign_with(const eddy_strided_slice_assign_args *given)
{
    eddy_strided_slice_assign_args a = EDDY_TAKE(eddy_strided_slice_assign_args, given);
    const strided_attrs attrs = { a.begin, a.end, a.strides, a.begin_mask, a.end_mask,
                                  a.ellipsis_mask, a.new_axis_mask, a.shrink_axis_mask };
    return eddy__apply_named(a.name, &eddy_op_strided_slice_assign, &attrs, 2,
                             (eddy_tensor[]){ a.var, a.value });
}
