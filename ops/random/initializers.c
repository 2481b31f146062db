/* initializers.c -- initializers of variables: zeros, Glorot, He, LeCun, variance scaling,
 * orthogonal and others.
 *
 * An initializer is a function that builds a tensor of a given shape. Any function of this type
 * can be used, including a user's own. */
#include "graph/op.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "graph/base/cpu.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/short_names.h"
#include "ops/kernels/random/philox.h"
#include "build/gen/table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
/* Builds the initial value of a variable. `shape` is fully known; with a `seed` of 0, each random
 * operation has its own seed. */
typedef eddy_tensor (*eddy_initializer_fn)(eddy_graph *g, eddy_dtype dtype, eddy_shape shape,
                                           int64_t seed);

typedef struct eddy_init_variance_scaling_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_init_variance_scaling_args));
    eddy_graph *graph;
    eddy_shape  shape;             /* fully known */
    double      scale EDDY_DEFAULT(1);
    const char *mode;              /* "fan_in" (the default), "fan_out", "fan_avg" */
    /* "truncated_normal" (the default), "untruncated_normal", "uniform" */
    const char *distribution;
    eddy_dtype  dtype;             /* default float32 */
    int64_t     seed;
} eddy_init_variance_scaling_args;
#endif

/** A tensor of zeros, as an eddy_initializer_fn; the seed is ignored.
 *
 *  TensorFlow: zeros_initializer. */
eddy_tensor eddy_init_zeros(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    (void)seed;
    return eddy_zeros(g, dtype, shape);
}

/** A tensor of ones, as an eddy_initializer_fn; the seed is ignored.
 *
 *  TensorFlow: ones_initializer. */
eddy_tensor eddy_init_ones(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    (void)seed;
    return eddy_ones(g, dtype, shape);
}

/* -------------------------------------------------- fans -- */

/* The number of inputs and outputs of a unit: [in, out] for a matrix; with more dimensions, the
 * leading ones are the receptive field of a convolution. */
static void compute_fans(eddy_shape s, double *in, double *out)
{
    double field = 1;
    *in = *out = 1;
    if (!eddy_shape_is_valid(s) || !eddy_shape_is_known(s)) return;  /* refused by the operation */
    for (int i = 0; i < s.rank - 2; i++) field *= (double)s.dim[i];
    if (s.rank >= 1) *out = (double)s.dim[s.rank - 1] * field;
    if (s.rank >= 1) *in = *out;
    if (s.rank >= 2) *in = (double)s.dim[s.rank - 2] * field;
}

/* The index of `name` among `n` names; 0 for NULL, -1 if it is not one of them. */
static int name_among(const char *name, const char *const *names, int n)
{
    if (!name) return 0;
    for (int i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}

/** Random numbers with mean 0 and variance scale / n, where n is a fan.
 *
 *  graph, shape  of the result; the shape must be fully known
 *  scale         must be positive
 *  mode          selects n: "fan_in" (default), the number of inputs of a unit; "fan_out", the
 *                number of its outputs; "fan_avg", their mean; see eddy_init_glorot_uniform
 *  distribution  "truncated_normal" (default), truncated at two standard deviations and rescaled
 *                to this variance; "untruncated_normal"; "uniform"
 *  dtype         float32 (default) or float64
 *  seed          default 0: the operation's own
 *
 *  Errors: EDDY_INVALID_ARGUMENT for an invalid scale, mode or distribution; EDDY_BAD_DTYPE for
 *  other element types; EDDY_BAD_SHAPE for an invalid or unknown shape.
 *  Gradient: none.  TensorFlow: variance_scaling_initializer. */
eddy_tensor eddy_init_variance_scaling_with(const eddy_init_variance_scaling_args *given)
{
    eddy_init_variance_scaling_args a = EDDY_TAKE(eddy_init_variance_scaling_args, given);
    static const char *const modes[] = { "fan_in", "fan_out", "fan_avg" };
    static const char *const kinds[] = { "truncated_normal", "untruncated_normal", "uniform" };
    const double cut = 0.87962566103423978;  /* of the normal distribution truncated at 2 */
    const double scale = a.scale;
    const int    mode = name_among(a.mode, modes, 3), kind = name_among(a.distribution, kinds, 3);
    double       in, out;
    if (mode < 0 || kind < 0)
        return eddy_fail(a.graph, EDDY_INVALID_ARGUMENT,
                         "variance scaling: unknown %s '%.100s'",
                         mode < 0 ? "mode" : "distribution", mode < 0 ? a.mode : a.distribution);
    if (!(scale > 0 && scale <= DBL_MAX))
        return eddy_fail(a.graph, EDDY_INVALID_ARGUMENT,
                         "variance scaling: scale is %g; it must be positive and finite",
                         scale);
    if (a.dtype && !eddy__expect_type(a.graph, "variance scaling", "dtype", a.dtype,
                                      EDDY_TAKES_WIDE_FLOATS))
        return eddy_none(a.graph);
    compute_fans(a.shape, &in, &out);
    const double fan = mode == 0 ? in : mode == 1 ? out : (in + out) / 2;
    const double variance = scale / (fan > 1 ? fan : 1), limit = sqrt(3 * variance);
    if (kind == 2) return eddy_random_uniform(a.graph, a.shape, -limit, limit, a.dtype, a.seed);
    if (kind == 1)
        return eddy_random_normal(a.graph, a.shape, .stddev = sqrt(variance), .dtype = a.dtype,
                                  .seed = a.seed);
    return eddy_truncated_normal(a.graph, a.shape, .stddev = sqrt(variance) / cut,
                                 .dtype = a.dtype, .seed = a.seed);
}

/** Glorot uniform initialization: uniform in [-l, l), with l = sqrt(6/(fan_in + fan_out)).
 *
 *  The fans of a matrix are its two dimensions; with more dimensions, both are multiplied by the
 *  product of those before the last two; the fans of a vector are its size, those of a scalar are
 *  1.  A fan below 1 counts as 1.
 *  TensorFlow: glorot_uniform_initializer. */
eddy_tensor eddy_init_glorot_uniform(eddy_graph *g, eddy_dtype dtype, eddy_shape shape,
                                     int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 1, "fan_avg", "uniform", dtype, seed);
}

