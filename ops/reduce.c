/* reduce.c -- sum, mean, max, min, prod, Euclidean norm, any, all and logsumexp over axes.
 *
 * ops/fold.c does the work; here stand the shapes and the gradients.  All of
 * them take the same arguments. */
#include "ops/arrays.h"
#include "ops/batch.h"
#include "ops/math.h"
#include "ops/reduce.h"
#include "build/gen/table.h"

#ifdef EDDY_HEADER
/* Arguments of every reduction.
 *   axes      each axis once, in [-rank, rank); left out: all of them;
 *             EDDY_NO_DIMS: none, so that y has the elements of x
 *   keepdims  reduced dimensions stay, with size 1 */
typedef struct eddy_reduce_args {
    char        unused_;
    eddy_tensor x;
    eddy_dims   axes;
    bool        keepdims;
    const char *name;
} eddy_reduce_args;
#endif

typedef struct reduce_attrs {
    eddy_dims axes;
    bool      keepdims;
} reduce_attrs;

static const eddy_attr_field reduce_fields[] = {
    { "axes", EDDY_ATTR_DIMS, offsetof(reduce_attrs, axes) },
    { "keep_dims", EDDY_ATTR_BOOL, offsetof(reduce_attrs, keepdims) },
    { NULL, EDDY_ATTR_END, 0 },
};

/* ---------------------------------------------------------- what all share -- */

bool eddy_infer_axes(eddy_infer *c, eddy_dims axes, int rank, unsigned *mask)
{
    *mask = 0;
    if (axes.count < -1 || axes.count > EDDY_MAX_RANK)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "%d axes, not 0 to %d", axes.count,
                               EDDY_MAX_RANK);
    for (int i = 0; i < axes.count; i++) {
        int axis;
        if (!eddy_infer_axis(c, axes.at[i], rank < 0 ? EDDY_MAX_RANK : rank, &axis)) return false;
        /* Without a rank, -1 and 2 may or may not be the same. */
        const unsigned bit = 1u << (rank < 0 && axes.at[i] < 0 ? axis + EDDY_MAX_RANK : axis);
        if (*mask & bit)
            return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "axis %lld is given twice",
                                   (long long)axes.at[i]);
        *mask |= bit;
    }
    if (axes.count == 0 && rank > 0) *mask = (1u << rank) - 1;
    return true;
}

unsigned eddy_axes_mask(eddy_dims axes, int rank)
{
    unsigned mask = axes.count == 0 ? (1u << rank) - 1 : 0;
    for (int i = 0; i < axes.count; i++) mask |= 1u << eddy_axis_of(axes.at[i], rank);
    return mask;
}

static eddy_shape reduced_shape(eddy_shape x, const reduce_attrs *a, unsigned mask)
{
    if (x.rank < 0) return a->axes.count == 0 && !a->keepdims ? EDDY_SCALAR : EDDY_UNKNOWN_SHAPE;
    eddy_shape y = { .rank = 0 };
    for (int i = 0; i < x.rank; i++) {
        const bool folded = mask >> i & 1;
        if (!folded || a->keepdims) y.dim[y.rank++] = folded ? 1 : x.dim[i];
    }
    return y;
}

/* The axes counted from the front and sorted, so that equal reductions look equal. */
static void settle_axes(eddy_dims *axes, int rank, unsigned mask)
{
    if (axes->count <= 0) return;
    *axes = (eddy_dims){ .count = 0 };
    for (int i = 0; i < rank; i++)
        if (mask >> i & 1) axes->at[axes->count++] = i;
}

static bool reduce_infer(eddy_infer *c, eddy_fold fold)
{
    reduce_attrs *a = c->attrs;
    const eddy_type x = c->in[0];
    unsigned mask;
    if (!eddy_reducer_of(fold, x.dtype))
        return eddy_infer_fail(c, EDDY_BAD_DTYPE, "%s expected, not %s",
                               fold == EDDY_FOLD_NORM ? "floating or complex numbers" :
                               fold == EDDY_FOLD_ANY || fold == EDDY_FOLD_ALL ? "bool" : "numbers",
                               eddy_dtype_name(x.dtype));
    if (!eddy_infer_axes(c, a->axes, x.shape.rank, &mask)) return false;
    c->out[0] = (eddy_type){ x.dtype, reduced_shape(x.shape, a, mask) };
    if (!c->attrs_fixed && x.shape.rank >= 0) settle_axes(&a->axes, x.shape.rank, mask);
    return true;
}

