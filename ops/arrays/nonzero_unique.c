/* nonzero_unique.c -- where (indices of nonzero elements) and unique: selection by value.
 *
 * The number of results depends on the data, unless the caller gives the size of the output. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "graph/base/min_max.h"
#include "graph/base/stop.h"
#include "ops/kernels/arrays/index_checks.h"
#include "ops/kernels/elementwise/half_casts.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

typedef struct select_attrs {
    int64_t    size;               /* 0: exactly as many as were found */
    double     fill;
    int64_t    batch_dims;         /* number of leading dimensions of independent examples */
    eddy_dtype out_idx;
} select_attrs;

static const eddy_attr_field select_fields[] =
    EDDY_FIELDS(select_attrs, size, fill, batch_dims, out_idx);

/* With a size, y has that many rows, however many were found. */
static bool has_size(const void *attrs) { return ((const select_attrs *)attrs)->size != 0; }

/* Checks batch_dims: x must have those dimensions, and there must be room for two more.  All
 * examples have the same number of rows, so `size` is required. */
static bool examples_fit(eddy_infer *c)
{
    const select_attrs *a = c->attrs;
    const int rank = c->in[0].shape.rank;
    if (a->batch_dims > 0 && a->size == 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "batch_dims = %lld requires a size",
                               (long long)a->batch_dims);
    if (a->batch_dims >= 0 && a->batch_dims <= EDDY_MAX_RANK - 2 &&
        (rank < 0 || rank >= a->batch_dims))
        return true;
    return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                           "batch_dims = %lld is out of range for rank %d",
                           (long long)a->batch_dims, rank);
}

/* *rows = `size`, or `count` if there is no size; open if both are unknown. */
static bool rows_of(eddy_infer *c, int64_t count, int64_t *rows)
{
    const select_attrs *a = c->attrs;
    *rows = a->size > 0 ? a->size : count;
    if (a->size < 0 || a->batch_dims < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "size is %lld; size and batch_dims must not be negative",
                               (long long)a->size);
    return true;
}

/* Sets the number of rows to the number found, unless a size is given. */
static void set_rows(eddy_kernel *k, int output, int64_t found)
{
    const select_attrs *a = k->attrs;
    eddy_type          *t = &k->out[output]->type;
    if (a->size > 0) return;
    t->shape.dim[a->batch_dims] = found;
    k->out[output]->count = eddy_shape_count(t->shape);
}

/* A batch of examples, if each has the same number of rows. */
static void select_batch(eddy_batch *b)
{
    select_attrs a = *(const select_attrs *)b->attrs;
    if (a.size == 0 || a.batch_dims == EDDY_MAX_RANK - 2) return;
    a.batch_dims++;
    eddy_batch_apply(b, &a);
}

/* --------------------------------------------------------------- nonzero -- */

#define TEMPLATE "ops/kernels/arrays/nonzero_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

/* The numbers of the elements that are not 0, or of the bools that are true. */
static int64_t places(eddy_dtype d, int64_t n, const void *x, int64_t *at, const eddy_stop *stop)
{
    enum { PART = 1 << 18 };
    int64_t found = 0;
    for (int64_t i = 0; i < n && !eddy__stopped(stop); i += PART)
        found += EDDY_FOR_TYPE(places, FOR_NUMBERS, eddy__dtype_as_number(d))(
            eddy__min(PART, n - i), (const char *)x + (size_t)i * eddy_dtype_size(d), i,
            at ? at + found : NULL);
    return found;
}

/* The number of elements of a constant that are not 0. Runs compute with 16-bit floating-point
 * types in float32, constants have their own type: all bits except the sign are 0 in both zeros. */
static int64_t nonzero_elements(const eddy_array *x)
{
    const eddy_dtype d = eddy_array_dtype(x);
    const int64_t    n = eddy_array_count(x);
    if (!eddy__dtype_is_half(d)) return places(d, n, eddy_array_data(x), NULL, NULL);
    const uint16_t *bits = eddy_array_data(x);
    int64_t         found = 0;
    for (int64_t i = 0; i < n; i++) found += (bits[i] & 0x7fff) != 0;
    return found;
}

