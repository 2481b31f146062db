/* shapes.c -- operations that change a shape, ask for it, or repeat elements. */
#include "../rules.h"

static bool pass(onnx_part *p) { return eddy__part_put(p, 0, eddy__part_in(p, 0)); }

static eddy_shape result(const onnx_part *p) { return p->node->outputs[0].shape; }

/* The shape that is computed from the sizes of other tensors is known here, or not at all. */
static bool to_known_shape(onnx_part *p)
{
    const eddy_shape y = result(p);
    if (!eddy_shape_is_known(y))
        return eddy__part_missing(p, "the shape of the result must be known");
    return eddy__part_put(p, 0, eddy__part_reshape(p, eddy__part_in(p, 0),
                                                   eddy__part_ints(p, y.rank, y.dim)));
}

static bool reshape(onnx_part *p)
{
    eddy_shape s = result(p);
    int        open = 0;
    for (int i = 0; i < s.rank; i++) open += s.dim[i] == EDDY_ANY;
    if (open > 1) s = eddy__part_shape_attr(p, "shape");
    if (s.rank < 0) return eddy__part_missing(p, "the rank of the result must be known");
    const char *const in[] = { eddy__part_in(p, 0), eddy__part_ints(p, s.rank, s.dim) };
    onnx_call c = eddy__call(p, "Reshape", 2, in);
    if (open == 0) eddy__call_int(&c, "allowzero", 1);
    return eddy__part_put(p, 0, eddy__call_end(&c));
}

static bool reshape_like(onnx_part *p)
{
    if (eddy_shape_is_known(result(p))) return to_known_shape(p);
    return eddy__part_put(p, 0, eddy__part_reshape(p, eddy__part_in(p, 0), eddy__part_shape(p, 1)));
}

static bool reshape_to(onnx_part *p)
{
    const char *shape =
        eddy__part_cast(p, eddy__part_in(p, 1), eddy__part_dtype(p, 1), EDDY_INT64);
    return eddy__part_put(p, 0, eddy__part_binary(p, "Reshape", eddy__part_in(p, 0), shape));
}

static bool expand_dims(onnx_part *p)
{
    int rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    const int64_t axis = eddy__part_axis(p, rank + 1);
    return eddy__part_put(p, 0, eddy__part_unsqueeze(p, eddy__part_in(p, 0), 1, &axis));
}

static bool squeeze(onnx_part *p)
{
    const eddy_dims axes = eddy__part_dims(p, "axes");
    const char     *x = eddy__part_in(p, 0);
    if (axes.count == 0) return eddy__part_put(p, 0, eddy__part_unary(p, "Squeeze", x));
    if (axes.count < 0) return pass(p);
    return eddy__part_put(
        p, 0, eddy__part_binary(p, "Squeeze", x, eddy__part_ints(p, axes.count, axes.at)));
}

/* The dimensions of ref, input 1, become one. */
static bool merge_leading(onnx_part *p)
{
    int rank, leading;
    if (eddy_shape_is_known(result(p))) return to_known_shape(p);
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_rank(p, 1, &leading)) return false;
    const char *first = eddy__part_one(p, leading == 0 ? 1 : -1);
    if (leading == rank)
        return eddy__part_put(p, 0, eddy__part_reshape(p, eddy__part_in(p, 0), first));
    onnx_call c = eddy__call(p, "Shape", 1, (const char *[]){ eddy__part_in(p, 0) });
    eddy__call_int(&c, "start", leading);
    const char *const parts[] = { first, eddy__call_end(&c) };
    return eddy__part_put(p, 0, eddy__part_binary(p, "Reshape", eddy__part_in(p, 0),
                                                  eddy__part_concat(p, 0, 2, parts)));
}

