/* searchsorted.c -- binary search in sorted rows (searchsorted), and the inverse of a
 * permutation. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* ---------------------------------------------------------- searchsorted -- */

typedef struct search_attrs {
    bool       right;
    eddy_dtype out_type;
} search_attrs;


#define TEMPLATE "ops/kernels/arrays/searchsorted_loops.h"
#define TYPES    FOR_NUMBERS
#include "ops/kernels/for_types.h"

typedef int64_t search_fn(const void *row, int64_t n, const void *v, bool right);

static bool search_infer(eddy_infer *c)
{
    const search_attrs *a = c->attrs;
    const eddy_type    *rows = &c->in[0], *v = &c->in[1];
    char s[128], t[128];
    if (!eddy__infer_expects(c, "out_type", a->out_type, EDDY_TAKES_INDICES)) return false;
    const int64_t n = rows->shape.rank > 0 ? rows->shape.dim[rows->shape.rank - 1] : EDDY_ANY;
    if (a->out_type == EDDY_INT32 && n > INT32_MAX)
        return eddy_infer_fail(c, EDDY_LIMIT, "rows have %lld elements, too many for int32",
                               (long long)n);
    eddy_shape y = v->shape;
    bool fits = rows->shape.rank != 0 && y.rank != 0 &&
                (rows->shape.rank < 0 || y.rank < 0 || rows->shape.rank == y.rank);
    for (int i = 0; fits && rows->shape.rank >= 0 && i + 1 < y.rank; i++)
        fits = eddy__dim_unify(&y.dim[i], rows->shape.dim[i]);
    if (!fits)
        return eddy_infer_fail(
            c, EDDY_BAD_SHAPE, "the sorted rows have shape %s, which does not match the values, %s",
            eddy_shape_print(rows->shape, s, sizeof s), eddy_shape_print(v->shape, t, sizeof t));
    return eddy__infer_yield(c, 0, a->out_type, y);
}

/* Values [from, to). */
static void search_values(void *arg, int64_t from, int64_t to, int worker)
{
    const eddy_kernel  *k = arg;
    const search_attrs *a = k->attrs;
    const eddy_shape    rows = k->in[0]->type.shape, v = k->in[1]->type.shape;
    const int64_t       n = rows.dim[rows.rank - 1], m = v.dim[v.rank - 1];
    const size_t        size = eddy_dtype_size(k->in[0]->type.dtype);
    search_fn          *search = EDDY_FOR_TYPE(search, FOR_NUMBERS, k->in[0]->type.dtype);
    (void)worker;
    for (int64_t i = from; i < to; i++) {
        const int64_t at = search((const char *)k->in[0]->data + (size_t)(i / m * n) * size, n,
                                  (const char *)k->in[1]->data + (size_t)i * size, a->right);
        eddy__whole_put(a->out_type, k->out[0]->data, i, at);
    }
}

static eddy_status search_kernel(eddy_kernel *k)
{
    eddy__parallel_or_stop(k, k->out[0]->count, 512, search_values, k);
    return EDDY_OK;
}

const eddy_op_def eddy_op_searchsorted = {
    .name = "SearchSorted", .label = "searchsorted", .min_inputs = 2, .max_inputs = 2,
    .outputs = 1, .attrs_size = sizeof(search_attrs),
    .attrs = EDDY_ATTRS(search_attrs, right, out_type),
    .inputs = EDDY_INPUTS({ "sorted", EDDY_TAKES_NUMBERS }, { "values", EDDY_LIKE(0) }),
    .infer = search_infer, .kernel = search_kernel, .gradient = eddy_not_differentiable,
    .batch = eddy_batch_as_is,
};

/** y = the index at which each value can be inserted into its sorted row.
 *
 *  sorted_sequence  float32, float64, int32, int64 or uint8, [..., n], each row in ascending
 *                   order
 *  values           same type, [..., m], with the same leading dimensions
 *  right            inserts after equal elements; default before them
 *  out_type         int32 (default) or int64
 *
 *  For rows that are not sorted or contain NaN, the result is some index in [0, n].
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match.
 *  Gradient: none.  TensorFlow: LowerBound, UpperBound. */
#ifdef EDDY_HEADER
typedef struct eddy_searchsorted_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_searchsorted_args));
    eddy_tensor sorted_sequence;
    eddy_tensor values;
    bool        right;
    eddy_dtype  out_type;
    const char *name;
} eddy_searchsorted_args;
#endif
eddy_tensor eddy_searchsorted_with(const eddy_searchsorted_args *given)
{
    eddy_searchsorted_args a = EDDY_TAKE(eddy_searchsorted_args, given);
    const search_attrs attrs = { a.right, a.out_type ? a.out_type : EDDY_INT32 };
    return eddy__apply_named(a.name, &eddy_op_searchsorted, &attrs, 2,
                             (eddy_tensor[]){ a.sorted_sequence, a.values });
}

/* ---------------------------------------------------- invert_permutation -- */

static bool invert_infer(eddy_infer *c)
{
    if (c->in[0].shape.rank == 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "a scalar is not a permutation");
    return eddy__infer_yield(c, 0, c->in[0].dtype, c->in[0].shape);
}

static eddy_status invert_kernel(eddy_kernel *k)
{
    const eddy_buffer *x = k->in[0], *y = k->out[0];
    const eddy_shape   s = x->type.shape;
    const int64_t      n = s.dim[s.rank - 1];
    const eddy_status  status = eddy__check_indices(k, x, n, false);
    if (status != EDDY_OK || y->count == 0) return status;
    memset(y->data, 0xff, (size_t)y->count * eddy_dtype_size(y->type.dtype));
    for (int64_t i = 0; i < x->count; i++) {
        const int64_t at = i - i % n + eddy__index_at(x, i);
        if (eddy__index_at(y, at) >= 0)
            return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "%lld is duplicated in the input",
                                    (long long)eddy__index_at(x, i));
        eddy__index_put(y, at, i % n);
    }
    return EDDY_OK;
}

const eddy_op_def eddy_op_invert_permutation = {
    .name = "InvertPermutation", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_INDICES }),
    .infer = invert_infer, .kernel = invert_kernel, .gradient = eddy_not_differentiable,
    .batch = eddy_batch_as_is,
};

/** y[x[i]] = i: the inverse of a permutation of 0, 1, ..., n-1, for each row.
 *
 *  x  int32 or int64 [..., n]
 *
 *  Errors: EDDY_BAD_SHAPE for a scalar; at run time, EDDY_OUT_OF_RANGE for a number outside [0,
 *  n), EDDY_INVALID_ARGUMENT for a repeated number.
 *  Gradient: none.  TensorFlow: InvertPermutation. */
eddy_tensor eddy_invert_permutation(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_invert_permutation, NULL, x);
}
