/* candidate_samplers.c -- candidate samplers: uniform and log-uniform (Zipfian) random classes
 * for sampled losses over many classes.
 *
 * The samples are a function of seed, step and index, so that they are the same on every
 * machine. When sampling without replacement, a class that was already drawn is rejected and
 * another one is drawn. */
#include "ops/arrays/arrays.h"
#include "graph/call_options.h"
#include "ops/arrays/batching.h"
#include "ops/kernels/elementwise/vector_math_f64.h"
#include "ops/ops.h"
#include "ops/random/random.h"
#include "build/gen/table.h"

#include <math.h>
#include <string.h>

#ifdef EDDY_HEADER
typedef struct eddy_candidate_sampler_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_candidate_sampler_args));
    eddy_tensor true_classes;
    int64_t     num_sampled;
    bool        unique;            /* without repetition */
    int64_t     range_max;         /* number of classes */
    int64_t     seed;              /* default 0: the operation's own */
    const char *name;
} eddy_candidate_sampler_args;
#endif

typedef struct candidate_attrs {
    int64_t num_sampled, range_max, seed;
    bool    unique;
} candidate_attrs;

static const eddy_attr_field candidate_fields[] =
    EDDY_FIELDS(candidate_attrs, num_sampled, range_max, seed, unique);

static bool candidate_infer(eddy_infer *c)
{
    const candidate_attrs *a = c->attrs;
    if (a->range_max < 1 || a->range_max > (int64_t)1 << 53)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "range_max is %lld; expected [1, 2^53]",
                               (long long)a->range_max);
    if (a->num_sampled < 0 || a->num_sampled > INT32_MAX)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "num_sampled is %lld; expected [0, 2^31)",
                               (long long)a->num_sampled);
    if (a->unique && a->num_sampled > a->range_max)
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT,
                               "cannot draw %lld distinct classes from %lld",
                               (long long)a->num_sampled, (long long)a->range_max);
    return eddy__infer_yield(c, 0, EDDY_INT64, EDDY_SHAPE(a->num_sampled)) &&
           eddy__infer_yield(c, 1, EDDY_FLOAT32, c->in[0].shape) &&
           eddy__infer_yield(c, 2, EDDY_FLOAT32, EDDY_SHAPE(a->num_sampled));
}

/* ---------------------------------------------------------------- drawing -- */

static bool is_log_uniform(const eddy_kernel *k)
{
    return k->op == &eddy_op_log_uniform_candidate_sampler;
}

static int64_t draw(const eddy_kernel *k, eddy_stream s, int64_t i)
{
    const int64_t range = ((const candidate_attrs *)k->attrs)->range_max;
    if (!is_log_uniform(k)) return (int64_t)eddy__integer_at(s, i, (uint64_t)range);
    const eddy_philox_block b = eddy__philox(s.key, (uint64_t)i, s.step);
    const double  u = eddy__unit_f64(b.word[0], b.word[1]);
    const int64_t class = (int64_t)eddy__expm1_f64(u * eddy__log1p_f64((double)range));
    return class < range ? class : range - 1;
}

static double chance(const eddy_kernel *k, int64_t class)
{
    const double range = (double)((const candidate_attrs *)k->attrs)->range_max;
    if (!is_log_uniform(k)) return 1 / range;
    return eddy__log1p_f64(1 / ((double)class + 1)) / eddy__log1p_f64(range);
}

/* The size of the hash table of drawn classes: a power of 2, at least twice their number. */
static int64_t table_of(const candidate_attrs *a)
{
    int64_t n = 2;
    while (n < 2 * a->num_sampled) n *= 2;
    return n;
}

static eddy_status candidate_prepare(eddy_kernel *k)
{
    const candidate_attrs *a = k->attrs;
    if (a->unique) k->scratch_size = (uint64_t)table_of(a) * sizeof(int64_t);
    return EDDY_OK;
}

/* Whether the class is new; empty entries hold -1. */
static bool is_new(int64_t *table, int64_t size, int64_t class)
{
    uint64_t at = (uint64_t)class * 0x9e3779b97f4a7c15u;
    for (at = (at ^ at >> 32) & (uint64_t)(size - 1);; at = (at + 1) & (uint64_t)(size - 1)) {
        if (table[at] == class) return false;
        if (table[at] >= 0) continue;
        table[at] = class;
        return true;
    }
}

/* Returns the number of draws. If rare classes do not come up, the first missing classes are
 * taken. */
static int64_t draw_unique(eddy_kernel *k, eddy_stream s)
{
    const candidate_attrs *a = k->attrs;
    const int64_t size = table_of(a), most = INT32_MAX;
    int64_t      *table = k->scratch, *y = k->out[0]->data, n = 0, tries = 0;
    memset(table, 0xff, (size_t)size * sizeof *table);
    for (; n < a->num_sampled && tries < most; tries++) {
        const int64_t class = draw(k, s, tries);
        if (is_new(table, size, class)) y[n++] = class;
    }
    for (int64_t class = 0; n < a->num_sampled; class++)
        if (is_new(table, size, class)) y[n++] = class;
    return tries;
}

