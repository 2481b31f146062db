/* conv2d.c -- 2-D convolution: its shape rule, the operation, and a fused operation with bias,
 * residual sum and relu. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/nets/conv2d_fused.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

const eddy_attr_field eddy__conv_fields[] =
    EDDY_FIELDS(eddy_conv_attrs, strides, padding, explicit_paddings, dilations, data_format);

/* --------------------------------------------------------------- options -- */

static bool equals(const char *a, const char *b) { return a && strcmp(a, b) == 0; }

/* The axis of the channels of x, and of its height, which is followed by the width. */
int eddy__conv_channels(const char *data_format) { return equals(data_format, "NCHW") ? 1 : 3; }
static int height_of(const eddy_conv_attrs *a) { return equals(a->data_format, "NCHW") ? 2 : 1; }

/* Expands a list for height and width, or one number for both, to one entry per dimension. */
static eddy_dims spread(eddy_dims d, int channels)
{
    if (d.count < 0 || d.count > 2 || d.no_number_) return d;
    const int64_t h = d.count > 0 ? d.at[0] : 1, w = d.count > 1 ? d.at[1] : h;
    return channels == 1 ? EDDY_DIMS(1, 1, h, w) : EDDY_DIMS(1, h, w, 1);
}

eddy_conv_attrs eddy__conv_attrs_of(eddy_dims strides, const char *padding, eddy_dims paddings,
                                    eddy_dims dilations, const char *data_format)
{
    const int channels = eddy__conv_channels(data_format);
    if (paddings.count == 4) {
        const int64_t t = paddings.at[0], b = paddings.at[1], l = paddings.at[2],
                      r = paddings.at[3];
        paddings = channels == 1 ? EDDY_DIMS(0, 0, 0, 0, t, b, l, r)
                                 : EDDY_DIMS(0, 0, t, b, l, r, 0, 0);
    }
    return (eddy_conv_attrs){
        .strides = spread(strides, channels), .dilations = spread(dilations, channels),
        .padding = padding ? padding : paddings.count > 0 ? "EXPLICIT" : "VALID",
        .explicit_paddings = paddings, .data_format = data_format ? data_format : "NHWC",
    };
}

/* Checks for one entry per dimension, in [1, 2^31), and 1 for batch and channels. */
static bool check_entries(eddy_infer *c, const char *what, eddy_dims d, int height)
{
    if (d.count != 4)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of %s is %d; "
                               "expected 1, 2, or one per dimension", what,
                               d.count < 0 ? 0 : d.count);
    for (int i = 0; i < 4; i++) {
        if (i != height && i != height + 1 && d.at[i] != 1)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                                   "%s of the batch and depth dimensions must be 1", what);
        if (d.at[i] < 1 || d.at[i] > INT32_MAX)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%s must be positive and below 2^31, "
                                   "but one is %lld", what, (long long)d.at[i]);
    }
    return true;
}

static bool check_padding(eddy_infer *c, const eddy_conv_attrs *a)
{
    const eddy_dims p = a->explicit_paddings;
    const int       h = 2 * height_of(a);
    if (!equals(a->padding, "SAME") && !equals(a->padding, "VALID") &&
        !equals(a->padding, "EXPLICIT"))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "padding is '%.40s'; it must be SAME, VALID or EXPLICIT",
                               a->padding ? a->padding : "");
    if (!equals(a->padding, "EXPLICIT")) {
        if (p.count <= 0) return true;
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "explicit_paddings requires padding EXPLICIT");
    }
    if (p.count != 8)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the number of entries of "
                               "explicit_paddings is %d; expected 4, or two per dimension",
                               p.count);
    for (int i = 0; i < 8; i++)
        if (p.at[i] < 0 || p.at[i] > INT32_MAX || ((i < h || i >= h + 4) && p.at[i] != 0))
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "explicit_paddings must be 0 or more "
                                   "and below 2^31, and 0 in the batch and depth dimensions");
    return true;
}

static bool check_options(eddy_infer *c)
{
    const eddy_conv_attrs *a = c->attrs;
    if (!equals(a->data_format, "NHWC") && !equals(a->data_format, "NCHW"))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "data_format is '%.40s'; it must be NHWC or NCHW",
                               a->data_format ? a->data_format : "");
    return check_entries(c, "strides", a->strides, height_of(a)) &&
           check_entries(c, "dilations", a->dilations, height_of(a)) && check_padding(c, a);
}

