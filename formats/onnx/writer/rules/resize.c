/* resize.c -- resizing of images. Each method is linear and treats rows and columns separately, so
 * it is two products with matrices of weights, which a session computes from unit vectors. ONNX's
 * Resize has other positions and weights for some of the options. */
#include "../rules.h"

#include <string.h>

static bool is_grad(const onnx_part *p) { return strstr(p->node->op->name, "Grad") != NULL; }

/* Unit vectors along axis 1 or 2, one in each channel. */
static eddy_array *units(eddy_dtype d, int axis, int64_t n)
{
    eddy_shape  s = { .rank = 4, .dim = { 1, 1, 1, n } };
    s.dim[axis] = n;
    eddy_array *a = eddy_array_new(d, s);
    for (int64_t i = 0; a && i < n; i++) eddy_array_set(a, i * n + i, 1);
    return a;
}

/* The weights [to, from] along an axis, as a name. */
static const char *weights(onnx_part *p, int axis, int64_t from, int64_t to)
{
    const eddy_dtype d = p->node->outputs[0].dtype;
    eddy_graph   *g = eddy_graph_new();
    eddy_session *s = eddy_session_new(g);
    eddy_array   *x = units(d, axis, from), *y = NULL;
    eddy_shape    like = { .rank = 4, .dim = { 1, 1, 1, from } };
    int32_t       size[2] = { 1, 1 };
    size[axis - 1] = (int32_t)(is_grad(p) ? from : to);
    like.dim[axis] = to;
    eddy_tensor in[3] = { eddy_placeholder(g, "like", d, like) };
    const int   data = is_grad(p);
    in[data] = eddy_constant(g, x, NULL);
    in[data + 1] = eddy_const(g, EDDY_INT32, EDDY_SHAPE(2), size);
    const eddy_tensor resized =
        eddy_apply(p->node->op, p->node->attrs, data + 2, in, (eddy_apply_args){ g });
    eddy_array *got = eddy_fetch(s, resized);
    if (got) y = eddy_array_copy_of(d, EDDY_SHAPE(to, from), eddy_array_data(got));
    const char *name = y ? eddy__part_array(p, y) : "";
    if (!y) eddy__part_missing(p, "the weights could not be computed");
    eddy_array_free(x);
    eddy_array_free(got);
    eddy_array_free(y);
    eddy_session_free(s);
    eddy_graph_free(g);
    return name;
}

static bool resize(onnx_part *p)
{
    const int        data = is_grad(p);
    const eddy_shape to = p->node->outputs[0].shape;
    eddy_shape       from = eddy__part_type(p, data).shape;
    if (from.rank != 4 || to.rank != 4)
        return eddy__part_missing(p, "the rank of input %d must be known", data);
    for (int i = 1; i < 4; i++)
        if (from.dim[i] == EDDY_ANY || to.dim[i] == EDDY_ANY)
            return eddy__part_missing(p, "the sizes and channels of the images must be known");
    const int64_t rows[] = { -1, from.dim[1], from.dim[2] * from.dim[3] };
    const int64_t columns[] = { -1, from.dim[2], from.dim[3] };
    const int64_t whole[] = { -1, to.dim[1], to.dim[2], to.dim[3] };
    const char   *x =
        eddy__part_binary(p, "Reshape", eddy__part_in(p, data), eddy__part_ints(p, 3, rows));
    x = eddy__part_binary(p, "MatMul", weights(p, 1, from.dim[1], to.dim[1]), x);
    x = eddy__part_binary(p, "Reshape", x, eddy__part_ints(p, 3, columns));
    x = eddy__part_binary(p, "MatMul", weights(p, 2, from.dim[2], to.dim[2]), x);
    return eddy__part_put(p, 0, eddy__part_binary(p, "Reshape", x, eddy__part_ints(p, 4, whole)));
}

static const onnx_row rows[] = {
    { "ResizeArea", resize },
    { "ResizeAreaGrad", resize },
    { "ResizeBicubic", resize },
    { "ResizeBicubicGrad", resize },
    { "ResizeBilinear", resize },
    { "ResizeBilinearGrad", resize },
    { "ResizeNearestNeighbor", resize },
    { "ResizeNearestNeighborGrad", resize },
};

const onnx_family eddy__write_resize = FAMILY_OF(rows);
