/* edges_and_quality.c -- Sobel edges, image gradients, total variation, and image quality: PSNR
 * and SSIM; composed of other operations. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/images/images.h"
#include "ops/short_names.h"

#include <math.h>

static eddy_tensor none(eddy_tensor x) { return eddy_none(x.graph); }

/* ----------------------------------------------------------------- edges -- */

/* Differences of x may be negative. */
static bool is_signed(const char *who, eddy_tensor x)
{
    if (eddy_dtype_of(x) != EDDY_UINT8) return true;
    return eddy_fail(x.graph, EDDY_BAD_DTYPE, "%s: not defined for images of uint8, which has no "
                     "negative numbers", who), false;
}

/* The difference from each row, or column, to the next. */
static eddy_tensor row_differences(eddy_tensor x)
{
    return Sub(eddy_index(x, "..., 1:, :, :"), eddy_index(x, "..., :-1, :, :"));
}
static eddy_tensor column_differences(eddy_tensor x)
{
    return Sub(eddy_index(x, "..., 1:, :"), eddy_index(x, "..., :-1, :"));
}

/** y = for each image the sum of the absolute differences of vertically and horizontally
 *  neighboring pixels: a measure of its noise.
 *
 *  x  real numbers, [..., height, width, channels]; y is [...]
 *
 *  Errors: EDDY_BAD_SHAPE for a rank below 3; those of the operations that it is composed of.
 *  Gradient: that of the formula.  TensorFlow: tf.image.total_variation. */
eddy_tensor eddy_total_variation(eddy_tensor x)
{
    if (!eddy__is_image("total_variation", x) || !is_signed("total_variation", x)) return none(x);
    const eddy_dims all = EDDY_AXES(-3, -2, -1);
    return Add(Sum(Abs(row_differences(x)), all), Sum(Abs(column_differences(x)), all));
}

/** y = the difference from each row of images to the next; eddy_output(y, 1): from each column to
 *  the next.  The last ones are 0.
 *
 *  x  real numbers, [batch, height, width, channels]; both outputs have its shape and type
 *
 *  Errors: EDDY_BAD_SHAPE for any other rank; those of the operations that it is composed of.
 *  Gradient: that of the formula.  TensorFlow: tf.image.image_gradients. */
eddy_tensor eddy_image_gradients(eddy_tensor x)
{
    const char *who = "image_gradients";
    if (!eddy__has_image_rank(who, x) || !is_signed(who, x)) return none(x);
    if (eddy_shape_of(x).rank != 4)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: images have rank %d; rank 4 expected", who,
                         eddy_shape_of(x).rank);
    const eddy_tensor dy = ZerosLike(eddy_index(x, ":, :1")),
                      dx = ZerosLike(eddy_index(x, ":, :, :1"));
    const eddy_tensor both[] = { eddy_concat(EDDY_LIST(row_differences(x), dy), 1),
                                 eddy_concat(EDDY_LIST(column_differences(x), dx), 2) };
    return eddy_identity_n((eddy_list){ 2, both }, 2);
}

/** y = the edges of images by Sobel filters: [..., 0] vertical, [..., 1] horizontal, each the
 *  difference of the neighbors on both sides, summed over three rows or columns with the weights
 *  1 2 1.  Images are mirrored at their edges.
 *
 *  x  real numbers, [batch, height, width, channels], height and width at least 2; y has one more
 *     axis, of size 2
 *
 *  Errors: EDDY_BAD_SHAPE for an invalid x; those of the operations that it is composed of.
 *  Gradient: that of the formula.  TensorFlow: tf.image.sobel_edges. */