static eddy_reduction reduction_of(const eddy_kernel *k, eddy_fold fold)
{
    const reduce_attrs *a = k->attrs;
    const eddy_type x = k->in[0]->type;
    return eddy_reduction_of(eddy_reducer_of(fold, x.dtype), x.shape,
                             eddy_axes_mask(a->axes, x.shape.rank));
}

static bool reduce_folds(const eddy_kernel *k, eddy_fold fold, eddy_blocks *b)
{
    const eddy_reduction p = reduction_of(k, fold);
    return eddy_reduction_blocks(&p, b);
}

static eddy_status reduce_prepare(eddy_kernel *k, eddy_fold fold)
{
    eddy_reduction *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "no memory for the loops");
    *p = reduction_of(k, fold);
    eddy_reduction_prepare(k, p);
    return EDDY_OK;
}

static eddy_status reduce_kernel(eddy_kernel *k)
{
    eddy_reduction_kernel(k, k->state, k->out[0]->data, k->in[0]->data);
    return EDDY_OK;
}

/* t, which has the shape of y, spread to the shape of x. */
static eddy_tensor spread(const eddy_rule *r, eddy_tensor t)
{
    const reduce_attrs *a = r->attrs;
    return eddy_broadcast_along(t, r->x[0], a->axes, a->keepdims);
}

static void reduce_batch(eddy_batch *b)
{
    reduce_attrs a = *(const reduce_attrs *)b->attrs;
    if (eddy_batch_axes(b, 0, &a.axes)) eddy_batch_apply(b, &a);
}

static eddy_tensor reduce(const eddy_op_def *op, eddy_reduce_args a)
{
    const reduce_attrs attrs = { a.axes, a.keepdims };
    return eddy_apply(op, &attrs, 1, &a.x, (eddy_apply_args){ .name = a.name });
}

#define REDUCTION(type)                                                         \
    .name = type, .min_inputs = 1, .max_inputs = 1, .outputs = 1,               \
    .attrs_size = sizeof(reduce_attrs), .attrs = reduce_fields, .kernel = reduce_kernel, \
    .flops = eddy_flops_per_input, \
    .batch = reduce_batch

/* -------------------------------------------------------------------- sum -- */

static bool sum_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_SUM); }
static eddy_status sum_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_SUM); }
static bool sum_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return reduce_folds(k, EDDY_FOLD_SUM, b);
}
static void sum_gradient(eddy_rule *r)
{
    r->dx[0] = spread(r, r->dy[0]);
}

const eddy_op_def eddy_op_sum = {
    REDUCTION("Sum"), .infer = sum_infer, .prepare = sum_prepare, .folds = sum_folds,
    .gradient = sum_gradient,
};

/** y = the sum of x over `axes`.
 *
 *  x         any numbers but half, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  The sum of nothing is 0.  float32 is summed in float64 and rounded once;
 *  integers wrap.  The same shape always gives the same bits.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy spread over the axes.  TensorFlow: Sum (tf.reduce_sum). */
eddy_tensor eddy_sum_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_sum, a);
}

/* ------------------------------------------------------------------- mean -- */

static bool mean_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_MEAN); }
static eddy_status mean_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_MEAN); }
static bool mean_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return reduce_folds(k, EDDY_FOLD_MEAN, b);
}

/* Elements of x in each of y; -1 if only a run will tell. */
static int64_t known_count(eddy_shape x, eddy_dims axes)
{
    if (x.rank < 0) return -1;
    const unsigned mask = eddy_axes_mask(axes, x.rank);
    int64_t count = 1;
    for (int i = 0; i < x.rank; i++) {
        if (!(mask >> i & 1)) continue;
        if (x.dim[i] < 0 || __builtin_mul_overflow(count, x.dim[i], &count)) return -1;
    }
    return count;
}

static void mean_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const int64_t n = known_count(eddy_shape_of(x), ((const reduce_attrs *)r->attrs)->axes);
    if (n >= 0) {
        r->dx[0] = spread(r, Div(dy, (double)n));
        return;
    }
    const eddy_tensor whole = eddy_size(x, EDDY_INT64), parts = eddy_size(y, EDDY_INT64);
    r->dx[0] = spread(r, Div(dy, CastLike(FloorDiv(whole, Maximum(parts, 1)), dy)));
}

const eddy_op_def eddy_op_mean = {
    REDUCTION("Mean"), .infer = mean_infer, .prepare = mean_prepare, .folds = mean_folds,
    .gradient = mean_gradient,
};

/** y = the mean of x over `axes`: their sum over how many they are.
 *
 *  x         any numbers but half, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  The mean of nothing is NaN, of integers 0.  Integers are summed in 64 bits
 *  and divided towards 0.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy / n spread over the axes, n elements of x in each of y.
 *  TensorFlow: Mean (tf.reduce_mean). */
