/* categorical.c -- random categorical samples, permutations and choices. */
#include "graph/base/thread_pool.h"
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <math.h>

typedef struct categorical_attrs {
    int64_t    num_samples;
    eddy_dtype output_dtype;
    int64_t    seed;
} categorical_attrs;

static bool categorical_infer(eddy_infer *c)
{
    const categorical_attrs *a = c->attrs;
    eddy_shape s = c->in[0].shape;
    if (!eddy__infer_expects(c, "dtype", a->output_dtype, EDDY_TAKES_INDICES)) return false;
    if (a->num_samples < 0)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "num_samples is negative");
    if (s.rank > 0 && s.dim[s.rank - 1] > INT32_MAX)
        return eddy_infer_fail(c, EDDY_LIMIT, "too many classes for int32");
    if (c->n_in > 1 && !eddy__infer_seed(c, 1)) return false;
    if (s.rank > 0) s.dim[s.rank - 1] = a->num_samples;
    return eddy__infer_yield(c, 0, a->output_dtype, s);
}

typedef struct classes {
    const eddy_kernel *k;
    eddy_stream        stream;
    int64_t            n, samples;       /* classes; samples per row */
} classes;

static classes classes_of(const eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    return (classes){ .k = k, .n = x.dim[x.rank - 1],
                      .samples = ((const categorical_attrs *)k->attrs)->num_samples };
}

static eddy_status categorical_prepare(eddy_kernel *k)
{
    k->scratch_size = (uint64_t)k->threads * (uint64_t)classes_of(k).n * sizeof(double);
    return EDDY_OK;
}

/* The cumulative sums of the probabilities of a row, not divided by the last one. */
static void sum_up(const classes *c, int64_t row, double *sum)
{
    const eddy_buffer *x = c->k->in[0];
    const int64_t      at = row * c->n;
    double top = -INFINITY, all = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const double v = eddy__real_at(x, at + i);
        if (isfinite(v) && v > top) top = v;
    }
    for (int64_t i = 0; i < c->n; i++) {
        const double v = eddy__real_at(x, at + i);
        if (isfinite(v)) all += eddy__exp_f64(v - top);
        sum[i] = all;
    }
}

/* The first class whose cumulative sum is above the random number. */
static int64_t class_above(const double *sum, int64_t n, double draw)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (sum[middle] > draw) high = middle;
        else low = middle + 1;
    }
    return low;
}

static void draw_rows(void *arg, int64_t from, int64_t to, int worker)
{
    const classes *c = arg;
    double *sum = (double *)c->k->scratch + worker * c->n;
    for (int64_t row = from; row < to; row++) {
        sum_up(c, row, sum);
        for (int64_t j = row * c->samples; j < (row + 1) * c->samples; j++) {
            const eddy_philox_block b = eddy__philox(c->stream.key, (uint64_t)j, c->stream.step);
            const double  u = eddy__unit_f64(b.word[0], b.word[1]);
            eddy__index_put(c->k->out[0], j, class_above(sum, c->n, u * sum[c->n - 1]));
        }
    }
}

static eddy_status categorical_kernel(eddy_kernel *k)
{
    enum { WORK = 4096 };                /* classes that make a thread worthwhile */
    const categorical_attrs *a = k->attrs;
    const eddy_shape s = k->in[0]->type.shape;
    const int64_t    rows = eddy__shape_product(s, 0, s.rank - 1);
    classes c = classes_of(k);
    if (k->out[0]->count == 0) return EDDY_OK;
    if (c.n == 0) return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "there are no classes to draw");
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = 0;
        while (i < c.n && !isfinite(eddy__real_at(k->in[0], row * c.n + i))) i++;
        if (i == c.n)
            return eddy_kernel_fail(k, EDDY_INVALID_ARGUMENT, "no logit of row %lld is finite",
                                    (long long)row);
    }
    c.stream = eddy__stream_for(k, 1, a->seed, EDDY_CATEGORICAL);
    eddy__parallel_or_stop(k, rows, 1 + WORK / (c.n + c.samples), draw_rows, &c);
    return EDDY_OK;
}