eddy_tensor eddy_sobel_edges(eddy_tensor x)
{
    const char *who = "sobel_edges";
    if (!eddy__has_image_rank(who, x) || !is_signed(who, x)) return none(x);
    if (eddy_shape_of(x).rank != 4)
        return eddy_fail(x.graph, EDDY_BAD_SHAPE, "%s: images have rank %d; rank 4 expected", who,
                         eddy_shape_of(x).rank);
    const eddy_dims one = EDDY_DIMS(0, 1, 1, 0);
    const eddy_tensor p = eddy_mirror_pad(x, one, one);
    const eddy_tensor rows = Sub(eddy_index(p, ":, 2:"), eddy_index(p, ":, :-2"));
    const eddy_tensor columns = Sub(eddy_index(p, ":, :, 2:"), eddy_index(p, ":, :, :-2"));
    const eddy_tensor sides = Add(eddy_index(rows, ":, :, :-2"), eddy_index(rows, ":, :, 2:"));
    const eddy_tensor ends = Add(eddy_index(columns, ":, :-2"), eddy_index(columns, ":, 2:"));
    const eddy_tensor dy = Add(sides, Mul(2, eddy_index(rows, ":, :, 1:-1")));
    const eddy_tensor dx = Add(ends, Mul(2, eddy_index(columns, ":, 1:-1")));
    return eddy_stack(EDDY_LIST(dy, dx), -1);
}

/* ------------------------------------------------------------------ noise -- */

/* Converts a and b to one floating-point type, and max_val to its scale; returns false after an
 * error. */
static bool comparable(const char *who, eddy_tensor *a, eddy_tensor *b, double *max_val)
{
    char text[2][128];
    if (!eddy__is_image(who, *a)) return false;
    if (!eddy_is_valid(*b))
        return eddy_fail(a->graph, EDDY_INVALID_ARGUMENT, "%s: b is not a valid tensor", who),
               false;
    const eddy_shape s = eddy_shape_of(*a), t = eddy_shape_of(*b);
    bool same = t.rank < 0 || t.rank > 2;
    for (int i = 1; same && s.rank > 0 && t.rank > 0 && i <= 3; i++) {
        int64_t side = s.dim[s.rank - i];
        same = eddy__dim_unify(&side, t.dim[t.rank - i]);
    }
    if (!same)
        return eddy_fail(
                   a->graph, EDDY_BAD_SHAPE,
                   "%s: images have shapes %s and %s; height, width and channels must be equal",
                   who, eddy_shape_print(s, text[0], sizeof text[0]),
                   eddy_shape_print(t, text[1], sizeof text[1])),
               false;
    if (!(*max_val > 0))
        return eddy_fail(a->graph, EDDY_INVALID_ARGUMENT, "%s: max_val is %g; it must be positive",
                         who, *max_val), false;
    if (eddy_dtype_of(*a) != eddy_dtype_of(*b))
        return eddy_fail(a->graph, EDDY_BAD_DTYPE,
                         "%s: b is %s, but a is %s; cast one", who,
                         eddy_dtype_name(eddy_dtype_of(*b)), eddy_dtype_name(eddy_dtype_of(*a))),
               false;
    *max_val /= eddy__image_largest(eddy_dtype_of(*a));
    *a = eddy__image_floats(who, *a);
    *b = eddy__image_floats(who, *b);
    return eddy_is_valid(*a) && eddy_is_valid(*b);
}

/** y = 10 log10(max_val^2 / the mean squared error) of each pair of images, in decibels.
 *
 *  a, b     float32, float64, int32, int64 or uint8, of one type, [..., height, width, channels];
 *           y is float64 if they are, otherwise float32, [...]
 *  max_val  the largest minus the smallest value that images may have: 255 or 1
 *
 *  It is infinite for equal images.
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE; EDDY_INVALID_ARGUMENT for an invalid max_val.
 *  Gradient: that of the formula.  TensorFlow: tf.image.psnr. */
eddy_tensor eddy_psnr(eddy_tensor a, eddy_tensor b, double max_val)
{
    if (!comparable("psnr", &a, &b, &max_val)) return none(a);
    const eddy_tensor error = Mean(SquaredDifference(a, b), EDDY_AXES(-3, -2, -1));
    return Sub(20 * log10(max_val), Mul(10 / log(10), Log(error)));
}

