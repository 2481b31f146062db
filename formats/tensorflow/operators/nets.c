/* nets.c -- convolutions, pools, normalizations, losses. */
#include "../nets.h"
#include "../../../ops/short_names.h"

#include <string.h>

/* ------------------------------------------------------------ convolutions -- */

/* TensorFlow.js omits a padding that is VALID in some files; SAME and VALID are Eddy's names. */
static const char *padding(const tf_build *b) { return eddy__tf_text(b, "padding", "VALID"); }

static eddy_dims explicit_padding(const tf_build *b)
{
    return strcmp(padding(b), "EXPLICIT") == 0 ? eddy__tf_dims_attr(b, "explicit_paddings")
                                               : EDDY_OMITTED_DIMS;
}

eddy_tensor eddy__tf_conv2d(tf_build *b, eddy_tensor x, eddy_tensor filter, bool depthwise)
{
    const eddy_conv2d_args a = {
        eddy_conv2d_args_DEFAULTS .size_ = sizeof a, .x = x, .filter = filter,
        .strides = eddy__tf_dims_attr(b, "strides"),
        .dilations = eddy__tf_dims_attr(b, "dilations"), .padding = padding(b),
        .explicit_paddings = explicit_padding(b),
        .data_format = eddy__tf_text(b, "data_format", "NHWC"),
    };
    return depthwise ? eddy_depthwise_conv2d_with(&a) : eddy_conv2d_with(&a);
}

static bool conv2d(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), f = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy__tf_conv2d(b, x, f, b->op->variant == 1));
}

/* The three entries of lists of five. */
static eddy_dims inner(eddy_dims d, const char *format)
{
    if (d.count != 5) return d;
    const int first = strcmp(format, "NCDHW") == 0 ? 2 : 1;
    return EDDY_DIMS(d.at[first], d.at[first + 1], d.at[first + 2]);
}

static bool conv3d(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), f = eddy__tf_in(b, 1);
    const char       *format = eddy__tf_text(b, "data_format", "NDHWC");
    return eddy__tf_put(b, 0, eddy_conv3d(x, f, inner(eddy__tf_dims_attr(b, "strides"), format),
                                          padding(b), format,
                                          inner(eddy__tf_dims_attr(b, "dilations"), format)));
}

/* To sizes that a run computes: the gradient at an image of them. */
static bool computed_transpose(tf_build *b)
{
    const eddy_tensor f = eddy__tf_in(b, 1), x = eddy__tf_in(b, 2);
    const eddy_tensor image = eddy_fill(eddy__tf_in(b, 0), NumberLike(0, x));
    int               n;
    const int64_t    *sizes = eddy__tf_partly(b, 0, &n);
    eddy_shape        s = { .rank = 4 };
    for (int i = 0; i < 4; i++) s.dim[i] = sizes && n == 4 && sizes[i] >= 0 ? sizes[i] : EDDY_ANY;
    const eddy_tensor y = eddy_conv2d_backprop_input(
        eddy_set_shape(image, s), f, x, eddy__tf_dims_attr(b, "strides"), .padding = padding(b),
        .explicit_paddings = explicit_padding(b), .dilations = eddy__tf_dims_attr(b, "dilations"),
        .data_format = eddy__tf_text(b, "data_format", "NHWC"));
    return eddy__tf_put_as(b, 0, y, eddy__tf_type_in(b, 2));
}

/* The gradient with respect to the input, which models use as a transposed convolution; the sizes
 * of the output are a list, of which the batch may be unknown. */