static bool nonzero_infer(eddy_infer *c)
{
    const select_attrs *a = c->attrs;
    const eddy_type    *x = &c->in[0];
    int64_t rows, count = EDDY_ANY;
    if (!examples_fit(c)) return false;
    if (!(fabs(a->fill) <= 0x1p62) || a->fill != floor(a->fill))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "fill is %g; expected a whole number up to 2^62", a->fill);
    if (c->value[0] && a->batch_dims == 0)
        count = nonzero_elements(c->value[0]);
    if (!rows_of(c, count, &rows)) return false;
    eddy_shape y = eddy__shape_open((int)a->batch_dims + 2),
               n = eddy__shape_open((int)a->batch_dims);
    const int  own = (int)a->batch_dims;
    for (int i = 0; i < own && x->shape.rank >= 0; i++) y.dim[i] = n.dim[i] = x->shape.dim[i];
    y.dim[own] = rows;
    if (x->shape.rank >= 0) y.dim[own + 1] = x->shape.rank - own;
    eddy__infer_yield(c, 0, EDDY_INT64, y);
    return eddy__infer_yield(c, 1, EDDY_INT64, n);
}

static eddy_status nonzero_prepare(eddy_kernel *k)
{
    k->scratch_size = ((uint64_t)k->in[0]->count + 1) * sizeof(int64_t);
    return EDDY_OK;
}

static eddy_status nonzero_kernel(eddy_kernel *k)
{
    const select_attrs *a = k->attrs;
    const eddy_buffer  *x = k->in[0];
    const eddy_shape    s = x->type.shape;
    const int           own = (int)a->batch_dims, rank = s.rank - own;
    const int64_t       n = eddy__shape_product(s, own, s.rank);
    const size_t        size = eddy_dtype_size(x->type.dtype);
    int64_t            *y = k->out[0]->data, *at = k->scratch;
    for (int64_t e = 0; e < k->out[1]->count; e++) {
        const char   *from = (const char *)x->data + (size_t)(e * n) * size;
        const int64_t found = places(x->type.dtype, n, from, at, k->stop);
        const int64_t rows = a->size > 0 ? a->size : found;
        ((int64_t *)k->out[1]->data)[e] = found;
        set_rows(k, 0, found);
        /* Rows of a scalar have no elements, however many there are. */
        for (int64_t i = 0; rank > 0 && i < rows && !eddy__stopped_at(k->stop, i); i++, y += rank) {
            int64_t place = i < found ? at[i] : 0;
            for (int d = rank - 1; d >= 0; d--) {
                const int64_t dim = s.dim[own + d];
                y[d] = i < found ? place % dim : (int64_t)a->fill;
                place /= dim > 0 ? dim : 1;
            }
        }
    }
    return EDDY_OK;
}

const eddy_op_def eddy_op_nonzero = {
    .name = "Where", .min_inputs = 1, .max_inputs = 1, .outputs = 2, .value_inputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_ORDERED }),
    .flags = EDDY_OP_DYNAMIC, .attrs_size = sizeof(select_attrs), .attrs = select_fields,
    .infer = nonzero_infer, .prepare = nonzero_prepare, .kernel = nonzero_kernel,
    .gradient = eddy_not_differentiable, .batch = select_batch, .settled = has_size,
};

/** y = the indices of the elements of x that are true or nonzero: [n, rank of x], int64, in
 *  order.
 *
 *  x     bool, float32, float64, int32, int64 or uint8, any shape; NaN is not 0
 *  size  the number of rows of y: the first indices found, then rows of `fill`; default: as
 *        many as are found
 *  fill  an integer from -2^62 to 2^62; eddy_gather with .skip_negative skips -1
 *
 *  eddy_output(y, 1) is the number of nonzero elements, which may exceed `size`.  Without a size,
 *  y has one row for each nonzero element.  If x is not constant, a run then computes y first, and
 *  the rest of it is compiled for each number of rows. In that case, no operation on which x
 *  depends may have a side effect.
 *  Errors: EDDY_BAD_DTYPE for other element types, EDDY_INVALID_ARGUMENT for a negative size
 *  or an invalid fill.
 *  Gradient: none.  TensorFlow: Where, tf.where of one argument. */
