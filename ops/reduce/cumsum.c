/* cumsum.c -- cumulative sums and products (cumsum, cumprod) and linear recurrences
 * (linear_scan) along an axis.
 *
 * A kernel processes a tile of neighboring lanes at a time, with one accumulator for each, so
 * that its inner loop runs over consecutive elements for any axis. float32 is accumulated in
 * float64, complex64 in complex128, integers in 64 bits. */
#include "graph/base/stop.h"
#include "graph/base/thread_pool.h"
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/reduce/scans.h"
#include "ops/short_names.h"
#include "graph/base/cpu.h"
#include "ops/kernels/reduction/reduce_engine.h"
#include "build/gen/table.h"

#include <complex.h>
#include <string.h>

#ifdef EDDY_HEADER
/* Arguments of the cumulative sums and products, and of eddy_cumulative_logsumexp. */
typedef struct eddy_scan_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_scan_args));
    eddy_tensor x;
    int64_t     axis;           /* default 0 */
    bool        exclusive;      /* y[j] covers only the elements before j */
    bool        reverse;        /* from the last element to the first */
    const char *name;
} eddy_scan_args;
#endif

const eddy_attr_field eddy__scan_fields[] = EDDY_FIELDS(eddy_scan_attrs, axis, exclusive, reverse);

/* -------------------------------------------------------- shared code -- */

enum { TILE = 256 };

/* n rows of `width` lanes, `step` elements apart. Only linear_scan has w. */
typedef void scan_fn(void *y, const void *x, const void *w, int64_t n, int64_t width, int64_t step,
                     bool exclusive, const eddy_stop *stop);

typedef struct scans {
    scan_fn *sum, *product, *linear;
} scans;

#define TEMPLATE "ops/kernels/reduction/scan_loops.h"
#define TYPES    FOR_NUMBERS_COMPLEX
#include "ops/kernels/for_types.h"

static const scans *scans_of(eddy_dtype d)
{
    return EDDY_FOR_TYPE(&scans, FOR_NUMBERS_COMPLEX, d);
}

/* Gives y the type of x; fails unless x has the axis. */
static bool infer_along(eddy_infer *c, int64_t axis)
{
    const eddy_type x = c->in[0];
    int at;
    return eddy__infer_axis(c, axis, x.shape.rank < 0 ? EDDY_MAX_RANK : x.shape.rank, &at) &&
           eddy__infer_yield(c, 0, x.dtype, x.shape);
}

/* Sums or products of rows of float32 in fours, which do not wait for one another; the others are
 * left. Returns the number of rows. Once for both: not inlined. */
static __attribute__((noinline)) int64_t fours_of_rows(eddy_kernel *k, bool product)
{
    const eddy_scan_attrs *a = k->attrs;
    const eddy_type  t = k->in[0]->type;
    const eddy_lanes l = eddy__lanes_of(t.shape, a->axis);
    const int64_t    step = a->reverse ? -1 : 1, n = l.n;
    int64_t          rows = 0;
    if (t.dtype != EDDY_FLOAT32 || l.inner != 1 || a->exclusive) return 0;
    for (; rows + 4 <= l.outer; rows += 4) {
        const int64_t first = rows * n + (a->reverse ? n - 1 : 0);
        const float  *x = (const float *)k->in[0]->data + first;
        float        *y = (float *)k->out[0]->data + first;
        double        acc[4] = { product, product, product, product };
        for (int64_t j = 0; j < n && !eddy__stopped_at(k->stop, j); j++, x += step, y += step)
            for (int r = 0; r < 4; r++) {
                acc[r] = product ? acc[r] * (double)x[r * n] : acc[r] + (double)x[r * n];
                y[r * n] = (float)acc[r];
            }
    }
    return rows;
}

/* Of the outer lanes from `first` on. */
static eddy_status run_scan(eddy_kernel *k, scan_fn *scan, const eddy_scan_attrs *a, int64_t first)
{
    const eddy_type t = k->in[0]->type;
    const size_t size = eddy_dtype_size(t.dtype);
    const eddy_lanes l = eddy__lanes_of(t.shape, a->axis);
    const int64_t step = a->reverse ? -l.inner : l.inner;
    if (l.n == 0) return EDDY_OK;
    for (int64_t o = first; o < l.outer; o++)
        for (int64_t c = 0; c < l.inner; c += TILE) {
            const int64_t width = l.inner - c < TILE ? l.inner - c : TILE;
            const int64_t begin = (o * l.n + (a->reverse ? l.n - 1 : 0)) * l.inner + c;
            const size_t at = (size_t)begin * size;
            scan((char *)k->out[0]->data + at, (const char *)k->in[0]->data + at,
                 k->n_in > 1 ? (const char *)k->in[1]->data + at : NULL, l.n, width, step,
                 a->exclusive, k->stop);
        }
    return EDDY_OK;
}

