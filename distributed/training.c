/* training.c -- averaged gradients around any optimizer, and equal variables to begin with. */
#include "distributed/collective_op.h"
#include "distributed/training.h"

#include "ops/short_names.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- gradients -- */

/* How the optimizer averages the gradients of a step; the graph owns it. */
typedef struct averaging {
    int64_t     communicator;
    eddy_tensor examples;
    eddy_tensor share;               /* of this rank's examples in all; node 0: equal */
    bool        sum;
    int64_t     bucket_bytes;
} averaging;

/* Gradients of one type that travel together. */
typedef struct bucket {
    eddy_tensor *gradients[EDDY_MAX_BUCKET];
    int          n;
    int64_t      bytes;
} bucket;

/* The gradient times the rank's share. A rank without examples may have computed 0/0. */
static eddy_tensor weighted(const averaging *a, eddy_tensor g)
{
    if (a->share.node == 0) return g;
    const eddy_tensor share = eddy_hyper(a->share, g);
    return Mul(Where(Greater(share, 0), g, ZerosLike(g)), share);
}

static eddy_reduction reduction_of(const averaging *a)
{
    return a->sum || a->share.node != 0 ? EDDY_REDUCE_SUM : EDDY_REDUCE_MEAN;
}

static void send_bucket(const averaging *a, eddy_communicator *c, bucket *b)
{
    eddy_tensor x[EDDY_MAX_BUCKET], y[EDDY_MAX_BUCKET];
    for (int i = 0; i < b->n; i++) x[i] = weighted(a, *b->gradients[i]);
    if (b->n > 0 && eddy_all_reduce_list(c, (eddy_list){ b->n, x }, reduction_of(a), y))
        for (int i = 0; i < b->n; i++) *b->gradients[i] = y[i];
    b->n = 0;
    b->bytes = 0;
}

/* The rows of all ranks; divided, because rows of one index are summed later. */
static eddy_tensor gathered(const averaging *a, eddy_communicator *c, eddy_gradient_pair p,
                            eddy_tensor values, eddy_tensor indices)
{
    values = weighted(a, values);
    if (reduction_of(a) == EDDY_REDUCE_MEAN) values = Div(values, (double)c->n);
    const eddy_tensor y[] = { eddy_all_gather(c, values, .uneven = true),
                              eddy_all_gather(c, indices, .uneven = true) };
    const eddy_tensor slices = eddy_indexed_slices(y[0], y[1], p.variable);
    return eddy_slices_skip_negative(p.gradient) ? eddy_slices_padded(slices) : slices;
}

static int64_t bytes_of(eddy_gradient_pair p, int64_t otherwise)
{
    const int64_t count = eddy_shape_count(eddy_shape_of(p.variable));
    return count < 0 ? otherwise : count * (int64_t)eddy_dtype_size(eddy_dtype_of(p.variable));
}

/* This rank's share of all examples; 0 if there are none. */
static eddy_tensor share_of(eddy_communicator *c, eddy_tensor examples)
{
    const eddy_tensor n = eddy_cast(examples, EDDY_FLOAT64);
    return DivNoNan(n, eddy_all_reduce(c, n));
}

/* Averages the gradients, those of the last variables first: they are known first. */
static void average(void *context, eddy_gradient_pair *pairs, int count)
{
    averaging         *a = context;
    bucket             buckets[EDDY_DTYPES] = { 0 };
    eddy_communicator *c = eddy__communicator_take(a->communicator);
    eddy_graph        *g = count > 0 ? pairs[0].variable.graph : NULL;
    if (!c) {
        eddy_fail(g, EDDY_CLOSED, "Distributed: the communicator has been freed");
        return;
    }
    if (a->examples.graph) a->share = share_of(c, a->examples);
    for (int i = count - 1; i >= 0; i--) {
        eddy_tensor   values, indices;
        const int64_t bytes = bytes_of(pairs[i], a->bucket_bytes);
        bucket       *b = &buckets[eddy_dtype_of(pairs[i].variable)];
        if (pairs[i].gradient.node == 0) continue;
        if (eddy_slices_parts(pairs[i].gradient, &values, &indices)) {
            pairs[i].gradient = gathered(a, c, pairs[i], values, indices);
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
    else if (a.bucket_bytes < 1)
        eddy_fail(g, EDDY_OUT_OF_RANGE, "Distributed: bucket_bytes is %lld; it must be positive",
                  (long long)a.bucket_bytes);
    else if (!(context = malloc(sizeof *context)))
        eddy_fail(g, EDDY_NO_MEMORY, "Distributed: out of memory");
    if (!context) return NULL;
    *context = (averaging){ .communicator = a.communicator->id,
                            .examples = a.examples,
                            .sum = a.sum,
                            .bucket_bytes = a.bucket_bytes };
    if (!eddy_graph_own(g, context, free)) return NULL;
    return eddy_transformed_gradients(a.optimizer, .transform = average, .context = context,
                                      .name = a.name ? a.name : "Distributed");
}

/* --------------------------------------------------------------- variables -- */

/* Broadcasts one value, or that there is none. */
static bool broadcast_one(eddy_communicator *c, int root, eddy_session *s, eddy_tensor v,
                          eddy_error *error)
{
    eddy_array *value = eddy_variable_value(s, v), *has = eddy_array_of(EDDY_INT32, value != NULL);
    bool        ok = has && eddy_array_broadcast(c, root, has, error);
    const bool  any = ok && eddy_array_item(has) != 0;
    if (!has) eddy__distributed_fail(error, EDDY_NO_MEMORY, "broadcast_variables: out of memory");
    if (any && !value) {
        value = eddy_array_new(eddy_dtype_of(v), eddy_shape_of(v));
        if (!value)
            ok = eddy__distributed_fail(error, EDDY_UNINITIALIZED,
                                        "broadcast_variables: '%.200s' has no value here, and "
                                        "its shape is not known",
                                        eddy_name_of(v));
        if (!ok) eddy_communicator_fail(c, "a variable has no value");
    }
    if (ok && any) ok = eddy_array_broadcast(c, root, value, error);
    if (ok && any && eddy_variable_set(s, v, value) != EDDY_OK)
        ok = eddy__distributed_fail(error, eddy_session_status(s), "%s", eddy_session_message(s));
    eddy_array_free(value);
    eddy_array_free(has);
    return ok;
}

bool eddy_broadcast_variables(eddy_communicator *c, int root, eddy_graph *g, eddy_session *s,
                              eddy_error *error)
{
    if (!c || !g || !s)
        return eddy__distributed_fail(error, EDDY_INVALID_ARGUMENT,
                                      "broadcast_variables: no communicator, graph or session");
    const int n = eddy_collection_size(g, EDDY_GLOBAL_VARIABLES);
    bool      ok = true;
    for (int i = 0; ok && i < n; i++)
        ok = broadcast_one(c, root, s, eddy_collection_at(g, EDDY_GLOBAL_VARIABLES, i), error);
    return ok;
}
