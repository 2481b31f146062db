/* tensor_array.c -- arrays of tensors: making, writing and reading. tensor_array_rows.c has the
 * functions of many elements. */
#include "control/tensor_array_internal.h"
#include "graph/base/dtype.h"
#include "control/trace_functions.h"
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/ops.h"
#include "ops/short_names.h"

#include <stdio.h>
#include <string.h>

void eddy__array_fail(eddy_tensor_array *a, eddy_status s, const char *fmt, ...)
{
    char    text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (a->graph) eddy_fail(a->graph, s, "TensorArray %.200s: %s", a->name, text);
}

int64_t eddy__array_rows(const eddy_tensor_array *a)
{
    const eddy_shape s = eddy_shape_of(a->written);
    return s.rank == 1 ? s.dim[0] : EDDY_ANY;
}

/* ----------------------------------------------------------------- making -- */

static eddy_tensor vector_of(eddy_tensor scalar) { return eddy_reshape(scalar, EDDY_SHAPE(1)); }

/* Zeros, as many as a->written, of the shape that the rows of `rows` have; if that is not a tensor,
 * of the element shape, which is then known. */
static eddy_tensor blank(const eddy_tensor_array *a, eddy_tensor rows)
{
    const eddy_shape s = eddy_is_valid(rows) ? eddy__row_type(rows).shape : a->element_shape;
    eddy_shape       all = EDDY_UNKNOWN_SHAPE;
    eddy_tensor      tail;
    if (s.rank >= 0 && s.rank < EDDY_MAX_RANK) {
        all = EDDY_SHAPE(eddy__array_rows(a));
        all.rank += s.rank;
        memcpy(&all.dim[1], s.dim, (size_t)s.rank * sizeof *s.dim);
        if (eddy_shape_is_known(all)) return eddy_zeros(a->graph, a->dtype, all);
    }
    if (eddy_is_valid(rows)) tail = eddy_index(eddy_shape_tensor(rows, EDDY_INT64), "1:");
    else tail = eddy_const(a->graph, EDDY_INT64, EDDY_SHAPE(s.rank), s.dim);
    const eddy_tensor head = eddy_shape_tensor(a->written, EDDY_INT64);
    return eddy_set_shape(eddy_fill(eddy_concat(EDDY_LIST(head, tail), 0),
                                    eddy_number(a->graph, a->dtype, 0)), all);
}

static bool size_is_valid(eddy_tensor_array *a, const eddy_tensor_array_args *o)
{
    const eddy_tensor n = o->size_tensor;
    if (o->dtype <= 0)
        eddy__array_fail(a, EDDY_BAD_DTYPE, "the dtype of the elements is missing");
    else if (o->size < 0 || o->capacity < 0)
        eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "size is %lld and capacity %lld; both must be "
                         "at least 0", (long long)o->size, (long long)o->capacity);
    else if ((eddy_is_valid(n) && n.graph != a->graph) ||
             (eddy_is_valid(o->like) && o->like.graph != a->graph))
        eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "size_tensor or like is not a tensor of the "
                         "graph");
    else if (o->capacity > 0 && !o->dynamic_size)
        eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "a capacity needs dynamic_size");
    else if (eddy_is_valid(n) && o->dynamic_size)
        eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "the first size of an array with dynamic_size "
                         "must be a number, not a tensor");
    else if (eddy_is_valid(n) &&
             (!eddy__dtype_is_index(eddy_dtype_of(n)) || eddy_shape_of(n).rank > 0))
        eddy__array_fail(a, EDDY_BAD_SHAPE, "size_tensor '%.200s' is not an integer scalar",
                         eddy_name_of(n));
    return eddy__graph_ready(a->graph);
}

eddy_tensor_array eddy_tensor_array_new_with(const eddy_tensor_array_args *given)
{
    eddy_tensor_array_args o = EDDY_TAKE(eddy_tensor_array_args, given);
    eddy_graph            *g = o.graph;
    eddy_tensor_array      a = { .graph = g, .values = eddy_none(g), .written = eddy_none(g),
                                 .dtype = o.dtype, .element_shape = EDDY_UNKNOWN_SHAPE,
                                 .least = o.size, .used = o.size, .dynamic_size = o.dynamic_size,
                                 .infer_shape = !o.no_infer_shape, .fresh = true,
                                 .name = "TensorArray" };
    if (!eddy__graph_ready(g)) return a;
    if (o.name && *o.name) a.name = eddy__arena_text(&g->arena, o.name, strlen(o.name));
    if (!a.name) return eddy_fail(g, EDDY_NO_MEMORY, "out of memory for a TensorArray"), a;
    if (!size_is_valid(&a, &o)) return a;
    if (o.element_shape) a.element_shape = *o.element_shape;
    if (eddy_is_valid(o.like) && !o.element_shape) a.element_shape = eddy_shape_of(o.like);
    if (eddy_is_valid(o.size_tensor)) {
        a.least = a.used = EDDY_ANY;
        a.written = eddy_fill(vector_of(o.size_tensor), eddy_number(g, EDDY_BOOL, 0));
    } else {
        const int64_t room = o.capacity > o.size ? o.capacity : o.size;
        a.written = eddy_zeros(g, EDDY_BOOL, EDDY_SHAPE(room));
    }
    if (eddy_is_valid(o.like)) a.values = blank(&a, ExpandDims(o.like, 0));
    else if (eddy_shape_is_known(a.element_shape)) a.values = blank(&a, eddy_none(g));
    return a;
}