/* The expected number of candidates of this class. */
static float expected(const eddy_kernel *k, int64_t class, int64_t tries)
{
    const candidate_attrs *a = k->attrs;
    const double p = chance(k, class);
    if (!a->unique) return (float)(p * (double)a->num_sampled);
    return (float)-eddy__expm1_f64((double)tries * eddy__log1p_f64(-p));
}

static eddy_status candidate_kernel(eddy_kernel *k)
{
    const candidate_attrs *a = k->attrs;
    const eddy_stream s = eddy__stream_of(k, a->seed, is_log_uniform(k) ? EDDY_CATEGORICAL
                                                                       : EDDY_INTEGER);
    const eddy_status ok = eddy__check_indices(k, k->in[0], a->range_max, false);
    int64_t *y = k->out[0]->data, tries = a->num_sampled;
    float   *of_true = k->out[1]->data, *of_sampled = k->out[2]->data;
    if (ok != EDDY_OK) return ok;
    if (a->unique) tries = draw_unique(k, s);
    for (int64_t i = 0; i < a->num_sampled && !a->unique; i++) y[i] = draw(k, s, i);
    for (int64_t i = 0; i < a->num_sampled; i++) of_sampled[i] = expected(k, y[i], tries);
    for (int64_t i = 0; i < k->in[0]->count; i++)
        of_true[i] = expected(k, eddy__index_at(k->in[0], i), tries);
    return EDDY_OK;
}

/* One set of samples serves all examples, as it serves a whole batch. */
static void candidate_batch(eddy_batch *b)
{
    const eddy_tensor y = eddy_apply(b->node->op, b->attrs, 1, b->x, (eddy_apply_args){ 0 });
    b->y[0] = eddy_batch_like(y, b->examples);
    b->y[1] = eddy_output(y, 1);
    if (!b->batched[0]) b->y[1] = eddy_batch_like(b->y[1], b->examples);
    b->y[2] = eddy_batch_like(eddy_output(y, 2), b->examples);
}

/* ------------------------------------------------------------------- ops -- */

const eddy_op_def eddy_op_log_uniform_candidate_sampler = {
    .name = "LogUniformCandidateSampler", .label = "log_uniform_candidate_sampler",
    .min_inputs = 1, .max_inputs = 1, .outputs = 3, .flags = EDDY_OP_STATEFUL,
    .inputs = EDDY_INPUTS({ "true_classes", EDDY_TAKES_INDICES }),
    .attrs_size = sizeof(candidate_attrs), .attrs = candidate_fields, .infer = candidate_infer,
    .prepare = candidate_prepare, .kernel = candidate_kernel, .gradient = eddy_not_differentiable,
    .batch = candidate_batch,
};

static eddy_tensor sampler(const eddy_op_def *op, const eddy_candidate_sampler_args *given)
{
    const eddy_candidate_sampler_args a = EDDY_TAKE(eddy_candidate_sampler_args, given);
    const candidate_attrs attrs = { a.num_sampled, a.range_max, a.seed, a.unique };
    return eddy__apply_named(a.name, op, &attrs, 1, &a.true_classes);
}

/** Random classes, drawn with probability ln((class + 2) / (class + 1)) / ln(range_max + 1), for
 *  classes in order of decreasing frequency.
 *
 *  true_classes  int32 or int64, any shape: classes in [0, range_max)
 *  num_sampled   the number of classes drawn for all examples together
 *  unique        without repetition
 *  range_max     the number of classes
 *  seed          default 0: the operation's own
 *
 *  Returns output 0 of three: the drawn classes, int64 [num_sampled]; the expected number of each
 *  true class among them, float32, same shape as true_classes; the expected number of each drawn
 *  class, float32 [num_sampled].  Under eddy_vmap, the same classes serve all examples.
 *  Errors: EDDY_INVALID_ARGUMENT for invalid numbers, or if `unique` asks for more classes than
 *  there are; at run time, EDDY_OUT_OF_RANGE for a true class outside the range.
 *  Gradient: none.  TensorFlow: LogUniformCandidateSampler. */
eddy_tensor eddy_log_uniform_candidate_sampler_with(const eddy_candidate_sampler_args *given)
{
    return sampler(&eddy_op_log_uniform_candidate_sampler, given);
}

const eddy_op_def eddy_op_uniform_candidate_sampler = {
    .name = "UniformCandidateSampler", .label = "uniform_candidate_sampler",
    .min_inputs = 1, .max_inputs = 1, .outputs = 3, .flags = EDDY_OP_STATEFUL,
    .inputs = EDDY_INPUTS({ "true_classes", EDDY_TAKES_INDICES }),
    .attrs_size = sizeof(candidate_attrs), .attrs = candidate_fields, .infer = candidate_infer,
    .prepare = candidate_prepare, .kernel = candidate_kernel, .gradient = eddy_not_differentiable,
    .batch = candidate_batch,
};

/** Random classes, drawn with equal probability; otherwise like
 *  eddy_log_uniform_candidate_sampler.
 *
 *  true_classes, num_sampled, unique, range_max, seed  as for
 *              eddy_log_uniform_candidate_sampler
 *
 *  Errors, Gradient: as for eddy_log_uniform_candidate_sampler.
 *  TensorFlow: UniformCandidateSampler. */
eddy_tensor eddy_uniform_candidate_sampler_with(const eddy_candidate_sampler_args *given)
{
    return sampler(&eddy_op_uniform_candidate_sampler, given);
}
