/* conv3d.c -- 3-D convolution and its transpose: 2-D convolutions of images whose channels are the
 * channels of all depth slices that a filter covers. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/short_names.h"

#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_conv3d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv3d_args));
    eddy_tensor x, filter;
    eddy_dims   strides;           /* of depth, height and width, or one for all; default: 1 */
    const char *padding;           /* "VALID" (default), "SAME", "EXPLICIT" */
    const char *data_format;       /* "NDHWC" (default), "NCDHW" */
    eddy_dims   dilations;         /* as strides; default: 1 */
    eddy_dims   explicit_paddings; /* before and after, for depth, height and width */
    const char *name;
} eddy_conv3d_args;
typedef struct eddy_conv3d_transpose_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv3d_transpose_args));
    eddy_tensor x, filter;
    eddy_shape  output_shape;      /* default: from strides and padding */
    eddy_dims   strides;
    const char *padding;
    const char *data_format;
    eddy_dims   dilations;
    eddy_dims   explicit_paddings;
    const char *name;
} eddy_conv3d_transpose_args;
#endif

enum { MOST_TAPS = 256 };

/* Expands one, three or five entries to three; returns false if they are invalid. */
static bool expand_to_three(eddy_dims d, bool planes, int64_t *at)
{
    const int first = d.count == 5 ? (planes ? 2 : 1) : 0;
    if (d.no_number_) return false;
    if (d.count > 0 && d.count != 1 && d.count != 3 && d.count != 5) return false;
    if (d.count == 5 && (d.at[0] != 1 || d.at[planes ? 1 : 4] != 1)) return false;
    for (int i = 0; i < 3; i++) {
        at[i] = d.count <= 0 ? 1 : d.at[d.count == 1 ? 0 : first + i];
        if (at[i] < 1 || at[i] > INT32_MAX) return false;
    }
    return true;
}

/* ---------------------------------------------------------------- options -- */

/* The options of a 3-D convolution; arrays have entries for depth, height and width. */
typedef struct volume {
    const char *op, *padding;
    int64_t     step[3], gap[3], before[3], after[3];
    bool        planes, same, own;
    int64_t     groups;
} volume;

static bool take_paddings(const char *op, eddy_graph *g, eddy_dims d, const char *padding,
                          volume *v)
{
    v->same = padding && strcmp(padding, "SAME") == 0;
    v->own = d.count > 0 || d.no_number_ || (padding && strcmp(padding, "EXPLICIT") == 0);
    v->padding = d.count > 0 && !padding ? "EXPLICIT" : padding;
    if (!v->own) return true;
    bool fits = d.count == 6 && strcmp(v->padding, "EXPLICIT") == 0;
    for (int i = 0; i < 6 && fits; i++) {
        fits = d.at[i] >= 0 && d.at[i] <= INT32_MAX;
        *(i % 2 ? &v->after[i / 2] : &v->before[i / 2]) = d.at[i];
    }
    if (!fits)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "%s: explicit_paddings must have 6 entries, none negative, and requires padding "
                  "EXPLICIT",
                  op);
    return fits;
}

static bool take_options(const char *op, const eddy_conv3d_args *a, volume *v)
{
    eddy_graph *g = a->x.graph;
    const bool  planes = a->data_format && strcmp(a->data_format, "NCDHW") == 0;
    *v = (volume){ .op = op, .planes = planes, .groups = 1 };
    if ((!a->data_format || planes || strcmp(a->data_format, "NDHWC") == 0) &&
        expand_to_three(a->strides, planes, v->step) &&
        expand_to_three(a->dilations, planes, v->gap))
        return take_paddings(op, g, a->explicit_paddings, a->padding, v);
    eddy_fail(g, EDDY_INVALID_ARGUMENT,
              "%s: data_format must be NDHWC or NCDHW; strides and dilations must be positive and "
              "have 1 or 3 entries, or 5 with 1 for batch and channels",
              op);
    return false;
}

/* The entries of height and width, for the convolution of images. */
static eddy_dims image_paddings(const volume *v)
{
    if (!v->own) return (eddy_dims){ 0 };
    return EDDY_DIMS(v->before[1], v->after[1], v->before[2], v->after[2]);
}

/* Checks that the filter and x, except for its batch, are known and match.  `channels` is the
 * dimension of the filter that corresponds to the channels of x, and `out` the other. */
