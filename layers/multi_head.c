/* multi_head.c -- multi-head attention with its projections. */
#include "layers/attention.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "layers/cache_internal.h"
#include "layers/internal.h"
#include "ops/short_names.h"

#include <math.h>

/* An attention layer under construction. */
typedef struct heads {
    const eddy_multi_head_attention_args *a;
    eddy_layer  layer;
    eddy_tensor memory;
    int64_t     n, units, size;                 /* units of x, of all heads, of one head */
    eddy_tensor q, k, v;                        /* [batch, heads, positions, size] */
} heads;

static const double HIDDEN = -1e9;

/* The tensors of a cache: of a memory keys, values, lengths; of self-attention keys, values. */
enum { MEMORY_TENSORS = 3, SELF_TENSORS = 2 };

/* A projection, part k of the layer. */
static eddy_tensor project(const heads *h, eddy_tensor x, int64_t units, const char *name, int k)
{
    const eddy_multi_head_attention_args *a = h->a;
    char scope[LAYER_NAME];
    return eddy_dense(x, units, name, .no_bias = a->no_bias,
                      .kernel_initializer = a->kernel_initializer,
                      .kernel_regularizer = a->kernel_regularizer,
                      .not_trainable = a->not_trainable, .seed = eddy__layer_seed(a->seed, k),
                      .reuse = eddy__layer_inner_reuse(&h->layer, name, scope));
}

/* [batch, positions, parts units] as [batch, positions, parts, heads, size]. */
static eddy_tensor cut(const heads *h, eddy_tensor y, int parts)
{
    eddy_tensor rows = eddy_merge_leading(y, eddy_sum(y, .axes = EDDY_AXES(-1)));
    rows = eddy_reshape(rows, EDDY_SHAPE(EDDY_ANY, parts, h->a->heads, h->size));
    return eddy__layer_restore_dims(rows, y, 2);
}

/* [batch, positions, heads, size] as [batch, positions, units]. */
static eddy_tensor join(const heads *h, eddy_tensor y)
{
    eddy_tensor rows = eddy_merge_leading(y, eddy_sum(y, .axes = EDDY_AXES(-2, -1)));
    return eddy__layer_restore_dims(eddy_reshape(rows, EDDY_SHAPE(EDDY_ANY, h->units)), y, 2);
}

/* [batch, heads, positions, size] as [batch, positions, heads, size]. */
static eddy_tensor heads_last(eddy_tensor y) { return eddy_transpose(y, EDDY_DIMS(0, 2, 1, 3)); }

/* Part k of [batch, positions, parts, heads, size], heads first. */
static eddy_tensor part(eddy_tensor parts, int k)
{
    return eddy_transpose(eddy_output(parts, k), EDDY_DIMS(0, 2, 1, 3));
}

/* The queries, keys or values of x, heads first. */
static eddy_tensor project_part(const heads *h, eddy_tensor x, const char *name, int k)
{
    return part(eddy_unstack(cut(h, project(h, x, h->units, name, k), 1), 2), 0);
}

/* -------------------------------------------------------------------- masks -- */

/* The valid positions of the memory, [batch, 1, 1, t]. */
static eddy_tensor valid_positions(const heads *h)
{
    eddy_tensor seen = eddy__layer_valid_positions(h->memory, h->a->lengths, 1);
    return ExpandDims(ExpandDims(seen, 1), 1);
}

/* 0 at visible positions, -10^9 elsewhere. */
static eddy_tensor penalty(const heads *h, eddy_tensor seen)
{
    return eddy_where(seen, NumberLike(0, h->q), NumberLike(HIDDEN, h->q));
}

/* The term that is added to the scores; without a graph if there is none. */
static eddy_tensor make_mask(const heads *h)
{
    eddy_tensor mask = h->a->mask;
    if (mask.graph && eddy_dtype_of(mask) == EDDY_BOOL) mask = penalty(h, mask);
    if (!h->a->lengths.graph) return mask;
    eddy_tensor ends = penalty(h, valid_positions(h));
    return mask.graph ? Add(mask, ends) : ends;
}

