/* sampling.c -- classes chosen from logits as text generators do: the most likely one, or a random
 * one of the likely ones; all composed of other operations. */
#include "ops/random/random.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/short_names.h"

#include <float.h>
#include <math.h>

#ifdef EDDY_HEADER
/* Options of eddy_filter_logits and eddy_sample_logits. */
typedef struct eddy_sampling_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_sampling_args));
    eddy_tensor logits;          /* [..., classes] */
    double      temperature EDDY_DEFAULT(1);  /* divides the logits; 0: the most likely class */
    int64_t     top_k EDDY_DEFAULT(EDDY_OMITTED); /* most likely classes; default: all */
    double      top_p EDDY_DEFAULT(1);  /* the fewest classes that have this probability in total */
    double      min_p;           /* classes at least this times as likely as the likeliest */
    eddy_dtype  dtype;           /* of the classes, int32 or int64; default int32 */
    int64_t     seed;
    const char *name;
} eddy_sampling_args;
#endif

/* The largest temperature and penalty; the least is its inverse. Both are normal float32. */
static const double HOTTEST = 1e30;

static bool check_options(const char *who, const eddy_sampling_args *a)
{
    eddy_graph      *g = a->logits.graph;
    const eddy_shape s = eddy_shape_of(a->logits);
    const bool       hot = a->temperature >= 1 / HOTTEST && a->temperature <= HOTTEST;
    if (!eddy__expect_type(g, who, "logits", eddy_dtype_of(a->logits), EDDY_TAKES_WIDE_FLOATS))
        return false;
    if (s.rank == 0)
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: the logits are a scalar; expected [..., classes]", who);
    else if (!hot && a->temperature != 0)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: temperature is %g; expected 0, or a number in "
                  "[1e-30, 1e30]", who, a->temperature);
    else if (a->top_k != EDDY_OMITTED && a->top_k < 1)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: top_k is %lld; it must be above 0", who,
                  (long long)a->top_k);
    else if (a->top_k != EDDY_OMITTED && (s.rank < 0 || s.dim[s.rank - 1] < 0))
        eddy_fail(g, EDDY_BAD_SHAPE, "%s: with top_k the number of classes must be known", who);
    else if (!(a->top_p > 0 && a->top_p <= 1))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: top_p is %g; expected a number in (0, 1]", who,
                  a->top_p);
    else if (!(a->min_p >= 0 && a->min_p <= 1))
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "%s: min_p is %g; expected a number in [0, 1]", who,
                  a->min_p);
    return eddy__graph_ready(g);
}

/* ------------------------------------------------------------------- filters -- */

static eddy_tensor largest(eddy_tensor x)
{
    return StopGradient(Max(x, EDDY_AXES(-1), .keepdims = true));
}

/* x where it is at least `least`, [..., 1], and -infinity elsewhere. */
static eddy_tensor values_from(eddy_tensor x, eddy_tensor least)
{
    return Where(GreaterEqual(x, least), x, -(double)INFINITY);
}

/* The kth largest logit of each row. */
static eddy_tensor kth_largest(eddy_tensor x, int64_t k)
{
    const eddy_shape s = eddy_shape_of(x);
    if (s.rank < 1) return eddy_none(x.graph);          /* there was an error */
    const int64_t classes = s.dim[s.rank - 1];
    return Min(eddy_top_k(StopGradient(x), k < classes ? k : classes), EDDY_AXES(-1),
               .keepdims = true);
}

/* The smallest logit that is needed for a total probability of p; a p that float32 would round to 0
 * needs the largest logit, too. */
static eddy_tensor least_needed(eddy_tensor x, double p)
{
    const eddy_tensor sorted = eddy_sort(StopGradient(x), .descending = true);
    const eddy_tensor before = Cumsum(Softmax(sorted), -1, .exclusive = true);
    const eddy_tensor fits = Less(before, fmax(p, (double)FLT_MIN));
    return Min(Where(fits, sorted, (double)INFINITY), EDDY_AXES(-1), .keepdims = true);
}

static eddy_tensor only_finite(eddy_tensor x)
{
    return Where(IsFinite(x), x, -(double)INFINITY);
}

