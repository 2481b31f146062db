/* conv3d.c -- the 3-D convolution, as one of images whose channels are those of all slices that
 * a filter meets in depth. */
#include "ops/arrays.h"
#include "ops/math.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_conv3d_args {
    char        unused_;
    eddy_tensor x, filter;
    eddy_dims   strides;           /* of depth, height and width, or one for all; default 1 */
    const char *padding;           /* "VALID" (the default), "SAME" */
    const char *data_format;       /* "NDHWC" (the default), "NCDHW" */
    eddy_dims   dilations;         /* as strides; default 1 */
    const char *name;
} eddy_conv3d_args;
#endif

enum { MOST_TAPS = 256 };

/* Three entries of one, three or five; false if they are none. */
static bool triple(eddy_dims d, bool planes, int64_t *at)
{
    const int first = d.count == 5 ? (planes ? 2 : 1) : 0;
    if (d.count > 0 && d.count != 1 && d.count != 3 && d.count != 5) return false;
    if (d.count == 5 && (d.at[0] != 1 || d.at[planes ? 1 : 4] != 1)) return false;
    for (int i = 0; i < 3; i++) {
        at[i] = d.count <= 0 ? 1 : d.at[d.count == 1 ? 0 : first + i];
        if (at[i] < 1 || at[i] > INT32_MAX) return false;
    }
    return true;
}

/* All but the batch of x is known, and the filter; and they fit. */
static bool check_shapes(eddy_tensor x, eddy_tensor filter)
{
    const eddy_shape s = eddy_shape_of(x), f = eddy_shape_of(filter);
    char text[2][128];
    if (s.rank == 5 && f.rank == 5 && eddy_shape_is_known(f) && f.dim[0] > 0 &&
        f.dim[0] <= MOST_TAPS && s.dim[4] == f.dim[3] &&
        eddy_shape_is_known(eddy_shape_without(s, 0)))
        return true;
    eddy_fail(x.graph, EDDY_BAD_SHAPE, "conv3d: x, channels last, has shape %s and the filter %s; "
              "rank 5, the same channels and known sizes but for the batch are expected",
              eddy_shape_print(s, text[0], sizeof text[0]),
              eddy_shape_print(f, text[1], sizeof text[1]));
    return false;
}

/* [batch * out depth, height, width, taps * channels]: for each place the slices that the taps
 * of the filter meet; *out is the depth of the result. */
static eddy_tensor gathered(eddy_tensor x, int64_t taps, int64_t step, int64_t gap, bool same,
                            int64_t *out)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t    depth = s.dim[1], span = (taps - 1) * gap + 1;
    eddy_tensor      part[MOST_TAPS];
    int64_t          all = 0;
    if (same) {
        *out = depth / step + (depth % step != 0);
        all = (*out - 1) * step + span > depth && *out > 0 ? (*out - 1) * step + span - depth : 0;
        if (all > 0)
            x = eddy_pad(x, EDDY_DIMS(0, all / 2, 0, 0, 0), EDDY_DIMS(0, all - all / 2, 0, 0, 0));
    } else {
        *out = depth < span ? -1 : (depth - span) / step + 1;
    }
    if (*out <= 0)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "conv3d: a filter that spans a depth of %lld "
                         "does not fit the depth of x, %lld", (long long)span, (long long)depth);
    for (int64_t t = 0; t < taps; t++) {
        const eddy_dims from = EDDY_DIMS(0, t * gap);
        const eddy_dims to = EDDY_DIMS(0, t * gap + (*out - 1) * step + 1);
        part[t] = eddy_strided_slice(x, from, to, EDDY_DIMS(1, step), .end_mask = 1);
    }
    x = taps > 1 ? eddy_concat((eddy_list){ (int)taps, part }, 4) : part[0];
    const eddy_shape images = EDDY_SHAPE(s.dim[0] == EDDY_ANY ? EDDY_ANY : s.dim[0] * *out,
                                         s.dim[2], s.dim[3], taps * s.dim[4]);
    return eddy_reshape(x, images);
}

/** The 3-D convolution of volumes with a filter:
 *
 *    y[n, h, i, j, o] = sum over dh, di, dj, c of x[n, h*stride + dh*dilation,
 *                       i*stride + di*dilation, j*stride + dj*dilation, c]
 *                       filter[dh, di, dj, c, o]
 *
 *  x            float32 or float64 [batch, depth, height, width, channels], for NCDHW
 *               [batch, channels, depth, height, width]; y likewise.  The batch alone may be open
 *  filter       of the same type [depth, height, width, channels, out channels], of known
 *               sizes, at most 256 deep
 *  strides      of depth, height and width, one for all, or TensorFlow's five; default 1
 *  padding      "VALID", the default, or "SAME"; see eddy_conv2d
 *  data_format  "NDHWC", the default, or "NCDHW", which costs two transpositions
 *  dilations    steps between what neighbouring filter elements meet; as strides
 *
 *  It is eddy_conv2d of the slices of x, as many as the filter is deep put side by side, which
 *  takes that many times the memory of x.
 *  Errors: EDDY_BAD_SHAPE if ranks or channels do not fit, sizes are open or the filter is
 *  larger than x, EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT for other options.
 *  Gradient: that of what it is made of.  TensorFlow: Conv3D, nn.conv3d. */
eddy_tensor eddy_conv3d_with(eddy_conv3d_args a)
{
    const bool        planes = a.data_format && strcmp(a.data_format, "NCDHW") == 0;
    const eddy_tensor none = { .graph = a.x.graph };
    int64_t step[3], gap[3], out;
    if (!eddy_is_valid(a.x)) return a.x;
    if (!eddy_is_valid(a.filter)) return a.filter;
    if ((a.data_format && !planes && strcmp(a.data_format, "NDHWC") != 0) ||
        !triple(a.strides, planes, step) || !triple(a.dilations, planes, gap))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "conv3d: data_format is NDHWC or NCDHW; "
                         "strides and dilations are above 0 and have 1 or 3 entries, or 5 with 1 "
                         "for batch and channels");
    eddy_tensor x = planes ? Transpose(a.x, EDDY_DIMS(0, 2, 3, 4, 1)) : a.x;
    if (!check_shapes(x, a.filter)) return none;
    const eddy_shape f = eddy_shape_of(a.filter), s = eddy_shape_of(x);
    const bool       same = a.padding && strcmp(a.padding, "SAME") == 0;
    x = gathered(x, f.dim[0], step[0], gap[0], same, &out);
    if (!eddy_is_valid(x)) return x;
    const eddy_tensor filter = eddy_reshape(
        Transpose(a.filter, EDDY_DIMS(1, 2, 0, 3, 4)),
        EDDY_SHAPE(f.dim[1], f.dim[2], f.dim[0] * f.dim[3], f.dim[4]));
    const eddy_tensor y = eddy_conv2d(x, filter, EDDY_DIMS(step[1], step[2]), a.padding,
                                      .dilations = EDDY_DIMS(gap[1], gap[2]));
    if (!eddy_is_valid(y)) return y;
    const eddy_shape got = eddy_shape_of(y);
    const eddy_shape volume = EDDY_SHAPE(s.dim[0], out, got.dim[1], got.dim[2], got.dim[3]);
    const eddy_tensor z = eddy_reshape(y, volume);
    if (planes) return eddy_transpose(z, EDDY_DIMS(0, 4, 1, 2, 3), .name = a.name);
    return a.name ? eddy_named(a.name, z) : z;
}