static bool has_type(eddy_tensor t, eddy_dtype d, int least_rank)
{
    const int rank = eddy_shape_of(t).rank;
    return eddy_is_valid(t) && eddy_dtype_of(t) == d && (rank < 0 || rank >= least_rank);
}

/* As many values as marks, of the element shape. Arguments of a map have another dimension. */
static bool have_shapes(const eddy_tensor_array *a, const eddy_tensor *x)
{
    const eddy_shape values = eddy_shape_of(x[0]), written = eddy_shape_of(x[1]);
    if (values.rank < 0 || written.rank != 1) return true;
    const bool counts = values.dim[0] < 0 || written.dim[0] < 0 || values.dim[0] == written.dim[0];
    return counts && eddy_shape_compatible(a->element_shape, eddy__row_type(x[0]).shape);
}

eddy_tensor_array eddy_tensor_array_at(eddy_tensor_array like, const eddy_tensor *x)
{
    if (!eddy__graph_ready(like.graph)) return like;
    char values[128] = "no tensor", written[128] = "no tensor";
    if (!x || x[0].graph != like.graph || x[1].graph != like.graph ||
        !has_type(x[0], like.dtype, 1) || !has_type(x[1], EDDY_BOOL, 1) || !have_shapes(&like, x)) {
        for (int i = 0; x && i < 2; i++)
            if (eddy_is_valid(x[i]) && eddy_node_of(x[i])->n_outputs > 0)
                eddy_type_print(eddy__type_of(x[i]), i ? written : values, sizeof values);
        eddy__array_fail(&like, EDDY_INVALID_ARGUMENT, "the tensors are %s and %s; expected the "
                         "values, %s, and a bool vector", values, written,
                         eddy_dtype_name(like.dtype));
        return like;
    }
    like.values = x[0];
    like.written = x[1];
    like.used = EDDY_ANY;
    like.fresh = false;
    return like;
}

/* ---------------------------------------------------------------- writing -- */

bool eddy__array_is_ready(eddy_tensor_array *a)
{
    if (!eddy__graph_ready(a->graph)) return false;
    if (!eddy_is_valid(a->written)) eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "it is not valid");
    return eddy__graph_ready(a->graph);
}

/* Grows a dynamic array to n elements, if it has fewer. */
void eddy__array_grow(eddy_tensor_array *a, int64_t n)
{
    const int64_t rows = eddy__array_rows(a);
    if (!a->dynamic_size || n < 0) return;
    if (a->used >= 0 && n > a->used) a->used = n;
    if (rows < 0 || n <= rows) return;
    eddy_tensor_array more = *a;
    more.written = eddy_zeros(a->graph, EDDY_BOOL, EDDY_SHAPE(n - rows));
    if (eddy_is_valid(a->values))
        a->values = eddy_concat(EDDY_LIST(a->values, blank(&more, a->values)), 0);
    a->written = eddy_concat(EDDY_LIST(a->written, more.written), 0);
}

int64_t eddy__array_largest(eddy_tensor indices)
{
    const eddy_array *v = eddy_constant_value(indices);
    int64_t           most = -1;
    for (int64_t i = 0; v && i < eddy_array_count(v); i++) {
        const double at = eddy_array_get(v, i);
        if (at >= 0x1p62) return -1;
        if (at > (double)most) most = (int64_t)at;
    }
    return most;
}

bool eddy__array_is_value(eddy_tensor_array *a, eddy_tensor value)
{
    if (eddy_is_valid(value) && value.graph == a->graph) return true;
    eddy__array_fail(a, EDDY_INVALID_ARGUMENT, "Could not write: the value is not a tensor of the "
                     "graph");
    return false;
}