static eddy_tensor filtered(const eddy_sampling_args *a)
{
    eddy_tensor x = only_finite(a->logits);
    /* in this order the difference of two large logits does not overflow */
    if (a->temperature > 1) x = Div(x, a->temperature);
    if (a->temperature != 1) x = Sub(x, largest(x));
    if (a->temperature < 1) x = Div(x, a->temperature);
    if (a->top_k != EDDY_OMITTED) x = values_from(x, kth_largest(x, a->top_k));
    if (a->top_p < 1) x = values_from(x, least_needed(x, a->top_p));
    if (a->min_p > 0) x = values_from(x, Add(largest(x), log(a->min_p)));
    return x;
}

/** y = the logits divided by the temperature, and -infinity for the classes that a filter removes:
 *  top_k, top_p and min_p, applied in this order, each to the remaining classes. softmax(y) is the
 *  distribution of eddy_sample_logits.
 *
 *  logits       float32 or float64, [..., classes]; they need not be normalized. An infinite or NaN
 *               logit counts as -infinity
 *  temperature  in [1e-30, 1e30]; below 1, likely classes become more likely. If it is not 1, the
 *               largest logit of each row becomes 0
 *  top_k        above 0: keeps the k largest logits; the number of classes must be known
 *  top_p        in (0, 1]: keeps the fewest largest logits whose probabilities add up to at least
 *               top_p (nucleus sampling; Holtzman et al., 2020)
 *  min_p        in [0, 1]: keeps the classes whose probability is at least min_p times that of the
 *               most likely one (Nguyen et al., 2024)
 *
 *  Classes that tie with the last one kept are kept. seed and dtype are not used.
 *  Errors: EDDY_BAD_DTYPE for other element types; EDDY_BAD_SHAPE for a scalar, or unknown classes
 *  with top_k; EDDY_INVALID_ARGUMENT for options out of range.
 *  Gradient: dlogits = dy / temperature for the classes that are kept, 0 for others.
 *  PyTorch: TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper, MinPLogitsWarper of
 *  transformers. */
eddy_tensor eddy_filter_logits_with(const eddy_sampling_args *given)
{
    eddy_sampling_args a = EDDY_TAKE(eddy_sampling_args, given);
    if (!eddy_is_valid(a.logits)) return eddy_identity(a.logits);
    if (a.temperature == 0)
        return eddy_fail(a.logits.graph, EDDY_INVALID_ARGUMENT, "filter_logits: temperature is 0; "
                         "it must be in [1e-30, 1e30]");
    if (!check_options("filter_logits", &a)) return eddy_none(a.logits.graph);
    eddy_scope_begin(a.logits.graph, a.name ? a.name : "filter_logits");
    const eddy_tensor y = filtered(&a);
    eddy_scope_end(a.logits.graph);
    return y;
}

/* ------------------------------------------------------------------- samples -- */

/* The class of the largest logit; an error of the run if none is finite, as for a random class. */
static eddy_tensor most_likely(const eddy_sampling_args *a)
{
    const eddy_tensor x = only_finite(a->logits);
    return eddy_ensure(eddy_argmax(x, .axis = -1, .output_type = a->dtype),
                       IsFinite(Max(x, EDDY_AXES(-1))),
                       "sample_logits: no logit of a row is finite");
}

/** y = a class for each row of logits: random, with the probabilities softmax(logits / temperature)
 *  among the classes that eddy_filter_logits keeps, or the most likely one if temperature is 0.
 *
 *  logits, temperature, top_k, top_p, min_p  as for eddy_filter_logits
 *  temperature  0: the class of the largest logit, on ties the first (greedy); the filters then
 *               have no effect
 *  dtype        of y: int32 (default) or int64
 *  seed         default 0: the operation's own
 *
 *  Returns [...], the shape of the logits without their last dimension.
 *  Errors: as for eddy_filter_logits; at run time, a row without a finite logit is
 *  EDDY_INVALID_ARGUMENT, or EDDY_CHECK_FAILED if temperature is 0.
 *  Gradient: none.  TensorFlow: random.categorical, argmax; contrib.seq2seq.SampleEmbeddingHelper,
 *  GreedyEmbeddingHelper. */
