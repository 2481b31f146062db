/* local_response_norm.c -- local response normalization (LRN), across neighboring channels. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

#ifdef EDDY_HEADER
typedef struct eddy_local_response_normalization_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_local_response_normalization_args));
    eddy_tensor x;
    int64_t     depth_radius EDDY_DEFAULT(5);
    double      bias EDDY_DEFAULT(1);
    double      alpha EDDY_DEFAULT(1);
    double      beta EDDY_DEFAULT(0.5);
    const char *name;
} eddy_local_response_normalization_args;
#endif

/* The sums over `radius` neighbors on both sides along the last axis: each row is a line with one
 * channel. */
static eddy_tensor sum_around(eddy_tensor x, int64_t radius)
{
    const eddy_tensor like = Sum(x, EDDY_AXES(-1));          /* only its shape is used */
    const eddy_tensor rows = eddy_expand_dims(eddy_merge_leading(x, like), 2);
    const eddy_tensor mean = eddy_avg_pool1d(rows, EDDY_DIMS(2 * radius + 1), EDDY_DIMS(1),
                                             .explicit_paddings = EDDY_DIMS(radius, radius),
                                             .count_include_pad = true);
    const eddy_tensor sums = Mul(eddy_squeeze(mean, EDDY_AXES(2)), (double)(2 * radius + 1));
    return eddy_unflatten_like(sums, like, 0, 0);
}

/** y = x / (bias + alpha s)^beta, where s is the sum of squares over the channel of each element
 *  and depth_radius neighboring channels on both sides.
 *
 *  x             float32 or float64 [..., channels], rank 2 or more
 *  depth_radius  not negative
 *
 *  Errors: EDDY_BAD_DTYPE; EDDY_BAD_SHAPE for x of lower or unknown rank; EDDY_INVALID_ARGUMENT
 *  for a negative depth_radius or one above 2^20, or if the others are not finite.
 *  Gradient: that of the operations that it is composed of.
 *  TensorFlow: LRN (nn.local_response_normalization); PyTorch's divides alpha by the number of
 *  channels. */
eddy_tensor eddy_local_response_normalization_with(
    const eddy_local_response_normalization_args *given)
{
    eddy_local_response_normalization_args a =
        EDDY_TAKE(eddy_local_response_normalization_args, given);
    const eddy_dtype d = eddy_dtype_of(a.x);
    const int64_t    radius = a.depth_radius;
    const double bias = a.bias, alpha = a.alpha;
    const double beta = a.beta;
    eddy_graph  *g = a.x.graph;
    char text[128];
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);      /* reports or propagates the error */
    const eddy_shape s = eddy_shape_of(a.x);
    if (!eddy_dtype_is_floating(d))
        return eddy_fail(g, EDDY_BAD_DTYPE, "local_response_normalization: x is %s; float32 or "
                         "float64 expected", eddy_dtype_name(d));
    if (s.rank < 2)
        return eddy_fail(g, EDDY_BAD_SHAPE, "local_response_normalization: x has shape %s; rank 2 "
                         "or more expected", eddy_shape_print(s, text, sizeof text));
    if (radius < 0 || radius > 1 << 20 || !isfinite(bias) || !isfinite(alpha) || !isfinite(beta))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT,
                         "local_response_normalization: depth_radius is %lld, bias %g, alpha %g "
                         "and beta %g; depth_radius must be in [0, 2^20] and the others finite",
                         (long long)radius, bias, alpha, beta);
    eddy_scope_begin(g, a.name ? a.name : "LRN");
    const eddy_tensor base = Add(Mul(sum_around(Square(a.x), radius), alpha), bias);
    const eddy_tensor y = Mul(a.x, beta == 0.5 ? Rsqrt(base) : Pow(base, -beta));
    eddy_scope_end(g);
    return y;
}
