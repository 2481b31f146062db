/* constant_placeholder.c -- placeholders, constants and fills: the sources of values in a graph. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/math/elementwise_rows.h"
#include "graph/internal.h"
#include "graph/base/dtype.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"

#include <string.h>

/* ---------------------------------------------------------- placeholder -- */

typedef struct placeholder_attrs {
    eddy_dtype dtype;
    eddy_shape shape;
} placeholder_attrs;
static bool placeholder_infer(eddy_infer *c)
{
    placeholder_attrs *a = c->attrs;
    if (a->dtype == EDDY_DEFAULT_DTYPE && !c->attrs_fixed) a->dtype = EDDY_FLOAT32;
    if (eddy_dtype_size(a->dtype) == 0)
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "no such element type: %d", (int)a->dtype);
    c->out[0] = (eddy_type){ a->dtype, a->shape };
    return true;
}

const eddy_op_def eddy_op_placeholder = {
    .name = "Placeholder", .outputs = 1, .flags = EDDY_OP_PLACEHOLDER,
    .attrs_size = sizeof(placeholder_attrs), .attrs = EDDY_ATTRS(placeholder_attrs, dtype, shape),
    .infer = placeholder_infer, .gradient = eddy_not_differentiable,
};

/** A tensor whose value is fed to each run that needs it.
 *
 *  name   NULL for the default, "Placeholder"
 *  dtype  any; 0 is float32
 *  shape  dimensions may be EDDY_ANY; EDDY_UNKNOWN_SHAPE accepts any shape
 *
 *  Errors: EDDY_BAD_DTYPE for an invalid dtype, EDDY_LIMIT for an invalid shape; at run time,
 *  EDDY_NOT_FED if its value is needed and none is fed.
 *  TensorFlow: Placeholder. */
eddy_tensor eddy_placeholder(eddy_graph *g, const char *name, eddy_dtype dtype, eddy_shape shape)
{
    return eddy_apply(&eddy_op_placeholder, &(placeholder_attrs){ dtype, shape }, 0, NULL,
                      (eddy_apply_args){ .graph = g, .name = name });
}

/* ----------------------------------------------- placeholder_with_default -- */