eddy_tensor eddy_sample_logits_with(const eddy_sampling_args *given)
{
    eddy_sampling_args a = EDDY_TAKE(eddy_sampling_args, given);
    if (!eddy_is_valid(a.logits)) return eddy_identity(a.logits);
    if (!a.dtype) a.dtype = EDDY_INT32;
    if (!check_options("sample_logits", &a)) return eddy_none(a.logits.graph);
    if (!eddy__expect_type(a.logits.graph, "sample_logits", "dtype", a.dtype, EDDY_TAKES_INDICES))
        return eddy_none(a.logits.graph);
    eddy_scope_begin(a.logits.graph, a.name ? a.name : "sample_logits");
    const eddy_tensor y =
        a.temperature == 0 ? most_likely(&a)
                           : Squeeze(eddy_random_categorical(filtered(&a), 1, a.dtype, a.seed),
                                     EDDY_AXES(-1));
    eddy_scope_end(a.logits.graph);
    return y;
}

/* --------------------------------------------------------------- repetitions -- */

/* Whether each class is among the ids, bool [batch, classes]. */
static eddy_tensor occurs(eddy_tensor logits, eddy_tensor ids)
{
    const eddy_tensor classes = eddy_size_along(logits, 1), given = Cast(ids, EDDY_INT64);
    const eddy_tensor wide =
        eddy_ensure(given, Less(given, classes), "repetition_penalty: an id is not a class");
    const eddy_tensor row = ExpandDims(eddy_row_numbers(logits, EDDY_INT64), 1);
    const eddy_tensor at = Where(Less(wide, 0), -1, Add(Mul(row, classes), wide));
    const eddy_tensor flat = Reshape(at, EDDY_SHAPE(-1));
    const eddy_tensor zero = Reshape(ZerosLike(logits), EDDY_SHAPE(-1));
    const eddy_tensor one = Add(CastLike(ZerosLike(flat), logits), 1);
    return Greater(ReshapeLike(eddy_inplace_add(zero, flat, one), logits), 0);
}

/** y = the logits, with the classes in `ids` made less likely: their logits are divided by the
 *  penalty if they are positive, and otherwise multiplied by it (Keskar et al., "CTRL", 2019).
 *
 *  logits   float32 or float64 [batch, classes]
 *  ids      int32 or int64 [batch, n]: classes that have occurred, in any number; negative ones are
 *           ignored
 *  penalty  in [1e-30, 1e30]; 1 changes nothing
 *
 *  Errors: EDDY_INVALID_ARGUMENT for a penalty out of range; EDDY_BAD_SHAPE, EDDY_BAD_DTYPE for
 *  other arguments; at run time, EDDY_CHECK_FAILED for an id that is not a class.
 *  Gradient: dlogits = dy, divided or multiplied in the same way.
 *  PyTorch: RepetitionPenaltyLogitsProcessor of transformers. */
eddy_tensor eddy_repetition_penalty(eddy_tensor logits, eddy_tensor ids, double penalty)
{
    eddy_graph      *g = logits.graph;
    const eddy_shape x = eddy_shape_of(logits), i = eddy_shape_of(ids);
    char             a[128], b[128];
    if (!eddy_is_valid(logits) || !eddy_is_valid(ids) || ids.graph != g) return Add(logits, ids);
    if (!eddy__expect_type(g, "repetition_penalty", "logits", eddy_dtype_of(logits),
                           EDDY_TAKES_WIDE_FLOATS) ||
        !eddy__expect_type(g, "repetition_penalty", "ids", eddy_dtype_of(ids), EDDY_TAKES_INDICES))
        return eddy_none(g);
    if ((x.rank != 2 && x.rank >= 0) || (i.rank != 2 && i.rank >= 0) ||
        !eddy_shape_compatible(EDDY_SHAPE(x.rank < 0 ? EDDY_ANY : x.dim[0]),
                               EDDY_SHAPE(i.rank < 0 ? EDDY_ANY : i.dim[0])))
        return eddy_fail(g, EDDY_BAD_SHAPE, "repetition_penalty: the logits are %s and the ids %s; "
                         "expected [batch, classes] and [batch, n]",
                         eddy_shape_print(x, a, sizeof a), eddy_shape_print(i, b, sizeof b));
    if (!(penalty >= 1 / HOTTEST && penalty <= HOTTEST))
        return eddy_fail(g, EDDY_INVALID_ARGUMENT, "repetition_penalty: penalty is %g; it must be "
                         "in [1e-30, 1e30]", penalty);
    eddy_scope_begin(g, "repetition_penalty");
    const eddy_tensor less = Where(Greater(logits, 0), Div(logits, penalty), Mul(logits, penalty));
    const eddy_tensor y = Where(occurs(logits, ids), less, logits);
    eddy_scope_end(g);
    return y;
}