static double categorical_flops(const void *attrs, int n_in, const eddy_type *in,
                                const eddy_type *out)
{
    (void)attrs, (void)n_in, (void)out;
    return 3 * (double)eddy_shape_count(in[0].shape);
}

const eddy_op_def eddy_op_multinomial = { .name = "Multinomial",
                                          .label = "categorical",
                                          .min_inputs = 1,
                                          .max_inputs = 2,
                                          .outputs = 1,
                                          .flags = EDDY_OP_STATEFUL,
                                          .attrs_size = sizeof(categorical_attrs),
                                          .inputs = EDDY_INPUTS(
                                              { "logits", EDDY_TAKES_FLOATS | EDDY_RANK_FROM(1) },
                                              { "seed", EDDY_ANY_TYPE }),
                                          .attrs = EDDY_ATTRS(categorical_attrs, num_samples,
                                                              output_dtype, seed),
                                          .flops = categorical_flops,
                                          .infer = categorical_infer,
                                          .prepare = categorical_prepare,
                                          .kernel = categorical_kernel,
                                          .gradient = eddy_not_differentiable,
                                          .batch = eddy__batch_draw };

#ifdef EDDY_HEADER
typedef struct eddy_random_categorical_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_categorical_args));
    eddy_tensor logits;
    int64_t     num_samples;     /* samples per row */
    eddy_dtype  dtype;           /* int32 or int64; default int64 */
    int64_t     seed;
    eddy_tensor stateless_seed;  /* two integers; default none: `seed` is used */
    const char *name;
} eddy_random_categorical_args;
#endif

/** Random classes, drawn for each row of logits with the probabilities softmax(logits): class i
 *  with probability e^logits[i] / sum_j e^logits[j].
 *
 *  logits       float32 or float64, [..., classes]; they need not be normalized
 *  num_samples  the number of independent samples per row; the result is [..., num_samples]
 *  dtype        of the result: int64 (default) or int32
 *  seed         default 0: the operation's own
 *  stateless_seed  two integers, int32 or int64; equal seeds give equal classes
 *
 *  A class whose logit is infinite or NaN is never drawn.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for a scalar;
 *  EDDY_INVALID_ARGUMENT for a negative num_samples, an invalid stateless_seed or, at run time, a
 *  row without a finite logit.
 *  Gradient: none.  TensorFlow: random.categorical, Multinomial. */
eddy_tensor eddy_random_categorical_with(const eddy_random_categorical_args *given)
{
    eddy_random_categorical_args a = EDDY_TAKE(eddy_random_categorical_args, given);
    const categorical_attrs attrs = { a.num_samples, a.dtype ? a.dtype : EDDY_INT64, a.seed };
    return eddy__draw_apply(&eddy_op_multinomial, &attrs, 1, &a.logits, a.stateless_seed, a.name);
}

/* ---------------------------------------------------- orders and choices -- */

#ifdef EDDY_HEADER
typedef struct eddy_random_permutation_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_permutation_args));
    eddy_graph *graph;
    int64_t     n;
    eddy_dtype  dtype;           /* default int32 */
    int64_t     seed;
    const char *name;
} eddy_random_permutation_args;

typedef struct eddy_random_choice_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_random_choice_args));
    eddy_tensor x;
    int64_t     size;            /* number of rows */
    eddy_tensor p;               /* of each row of x; default: all equal */
    bool        without_replacement;
    int64_t     seed;
    const char *name;
} eddy_random_choice_args;
#endif

/** The integers 0, 1, ..., n - 1 in random order.
 *
 *  n      at least 0
 *  dtype  of the result; default int32
 *  seed   default 0: the operation's own
 *
 *  Errors: as for eddy_range.  Gradient: none.  NumPy: random.permutation. */