eddy_tensor eddy_mean_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_mean, a);
}

/* --------------------------------------------------------------- max, min -- */

static bool max_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_MAX); }
static eddy_status max_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_MAX); }
static bool max_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return reduce_folds(k, EDDY_FOLD_MAX, b);
}

/* dx = dy / n where x is y, and 0 elsewhere; n elements are y. */
static void extreme_gradient(eddy_rule *r)
{
    const eddy_tensor x = r->x[0], y = r->y[0], dy = r->dy[0];
    const reduce_attrs *a = r->attrs;
    const eddy_tensor is_y = CastLike(eddy_equal(x, spread(r, y)), dy);
    const eddy_tensor n = eddy_sum(is_y, .axes = a->axes, .keepdims = a->keepdims);
    r->dx[0] = Mul(is_y, spread(r, Div(dy, n)));
}

const eddy_op_def eddy_op_max = {
    REDUCTION("Max"), .infer = max_infer, .prepare = max_prepare, .folds = max_folds,
    .gradient = extreme_gradient,
};

/** y = the largest element of x along `axes`.
 *
 *  x         float32, float64, int32, int64 or uint8, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  NaN if there is one among them.  The maximum of nothing is -infinity, of
 *  integers the least one.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy / n for the n elements that equal y, which share it
 *  equally, and 0 for the others; NaN if y is.  TensorFlow: Max (tf.reduce_max). */
eddy_tensor eddy_max_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_max, a);
}

static bool min_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_MIN); }
static eddy_status min_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_MIN); }
static bool min_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return reduce_folds(k, EDDY_FOLD_MIN, b);
}

const eddy_op_def eddy_op_min = {
    REDUCTION("Min"), .infer = min_infer, .prepare = min_prepare, .folds = min_folds,
    .gradient = extreme_gradient,
};

/** y = the smallest element of x along `axes`.
 *
 *  x         float32, float64, int32, int64 or uint8, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  NaN if there is one among them.  The minimum of nothing is +infinity, of
 *  integers the largest one.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy / n for the n elements that equal y, which share it
 *  equally, and 0 for the others; NaN if y is.  TensorFlow: Min (tf.reduce_min). */
eddy_tensor eddy_min_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_min, a);
}

/* ------------------------------------------------------------------- prod -- */

static bool prod_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_PROD); }
static eddy_status prod_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_PROD); }
static bool prod_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return reduce_folds(k, EDDY_FOLD_PROD, b);
}

/* For each element the product of the others along the axis: those before it
 * times those after it, which is exact whatever is 0. */
static eddy_tensor others(eddy_tensor x, int64_t axis)
{
    return Mul(eddy_cumprod(x, .axis = axis, .exclusive = true),
               eddy_cumprod(x, .axis = axis, .exclusive = true, .reverse = true));
}

/* A product over several axes is a product over one after the other, and so
 * is its gradient. */
static void prod_gradient(eddy_rule *r)
{
    const eddy_tensor x = Conj(r->x[0]), dy = r->dy[0];
    eddy_dims axes = ((const reduce_attrs *)r->attrs)->axes;
    const int rank = eddy_shape_of(x).rank;
    if (axes.count == 0 && rank < 0) {
        const eddy_tensor flat = eddy_reshape(x, EDDY_SHAPE(EDDY_ANY));
        r->dx[0] = eddy_reshape_like(Mul(dy, others(flat, 0)), x);
        return;
    }
    for (int i = 0; axes.count == i && i < rank; i++) axes.at[axes.count++] = i;
    eddy_tensor part = x, dx = spread(r, dy);
    for (int i = 0; i < axes.count; i++) {
        dx = Mul(dx, others(part, axes.at[i]));
        part = eddy_prod(part, .axes = EDDY_AXES(axes.at[i]), .keepdims = true);
    }
    r->dx[0] = dx;
}

const eddy_op_def eddy_op_prod = {
    REDUCTION("Prod"), .infer = prod_infer, .prepare = prod_prepare, .folds = prod_folds,
    .gradient = prod_gradient,
};

/** y = the product of x over `axes`.
 *
 *  x         any numbers but half, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  The product of nothing is 1.  float32 is multiplied in float64 and rounded
 *  once; integers wrap.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy times the product of the other elements, exact also where
 *  elements are 0, and differentiable again.  TensorFlow: Prod (tf.reduce_prod). */
eddy_tensor eddy_prod_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_prod, a);
}

/* --------------------------------------------------------- euclidean norm -- */

