/* lp_pool.c -- Lp pooling: the p-norms of windows, composed of powers and average pooling. */
#include "graph/call_options.h"
#include "ops/arrays/arrays.h"
#include "ops/nets/pooling_rules.h"
#include "ops/short_names.h"

#include <float.h>
#include <math.h>

#ifdef EDDY_HEADER
typedef struct eddy_lp_pool_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_lp_pool_args));
    eddy_tensor x;
    double      norm_type;         /* p */
    eddy_dims   ksize;             /* one entry per axis: one to three */
    eddy_dims   strides;           /* likewise, or one for all; default: ksize */
    const char *data_format;
    const char *name;
} eddy_lp_pool_args;
#endif

/* A power of 2 near the largest element, by which x is divided so that the powers of its elements
 * and the sums of `count` of them neither overflow nor underflow: 1 if they do not anyway. */
static eddy_tensor scale_of(eddy_tensor x, double p, double count)
{
    const bool single = eddy_dtype_of(x) != EDDY_FLOAT64;
    const double top = single ? FLT_MAX_EXP - 1 : DBL_MAX_EXP - 1;
    const double bottom = single ? FLT_MIN_EXP : DBL_MIN_EXP;
    const eddy_tensor most = eddy_stop_gradient(Max(Abs(x)));
    const eddy_tensor large = Greater(most, exp2(fmin((top - log2(count)) / p, top)));
    const eddy_tensor small = Less(most, exp2(fmax(bottom / 2 / p, bottom)));
    const eddy_tensor odd = LogicalAnd(LogicalAnd(Greater(most, 0), IsFinite(most)),
                                       LogicalOr(large, small));
    const eddy_tensor power = eddy_exp2(Floor(eddy_log2(Where(odd, most, 1))));
    return Where(odd, power, eddy_number_like(1, most));
}

/** y = the p-norms of the windows along one, two or three axes, (sum of x^p)^(1/p).
 *
 *  x            float32 or float64 [batch, axes..., channels], or with channels second
 *  norm_type    p, must be positive
 *  ksize        size of a window, one entry per axis
 *  strides      one entry for all axes, or one per axis; default: ksize
 *  data_format  as for eddy_pool
 *
 *  Windows lie within x.  No absolute values are taken: for an odd p, the powers of x have its
 *  sign, and the root of a negative sum is NaN unless p = 1.
 *  Errors: those of eddy_pool; EDDY_INVALID_ARGUMENT for a norm_type that is not positive.
 *  Gradient: that of the operations that it is composed of.  PyTorch: nn.functional.lp_pool2d. */
eddy_tensor eddy_lp_pool_with(const eddy_lp_pool_args *given)
{
    eddy_lp_pool_args a = EDDY_TAKE(eddy_lp_pool_args, given);
    double elements = 1;
    if (eddy_refuse_number(a.x.graph, "lp_pool", "ksize", a.ksize)) return eddy_none(a.x.graph);
    if (!(a.norm_type > 0) || a.norm_type > 1e300)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "lp_pool: norm_type is %g; it must be "
                         "positive and finite", a.norm_type);
    if (a.ksize.count < 1 || a.ksize.count > EDDY_WINDOW_AXES)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "lp_pool: the number of entries of ksize is %d; expected 1 to 3",
                         a.ksize.count > 0 ? a.ksize.count : 0);
    for (int i = 0; i < a.ksize.count; i++) elements *= (double)a.ksize.at[i];
    const bool        square = a.norm_type == 2, same = a.norm_type == 1;
    const bool        scales = !same && eddy_dtype_is_floating(eddy_dtype_of(a.x));
    const eddy_tensor scale = scales ? scale_of(a.x, a.norm_type, elements) : a.x;
    const eddy_tensor x = scales ? Div(a.x, scale) : a.x;
    const eddy_tensor power = square ? Square(x) : same ? x : Pow(x, a.norm_type);
    const eddy_dims   strides = eddy_dims_or(a.strides, a.ksize);
    const eddy_tensor sum = Mul(eddy_pool(power, a.ksize, "AVG", strides, .data_format =
                                          a.data_format), elements);
    const eddy_tensor root = square ? Sqrt(sum) : same ? sum : Pow(sum, 1 / a.norm_type);
    const eddy_tensor y = scales ? Mul(root, scale) : root;
    return a.name ? eddy_named(a.name, y) : y;
}
