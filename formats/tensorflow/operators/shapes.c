/* shapes.c -- constants, inputs, shapes and what depends on them. */
#include "../reader.h"
#include "../../../ops/short_names.h"

/* Texts are no values; a node that needs them says so. */
static bool constant(tf_build *b)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, "value");
    tf_value      *v = eddy__tf_new_value(b, TF_VALUE);
    if (!v) return false;
    if (!a || a->kind != TF_ATTR_TENSOR) return eddy__tf_invalid(b, "there is no value");
    v->type = a->tensor->type;
    v->constant = true;
    if (v->type != TF_STRING) {
        v->weight = b->node->name;
        v->array = eddy__tf_weight(b->reader, b->node->name);
        if (!v->array && b->reader->manifest.weights && !b->reader->base.failed)
            return eddy__tf_invalid(b, "the manifest has no weight of this name");
        if (!v->array && !b->reader->base.failed)
            v->array = eddy__tf_elements(b->reader, b->node->name, a->tensor);
        if (!v->array) return false;
        /* A possible weight is built here, so that branches and bodies share it. */
        if (eddy_dtype_is_floating(eddy_array_dtype(v->array)) && b->reader->bodies == 0 &&
            eddy_array_shape(v->array).rank > 0)
            eddy__tf_tensor_of(b, v);
    }
    return eddy__tf_put_value(b, 0, v);
}

static bool placeholder(tf_build *b)
{
    const int        type = eddy__tf_type(b, "dtype", TF_NO_TYPE);
    const eddy_dtype d = eddy__tf_dtype(type);
    const tf_attr   *a = eddy__tf_attr_of(b->node, "shape");
    const tf_signature *s = b->reader->signature;
    eddy_shape       shape = a && a->kind == TF_ATTR_SHAPE ? a->shape : eddy_shape_unknown();
    int              output;
    if (type == TF_STRING)          /* it may feed only nodes that are not needed */
        return eddy__tf_put_as(b, 0, EDDY_NO_TENSOR, type);
    if (d == EDDY_DEFAULT_DTYPE)
        return eddy__tf_missing(b, "there are no values of type %s", eddy__tf_type_name(type));
    for (size_t i = 0; s && i < s->n_inputs; i++) {
        const int32_t at = eddy__tf_resolve(b->scope, s->inputs[i].tensor, &output);
        if (at > 0 && &b->scope->graph->nodes[at - 1] == b->node && shape.rank <= 0 &&
            s->inputs[i].shape.rank > 0)
            shape = s->inputs[i].shape;
    }
    eddy_scope_begin(b->graph, b->reader->base.root);
    const eddy_tensor t =
        eddy_placeholder(b->graph, eddy__name_clean(b->memory, b->node->name), d, shape);
    eddy_scope_end(b->graph);
    return eddy__tf_put_as(b, 0, t, type);
}

static bool placeholder_with_default(tf_build *b)
{
    const tf_attr *a = eddy__tf_attr_of(b->node, "shape");
    const eddy_tensor x = eddy__tf_in(b, 0);
    eddy_scope_begin(b->graph, b->reader->base.root);
    const eddy_tensor t = eddy_placeholder_with_default(
        x, eddy__name_clean(b->memory, b->node->name),
        a && a->kind == TF_ATTR_SHAPE ? a->shape : eddy_shape_unknown());
    eddy_scope_end(b->graph);
    return eddy__tf_put(b, 0, t);
}

/* The same value, with its known elements. */
static bool identity(tf_build *b)
{
    for (int i = 0; i < b->n_in; i++)
        if (!eddy__tf_put_value(b, i, b->in[i])) return false;
    return b->n_in > 0 || eddy__tf_invalid(b, "input 0 is missing");
}

static bool no_gradient(tf_build *b)
{
    return eddy__tf_put(b, 0, StopGradient(eddy__tf_in(b, 0)));
}

static eddy_dtype index_type(tf_build *b)
{
    return eddy__tf_type(b, "out_type", TF_INT32) == TF_INT64 ? EDDY_INT64 : EDDY_INT32;
}

static bool shape_of(tf_build *b)
{
    const eddy_dtype d = index_type(b);
    for (int i = 0; i < b->n_in; i++)
        if (!eddy__tf_put_as(b, i, eddy_shape_tensor(eddy__tf_in(b, i), d), eddy__tf_type_of(d)))
            return false;
    return true;
}

static bool size(tf_build *b)
{
    const eddy_dtype d = index_type(b);
    return eddy__tf_put_as(b, 0, eddy_size(eddy__tf_in(b, 0), d), eddy__tf_type_of(d));
}

static bool rank(tf_build *b)
{
    return eddy__tf_put_as(b, 0, eddy_rank(eddy__tf_in(b, 0)), TF_INT32);
}

