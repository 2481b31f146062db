/* training.c -- averaged gradients around any optimizer. */
#include "distributed/averaging.h"
#include "distributed/division.h"
#include "distributed/training.h"

#include "ops/short_names.h"
#include "optim/variable_parts.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- gradients -- */

/* Gradients of one type that travel together. */
typedef struct bucket {
    eddy_tensor *gradients[EDDY_MAX_BUCKET];
    int          n;
    int64_t      bytes;
} bucket;

/* The gradient times the rank's share. A rank without examples may have computed 0/0. */
eddy_tensor eddy__weighted(const averaging *a, eddy_tensor g)
{
    if (a->share.node == 0) return g;
    const eddy_tensor share = eddy_hyper(a->share, g);
    return Mul(Where(Greater(share, 0), g, ZerosLike(g)), share);
}

eddy_reduction eddy__averaging_reduction(const averaging *a)
{
    return a->sum || a->share.node != 0 ? EDDY_REDUCE_SUM : EDDY_REDUCE_MEAN;
}

static void send_bucket(const averaging *a, eddy_communicator *c, bucket *b)
{
    eddy_tensor x[EDDY_MAX_BUCKET], y[EDDY_MAX_BUCKET];
    for (int i = 0; i < b->n; i++) x[i] = eddy__weighted(a, *b->gradients[i]);
    const eddy_list all = { b->n, x };
    bool            compress = a->compress;
    for (int i = 0; i < b->n; i++) compress = compress && eddy__can_compress(x[i]);
    if (b->n > 0 && (compress     ? eddy__all_reduce_compressed
                     : a->overlap ? eddy__all_reduce_overlapped
                                  : eddy_all_reduce_list)(c, all, eddy__averaging_reduction(a), y))
        for (int i = 0; i < b->n; i++) *b->gradients[i] = y[i];
    b->n = 0;
    b->bytes = 0;
}

eddy_tensor eddy__gathered(const averaging *a, eddy_communicator *c, eddy_gradient_pair p,
                           eddy_tensor values, eddy_tensor indices)
{
    values = eddy__weighted(a, values);
    if (eddy__averaging_reduction(a) == EDDY_REDUCE_MEAN) values = Div(values, (double)c->n);
    const eddy_tensor y[] = { eddy_all_gather(c, values, .uneven = true),
                              eddy_all_gather(c, indices, .uneven = true) };
    const eddy_tensor slices = eddy_indexed_slices(y[0], y[1], p.variable);
    return eddy_slices_skip_negative(p.gradient) ? eddy_slices_padded(slices) : slices;
}

int64_t eddy__bytes_of(eddy_tensor variable, int64_t otherwise)
{
    const int64_t count = eddy_shape_count(eddy_shape_of(variable));
    return count < 0 ? otherwise : count * (int64_t)eddy_dtype_size(eddy_dtype_of(variable));
}

eddy_communicator *eddy__averaging_begin(averaging *a, const char *what, eddy_graph *g)
{
    eddy_communicator *c = eddy__communicator_take(a->communicator);
    if (!c) eddy_fail(g, EDDY_CLOSED, "%s: the communicator has been freed", what);
    if (!c || !a->examples.graph) return c;
    const eddy_tensor n = eddy_cast(a->examples, EDDY_FLOAT64);
    a->share = DivNoNan(n, eddy_all_reduce(c, n));
    return c;
}

void eddy__average_part(const averaging *a, const char *what, int ranks, eddy_gradient_pair *p)
{
    const eddy_tensor v = p->variable;
    if (!eddy__is_gathered(v, a->communicator)) return;
    if (a->share.node != 0)
        eddy_fail(
            v.graph, EDDY_INVALID_ARGUMENT,
            "%s: `examples` cannot weight the gradient of '%.200s', which is divided among the "
            "ranks: weight the loss",
            what, eddy_name_of(v));
    else if (!a->sum) p->gradient = Div(p->gradient, (double)ranks);
}

/* Averages the gradients, those of the last variables first: they are known first. */
static void average(void *context, eddy_gradient_pair *pairs, int count)
{
    averaging         *a = context;
    bucket             buckets[EDDY_DTYPES] = { 0 };
    eddy_communicator *c =
        eddy__averaging_begin(a, "Distributed", count > 0 ? pairs[0].variable.graph : NULL);
    if (!c) return;
    for (int i = count - 1; i >= 0; i--) {
        eddy_tensor   values, indices;
        const int64_t bytes = eddy__bytes_of(pairs[i].variable, a->bucket_bytes);
        bucket       *b = &buckets[eddy_dtype_of(pairs[i].variable)];
        if (pairs[i].gradient.node == 0) continue;
        if (eddy__has_part(pairs[i].variable, a->communicator)) {
            eddy__average_part(a, "Distributed", c->n, &pairs[i]);
            continue;
        }
        if (eddy__bytes_of(pairs[i].variable, INT64_MAX) > a->dense_bytes &&
            eddy_slices_parts(pairs[i].gradient, &values, &indices)) {
            pairs[i].gradient = eddy__gathered(a, c, pairs[i], values, indices);
            continue;
        }
        if (b->n == EDDY_MAX_BUCKET || (b->n > 0 && b->bytes + bytes > a->bucket_bytes))
            send_bucket(a, c, b);
        b->gradients[b->n++] = &pairs[i].gradient;
        b->bytes += bytes;
    }
    for (int d = 0; d < EDDY_DTYPES; d++) send_bucket(a, c, &buckets[d]);
    eddy__communicator_give(c);
}

eddy_optimizer *eddy_distributed_with(const eddy_distributed_args *given)
{
    eddy_distributed_args a = { .size_ = sizeof a, .bucket_bytes = 4194304 };
    eddy_copy_options(&a, given);
    eddy_graph *g = eddy_optimizer_graph(a.optimizer);
    averaging  *context = NULL;
    if (!g) return NULL;
    if (!a.communicator)
        eddy_fail(g, EDDY_INVALID_ARGUMENT, "Distributed: there is no communicator");
    else if (a.sum && a.examples.graph)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Distributed: `examples` weights an average, not a sum");
    else if (a.overlap && a.compress)
        eddy_fail(g, EDDY_INVALID_ARGUMENT,
                  "Distributed: compressed gradients do not travel while the run computes");
    else if (a.bucket_bytes < 1)
        eddy_fail(g, EDDY_OUT_OF_RANGE, "Distributed: bucket_bytes is %lld; it must be positive",
                  (long long)a.bucket_bytes);
    else if (a.dense_bytes < 0)
        eddy_fail(g, EDDY_OUT_OF_RANGE, "Distributed: dense_bytes is %lld; it must not be negative",
                  (long long)a.dense_bytes);
    else if (!(context = malloc(sizeof *context)))
        eddy_fail(g, EDDY_NO_MEMORY, "Distributed: out of memory");
    if (!context) return NULL;
    *context = (averaging){ .communicator = a.communicator->id,
                            .examples = a.examples,
                            .sum = a.sum,
                            .overlap = a.overlap,
                            .compress = a.compress,
                            .bucket_bytes = a.bucket_bytes,
                            .dense_bytes = a.dense_bytes };
    if (!eddy_graph_own(g, context, free)) return NULL;
    eddy_optimizer_sum_parts(a.optimizer, eddy__sum_over_ranks);
    return eddy_transformed_gradients(a.optimizer, .transform = average, .context = context,
                                      .name = a.name ? a.name : "Distributed");
}
