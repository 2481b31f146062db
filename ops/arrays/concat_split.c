/* concat_split.c -- concat, split, stack and unstack: joining tensors along an axis, and
 * splitting one.
 *
 * Each operation here is the gradient of another, and all run as one loop: for every row of the
 * dimensions before the axis, the parts of the row are copied in turn. */
#include "graph/base/thread_pool.h"
#include "graph/internal.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct join_attrs {
    int64_t   axis;
    int64_t   num;
    eddy_ints sizes;
} join_attrs;

static const eddy_attr_field axis_fields[] = EDDY_FIELDS(join_attrs, axis);
static const eddy_attr_field num_fields[] = EDDY_FIELDS(join_attrs, axis, num);

/* ---------------------------------------------------------------- kernel -- */

typedef struct moving {
    int                 n;
    eddy_buffer *const *part;
    const eddy_buffer  *whole;
    int64_t             outer;          /* rows */
    bool                join;
} moving;

/* Rows [from, to) of parts that take longer to copy than to describe. */
static void move_long_rows(const moving *m, int64_t from, int64_t to, int64_t size)
{
    char *at = (char *)m->whole->data + from * (m->whole->count / m->outer) * size;
    for (int64_t row = from; row < to; row++)
        for (int i = 0; i < m->n; i++) {
            const int64_t bytes = m->part[i]->count / m->outer * size;
            char *p = (char *)m->part[i]->data + row * bytes;
            memcpy(m->join ? at : p, m->join ? p : at, (size_t)bytes);
            at += bytes;
        }
}

/* Rows [from, to), as many at a time as stay in the cache for all parts. */
static void move_rows(void *arg, int64_t from, int64_t to, int worker)
{
    enum { LONG = 256 };                /* bytes of a part, on average */
    const moving *m = arg;
    const int64_t size = (int64_t)eddy_dtype_size(m->whole->type.dtype);
    const int64_t width = m->whole->count / m->outer;
    const int64_t many = width * size < 16384 ? 16384 / (width * size) : 1;
    (void)worker;
    if (width * size >= LONG * m->n) {
        move_long_rows(m, from, to, size);
        return;
    }
    for (int64_t row = from; row < to; row += many) {
        const int64_t rows = to - row < many ? to - row : many;
        char *at = (char *)m->whole->data + row * width * size;
        for (int i = 0; i < m->n; i++) {
            const int64_t w = m->part[i]->count / m->outer;
            char    *p = (char *)m->part[i]->data + row * w * size;
            eddy_box b = { .rank = 0 };
            eddy__box_add(&b, rows, m->join ? width : w, m->join ? w : width);
            eddy__box_add(&b, w, 1, 1);
            eddy__box_copy(&b, (size_t)size, m->join ? at : p, m->join ? p : at);
            at += w * size;
        }
    }
}

/* Bytes [from, to) of the whole, in which the parts follow one another. */
static void move_bytes(void *arg, int64_t from, int64_t to, int worker)
{
    const moving *m = arg;
    const int64_t size = (int64_t)eddy_dtype_size(m->whole->type.dtype);
    (void)worker;
    for (int64_t i = 0, first = 0, end = 0; i < m->n && first < to; i++, first = end) {
        end = first + m->part[i]->count * size;
        const int64_t a = from > first ? from : first, b = to < end ? to : end;
        if (a >= b) continue;
        char *p = (char *)m->part[i]->data + (a - first), *w = (char *)m->whole->data + a;
        memcpy(m->join ? w : p, m->join ? p : w, (size_t)(b - a));
    }
}

/* Copies the parts into the whole, or the whole into the parts. */
static void move_parts(const eddy_kernel *k, int n, eddy_buffer *const *part,
                       const eddy_buffer *whole, int64_t axis, bool join)
{
    enum { BYTES = 1 << 18 };
    const eddy_shape s = whole->type.shape;
    if (whole->count == 0) return;
    moving m = { n, part, whole, eddy__shape_product(s, 0, eddy__axis_of(axis, s.rank)), join };
    const int64_t bytes = whole->count * (int64_t)eddy_dtype_size(whole->type.dtype);
    if (m.outer == 1) eddy__parallel_or_stop(k, bytes, BYTES, move_bytes, &m);
    else eddy__parallel_or_stop(k, m.outer, BYTES / (bytes / m.outer) + 1, move_rows, &m);
}