#ifdef EDDY_HEADER
typedef struct eddy_nonzero_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_nonzero_args));
    eddy_tensor x;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
    double      fill;
    const char *name;
} eddy_nonzero_args;
#endif
eddy_tensor eddy_nonzero_with(const eddy_nonzero_args *given)
{
    eddy_nonzero_args a = EDDY_TAKE(eddy_nonzero_args, given);
    select_attrs attrs = { .fill = a.fill };
    if (!eddy__attribute_count(a.x.graph, "nonzero: size", a.size, &attrs.size))
        return eddy_none(a.x.graph);
    return eddy__apply_named(a.name, &eddy_op_nonzero, &attrs, 1, &a.x);
}

/* ---------------------------------------------------------------- unique -- */

/* A key that is the same for equal elements; for numbers that equal themselves, their bits. */
static uint64_t key_of(eddy_dtype d, const void *x, int64_t i)
{
    uint64_t key = 0;
#define KEY(suffix, ...)                                                        \
    if (d == EDDY_COLUMN(DTYPE, suffix)) {                                      \
        const EDDY_COLUMN(ELEMENT, suffix) v = ((const EDDY_COLUMN(ELEMENT, suffix) *)x)[i]; \
        if (v != 0) memcpy(&key, &v, sizeof v);                                 \
    }
    FOR_NUMBERS(KEY, 0)
    FOR_BOOLS(KEY, 0)
#undef KEY
    return key;
}

static bool is_nan_at(eddy_dtype d, const void *x, int64_t i)
{
#define IS_NAN(suffix, ...)                                                     \
    if (d == EDDY_COLUMN(DTYPE, suffix))                                        \
        return isnan(((const EDDY_COLUMN(ELEMENT, suffix) *)x)[i]);
    FOR_FLOATS(IS_NAN, 0)
#undef IS_NAN
    return false;
}

/* Elements by hashing: open addressing over the numbers of distinct values.  An element consists
 * of `outer` times `inner` numbers of x. */
typedef struct values {
    eddy_dtype  dtype;
    const void *x;
    int64_t     n, outer, inner;
    int64_t     found;
    int64_t    *first;             /* index of the first occurrence of each value */
    int64_t    *table;
    size_t      mask;
} values;

static uint64_t table_size(int64_t n)
{
    uint64_t size = 2;
    while (size < 2 * (uint64_t)n) size *= 2;
    return size;
}

/* Working memory, in integers, for the values of n elements. */
static uint64_t values_room(int64_t n) { return table_size(n) + (uint64_t)n; }

static values values_in(eddy_dtype d, const void *x, int64_t n, int64_t *room,
                        const eddy_stop *stop)
{
    enum { PART = 1 << 16 };
    const size_t size = (size_t)table_size(n);
    for (size_t i = 0; i < size && !eddy__stopped(stop); i += PART)
        memset(room + i, 0xff, (size - i < PART ? size - i : PART) * sizeof *room);
    return (values){ d, x, n, 1, 1, 0, room + size, room, size - 1 };
}

/* The position of part p of element i. */
static int64_t part_at(const values *v, int64_t i, int64_t p)
{
    return (p / v->inner * v->n + i) * v->inner + p % v->inner;
}

/* Equal for equal elements; one that contains a NaN equals no other. */
static uint64_t hash_of(const values *v, int64_t i, bool *nan)
{
    uint64_t h = 0;
    *nan = false;
    for (int64_t p = 0; p < v->outer * v->inner; p++) {
        const int64_t at = part_at(v, i, p);
        *nan = *nan || is_nan_at(v->dtype, v->x, at);
        h = ((h ^ h >> 32) * 0x9e3779b97f4a7c15u) + key_of(v->dtype, v->x, at);
    }
    return h + (*nan ? (uint64_t)i : 0);
}

/* Whether elements i and j, of which i has no NaN, are equal. */
static bool are_equal(const values *v, int64_t i, int64_t j)
{
    for (int64_t p = 0; p < v->outer * v->inner; p++)
        if (key_of(v->dtype, v->x, part_at(v, i, p)) != key_of(v->dtype, v->x, part_at(v, j, p)))
            return false;
    return true;
}