static bool check_shapes(volume *v, eddy_tensor x, eddy_tensor filter, int channels, int out)
{
    const eddy_shape s = eddy_shape_of(x), f = eddy_shape_of(filter);
    char text[2][128];
    if (s.rank == 5 && f.rank == 5 && eddy_shape_is_known(f) && f.dim[0] > 0 &&
        f.dim[0] <= MOST_TAPS && eddy_shape_is_known(eddy__shape_without(s, 0))) {
        const int64_t c = s.dim[4], each = f.dim[channels];
        v->groups = each > 0 && channels < out ? c / each : 1;
        if (c == each * v->groups && v->groups > 0 && f.dim[out] % v->groups == 0) return true;
    }
    eddy_fail(x.graph, EDDY_BAD_SHAPE,
              "%s: x, channels last, has shape %s and the filter %s; expected rank 5, matching "
              "channels, and known sizes except for the batch",
              v->op, eddy_shape_print(s, text[0], sizeof text[0]),
              eddy_shape_print(f, text[1], sizeof text[1]));
    return false;
}

/* The depth that a filter spans; and the number of outputs for `depth` slices, which also
 * determines the zeros before and after them; negative if the filter does not fit. */
static int64_t span_of(const volume *v, int64_t taps) { return (taps - 1) * v->gap[0] + 1; }

static int64_t outputs(volume *v, int64_t taps, int64_t depth)
{
    const int64_t step = v->step[0], span = span_of(v, taps);
    if (v->same) {
        const int64_t out = depth / step + (depth % step != 0);
        const int64_t all = out > 0 ? (out - 1) * step + span - depth : 0;
        v->before[0] = all > 0 ? all / 2 : 0;
        v->after[0] = all > 0 ? all - all / 2 : 0;
        return out;
    }
    const int64_t room = depth + v->before[0] + v->after[0];
    return room < span ? -1 : (room - span) / step + 1;
}

/* [n * depth, height, width, channels], where n may be open. */
static eddy_shape as_images(int64_t n, int64_t depth, int64_t h, int64_t w, int64_t c)
{
    return EDDY_SHAPE(n == EDDY_ANY ? EDDY_ANY : n * depth, h, w, c);
}

/* [height, width, taps * channels, out channels]. */
static eddy_tensor as_image_filter(eddy_tensor filter)
{
    const eddy_shape f = eddy_shape_of(filter);
    return eddy_reshape(Transpose(filter, EDDY_DIMS(1, 2, 0, 3, 4)),
                        EDDY_SHAPE(f.dim[1], f.dim[2], f.dim[0] * f.dim[3], f.dim[4]));
}

static eddy_tensor finished(const volume *v, eddy_tensor y, const char *name)
{
    if (v->planes) return eddy_transpose(y, EDDY_DIMS(0, 4, 1, 2, 3), .name = name);
    return name ? eddy_named(name, y) : y;
}

/* ----------------------------------------------------------------- forward -- */

/* [batch * out, height, width, taps * channels]: for each output the slices that the taps of the
 * filter cover, with the channels of a group adjacent. */
static eddy_tensor gathered(const volume *v, eddy_tensor x, int64_t taps, int64_t out)
{
    const eddy_shape s = eddy_shape_of(x);
    const int64_t    step = v->step[0], each = s.dim[4] / v->groups;
    const eddy_shape apart = EDDY_SHAPE(s.dim[0], out, s.dim[2], s.dim[3], v->groups, each);
    eddy_tensor      part[MOST_TAPS];
    if (v->before[0] + v->after[0] > 0)
        x = eddy_pad(x, EDDY_DIMS(0, v->before[0], 0, 0, 0), EDDY_DIMS(0, v->after[0], 0, 0, 0));
    for (int64_t t = 0; t < taps; t++) {
        const int64_t   first = t * v->gap[0];
        const eddy_dims from = EDDY_DIMS(0, first), to = EDDY_DIMS(0, first + (out - 1) * step + 1);
        part[t] = eddy_strided_slice(x, from, to, EDDY_DIMS(1, step), .end_mask = 1);
        if (v->groups > 1) part[t] = eddy_reshape(part[t], apart);
    }
    x = taps > 1 ? eddy_concat((eddy_list){ (int)taps, part }, v->groups > 1 ? 5 : 4) : part[0];
    return eddy_reshape(x, as_images(s.dim[0], out, s.dim[2], s.dim[3], taps * s.dim[4]));
}