/* One axis becomes the dimensions of ref after the first `skip`. */
static bool unflatten_like(onnx_part *p)
{
    int rank, more;
    if (eddy_shape_is_known(result(p))) return to_known_shape(p);
    if (!eddy__part_known_rank(p, 0, &rank) || !eddy__part_known_rank(p, 1, &more)) return false;
    const int     axis = (int)eddy__part_axis(p, rank), skip = (int)eddy__part_int(p, "skip");
    const char   *parts[2 * EDDY_MAX_RANK], *x = eddy__part_in(p, 0);
    int           n = 0;
    for (int i = 0; i < axis; i++)
        parts[n++] = eddy__part_size(p, x, eddy__part_type(p, 0).shape, i);
    for (int i = skip; i < more; i++)
        parts[n++] = eddy__part_size(p, eddy__part_in(p, 1), eddy__part_type(p, 1).shape, i);
    for (int i = axis + 1; i < rank; i++)
        parts[n++] = eddy__part_size(p, x, eddy__part_type(p, 0).shape, i);
    const char *shape = n ? eddy__part_concat(p, 0, n, parts) : eddy__part_ints(p, 0, NULL);
    return eddy__part_put(p, 0, eddy__part_reshape(p, x, shape));
}

static bool transpose(onnx_part *p)
{
    const eddy_dims perm = eddy__part_dims(p, "perm");
    int             rank;
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    int64_t order[EDDY_MAX_RANK];
    for (int i = 0; i < rank; i++) order[i] = perm.count > 0 ? perm.at[i] : rank - 1 - i;
    for (int i = 0; i < rank; i++)
        if (order[i] < 0) order[i] += rank;
    return eddy__part_put(p, 0, eddy__part_transpose(p, eddy__part_in(p, 0), rank, order));
}

static bool matrix_transpose(onnx_part *p)
{
    int     rank;
    int64_t order[EDDY_MAX_RANK];
    if (!eddy__part_known_rank(p, 0, &rank)) return false;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1;
    order[rank - 1] = rank - 2;
    return eddy__part_put(p, 0, eddy__part_transpose(p, eddy__part_in(p, 0), rank, order));
}

/* ---------------------------------------------------------------- repeating -- */

static bool broadcast_to(onnx_part *p)
{
    const eddy_shape s = result(p);
    if (!eddy_shape_is_known(s))
        return eddy__part_missing(p, "the shape of the result must be known");
    return eddy__part_put(p, 0, eddy__part_binary(p, "Expand", eddy__part_in(p, 0),
                                                  eddy__part_ints(p, s.rank, s.dim)));
}

static bool broadcast_like(onnx_part *p)
{
    return eddy__part_put(p, 0, eddy__part_binary(p, "Expand", eddy__part_in(p, 0),
                                                  eddy__part_shape(p, 1)));
}

/* A new axis 0 as long as that of input 1. */
static bool batch_like(onnx_part *p)
{
    const eddy_shape s = eddy__part_type(p, 0).shape;
    const char *x = eddy__part_in(p, 0);
    const char      *ref = eddy_shape_of(p->node->inputs[1]).rank > 0 &&
                              eddy_shape_of(p->node->inputs[1]).dim[0] != EDDY_ANY
                               ? ""
                               : eddy__part_in(p, 1);
    if (s.rank < 0) return eddy__part_missing(p, "the rank of input 0 must be known");
    const char *const parts[] = { eddy__part_size(p, ref, eddy__part_type(p, 1).shape, 0),
                                  eddy__part_shape_of(p, x, s) };
    return eddy__part_put(
        p, 0, eddy__part_binary(p, "Expand", x, eddy__part_concat(p, 0, 2, parts)));
}

/* The adjoint of a reduction: x repeated along the axes to the shape of input 1. */
static bool broadcast_along(onnx_part *p)
{
    int     rank;
    int64_t axes[EDDY_MAX_RANK];
    if (!eddy__part_known_rank(p, 1, &rank)) return false;
    const int   n = eddy__part_axes(p, rank, axes);
    const char *x = eddy__part_in(p, 0);
    if (!eddy__part_bool(p, "keep_dims")) x = eddy__part_unsqueeze(p, x, n, axes);
    return eddy__part_put(p, 0, eddy__part_binary(p, "Expand", x, eddy__part_shape(p, 1)));
}