/* The number of the value of element i. */
static int64_t number_of(values *v, int64_t i)
{
    bool     nan;
    uint64_t h = hash_of(v, i, &nan) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    for (size_t at = (size_t)(h ^ h >> 29) & v->mask;; at = (at + 1) & v->mask) {
        const int64_t other = v->table[at];
        if (other < 0) {
            v->first[v->found] = i;
            return v->table[at] = v->found++;
        }
        if (!nan && are_equal(v, i, v->first[other])) return other;
    }
}

/* The number of distinct values in a known array; false if memory is exhausted. */
static bool different(eddy_infer *c, const eddy_array *x, int64_t *found)
{
    const int64_t n = eddy_array_count(x);
    eddy_array *room = eddy_array_new(EDDY_INT64, EDDY_SHAPE((int64_t)values_room(n)));
    if (!room) return eddy_infer_fail(c, EDDY_NO_MEMORY, "out of memory");
    values v = values_in(eddy_array_dtype(x), eddy_array_data(x), n, eddy_array_data(room),
                         NULL);
    for (int64_t i = 0; i < n; i++) number_of(&v, i);
    eddy_array_free(room);
    *found = v.found;
    return true;
}

static bool unique_infer(eddy_infer *c)
{
    const select_attrs *a = c->attrs;
    const eddy_type    *x = &c->in[0];
    const int           own = (int)a->batch_dims;
    int64_t rows, found = EDDY_ANY;
    if (!eddy__infer_expects(c, "out_idx", a->out_idx, EDDY_TAKES_INDICES)) return false;
    if (!examples_fit(c)) return false;
    if (x->shape.rank >= 0 && x->shape.rank != own + 1)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "x has rank %d; rank 1 expected", x->shape.rank);
    if (c->value[0] && own == 0 && !different(c, c->value[0], &found)) return false;
    if (!rows_of(c, found, &rows)) return false;
    eddy_shape y = x->shape.rank < 0 ? eddy__shape_open(own + 1) : x->shape;
    eddy__infer_yield(c, 1, a->out_idx, y);
    eddy__infer_yield(c, 3, a->out_idx, eddy__shape_without(y, own));
    y.dim[own] = rows;
    eddy__infer_yield(c, 0, x->dtype, y);
    return eddy__infer_yield(c, 2, a->out_idx, y);
}

static eddy_status unique_prepare(eddy_kernel *k)
{
    const eddy_shape s = k->in[0]->type.shape;
    k->scratch_size = values_room(s.dim[s.rank - 1]) * sizeof(int64_t);
    return EDDY_OK;
}

/* Example e, which has n elements. */
static void unique_row(eddy_kernel *k, int64_t e, int64_t n)
{
    const select_attrs *a = k->attrs;
    const eddy_buffer  *x = k->in[0], *counts = k->out[2];
    const size_t        size = eddy_dtype_size(x->type.dtype);
    const char         *from = (const char *)x->data + (size_t)(e * n) * size;
    const int64_t       room = a->size > 0 ? a->size : n;
    values  v = values_in(x->type.dtype, from, n, k->scratch, k->stop);
    char   *y = (char *)k->out[0]->data + (size_t)(e * room) * size;
    for (int64_t i = 0; i < n && !eddy__stopped_at(k->stop, i); i++) {
        const int64_t before = v.found, id = number_of(&v, i);
        eddy__index_put(k->out[1], e * n + i, id < room ? id : -1);
        if (id >= room) continue;
        if (id == before) memcpy(y + (size_t)id * size, from + (size_t)i * size, size);
        eddy__index_put(counts, e * room + id,
                        id == before ? 1 : eddy__index_at(counts, e * room + id) + 1);
    }
    set_rows(k, 0, v.found);
    set_rows(k, 2, v.found);
    for (int64_t i = v.found; i < room && a->size > 0; i++) {
        memset(y + (size_t)i * size, 0, size);
        eddy__index_put(counts, e * room + i, 0);
    }
    eddy__index_put(k->out[3], e, v.found);
}

static eddy_status unique_kernel(eddy_kernel *k)
{
    const eddy_shape s = k->in[0]->type.shape;
    for (int64_t e = 0; e < k->out[3]->count; e++) unique_row(k, e, s.dim[s.rank - 1]);
    return EDDY_OK;
}