static eddy_status join_kernel(eddy_kernel *k)
{
    const join_attrs *a = k->attrs;
    move_parts(k, k->n_in, k->in, k->out[0], a->axis, true);
    return EDDY_OK;
}

static eddy_status split_kernel(eddy_kernel *k)
{
    const join_attrs *a = k->attrs;
    move_parts(k, k->n_out, k->out, k->in[0], a->axis, false);
    return EDDY_OK;
}

/* If the dimensions before the axis have the product 1, the parts are contiguous in the whole. */
static bool follow(eddy_shape whole, int64_t axis, int n, const eddy_type *part, int64_t *first)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        first[i] = at;
        at += eddy_shape_count(part[i].shape);
    }
    return eddy__shape_product(whole, 0, eddy__axis_of(axis, whole.rank)) == 1;
}

static bool join_parts(const void *attrs, int n_in, const eddy_type *in, int n_out,
                       const eddy_type *out, int64_t *first)
{
    (void)n_out;
    return follow(out[0].shape, ((const join_attrs *)attrs)->axis, n_in, in, first);
}

static bool split_parts(const void *attrs, int n_in, const eddy_type *in, int n_out,
                        const eddy_type *out, int64_t *first)
{
    (void)n_in;
    return follow(in[0].shape, ((const join_attrs *)attrs)->axis, n_out, out, first);
}

static void join_batch(eddy_batch *b)
{
    join_attrs a = *(const join_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

/* -------------------------------------------------------------- inferring -- */

static bool refuse_pair(eddy_infer *c, int i, eddy_shape a, eddy_shape b)
{
    char x[128], y[128];
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "input %d has shape %s, which is not compatible with %s", i,
                           eddy_shape_print(b, x, sizeof x), eddy_shape_print(a, y, sizeof y));
}

/* *s = the common shape of all inputs, as far as it is known; with `along` they may differ at
 * `axis`, and *s has no meaning there. */
static bool common_shape(eddy_infer *c, bool along, int64_t axis, eddy_shape *s)
{
    *s = EDDY_UNKNOWN_SHAPE;
    for (int i = 0; i < c->n_in; i++) {
        const eddy_shape x = c->in[i].shape;
        if (x.rank < 0) continue;
        if (s->rank < 0) *s = x;
        if (x.rank != s->rank) return refuse_pair(c, i, *s, x);
        for (int d = 0; d < x.rank; d++)
            if (!(along && d == eddy__axis_of(axis, x.rank)) &&
                !eddy__dim_unify(&s->dim[d], x.dim[d]))
                return refuse_pair(c, i, *s, x);
    }
    return true;
}

/* The sum of the sizes along the axis; EDDY_ANY if one is unknown. */
static bool total_along(eddy_infer *c, int first, int axis, int64_t *total)
{
    bool open = false;
    *total = 0;
    for (int i = first; i < c->n_in; i++) {
        const eddy_shape x = c->in[i].shape;
        int64_t d = x.rank < 0 ? EDDY_ANY : x.dim[axis];
        if (d == EDDY_ANY) open = true;
        else if (__builtin_add_overflow(*total, d, total))
            return eddy_infer_fail(c, EDDY_LIMIT, "the sizes along axis %d add up to 2^63 or more",
                                   axis);
    }
    if (open) *total = EDDY_ANY;
    return true;
}

/* ----------------------------------------------------- concat and stack -- */

#define JOIN_OP(type, shown, infer_fn, gradient_fn)                             \
    { .name = type, .label = shown, .min_inputs = 1, .max_inputs = EDDY_MANY, .outputs = 1, \
      .inputs = EDDY_INPUTS({ "xs", EDDY_ANY_TYPE }, { "xs", EDDY_LIKE(0) }),   \
      .attrs_size = sizeof(join_attrs), .attrs = axis_fields, .flags = EDDY_OP_JOINS, \
      .infer = infer_fn, .kernel = join_kernel, .gradient = gradient_fn, .batch = join_batch, \
      .parts = join_parts }

static eddy_tensor joined(const eddy_op_def *op, const eddy_concat_args *given)
{
    const eddy_concat_args a = EDDY_TAKE(eddy_concat_args, given);
    return eddy__apply_named(a.name, op, &(join_attrs){ .axis = a.axis }, a.list.count, a.list.at);
}

/* ---------------------------------------------------------------- concat -- */

/** y = the tensors of `list` concatenated along `axis`.
 *
 *  list  at least one tensor, all of one element type and of the same shape except along
 *        `axis`; rank at least 1
 *  axis  -rank <= axis < rank
 *
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the tensors do not match,
 *  EDDY_INVALID_ARGUMENT if they have no such axis.
 *  Gradient: dy split at the same positions.  TensorFlow: ConcatV2. */
#ifdef EDDY_HEADER
/* Options of eddy_concat and eddy_stack. */
typedef struct eddy_concat_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_concat_args));
    eddy_list   list;
    int64_t     axis;
    const char *name;
} eddy_concat_args;
#endif
static bool concat_infer(eddy_infer *c)
{
    const join_attrs *a = c->attrs;
    eddy_shape s = EDDY_UNKNOWN_SHAPE;
    int axis;
    for (int i = 0; i < c->n_in && s.rank < 0; i++) s = c->in[i].shape;
    if (s.rank == 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "scalars cannot be concatenated; stack them");
    if (s.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, s);
    if (!eddy__infer_axis(c, a->axis, s.rank, &axis) || !common_shape(c, true, axis, &s) ||
        !total_along(c, 0, axis, &s.dim[axis]))
        return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, s);
}