/* ----------------------------------------------------------------- sizes -- */

static bool check_channels(eddy_infer *c, int64_t in, eddy_shape filter)
{
    for (int i = 0; i < 3; i++) {
        if (filter.dim[i] == 0)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "the filter's height, width and depth must not be zero");
        if (i < 2 && filter.dim[i] > INT32_MAX)
            return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the filter's height and width must be "
                                   "below 2^31");
    }
    const int64_t depth = filter.dim[2], out = filter.dim[3];
    if (in == EDDY_ANY || depth == EDDY_ANY) return true;
    if (in % depth != 0)
        return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                               "input depth must be evenly divisible by filter depth: %lld vs %lld",
                               (long long)in, (long long)depth);
    if (out == EDDY_ANY || (in == 0 ? out == 0 : out % (in / depth) == 0)) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "output depth must be evenly divisible by number of groups: "
                           "%lld vs %lld", (long long)out, (long long)(in / depth));
}

/* Zeros before height (i = 0) or width (1), the total of zeros, and the size of the output. */
static int64_t window(const eddy_conv_attrs *a, int i, int64_t in, int64_t filter, int64_t *before,
                      int64_t *all)
{
    const int     at = height_of(a) + i;
    const int64_t step = a->strides.at[at], span = (filter - 1) * a->dilations.at[at] + 1;
    *before = *all = 0;
    if (equals(a->padding, "EXPLICIT")) {
        *before = a->explicit_paddings.at[2 * at];
        *all = *before + a->explicit_paddings.at[2 * at + 1];
    } else if (equals(a->padding, "SAME")) {
        const int64_t out = in / step + (in % step != 0), last = (out - 1) * step;
        *all = out > 0 && last + span > in ? last + span - in : 0;
        *before = *all / 2;
        return out;
    }
    return in + *all < span ? -1 : (in + *all - span) / step + 1;
}

static bool infer_place(eddy_infer *c, int i, int64_t in, int64_t filter, int64_t *out)
{
    const eddy_conv_attrs *a = c->attrs;
    const int at = height_of(a) + i;
    int64_t before, all;
    *out = EDDY_ANY;
    if (in == EDDY_ANY) return true;
    if (filter == EDDY_ANY && !equals(a->padding, "SAME")) return true;
    *out = window(a, i, in, filter == EDDY_ANY ? 1 : filter, &before, &all);
    if (*out >= 0) return true;
    return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                           "Computed output size would be negative [input_size: %lld, "
                           "effective_filter_size: %lld, stride: %lld]", (long long)(in + all),
                           (long long)((filter - 1) * a->dilations.at[at] + 1),
                           (long long)a->strides.at[at]);
}

bool eddy__infer_conv(eddy_infer *c, eddy_shape x, eddy_shape filter, eddy_shape *y)
{
    const eddy_conv_attrs *a = c->attrs;
    if (!check_options(c)) return false;
    const int h = height_of(a), channels = eddy__conv_channels(a->data_format);
    if (x.rank < 0) x = eddy__shape_open(4);
    if (filter.rank < 0) filter = eddy__shape_open(4);
    *y = eddy__shape_open(4);
    y->dim[0] = x.dim[0];
    y->dim[channels] = filter.dim[3];
    return check_channels(c, x.dim[channels], filter) &&
           infer_place(c, 0, x.dim[h], filter.dim[0], &y->dim[h]) &&
           infer_place(c, 1, x.dim[h + 1], filter.dim[1], &y->dim[h + 1]);
}

eddy_conv_size eddy__conv_size_of(const eddy_conv_attrs *a, eddy_shape x, eddy_shape filter)
{
    const int      h = height_of(a), channels = eddy__conv_channels(a->data_format);
    eddy_conv_size s = { .batch = x.dim[0], .in_c = x.dim[channels], .out_c = filter.dim[3],
                         .groups = x.dim[channels] / filter.dim[2], .planes = channels == 1 };
    if (s.groups == 0) s.groups = 1;                     /* the output is empty */
    for (int i = 0; i < 2; i++) {
        int64_t all;
        s.in[i] = x.dim[h + i];
        s.filter[i] = filter.dim[i];
        s.step[i] = a->strides.at[h + i];
        s.gap[i] = a->dilations.at[h + i];
        s.out[i] = window(a, i, s.in[i], s.filter[i], &s.before[i], &all);
    }
    return s;
}