eddy_tensor eddy_random_permutation_with(const eddy_random_permutation_args *given)
{
    eddy_random_permutation_args a = EDDY_TAKE(eddy_random_permutation_args, given);
    const eddy_dtype d = a.dtype ? a.dtype : EDDY_INT32;
    if (a.n < 0)
        return eddy_fail(a.graph, EDDY_INVALID_ARGUMENT, "random_permutation: n is %lld; it must "
                         "not be negative", (long long)a.n);
    eddy_scope_begin(a.graph, a.name ? a.name : "random_permutation");
    const eddy_tensor y = eddy_random_shuffle(
        eddy_range(eddy_number(a.graph, d, 0), eddy_number(a.graph, d, (double)a.n),
                   eddy_number(a.graph, d, 1)), a.seed);
    eddy_scope_end(a.graph);
    return y;
}

/* The indices of `size` rows, with repetition: random integers, or samples of a categorical
 * distribution. */
static eddy_tensor rows_with_replacement(const eddy_random_choice_args *a)
{
    if (a->p.graph) return eddy_random_categorical(Log(a->p), a->size, .seed = a->seed);
    const eddy_tensor u = eddy_random_uniform(a->x.graph, EDDY_SHAPE(a->size),
                                              .dtype = EDDY_FLOAT64, .seed = a->seed);
    const eddy_tensor rows = eddy_size_along(a->x, 0);
    return Cast(Floor(Mul(u, Cast(rows, EDDY_FLOAT64))), EDDY_INT64);
}

/* The indices of `size` distinct rows: the first of a random permutation, or the largest of the
 * logarithms with Gumbel noise. */
static eddy_tensor rows_without_replacement(const eddy_random_choice_args *a)
{
    if (a->p.graph) {        /* in float32, the noise of many rows would often be equal */
        const eddy_tensor p = Log(Cast(a->p, EDDY_FLOAT64));
        return eddy_output(eddy_top_k(eddy_random_gumbel(p, .seed = a->seed), a->size), 1);
    }
    return eddy_slice(eddy_random_shuffle(eddy_row_numbers(a->x, EDDY_INT64), a->seed),
                      EDDY_DIMS(0), EDDY_DIMS(a->size));
}

/* Whether p may have one number per row of x, as far as shapes are known. */
static bool is_one_a_row(eddy_tensor p, eddy_tensor x)
{
    const eddy_shape s = eddy_shape_of(x);
    return eddy_shape_compatible(eddy_shape_of(p), EDDY_SHAPE(s.rank > 0 ? s.dim[0] : EDDY_ANY));
}

/** `size` random rows x[i] of x.
 *
 *  x     any element type, rank above 0; the result is [size, ...]
 *  size  the number of rows
 *  p     float32 or float64, one number per row of x, proportional to its probability; default:
 *        all rows are equally likely
 *  without_replacement  selects no row twice; size is then at most the number of rows, or with p,
 *        of rows with p > 0
 *  seed  default 0: the operation's own
 *
 *  Errors: EDDY_BAD_SHAPE if x is a scalar; EDDY_INVALID_ARGUMENT for a negative size; otherwise
 *  as for eddy_gather, eddy_slice and eddy_top_k.
 *  Gradient: dx = dy scattered to the selected rows; repeated rows are summed; none for p.
 *  NumPy: random.choice. */
eddy_tensor eddy_random_choice_with(const eddy_random_choice_args *given)
{
    eddy_random_choice_args a = EDDY_TAKE(eddy_random_choice_args, given);
    eddy_graph *g = a.x.graph;
    if (!eddy_is_valid(a.x)) return eddy_identity(a.x);
    if (eddy_shape_of(a.x).rank == 0)
        return eddy_fail(g, EDDY_BAD_SHAPE, "random_choice: a scalar has no rows");
    if (a.size < 0)
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "random_choice: size is %lld; it must not be "
                         "negative", (long long)a.size);
    if (a.p.graph && eddy_is_valid(a.p) && !is_one_a_row(a.p, a.x))
        return eddy_fail(g, EDDY_BAD_SHAPE, "random_choice: p must have one element per row of x");
    eddy_scope_begin(g, a.name ? a.name : "random_choice");
    const eddy_tensor rows = a.without_replacement ? rows_without_replacement(&a)
                                                   : rows_with_replacement(&a);
    const eddy_tensor y = Gather(a.x, rows);
    eddy_scope_end(g);
    return y;
}
