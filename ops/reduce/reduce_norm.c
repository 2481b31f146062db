/* reduce_norm.c -- the Euclidean norm reduction. */
#include "ops/short_names.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/reduce/reductions.h"
#include "build/gen/table.h"

typedef struct euclidean_attrs {
    eddy_reduce_attrs reduce;
    bool         zero_slope;       /* the gradient at 0 is 0 and not NaN */
} euclidean_attrs;

static const eddy_attr_field euclidean_fields[] = {
    { "axes", EDDY_ATTR_DIMS, offsetof(euclidean_attrs, reduce.axes) },
    { "keep_dims", EDDY_ATTR_BOOL, offsetof(euclidean_attrs, reduce.keep_dims) },
    { "zero_slope", EDDY_ATTR_BOOL, offsetof(euclidean_attrs, zero_slope) },
    { 0 },
};

typedef struct euclidean_loops {
    eddy_reduction plain, large, small;
} euclidean_loops;

/* For float64, the elements may be read a second time, with scaling. */
static bool euclidean_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return k->in[0]->type.dtype != EDDY_FLOAT64 && eddy__reduce_folds(k, b);
}

static eddy_status euclidean_prepare(eddy_kernel *k)
{
    euclidean_loops *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "out of memory for the loops");
    p->plain = eddy__reduce_loops(k, &eddy__fold_norm);
    p->large = eddy__reduce_loops(k, &eddy__fold_norm_large);
    p->small = eddy__reduce_loops(k, &eddy__fold_norm_small);
    eddy__reduction_prepare(k, &p->plain);     /* the other types need only this one */
    return EDDY_OK;
}

static eddy_status euclidean_kernel(eddy_kernel *k)
{
    const euclidean_loops *p = k->state;
    const double *y = k->out[0]->data;
    const void   *x = k->in[0]->data;
    bool large = false, small = false;
    eddy__reduction_kernel(k, &p->plain, k->out[0]->data, x);
    if (k->in[0]->type.dtype != EDDY_FLOAT64) return EDDY_OK;
    for (int64_t i = 0; i < k->out[0]->count; i++) {
        large |= eddy__norm_is_large(y[i]);
        small |= eddy__norm_is_small(y[i]);
    }
    if (large) eddy__reduction_kernel(k, &p->large, k->out[0]->data, x);
    if (small) eddy__reduction_kernel(k, &p->small, k->out[0]->data, x);
    return EDDY_OK;
}

/* x / y is computed before the multiplication, because y^2 and 1 / y may overflow or underflow. */
static void euclidean_gradient(eddy_rule *r)
{
    const euclidean_attrs *a = r->attrs;
    const eddy_tensor x = r->x[0], y = eddy__reduce_spread(r, r->y[0]);
    r->dx[0] = Mul(eddy__reduce_spread(r, r->dy[0]), a->zero_slope ? DivNoNan(x, y) : Div(x, y));
}

static void euclidean_batch(eddy_batch *b)
{
    euclidean_attrs a = *(const euclidean_attrs *)b->attrs;
    if (eddy__batch_axes(b, 0, &a.reduce.axes)) eddy_batch_apply(b, &a);
}

static double euclidean_flops(const void *attrs, int n_in, const eddy_type *in,
                              const eddy_type *out)
{
    return 2 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_euclidean_norm = {
    .name = "EuclideanNorm", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .fold = &eddy__fold_norm, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_FLOATS }),
    .attrs_size = sizeof(euclidean_attrs), .attrs = euclidean_fields,
    .infer = eddy__reduce_infer, .prepare = euclidean_prepare, .kernel = euclidean_kernel,
    .folds = euclidean_folds, .gradient = euclidean_gradient, .batch = euclidean_batch,
    .flops = euclidean_flops,
};

static eddy_tensor euclidean(eddy_reduce_args a, bool zero_slope)
{
    const euclidean_attrs attrs = { { a.axes, a.keepdims }, zero_slope };
    return eddy_apply(&eddy_op_euclidean_norm, &attrs, 1, &a.x,
                      (eddy_apply_args){ .name = a.name });
}

/* Whether the axes are a list whose first entry may be an axis of x. */
static bool has_first(eddy_tensor x, eddy_dims axes)
{
    const int rank = eddy_shape_of(x).rank, most = rank < 0 ? EDDY_MAX_RANK : rank;
    return axes.count > 0 && axes.count <= EDDY_MAX_RANK && axes.at[0] >= -most &&
           axes.at[0] < most;
}

static eddy_tensor called(const char *name, eddy_tensor t)
{
    return name && name[0] ? eddy_named(name, t) : t;
}

/* For complex numbers, real and imaginary parts are reduced as separate elements. */
static eddy_tensor length_of(eddy_reduce_args a, bool zero_slope)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(a.x))) return euclidean(a, zero_slope);
    if (a.axes.count == -1) return called(a.name, eddy_abs(a.x));
    const eddy_tensor re = Real(a.x), im = Imag(a.x);
    if (has_first(re, a.axes)) {
        a.x = eddy_concat(EDDY_LIST(re, im), a.axes.at[0]);
        return euclidean(a, zero_slope);
    }
    if (a.axes.count != 0 || a.axes.no_number_) {   /* an invalid list: the operation reports it */
        a.x = re;
        return euclidean(a, zero_slope);
    }
    const eddy_shape  flat = EDDY_SHAPE(EDDY_ANY);
    const eddy_tensor both = eddy_concat(EDDY_LIST(eddy_reshape(re, flat), eddy_reshape(im, flat)));
    if (!a.keepdims)
        return euclidean((eddy_reduce_args){ .x = both, .name = a.name }, zero_slope);
    const eddy_tensor y = euclidean((eddy_reduce_args){ .x = both }, zero_slope);
    return called(a.name, eddy_reshape_like(y, eddy_max(re, .keepdims = true)));
}

/** y = the square root of the sum of |x|^2 over `axes`: the Euclidean norm.
 *
 *  x               float32, float64, complex64 or complex128; y is real
 *  axes, keepdims  as for eddy_sum
 *
 *  float32 is squared and summed in float64.  For float64, the sum is recomputed with scaling
 *  where squares overflow or underflow, so that every norm that y can represent is correct.
 *  Errors: EDDY_BAD_DTYPE for other element types; otherwise as for eddy_sum.
 *  Gradient: dx = dy x / y; NaN where y is 0, unlike that of eddy_norm, which is 0 there.
 *  TensorFlow: EuclideanNorm (tf.math.reduce_euclidean_norm). */
eddy_tensor eddy_euclidean_norm_with(const eddy_reduce_args *given)
{
    eddy_reduce_args a = EDDY_TAKE(eddy_reduce_args, given);
    return length_of(a, false);
}

/* ------------------------------------------------------------------ tools -- */

eddy_tensor eddy__norm_of(eddy_tensor x, eddy_dims axes, bool keepdims)
{
    return length_of((eddy_reduce_args){ .x = x, .axes = axes, .keepdims = keepdims }, true);
}