/* ---------------------------------------------------------------- attention -- */

/* Attention with explicit probabilities, for dropout. */
static eddy_tensor attend_stored(const heads *h, eddy_tensor mask)
{
    const eddy_multi_head_attention_args *a = h->a;
    eddy_tensor scale = Rsqrt(NumberLike((double)h->size, h->q));
    eddy_tensor scores = MatMul(Mul(h->q, scale), h->k, .transpose_b = true);
    if (mask.graph) scores = Add(scores, BroadcastLike(mask, scores));
    if (a->causal) {
        eddy_tensor seen = eddy_matrix_band_part(OnesLike(scores), -1, 0);
        scores = Where(Greater(seen, 0), scores, -(double)INFINITY);
    }
    eddy_tensor p = eddy_dropout_layer(Softmax(scores), a->dropout, a->training, a->training_when,
                                       .seed = a->seed);
    return MatMul(p, h->v);
}

static eddy_tensor attend(const heads *h, bool stored)
{
    const eddy_tensor mask = make_mask(h);
    eddy_tensor y = stored ? attend_stored(h, mask)
                           : eddy_scaled_dot_product_attention(h->q, h->k, h->v, .mask = mask,
                                                               .causal = h->a->causal);
    return heads_last(y);
}

/* Self-attention to the positions of a cache and those of x. */
static eddy_tensor attend_cached(const heads *h)
{
    eddy_attention_cache *c = h->a->cache;
    const eddy_tensor keys = eddy__cache_append(c, h->k), values = eddy__cache_append(c, h->v);
    if (c->first) return attend(h, false);
    return heads_last(eddy_cached_attention(h->q, keys, values, eddy__cache_filled(c, h->q, 2),
                                            .causal = true));
}

/* The lengths of the memory, all positions by default, int32 [batch]. */
static eddy_tensor memory_lengths(const heads *h)
{
    const eddy_tensor none = ZerosLike(eddy_row_numbers(h->k, EDDY_INT32));
    return h->a->lengths.graph ? Cast(h->a->lengths, EDDY_INT32)
                               : Add(none, Cast(eddy_size_along(h->k, 2), EDDY_INT32));
}

/* Attention to a memory whose keys and values are in the cache, after the first call. */
static eddy_tensor attend_memory(heads *h)
{
    eddy_attention_cache *c = h->a->cache;
    if (c->first) {
        eddy__cache_keep(c, h->k);
        eddy__cache_keep(c, h->v);
        eddy__cache_keep(c, memory_lengths(h));
        return attend(h, false);
    }
    const eddy_tensor *at = c->at + c->next;
    c->next += MEMORY_TENSORS;
    return heads_last(eddy_cached_attention(h->q, at[0], at[1], at[2]));
}

static eddy_tensor build_attention(heads *h)
{
    const eddy_multi_head_attention_args *a = h->a;
    const bool stored = a->dropout > 0 && (a->training || a->training_when.graph);
    eddy_tensor y;
    if (!a->memory.graph) {
        eddy_tensor qkv = cut(h, project(h, a->x, 3 * h->units, "qkv", 0), 3);
        if (!stored && !a->mask.graph && !a->lengths.graph && !a->cache) {
            y = eddy_packed_self_attention(qkv, a->causal);
            return project(h, join(h, y), h->n, "attention_output", 2);
        }
        qkv = eddy_unstack(qkv, 2);
        h->q = part(qkv, 0), h->k = part(qkv, 1), h->v = part(qkv, 2);
    } else {
        h->q = project_part(h, a->x, "query", 0);
        if (a->values.graph) {
            h->k = project_part(h, a->memory, "keys", 1);
            h->v = project_part(h, a->values, "values", 3);
        } else {
            eddy_tensor kv = cut(h, project(h, a->memory, 2 * h->units, "key_value", 1), 2);
            kv = eddy_unstack(kv, 2);
            h->k = part(kv, 0), h->v = part(kv, 1);
        }
    }
    y = !a->cache ? attend(h, stored) : a->memory.graph ? attend_memory(h) : attend_cached(h);
    return project(h, join(h, y), h->n, "attention_output", 2);
}