/** Glorot normal initialization: truncated normal with variance 2/(fan_in + fan_out).
 *
 *  The fans are those of eddy_init_glorot_uniform.
 *  TensorFlow: glorot_normal_initializer. */
eddy_tensor eddy_init_glorot_normal(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 1, "fan_avg", "truncated_normal", dtype, seed);
}

/** He uniform initialization: uniform in [-l, l), with l = sqrt(6/fan_in).
 *
 *  The fans are those of eddy_init_glorot_uniform.
 *  TensorFlow: he_uniform. */
eddy_tensor eddy_init_he_uniform(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 2, "fan_in", "uniform", dtype, seed);
}

/** He normal initialization: truncated normal with variance 2/fan_in.
 *
 *  The fans are those of eddy_init_glorot_uniform.
 *  TensorFlow: he_normal. */
eddy_tensor eddy_init_he_normal(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 2, "fan_in", "truncated_normal", dtype, seed);
}

/** LeCun uniform initialization: uniform in [-l, l), with l = sqrt(3/fan_in).
 *
 *  The fans are those of eddy_init_glorot_uniform.
 *  TensorFlow: lecun_uniform. */
eddy_tensor eddy_init_lecun_uniform(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 1, "fan_in", "uniform", dtype, seed);
}

/** LeCun normal initialization: truncated normal with variance 1/fan_in.
 *
 *  The fans are those of eddy_init_glorot_uniform.
 *  TensorFlow: lecun_normal. */
eddy_tensor eddy_init_lecun_normal(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    return eddy_init_variance_scaling(g, shape, 1, "fan_in", "truncated_normal", dtype, seed);
}

/* ---------------------------------------------------------- orthogonal -- */

/* The Q of the QR decomposition of a normal random matrix, by Householder reflections in double
 * precision.  Rows are contiguous, so every inner loop runs along a row. */
typedef struct orthogonal_attrs {
    eddy_shape shape;
    eddy_dtype dtype;
    int64_t    seed;
} orthogonal_attrs;

static bool orthogonal_infer(eddy_infer *c)
{
    const orthogonal_attrs *a = c->attrs;
    if (!eddy__infer_expects(c, "dtype", a->dtype, EDDY_TAKES_WIDE_FLOATS)) return false;
    if (!eddy_shape_is_valid(a->shape) || !eddy_shape_is_known(a->shape) || a->shape.rank < 2) {
        char text[256];
        return eddy_infer_fail(c, EDDY_BAD_SHAPE, "shape %s must be known and have rank 2 or more",
                               eddy_shape_print(a->shape, text, sizeof text));
    }
    c->out[0] = (eddy_type){ a->dtype, a->shape };
    return true;
}

/* A sweep takes this many rows at a time; the rows of zeros that follow the matrix complete it. */
enum { ROWS = 4 };

/* The matrix q to be decomposed, with m rows and n <= m columns. A reflection subtracts f w from q,
 * where f is a column and w a row; g is the next one's vector, and `next` its g' q. */
typedef struct householder {
    int64_t m, n, ld;                        /* ld: from row to row */
    double *q, *f, *g;                       /* [m + ROWS,ld], [m + ROWS], [m + ROWS] */
    double *w, *next, *tau, *sign;           /* [n] */
} householder;

