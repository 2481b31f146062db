/* adaptive_pool.c -- global and adaptive pooling: max and average pooling to a given number of
 * windows. */
#include "ops/arrays/arrays.h"
#include "graph/take.h"
#include "ops/short_names.h"
#include "ops/nets/pool_windows.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
typedef struct eddy_global_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_global_pool_args));
    eddy_tensor x;
    const char *data_format;       /* channels last, the default, or second */
    bool        keepdims;          /* y has dimensions of 1 where windows were */
    const char *name;
} eddy_global_pool_args;
typedef struct eddy_adaptive_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_adaptive_pool_args));
    eddy_tensor x;
    eddy_dims   output_size;       /* an entry an axis: one to three; EDDY_ANY: that of x */
    const char *data_format;
    const char *name;
} eddy_adaptive_pool_args;
#endif

/* ---------------------------------------------------------------- to one -- */

/* The axes between batch and channels; false after an error. */
static bool middle_axes(const char *op, const eddy_global_pool_args *a, eddy_dims *axes)
{
    const eddy_shape s = eddy_shape_of(a->x);
    const int        n = s.rank - 2;
    bool planes;
    char text[128];
    if (n < 1 || n > EDDY_WINDOW_AXES) {
        eddy_fail(a->x.graph, EDDY_BAD_SHAPE, "%s: x has shape %s; rank 3 to 5 is expected", op,
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
 *  x            float32 or float64 [batch, axes..., channels] of one to three axes, or with
 *               channels second
 *  data_format  "NWC", "NHWC" or "NDHWC", the default; "NCW", "NCHW" or "NCDHW"
 *  keepdims     the axes stay, with size 1
 *
 *  Errors: EDDY_BAD_SHAPE unless the rank is known and 3 to 5, EDDY_BAD_DTYPE,
 *  EDDY_INVALID_ARGUMENT for another data_format.
 *  Gradient: dx = dy over the number of places.
 *  TensorFlow: keras.layers.GlobalAveragePooling2D. */
eddy_tensor eddy_global_average_pool_with(const eddy_global_pool_args *given)
{
    eddy_global_pool_args a = EDDY_TAKE(eddy_global_pool_args, given);
    eddy_dims axes;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* says so, or passes it on */
    if (!middle_axes("global_average_pool", &a, &axes)) return eddy_none(a.x.graph);
    return eddy_mean(a.x, .axes = axes, .keepdims = a.keepdims, .name = a.name);
}

/** y = the maximum over all spatial positions of each example, [batch, channels].
 *
 *  x, data_format, keepdims  as of eddy_global_average_pool
 *
 *  Errors: those of eddy_global_average_pool.
 *  Gradient: that of eddy_max: dx = dy at the maxima, in equal shares.
 *  TensorFlow: keras.layers.GlobalMaxPool2D. */
eddy_tensor eddy_global_max_pool_with(const eddy_global_pool_args *given)
{
    eddy_global_pool_args a = EDDY_TAKE(eddy_global_pool_args, given);
    eddy_dims axes;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (!middle_axes("global_max_pool", &a, &axes)) return eddy_none(a.x.graph);
    return eddy_max(a.x, .axes = axes, .keepdims = a.keepdims, .name = a.name);
}

/* ---------------------------------------------------------------- to any -- */

static eddy_tensor adapted(const eddy_op_def *op, const char *called,
                           const eddy_adaptive_pool_args *p)
{
    const int axes = p->output_size.count;
    const eddy_window_attrs a = { .ksize = p->output_size, .padding = "ADAPTIVE" };
    bool planes;
    if (axes < 1 || axes > EDDY_WINDOW_AXES)
        return eddy_fail(p->x.graph, EDDY_INVALID_ARGUMENT, "%s: output_size has %d entries; 1 to "
                         "3 are expected", called, axes > 0 ? axes : 0);
    if (!eddy__window_format(called, p->x.graph, p->data_format, axes, &planes))
        return eddy_none(p->x.graph);
    return eddy__window_apply(op, &a, p->x, planes, p->name);
}

/** y = the means of as many windows as are asked for.
 *
 *  x            float32 or float64 [batch, axes..., channels], or with channels second
 *  output_size  an entry an axis, one to three: how many windows; EDDY_ANY: as many as places
 *  data_format  "NWC", "NHWC" or "NDHWC", the default; "NCW", "NCHW" or "NCDHW"
 *
 *  Along an axis of n places, window i of m has those from floor(i n / m) to ceil((i+1) n / m):
 *  neighbours share a place where m does not divide n.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE unless x has two dimensions
 *  more than output_size, or if an axis is empty; EDDY_INVALID_ARGUMENT for entries that are
 *  not above 0, for another data_format.
 *  Gradient: dx = dy over the size of the window, for each window that x is in.
 *  PyTorch: nn.functional.adaptive_avg_pool2d. */
eddy_tensor eddy_adaptive_avg_pool_with(const eddy_adaptive_pool_args *given)
{
    eddy_adaptive_pool_args a = EDDY_TAKE(eddy_adaptive_pool_args, given);
    return adapted(&eddy_op_avg_pool3d, "adaptive_avg_pool", &a);
}

/** y = the maxima of as many windows as are asked for.
 *
 *  x, output_size, data_format  as of eddy_adaptive_avg_pool
 *
 *  Errors: those of eddy_adaptive_avg_pool.
 *  Gradient: dx = dy at the maximum of each window, the first one.
 *  PyTorch: nn.functional.adaptive_max_pool2d. */
eddy_tensor eddy_adaptive_max_pool_with(const eddy_adaptive_pool_args *given)
{
    eddy_adaptive_pool_args a = EDDY_TAKE(eddy_adaptive_pool_args, given);
    return adapted(&eddy_op_max_pool3d, "adaptive_max_pool", &a);
}