/* A list of sizes, of which at most one is unknown: it is -1 then, as in Reshape. */
static bool nearly_known(tf_build *b, int i, eddy_shape *s)
{
    int            n, open = 0;
    const int64_t *at = eddy__tf_partly(b, i, &n);
    if (!at || n > EDDY_MAX_RANK) return false;
    *s = (eddy_shape){ .rank = n };
    bool zero = false;
    for (int k = 0; k < n; k++) {
        s->dim[k] = at[k] == UNKNOWN_SIZE ? -1 : at[k];
        open += s->dim[k] == -1;
        zero = zero || s->dim[k] == 0;
    }
    return open <= 1 && !(zero && open);
}

static bool reshape(tf_build *b)
{
    eddy_shape        s;
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (nearly_known(b, 1, &s)) return eddy__tf_put(b, 0, eddy_reshape(x, s));
    if (!eddy__tf_has(b, 1)) return eddy__tf_invalid(b, "input 1 is missing");
    int64_t list[TF_MAX_LIST];
    if (eddy__tf_array_of(b, b->in[1])) {
        const int n = eddy__tf_list(b, 1, "the shape", list);
        if (n == TF_FAILED) return false;
        return eddy__tf_put(b, 0, eddy_reshape(x, eddy_shape_of_dims(list, (size_t)n)));
    }
    return eddy__tf_put(b, 0, eddy_reshape_to(x, eddy__tf_in(b, 1)));
}

static bool squeeze(tf_build *b)
{
    eddy_dims axes = eddy__tf_dims_attr(b, "squeeze_dims");
    if (axes.count == 0) axes = eddy__tf_dims_attr(b, "axis");
    return eddy__tf_put(b, 0, eddy_squeeze(eddy__tf_in(b, 0), .axes = axes));
}

static bool expand_dims(tf_build *b)
{
    int64_t axis;
    return eddy__tf_number_in(b, 1, "the axis", &axis) &&
           eddy__tf_put(b, 0, ExpandDims(eddy__tf_in(b, 0), axis));
}

static bool fill(tf_build *b)
{
    const eddy_tensor dims = eddy__tf_in(b, 0), value = eddy__tf_in(b, 1);
    return eddy__tf_put_as(b, 0, eddy_fill(dims, value), eddy__tf_type_in(b, 1));
}

static bool range(tf_build *b)
{
    const eddy_tensor start = eddy__tf_in(b, 0), limit = eddy__tf_in(b, 1),
                      delta = eddy__tf_in(b, 2);
    return eddy__tf_put(b, 0, eddy_range(start, limit, delta));
}

static bool linspace(tf_build *b)
{
    int64_t           num;
    const eddy_tensor start = eddy__tf_in(b, 0), stop = eddy__tf_in(b, 1);
    return eddy__tf_number_in(b, 2, "the number", &num) &&
           eddy__tf_put(b, 0, eddy_linspace(start, stop, num));
}

static bool broadcast_to(tf_build *b)
{
    int            n;
    const int64_t *at = eddy__tf_partly(b, 1, &n);
    bool           known = at != NULL && n <= EDDY_MAX_RANK;
    for (int i = 0; known && i < n; i++) known = at[i] >= 0;
    const eddy_tensor x = eddy__tf_in(b, 0);
    if (known) return eddy__tf_put(b, 0, eddy_broadcast_to(x, eddy_shape_of_dims(at, (size_t)n)));
    return eddy__tf_put(b, 0, eddy_broadcast_like(x, eddy_zeros_of(eddy__tf_in(b, 1), 0)));
}

static bool ensure_shape(tf_build *b)
{
    const tf_attr    *a = eddy__tf_attr_of(b->node, "shape");
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put(b, 0, a && a->kind == TF_ATTR_SHAPE ? eddy_ensure_shape(x, a->shape) : x);
}

static bool no_op(tf_build *b)
{
    return eddy__tf_put_value(b, 0, eddy__tf_new_value(b, TF_NOTHING));
}

static bool broadcast_args(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), y = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_broadcast_dynamic_shape(x, y));
}

const tf_operator eddy__tf_shapes[] = {
    { "BroadcastArgs", broadcast_args },
    { "BroadcastTo", broadcast_to },
    { "CheckNumerics", identity },
    { "Const", constant },
    { "EnsureShape", ensure_shape },
    { "ExpandDims", expand_dims },
    { "Fill", fill },
    { "Identity", identity },
    { "IdentityN", identity },
    { "LinSpace", linspace },
    { "NoOp", no_op },
    { "OnesLike", .one = eddy_ones_like },
    { "Placeholder", placeholder },
    { "PlaceholderV2", placeholder },
    { "PlaceholderWithDefault", placeholder_with_default },
    { "PreventGradient", identity },
    { "Range", range },
    { "Rank", rank },
    { "Reshape", reshape },
    { "Shape", shape_of },
    { "ShapeN", shape_of },
    { "Size", size },
    { "Snapshot", identity },
    { "Squeeze", squeeze },
    { "StopGradient", no_gradient },
    { "ZerosLike", .one = eddy_zeros_like },
    { NULL },
};