/* Whether axis `from_end` of input 1, an operand of the node whose gradient this is, has the size
 * of the result of that node: no other operand can have another size there than 1. */
static bool has_size_of_result(const onnx_part *p, int from_end)
{
    const eddy_node *of = eddy_node_of(eddy_node_at(p->node->inputs[1].graph, p->node->origin));
    bool             operand = false;
    if (!of || !(of->op->flags & EDDY_OP_ELEMENTWISE)) return false;
    for (int i = 0; i < of->n_inputs; i++) {
        const eddy_shape s = eddy_shape_of(of->inputs[i]);
        const bool       own = eddy_same(of->inputs[i], p->node->inputs[1]);
        operand = operand || own;
        if (s.rank < 0 || (!own && s.rank >= from_end && s.dim[s.rank - from_end] != 1))
            return false;
    }
    return operand;
}

/* The sum over the axes along which input 1 was broadcast. If the shapes are open, these are found
 * in the run: a size that differs. */
static bool sum_like(onnx_part *p)
{
    const eddy_shape x = eddy__part_type(p, 0).shape, y = eddy__part_type(p, 1).shape;
    int64_t axes[EDDY_MAX_RANK];
    int     n = 0, more = x.rank - y.rank;
    bool    open = x.rank < 0 || y.rank < 0;
    for (int i = 0; i < x.rank && !open; i++) {
        const int64_t to = i < more ? 0 : y.dim[i - more];
        if (i < more || (to == 1 && x.dim[i] != 1)) axes[n++] = i;
        /* An open size may be 1 where the other is not. */
        open = i >= more && to == EDDY_ANY && x.dim[i] != 1 && !has_size_of_result(p, x.rank - i);
    }
    if (open && (x.rank < 0 || y.rank < 0))
        return eddy__part_missing(p, "the ranks of the inputs must be known");
    const char *dx = eddy__part_in(p, 0);
    if (!open) {
        if (n == 0) return eddy__part_put(p, 0, dx);
        const char *sum = eddy__part_sum(p, dx, n, axes, true);
        if (more == 0) return eddy__part_put(p, 0, sum);
        for (int i = 0; i < more; i++) axes[i] = i;
        return eddy__part_put(
            p, 0, eddy__part_binary(p, "Squeeze", sum, eddy__part_ints(p, more, axes)));
    }
    int64_t ones[EDDY_MAX_RANK];
    for (int i = 0; i < more; i++) ones[i] = 1;
    const char *const padded[] = { eddy__part_ints(p, more, ones), eddy__part_shape(p, 1) };
    const char *to = more ? eddy__part_concat(p, 0, 2, padded) : padded[1];
    const char       *differ =
        eddy__part_formula(p, EDDY_INT64, "Not(Equal(a, b))", eddy__part_shape(p, 0), to);
    const char *const in[] = { dx, eddy__part_binary(p, "Squeeze",
                                                     eddy__part_unary(p, "NonZero", differ),
                                                     eddy__part_one(p, 0)) };
    onnx_call c = eddy__call(p, "ReduceSum", 2, in);
    eddy__call_int(&c, "keepdims", 1);
    eddy__call_int(&c, "noop_with_empty_axes", 1);
    return eddy__part_put(p, 0,
                          eddy__part_reshape(p, eddy__call_end(&c), eddy__part_shape(p, 1)));
}

static bool filled(onnx_part *p, double v)
{
    return eddy__part_put(p, 0, eddy__part_filled(p, p->node->outputs[0].dtype, v,
                                                  eddy__part_shape(p, 0)));
}
static bool zeros_like(onnx_part *p) { return filled(p, 0); }
static bool ones_like(onnx_part *p) { return filled(p, 1); }

