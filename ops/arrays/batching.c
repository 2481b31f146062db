/* batching.c -- batching (vmap) rules: helpers shared by the rules of all operations, and the
 * four operations that add and remove the batch axis. */
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

/* --------------------------------------------------------------- example -- */

/** y = x[0]: one example that represents the whole batch; zeros if the batch is empty.
 *
 *  x  any element type, rank at least 1
 *
 *  eddy_vmap evaluates whatever is built from y for all examples at once.
 *  Gradient: dy at example 0.  TensorFlow: none; its pfor traces a loop index. */
static bool example_infer(eddy_infer *c)
{
    const eddy_type *x = &c->in[0];
    return eddy__infer_yield(c, 0, x->dtype,
                             x->shape.rank < 0 ? x->shape : eddy__shape_without(x->shape, 0));
}

static eddy_status example_kernel(eddy_kernel *k)
{
    const size_t bytes = (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype);
    if (bytes == 0) return EDDY_OK;
    if (k->in[0]->count > 0) memcpy(k->out[0]->data, k->in[0]->data, bytes);
    else memset(k->out[0]->data, 0, bytes);
    return EDDY_OK;
}

/* dy goes to row 0; with row -1, when there is no example, it goes nowhere. */
static void example_gradient(eddy_rule *r)
{
    eddy_tensor n = eddy_size(eddy_row_numbers(r->x[0], EDDY_INT64), EDDY_INT64);
    eddy_tensor row = eddy_expand_dims(Sub(Minimum(n, 1), 1), 0);
    r->dx[0] = eddy_indexed_slices(eddy_expand_dims(r->dy[0], 0), row, r->x[0]);
}

static void example_batch(eddy_batch *b)
{
    b->y[0] = eddy_example(eddy__batch_swap(b->x[0], 0, 1));
}

const eddy_op_def eddy_op_example = {
    .name = "Example", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_RANK_FROM(1) }),
    .infer = example_infer, .kernel = example_kernel, .gradient = example_gradient,
    .batch = example_batch,
};

eddy_tensor eddy_example(eddy_tensor x) { return eddy_apply1(&eddy_op_example, NULL, x); }

/* ------------------------------------------------------------ batch_like -- */

/** y[n] = x for each n: x repeated along a new axis 0, which has the length of axis 0 of `ref`.
 *
 *  x    any element type and shape
 *  ref  rank at least 1; only the length of its axis 0 is used; it is not computed
 *
 *  Gradient: dx = dy summed over axis 0; `ref` has none.  TensorFlow: BroadcastTo. */
static bool batch_like_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape, ref = c->in[1].shape;
    if (x.rank == EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x.rank + 1, EDDY_MAX_RANK);
    const int64_t n = ref.rank < 0 ? EDDY_ANY : ref.dim[0];
    return eddy__infer_yield(c, 0, c->in[0].dtype, x.rank < 0 ? x : eddy__shape_with(x, 0, n));
}

static eddy_status batch_like_prepare(eddy_kernel *k)
{
    eddy_box *b = eddy__box_state(k);
    if (!b) return EDDY_NO_MEMORY;
    eddy__box_add(b, k->out[0]->type.shape.dim[0], k->in[0]->count, 0);
    eddy__box_add(b, k->in[0]->count, 1, 1);
    return EDDY_OK;
}

static void batch_like_gradient(eddy_rule *r) { r->dx[0] = eddy_sum(r->dy[0], EDDY_AXES(0)); }

/* The batch axis stays in front: [B, ...] becomes [B, N, ...]. */
static void batch_like_batch(eddy_batch *b)
{
    b->y[0] = eddy_broadcast_like(eddy_expand_dims(b->x[0], 1), eddy__batch_result_like(b));
}

const eddy_op_def eddy_op_batch_like = {
    .name = "BatchLike", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .shape_inputs = 1u << 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_ANY_TYPE }, { "ref", EDDY_RANK_FROM(1) }),
    .flags = EDDY_OP_MOVES, .infer = batch_like_infer, .prepare = batch_like_prepare,
    .kernel = eddy__box_copy_kernel,
    .gradient = batch_like_gradient, .batch = batch_like_batch,
};

eddy_tensor eddy_batch_like(eddy_tensor x, eddy_tensor ref)
{
    return eddy_apply2(&eddy_op_batch_like, NULL, x, ref);
}

/* ------------------------------------------------------------ basis_like -- */

/** y[i] = the unit vector with the shape of x whose element i is 1, for each i.
 *
 *  x  a floating-point, complex or integer element type, rank below 8; only its type
 *     and shape are used; it is not computed
 *
 *  y has the shape [number of elements of x, ...x]; for a vector x, the identity matrix.
 *  Errors: EDDY_LIMIT if x has rank 8.
 *  Not differentiable.  TensorFlow: Eye, reshaped. */
static bool basis_like_infer(eddy_infer *c)
{
    const eddy_shape x = c->in[0].shape;
    if (x.rank == EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x.rank + 1, EDDY_MAX_RANK);
    int64_t n = eddy_shape_count(x);
    return eddy__infer_yield(c, 0, c->in[0].dtype,
                             x.rank < 0 ? x : eddy__shape_with(x, 0, n < 0 ? EDDY_ANY : n));
}

