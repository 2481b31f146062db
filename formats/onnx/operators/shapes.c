/* shapes.c -- operators that change shapes, and constants. */
#include "../reader.h"
#include "../../../ops/short_names.h"

#include <string.h>

static bool identity(onnx_build *b)
{
    onnx_value *v = b->n_in ? b->in[0] : NULL;
    if (v && v->kind == ONNX_TENSOR && !v->strings)
        return eddy__onnx_put(b, 0, Identity(eddy__onnx_in(b, 0)));
    return eddy__onnx_put_value(b, 0, v ? v : eddy__onnx_new_value(b));
}

/* ---------------------------------------------------------------- constants -- */

/* Some programs write all weights as nodes of the main graph. Single numbers belong to formulas. */
static bool constant_tensor(onnx_build *b, onnx_value *v)
{
    const bool weight = v && v->array && eddy_array_count(v->array) > 1 && b->n_out > 0 &&
                        b->scope == b->reader->main;
    if (v) v->weight = weight ? b->node->outputs[0] : NULL;
    return eddy__onnx_put_value(b, 0, v);
}

static bool constant_strings(onnx_build *b, wire_bytes *s, int n, bool scalar)
{
    onnx_value *v = eddy__onnx_new_tensor(b, EDDY_NO_TENSOR, ONNX_STRING);
    if (!v) return false;
    v->strings = s;
    v->count = n;
    v->strings_shape = scalar ? EDDY_SCALAR : EDDY_SHAPE(n);
    return eddy__onnx_put_value(b, 0, v);
}

static bool constant(onnx_build *b)
{
    onnx_attr *a = (onnx_attr *)(uintptr_t)eddy__onnx_attr(b, "value");
    if (a && a->t) return constant_tensor(b, eddy__onnx_tensor_value(b->reader, a->t));
    a = (onnx_attr *)(uintptr_t)eddy__onnx_attr(b, "sparse_value");
    if (a && a->sparse) return constant_tensor(b, eddy__onnx_sparse_value(b->reader, a->sparse));
    a = (onnx_attr *)(uintptr_t)eddy__onnx_attr(b, "value_string");
    if (a) return constant_strings(b, &a->s, 1, true);
    a = (onnx_attr *)(uintptr_t)eddy__onnx_attr(b, "value_strings");
    if (a) return constant_strings(b, a->strings, (int)a->n_strings, false);
    int n;
    if (eddy__onnx_attr(b, "value_int"))
        return eddy__onnx_put(b, 0, eddy_const(b->graph, EDDY_INT64, EDDY_SCALAR,
                                               &(int64_t){ eddy__onnx_int(b, "value_int", 0) }));
    if (eddy__onnx_attr(b, "value_float"))
        return eddy__onnx_put(b, 0, eddy_scalar(b->graph, eddy__onnx_float(b, "value_float", 0)));
    const int64_t *ints = eddy__onnx_ints(b, "value_ints", &n);
    if (ints) return eddy__onnx_put(b, 0, eddy__onnx_int64s(b, ints, n));
    const double *floats = eddy__onnx_floats(b, "value_floats", &n);
    if (!floats) return eddy__onnx_invalid(b, "there is no value");
    const eddy_tensor t =
        eddy_const(b->graph, EDDY_FLOAT64, eddy_shape_of_dims(&(int64_t){ n }, 1), floats);
    return eddy__onnx_put(b, 0, Cast(t, EDDY_FLOAT32));
}

static bool constant_of_shape(onnx_build *b)
{
    const onnx_attr *a = eddy__onnx_attr(b, "value");
    eddy_tensor      value = eddy_scalar(b->graph, 0);
    int              type = ONNX_FLOAT;
    if (a && a->t) {
        const eddy_array *v = eddy__onnx_elements(b->reader, a->t);
        type = a->t->type;
        if (!v || eddy_array_count(v) != 1)
            return eddy__onnx_invalid(b, "the value is not a single element");
        value = Reshape(Cast(eddy_constant(b->graph, v), eddy__onnx_dtype(type)), EDDY_SCALAR);
    }
    int            n;
    const int64_t *known = eddy__onnx_partly(b, 0, &n);
    eddy_tensor    y = eddy_fill(eddy__onnx_in(b, 0), value);
    if (known && n <= EDDY_MAX_RANK) {
        eddy_shape s = { .rank = n };
        for (int i = 0; i < n; i++) s.dim[i] = known[i] < 0 ? EDDY_ANY : known[i];
        y = eddy_set_shape(y, s);
    }
    return eddy__onnx_put_as(b, 0, y, type);
}