static bool conv2d_transpose(tf_build *b)
{
    int               n;
    const int64_t    *sizes = eddy__tf_partly(b, 0, &n);
    const eddy_tensor f = eddy__tf_in(b, 1), x = eddy__tf_in(b, 2);
    eddy_shape s = { .rank = 4 };
    bool       known = sizes && n == 4;
    for (int i = 0; known && i < 4; i++) {
        s.dim[i] = sizes[i];
        if (i > 0 && sizes[i] < 1) known = false;
    }
    if (!known) return computed_transpose(b);
    if (sizes[0] < 0) s.dim[0] = eddy_shape_of(x).rank == 4 ? eddy_shape_of(x).dim[0] : EDDY_ANY;
    const eddy_tensor y = eddy_conv2d_transpose(
        x, f, s, .strides = eddy__tf_dims_attr(b, "strides"), .padding = padding(b),
        .explicit_paddings = explicit_padding(b), .dilations = eddy__tf_dims_attr(b, "dilations"),
        .data_format = eddy__tf_text(b, "data_format", "NHWC"));
    return eddy__tf_put_as(b, 0, y, eddy__tf_type_in(b, 2));
}

/* ------------------------------------------------------------------- pools -- */

typedef eddy_tensor (*pool_builder)(const eddy_pool_nd_args *);

static bool pool(tf_build *b)
{
    static const pool_builder f[] = { eddy_max_pool2d_with, eddy_avg_pool2d_with,
                                      eddy_max_pool3d_with, eddy_avg_pool3d_with };
    const char               *format =
        eddy__tf_text(b, "data_format", b->op->variant < 2 ? "NHWC" : "NDHWC");
    const eddy_pool_nd_args a = {
        eddy_pool_nd_args_DEFAULTS .size_ = sizeof a, .x = eddy__tf_in(b, 0),
        .ksize = eddy__tf_dims_attr(b, "ksize"), .strides = eddy__tf_dims_attr(b, "strides"),
        .padding = padding(b), .explicit_paddings = explicit_padding(b), .data_format = format,
    };
    return eddy__tf_put(b, 0, f[b->op->variant](&a));
}

/* The sizes are constants in inputs 1 and 2. */
static bool pool_of_inputs(tf_build *b)
{
    eddy_dims ksize, strides;
    return eddy__tf_dims_in(b, 1, "the size of a window", &ksize) &&
           eddy__tf_dims_in(b, 2, "the strides", &strides) &&
           eddy__tf_put(b, 0, eddy_max_pool2d(eddy__tf_in(b, 0), ksize, strides, padding(b),
                                              eddy__tf_text(b, "data_format", "NHWC")));
}

static bool pool_with_argmax(tf_build *b)
{
    const eddy_tensor y = eddy_max_pool_with_argmax(
        eddy__tf_in(b, 0), eddy__tf_dims_attr(b, "ksize"), eddy__tf_dims_attr(b, "strides"),
        padding(b), .include_batch_in_index = eddy__tf_flag(b, "include_batch_in_index"));
    const int  type = eddy__tf_type(b, "Targmax", TF_INT64);
    return eddy__tf_put(b, 0, y) &&
           eddy__tf_put_as(b, 1, Cast(eddy_output(y, 1), eddy__tf_dtype(type)), type);
}

/* ---------------------------------------------------------- normalizations -- */

/* is_training is true if it is left out. */
static bool batch_norm(tf_build *b)
{
    const tf_attr    *training = eddy__tf_attr_of(b->node, "is_training");
    const bool        is_training = !training || training->i;
    const eddy_tensor x = eddy__tf_in(b, 0), scale = eddy__tf_in(b, 1), offset = eddy__tf_in(b, 2);
    const eddy_tensor mean = is_training ? eddy_none(b->graph) : eddy__tf_in(b, 3),
                      variance = is_training ? eddy_none(b->graph) : eddy__tf_in(b, 4);
    const char *format = eddy__tf_text(b, "data_format", "NHWC");
    const eddy_tensor y = eddy_fused_batch_norm(
        x, scale, offset, mean, variance, .epsilon = eddy__tf_float(b, "epsilon", 1e-4),
        .is_training = is_training, .data_format = format);
    return eddy__tf_put(b, 0, y) && eddy__tf_put_as(b, 1, eddy_output(y, 1), TF_FLOAT) &&
           eddy__tf_put_as(b, 2, eddy_output(y, 2), TF_FLOAT);
}