static eddy_status basis_like_prepare(eddy_kernel *k)
{
    const eddy_dtype d = k->out[0]->type.dtype;
    void       *one = eddy_kernel_state(k, eddy_dtype_size(d));
    eddy_array *a = eddy_array_new(d, EDDY_SCALAR);
    if (one && a) {
        eddy_array_set(a, 0, 1);
        memcpy(one, eddy_array_data(a), eddy_dtype_size(d));
    }
    const bool ok = one && a;
    eddy_array_free(a);
    return ok ? EDDY_OK : eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the element");
}

static eddy_status basis_like_kernel(eddy_kernel *k)
{
    const eddy_buffer *y = k->out[0];
    const size_t  size = eddy_dtype_size(y->type.dtype);
    const int64_t n = y->type.shape.dim[0];
    if (y->count == 0) return EDDY_OK;
    memset(y->data, 0, (size_t)y->count * size);
    for (int64_t i = 0; i < n; i++)
        memcpy((char *)y->data + (size_t)(i * (n + 1)) * size, k->state, size);
    return EDDY_OK;
}

const eddy_op_def eddy_op_basis_like = {
    .name = "BasisLike", .min_inputs = 1, .max_inputs = 1, .outputs = 1, .shape_inputs = 1u << 0,
    .infer = basis_like_infer, .prepare = basis_like_prepare, .kernel = basis_like_kernel,
    .gradient = eddy_not_differentiable,
};

eddy_tensor eddy_basis_like(eddy_tensor x) { return eddy_apply1(&eddy_op_basis_like, NULL, x); }

/* -------------------------------------------------------- unflatten_like -- */

/** y = x with its axis `axis` split into the dimensions of `ref` after the first `skip`.
 *
 *  x     any element type; x.shape[axis] is the product of those dimensions
 *  ref   only its shape is used; it is not computed
 *  axis  in [-rank, rank)
 *  skip  in [0, rank of ref]
 *
 *  Splits the rows of a Jacobian into dimensions.  Costs nothing at run time.
 *  Errors: EDDY_BAD_SHAPE if the sizes differ; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have, or a skip beyond the rank of ref.
 *  Gradient: dx = dy reshaped to the shape of x; `ref` has none.  TensorFlow: Reshape. */
typedef struct unflatten_attrs {
    int64_t axis, skip;
} unflatten_attrs;

static bool unflatten_infer(eddy_infer *c)
{
    const unflatten_attrs *a = c->attrs;
    const eddy_shape x = c->in[0].shape, ref = c->in[1].shape;
    char text[128];
    int  axis;
    if (a->skip < 0 || (ref.rank >= 0 && a->skip > ref.rank))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "skip is %lld, past the end of %s",
                               (long long)a->skip, eddy_shape_print(ref, text, sizeof text));
    if (x.rank < 0 || ref.rank < 0)
        return eddy__infer_yield(c, 0, c->in[0].dtype, EDDY_UNKNOWN_SHAPE);
    if (!eddy__infer_axis(c, a->axis, x.rank, &axis)) return false;
    const int skip = (int)a->skip, more = ref.rank - skip;
    if (x.rank - 1 + more > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %d; the limit is %d",
                               x.rank - 1 + more, EDDY_MAX_RANK);
    eddy_shape y = { .rank = x.rank - 1 + more };
    int64_t    n = 1;
    for (int i = 0; i < y.rank; i++) {
        y.dim[i] = i < axis ? x.dim[i] : i < axis + more ? ref.dim[skip + i - axis]
                                                         : x.dim[i - more + 1];
        if (i < axis || i >= axis + more || n == 0) continue;
        if (y.dim[i] == 0) n = 0;
        else if (y.dim[i] == EDDY_ANY || n == EDDY_ANY) n = EDDY_ANY;
        else if (__builtin_mul_overflow(n, y.dim[i], &n)) n = INT64_MAX;
    }
    int64_t d = x.dim[axis];
    if (!eddy__dim_unify(&d, n))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "dimension %d is %lld and cannot be split into %s", axis,
                               (long long)x.dim[axis], eddy_shape_print(ref, text, sizeof text));
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static void unflatten_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_reshape_like(r->dy[0], r->x[0]);
}

const eddy_op_def eddy_op_unflatten_like = {
    .name = "UnflattenLike", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_ALIAS, .shape_inputs = 1u << 1,
    .attrs_size = sizeof(unflatten_attrs), .attrs = EDDY_ATTRS(unflatten_attrs, axis, skip),
    .infer = unflatten_infer, .gradient = unflatten_gradient, .batch = eddy__batch_reshape,
};

eddy_tensor eddy_unflatten_like(eddy_tensor x, eddy_tensor ref, int axis, int skip)
{
    return eddy_apply2(&eddy_op_unflatten_like, &(unflatten_attrs){ axis, skip }, x, ref);
}

/* --------------------------------------------------------------- tools -- */

