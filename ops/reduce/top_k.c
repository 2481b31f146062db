/* top_k.c -- top_k, the largest elements of each row, and in_top_k. */
#include "graph/base/thread_pool.h"
#include "ops/arrays/along_axis.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "build/gen/table.h"

#include <string.h>

typedef struct top_k_attrs {
    int64_t k;
} top_k_attrs;

static bool top_k_infer(eddy_infer *c)
{
    const top_k_attrs *a = c->attrs;
    eddy_shape y = c->in[0].shape;
    const int64_t n = y.rank > 0 ? y.dim[y.rank - 1] : EDDY_ANY;
    if (a->k < 0 || (n >= 0 && a->k > n))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "a row has fewer than k = %lld elements",
                               (long long)a->k);
    if (n > INT32_MAX)
        return eddy_infer_fail(c, EDDY_LIMIT, "rows have %lld elements, too many for int32",
                               (long long)n);
    if (y.rank > 0) y.dim[y.rank - 1] = a->k;
    return eddy__infer_yield(c, 0, c->in[0].dtype, y) && eddy__infer_yield(c, 1, EDDY_INT32, y);
}

typedef struct search {
    const eddy_kernel *k;
    const eddy_words  *words;
    int64_t            n, m;            /* elements of a row, and the number of them selected */
} search;

static search search_of(const eddy_kernel *k)
{
    const eddy_shape x = k->in[0]->type.shape;
    return (search){ k, eddy__words_of(k->in[0]->type.dtype), x.dim[x.rank - 1],
                     ((const top_k_attrs *)k->attrs)->k };
}

static uint64_t scratch_of(const search *s)
{
    return (uint64_t)eddy__sort_words(s->n, s->m) * s->words->size;
}

static eddy_status top_k_prepare(eddy_kernel *k)
{
    const search s = search_of(k);
    k->scratch_size = 2 * (uint64_t)k->threads * scratch_of(&s);
    return EDDY_OK;
}

/* Rows [from, to). */
static void search_some(void *arg, int64_t from, int64_t to, int worker)
{
    const search  *s = arg;
    const size_t   size = eddy_dtype_size(s->k->in[0]->type.dtype);
    const uint64_t room = scratch_of(s);
    char    *words = (char *)s->k->scratch + 2 * (uint64_t)worker * room;
    char    *y = (char *)s->k->out[0]->data + (size_t)(from * s->m) * size;
    int32_t *places = (int32_t *)s->k->out[1]->data + from * s->m;
    for (int64_t r = from; r < to; r++) {
        const char *x = (const char *)s->k->in[0]->data + (size_t)(r * s->n) * size;
        if (!s->words->least(words, words + room, x, s->n, s->m, true, s->k->stop)) return;
        for (int64_t i = 0; i < s->m; i++, y += size) {
            const int64_t place = s->words->place(words, i);
            *places++ = (int32_t)place;
            memcpy(y, x + (size_t)place * size, size);
        }
    }
}

static eddy_status top_k_kernel(eddy_kernel *k)
{
    enum { WORK = 1 << 13 };
    search s = search_of(k);
    if (k->out[0]->count == 0) return EDDY_OK;
    eddy__parallel_or_stop(k, k->out[0]->count / s.m, WORK / s.n + 1, search_some, &s);
    return EDDY_OK;
}

static void top_k_gradient(eddy_rule *r)
{
    r->dx[0] = eddy_put_along(r->dy[0], r->y[1], r->x[0], -1);
}

const eddy_op_def eddy_op_top_k = {
    .name = "TopKV2", .min_inputs = 1, .max_inputs = 1, .outputs = 2,
    .inputs = EDDY_INPUTS({ "x", EDDY_TAKES_ORDERED | EDDY_RANK_FROM(1) }),
    .attrs_size = sizeof(top_k_attrs),
    .attrs = EDDY_ATTRS(top_k_attrs, k),
    .flops = eddy_flops_per_input,
    .infer = top_k_infer, .prepare = top_k_prepare, .kernel = top_k_kernel,
    .gradient = top_k_gradient, .batch = eddy_batch_as_is,
};

/** y = the k largest elements of each row of x, in descending order; eddy_output(y, 1) holds
 *  their indices.
 *
 *  x  float32, float64, int32, int64, uint8 or bool, [..., n]
 *  k  in [0, n]
 *
 *  Returns output 0, [..., k]; output 1 holds the indices, int32.  Of equal elements, the one
 *  with the lower index comes first; NaN counts as the largest value.
 *  Errors: EDDY_BAD_SHAPE for a scalar; EDDY_INVALID_ARGUMENT for a k outside [0, n]; EDDY_LIMIT
 *  if the indices may not fit in int32.
 *  Gradient: dx = dy scattered to the indices, 0 elsewhere.  TensorFlow: TopKV2 (tf.nn.top_k). */
eddy_tensor eddy_top_k(eddy_tensor x, int64_t k)
{
    return eddy_apply1(&eddy_op_top_k, &(top_k_attrs){ k }, x);
}

/** y = whether the target class of each example is among its k largest predictions.
 *
 *  predictions  float32 or float64 [batch, classes]
 *  targets      int32 or int64 [batch]
 *  k            any number; classes that tie with the k-th are included
 *
 *  False for a target outside [0, classes), and where a prediction is not finite.
 *  Errors: EDDY_BAD_DTYPE or EDDY_BAD_SHAPE if the arguments do not match.
 *  Gradient: none.  TensorFlow: InTopKV2 (tf.nn.in_top_k). */
eddy_tensor eddy_in_top_k(eddy_tensor predictions, eddy_tensor targets, int64_t k)
{
    const eddy_tensor at = ExpandDims(targets, -1);
    const eddy_tensor own = eddy_take_along(predictions, at, -1);
    const eddy_tensor above = Sum(Cast(Greater(predictions, own), EDDY_INT32), EDDY_AXES(-1));
    const eddy_tensor finite = eddy_all(IsFinite(predictions), EDDY_AXES(-1));
    const eddy_tensor classes = eddy_size_along(predictions, -1);
    const eddy_tensor is_class = LogicalAnd(GreaterEqual(targets, 0),
                                            Less(targets, CastLike(classes, targets)));
    return LogicalAnd(LogicalAnd(finite, is_class), Less(above, (double)k));
}