typedef struct shape_attrs {
    eddy_shape shape;
} shape_attrs;
static bool with_default_infer(eddy_infer *c)
{
    const shape_attrs *a = c->attrs;
    char want[100];
    if (!eddy_shape_compatible(a->shape, c->in[0].shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the default does not have the shape %s",
                               eddy_shape_print(a->shape, want, sizeof want));
    /* Only a run that feeds it may use a shape other than that of the default. */
    c->out[0] = (eddy_type){ c->in[0].dtype, c->attrs_fixed ? c->in[0].shape : a->shape };
    return true;
}
static void pass_gradient(eddy_rule *r) { r->dx[0] = r->dy[0]; }

static void with_default_batch(eddy_batch *b)
{
    shape_attrs a = *(const shape_attrs *)b->attrs;
    if (a.shape.rank >= EDDY_MAX_RANK) return;
    if (a.shape.rank >= 0) a.shape = eddy__shape_with(a.shape, 0, EDDY_ANY);
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_placeholder_with_default = {
    .name = "PlaceholderWithDefault", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_ALIAS | EDDY_OP_STATEFUL,
    .attrs_size = sizeof(shape_attrs), .attrs = EDDY_ATTRS(shape_attrs, shape),
    .infer = with_default_infer, .gradient = pass_gradient, .batch = with_default_batch,
};

/** y = x unless another value is fed.
 *
 *  x      the default; its shape must be compatible with `shape`
 *  shape  the shape of values that may be fed
 *
 *  Errors: EDDY_BAD_SHAPE if the shape of x is not compatible with `shape`.
 *  Gradient: dx = dy.  TensorFlow: PlaceholderWithDefault. */
eddy_tensor eddy_placeholder_with_default(eddy_tensor x, const char *name, eddy_shape shape)
{
    return eddy_apply(&eddy_op_placeholder_with_default, &(shape_attrs){ shape }, 1, &x,
                      (eddy_apply_args){ .name = name });
}

/* ------------------------------------------------------------- constant -- */

typedef struct constant_attrs {
    eddy_array *value;
} constant_attrs;
static bool constant_infer(eddy_infer *c)
{
    const constant_attrs *a = c->attrs;
    if (!a->value) return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the value is missing");
    c->out[0] = (eddy_type){ eddy_array_dtype(a->value), eddy_array_shape(a->value) };
    return true;
}

const eddy_op_def eddy_op_constant = {
    .name = "Const", .outputs = 1, .flags = EDDY_OP_CONSTANT,
    .attrs_size = sizeof(constant_attrs), .attrs = EDDY_ATTRS(constant_attrs, value),
    .infer = constant_infer, .gradient = eddy_not_differentiable,
};

#ifdef EDDY_HEADER
typedef struct eddy_constant_args {
    size_t            size_ EDDY_DEFAULT(sizeof(eddy_constant_args));
    eddy_graph       *graph;
    const eddy_array *value;   /* any dtype and shape; its elements must no longer change */
    const char       *name;    /* default: "Const" */
} eddy_constant_args;
/* Constants of literals: eddy_floats(g, 1, 2, 3) is a float32[3]. */
#define eddy_floats(graph, ...)  eddy_constant(graph, EDDY_FLOATS(__VA_ARGS__))
#define eddy_doubles(graph, ...) eddy_constant(graph, EDDY_DOUBLES(__VA_ARGS__))
#define eddy_ints(graph, ...)    eddy_constant(graph, EDDY_INTS(__VA_ARGS__))
#define eddy_int64s(graph, ...)  eddy_constant(graph, EDDY_INT64S(__VA_ARGS__))
#define eddy_bools(graph, ...)   eddy_constant(graph, EDDY_BOOLS(__VA_ARGS__))
#endif

/** A tensor with the value of an array, which is retained, not copied.
 *
 *    eddy_constant(g, images, .name = "images")
 *    eddy_constant(g, EDDY_FLOATS(1, 2, 3))                        literals are copied
 *    eddy_constant(g, EDDY_SHAPED(EDDY_FLOATS(1, 2, 3, 4), 2, 2))
 *
 *  value  any dtype and shape; its elements must no longer change
 *  name   default "Const"
 *
 *  Errors: EDDY_INVALID_ARGUMENT without a value; EDDY_NO_MEMORY.  TensorFlow: Const. */
eddy_tensor eddy_constant_with(const eddy_constant_args *given)
{
    eddy_constant_args a = EDDY_TAKE(eddy_constant_args, given);
    eddy_array *value = (eddy_array *)(uintptr_t)a.value;
    return eddy_apply(&eddy_op_constant, &(constant_attrs){ value }, 0, NULL,
                      (eddy_apply_args){ .graph = a.graph, .name = a.name });
}

/** Like eddy_constant, but takes ownership of the array: the caller's reference is released,
 *  also on an error. For an array that is created in the call:
 *
 *    eddy_constant_adopt(g, eddy_array_load("weights.npy", NULL, &error))
 *
 *  value  as for eddy_constant
 *
 *  Errors: as for eddy_constant; EDDY_INVALID_ARGUMENT for NULL.  TensorFlow: Const. */
eddy_tensor eddy_constant_adopt(eddy_graph *g, eddy_array *value)
{
    const eddy_tensor y = eddy_constant(g, value);
    eddy_array_free(value);
    return y;
}

/* Reports why there is no array: the type or shape is invalid, or memory is exhausted. */
static eddy_tensor no_array(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, bool has_data)
{
    char text[100];
    bool possible = eddy_dtype_size(dtype) > 0 && eddy_shape_is_valid(shape) &&
                    eddy_shape_is_known(shape) && has_data;
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    eddy_shape_print(shape, text, sizeof text);
    if (possible)
        return eddy_fail(g, EDDY_NO_MEMORY, "Const: out of memory for %s%s", eddy_dtype_name(dtype),
                         text);
    return eddy_fail(
        g, EDDY_INVALID_ARGUMENT,
        "Const: cannot make an array of %s%s; the type or shape is unknown, or there is no data",
        eddy_dtype_name(dtype), text);
}

/* A constant from a fresh array, whose reference it takes. */
static eddy_tensor constant_of(eddy_graph *g, eddy_array *a, eddy_dtype dtype, eddy_shape shape)
{
    return a ? eddy_constant_adopt(g, a) : no_array(g, dtype, shape, true);
}

/** A constant copied from memory: `data` points to the elements, row-major.
 *
 *  dtype, shape  fully known
 *  data          count(shape) elements; NULL only if there are none
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid dtype or shape, or without data; EDDY_NO_MEMORY.
 *  TensorFlow: Const. */
eddy_tensor eddy_const(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, const void *data)
{
    eddy_array *a =
        eddy__graph_ready(g) ? eddy_array_new_in(eddy__graph_allocator(g), dtype, shape) : NULL;
    if (a && !data && eddy_array_bytes(a) > 0) {
        eddy_array_free(a);
        return no_array(g, dtype, shape, false);
    }
    if (a && eddy_array_bytes(a) > 0) memcpy(eddy_array_data(a), data, eddy_array_bytes(a));
    return constant_of(g, a, dtype, shape);
}

/** A scalar constant of the given dtype, converted from v.
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an unknown dtype; EDDY_NO_MEMORY.  TensorFlow: Const. */
eddy_tensor eddy_number(eddy_graph *g, eddy_dtype dtype, double v)
{
    eddy_array *a = eddy__graph_ready(g)
                        ? eddy_array_new_in(eddy__graph_allocator(g), dtype, EDDY_SCALAR)
                        : NULL;
    if (a) eddy_array_set(a, 0, v);
    return constant_of(g, a, dtype, EDDY_SCALAR);
}

/** A float32 scalar constant, as made by eddy_number.
 *
 *  TensorFlow: Const. */
eddy_tensor eddy_scalar(eddy_graph *g, double v)
{
    return eddy_number(g, EDDY_FLOAT32, v);
}

/** A scalar constant of t's dtype: the meaning of a plain number in a formula.
 *
 *  The node never has control dependencies, and repeated calls with the same number and dtype may
 *  return the same node.
 *  Errors: EDDY_BAD_DTYPE if t's dtype is an integer type that cannot represent the number: cast
 *  t. */
eddy_tensor eddy_number_like(double v, eddy_tensor t)
{
    if (!eddy_is_valid(t) || !eddy__graph_ready(t.graph))
        return eddy_none(eddy__graph_alive(t.graph) ? t.graph : NULL);
    eddy_graph *g = t.graph;
    eddy_dtype  dtype = eddy_dtype_of(t);
    uint64_t    bits;
    memcpy(&bits, &v, sizeof bits);
    eddy_tensor *slot = &g->numbers[((bits ^ (uint64_t)dtype << 7) * 0x9E3779B97F4A7C15u) >> 58];
    const eddy_array *known = eddy_constant_value(*slot);
    if (known && eddy_array_dtype(known) == dtype) {
        double was = eddy_array_get(known, 0);
        if (memcmp(&was, &v, sizeof v) == 0) return *slot;
    }
    if (!eddy__dtype_holds(dtype, v))
        return eddy_fail(
            g, EDDY_BAD_DTYPE,
            "the number %g cannot be combined with '%.200s' of type %s; cast the tensor", v,
            eddy_name_of(t), eddy_dtype_name(dtype));
    eddy_control_clear(g);
    eddy_tensor made = eddy_number(g, dtype, v);
    eddy_control_end(g);
    if (eddy_is_valid(made)) *slot = made;
    return made;
}

/* ----------------------------------------------------------------- fill -- */

static bool fill_infer(eddy_infer *c)
{
    if (c->in[0].shape.rank > 1) return eddy_infer_fail(c, EDDY_BAD_SHAPE, "dims must be a vector");
    eddy_shape s = EDDY_UNKNOWN_SHAPE;
    int64_t rank = c->in[0].shape.rank == 1 ? c->in[0].shape.dim[0] : c->in[0].shape.rank;
    if (rank > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_LIMIT, "the result would have rank %lld; the limit is %d",
                               (long long)rank, EDDY_MAX_RANK);
    if (rank >= 0) s.rank = (int)rank;
    for (int i = 0; i < s.rank; i++) {
        s.dim[i] = c->value[0] ? eddy__array_integer(c->value[0], i) : EDDY_ANY;
        if (c->value[0] && s.dim[i] < 0)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "dims[%d] = %lld is negative", i,
                                   (long long)s.dim[i]);
    }
    c->out[0] = (eddy_type){ c->in[1].dtype, s };
    return true;
}

/* Copies the first element to all n, doubling the filled part each time. */
static void repeat_first(void *p, size_t size, int64_t n)
{
    size_t total = (size_t)n * size, done = size;
    while (done < total) {
        size_t m = done < total - done ? done : total - done;
        memcpy((char *)p + done, p, m);
        done += m;
    }
}
static eddy_status fill_kernel(eddy_kernel *k)
{
    size_t size = eddy_dtype_size(k->out[0]->type.dtype);
    if (k->out[0]->count == 0) return EDDY_OK;
    memcpy(k->out[0]->data, k->in[1]->data, size);
    repeat_first(k->out[0]->data, size, k->out[0]->count);
    return EDDY_OK;
}
static void fill_gradient(eddy_rule *r) { r->dx[1] = Sum(r->dy[0]); }

static void fill_batch(eddy_batch *b)
{
    const int rank = eddy__batch_result_rank(b);
    if (b->batched[0] || rank < 0) return;
    b->y[0] = eddy_broadcast_like(eddy__batch_widen(b->x[1], 1, rank), eddy__batch_result_like(b));
}

const eddy_op_def eddy_op_fill = {
    .name = "Fill", .min_inputs = 2, .max_inputs = 2, .outputs = 1, .value_inputs = 1,
    .inputs = EDDY_INPUTS({ "dims", EDDY_TAKES_INTEGERS }, { "value", EDDY_RANK(0) }),
    .infer = fill_infer, .kernel = fill_kernel, .gradient = fill_gradient, .batch = fill_batch,
};

/** y[...] = value, with the shape given by dims.
 *
 *  dims   int32, int64 or uint8 [rank], each >= 0; a run computes it first if it is not constant
 *  value  scalar, any dtype
 *
 *  Errors: EDDY_BAD_SHAPE or EDDY_BAD_DTYPE if the arguments do not match, EDDY_LIMIT if y would be
 *  too large, EDDY_INVALID_ARGUMENT for a negative dimension.
 *  Gradient: d value = sum of dy.  TensorFlow: Fill. */
eddy_tensor eddy_fill(eddy_tensor dims, eddy_tensor value)
{
    return eddy_apply2(&eddy_op_fill, NULL, dims, value);
}

static eddy_tensor filled(eddy_graph *g, const char *called, eddy_dtype dtype, eddy_shape shape,
                          double v)
{
    char text[128];
    if (eddy__graph_ready(g) && eddy_shape_is_valid(shape) && !eddy_shape_is_known(shape))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "%s: the shape %s is not fully known; use eddy_%s_like, or eddy_fill with "
                         "a tensor of dimensions",
                         called, eddy_shape_print(shape, text, sizeof text), called);
    if (!eddy_shape_is_valid(shape)) return constant_of(g, NULL, dtype, shape);
    if (dtype == EDDY_DEFAULT_DTYPE) dtype = EDDY_FLOAT32;
    eddy_tensor dims = eddy_const(g, EDDY_INT64, EDDY_SHAPE(shape.rank), shape.dim);
    return eddy_fill(dims, eddy_number(g, dtype, v));
}