bool eddy__array_takes(eddy_tensor_array *a, eddy_tensor value, eddy_shape s)
{
    char             got[128], want[128];
    const eddy_shape held = eddy_is_valid(a->values) ? eddy__row_type(a->values).shape
                                                     : EDDY_UNKNOWN_SHAPE;
    const eddy_shape expected = eddy_shape_compatible(a->element_shape, s) ? held
                                                                           : a->element_shape;
    if (!eddy__array_is_value(a, value)) return false;
    if (eddy_dtype_of(value) != a->dtype)
        eddy__array_fail(a, EDDY_BAD_DTYPE,
                         "Could not write to TensorArray because the value dtype "
                         "is %s but TensorArray dtype is %s",
                         eddy_dtype_name(eddy_dtype_of(value)), eddy_dtype_name(a->dtype));
    else if (!eddy_shape_compatible(expected, s))
        eddy__array_fail(a, EDDY_BAD_SHAPE,
                         "Could not write to TensorArray because the value shape "
                         "is %s which is incompatible with the TensorArray's element shape: %s",
                         eddy_shape_print(s, got, sizeof got),
                         eddy_shape_print(expected, want, sizeof want));
    if (!eddy__graph_ready(a->graph)) return false;
    if (a->infer_shape && a->element_shape.rank < 0) a->element_shape = s;
    for (int d = 0; a->infer_shape && d < s.rank; d++)
        eddy__dim_unify(&a->element_shape.dim[d], s.dim[d]);
    return true;
}

bool eddy__array_is_index(eddy_tensor_array *a, eddy_tensor index, int rank)
{
    const bool integer = eddy_is_valid(index) && index.graph == a->graph &&
                         eddy__dtype_is_index(eddy_dtype_of(index));
    char       type[128] = "not a tensor of the graph";
    const int  got = eddy_shape_of(index).rank;
    if (integer && (got < 0 || got == rank)) return true;
    if (eddy_is_valid(index) && index.graph == a->graph)
        eddy_type_print((eddy_type){ eddy_dtype_of(index), eddy_shape_of(index) }, type,
                        sizeof type);
    eddy__array_fail(a, integer ? EDDY_BAD_SHAPE : EDDY_BAD_DTYPE,
                     "Expected %s to be an integer %s, but it is %s", rank ? "indices" : "index",
                     rank ? "vector" : "scalar", type);
    return false;
}

void eddy__array_put(eddy_tensor_array *a, eddy_tensor indices, eddy_tensor rows)
{
    const eddy_array_index_attrs attrs = { a->name, a->dynamic_size };
    const eddy_tensor            in[2] = { a->written, indices };
    if (!eddy_is_valid(a->values)) a->values = blank(a, rows);
    a->written = eddy_apply(&eddy_op_tensor_array_write, &attrs, 2, in,
                            (eddy_apply_args){ .name = NULL });
    const eddy_tensor at = eddy_output(a->written, 1);
    a->values = eddy_tensor_scatter_update(a->values, ExpandDims(at, 1), rows);
    a->fresh = false;
}

eddy_tensor_array eddy_tensor_array_write(eddy_tensor_array a, eddy_tensor index,
                                          eddy_tensor value)
{
    eddy_tensor_array b = a;
    if (!eddy__array_is_ready(&b) || !eddy__array_is_index(&b, index, 0) ||
        !eddy__array_takes(&b, value, eddy_shape_of(value)))
        return a;
    const int64_t at = eddy__array_largest(index);
    if (at >= 0) eddy__array_grow(&b, at + 1);
    else b.used = EDDY_ANY;
    eddy__array_put(&b, vector_of(index), ExpandDims(value, 0));
    return eddy__graph_ready(a.graph) ? b : a;
}

/* ---------------------------------------------------------------- reading -- */

bool eddy__array_has_values(eddy_tensor_array *a)
{
    char shape[128];
    if (!eddy__array_is_ready(a)) return false;
    if (!eddy_is_valid(a->values))
        eddy__array_fail(a, EDDY_INVALID_ARGUMENT,
                         "Could not read from the array, of which nothing "
                         "was written, because the element shape is not fully defined: %s",
                         eddy_shape_print(a->element_shape, shape, sizeof shape));
    return eddy__graph_ready(a->graph);
}

eddy_tensor eddy__array_get(const eddy_tensor_array *a, eddy_tensor indices)
{
    const eddy_array_index_attrs attrs = { a->name, a->dynamic_size };
    const eddy_tensor            in[2] = { indices, a->written };
    return eddy_gather(a->values, eddy_apply(&eddy_op_tensor_array_read, &attrs, 2, in,
                                             (eddy_apply_args){ .name = NULL }));
}

eddy_tensor eddy_tensor_array_read(eddy_tensor_array a, eddy_tensor index)
{
    if (!eddy__array_has_values(&a) || !eddy__array_is_index(&a, index, 0))
        return eddy_none(a.graph);
    return eddy__array_get(&a, index);
}
