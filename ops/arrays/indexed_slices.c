/* indexed_slices.c -- IndexedSlices, a sparse gradient: rows and the indices of these rows in the
 * dense tensor.
 *
 * IndexedSlices is an ordinary operation whose value is the dense tensor. Code that can use the
 * sparse form recognizes the node and takes its two inputs instead; the dense value is then never
 * computed. */
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/fusion_targets.h"

#include <string.h>

EDDY_FUSION_TARGETS(&eddy_op_inplace_add)

/* -------------------------------------------------------- indexed_slices -- */

typedef struct slices_attrs {
    eddy_shape dense_shape;      /* unknown rank: that of input 2, or missing */
    bool       skip_negative;    /* optimizers, too, skip rows with a negative index */
} slices_attrs;

/* values [n,tail...] and indices [n]; merges the known numbers of rows of both into *n and
 * *values. */
static bool rows_are_valid(eddy_infer *c, eddy_shape *values, int64_t *n)
{
    const eddy_shape indices = c->in[1].shape;
    *values = c->in[0].shape;
    *n = indices.rank < 0 ? EDDY_ANY : indices.dim[0];
    if (values->rank < 0) return true;
    if (!eddy__dim_unify(n, values->dim[0]))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "the number of rows of values is %lld, but the number of indices is "
                               "%lld",
                               (long long)values->dim[0], (long long)*n);
    values->dim[0] = *n;
    return true;
}

static bool slices_infer(eddy_infer *c)
{
    const slices_attrs *a = c->attrs;
    eddy_shape dense = c->n_in == 3 ? c->in[2].shape : a->dense_shape, values;
    int64_t n;
    if (!rows_are_valid(c, &values, &n)) return false;
    /* The attributes are fixed only by a run, which needs the dense value. */
    if (c->attrs_fixed && c->n_in < 3 && !eddy_shape_is_known(dense))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "Tensor conversion requested for IndexedSlices without dense_shape");
    if (values.rank >= 0 && dense.rank < 0) {
        dense = values;
        dense.dim[0] = EDDY_ANY;
    }
    bool fits = values.rank < 0 || dense.rank == values.rank;
    for (int i = 1; fits && i < values.rank; i++)
        fits = eddy__dim_unify(&dense.dim[i], values.dim[i]);
    if (!fits || dense.rank == 0) {
        char text[128];
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the values are not rows of a tensor of shape %s",
                               eddy_shape_print(dense, text, sizeof text));
    }
    return eddy__infer_yield(c, 0, c->in[0].dtype, dense);
}

static eddy_status slices_kernel(eddy_kernel *k)
{
    const eddy_buffer *values = k->in[0], *indices = k->in[1], *y = k->out[0];
    const eddy_shape   s = y->type.shape;
    const int64_t      inner = eddy__shape_product(s, 1, s.rank);
    const size_t       size = eddy_dtype_size(y->type.dtype), bytes = (size_t)inner * size;
    const eddy_row_fn  add = eddy__row_add(y->type.dtype);
    eddy_status        status = eddy__check_indices(k, indices, s.dim[0], true);
    if (status != EDDY_OK || y->count == 0) return status;
    memset(y->data, 0, (size_t)y->count * size);
    for (int64_t i = 0; i < indices->count; i++) {
        const int64_t at = eddy__index_at(indices, i);
        if (at >= 0)
            add(inner, (char *)y->data + (size_t)at * bytes,
                (const char *)values->data + (size_t)i * bytes);
    }
    return EDDY_OK;
}

static void slices_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_gather(r->dy[0], r->x[1], .skip_negative = true);
}

/* Computes the dense tensors. */
static void slices_batch(eddy_batch *b)
{
    const bool each = b->batched[1];
    b->y[0] = eddy_gather_grad(each ? eddy_batch_input(b, 0) : b->x[0], b->x[1],
                               eddy__batch_result_like(b), .axis = 1, .skip_negative = true,
                               .batch_dims = each);
}

const eddy_op_def eddy_op_indexed_slices = {
    .name = "IndexedSlices", .min_inputs = 2, .max_inputs = 3, .outputs = 1,
    .flags = EDDY_OP_SLICES,
    .inputs = EDDY_INPUTS({ "values", EDDY_TAKES_NUMBERS_COMPLEX | EDDY_RANK_FROM(1) },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "like", EDDY_ANY_TYPE }),
    .shape_inputs = 1u << 2, .attrs_size = sizeof(slices_attrs),
    .attrs = EDDY_ATTRS(slices_attrs, dense_shape, skip_negative), .flops = eddy_flops_per_input,
    .infer = slices_infer, .kernel = slices_kernel, .gradient = slices_gradient,
    .batch = slices_batch,
};