static bool local_response(tf_build *b)
{
    return eddy__tf_put(b, 0, eddy_local_response_normalization(
                                  eddy__tf_in(b, 0), eddy__tf_int(b, "depth_radius", 5),
                                  eddy__tf_float(b, "bias", 1), eddy__tf_float(b, "alpha", 1),
                                  eddy__tf_float(b, "beta", 0.5)));
}

/* x of rank 4 with channels second, or channels last. */
static bool bias_add(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0);
    eddy_tensor       y = eddy__tf_in(b, 1);
    if (strcmp(eddy__tf_text(b, "data_format", "NHWC"), "NCHW") != 0)
        return eddy__tf_put(b, 0, eddy_bias_add(x, y));
    for (int i = 2; i < eddy_shape_of(x).rank; i++) y = ExpandDims(y, -1);
    return eddy__tf_put(b, 0, Add(x, y));
}

/* ------------------------------------------------------------------ losses -- */

static bool cross_entropy(tf_build *b)
{
    const eddy_tensor logits = eddy__tf_in(b, 0), labels = eddy__tf_in(b, 1);
    const eddy_tensor loss = b->op->variant ? eddy_sparse_softmax_cross_entropy(labels, logits)
                                            : eddy_softmax_cross_entropy(labels, logits);
    if (!eddy__tf_put(b, 0, loss)) return false;
    const eddy_tensor p = eddy_softmax(logits);
    const int         n = eddy_shape_of(logits).rank;
    const int64_t     classes = n > 0 ? eddy_shape_of(logits).dim[n - 1] : -1;
    if (b->op->variant && classes < 0) return true;     /* the second output is rarely used */
    return eddy__tf_put(b, 1, Sub(p, b->op->variant
                                         ? eddy_one_hot(labels, classes, .dtype = eddy_dtype_of(p))
                                         : labels));
}

static bool softmax(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0);
    return eddy__tf_put(b, 0, b->op->variant ? eddy_log_softmax(x) : eddy_softmax(x));
}

static bool patches(tf_build *b)
{
    return eddy__tf_put(b, 0, eddy_extract_image_patches(
                                  eddy__tf_in(b, 0), eddy__tf_dims_attr(b, "ksizes"),
                                  eddy__tf_dims_attr(b, "strides"), eddy__tf_dims_attr(b, "rates"),
                                  padding(b)));
}

static bool dilation(tf_build *b)
{
    const eddy_tensor x = eddy__tf_in(b, 0), f = eddy__tf_in(b, 1);
    return eddy__tf_put(b, 0, eddy_dilation2d(x, f, eddy__tf_dims_attr(b, "strides"),
                                              eddy__tf_dims_attr(b, "rates"), padding(b)));
}

const tf_operator eddy__tf_nets[] = {
    { "AvgPool", pool, .variant = 1 },
    { "AvgPool3D", pool, .variant = 3 },
    { "BiasAdd", bias_add },
    { "BiasAddV1", bias_add },
    { "Conv2D", conv2d },
    { "Conv2DBackpropInput", conv2d_transpose },
    { "Conv3D", conv3d },
    { "DepthwiseConv2dNative", conv2d, .variant = 1 },
    { "Dilation2D", dilation },
    { "ExtractImagePatches", patches },
    { "FusedBatchNorm", batch_norm },
    { "FusedBatchNormV2", batch_norm },
    { "FusedBatchNormV3", batch_norm },
    { "L2Loss", .one = eddy_l2_loss },
    { "LRN", local_response },
    { "LogSoftmax", softmax, .variant = 1 },
    { "MaxPool", pool },
    { "MaxPool3D", pool, .variant = 2 },
    { "MaxPoolV2", pool_of_inputs },
    { "MaxPoolWithArgmax", pool_with_argmax },
    { "Softmax", softmax },
    { "SoftmaxCrossEntropyWithLogits", cross_entropy },
    { "SparseSoftmaxCrossEntropyWithLogits", cross_entropy, .variant = 1 },
    { NULL },
};