/* ---------------------------------------------------------------- conv2d -- */

#ifdef EDDY_HEADER
/* Options of eddy_conv2d and eddy_depthwise_conv2d. */
typedef struct eddy_conv2d_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_conv2d_args));
    eddy_tensor x, filter;
    eddy_dims   strides;           /* of height and width, or one for both; default: 1 */
    const char *padding;           /* "VALID" (default), "SAME", "EXPLICIT" */
    eddy_dims   explicit_paddings; /* top, bottom, left, right */
    eddy_dims   dilations;         /* as strides; default: 1 */
    const char *data_format;       /* "NHWC" (default), "NCHW" */
    const char *name;
} eddy_conv2d_args;
#endif

static eddy_status conv2d_prepare(eddy_kernel *k)
{
    const eddy_dtype d = k->in[1]->type.dtype;
    eddy_conv_size   s = eddy__conv_size(k);
    s.halves = k->in[0]->type.dtype != d;
    return eddy__conv_prepare(k, d, &s, false);
}

static eddy_status conv2d_kernel(eddy_kernel *k)
{
    eddy__conv_run(k, k->in[0]->data, k->in[1]->data, k->out[0]->data, (eddy_conv_finish){ 0 });
    return EDDY_OK;
}

void eddy__conv2d_gradient(eddy_rule *r)
{
    static const eddy_conv_family conv2d = {
        &eddy_op_conv2d, &eddy_op_conv2d_backprop_input, &eddy_op_conv2d_backprop_filter,
    };
    eddy__conv_gradient(r, &conv2d);
}

static void conv2d_batch(eddy_batch *b)
{
    const eddy_conv_attrs *a = b->attrs;
    if (b->batched[1]) eddy__conv_batch_groups(b, 1, 3, eddy__conv_channels(a->data_format));
    else eddy__conv_batch_images(b);
}

const eddy_op_def eddy_op_conv2d = {
    .name = "Conv2D", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }),
    .attrs_size = sizeof(eddy_conv_attrs), .attrs = eddy__conv_fields,
    .infer = eddy__conv_infer, .prepare = conv2d_prepare, .kernel = conv2d_kernel,
    .gradient = eddy__conv2d_gradient, .batch = conv2d_batch, .flops = eddy__conv_flops,
};

/** The 2-D convolution of images with a filter:
 *
 *    y[n, i, j, o] = sum over di, dj, c of
 *                    x[n, i*stride + di*dilation, j*stride + dj*dilation, c] filter[di, dj, c, o]
 *
 *  x                  float32 or float64 [batch, height, width, channels], for NCHW
 *                     [batch, channels, height, width]; y likewise
 *  filter             same type, [height, width, channels, out channels].  If it has fewer
 *                     channels than x, the channels of x are divided into groups of that many,
 *                     each convolved with its share of the out channels
 *  strides            of height and width, one for both, or TensorFlow's four; default: 1
 *  padding            "VALID" (default): windows lie within the image.  "SAME": zeros
 *                     around it so that the size of y is that of x divided by the stride,
 *                     rounded up; if their number is odd, the extra one comes after the image.
 *                     "EXPLICIT"
 *  explicit_paddings  zeros above, below, left and right, or TensorFlow's eight; implies
 *                     "EXPLICIT"
 *  dilations          spacing between the input elements of adjacent filter elements; as strides
 *  data_format        "NHWC" (default), which is faster; "NCHW"
 *
 *  float32 with a 3x3 or 5x5 filter, strides and dilations 1, no groups and NHWC uses minimal
 *  filtering (Winograd) if that is faster: the rounding error of an element, in y and in the
 *  gradients, then depends on the largest of its neighbors and channels.  Infinities and NaN
 *  give the same results as without it.
 *
 *  Errors: EDDY_BAD_SHAPE if channels do not match or a window is larger than the image,
 *  EDDY_INVALID_ARGUMENT for invalid options.
 *  Gradient: dx is eddy_conv2d_backprop_input, dfilter eddy_conv2d_backprop_filter of dy.
 *  TensorFlow: Conv2D. */