/* The slices, with the shape of `like` or of the attributes.  If values are slices
 * themselves, their row i is the sum of rows that go to indices[i], so these rows
 * are added there directly. */
static eddy_tensor make_slices(eddy_tensor values, eddy_tensor indices, const eddy_tensor *like,
                               slices_attrs a)
{
    eddy_tensor inner, at;
    while (eddy_slices_parts(values, &inner, &at)) {
        a.skip_negative = a.skip_negative || eddy_slices_skip_negative(values);
        values = inner;
        indices = Where(Less(at, 0), -1, eddy_gather(indices, at, .skip_negative = true));
    }
    return eddy_apply(&eddy_op_indexed_slices, &a, like ? 3 : 2,
                      (eddy_tensor[]){ values, indices, like ? *like : values },
                      (eddy_apply_args){ .name = NULL });
}

/** A sparse tensor: zeros like `like`, with values[i] added to row indices[i].
 *
 *  values   any numeric type except float16 and bfloat16, [n,tail...]
 *  indices  int32 or int64 [n]; rows of repeated indices are summed, negative ones are dropped
 *  like     [rows,tail...]; only its shape is used; it is not computed.
 *           EDDY_NO_TENSOR leaves the shape unspecified: see below
 *
 *  Optimizers, clipping and the sum of gradients use values and indices
 *  directly; any other operation gets the dense tensor.  In an optimizer, a negative
 *  index is an error at run time, EDDY_OUT_OF_RANGE, unless the slices come from
 *  eddy_gather with .skip_negative or through eddy_slices_padded.  Without a shape there is
 *  no dense tensor: a run that needs it fails with "Tensor conversion requested
 *  for IndexedSlices without dense_shape".  If values are slices themselves,
 *  they are unpacked, and their indices are looked up in `indices`.
 *  Errors: EDDY_BAD_SHAPE if the shapes do not match; at run time, EDDY_OUT_OF_RANGE for an index
 *  that is `rows` or more.
 *  Gradient: d values = dy gathered at indices; the others have none.
 *  TensorFlow: IndexedSlices, converted by UnsortedSegmentSum. */
eddy_tensor eddy_indexed_slices(eddy_tensor values, eddy_tensor indices, eddy_tensor like)
{
    const bool open = !like.graph && like.node == 0;
    return make_slices(values, indices, open ? NULL : &like,
                       (slices_attrs){ EDDY_UNKNOWN_SHAPE, false });
}

/** A sparse tensor like eddy_indexed_slices, with the shape `dense_shape`.
 *
 *  values, indices  as for eddy_indexed_slices
 *  dense_shape      [rows,tail...]; unless fully known, it counts as missing
 *                   when the dense tensor is needed
 *
 *  Errors, Gradient: as for eddy_indexed_slices.  TensorFlow: IndexedSlices. */
eddy_tensor eddy_indexed_slices_of(eddy_tensor values, eddy_tensor indices, eddy_shape dense_shape)
{
    return make_slices(values, indices, NULL, (slices_attrs){ dense_shape, false });
}

/** Whether t is the output of IndexedSlices; if so, *values and *indices are its inputs.
 *
 *  t        any tensor, also an invalid one
 *  values,  may be NULL; unchanged if the result is false
 *  indices */
bool eddy_slices_parts(eddy_tensor t, eddy_tensor *values, eddy_tensor *indices)
{
    const eddy_node *node = eddy_node_of(t);
    if (!node || !(node->op->flags & EDDY_OP_SLICES)) return false;
    if (values) *values = node->inputs[0];
    if (indices) *indices = node->inputs[1];
    return true;
}

/** Whether t is slices whose negative indices are skipped, as are those that
 *  come from eddy_gather with .skip_negative. */
bool eddy_slices_skip_negative(eddy_tensor t)
{
    return eddy_slices_parts(t, NULL, NULL) &&
           ((const slices_attrs *)eddy_node_of(t)->attrs)->skip_negative;
}