/* ----------------------------------------------------------------- cumsum -- */

static eddy_status cumsum_kernel(eddy_kernel *k)
{
    return run_scan(k, scans_of(k->in[0]->type.dtype)->sum, k->attrs, fours_of_rows(k, false));
}

static void cumsum_gradient(eddy_rule *r)
{
    const eddy_scan_attrs *a = r->attrs;
    r->dx[0] = eddy_cumsum(r->dy[0], .axis = a->axis, .exclusive = a->exclusive,
                           .reverse = !a->reverse);
}

const eddy_op_def eddy_op_cumsum = {
    .name = "Cumsum", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_IN_PLACE, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX }),
    .attrs_size = sizeof(eddy_scan_attrs), .attrs = eddy__scan_fields,
    .flops = eddy_flops_per_input,
    .infer = eddy__scan_infer, .kernel = cumsum_kernel, .gradient = cumsum_gradient,
    .batch = eddy__scan_batch,
};

/** y[j] = x[0] + ... + x[j] along `axis`.
 *
 *  x          any numeric type except float16 and bfloat16, rank at least 1
 *  axis       in [-rank, rank); default 0
 *  exclusive  y[j] = x[0] + ... + x[j - 1], so that y[0] = 0
 *  reverse    sums from the end: y[j] = x[n - 1] + ... + x[j]
 *
 *  Integers wrap around.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: dx = the cumsum of dy in the opposite direction.  TensorFlow: Cumsum. */
eddy_tensor eddy_cumsum_with(const eddy_scan_args *given)
{
    return eddy__scan_apply(&eddy_op_cumsum, given);
}

/* ---------------------------------------------------------------- cumprod -- */

static eddy_status cumprod_kernel(eddy_kernel *k)
{
    return run_scan(k, scans_of(k->in[0]->type.dtype)->product, k->attrs, fours_of_rows(k, true));
}

/* dx[j] = (x[0] ... x[j-1]) s[j], where s[j] = dy[j] + x[j+1] s[j+1] accumulates the
 * contributions of the later products. There is no division, so zeros are handled exactly. */
static void cumprod_gradient(eddy_rule *r)
{
    const eddy_scan_attrs *a = r->attrs;
    const eddy_tensor x = Conj(r->x[0]), dy = r->dy[0];
    const int64_t back = a->reverse ? 1 : -1;
    const eddy_tensor before = eddy_cumprod(x, .axis = a->axis, .exclusive = true,
                                            .reverse = a->reverse);
    const eddy_tensor d = a->exclusive ? eddy_shift(dy, back, a->axis) : dy;
    const eddy_tensor s = eddy_linear_scan(d, eddy_shift(x, back, a->axis), .axis = a->axis,
                                           .reverse = !a->reverse);
    r->dx[0] = Mul(before, s);
}

const eddy_op_def eddy_op_cumprod = {
    .name = "Cumprod", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_IN_PLACE, .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX }),
    .attrs_size = sizeof(eddy_scan_attrs), .attrs = eddy__scan_fields,
    .flops = eddy_flops_per_input,
    .infer = eddy__scan_infer, .kernel = cumprod_kernel, .gradient = cumprod_gradient,
    .batch = eddy__scan_batch,
};

/** y[j] = x[0] ... x[j], the cumulative product along `axis`.
 *
 *  x          any numeric type except float16 and bfloat16, rank at least 1
 *  axis       in [-rank, rank); default 0
 *  exclusive  y[j] = x[0] ... x[j - 1], so that y[0] = 1
 *  reverse    multiplies from the end: y[j] = x[n - 1] ... x[j]
 *
 *  Integers wrap around.
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: dx[j] = x[0] ... x[j-1] s[j] with s[j] = dy[j] + x[j+1] s[j+1]; unlike in
 *  TensorFlow, exact where elements are 0, and differentiable again.  TensorFlow: Cumprod. */