/* Vectors of a row begin at multiples of their size, and rows not at the same place of a page. */
static int64_t apart(int64_t n) { return (n + 7) / 4 * 4; }

/* The numbers of rows and columns of the flattened output, the larger one first. */
static void orthogonal_sizes(eddy_shape s, int64_t *m, int64_t *n, bool *wide)
{
    int64_t rows = 1, columns = s.dim[s.rank - 1];
    for (int i = 0; i < s.rank - 1; i++) rows *= s.dim[i];
    *wide = rows < columns;
    *m = *wide ? columns : rows;
    *n = *wide ? rows : columns;
}

/* q -= f w and then next += g' q, of the rows from `first` and the columns from `from` on, so that
 * each element is read and written once. */
EDDY_INLINE void sweep_all(const householder *h, int64_t first, int64_t from)
{
    const double *w = h->w;
    double       *next = h->next;
    for (int64_t i = first; i < h->m; i += ROWS) {
        const double f0 = h->f[i], f1 = h->f[i + 1], f2 = h->f[i + 2], f3 = h->f[i + 3];
        const double g0 = h->g[i], g1 = h->g[i + 1], g2 = h->g[i + 2], g3 = h->g[i + 3];
        double      *a = h->q + i * h->ld, *b = a + h->ld, *c = b + h->ld, *d = c + h->ld;
        EDDY_INDEPENDENT
        for (int64_t j = from; j < h->n; j++) {
            const double x = w[j], a_ = a[j] - f0 * x, b_ = b[j] - f1 * x, c_ = c[j] - f2 * x,
                         d_ = d[j] - f3 * x;
            a[j] = a_, b[j] = b_, c[j] = c_, d[j] = d_;
            next[j] = next[j] + g0 * a_ + g1 * b_ + g2 * c_ + g3 * d_;
        }
    }
}
EDDY_CLONES_TO_AVX2_OF(sweep, (const householder *h, int64_t first, int64_t from), (h, first, from))

/* Afterwards, the next reflection is the current one. The sweep begins with a whole vector, whose
 * first columns it leaves as they are. */
static void sweep_on(householder *h, int64_t first, int64_t from)
{
    double       *w = h->w;
    const int64_t begin = from / 4 * 4;
    memset(h->next, 0, (size_t)h->n * sizeof *w);
    for (int64_t j = begin; j < from; j++) w[j] = 0;
    EDDY_BEST_OF(sweep)(h, first, begin);
    for (int64_t j = begin; j < from; j++) h->next[j] = 0;
    h->w = h->next;
    h->next = w;
}

/* The reflection that clears column k below the diagonal, after the one before has been subtracted
 * from that column: its vector (1 in row k) is stored there; of R's diagonal element only the sign
 * is kept. */
static void eliminate(householder *h, int64_t k)
{
    double *q = h->q + k, *v = h->g, sum = 0;
    for (int64_t i = k; i < h->m; i++) {
        v[i] = q[i * h->ld] - h->f[i] * h->w[k];
        sum += v[i] * v[i];
    }
    const double diagonal = v[k], norm = sqrt(sum), r = diagonal > 0 ? -norm : norm;
    h->sign[k] = r < 0 ? -1 : 1;
    h->tau[k] = norm > 0 ? (r - diagonal) / r : 0;
    v[k] = 1;
    for (int64_t i = k + 1; i < h->m; i++)
        q[i * h->ld] = v[i] = norm > 0 ? v[i] / (diagonal - r) : 0;
    sweep_on(h, k, k + 1);
    for (int64_t i = k; i < h->m; i++) h->f[i] = h->tau[k] * v[i];
}

/* Turns column k of q into that of Q, after those to its right; above the diagonal, it is 0. */
static void accumulate(householder *h, int64_t k)
{
    double *q = h->q + k;
    h->w[k] = 1;
    for (int64_t i = k; i < h->m; i++) {
        h->f[i] = h->tau[k] * (i == k ? 1 : q[i * h->ld]);
        h->g[i] = k == 0 ? 0 : q[i * h->ld - 1];
        q[i * h->ld] = i == k;
    }
    sweep_on(h, k, k);
}

static eddy_status orthogonal_prepare(eddy_kernel *k)
{
    const orthogonal_attrs *a = k->attrs;
    int64_t m, n;
    bool    wide;
    orthogonal_sizes(a->shape, &m, &n, &wide);
    /* Cannot overflow: no tensor has more than 2^48 elements. */
    k->scratch_size = (uint64_t)((m + ROWS) * (apart(n) + 2) + 4 * n) * sizeof(double);
    return EDDY_OK;
}