static void concat_gradient(eddy_rule *r)
{
    const join_attrs *a = r->attrs;
    eddy_tensor parts = r->n_in == 1 ? r->dy[0]
        : eddy_split_like(r->dy[0], (eddy_list){ r->n_in, r->x }, a->axis);
    r->dx[0] = parts;
    for (int i = 1; i < r->n_in; i++) r->dx[i] = eddy_output(parts, i);
}

const eddy_op_def eddy_op_concat = JOIN_OP("ConcatV2", "concat", concat_infer, concat_gradient);

eddy_tensor eddy_concat_with(const eddy_concat_args *given)
{
    return joined(&eddy_op_concat, given);
}

/* ----------------------------------------------------------------- stack -- */

/** y = the tensors of `list` stacked along a new dimension at `axis`.
 *
 *  list  at least one tensor, all of one element type and shape, rank below 8
 *  axis  the position of the new dimension in y, -rank-1 <= axis <= rank
 *
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the tensors differ,
 *  EDDY_INVALID_ARGUMENT if y has no such axis, EDDY_LIMIT at rank 8.
 *  Gradient: dy unstacked along `axis`.  TensorFlow: Pack. */
static bool stack_infer(eddy_infer *c)
{
    const join_attrs *a = c->attrs;
    eddy_shape s;
    int axis;
    if (!common_shape(c, false, 0, &s)) return false;
    if (s.rank < 0) return eddy__infer_yield(c, 0, c->in[0].dtype, s);
    if (s.rank == EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               s.rank + 1, EDDY_MAX_RANK);
    if (!eddy__infer_axis(c, a->axis, s.rank + 1, &axis)) return false;
    return eddy__infer_yield(c, 0, c->in[0].dtype, eddy__shape_with(s, axis, c->n_in));
}

static void stack_gradient(eddy_rule *r)
{
    const join_attrs *a = r->attrs;
    eddy_tensor parts = eddy_unstack(r->dy[0], a->axis, .num = r->n_in);
    for (int i = 0; i < r->n_in; i++) r->dx[i] = eddy_output(parts, i);
}

const eddy_op_def eddy_op_stack = JOIN_OP("Pack", "stack", stack_infer, stack_gradient);

eddy_tensor eddy_stack_with(const eddy_concat_args *given)
{
    return joined(&eddy_op_stack, given);
}

/* --------------------------------------------------------------- unstack -- */

/** y[i] = x at index i along `axis`, for every i; eddy_output(y, i) selects one.
 *
 *  x     any element type, rank at least 1
 *  axis  -rank <= axis < rank; the outputs do not have it
 *  num   the number of outputs; may be omitted if the dimension is known
 *
 *  Returns output 0; for a dimension of 0, an operation without outputs.
 *  Errors: EDDY_INVALID_ARGUMENT if x has no such axis or the number is
 *  unknown, EDDY_BAD_SHAPE if `num` differs from the dimension.
 *  Gradient: dx = the dy[i] stacked along `axis`.  TensorFlow: Unpack. */