/** Zeros of a known shape; otherwise use eddy_zeros_like or eddy_fill. dtype 0 is float32.
 *
 *  TensorFlow: Fill, tf.zeros. */
eddy_tensor eddy_zeros(eddy_graph *g, eddy_dtype dtype, eddy_shape shape)
{
    return filled(g, "zeros", dtype, shape, 0);
}

/** Ones of a known shape; otherwise use eddy_ones_like or eddy_fill. dtype 0 is float32.
 *
 *  TensorFlow: Fill, tf.ones. */
eddy_tensor eddy_ones(eddy_graph *g, eddy_dtype dtype, eddy_shape shape)
{
    return filled(g, "ones", dtype, shape, 1);
}

/* ------------------------------------------------- zeros_like, ones_like -- */

static bool like_infer(eddy_infer *c)
{
    c->out[0] = c->in[0];
    return true;
}
static eddy_status zeros_like_kernel(eddy_kernel *k)
{
    memset(k->out[0]->data, 0, (size_t)k->out[0]->count * eddy_dtype_size(k->out[0]->type.dtype));
    return EDDY_OK;
}
static eddy_status ones_like_kernel(eddy_kernel *k)
{
    eddy_buffer *y = k->out[0];
    if (y->count == 0) return EDDY_OK;
    eddy__element_put(y->type.dtype, y->data, 0, 1);
    repeat_first(y->data, eddy_dtype_size(y->type.dtype), y->count);
    return EDDY_OK;
}

const eddy_op_def eddy_op_zeros_like = {
    .name = "ZerosLike", .label = "zeros_like", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .shape_inputs = 1, .infer = like_infer, .kernel = zeros_like_kernel,
    .gradient = eddy_not_differentiable,
};
const eddy_op_def eddy_op_ones_like = {
    .name = "OnesLike", .label = "ones_like", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .shape_inputs = 1, .infer = like_infer, .kernel = ones_like_kernel,
    .gradient = eddy_not_differentiable,
};

/** y = 0, with x's shape and dtype; x itself is not computed.
 *
 *  Gradient: none.  TensorFlow: ZerosLike. */
eddy_tensor eddy_zeros_like(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_zeros_like, NULL, x);
}

/** y = 1, with x's shape and dtype; x itself is not computed.
 *
 *  Gradient: none.  TensorFlow: OnesLike. */
eddy_tensor eddy_ones_like(eddy_tensor x)
{
    return eddy_apply1(&eddy_op_ones_like, NULL, x);
}