/* ------------------------------------------------------------- similarity -- */

#ifdef EDDY_HEADER
/* Arguments of the structural similarity of images. */
typedef struct eddy_ssim_args {
    size_t        size_ EDDY_DEFAULT(sizeof(eddy_ssim_args));
    eddy_tensor   a, b;
    double        max_val;
    int           filter_size EDDY_DEFAULT(11);
    double        filter_sigma EDDY_DEFAULT(1.5);
    double        k1 EDDY_DEFAULT(0.01);
    double        k2 EDDY_DEFAULT(0.03);
    const double *power_factors;     /* of eddy_ssim_multiscale: one per scale */
    int           scales;            /* their number, at most 16 */
} eddy_ssim_args;
#endif

static bool settle(const char *who, eddy_ssim_args *p)
{
    if (!comparable(who, &p->a, &p->b, &p->max_val)) return false;
    const eddy_shape s = eddy_shape_of(p->a);
    char text[128];
    if (s.rank != 4 || s.dim[3] == EDDY_ANY)
        return eddy_fail(p->a.graph, EDDY_BAD_SHAPE, "%s: images have shape %s; rank 4 and a known "
                         "number of channels expected", who,
                         eddy_shape_print(s, text, sizeof text)), false;
    if (p->filter_size > 0 && p->filter_size <= 1024 && p->filter_sigma > 0) return true;
    return eddy_fail(p->a.graph, EDDY_INVALID_ARGUMENT,
                     "%s: filter_size is %d and filter_sigma is %g; filter_size must be in "
                     "[1, 1024] and filter_sigma positive",
                     who, p->filter_size, p->filter_sigma),
           false;
}

/* A Gaussian for each channel, [n, 1, channels, 1], or with `across` [1, n, channels, 1]. */
static eddy_tensor curve(const eddy_ssim_args *p, bool across)
{
    const int64_t n = p->filter_size, c = eddy_shape_of(p->a).dim[3];
    const eddy_tensor one = eddy_number(p->a.graph, EDDY_FLOAT64, 1),
                      end = Mul(one, (double)(n - 1));
    const eddy_tensor x = Sub(eddy_linspace(Mul(one, 0), end, n), 0.5 * (double)(n - 1));
    const eddy_tensor log = Mul(Square(x), -0.5 / (p->filter_sigma * p->filter_sigma));
    const eddy_tensor each = CastLike(eddy_softmax(log), p->a);
    const eddy_shape  s = across ? EDDY_SHAPE(1, n, 1, 1) : EDDY_SHAPE(n, 1, 1, 1);
    const eddy_shape  all = across ? EDDY_SHAPE(1, n, c, 1) : EDDY_SHAPE(n, 1, c, 1);
    return eddy_broadcast_to(Reshape(each, s), all);
}

/* Means weighted by that Gaussian around each position where it lies inside the image. */
static eddy_tensor blurred(eddy_tensor x, const eddy_tensor *curves)
{
    return eddy_depthwise_conv2d(eddy_depthwise_conv2d(x, curves[0]), curves[1]);
}

/* The similarity of each channel, and that of contrast and structure only. */
static void similarity(const eddy_ssim_args *p, const eddy_tensor *curves, eddy_tensor a,
                       eddy_tensor b, eddy_tensor *all, eddy_tensor *contrast)
{
    const double c1 = p->k1 * p->max_val * p->k1 * p->max_val;
    const double c2 = p->k2 * p->max_val * p->k2 * p->max_val;
    const eddy_dims sides = EDDY_AXES(1, 2);
    const eddy_tensor m = blurred(a, curves), n = blurred(b, curves);
    const eddy_tensor product = Mul(2, Mul(m, n)), squares = Add(Square(m), Square(n));
    const eddy_tensor light = Div(Add(product, c1), Add(squares, c1));
    const eddy_tensor both = Mul(2, blurred(Mul(a, b), curves));
    const eddy_tensor each = blurred(Add(Square(a), Square(b)), curves);
    const eddy_tensor form = Div(Add(Sub(both, product), c2), Add(Sub(each, squares), c2));
    *all = Mean(Mul(light, form), sides);
    *contrast = Mean(form, sides);
}