/* Slices with other values and indices, but with the dense shape of t, which is slices or dense. */
static eddy_tensor slices_like(eddy_tensor t, eddy_tensor values, eddy_tensor indices, bool skip)
{
    const eddy_node *node = eddy_node_of(t);
    if (!eddy_slices_parts(t, NULL, NULL))
        return make_slices(values, indices, &t, (slices_attrs){ EDDY_UNKNOWN_SHAPE, skip });
    return make_slices(values, indices, node->n_inputs == 3 ? &node->inputs[2] : NULL,
                       (slices_attrs){ ((const slices_attrs *)node->attrs)->dense_shape, skip });
}

/** The same slices, where rows with a negative index are padding and are skipped.
 *
 *  slices  an output of IndexedSlices
 *
 *  Optimizers then skip negative indices, which are otherwise an error.
 *  Errors: EDDY_INVALID_ARGUMENT if slices is any other tensor.
 *  Gradient: as for eddy_indexed_slices.  TensorFlow: none. */
eddy_tensor eddy_slices_padded(eddy_tensor slices)
{
    eddy_tensor values, indices;
    if (!eddy_is_valid(slices)) return slices;
    if (!eddy_slices_parts(slices, &values, &indices))
        return eddy_fail(slices.graph, EDDY_INVALID_ARGUMENT,
                         "slices_padded: '%s' is not an IndexedSlices", eddy_name_of(slices));
    return slices_like(slices, values, indices, true);
}

/** Slices with the indices and the dense shape of `slices`, and other values.
 *
 *  slices  an output of IndexedSlices
 *  values  same shape as the values of slices
 *
 *  Errors: EDDY_INVALID_ARGUMENT if slices is any other tensor; as for eddy_indexed_slices.
 *  Gradient: as for eddy_indexed_slices.  TensorFlow: IndexedSlices. */
eddy_tensor eddy_slices_with_values(eddy_tensor slices, eddy_tensor values)
{
    eddy_tensor indices;
    if (!eddy_is_valid(slices)) return slices;
    if (!eddy_slices_parts(slices, NULL, &indices))
        return eddy_fail(slices.graph, EDDY_INVALID_ARGUMENT,
                         "slices_with_values: '%s' is not an IndexedSlices",
                         eddy_name_of(slices));
    return slices_like(slices, values, indices, eddy_slices_skip_negative(slices));
}

/* ------------------------------------------------- duplicates, by hashing -- */

/* Positions in each row of the last axis of the indices. */
static int64_t row_length(const eddy_buffer *indices)
{
    const eddy_shape s = indices->type.shape;
    return s.dim[s.rank - 1];
}

/* Open addressing over positions, with at least twice as many slots as indices. */
static uint64_t table_places(int64_t n)
{
    uint64_t places = 2;
    while (places < 2 * (uint64_t)n) places *= 2;
    return places;
}

static eddy_status table_prepare(eddy_kernel *k)
{
    k->scratch_size = table_places(row_length(k->in[k->n_in > 1])) * sizeof(int64_t);
    return EDDY_OK;
}

static void table_clear(eddy_kernel *k) { memset(k->scratch, 0xff, (size_t)k->scratch_size); }

/* The first position whose index is that of position i, which is then inserted. */
static int64_t first_position(eddy_kernel *k, const eddy_buffer *indices, int64_t i)
{
    int64_t       *table = k->scratch;
    const uint64_t mask = k->scratch_size / sizeof *table - 1;
    const int64_t  v = eddy__index_at(indices, i);
    uint64_t       h = (uint64_t)v * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    for (uint64_t at = (h ^ h >> 29) & mask;; at = (at + 1) & mask) {
        if (table[at] < 0) return table[at] = i;
        if (eddy__index_at(indices, table[at]) == v) return table[at];
    }
}

/** y[i] = the first position j at which indices[j] equals indices[i].
 *
 *  indices  int32 or int64 [n], or [...,n], where each row is independent; y is
 *           int64, of the same shape
 *
 *  Errors: EDDY_BAD_DTYPE for other element types, EDDY_BAD_SHAPE for a scalar.
 *  Gradient: none.  TensorFlow: part of Unique. */
static bool first_positions_infer(eddy_infer *c)
{
    const eddy_shape s = c->in[0].shape;
    return eddy__infer_yield(c, 0, EDDY_INT64, s);
}