/* dy goes to the first element with each value. */
static void unique_gradient(eddy_rule *r)
{
    const select_attrs *a = r->attrs;
    const eddy_tensor idx = r->y[1], first = eddy_first_positions(idx);
    const eddy_tensor number = eddy_cumsum(OnesLike(first), -1, .exclusive = true);
    const eddy_tensor dy = eddy_gather(r->dy[0], idx, .axis = a->batch_dims,
                                       .batch_dims = a->batch_dims, .skip_negative = true);
    r->dx[0] = Where(Equal(first, number), dy, 0);
}

const eddy_op_def eddy_op_unique = {
    .name = "UniqueWithCounts", .label = "Unique", .min_inputs = 1, .max_inputs = 1, .outputs = 4,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_WIDE_NUMBERS | EDDY_TAKES_BOOLS }),
    .flags = EDDY_OP_DYNAMIC, .value_inputs = 1, .attrs_size = sizeof(select_attrs),
    .attrs = select_fields,
    .infer = unique_infer, .prepare = unique_prepare, .kernel = unique_kernel,
    .gradient = unique_gradient, .batch = select_batch, .settled = has_size,
};

/** y = the distinct elements of x, in order of their first occurrence.
 *
 *  x        bool, float32, float64, int32, int64 or uint8 [n]; every NaN is distinct
 *  size     the number of elements of y: the first ones, then zeros; default: as many as are
 *           found
 *  out_idx  type of the other outputs: int32 (default) or int64
 *
 *  The other outputs, eddy_output(y, i): 1, the index in y of each element of x, [n], -1 if
 *  it exceeds `size`; 2, the number of occurrences of each element of y, 0 for padding;
 *  3, the number of distinct elements, which may exceed `size`.
 *  Without a size, y has no padding; eddy_nonzero describes the consequences for a run.
 *  Errors: EDDY_BAD_DTYPE, EDDY_BAD_SHAPE or EDDY_INVALID_ARGUMENT for invalid arguments.
 *  Gradient: dx = dy for the first element of each value, 0 for others.
 *  TensorFlow: UniqueWithCounts, Unique. */
#ifdef EDDY_HEADER
typedef struct eddy_unique_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_unique_args));
    eddy_tensor x;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
    eddy_dtype  out_idx;
    const char *name;
} eddy_unique_args;
#endif
eddy_tensor eddy_unique_with(const eddy_unique_args *given)
{
    eddy_unique_args a = EDDY_TAKE(eddy_unique_args, given);
    select_attrs attrs = { .out_idx = a.out_idx ? a.out_idx : EDDY_INT32 };
    if (!eddy__attribute_count(a.x.graph, "unique: size", a.size, &attrs.size))
        return eddy_none(a.x.graph);
    return eddy__apply_named(a.name, &eddy_op_unique, &attrs, 1, &a.x);
}

/* ----------------------------------------------------------- first_equal -- */

typedef struct first_attrs {
    int64_t axis, batch_dims;
} first_attrs;

static bool first_equal_infer(eddy_infer *c)
{
    const first_attrs *a = c->attrs;
    const eddy_type   *x = &c->in[0];
    int axis;
    if (a->batch_dims < 0 || a->batch_dims >= EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "batch_dims = %lld is out of range",
                               (long long)a->batch_dims);
    eddy_shape y = eddy__shape_open((int)a->batch_dims + 1);
    if (x->shape.rank < 0) return eddy__infer_yield(c, 0, EDDY_INT64, y);
    if (!eddy__infer_axis(c, a->axis, x->shape.rank, &axis)) return false;
    if (axis < a->batch_dims)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "axis = %d is one of the %lld batch dimensions", axis,
                               (long long)a->batch_dims);
    for (int i = 0; i < y.rank; i++) y.dim[i] = x->shape.dim[i < a->batch_dims ? i : axis];
    return eddy__infer_yield(c, 0, EDDY_INT64, y);
}

static eddy_status first_equal_prepare(eddy_kernel *k)
{
    const first_attrs *a = k->attrs;
    const eddy_shape   y = k->out[0]->type.shape;
    k->scratch_size = values_room(y.dim[a->batch_dims]) * sizeof(int64_t);
    return EDDY_OK;
}