static bool fill(onnx_part *p)
{
    const char *dims = eddy__part_cast(p, eddy__part_in(p, 0), eddy__part_dtype(p, 0), EDDY_INT64);
    return eddy__part_put(p, 0, eddy__part_binary(p, "Expand", eddy__part_in(p, 1), dims));
}

static bool tile(onnx_part *p)
{
    const eddy_dims n = eddy__part_dims(p, "multiples");
    return eddy__part_put(p, 0,
                          eddy__part_binary(p, "Tile", eddy__part_in(p, 0),
                                            eddy__part_ints(p, n.count < 0 ? 0 : n.count, n.at)));
}

/* ------------------------------------------------------------------- asking -- */

static bool put_int64(onnx_part *p, const char *v)
{
    return eddy__part_put(p, 0, eddy__part_cast(p, v, EDDY_INT64, p->node->outputs[0].dtype));
}

static bool shape(onnx_part *p) { return put_int64(p, eddy__part_shape(p, 0)); }

static bool size(onnx_part *p)
{
    const int64_t n = eddy_shape_count(eddy__part_type(p, 0).shape);
    if (n >= 0) return put_int64(p, eddy__part_number(p, EDDY_INT64, (double)n));
    return put_int64(p, eddy__part_unary(p, "Size", eddy__part_in(p, 0)));
}

static bool rank(onnx_part *p)
{
    int n;
    if (!eddy__part_known_rank(p, 0, &n)) return false;
    return eddy__part_put(p, 0, eddy__part_number(p, p->node->outputs[0].dtype, n));
}

static bool row_numbers(onnx_part *p)
{
    const eddy_shape s = eddy__part_type(p, 0).shape;
    const char *x = s.rank > 0 && s.dim[0] != EDDY_ANY ? "" : eddy__part_in(p, 0);
    const char      *n =
        eddy__part_binary(p, "Squeeze", eddy__part_size(p, x, s, 0), eddy__part_one(p, 0));
    return put_int64(p, eddy__part_formula(p, EDDY_INT64, "Range(0, a, 1)", n));
}

static bool range(onnx_part *p)
{
    return eddy__part_put(p, 0, eddy__part_formula(p, EDDY_INT64, "Range(a, b, c)",
                                                   eddy__part_in(p, 0), eddy__part_in(p, 1),
                                                   eddy__part_in(p, 2)));
}

/* x[0] */
static bool example(onnx_part *p)
{
    return eddy__part_put(p, 0,
                          eddy__part_formula(p, EDDY_INT64, "Gather(a, 0)", eddy__part_in(p, 0)));
}

static bool identity_n(onnx_part *p)
{
    for (int k = 0; k < p->node->n_outputs; k++) eddy__part_put(p, k, eddy__part_in(p, k));
    return true;
}

static const onnx_row rows[] = {
    { "Identity", pass },
    { "IdentityN", identity_n },
    { "StopGradient", pass },
    { "PreventGradient", pass },
    { "DistinctValues", pass },
    { "GradPassThrough", pass },
    { "EnsureShape", pass },
    { "SameSize", pass },
    { "PlaceholderWithDefault", pass },
    { "Reshape", reshape },
    { "ReshapeLike", reshape_like },
    { "ReshapeTo", reshape_to },
    { "MergeLeading", merge_leading },
    { "UnflattenLike", unflatten_like },
    { "ExpandDims", expand_dims },
    { "Squeeze", squeeze },
    { "Transpose", transpose },
    { "MatrixTranspose", matrix_transpose },
    { "BroadcastTo", broadcast_to },
    { "BroadcastLike", broadcast_like },
    { "BroadcastAlong", broadcast_along },
    { "BatchLike", batch_like },
    { "SumLike", sum_like },
    { "ZerosLike", zeros_like },
    { "OnesLike", ones_like },
    { "Fill", fill },
    { "Tile", tile },
    { "Shape", shape },
    { "Size", size },
    { "Rank", rank },
    { "RowNumbers", row_numbers },
    { "Range", range },
    { "Example", example },
};

const onnx_family eddy__write_shapes = FAMILY_OF(rows);