/* Of floats as start + i delta, which has gradients; Eddy's has none. */
static bool range(onnx_build *b)
{
    const eddy_tensor start = eddy__onnx_in(b, 0), delta = eddy__onnx_in(b, 2);
    const eddy_tensor y = eddy_range(start, eddy__onnx_in(b, 1), delta);
    if (!eddy_dtype_is_floating(eddy_dtype_of(start))) return eddy__onnx_put(b, 0, y);
    return eddy__onnx_put(b, 0,
                          Add(start, Mul(delta, CastLike(eddy_row_numbers(y, EDDY_INT32), delta))));
}

/* Position along an axis, of each element. */
static eddy_tensor positions(eddy_tensor x, int axis)
{
    return eddy_cumsum(Cast(OnesLike(x), EDDY_INT32), axis, .exclusive = true);
}

static bool eye_like(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const int type = (int)eddy__onnx_int(b, "dtype", eddy__onnx_type_in(b, 0));
    const eddy_tensor on =
        Equal(Add(positions(x, 0), (double)eddy__onnx_int(b, "k", 0)), positions(x, 1));
    if (eddy__onnx_dtype(type) == EDDY_DEFAULT_DTYPE)
        return eddy__onnx_missing(b, "the element type is not supported");
    return eddy__onnx_put_as(b, 0, Cast(on, eddy__onnx_dtype(type)), type);
}

/* ------------------------------------------------------------ shapes as data -- */

static bool shape(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    eddy_tensor       s = eddy_shape_tensor(x, EDDY_INT64);
    const bool        part = eddy__onnx_attr(b, "start") || eddy__onnx_attr(b, "end");
    const int64_t from = eddy__onnx_int(b, "start", 0), to = eddy__onnx_int(b, "end", INT32_MAX);
    if (part) s = eddy_strided_slice(s, EDDY_DIMS(from), EDDY_DIMS(to), EDDY_DIMS(1));
    return eddy__onnx_put_as(b, 0, s, ONNX_INT64);
}

static bool size(onnx_build *b)
{
    return eddy__onnx_put_as(b, 0, eddy_size(eddy__onnx_in(b, 0), EDDY_INT64), ONNX_INT64);
}

/* ----------------------------------------------------------------- reshaping -- */

/* Where the shape has a 0, the dimension of x. */
static eddy_tensor without_zeros(eddy_tensor x, eddy_tensor shape)
{
    const eddy_tensor of_x = eddy_shape_tensor(x, EDDY_INT64);
    const eddy_tensor last = Sub(eddy_size(of_x, EDDY_INT64), 1);
    const eddy_tensor at = Minimum(eddy_row_numbers(shape, EDDY_INT64), last);
    return Where(Equal(shape, 0), eddy_gather(of_x, Maximum(at, 0)), shape);
}

/* The dimensions that the list gives, EDDY_ANY where it does not; the number of those. */
static int requested(onnx_build *b, const int64_t *list, int n, eddy_shape *s, bool *zeros)
{
    const eddy_shape x = eddy_shape_of(eddy__onnx_in(b, 0));
    const bool       keep_zero = eddy__onnx_int(b, "allowzero", 0);
    int              open = 0;
    *s = (eddy_shape){ .rank = n };
    *zeros = false;
    for (int i = 0; i < n; i++) {
        s->dim[i] = list[i] < 0 ? EDDY_ANY : list[i];
        if (list[i] == 0 && !keep_zero) {
            *zeros = true;
            s->dim[i] = i < x.rank ? x.dim[i] : EDDY_ANY;
        }
        open += s->dim[i] == EDDY_ANY;
    }
    return open;
}