typedef struct euclidean_attrs {
    reduce_attrs reduce;
    bool         zero_slope;       /* the gradient at 0 is 0 and not NaN */
} euclidean_attrs;

static const eddy_attr_field euclidean_fields[] = {
    { "axes", EDDY_ATTR_DIMS, offsetof(euclidean_attrs, reduce.axes) },
    { "keep_dims", EDDY_ATTR_BOOL, offsetof(euclidean_attrs, reduce.keepdims) },
    { "zero_slope", EDDY_ATTR_BOOL, offsetof(euclidean_attrs, zero_slope) },
    { NULL, EDDY_ATTR_END, 0 },
};

typedef struct euclidean_loops {
    eddy_reduction plain, large, small;
} euclidean_loops;

static bool euclidean_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_NORM); }

/* Of float64 the elements may be needed again. */
static bool euclidean_folds(const eddy_kernel *k, eddy_blocks *b)
{
    return k->in[0]->type.dtype == EDDY_FLOAT32 && reduce_folds(k, EDDY_FOLD_NORM, b);
}

static eddy_status euclidean_prepare(eddy_kernel *k)
{
    euclidean_loops *p = eddy_kernel_state(k, sizeof *p);
    if (!p) return eddy_kernel_fail(k, EDDY_NO_MEMORY, "no memory for the loops");
    p->plain = reduction_of(k, EDDY_FOLD_NORM);
    p->large = reduction_of(k, EDDY_FOLD_NORM_LARGE);
    p->small = reduction_of(k, EDDY_FOLD_NORM_SMALL);
    eddy_reduction_prepare(k, &p->plain);      /* the others need no more */
    return EDDY_OK;
}

static eddy_status euclidean_kernel(eddy_kernel *k)
{
    const euclidean_loops *p = k->state;
    const double *y = k->out[0]->data;
    const void   *x = k->in[0]->data;
    bool large = false, small = false;
    eddy_reduction_kernel(k, &p->plain, k->out[0]->data, x);
    if (k->in[0]->type.dtype == EDDY_FLOAT32) return EDDY_OK;
    for (int64_t i = 0; i < k->out[0]->count; i++) {
        large |= eddy_norm_is_large(y[i]);
        small |= eddy_norm_is_small(y[i]);
    }
    if (large) eddy_reduction_kernel(k, &p->large, k->out[0]->data, x);
    if (small) eddy_reduction_kernel(k, &p->small, k->out[0]->data, x);
    return EDDY_OK;
}

/* x / y before it is multiplied: neither y^2 nor 1 / y need be a number that there is. */
static void euclidean_gradient(eddy_rule *r)
{
    const euclidean_attrs *a = r->attrs;
    const eddy_tensor x = r->x[0], y = spread(r, r->y[0]);
    r->dx[0] = Mul(spread(r, r->dy[0]), a->zero_slope ? DivNoNan(x, y) : Div(x, y));
}

static void euclidean_batch(eddy_batch *b)
{
    euclidean_attrs a = *(const euclidean_attrs *)b->attrs;
    if (eddy_batch_axes(b, 0, &a.reduce.axes)) eddy_batch_apply(b, &a);
}

static double euclidean_flops(const void *attrs, int n_in, const eddy_type *in,
                              const eddy_type *out)
{
    return 2 * eddy_flops_per_input(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_euclidean_norm = {
    .name = "EuclideanNorm", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .attrs_size = sizeof(euclidean_attrs), .attrs = euclidean_fields,
    .infer = euclidean_infer, .prepare = euclidean_prepare, .kernel = euclidean_kernel,
    .folds = euclidean_folds, .gradient = euclidean_gradient, .batch = euclidean_batch,
    .flops = euclidean_flops,
};

static eddy_tensor euclidean(eddy_reduce_args a, bool zero_slope)
{
    const euclidean_attrs attrs = { { a.axes, a.keepdims }, zero_slope };
    return eddy_apply(&eddy_op_euclidean_norm, &attrs, 1, &a.x,
                      (eddy_apply_args){ .name = a.name });
}

/* Whether the axes are a list whose first one x may have. */
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

/* Of complex numbers: of both parts, one behind the other. */
static eddy_tensor length_of(eddy_reduce_args a, bool zero_slope)
{
    if (!eddy_dtype_is_complex(eddy_dtype_of(a.x))) return euclidean(a, zero_slope);
    if (a.axes.count == -1) return called(a.name, eddy_abs(a.x));
    const eddy_tensor re = Real(a.x), im = Imag(a.x);
    if (has_first(re, a.axes)) {
        a.x = eddy_concat(EDDY_LIST(re, im), a.axes.at[0]);
        return euclidean(a, zero_slope);
    }
    if (a.axes.count != 0 || a.axes.no_number_) {       /* no list that the op will take */
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

/** y = the root of the sum of |x|^2 over `axes`.
 *
 *  x               float32, float64, complex64 or complex128; y is real
 *  axes, keepdims  as for eddy_sum
 *
 *  float32 is squared and summed in float64; of float64 the sum is taken again, scaled,
 *  where squares overflow or vanish: no norm is lost that y can hold.
 *  Errors: EDDY_BAD_DTYPE for other element types; else as eddy_sum.
 *  Gradient: dx = dy x / y; where y is 0, NaN; of eddy_norm it is 0 there.
 *  TensorFlow: EuclideanNorm (tf.math.reduce_euclidean_norm). */
eddy_tensor eddy_euclidean_norm_with(eddy_reduce_args a)
{
    return length_of(a, false);
}

/* --------------------------------------------------------------- any, all -- */

static bool any_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_ANY); }
static eddy_status any_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_ANY); }

