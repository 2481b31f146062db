/* dropout_variants.c -- spatial dropout, alpha dropout, Gaussian dropout and noise: spatial
 * dropout drops whole channels, alpha dropout preserves mean and variance; composed of
 * eddy_dropout and random numbers. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/short_names.h"
#include "ops/nets/pooling_rules.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <math.h>

#ifdef EDDY_HEADER
typedef struct eddy_spatial_dropout_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_spatial_dropout_args));
    eddy_tensor x;
    double      rate;              /* the fraction of channels dropped, in [0,1) */
    const char *data_format;       /* channels last (default) or second */
    int64_t     seed;
    const char *name;
} eddy_spatial_dropout_args;
typedef struct eddy_alpha_dropout_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_alpha_dropout_args));
    eddy_tensor x;
    double      rate;              /* the fraction dropped, in [0,1) */
    eddy_dims   noise_shape;       /* default: x's shape */
    int64_t     seed;
    const char *name;
} eddy_alpha_dropout_args;
typedef struct eddy_gaussian_noise_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gaussian_noise_args));
    eddy_tensor x;
    double      stddev;            /* of the noise */
    int64_t     seed;
    const char *name;
} eddy_gaussian_noise_args;
typedef struct eddy_gaussian_dropout_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_gaussian_dropout_args));
    eddy_tensor x;
    double      rate;              /* in [0,1) */
    int64_t     seed;
    const char *name;
} eddy_gaussian_dropout_args;
#endif

static bool check_rate(const char *op, eddy_tensor x, double rate)
{
    if (rate >= 0 && rate < 1) return true;
    eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: rate %g is not in [0,1)", op, rate);
    return false;
}

/** y = x/(1 - rate) in the channels that a random mask keeps, and 0 in those it drops.
 *
 *  x            float32 or float64 [batch, axes..., channels] with one to three axes, or with
 *               channels second
 *  rate         the probability that a channel of an example is dropped, in [0,1)
 *  data_format  "NWC", "NHWC" or "NDHWC" (default); "NCW", "NCHW" or "NCDHW"
 *  seed         0: a seed of the op's own
 *
 *  It is eddy_dropout with one decision for all spatial positions.
 *  Errors: EDDY_BAD_SHAPE unless the rank is known and 3 to 5; EDDY_INVALID_ARGUMENT for any other
 *  data_format; those of eddy_dropout.
 *  Gradient: that of eddy_dropout.  TensorFlow: keras.layers.SpatialDropout2D. */
eddy_tensor eddy_spatial_dropout_with(const eddy_spatial_dropout_args *given)
{
    eddy_spatial_dropout_args a = EDDY_TAKE(eddy_spatial_dropout_args, given);
    const eddy_shape s = eddy_shape_of(a.x);
    eddy_dims        noise = { .count = s.rank };
    bool             planes;
    char             text[128];
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    if (s.rank < 3 || s.rank > 5)
        return eddy_fail(a.x.graph, EDDY_BAD_SHAPE, "spatial_dropout: x has shape %s; rank 3 to 5 "
                         "expected", eddy_shape_print(s, text, sizeof text));
    if (!eddy__window_format("spatial_dropout", a.x.graph, a.data_format, s.rank - 2, &planes))
        return eddy_none(a.x.graph);
    const int channels = planes ? 1 : s.rank - 1;
    for (int i = 0; i < s.rank; i++) noise.at[i] = i == 0 || i == channels ? EDDY_ANY : 1;
    return eddy_dropout(a.x, a.rate, noise, a.seed, a.name ? a.name : "spatial_dropout");
}

/** y = a kept + b, where kept is x, or, where a random mask drops it, the infimum of eddy_selu;
 *  a and b are chosen to preserve mean 0 and variance 1.
 *
 *  x            float32 or float64; any shape
 *  rate         the probability of being dropped, in [0,1); if 0, the result is x itself
 *  noise_shape  as for eddy_dropout
 *  seed         0: a seed of the op's own
 *
 *  Errors: those of eddy_dropout.
 *  Gradient: dx = a dy through the same mask.
 *  G. Klambauer et al., Self-normalizing neural networks, 2017.
 *  TensorFlow: keras.layers.AlphaDropout. */
eddy_tensor eddy_alpha_dropout_with(const eddy_alpha_dropout_args *given)
{
    eddy_alpha_dropout_args p = EDDY_TAKE(eddy_alpha_dropout_args, given);
    const double least = -1.0507009873554804934193349852946 * 1.6732632423543772848170429916717;
    const double rate = p.rate, kept = 1 - rate;
    if (!eddy_is_valid(p.x)) return eddy_identity(p.x);
    if (!eddy__check_floats("alpha_dropout", p.x) || !check_rate("alpha_dropout", p.x, rate))
        return eddy_none(p.x.graph);
    if (rate == 0) return p.x;
    const double a = 1 / sqrt(kept * (1 + rate * least * least)), b = -a * least * rate;
    eddy_scope_begin(p.x.graph, p.name ? p.name : "alpha_dropout");
    const eddy_tensor mask = eddy_dropout(OnesLike(p.x), rate, p.noise_shape, p.seed);
    const eddy_tensor y = Where(Greater(mask, 0), Add(Mul(p.x, a), b), a * least + b);
    eddy_scope_end(p.x.graph);
    return y;
}

/** y = x + z, where z is normally distributed with mean 0.
 *
 *  x       float32 or float64; any shape
 *  stddev  of z; finite and not negative; if 0, the result is x itself
 *  seed    0: a seed of the op's own
 *
 *  Errors: EDDY_BAD_DTYPE; those of eddy_random_normal_like.
 *  Gradient: dx = dy.  TensorFlow: keras.layers.GaussianNoise. */
eddy_tensor eddy_gaussian_noise_with(const eddy_gaussian_noise_args *given)
{
    eddy_gaussian_noise_args a = EDDY_TAKE(eddy_gaussian_noise_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (!eddy__check_floats("gaussian_noise", a.x)) return eddy_none(a.x.graph);
    if (a.stddev == 0) return a.x;
    eddy_scope_begin(a.x.graph, a.name ? a.name : "gaussian_noise");
    const eddy_tensor z = eddy_random_normal_like(a.x, .stddev = a.stddev, .seed = a.seed);
    const eddy_tensor y = Add(a.x, z);
    eddy_scope_end(a.x.graph);
    return y;
}

/** y = x z, where z is normally distributed with mean 1 and variance rate/(1 - rate), which is
 *  that of the mask of eddy_dropout.
 *
 *  x     float32 or float64; any shape
 *  rate  in [0,1); if 0, the result is x itself
 *  seed  0: a seed of the op's own
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_INVALID_ARGUMENT if rate is out of range.
 *  Gradient: dx = dy z.  TensorFlow: keras.layers.GaussianDropout. */
eddy_tensor eddy_gaussian_dropout_with(const eddy_gaussian_dropout_args *given)
{
    eddy_gaussian_dropout_args a = EDDY_TAKE(eddy_gaussian_dropout_args, given);
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (!eddy__check_floats("gaussian_dropout", a.x) ||
        !check_rate("gaussian_dropout", a.x, a.rate))
        return eddy_none(a.x.graph);
    if (a.rate == 0) return a.x;
    eddy_scope_begin(a.x.graph, a.name ? a.name : "gaussian_dropout");
    const eddy_tensor z = eddy_random_normal_like(a.x, 1, sqrt(a.rate / (1 - a.rate)),
                                                  .seed = a.seed);
    const eddy_tensor y = Mul(a.x, z);
    eddy_scope_end(a.x.graph);
    return y;
}