/* Whether the options are those that a cache allows. */
static bool check_cache(const eddy_multi_head_attention_args *a)
{
    const bool memory = a->memory.graph, trains = a->training || a->training_when.graph;
    if (!a->cache) return true;
    if (!eddy__cache_begin(a->cache, "attention", a->x, memory ? MEMORY_TENSORS : SELF_TENSORS))
        return false;
    if (a->mask.graph || (!memory && a->lengths.graph) || (a->dropout > 0 && trains))
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "attention: with a cache there can be no %s",
                  a->mask.graph ? "mask" : a->dropout > 0 && trains ? "dropout in training" :
                  "lengths; eddy_attention_cache_new has those of the first call");
    else if (!memory && !a->causal)
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "attention: a cache without .causal; earlier "
                  "positions cannot attend to later ones");
    return eddy__graph_ready(a->x.graph);
}

/* Whether the values, if given, have the batch and the positions of the memory. */
static bool check_values(const eddy_multi_head_attention_args *a, eddy_layer *layer)
{
    char memory[200], values[200];
    if (!a->values.graph) return true;
    if (!a->memory.graph)
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "attention: values is given without memory, "
                  "from which the keys are computed");
    else if (a->values.graph != a->x.graph)
        eddy_fail(a->x.graph, EDDY_INVALID_ARGUMENT, "attention: the values are not an element of "
                  "this graph");
    else if (eddy__layer_check_input(layer, a->values) &&
             eddy__layer_check_rank(layer, a->values, 3, 2)) {
        const eddy_shape m = eddy_shape_of(a->memory), v = eddy_shape_of(a->values);
        if (!eddy_shape_compatible(EDDY_SHAPE(m.dim[0], m.dim[1]),
                                   EDDY_SHAPE(v.dim[0], v.dim[1])))
            eddy_fail(a->x.graph, EDDY_BAD_SHAPE, "attention: the values are %s; expected the "
                      "batch and the positions of the memory, %s",
                      eddy_shape_print(v, values, sizeof values),
                      eddy_shape_print(m, memory, sizeof memory));
    }
    return eddy__graph_ready(a->x.graph);
}

eddy_tensor eddy_multi_head_attention_with(const eddy_multi_head_attention_args *given)
{
    eddy_multi_head_attention_args a = EDDY_TAKE(eddy_multi_head_attention_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    heads h = { .a = &a, .memory = a.memory.graph ? a.memory : a.x,
                .layer = { .who = "attention", .name = a.name, .reuse = a.reuse } };
    if (!eddy__layer_check_input(&h.layer, h.memory) || !eddy__layer_check_input(&h.layer, a.x) ||
        !eddy__layer_check_rank(&h.layer, a.x, 3, 2) ||
        !eddy__layer_check_rank(&h.layer, h.memory, 3, 2) ||
        !eddy__layer_check_count(&h.layer, "heads", a.heads))
        return none;
    if (h.memory.graph != a.x.graph)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT, "attention: the memory is not an "
                         "element of this graph");
    if (!check_values(&a, &h.layer) ||
        !eddy__layer_check_lengths("attention", "lengths", a.lengths, h.memory, 0) ||
        !check_cache(&a))
        return none;
    h.n = eddy_shape_of(a.x).dim[2];
    h.units = a.units == EDDY_OMITTED ? h.n : a.units;
    if (!eddy__layer_check_count(&h.layer, "units", h.units)) return none;
    if (h.units % a.heads != 0 || h.units > INT32_MAX)
        return eddy_fail(a.x.graph, EDDY_INVALID_ARGUMENT,
                         "attention: heads is %lld; expected a divisor of units, %lld",
                         (long long)a.heads, (long long)h.units);
    h.size = h.units / a.heads;
    eddy__layer_begin(&h.layer);
    a.lengths = eddy__layer_lengths("lengths", a.lengths, h.memory, 0);
    return eddy__layer_end(&h.layer, build_attention(&h));
}