const eddy_op_def eddy_op_any = {
    REDUCTION("Any"), .infer = any_infer, .prepare = any_prepare,
    .gradient = eddy_not_differentiable,
};

/** y = whether any element of x along `axes` is true.
 *
 *  x         bool, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  Of nothing it is false.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an axis
 *  that x does not have or that is given twice.
 *  Gradient: none.  TensorFlow: Any (tf.reduce_any). */
eddy_tensor eddy_any_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_any, a);
}

static bool all_infer(eddy_infer *c) { return reduce_infer(c, EDDY_FOLD_ALL); }
static eddy_status all_prepare(eddy_kernel *k) { return reduce_prepare(k, EDDY_FOLD_ALL); }

const eddy_op_def eddy_op_all = {
    REDUCTION("All"), .infer = all_infer, .prepare = all_prepare,
    .gradient = eddy_not_differentiable,
};

/** y = whether all elements of x along `axes` are true.
 *
 *  x         bool, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *
 *  Of nothing it is true.
 *  Errors: EDDY_BAD_DTYPE if x is not bool; EDDY_INVALID_ARGUMENT for an axis
 *  that x does not have or that is given twice.
 *  Gradient: none.  TensorFlow: All (tf.reduce_all). */
eddy_tensor eddy_all_with(eddy_reduce_args a)
{
    return reduce(&eddy_op_all, a);
}

/* -------------------------------------------------------------- logsumexp -- */

/** y = ln sum e^x over `axes`, computed as m + ln sum e^(x - m) with m the largest x.
 *
 *  x         float32 or float64, any shape
 *  axes      each axis once, in [-rank, rank); left out: all; EDDY_NO_DIMS: none
 *  keepdims  reduced dimensions stay, with size 1
 *  name      of the scope that its nodes stand in
 *
 *  No finite x overflows; of nothing, and where every x is -infinity, it is
 *  -infinity.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_INVALID_ARGUMENT for an
 *  axis that x does not have or that is given twice.
 *  Gradient: dx = dy e^(x - y), the softmax along the axes.
 *  TensorFlow: tf.reduce_logsumexp. */
eddy_tensor eddy_logsumexp_with(eddy_reduce_args a)
{
    const eddy_tensor x = a.x;
    if (eddy_is_valid(x) && !eddy_dtype_is_floating(eddy_dtype_of(x)))
        return eddy_fail(x.graph, EDDY_BAD_DTYPE, "logsumexp: float32 or float64 expected, not %s",
                         eddy_dtype_name(eddy_dtype_of(x)));
    eddy_scope_begin(x.graph, a.name ? a.name : "logsumexp");
    const eddy_tensor top = eddy_max(x, .axes = a.axes, .keepdims = true);
    /* An infinite maximum would make x - m NaN; any finite m is right then. */
    const eddy_tensor m = eddy_stop_gradient(Where(eddy_is_finite(top), top, ZerosLike(top)));
    const eddy_tensor s = eddy_sum(Exp(Sub(x, m)), .axes = a.axes, .keepdims = a.keepdims);
    const eddy_tensor y = Add(Log(s), a.keepdims ? m : eddy_reshape_like(m, s));
    eddy_scope_end(x.graph);
    return y;
}

/* ------------------------------------------------------------------ tools -- */

eddy_tensor eddy_length_of(eddy_tensor x, eddy_dims axes, bool keepdims)
{
    return length_of((eddy_reduce_args){ .x = x, .axes = axes, .keepdims = keepdims }, true);
}