/* To a shape of which nothing is known except, usually, its length. */
static bool computed_reshape(onnx_build *b, eddy_tensor x, eddy_tensor shape)
{
    if (!eddy__onnx_int(b, "allowzero", 0) && eddy_shape_of(x).rank != 0)
        shape = without_zeros(x, shape);
    return eddy__onnx_put(b, 0, eddy_reshape_to(x, shape));
}

static bool reshape(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    int64_t           list[ONNX_MAX_LIST];
    const int64_t    *known = list;
    int               n = b->version < 5 ? eddy__onnx_list(b, -1, "shape", list) : 0;
    if (b->version >= 5) known = eddy__onnx_partly(b, 1, &n);
    if (!known || n < 0) return computed_reshape(b, x, eddy__onnx_in(b, 1));
    if (n > EDDY_MAX_RANK) return eddy__onnx_missing(b, "rank %d is above %d", n, EDDY_MAX_RANK);
    eddy_shape s;
    bool       zeros;
    if (requested(b, known, n, &s, &zeros) <= 1) return eddy__onnx_put(b, 0, Reshape(x, s));
    eddy_tensor to = b->version < 5 ? eddy__onnx_int64s(b, list, n) : eddy__onnx_in(b, 1);
    if (zeros) to = without_zeros(x, to);
    return eddy__onnx_put(b, 0, eddy_set_shape(eddy_reshape_to(x, to), s));
}

static bool flatten(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    const eddy_shape  s = eddy_shape_of(x);
    int64_t           axis = eddy__onnx_int(b, "axis", 1), outer = 1, inner = 1;
    if (axis < 0) axis += s.rank;
    if (s.rank < 0 || axis < 0 || axis > s.rank)
        return eddy__onnx_invalid(b, "axis is not within the rank");
    for (int i = 0; i < s.rank; i++) {
        int64_t *p = i < axis ? &outer : &inner;
        *p = s.dim[i] == EDDY_ANY || *p < 0 ? -1 : *p * s.dim[i];
    }
    if (outer >= 0 || inner >= 0) return eddy__onnx_put(b, 0, Reshape(x, EDDY_SHAPE(outer, inner)));
    const eddy_tensor sizes = eddy_shape_tensor(x, EDDY_INT64);
    const eddy_tensor parts[] = { eddy_slice(sizes, EDDY_DIMS(0), EDDY_DIMS(axis)),
                                  eddy_slice(sizes, EDDY_DIMS(axis), EDDY_DIMS(-1)) };
    const eddy_tensor to[] = { Prod(parts[0]), Prod(parts[1]) };
    return eddy__onnx_put(b, 0, eddy_reshape_to(x, eddy_stack({ 2, to }, 0)));
}

static bool squeeze(onnx_build *b)
{
    int64_t axes[ONNX_MAX_LIST];
    if (eddy__onnx_is_computed(b, 1) && eddy__onnx_rank(b, 0) >= 0)
        return eddy__onnx_put(b, 0, eddy_squeeze_to(eddy__onnx_in(b, 0), eddy__onnx_in(b, 1)));
    const int n = eddy__onnx_axes(b, 1, "axes", eddy__onnx_rank(b, 0), axes);
    if (n == ONNX_FAILED) return false;
    const eddy_tensor x = eddy__onnx_in(b, 0);
    return eddy__onnx_put(b, 0, n == ONNX_ABSENT ? Squeeze(x) : n == 0 ? Identity(x)
                                : Squeeze(x, eddy__onnx_dims(axes, n)));
}

static bool computed_unsqueeze(onnx_build *b)
{
    const eddy_tensor axes = eddy__onnx_in(b, 1);
    if (eddy_shape_count(eddy_shape_of(axes)) < 0)
        return eddy__onnx_unbound(b, "the number of axes must be known");
    return eddy__onnx_put(b, 0, eddy_expand_dims_to(eddy__onnx_in(b, 0), axes));
}