static eddy_status first_equal_kernel(eddy_kernel *k)
{
    const first_attrs *a = k->attrs;
    const eddy_shape   s = k->in[0]->type.shape;
    const int          own = (int)a->batch_dims, axis = eddy__axis_of(a->axis, s.rank);
    const int64_t      n = s.dim[axis], examples = eddy__shape_product(s, 0, own);
    const size_t       bytes = (size_t)eddy__shape_product(s, own, s.rank) *
                               eddy_dtype_size(k->in[0]->type.dtype);
    const char        *x = k->in[0]->data;
    int64_t           *y = k->out[0]->data;
    for (int64_t e = 0; e < examples; e++, x += bytes) {
        values v = values_in(k->in[0]->type.dtype, x, n, k->scratch, k->stop);
        v.outer = eddy__shape_product(s, own, axis);
        v.inner = eddy__shape_product(s, axis + 1, s.rank);
        for (int64_t i = 0; i < n && !eddy__stopped_at(k->stop, i); i++)
            *y++ = v.first[number_of(&v, i)];
    }
    return EDDY_OK;
}

static void first_equal_batch(eddy_batch *b)
{
    first_attrs a = *(const first_attrs *)b->attrs;
    if (a.batch_dims == EDDY_MAX_RANK - 1) return;
    a.axis = eddy__batch_axis(a.axis);
    a.batch_dims++;
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_first_equal = {
    .name = "FirstEqual", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_ORDERED }),
    .attrs_size = sizeof(first_attrs), .attrs = EDDY_ATTRS(first_attrs, axis, batch_dims),
    .infer = first_equal_infer, .prepare = first_equal_prepare, .kernel = first_equal_kernel,
    .gradient = eddy_not_differentiable, .batch = first_equal_batch,
};

/** y[i] = the first index along `axis` at which x equals x at index i: int64 [n].
 *
 *  x     bool, float32, float64, int32, int64 or uint8, rank at least 1; a slice that contains
 *        a NaN equals no other
 *  axis  -rank <= axis < rank
 *
 *  Errors: EDDY_BAD_DTYPE for other element types, EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: none.  NumPy: unique(return_index, return_inverse, axis). */
eddy_tensor eddy_first_equal(eddy_tensor x, int64_t axis)
{
    return eddy_apply1(&eddy_op_first_equal, &(first_attrs){ .axis = axis }, x);
}

/** y = the distinct slices of x along `axis`, for example rows, in order of their first
 *  occurrence.
 *
 *  x        as for eddy_first_equal
 *  axis     -rank <= axis < rank; default: 0
 *  size     the number of slices of y: the first ones, then zeros; default: as many as are found
 *  out_idx  type of the other outputs: int32 (default) or int64
 *
 *  The other outputs, eddy_output(y, i), are those of eddy_unique: 1, the index in y of each
 *  slice of x; 2, the number of occurrences of each slice of y; 3, the number of distinct slices.
 *  Without a size, y has no padding; eddy_nonzero describes the consequences for a run.
 *  Errors: those of eddy_first_equal and of eddy_unique.
 *  Gradient: dx = dy for the first occurrence of each slice, 0 for others.
 *  TensorFlow: UniqueV2, UniqueWithCountsV2. */
#ifdef EDDY_HEADER
typedef struct eddy_unique_along_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_unique_along_args));
    eddy_tensor x;
    int64_t     axis;
    int64_t     size EDDY_DEFAULT(EDDY_OMITTED);
    eddy_dtype  out_idx;
    const char *name;
} eddy_unique_along_args;
#endif
eddy_tensor eddy_unique_along_with(const eddy_unique_along_args *given)
{
    eddy_unique_along_args a = EDDY_TAKE(eddy_unique_along_args, given);
    const eddy_tensor first = eddy_unique(eddy_first_equal(a.x, a.axis), a.size, a.out_idx);
    const eddy_tensor number = eddy_output(first, 1), count = eddy_output(first, 2);
    const eddy_tensor at = a.size > 0 ? Where(Equal(count, 0), -1, first) : first;
    const eddy_tensor y = eddy_gather(a.x, at, a.axis, .skip_negative = true);
    const eddy_tensor all = eddy_identity_n(EDDY_LIST(y, number, count, eddy_output(first, 3)), 4);
    return a.name ? eddy_named(a.name, all) : all;
}