eddy_tensor eddy_cumprod_with(const eddy_scan_args *given)
{
    return eddy__scan_apply(&eddy_op_cumprod, given);
}

/* ------------------------------------------------------------ linear_scan -- */

#ifdef EDDY_HEADER
typedef struct eddy_linear_scan_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_linear_scan_args));
    eddy_tensor x, w;
    int64_t     axis;           /* default 0 */
    bool        reverse;        /* from the last element to the first */
    const char *name;
} eddy_linear_scan_args;
#endif

typedef struct linear_attrs {
    int64_t axis;
    bool    reverse;
} linear_attrs;

static bool linear_infer(eddy_infer *c)
{
    const linear_attrs *a = c->attrs;
    const eddy_type x = c->in[0], w = c->in[1];
    if (!eddy_shape_compatible(x.shape, w.shape))
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "the shapes of x and w differ");
    if (!infer_along(c, a->axis)) return false;
    eddy_shape *y = &c->out[0].shape;
    if (y->rank < 0) *y = w.shape;
    for (int i = 0; i < y->rank && w.shape.rank >= 0; i++)
        eddy__dim_unify(&y->dim[i], w.shape.dim[i]);
    return true;
}

static eddy_status linear_kernel(eddy_kernel *k)
{
    const linear_attrs *a = k->attrs;
    const eddy_scan_attrs how = { a->axis, false, a->reverse };
    return run_scan(k, scans_of(k->in[0]->type.dtype)->linear, &how, 0);
}

/* With t[j] = dy[j] + w[j+1] t[j+1]: dx = t and dw[j] = t[j] y[j-1]. */
static void linear_gradient(eddy_rule *r)
{
    const linear_attrs *a = r->attrs;
    const int64_t on = a->reverse ? -1 : 1;
    const eddy_tensor w = Conj(r->x[1]), y = Conj(r->y[0]), dy = r->dy[0];
    const eddy_tensor t = eddy_linear_scan(dy, eddy_shift(w, -on, a->axis), .axis = a->axis,
                                           .reverse = !a->reverse);
    r->dx[0] = t;
    r->dx[1] = Mul(t, eddy_shift(y, on, a->axis));
}

static void linear_batch(eddy_batch *b)
{
    linear_attrs a = *(const linear_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

static double linear_flops(const void *attrs, int n_in, const eddy_type *in, const eddy_type *out)
{
    return 2 * eddy_flops_per_output(attrs, n_in, in, out);
}

const eddy_op_def eddy_op_linear_scan = {
    .name = "LinearScan", .min_inputs = 2, .max_inputs = 2, .outputs = 1,
    .flags = EDDY_OP_IN_PLACE,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_NUMBERS_COMPLEX }, { "w", EDDY_LIKE(0) }),
    .attrs_size = sizeof(linear_attrs), .attrs = EDDY_ATTRS(linear_attrs, axis, reverse),
    .flops = linear_flops,
    .infer = linear_infer, .kernel = linear_kernel, .gradient = linear_gradient,
    .batch = linear_batch,
};

/** y[j] = x[j] + w[j] y[j-1] along `axis`, with y[0] = x[0].
 *
 *  x, w     any numeric type except float16 and bfloat16, the same type and shape for both, rank
 *           at least 1; w[0] is not used
 *  axis     in [-rank, rank); default 0
 *  reverse  from the end: y[j] = x[j] + w[j] y[j+1]
 *
 *  With a constant w and `reverse`, y is the discounted sum of future elements.  Integers wrap
 *  around.
 *  Errors: EDDY_BAD_SHAPE if the shapes differ; EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: dx[j] = dy[j] + w[j+1] dx[j+1], dw[j] = dx[j] y[j-1].
 *  TensorFlow: tf.scan with that step. */
eddy_tensor eddy_linear_scan_with(const eddy_linear_scan_args *given)
{
    eddy_linear_scan_args a = EDDY_TAKE(eddy_linear_scan_args, given);
    const linear_attrs attrs = { a.axis, a.reverse };
    return eddy_apply(&eddy_op_linear_scan, &attrs, 2, (eddy_tensor[]){ a.x, a.w },
                      (eddy_apply_args){ .name = a.name });
}

/* ------------------------------------------------------------------ shift -- */

typedef struct shift_attrs {
    int64_t shift, axis;
} shift_attrs;

