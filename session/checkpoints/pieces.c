/* pieces.c -- arrays joined along an axis, and parts of an array. */
#include "session/checkpoints/internal.h"

#include <string.h>

/* Bytes that follow each other in an array of that shape within one index of the axes before. */
static size_t run_of(eddy_shape s, int axis, int64_t size, size_t width)
{
    for (int i = axis + 1; i < s.rank; i++) width *= (size_t)s.dim[i];
    return width * (size_t)size;
}

static int64_t runs_of(eddy_shape s, int axis)
{
    int64_t n = 1;
    for (int i = 0; i < axis; i++) n *= s.dim[i];
    return n;
}

static bool same_besides(eddy_shape x, eddy_shape y, int axis)
{
    y.dim[axis] = x.dim[axis];
    return eddy_shape_equal(x, y);
}

/* The shape of the joined arrays; false if they do not fit together. */
static bool joined_shape(int n, eddy_array *const *x, int axis, eddy_shape *out)
{
    *out = eddy_array_shape(x[0]);
    for (int i = 1; i < n; i++) {
        const eddy_shape s = eddy_array_shape(x[i]);
        if (eddy_array_dtype(x[i]) != eddy_array_dtype(x[0]) || s.rank != out->rank ||
            !same_besides(s, *out, axis))
            return false;
        out->dim[axis] += s.dim[axis];
    }
    return eddy_shape_is_valid(*out);
}

eddy_array *eddy__join_arrays(const eddy_allocator *a, int n, eddy_array *const *x, int axis,
                              const char *what, eddy_error *e)
{
    eddy_shape s = eddy_array_shape(x[0]);
    char       text[100];
    if (axis < 0) axis += s.rank;
    if (axis < 0 || axis >= s.rank || !joined_shape(n, x, axis, &s)) {
        eddy__error_set(e, EDDY_BAD_SHAPE,
                        "'%.200s' (%s) cannot be joined with the other variables of the rule", what,
                        eddy_shape_print(eddy_array_shape(x[0]), text, sizeof text));
        return NULL;
    }
    eddy_array *y = eddy_array_new_in(a, eddy_array_dtype(x[0]), s);
    if (!y)
        return (void)eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what), NULL;
    const size_t width = eddy_dtype_size(eddy_array_dtype(y));
    char        *to = eddy_array_data(y);
    for (int64_t r = 0; r < runs_of(s, axis); r++) {
        for (int i = 0; i < n; i++) {
            const eddy_shape part = eddy_array_shape(x[i]);
            const size_t     bytes = run_of(part, axis, part.dim[axis], width);
            if (bytes > 0) memcpy(to, (char *)eddy_array_data(x[i]) + (size_t)r * bytes, bytes);
            to += bytes;
        }
    }
    return y;
}

eddy_array *eddy__slice_array(const eddy_allocator *a, const eddy_array *x, int axis, int64_t begin,
                              int64_t size, const char *what, eddy_error *e)
{
    const eddy_shape from = eddy_array_shape(x);
    eddy_shape       s = from;
    char             text[100];
    if (axis < 0) axis += s.rank;
    if (axis < 0 || axis >= s.rank || begin < 0 || size < 0 || begin > s.dim[axis] - size) {
        eddy__error_set(e, EDDY_BAD_SHAPE, "'%.200s' (%s) cannot be divided as its rule says", what,
                        eddy_shape_print(from, text, sizeof text));
        return NULL;
    }
    s.dim[axis] = size;
    eddy_array *y = eddy_array_new_in(a, eddy_array_dtype(x), s);
    if (!y)
        return (void)eddy__error_set(e, EDDY_NO_MEMORY, "out of memory for '%.200s'", what), NULL;
    const size_t width = eddy_dtype_size(eddy_array_dtype(x));
    const size_t all = run_of(from, axis, from.dim[axis], width),
                 bytes = run_of(s, axis, size, width);
    const size_t first = run_of(from, axis, begin, width);
    for (int64_t r = 0; r < runs_of(s, axis) && bytes > 0; r++)
        memcpy((char *)eddy_array_data(y) + (size_t)r * bytes,
               (char *)eddy_array_data(x) + (size_t)r * all + first, bytes);
    return y;
}