/** The 3-D convolution of volumes with a filter:
 *
 *    y[n, h, i, j, o] = sum over dh, di, dj, c of x[n, h*stride + dh*dilation,
 *                       i*stride + di*dilation, j*stride + dj*dilation, c]
 *                       filter[dh, di, dj, c, o]
 *
 *  x                  float32 or float64 [batch, depth, height, width, channels], for NCDHW
 *                     [batch, channels, depth, height, width]; y likewise.  Only the batch may
 *                     be unknown
 *  filter             same type, [depth, height, width, channels, out channels], of known
 *                     sizes, depth at most 256; with fewer channels than x, groups as in
 *                     eddy_conv2d
 *  strides            of depth, height and width, one for all, or TensorFlow's five; default: 1
 *  padding            "VALID" (default), "SAME" or "EXPLICIT"; see eddy_conv2d
 *  data_format        "NDHWC" (default) or "NCDHW", which costs two transpositions
 *  dilations          spacing between the input elements of adjacent filter elements; as strides
 *  explicit_paddings  six entries: zeros before and after x in depth, height and width;
 *                     implies "EXPLICIT"
 *
 *  It is computed by eddy_conv2d on the slices of x, concatenated along the channels for each
 *  position of the filter in depth; that takes as many times the memory of x as the filter is deep.
 *  Errors: EDDY_BAD_SHAPE if ranks or channels do not match, sizes are unknown or the filter is
 *  larger than x, EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: that of the operations that it is composed of.  TensorFlow: Conv3D, nn.conv3d. */
eddy_tensor eddy_conv3d_with(const eddy_conv3d_args *given)
{
    eddy_conv3d_args a = EDDY_TAKE(eddy_conv3d_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    volume v;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    if (!eddy_is_valid(a.filter))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "conv3d: the filter is not a valid tensor");
    if (!take_options("conv3d", &a, &v)) return none;
    const eddy_tensor x = v.planes ? Transpose(a.x, EDDY_DIMS(0, 2, 3, 4, 1)) : a.x;
    if (!check_shapes(&v, x, a.filter, 3, 4)) return none;
    const eddy_shape f = eddy_shape_of(a.filter), s = eddy_shape_of(x);
    const int64_t    out = outputs(&v, f.dim[0], s.dim[1]);
    if (out <= 0)
        return eddy_fail(
            x.graph, EDDY_BAD_SHAPE,
            "conv3d: a filter spanning a depth of %lld does not fit in the depth of x, %lld",
            (long long)span_of(&v, f.dim[0]), (long long)s.dim[1]);
    const eddy_tensor y = eddy_conv2d(gathered(&v, x, f.dim[0], out), as_image_filter(a.filter),
                                      EDDY_DIMS(v.step[1], v.step[2]), v.padding,
                                      image_paddings(&v), EDDY_DIMS(v.gap[1], v.gap[2]));
    if (!eddy_is_valid(y)) return y;
    const eddy_shape got = eddy_shape_of(y);
    return finished(&v, eddy_reshape(y, EDDY_SHAPE(s.dim[0], out, got.dim[1], got.dim[2],
                                                   got.dim[3])), a.name);
}

/* --------------------------------------------------------------- transpose -- */

/* y with `depth` slices: the sum of the contributions of all depth positions of x, [n, d, h, w,
 * taps * c], to the slices that the taps cover. */
static eddy_tensor scattered(const volume *v, eddy_tensor z, int64_t taps, int64_t depth)
{
    const eddy_shape s = eddy_shape_of(z);
    const int64_t    step = v->step[0], d = (s.dim[1] - 1) * step + 1;
    const int64_t    span = span_of(v, taps), whole = d + span - 1;
    const int64_t    missing = v->before[0] + depth - whole;
    eddy_tensor      part[MOST_TAPS];
    if (step > 1) {                                  /* zeros between the slices of x */
        const eddy_tensor lines = eddy_pad(eddy_expand_dims(z, 2), EDDY_DIMS(0, 0, 0, 0, 0, 0),
                                           EDDY_DIMS(0, 0, step - 1, 0, 0, 0));
        z = eddy_reshape(lines, EDDY_SHAPE(s.dim[0], s.dim[1] * step, s.dim[2], s.dim[3],
                                           s.dim[4]));
        z = eddy_strided_slice(z, EDDY_DIMS(0, 0), EDDY_DIMS(0, d), .end_mask = 1);
    }
    const eddy_tensor split = taps > 1 ? eddy_split(z, taps, 4) : z;
    for (int64_t t = 0; t < taps; t++)
        part[t] = eddy_pad(taps > 1 ? eddy_output(split, (int)t) : z,
                           EDDY_DIMS(0, t * v->gap[0], 0, 0, 0),
                           EDDY_DIMS(0, span - 1 - t * v->gap[0] + (missing > 0 ? missing : 0), 0,
                                     0, 0));
    const eddy_tensor sum = taps > 1 ? eddy_add_n((eddy_list){ (int)taps, part }, NULL) : part[0];
    return eddy_strided_slice(sum, EDDY_DIMS(0, v->before[0]), EDDY_DIMS(0, v->before[0] + depth),
                              .end_mask = 1);
}