#ifdef EDDY_HEADER
typedef struct eddy_unstack_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_unstack_args));
    eddy_tensor x;
    int64_t     axis;
    int64_t     num EDDY_DEFAULT(EDDY_OMITTED);
    const char *name;
} eddy_unstack_args;
#endif
static bool unstack_infer(eddy_infer *c)
{
    join_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    eddy_shape s = EDDY_UNKNOWN_SHAPE;
    int64_t n = EDDY_ANY;
    int axis = 0;
    if (a->num < 0 || a->num > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "num is %lld; expected 0 to %d",
                               (long long)a->num, EDDY_MAX_INPUTS);
    if (x->shape.rank >= 0) {
        if (!eddy__infer_axis(c, a->axis, x->shape.rank, &axis)) return false;
        n = x->shape.dim[axis];
        s = eddy__shape_without(x->shape, axis);
    }
    if (n == EDDY_ANY && a->num == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "the dimension at axis %lld is unknown; give num",
                               (long long)a->axis);
    if (a->num != 0 && n != EDDY_ANY && n != a->num)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dimension %d is %lld; expected num = %lld", axis,
                               (long long)n, (long long)a->num);
    if (n > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_LIMIT, "%lld outputs; the limit is %d", (long long)n,
                               EDDY_MAX_INPUTS);
    if (n == EDDY_ANY) n = a->num;
    if (!c->attrs_fixed) a->num = n;
    if (!eddy_infer_outputs(c, (int)n)) return false;
    for (int i = 0; i < c->n_out; i++) eddy__infer_yield(c, i, x->dtype, s);
    return true;
}

static void unstack_gradient(eddy_rule *r)
{
    const join_attrs *a = r->attrs;
    if (r->n_out > 0) r->dx[0] = eddy_stack((eddy_list){ r->n_out, r->dy }, a->axis);
}

const eddy_op_def eddy_op_unstack = {
    .name = "Unpack", .label = "unstack", .min_inputs = 1, .max_inputs = 1, .outputs = EDDY_MANY,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(join_attrs), .attrs = num_fields,
    .infer = unstack_infer, .kernel = split_kernel, .gradient = unstack_gradient,
    .batch = join_batch, .parts = split_parts,
};

eddy_tensor eddy_unstack_with(const eddy_unstack_args *given)
{
    eddy_unstack_args a = EDDY_TAKE(eddy_unstack_args, given);
    join_attrs attrs = { .axis = a.axis };
    const eddy_shape s = eddy_shape_of(a.x);
    const int64_t    axis = a.axis < 0 ? a.axis + s.rank : a.axis;
    const bool       empty = axis >= 0 && axis < s.rank && s.dim[axis] == 0;
    if (!(empty && a.num == 0) &&
        !eddy__attribute_count(a.x.graph, "unstack: num", a.num, &attrs.num))
        return eddy_none(a.x.graph);
    return eddy__apply_named(a.name, &eddy_op_unstack, &attrs, 1, &a.x);
}

/* ----------------------------------------------------------------- split -- */

/** y[i] = part i of `num` equal parts of x along `axis`; eddy_output(y, i) selects one.
 *
 *  x     any element type, rank at least 1
 *  num   1 to 65535; must divide the dimension at `axis`
 *  axis  -rank <= axis < rank; default: 0
 *
 *  Returns output 0.
 *  Errors: EDDY_INVALID_ARGUMENT if num is out of range or x has no such axis,
 *  EDDY_BAD_SHAPE if num does not divide the dimension.
 *  Gradient: dx = the dy[i] concatenated along `axis`.  TensorFlow: Split. */
#ifdef EDDY_HEADER
typedef struct eddy_split_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_split_args));
    eddy_tensor x;
    int64_t     num;
    int64_t     axis;
    const char *name;
} eddy_split_args;
#endif
static bool split_infer(eddy_infer *c)
{
    const join_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    eddy_shape s = x->shape;
    int axis;
    if (a->num < 1 || a->num > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "num is %lld; expected 1 to %d",
                               (long long)a->num, EDDY_MAX_INPUTS);
    if (s.rank >= 0) {
        if (!eddy__infer_axis(c, a->axis, s.rank, &axis)) return false;
        if (s.dim[axis] != EDDY_ANY && s.dim[axis] % a->num != 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "dimension %d is %lld, which is not a multiple of num = %lld",
                                   axis, (long long)s.dim[axis], (long long)a->num);
        if (s.dim[axis] != EDDY_ANY) s.dim[axis] /= a->num;
    }
    if (!eddy_infer_outputs(c, (int)a->num)) return false;
    for (int i = 0; i < c->n_out; i++) eddy__infer_yield(c, i, x->dtype, s);
    return true;
}