static eddy_status first_positions_kernel(eddy_kernel *k)
{
    int64_t      *y = k->out[0]->data;
    const int64_t count = k->in[0]->count, n = row_length(k->in[0]);
    for (int64_t row = 0; row < count; row += n) {
        table_clear(k);
        for (int64_t i = row; i < row + n; i++) y[i] = first_position(k, k->in[0], i) - row;
    }
    return EDDY_OK;
}

const eddy_op_def eddy_op_first_positions = {
    .name = "FirstPositions", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "indices", EDDY_TAKES_INDICES | EDDY_RANK_FROM(1) }),
    .infer = first_positions_infer, .prepare = table_prepare, .kernel = first_positions_kernel,
    .gradient = eddy_not_differentiable, .batch = eddy_batch_as_is,
};

eddy_tensor eddy_first_positions(eddy_tensor indices)
{
    return eddy_apply1(&eddy_op_first_positions, NULL, indices);
}

/** y0 = values with all rows of equal index added to the first of them, and 0 in the others;
 *  y1 = indices with -1 in place of the repeated ones.
 *
 *  values   any numeric type except float16 and bfloat16, [n,tail...]
 *  indices  int32 or int64 [n]
 *
 *  Returns output 0; eddy_output(y, 1) is the other.  The rows keep their positions,
 *  so the shapes are those of the inputs; the time is linear in n.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the inputs do not match.
 *  Gradient: d values[i] = dy at the first position of indices[i]; the others
 *  have none.  TensorFlow: Unique and UnsortedSegmentSum. */
static bool sum_duplicates_infer(eddy_infer *c)
{
    eddy_shape values;
    int64_t n;
    if (!rows_are_valid(c, &values, &n)) return false;
    eddy__infer_yield(c, 0, c->in[0].dtype, values);
    return eddy__infer_yield(c, 1, c->in[1].dtype, EDDY_SHAPE(n));
}

/* Checks that all indices are rows of input 2, if it is given and its rows are known. */
static eddy_status rows_exist(eddy_kernel *k)
{
    const eddy_shape s = k->n_in == 3 ? k->in[2]->type.shape : EDDY_UNKNOWN_SHAPE;
    if (s.rank < 1 || s.dim[0] < 0) return EDDY_OK;
    return eddy__check_indices(k, k->in[1], s.dim[0], false);
}

static eddy_status sum_duplicates_kernel(eddy_kernel *k)
{
    const eddy_buffer *values = k->out[0], *indices = k->in[1], *unique = k->out[1];
    const int64_t n = indices->count, inner = n > 0 ? values->count / n : 0;
    const size_t  size = eddy_dtype_size(values->type.dtype), bytes = (size_t)inner * size;
    const eddy_row_fn add = eddy__row_add(values->type.dtype);
    const eddy_status status = rows_exist(k);
    if (status != EDDY_OK) return status;
    if (values->data != k->in[0]->data && values->count > 0)
        memcpy(values->data, k->in[0]->data, (size_t)values->count * size);
    table_clear(k);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = first_position(k, indices, i);
        const int64_t v = first == i ? eddy__index_at(indices, i) : -1;
        eddy__index_put(unique, i, v);
        if (first == i || bytes == 0) continue;
        char *row = (char *)values->data + (size_t)i * bytes;
        add(inner, (char *)values->data + (size_t)first * bytes, row);
        memset(row, 0, bytes);
    }
    return EDDY_OK;
}

static void sum_duplicates_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_gather(r->dy[0], eddy_first_positions(r->x[1]));
}

/* Each row is added to the first with its index, as in the gradient of a gather. */
static void sum_duplicates_batch(eddy_batch *b)
{
    const bool each = b->batched[1];
    if (b->n_in == 3) return;                    /* the check of the indices is in the loop */
    const eddy_tensor values = eddy_batch_input(b, 0), indices = b->x[1];
    const eddy_tensor first = eddy_first_positions(indices);
    b->y[0] = eddy_gather_grad(values, first, values, .axis = 1, .batch_dims = each);
    const eddy_tensor own = eddy_row_numbers(b->node->inputs[1], EDDY_INT64);
    b->y[1] = Where(eddy_equal(first, own), indices, -1);
    if (!each) b->y[1] = eddy_batch_like(b->y[1], b->examples);
}

