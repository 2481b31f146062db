/* pool.c -- pooling whose kind is an argument; max_pool.c and avg_pool.c have the operations. */
#include "build/gen/table.h"
#include "graph/call_options.h"
#include "ops/nets/pooling_rules.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_pool_args));
    eddy_tensor x;
    eddy_dims   window_shape;      /* one entry per axis: one to three */
    const char *pooling_type;      /* "MAX" or "AVG" */
    eddy_dims   strides;           /* likewise, or one for all; default: 1 */
    const char *padding;
    const char *data_format;
    eddy_dims   dilations;
    eddy_dims   explicit_paddings;
    bool        count_include_pad;
    const char *name;
} eddy_pool_args;
#endif

/** y = the maxima or means of windows along one, two or three axes, as many as window_shape has
 *  entries.
 *
 *  x                  float32 or float64 [batch, axes..., channels], or with channels second
 *  window_shape       one entry per axis
 *  pooling_type       "MAX" or "AVG"
 *  strides            one entry for all axes, or one per axis; default: 1
 *  padding            "VALID" (default), "SAME" or "EXPLICIT"; see eddy_max_pool1d
 *  data_format        "NWC", "NHWC" or "NDHWC" (default); "NCW", "NCHW" or "NCDHW"
 *  dilations          as strides; default: 1
 *  explicit_paddings  for each axis, how far windows may extend before and after x
 *  count_include_pad  means divide by the size of the whole window
 *
 *  Otherwise padding is ignored, also by dilated windows; TensorFlow pads those with zeros.
 *  Errors, gradient: those of eddy_max_pool1d and eddy_avg_pool1d; EDDY_INVALID_ARGUMENT for
 *  any other pooling_type.  TensorFlow: nn.pool. */
eddy_tensor eddy_pool_with(const eddy_pool_args *given)
{
    eddy_pool_args a = EDDY_TAKE(eddy_pool_args, given);
    const int  axes = a.window_shape.count;
    const bool mean = a.pooling_type && strcmp(a.pooling_type, "AVG") == 0;
    if (eddy_refuse_number(a.x.graph, "pool", "window_shape", a.window_shape) ||
        eddy_refuse_number(a.x.graph, "pool", "dilations", a.dilations) ||
        eddy_refuse_number(a.x.graph, "pool", "explicit_paddings", a.explicit_paddings))
        return eddy_none(a.x.graph);
    if (!mean && (!a.pooling_type || strcmp(a.pooling_type, "MAX") != 0))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "pool: pooling_type is '%.40s'; it must "
                         "be MAX or AVG", a.pooling_type ? a.pooling_type : "");
    if (axes < 1 || axes > EDDY_WINDOW_AXES)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "pool: the number of entries of "
                         "window_shape is %d; expected 1 to 3", axes > 0 ? axes : 0);
    const eddy_pool_nd_args p =
        *EDDY_ARGS(eddy_pool_nd_args, .x = a.x, .ksize = a.window_shape, .padding = a.padding,
                   .data_format = a.data_format, .strides = eddy_dims_or(a.strides, EDDY_DIMS(1)),
                   .dilations = a.dilations, .explicit_paddings = a.explicit_paddings,
                   .count_include_pad = a.count_include_pad, .name = a.name);
    return mean ? eddy__window_pool(&eddy_op_avg_pool3d, &eddy_op_avg_pool, "pool", axes, &p)
                : eddy__window_pool(&eddy_op_max_pool3d, &eddy_op_max_pool, "pool", axes, &p);
}