static void split_gradient(eddy_rule *r)
{
    const join_attrs *a = r->attrs;
    r->dx[0] = eddy_concat((eddy_list){ r->n_out, r->dy }, a->axis);
}

const eddy_op_def eddy_op_split = {
    .name = "Split", .label = "split", .min_inputs = 1, .max_inputs = 1, .outputs = EDDY_MANY,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(join_attrs), .attrs = num_fields,
    .infer = split_infer, .kernel = split_kernel, .gradient = split_gradient, .batch = join_batch,
    .parts = split_parts,
};

eddy_tensor eddy_split_with(const eddy_split_args *given)
{
    eddy_split_args a = EDDY_TAKE(eddy_split_args, given);
    return eddy__apply_named(a.name, &eddy_op_split, &(join_attrs){ .axis = a.axis, .num = a.num },
                             1, &a.x);
}

/* ----------------------------------------------------------- split_sizes -- */

/** y[i] = the next sizes[i] elements of x along `axis`; eddy_output(y, i) selects one.
 *
 *  x      any element type, rank at least 1
 *  sizes  n sizes, 1 <= n <= 65535, each >= 0; one may be -1 and takes the rest
 *  axis   -rank <= axis < rank; default: 0
 *
 *  Returns output 0.
 *  Errors: EDDY_INVALID_ARGUMENT if the sizes are invalid or x has no such axis,
 *  EDDY_BAD_SHAPE if they do not add up to the dimension.
 *  Gradient: dx = the dy[i] concatenated along `axis`.  TensorFlow: SplitV. */
#ifdef EDDY_HEADER
typedef struct eddy_split_sizes_args {
    size_t         size_ EDDY_DEFAULT(sizeof(eddy_split_sizes_args));
    eddy_tensor    x;
    const int64_t *sizes;
    int            n;
    int64_t        axis;
    const char    *name;
} eddy_split_sizes_args;
#endif
/* The sum of the given sizes; *open = the index of the one that is -1, or -1 if there is none. */
static bool add_sizes(eddy_infer *c, const eddy_ints *sizes, int64_t *sum, int64_t *open)
{
    *sum = 0;
    *open = -1;
    if (sizes->count < 1 || sizes->count > EDDY_MAX_INPUTS)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%lld sizes given; expected 1 to %d",
                               (long long)sizes->count, EDDY_MAX_INPUTS);
    for (int64_t i = 0; i < sizes->count; i++) {
        if (sizes->at[i] == EDDY_ANY && *open < 0) *open = i;
        else if (sizes->at[i] < 0)
            return eddy_infer_fail(
                c, EDDY_INVALID_ARGUMENT,
                "sizes[%lld] is %lld; sizes must not be negative, except one that may be -1",
                (long long)i, (long long)sizes->at[i]);
        else if (__builtin_add_overflow(*sum, sizes->at[i], sum))
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the sizes add up to 2^63 or more");
    }
    return true;
}

static bool split_sizes_infer(eddy_infer *c)
{
    const join_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    eddy_shape s = x->shape;
    int64_t sum, open, whole = EDDY_ANY;
    int axis = 0;
    if (!add_sizes(c, &a->sizes, &sum, &open)) return false;
    if (s.rank >= 0) {
        if (!eddy__infer_axis(c, a->axis, s.rank, &axis)) return false;
        whole = s.dim[axis];
    }
    if (whole != EDDY_ANY && (open < 0 ? sum != whole : sum > whole))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the sizes add up to %lld, but dimension %d is %lld",
                               (long long)sum, axis, (long long)whole);
    if (!eddy_infer_outputs(c, (int)a->sizes.count)) return false;
    for (int i = 0; i < c->n_out; i++) {
        if (s.rank >= 0)
            s.dim[axis] = i != open ? a->sizes.at[i] : whole == EDDY_ANY ? EDDY_ANY : whole - sum;
        eddy__infer_yield(c, i, x->dtype, s);
    }
    return true;
}