/* Several axes in ascending order; one may count from the end of an unknown rank. */
static bool unsqueeze_at(onnx_build *b, int n, const int64_t *axes)
{
    eddy_tensor x = eddy__onnx_in(b, 0);
    for (int i = 0; i < n; i++)
        if ((n > 1 && axes[i] < 0) || axes[i] >= EDDY_MAX_RANK || axes[i] < -EDDY_MAX_RANK)
            return eddy__onnx_missing(b, "the rank of the input must be known");
    if (n == 1) x = ExpandDims(x, axes[0]);
    for (int at = 0; n > 1 && at < EDDY_MAX_RANK; at++)
        for (int i = 0; i < n; i++)
            if (axes[i] == at) x = ExpandDims(x, at);
    return eddy__onnx_put(b, 0, x);
}

static bool unsqueeze(onnx_build *b)
{
    int64_t axes[ONNX_MAX_LIST];
    if (eddy__onnx_is_computed(b, 1) && eddy__onnx_rank(b, 0) >= 0) return computed_unsqueeze(b);
    const int n = eddy__onnx_list(b, 1, "axes", axes), rank = eddy__onnx_rank(b, 0) + n;
    if (n < 0) return eddy__onnx_invalid(b, "axes are missing");
    for (int i = 0; rank >= n && i < n; i++) {
        axes[i] = eddy__onnx_axis(b, axes[i], rank);
        if (axes[i] < 0) return false;
    }
    return unsqueeze_at(b, n, axes);
}

static bool transpose(onnx_build *b)
{
    int            n;
    const int64_t *perm = eddy__onnx_ints(b, "perm", &n);
    const eddy_tensor x = eddy__onnx_in(b, 0);
    if (!perm || n == 0) return eddy__onnx_put(b, 0, Transpose(x));
    if (n > EDDY_MAX_RANK) return eddy__onnx_invalid(b, "perm is too long");
    return eddy__onnx_put(b, 0, Transpose(x, eddy__onnx_dims(perm, n)));
}

/* Broadcasts both ways: a dimension of 1 in the shape keeps that of x. */
static bool expand(onnx_build *b)
{
    const eddy_tensor x = eddy__onnx_in(b, 0);
    int            n;
    const int64_t *known = eddy__onnx_partly(b, 1, &n);
    eddy_shape     s = { .rank = n }, y = EDDY_UNKNOWN_SHAPE;
    for (int i = 0; known && i < n && i < EDDY_MAX_RANK; i++)
        s.dim[i] = known[i] < 0 ? EDDY_ANY : known[i];
    if (known && n <= EDDY_MAX_RANK && !eddy_shape_broadcast(eddy_shape_of(x), s, &y))
        return eddy__onnx_invalid(b, "the shapes do not broadcast");
    if (eddy_shape_is_known(y)) return eddy__onnx_put(b, 0, eddy_broadcast_to(x, y));
    const eddy_tensor ones = eddy_fill(
        eddy__onnx_in(b, 1), eddy_const(b->graph, EDDY_BOOL, EDDY_SCALAR, &(bool){ true }));
    return eddy__onnx_put(b, 0, eddy_set_shape(Where(ones, x, x), y));
}

static bool tile(onnx_build *b)
{
    int64_t           list[ONNX_MAX_LIST];
    const eddy_tensor x = eddy__onnx_in(b, 0);
    if (eddy__onnx_is_computed(b, 1))
        return eddy__onnx_put(b, 0, eddy_tile_to(x, eddy__onnx_in(b, 1)));
    const int n = eddy__onnx_list(b, 1, NULL, list);
    if (n < 0) return eddy__onnx_invalid(b, "repeats are missing");
    if (n > EDDY_MAX_RANK) return eddy__onnx_invalid(b, "repeats are too many");
    return eddy__onnx_put(b, 0, n == 0 ? Identity(x) : eddy_tile(x, eddy__onnx_dims(list, n)));
}

const onnx_operator eddy__onnx_shapes[] = {
    { "Identity", 1, identity },
    { "Constant", 1, constant },
    { "ConstantOfShape", 9, constant_of_shape },
    { "Range", 11, range },
    { "EyeLike", 9, eye_like },
    { "Shape", 1, shape },
    { "Size", 1, size },
    { "Reshape", 1, reshape },
    { "Flatten", 1, flatten },
    { "Squeeze", 1, squeeze },
    { "Unsqueeze", 1, unsqueeze },
    { "Transpose", 1, transpose },
    { "Expand", 8, expand },
    { "Tile", 6, tile },
    { NULL },
};