/* x^p; 0 with no slope where x is not positive. */
static eddy_tensor powered(eddy_tensor x, double p)
{
    const eddy_tensor above = Greater(x, 0);
    return Where(above, Pow(Where(above, x, 1), p), 0);
}

/** y = the structural similarity of each pair of images: 1 for equal ones.
 *
 *  a, b          float32, float64, int32, int64 or uint8, of one type, [batch, height, width,
 *                channels], at least as large as the filter, number of channels known; y is
 *                float64 if they are, otherwise float32, [batch]
 *  max_val       the largest minus the smallest value that images may have: 255 or 1
 *  filter_size   size of the Gaussian window
 *  filter_sigma  its standard deviation
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE; EDDY_INVALID_ARGUMENT for an invalid max_val or filter.
 *  Gradient: that of the formula.  TensorFlow: tf.image.ssim; Wang and others, "Image quality
 *  assessment: from error visibility to structural similarity", 2004. */
eddy_tensor eddy_ssim_with(const eddy_ssim_args *given)
{
    eddy_ssim_args p = EDDY_TAKE(eddy_ssim_args, given);
    eddy_tensor all, contrast;
    if (!settle("ssim", &p)) return none(p.a);
    const eddy_tensor curves[] = { curve(&p, false), curve(&p, true) };
    similarity(&p, curves, p.a, p.b, &all, &contrast);
    return Mean(all, EDDY_AXES(1));
}

/** y = the product of powers of the structural similarities at several scales, each with half
 *  the size of the previous one: contrast and structure only, except at the last scale.
 *
 *  a, b, max_val, filter_size, filter_sigma, k1, k2  as for eddy_ssim; height and width must be
 *                 large enough for the last scale
 *  power_factors  `scales` powers; default: 0.0448, 0.2856, 0.3001, 0.2363, 0.1333
 *
 *  A negative similarity counts as 0 and has no gradient, whereas TensorFlow's is NaN.
 *  Errors: as for eddy_ssim; EDDY_INVALID_ARGUMENT for invalid scales.
 *  Gradient: that of the formula.  TensorFlow: tf.image.ssim_multiscale; Wang and others,
 *  "Multiscale structural similarity for image quality assessment", 2003. */
eddy_tensor eddy_ssim_multiscale_with(const eddy_ssim_args *given)
{
    eddy_ssim_args p = EDDY_TAKE(eddy_ssim_args, given);
    static const double usual[] = { 0.0448, 0.2856, 0.3001, 0.2363, 0.1333 };
    const double *power = p.power_factors ? p.power_factors : usual;
    const int scales = p.power_factors ? p.scales : 5;
    eddy_tensor all, contrast, y = { 0 };
    if (!settle("ssim_multiscale", &p)) return none(p.a);
    if (scales < 1 || scales > 16)
        return eddy_fail(p.a.graph, EDDY_INVALID_ARGUMENT,
                         "ssim_multiscale: %d scales given; expected 1 to 16", scales);
    const eddy_tensor curves[] = { curve(&p, false), curve(&p, true) };
    eddy_tensor a = p.a, b = p.b;
    for (int i = 0; i < scales; i++) {
        if (i > 0) a = eddy_avg_pool2d(a, EDDY_DIMS(2), .padding = "SAME");
        if (i > 0) b = eddy_avg_pool2d(b, EDDY_DIMS(2), .padding = "SAME");
        similarity(&p, curves, a, b, &all, &contrast);
        const eddy_tensor part = powered(i < scales - 1 ? contrast : all, power[i]);
        y = i > 0 ? Mul(y, part) : part;
    }
    return Mean(y, EDDY_AXES(1));
}