/* The depth of y: the one given, if its convolution has the depth of x, or else the smallest. */
static bool settle_depth(volume *v, eddy_tensor x, eddy_shape asked, int64_t taps, int64_t *depth)
{
    const int64_t d = eddy_shape_of(x).dim[1], step = v->step[0];
    *depth = v->same ? d * step
                     : (d - 1) * step + span_of(v, taps) - v->before[0] - v->after[0];
    if (asked.rank == 5 && asked.dim[1] != EDDY_ANY) *depth = asked.dim[1];
    const int64_t out = *depth > 0 ? outputs(v, taps, *depth) : -1;
    if (out == d && d > 0) return true;
    eddy_fail(x.graph, EDDY_BAD_SHAPE,
              "conv3d_transpose: an output depth of %lld requires x to have depth %lld, not %lld",
              (long long)*depth, (long long)(out < 0 ? 0 : out), (long long)d);
    return false;
}

/* The whole operation with channels last; `o` is the given shape, or has rank 0. */
static eddy_tensor spread(volume *v, eddy_tensor x, eddy_tensor filter, eddy_shape o)
{
    const eddy_shape s = eddy_shape_of(x), f = eddy_shape_of(filter);
    eddy_shape images = { .rank = 0 };
    int64_t    depth;
    if (!settle_depth(v, x, o, f.dim[0], &depth)) return eddy_none(x.graph);
    if (o.rank == 5)
        images = as_images(o.dim[0], s.dim[1], o.dim[2], o.dim[3], f.dim[0] * o.dim[4]);
    const eddy_tensor y = eddy_conv2d_transpose(
        eddy_reshape(x, as_images(s.dim[0], s.dim[1], s.dim[2], s.dim[3], s.dim[4])),
        as_image_filter(filter), images, EDDY_DIMS(v->step[1], v->step[2]), v->padding,
        image_paddings(v), EDDY_DIMS(v->gap[1], v->gap[2]));
    if (!eddy_is_valid(y)) return y;
    const eddy_shape got = eddy_shape_of(y);
    const eddy_tensor z = eddy_reshape(y, EDDY_SHAPE(s.dim[0], s.dim[1], got.dim[1], got.dim[2],
                                                     got.dim[3]));
    return scattered(v, z, f.dim[0], depth);
}

/** The transposed 3-D convolution: the gradient of eddy_conv3d with respect to its input, used for
 *  upsampling.
 *
 *  x             float32 or float64 [batch, depth, height, width, channels], for NCDHW [batch,
 *                channels, depth, height, width].  Only the batch may be unknown
 *  filter        same type, [depth, height, width, out channels, channels], of known sizes,
 *                depth at most 256
 *  output_shape  of y: batch (or EDDY_ANY), depth, height, width, out channels, in the order of
 *                data_format.  Default: with "SAME" the size of x times the strides, otherwise the
 *                smallest size whose convolution has the size of x
 *  strides, padding, data_format, dilations, explicit_paddings  those of the convolution that maps
 *                y to x; see eddy_conv3d
 *
 *  Errors: EDDY_BAD_SHAPE if ranks, channels or output_shape do not match, or sizes are unknown;
 *  EDDY_BAD_DTYPE, EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: that of the operations that it is composed of.
 *  TensorFlow: nn.conv3d_transpose, Conv3DBackpropInputV2. */
eddy_tensor eddy_conv3d_transpose_with(const eddy_conv3d_transpose_args *given)
{
    eddy_conv3d_transpose_args a = EDDY_TAKE(eddy_conv3d_transpose_args, given);
    const eddy_conv3d_args same = {
        .x = a.x, .strides = a.strides, .padding = a.padding, .data_format = a.data_format,
        .dilations = a.dilations, .explicit_paddings = a.explicit_paddings,
    };
    const eddy_tensor none = eddy_none(a.x.graph);
    eddy_shape o = a.output_shape;
    volume     v;
    char       text[128];
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    if (!eddy_is_valid(a.filter))
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "conv3d_transpose: the filter is not a valid tensor");
    if (!take_options("conv3d_transpose", &same, &v)) return none;
    if (o.rank != 0 && o.rank != 5)
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "conv3d_transpose: output_shape is %s; five "
                         "dimensions expected", eddy_shape_print(o, text, sizeof text));
    if (v.planes && o.rank == 5)
        o = EDDY_SHAPE(o.dim[0], o.dim[2], o.dim[3], o.dim[4], o.dim[1]);
    const eddy_tensor x = v.planes ? Transpose(a.x, EDDY_DIMS(0, 2, 3, 4, 1)) : a.x;
    if (!check_shapes(&v, x, a.filter, 4, 3)) return none;
    return finished(&v, spread(&v, x, a.filter, o), a.name);
}