const eddy_op_def eddy_op_split_sizes = {
    .name = "SplitV", .label = "split", .min_inputs = 1, .max_inputs = 1, .outputs = EDDY_MANY,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(join_attrs),
    .attrs = EDDY_ATTRS(join_attrs, axis, sizes),
    .infer = split_sizes_infer, .kernel = split_kernel, .gradient = split_gradient,
    .batch = join_batch, .parts = split_parts,
};

eddy_tensor eddy_split_sizes_with(const eddy_split_sizes_args *given)
{
    eddy_split_sizes_args a = EDDY_TAKE(eddy_split_sizes_args, given);
    return eddy__apply_named(a.name, &eddy_op_split_sizes,
                             &(join_attrs){ .axis = a.axis, .sizes = { a.n, a.sizes } }, 1, &a.x);
}

/* ------------------------------------------------------------ split_like -- */

/** y[i] = the part of x along `axis` that refs[i] would contribute to eddy_concat.
 *
 *  x     any element type, rank at least 1
 *  refs  at least one; only their shapes are used; they are not computed
 *  axis  -rank <= axis < rank
 *
 *  Returns output 0.  This is the gradient of eddy_concat, and works with unknown sizes.
 *  Errors: EDDY_BAD_SHAPE if refs concatenated along `axis` do not have the shape of x,
 *  EDDY_INVALID_ARGUMENT if x has no such axis.
 *  Gradient: dx = the dy[i] concatenated along `axis`; refs have none.
 *  TensorFlow: Split at ConcatOffset. */
static bool split_like_infer(eddy_infer *c)
{
    const join_attrs *a = c->attrs;
    const eddy_type *x = &c->in[0];
    eddy_shape s;
    int axis = 0;
    int64_t total = EDDY_ANY;
    if (x->shape.rank >= 0 && !eddy__infer_axis(c, a->axis, x->shape.rank, &axis)) return false;
    if (!common_shape(c, true, a->axis, &s)) return false;
    if (s.rank >= 0 &&
        (!eddy__infer_axis(c, a->axis, s.rank, &axis) || !total_along(c, 1, axis, &total)))
        return false;
    if (total != EDDY_ANY && x->shape.rank >= 0 && !eddy__dim_unify(&total, x->shape.dim[axis]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the references add up to %lld, but dimension %d is %lld",
                               (long long)total, axis, (long long)x->shape.dim[axis]);
    if (!eddy_infer_outputs(c, c->n_in - 1)) return false;
    for (int i = 0; i < c->n_out; i++) {
        if (s.rank >= 0)
            s.dim[axis] = c->in[i + 1].shape.rank < 0 ? EDDY_ANY : c->in[i + 1].shape.dim[axis];
        eddy__infer_yield(c, i, x->dtype, s);
    }
    return true;
}

const eddy_op_def eddy_op_split_like = {
    .name = "SplitLike", .label = "split", .min_inputs = 2, .max_inputs = EDDY_MANY,
    .outputs = EDDY_MANY,
    .shape_inputs = ~1u, .attrs_size = sizeof(join_attrs), .attrs = axis_fields,
    .infer = split_like_infer, .kernel = split_kernel, .gradient = split_gradient,
    .batch = join_batch, .parts = split_parts,
};

eddy_tensor eddy_split_like(eddy_tensor x, eddy_list refs, int64_t axis)
{
    enum { FEW = 16 };
    eddy_tensor few[FEW], *in = few;
    if (!eddy_is_valid(x))
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "SplitLike: input 0 is not a valid tensor");
    if (!refs.at || refs.count < 1 || refs.count >= EDDY_MAX_INPUTS)
        return eddy_fail(x.graph, EDDY_INVALID_ARGUMENT,
                         "SplitLike: %d references given; expected 1 to %d", refs.count,
                         EDDY_MAX_INPUTS - 1);
    const eddy_allocator *memory = eddy__graph_allocator(x.graph);
    const size_t bytes = ((size_t)refs.count + 1) * sizeof *in;
    if (refs.count >= FEW) in = eddy__allocate(memory, bytes);
    if (!in)
        return eddy_fail(x.graph, EDDY_NO_MEMORY, "SplitLike: out of memory for %d references",
                         refs.count);
    in[0] = x;
    for (int i = 0; i < refs.count; i++) in[i + 1] = refs.at[i];
    eddy_tensor y = eddy__apply_named(NULL, &eddy_op_split_like, &(join_attrs){ .axis = axis },
                                      refs.count + 1, in);
    if (in != few) eddy__release(memory, in, bytes);
    return y;
}