eddy_tensor eddy_conv2d_with(const eddy_conv2d_args *given)
{
    eddy_conv2d_args a = EDDY_TAKE(eddy_conv2d_args, given);
    const eddy_conv_attrs attrs = eddy__conv_attrs_of(a.strides, a.padding, a.explicit_paddings,
                                                      a.dilations, a.data_format);
    const eddy_tensor in[] = { a.x, a.filter };
    return eddy__apply_named(a.name, &eddy_op_conv2d, &attrs, 2, in);
}

/* ---------------------------------------------------------- fused_conv2d -- */

typedef eddy_fused_conv_attrs fused_attrs;

static const eddy_attr_field fused_fields[] = {
    { "strides", EDDY_ATTR_DIMS, offsetof(fused_attrs, conv.strides) },
    { "padding", EDDY_ATTR_STRING, offsetof(fused_attrs, conv.padding) },
    { "explicit_paddings", EDDY_ATTR_DIMS, offsetof(fused_attrs, conv.explicit_paddings) },
    { "dilations", EDDY_ATTR_DIMS, offsetof(fused_attrs, conv.dilations) },
    { "data_format", EDDY_ATTR_STRING, offsetof(fused_attrs, conv.data_format) },
    { "has_bias", EDDY_ATTR_INT, offsetof(fused_attrs, has_bias) },
    { "has_residual", EDDY_ATTR_INT, offsetof(fused_attrs, has_residual) },
    { "activation", EDDY_ATTR_INT, offsetof(fused_attrs, activation) },
    { 0 },
};

static bool fused_infer(eddy_infer *c)
{
    const fused_attrs *a = c->attrs;
    eddy_shape y;
    const bool sound = (a->has_bias | a->has_residual | a->activation) >> 1 == 0;
    if (!sound || c->n_in != 2 + a->has_bias + a->has_residual ||
        !equals(a->conv.data_format, "NHWC"))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "has_bias, has_residual and activation must be 0 or 1, the first "
                               "two each add an input, and data_format must be NHWC");
    if (!eddy__infer_conv(c, c->in[0].shape, c->in[1].shape, &y)) return false;
    if (a->has_bias && !eddy_shape_compatible(c->in[2].shape, EDDY_SHAPE(y.dim[3])))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the bias must have one entry per channel");
    if (a->has_residual && !eddy_shape_compatible(c->in[2 + a->has_bias].shape, y))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the residual must have the shape of the result");
    return eddy__infer_yield(c, 0, c->in[0].dtype, y);
}

static eddy_status fused_kernel(eddy_kernel *k)
{
    const fused_attrs *a = k->attrs;
    const eddy_conv_finish f = {
        .bias = a->has_bias ? k->in[2]->data : NULL,
        .residual = a->has_residual ? k->in[2 + a->has_bias]->data : NULL,
        .relu = a->activation == 1,
    };
    eddy__conv_run(k, k->in[0]->data, k->in[1]->data, k->out[0]->data, f);
    return EDDY_OK;
}

/* A vmap is expanded before a session creates this node; otherwise it loops over the examples. */
static void fused_batch(eddy_batch *b) { (void)b; }

static double fused_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    const fused_attrs *a = attrs;
    return eddy__conv_flops(&a->conv, n_in, in, out) +
           (double)(a->has_bias + a->has_residual + a->activation) *
               (double)eddy_shape_count(out->shape);
}

const eddy_op_def eddy_op_fused_conv2d = {
    .name = "_FusedConv2D", .label = "FusedConv2D", .min_inputs = 2, .max_inputs = 4, .outputs = 1,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS | EDDY_RANK(4) },
                          { "filter", EDDY_LIKE(0) | EDDY_RANK(4) }, { "addend", EDDY_LIKE(0) }),
    .attrs_size = sizeof(fused_attrs), .attrs = fused_fields,
    .infer = fused_infer, .prepare = conv2d_prepare, .kernel = fused_kernel,
    .batch = fused_batch, .flops = fused_flops,
};