eddy_tensor eddy_batch_input(const eddy_batch *b, int i)
{
    if (!b || i < 0 || i >= b->n_in) return eddy_none(b ? b->graph : NULL);
    return b->batched[i] ? b->x[i] : eddy_batch_like(b->x[i], b->examples);
}

int eddy__batch_rank(const eddy_batch *b, int i) { return eddy_shape_of(b->node->inputs[i]).rank; }
int eddy__batch_result_rank(const eddy_batch *b) { return b->node->outputs[0].shape.rank; }

eddy_tensor eddy__batch_result_like(const eddy_batch *b)
{
    return eddy_batch_like(eddy__tensor_at(b->graph, b->node->id, 0), b->examples);
}

int64_t eddy__batch_axis(int64_t axis) { return axis >= 0 ? axis + 1 : axis; }

bool eddy__batch_axes(const eddy_batch *b, int i, eddy_dims *axes)
{
    const int rank = eddy__batch_rank(b, i);
    const bool all = axes->count == 0;
    if (all && rank < 0) return false;
    if (all) axes->count = rank > 0 ? rank : -1;
    for (int k = 0; k < axes->count; k++) axes->at[k] = all ? k + 1 : eddy__batch_axis(axes->at[k]);
    return true;
}

bool eddy__batch_entries(eddy_dims *d, int64_t first)
{
    if (d->count >= EDDY_MAX_RANK) return false;
    if (d->count > 0) {
        memmove(d->at + 1, d->at, (size_t)d->count * sizeof *d->at);
        d->at[0] = first;
        d->count++;
    } else {
        d->count = 0;        /* omitted, or of a scalar: the default for the new axis */
    }
    return true;
}

eddy_tensor eddy__batch_swap(eddy_tensor x, int a, int b)
{
    eddy_dims perm = { .count = eddy_shape_of(x).rank };
    if (perm.count < 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "vmap: the rank of '%.200s' is unknown",
                         eddy_name_of(x));
    for (int i = 0; i < perm.count; i++) perm.at[i] = i == a ? b : i == b ? a : i;
    return eddy_transpose(x, perm);
}

eddy_tensor eddy__batch_widen(eddy_tensor x, int at, int count)
{
    for (int i = 0; i < count; i++) x = eddy_expand_dims(x, at);
    return x;
}

/* -------------------------------------------------------- rules of many ops -- */

void eddy_batch_apply(eddy_batch *b, const void *attrs)
{
    enum { FEW = 16 };
    if (!b) return;
    const eddy_allocator *memory = eddy__graph_allocator(b->graph);
    const size_t bytes = (size_t)b->n_in * sizeof(eddy_tensor);
    eddy_tensor few[FEW], *x = b->n_in > FEW ? eddy__allocate(memory, bytes) : few;
    if (!x) eddy_fail(b->graph, EDDY_NO_MEMORY, "vmap: out of memory for %d inputs", b->n_in);
    for (int i = 0; x && i < b->n_in; i++) {
        bool shape_only = eddy__input_is_in(b->node->op->shape_inputs, i);
        x[i] = shape_only ? eddy_batch_like(b->x[i], b->examples) : eddy_batch_input(b, i);
    }
    eddy_tensor y = eddy_none(b->graph);
    if (x && attrs == b->attrs) eddy__attrs_share_graphs(b->node->op, attrs);
    if (x) y = eddy_apply(b->node->op, attrs, b->n_in, x, (eddy_apply_args){ .graph = b->graph });
    for (int k = 0; k < b->n_out; k++) b->y[k] = eddy_output(y, k);
    if (x != few) eddy__release(memory, x, bytes);
}

void eddy_batch_as_is(eddy_batch *b) { eddy_batch_apply(b, b ? b->attrs : NULL); }

void eddy__batch_elementwise(eddy_batch *b)
{
    eddy_tensor x[8];
    int         rank = 0;
    if (b->n_in > 8) return;
    for (int i = 0; i < b->n_in; i++) {
        int r = eddy__batch_rank(b, i);
        if (r < 0 && b->n_in > 1) return;
        if (r > rank) rank = r;
    }
    for (int i = 0; i < b->n_in; i++) {
        int missing = b->n_in > 1 && b->batched[i] ? rank - eddy__batch_rank(b, i) : 0;
        x[i] = eddy__batch_widen(b->x[i], 1, missing);
    }
    b->y[0] =
        eddy_apply(b->node->op, b->attrs, b->n_in, x, (eddy_apply_args){ .graph = b->graph });
}

void eddy__batch_reshape(eddy_batch *b)
{
    b->y[0] = eddy_reshape_like(b->x[0], eddy__batch_result_like(b));
}

void eddy__batch_broadcast(eddy_batch *b)
{
    const int rank = eddy__batch_result_rank(b), narrow = eddy__batch_rank(b, 0);
    if (rank < 0 || narrow < 0) return;
    b->y[0] = eddy_broadcast_like(eddy__batch_widen(b->x[0], 1, rank - narrow),
                                  eddy__batch_result_like(b));
}
