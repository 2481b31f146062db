/* adaptive_pool.c -- global and adaptive pooling: max and average pooling to a given number of
 * windows. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "ops/nets/pooling_rules.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_global_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_global_pool_args));
    eddy_tensor x;
    const char *data_format;       /* channels last (default) or second */
    bool        keepdims;          /* y keeps the spatial dimensions, with size 1 */
    const char *name;
} eddy_global_pool_args;
typedef struct eddy_adaptive_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adaptive_pool_args));
    eddy_tensor x;
    eddy_dims   output_size;       /* one entry per axis, one to three; EDDY_ANY: that of x */
    const char *data_format;
    const char *name;
} eddy_adaptive_pool_args;
#endif

/* -------------------------------------------------------- global pooling -- */

/* The number of axes between batch and channels; returns false after an error. */
static bool middle_axes(const char *op, const eddy_global_pool_args *a, eddy_dims *axes)
{
    const eddy_shape s = eddy_shape_of(a->x);
    const int        n = s.rank - 2;
    bool planes;
    char text[128];
    if (n < 1 || n > EDDY_WINDOW_AXES) {
        eddy_fail(a->x.graph, EDDY_BAD_SHAPE, "%s: x has shape %s; rank 3 to 5 expected", op,
                  eddy_shape_print(s, text, sizeof text));
        return false;
    }
    if (!eddy__window_format(op, a->x.graph, a->data_format, n, &planes)) return false;
    *axes = (eddy_dims){ .count = n };
    for (int i = 0; i < n; i++) axes->at[i] = i + (planes ? 2 : 1);
    return true;
}

/** y = the mean over all spatial positions of each example, [batch, channels].
 *
 *  x            float32 or float64 [batch, axes..., channels] with one to three axes, or with
 *               channels second
 *  data_format  "NWC", "NHWC" or "NDHWC" (default); "NCW", "NCHW" or "NCDHW"
 *  keepdims     keep the reduced axes, with size 1
 *
 *  Errors: EDDY_BAD_SHAPE unless the rank is known and 3 to 5, EDDY_BAD_DTYPE,
 *  EDDY_INVALID_ARGUMENT for any other data_format.
 *  Gradient: dx = dy divided by the number of positions.
 *  TensorFlow: keras.layers.GlobalAveragePooling2D. */
eddy_tensor eddy_global_average_pool_with(const eddy_global_pool_args *given)
{
    eddy_global_pool_args a = EDDY_TAKE(eddy_global_pool_args, given);
    eddy_dims axes;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    if (!middle_axes("global_average_pool", &a, &axes)) return eddy_none(a.x.graph);
    return eddy_mean(a.x, .axes = axes, .keepdims = a.keepdims, .name = a.name);
}

/** y = the maximum over all spatial positions of each example, [batch, channels].
 *
 *  x, data_format, keepdims  as for eddy_global_average_pool
 *
 *  Errors: those of eddy_global_average_pool.
 *  Gradient: that of eddy_max: dx = dy at the maxima, shared equally among them.
 *  TensorFlow: keras.layers.GlobalMaxPool2D. */
eddy_tensor eddy_global_max_pool_with(const eddy_global_pool_args *given)
{
    eddy_global_pool_args a = EDDY_TAKE(eddy_global_pool_args, given);
    eddy_dims axes;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (!middle_axes("global_max_pool", &a, &axes)) return eddy_none(a.x.graph);
    return eddy_max(a.x, .axes = axes, .keepdims = a.keepdims, .name = a.name);
}

/* ------------------------------------------------------ adaptive pooling -- */

static eddy_tensor adapted(const eddy_op_def *op, const char *called,
                           const eddy_adaptive_pool_args *given)
{
    const eddy_adaptive_pool_args p = EDDY_TAKE(eddy_adaptive_pool_args, given);
    const int axes = p.output_size.count;
    const eddy_window_attrs a = { .ksize = p.output_size, .padding = "ADAPTIVE" };
    bool planes;
    if (axes < 1 || axes > EDDY_WINDOW_AXES)
        return eddy_fail(p.x.graph, EDDY_INVALID_ARGUMENT, "%s: the number of entries of "
                         "output_size is %d; expected 1 to 3", called, axes > 0 ? axes : 0);
    if (!eddy__window_format(called, p.x.graph, p.data_format, axes, &planes))
        return eddy_none(p.x.graph);
    return eddy__window_apply(op, &a, p.x, planes, p.name);
}

/** y = the means of the windows into which x is divided, output_size[i] of them along axis i.
 *
 *  x            float32 or float64 [batch, axes..., channels], or with channels second
 *  output_size  the number of windows, one entry per axis, one to three; EDDY_ANY: the size of x
 *  data_format  "NWC", "NHWC" or "NDHWC" (default); "NCW", "NCHW" or "NCDHW"
 *
 *  Along an axis of size n, window i of m covers positions floor(i n / m) to ceil((i+1) n / m) - 1:
 *  neighboring windows overlap in one position if m does not divide n.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has two dimensions
 *  more than output_size, or if an axis is empty; EDDY_INVALID_ARGUMENT for entries that are
 *  not positive, or for any other data_format.
 *  Gradient: dx = the sum over the windows that contain x of dy divided by the size of the window.
 *  PyTorch: nn.functional.adaptive_avg_pool2d. */
eddy_tensor eddy_adaptive_avg_pool_with(const eddy_adaptive_pool_args *given)
{
    return adapted(&eddy_op_avg_pool3d, "adaptive_avg_pool", given);
}

/** y = the maxima of the windows into which x is divided, output_size[i] of them along axis i.
 *
 *  x, output_size, data_format  as for eddy_adaptive_avg_pool
 *
 *  Errors: those of eddy_adaptive_avg_pool.
 *  Gradient: dx = dy at the first maximum of each window.
 *  PyTorch: nn.functional.adaptive_max_pool2d. */
eddy_tensor eddy_adaptive_max_pool_with(const eddy_adaptive_pool_args *given)
{
    return adapted(&eddy_op_max_pool3d, "adaptive_max_pool", given);
}