/* Writes column j of Q, with the sign that makes R's diagonal positive. */
static void orthogonal_store(const householder *h, bool wide, const eddy_buffer *y)
{
    for (int64_t i = 0; i < h->m; i++) {
        for (int64_t j = 0; j < h->n; j++) {
            int64_t at = wide ? j * h->m + i : i * h->n + j;
            eddy__real_put(y, at, h->q[i * h->ld + j] * h->sign[j]);
        }
    }
}

static eddy_status orthogonal_kernel(eddy_kernel *k)
{
    const orthogonal_attrs *a = k->attrs;
    householder h;
    bool        wide;
    orthogonal_sizes(a->shape, &h.m, &h.n, &wide);
    h.q = memset(k->scratch, 0, (size_t)k->scratch_size);
    h.ld = apart(h.n);
    h.f = h.q + (h.m + ROWS) * h.ld;
    h.g = h.f + h.m + ROWS;
    h.w = h.g + h.m + ROWS;
    h.next = h.w + h.n;
    h.tau = h.next + h.n;
    h.sign = h.tau + h.n;
    eddy_stream   s = eddy__stream_of(k, a->seed, EDDY_ORTHOGONAL);
    eddy_gaussian standard = { 0, 1, 0 };
    eddy__fill_normal_f64(s, 0, h.m * h.n, standard, h.q);
    for (int64_t i = h.m; i-- > 1;)
        memmove(h.q + i * h.ld, h.q + i * h.n, (size_t)h.n * sizeof *h.q);
    for (int64_t i = 0; i < h.n; i++) eliminate(&h, i);
    for (int64_t i = 0; i < h.n; i++)
        memset(h.q + i * h.ld + i + 1, 0, (size_t)(h.n - i - 1) * sizeof *h.q);
    for (int64_t i = h.n; i-- > 0;) accumulate(&h, i);
    orthogonal_store(&h, wide, k->out[0]);
    return EDDY_OK;
}

/* n reflections of all columns, once to eliminate and once to accumulate. */
static double orthogonal_flops(const void *attrs, int n_in, const eddy_type *in,
                               const eddy_type *out)
{
    (void)n_in; (void)in; (void)out;
    const orthogonal_attrs *a = attrs;
    int64_t m, n;
    bool    wide;
    orthogonal_sizes(a->shape, &m, &n, &wide);
    return 4 * (double)m * (double)n * (double)n;
}

/* The QR decomposition of normal random numbers, one matrix per example. */
static void orthogonal_batch(eddy_batch *b)
{
    const orthogonal_attrs *a = b->attrs;
    int64_t m, n;
    bool    wide;
    orthogonal_sizes(a->shape, &m, &n, &wide);
    const eddy_tensor one = eddy_zeros(b->graph, EDDY_FLOAT64, EDDY_SHAPE(m, n));
    const eddy_tensor q = eddy_qr(eddy_random_normal_like(eddy_batch_like(one, b->examples),
                                                          .seed = a->seed));
    const eddy_tensor r = eddy_matrix_diag_part(eddy_output(q, 1));
    const eddy_tensor signs = Where(Less(r, 0), -1, OnesLike(r));
    const eddy_tensor y = Mul(q, ExpandDims(signs, 1));
    b->y[0] = eddy_reshape_like(Cast(wide ? eddy_swapaxes(y, -1, -2) : y, a->dtype),
                                eddy__batch_result_like(b));
}

const eddy_op_def eddy_op_random_orthogonal = {
    .name = "RandomOrthogonal", .label = "random_orthogonal", .outputs = 1,
    .flags = EDDY_OP_STATEFUL, .attrs_size = sizeof(orthogonal_attrs),
    .attrs = EDDY_ATTRS(orthogonal_attrs, shape, dtype, seed),
    .infer = orthogonal_infer, .prepare = orthogonal_prepare, .kernel = orthogonal_kernel,
    .flops = orthogonal_flops,
    .gradient = eddy_not_differentiable, .batch = orthogonal_batch };

/** A random orthogonal matrix: q' q = 1, or q q' = 1 if it has more columns than rows.
 *
 *  The dimensions before the last are merged into one.  q is the factor of the QR decomposition
 *  of a matrix of normal random numbers, with the signs that make the diagonal of r positive, so
 *  that it is uniformly distributed over all such matrices.  It is computed in double precision,
 *  in time proportional to the number of elements times the smaller side.
 *  Errors: EDDY_BAD_SHAPE unless the shape is known and has rank 2 or more; EDDY_BAD_DTYPE for
 *  element types other than float32 and float64.
 *  TensorFlow: orthogonal_initializer. */
eddy_tensor eddy_init_orthogonal(eddy_graph *g, eddy_dtype dtype, eddy_shape shape, int64_t seed)
{
    orthogonal_attrs a = { shape, dtype ? dtype : EDDY_FLOAT32, seed };
    return eddy_apply(&eddy_op_random_orthogonal, &a, 0, NULL, (eddy_apply_args){ .graph = g });
}