static bool shift_infer(eddy_infer *c)
{
    const shift_attrs *a = c->attrs;
    if (a->shift == INT64_MIN)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "shift is %lld, which cannot be negated",
                               (long long)a->shift);
    return infer_along(c, a->axis);
}

/* Copies bytes to an address slightly above the source, modulo a page: the string instruction
 * that long copies use is slow there, and short copies avoid it. */
static void copy_ahead(char *y, const char *x, size_t n)
{
    enum { SHORT = 1024 };
    for (; n > SHORT; n -= SHORT, x += SHORT, y += SHORT) memcpy(y, x, SHORT);
    memcpy(y, x, n);
}

typedef struct shifting {
    const char *x;
    char       *y;
    size_t      block, zeros;   /* bytes of a lane's elements, and of the zeros shifted in */
    bool        up;
} shifting;

/* Outer positions [from, to). */
static void shift_blocks(void *arg, int64_t from, int64_t to, int worker)
{
    const shifting *s = arg;
    const size_t    kept = s->block - s->zeros;
    const char     *x = s->x + (size_t)from * s->block;
    char           *y = s->y + (size_t)from * s->block;
    (void)worker;
    for (int64_t o = from; o < to; o++, x += s->block, y += s->block) {
        copy_ahead(s->up ? y + s->zeros : y, s->up ? x : x + s->zeros, kept);
        memset(s->up ? y : y + kept, 0, s->zeros);
    }
}

static eddy_status shift_kernel(eddy_kernel *k)
{
    enum { BYTES = 1 << 17 };
    const shift_attrs *a = k->attrs;
    const eddy_type    t = k->in[0]->type;
    const eddy_lanes   l = eddy__lanes_of(t.shape, a->axis);
    const int64_t most = a->shift < 0 ? -a->shift : a->shift, gone = most < l.n ? most : l.n;
    const size_t  row = (size_t)l.inner * eddy_dtype_size(t.dtype);
    shifting      s = { k->in[0]->data, k->out[0]->data, (size_t)l.n * row, (size_t)gone * row,
                        a->shift > 0 };
    if (s.block > 0)
        eddy__parallel_or_stop(k, l.outer, (int64_t)(BYTES / s.block) + 1, shift_blocks, &s);
    return EDDY_OK;
}

static void shift_gradient(eddy_rule *r)
{
    const shift_attrs *a = r->attrs;
    r->dx[0] = eddy_shift(r->dy[0], -a->shift, a->axis);
}

static void shift_batch(eddy_batch *b)
{
    shift_attrs a = *(const shift_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

const eddy_op_def eddy_op_shift = {
    .name = "Shift", .min_inputs = 1, .max_inputs = 1, .outputs = 1,
    .flags = EDDY_OP_MOVES, .attrs_size = sizeof(shift_attrs),
    .attrs = EDDY_ATTRS(shift_attrs, shift, axis),
    .infer = shift_infer, .kernel = shift_kernel, .gradient = shift_gradient, .batch = shift_batch,
};

/** y[j] = x[j - by] along `axis`, and 0 where x has no such element.
 *
 *  x     any element type, rank at least 1
 *  by    the shift toward higher indices; negative: toward lower indices
 *  axis  in [-rank, rank)
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid axis.
 *  Gradient: dx = dy shifted by -by.  TensorFlow: Pad of a Slice. */
eddy_tensor eddy_shift(eddy_tensor x, int64_t by, int64_t axis)
{
    return eddy_apply1(&eddy_op_shift, &(shift_attrs){ by, axis }, x);
}

/* ------------------------------------------------------------------ tools -- */

bool eddy__scan_infer(eddy_infer *c)
{
    const eddy_scan_attrs *a = c->attrs;
    return infer_along(c, a->axis);
}

void eddy__scan_batch(eddy_batch *b)
{
    eddy_scan_attrs a = *(const eddy_scan_attrs *)b->attrs;
    a.axis = eddy__batch_axis(a.axis);
    eddy_batch_apply(b, &a);
}

eddy_tensor eddy__scan_apply(const eddy_op_def *op, const eddy_scan_args *given)
{
    const eddy_scan_args  a = EDDY_TAKE(eddy_scan_args, given);
    const eddy_scan_attrs attrs = { a.axis, a.exclusive, a.reverse };
    return eddy__apply_named(a.name, op, &attrs, 1, &a.x);
}