const eddy_op_def eddy_op_sum_duplicates = {
    .name = "SumDuplicates", .min_inputs = 2, .max_inputs = 3, .outputs = 2,
    .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "values", EDDY_TAKES_NUMBERS_COMPLEX | EDDY_RANK_FROM(1) },
                          { "indices", EDDY_TAKES_INDICES | EDDY_RANK(1) },
                          { "var", EDDY_RANK_FROM(1) }),
    .shape_inputs = 1u << 2, .flops = eddy_flops_per_input, .infer = sum_duplicates_infer,
    .prepare = table_prepare, .kernel = sum_duplicates_kernel, .gradient = sum_duplicates_gradient,
    .batch = sum_duplicates_batch,
};

eddy_tensor eddy_slices_sum_duplicates(eddy_tensor values, eddy_tensor indices)
{
    return eddy_apply2(&eddy_op_sum_duplicates, NULL, values, indices);
}

/** Like eddy_slices_sum_duplicates, for rows that update `var`: each index must be one of its rows.
 *
 *  values, indices  as for eddy_slices_sum_duplicates
 *  var              rank at least 1; only its shape is used; it is not computed
 *
 *  Errors: as for eddy_slices_sum_duplicates; at run time, EDDY_OUT_OF_RANGE for an index
 *  outside [0, rows of var).
 *  Gradient: as for eddy_slices_sum_duplicates.  TensorFlow: Unique, UnsortedSegmentSum and the
 *  check of the scatter. */
eddy_tensor eddy_slices_sum_duplicates_of(eddy_tensor values, eddy_tensor indices, eddy_tensor var)
{
    return eddy_apply(&eddy_op_sum_duplicates, NULL, 3, (eddy_tensor[]){ values, indices, var },
                      (eddy_apply_args){ .name = NULL });
}

/* ------------------------------------------------------------------- add -- */

/* The indices are int64 if those of any term are. */
static eddy_dtype widest_index(eddy_list terms)
{
    eddy_tensor indices;
    for (int i = 0; i < terms.count; i++)
        if (eddy_slices_parts(terms.at[i], NULL, &indices) && eddy_dtype_of(indices) == EDDY_INT64)
            return EDDY_INT64;
    return EDDY_INT32;
}

/* A term as rows and their indices; a dense term has all its rows. */
static void term_parts(eddy_tensor term, eddy_dtype index, eddy_tensor *values,
                       eddy_tensor *indices)
{
    if (!eddy_slices_parts(term, values, indices)) {
        *values = term;
        *indices = eddy_row_numbers(term, index);
    }
    if (eddy_dtype_of(*indices) != index) *indices = eddy_cast(*indices, index);
}

/** The sum of several gradients as slices: the rows of all terms, one term after the other.
 *
 *  terms  at least one, all of one element type and shape; slices, or dense tensors,
 *         which become slices of all their rows
 *
 *  Rows of equal index are not summed.  Indices are int64 if those of one
 *  term are.  The dense shape is that of the first term.
 *  Without terms there is no graph: the result is EDDY_NO_TENSOR, and no error is
 *  recorded.
 *  Errors: as for eddy_concat.
 *  Gradient: as for eddy_concat and eddy_indexed_slices.
 *  TensorFlow: the sum that gradients() builds if one of the terms is sparse. */
eddy_tensor eddy_slices_add(eddy_list terms)
{
    if (terms.count < 1 || !terms.at) return EDDY_NO_TENSOR;
    const eddy_tensor first = terms.at[0];
    if (!eddy_is_valid(first)) return first;
    const eddy_dtype      index = widest_index(terms);
    const eddy_allocator *memory = eddy__graph_allocator(first.graph);
    const size_t          count = (size_t)terms.count, bytes = 2 * count * sizeof(eddy_tensor);
    eddy_tensor *values = eddy__allocate(memory, bytes);
    if (!values)
        return eddy_fail(first.graph, EDDY_NO_MEMORY, "slices_add: out of memory for %d terms",
                         terms.count);
    for (size_t i = 0; i < count; i++)
        term_parts(terms.at[i], index, &values[i], &values[count + i]);
    eddy_tensor sum = first;
    bool        skip = false;
    for (int i = 0; i < terms.count; i++) skip = skip || eddy_slices_skip_negative(terms.at[i]);
    if (count > 1 || !eddy_slices_parts(first, NULL, NULL))
        sum = slices_like(first, eddy_concat((eddy_list){ terms.count, values }, 0),
                          eddy_concat((eddy_list){ terms.count, values + count }, 0), skip);
    eddy__release(memory, values, bytes);
    return sum;
}
