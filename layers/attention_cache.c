/* attention_cache.c -- tables of keys and values that a loop carries, and the number of positions
 * that are filled. */
#include "layers/attention_cache.h"
#include "graph/call_options.h"
#include "graph/internal.h"
#include "layers/cache_internal.h"
#include "layers/internal.h"
#include "ops/short_names.h"

#include <stdio.h>

static eddy_attention_cache no_cache(eddy_graph *g)
{
    return (eddy_attention_cache){ .graph = g, .position = eddy_none(g) };
}

eddy_attention_cache eddy_attention_cache_new_with(const eddy_attention_cache_args *given)
{
    eddy_attention_cache_args a = EDDY_TAKE(eddy_attention_cache_args, given);
    eddy_graph *g = a.x.graph;
    if (!eddy_is_valid(a.x)) return (void)eddy_identity(a.x), no_cache(g);
    if (eddy_shape_of(a.x).rank == 0)
        return (void)eddy_fail(g, EDDY_BAD_SHAPE, "attention_cache: x is a scalar; expected a "
                               "tensor with the batch in front"), no_cache(g);
    if (a.window < 1 || a.window > INT32_MAX)
        return (void)eddy_fail(g, EDDY_INVALID_ARGUMENT, "attention_cache: window is %lld; it must "
                               "be above 0 and fit int32", (long long)a.window), no_cache(g);
    if (!eddy__layer_check_lengths("attention_cache", "lengths", a.lengths, a.x, 0))
        return no_cache(g);
    const eddy_tensor zero = ZerosLike(eddy_row_numbers(a.x, EDDY_INT32));
    eddy_attention_cache c = { .graph = g, .window = a.window, .position = zero, .first = true,
                               .positions = EDDY_ANY, .next = 1, .count = 1, .at = { zero } };
    c.lengths = eddy_none(NULL);
    if (!a.lengths.graph) return c;
    eddy_scope_begin(g, "attention_cache");
    c.lengths = Cast(eddy__layer_lengths("lengths", a.lengths, a.x, 0), EDDY_INT32);
    eddy_scope_end(g);
    return c;
}

/* The shape with an open batch. */
static eddy_shape open_batch(eddy_shape s)
{
    if (s.rank > 0) s.dim[0] = EDDY_ANY;
    return s;
}

eddy_attention_cache eddy_attention_cache_at(const eddy_attention_cache *like, const eddy_tensor *x)
{
    eddy_attention_cache c;
    char is[200], want[200];
    if (!like) return no_cache(NULL);
    if (!eddy_is_valid(like->position)) return no_cache(like->graph);
    if (!x)
        return (void)eddy_fail(like->graph, EDDY_INVALID_ARGUMENT, "attention_cache_at: x is NULL"),
               no_cache(like->graph);
    c = *like;
    for (int k = 0; k < like->count; k++) {
        const eddy_type t = { eddy_dtype_of(x[k]), eddy_shape_of(x[k]) };
        const eddy_type l = { eddy_dtype_of(like->at[k]), eddy_shape_of(like->at[k]) };
        if (!eddy_is_valid(x[k]) || x[k].graph != like->graph)
            return (void)eddy_fail(like->graph, EDDY_INVALID_ARGUMENT, "attention_cache: tensor %d "
                                   "is not a tensor of the graph", k), no_cache(like->graph);
        if (t.dtype != l.dtype ||
            !eddy_shape_compatible(open_batch(t.shape), open_batch(l.shape)))
            return (void)eddy_fail(like->graph, EDDY_INVALID_ARGUMENT,
                                   "attention_cache: tensor %d is %s; expected %s", k,
                                   eddy_type_print(t, is, sizeof is),
                                   eddy_type_print(l, want, sizeof want)), no_cache(like->graph);
        c.at[k] = x[k];
    }
    c.position = x[0];
    c.lengths = eddy_none(NULL);
    c.first = c.moved = false;
    c.positions = EDDY_ANY;
    c.next = 1;
    return c;
}

eddy_list eddy_attention_cache_tensors(const eddy_attention_cache *cache)
{
    return cache ? (eddy_list){ cache->count, cache->at } : (eddy_list){ 0 };
}

int eddy_attention_cache_store(const eddy_attention_cache *c, eddy_tensor *y)
{
    if (!c) return 0;
    if (!y)
        eddy_fail(c->graph, EDDY_INVALID_ARGUMENT, "attention_cache_store: y is NULL");
    else if (c->next != c->count)
        eddy_fail(c->graph, EDDY_INVALID_ARGUMENT, "attention_cache: layers took %d tensors of %d; "
                  "each call must build the same layers with .cache", c->next - 1, c->count - 1);
    else if (!c->moved)
        eddy_fail(c->graph, EDDY_INVALID_ARGUMENT, "attention_cache: no layer took .cache");
    if (!y || c->next != c->count || !c->moved) return 0;
    for (int k = 0; k < c->count; k++) y[k] = c->at[k];
    return c->count;
}

/* ---------------------------------------------------------------- for layers -- */

static bool check(const eddy_attention_cache *c, const char *who, eddy_tensor x, int n)
{
    const int64_t s = eddy_shape_of(x).dim[1];
    if (!eddy__graph_ready(x.graph)) return false;
    if (c->graph != x.graph || !eddy_is_valid(c->position))
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: the cache is not one of this graph", who);
    else if (s > c->window)
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: x has %lld positions, but the window of the "
                  "cache is %lld", who, (long long)s, (long long)c->window);
    else if (!eddy_shape_compatible(EDDY_SHAPE(s), EDDY_SHAPE(c->positions)))
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: the number of positions of x is %lld; "
                  "expected %lld, as in an earlier layer of the call", who, (long long)s,
                  (long long)c->positions);
    else if (c->first && c->count + n > EDDY_MAX_RESULTS)
        eddy_fail(x.graph, EDDY_LIMIT, "%s: the cache has %d tensors; at most %d are possible", who,
                  c->count + n, EDDY_MAX_RESULTS);
    else if (!c->first && c->next + n > c->count)
        eddy_fail(x.graph, EDDY_INVALID_ARGUMENT, "%s: the cache has no tensors left for this "
                  "layer; each call must build the same layers with .cache", who);
    return eddy__graph_ready(x.graph);
}

/* Counts the positions of x, [batch, s, n], as those of this call. */
static void advance(eddy_attention_cache *c, eddy_tensor x)
{
    char message[96];
    snprintf(message, sizeof message,
             "attention_cache: a position is beyond the window, %lld", (long long)c->window);
    eddy_scope_begin(c->graph, "attention_cache");
    const eddy_tensor s = Cast(eddy_size_along(x, 1), EDDY_INT32), none = NumberLike(0, s);
    if (!c->first || eddy_shape_of(x).dim[1] < 0)
        c->position = eddy_ensure(c->position, LessEqual(Add(c->position, s),
                                                         NumberLike((double)c->window, s)),
                                  message);
    c->at[0] = Add(c->position, s);
    if (c->lengths.graph)
        c->at[0] = eddy_ensure(c->lengths, LogicalAnd(GreaterEqual(c->lengths, none),
                                                      LessEqual(c->lengths, s)),
                               "attention_cache: the lengths must be in [0, s], s being the "
                               "positions of the first call");
    c->moved = true;
    eddy_scope_end(c->graph);
}

bool eddy__cache_begin(eddy_attention_cache *c, const char *who, eddy_tensor x, int n)
{
    if (!check(c, who, x, n)) return false;
    if (!c->moved) advance(c, x);
    if (eddy_shape_of(x).dim[1] >= 0) c->positions = eddy_shape_of(x).dim[1];
    return eddy__graph_ready(x.graph);
}

void eddy__cache_keep(eddy_attention_cache *c, eddy_tensor x)
{
    if (c->first) c->count = c->next + 1;
    c->at[c->next++] = x;
}

/* 0, 1, ..., one for each position of x, int32 [s]. */
static eddy_tensor numbers(eddy_tensor x, int64_t axis)
{
    const eddy_tensor zero = eddy_number(x.graph, EDDY_INT32, 0);
    return eddy_range(zero, Cast(eddy_size_along(x, axis), EDDY_INT32),
                      eddy_number(x.graph, EDDY_INT32, 1));
}

eddy_tensor eddy__cache_positions(const eddy_attention_cache *c, eddy_tensor x, int64_t axis)
{
    return Add(ExpandDims(c->position, 1), numbers(x, axis));
}

eddy_tensor eddy__cache_filled(const eddy_attention_cache *c, eddy_tensor x, int64_t axis)
{
    return Add(c->position, Cast(eddy_size_along(x, axis), EDDY_INT32));
}

/* A table of zeros, [batch, heads, window, size]. */
static eddy_tensor empty_table(const eddy_attention_cache *c, eddy_tensor x)
{
    const eddy_tensor row = ZerosLike(Sum(x, EDDY_AXES(2), .keepdims = true));
    return Add(row, eddy_zeros(c->graph, eddy_dtype_of(x), EDDY_SHAPE(c->window, 1)));
}

eddy_tensor eddy__cache_append(eddy_attention_cache *c, eddy_tensor x)
{
    const eddy_tensor table = c->first ? empty_table(c, x) : c->at[c->next];
    const eddy_tensor heads = eddy_zeros(c->graph, EDDY_INT32,
                                         EDDY_SHAPE(eddy_shape_of(x).dim[1], 1));
    const eddy_tensor rows = Add(ExpandDims(eddy__cache_positions(c, x, 2), 1), heads);
    const eddy_tensor y = eddy_tensor_scatter_update(table, ExpandDims(rows, -1), x,
                                                     .batch_dims = 2, .name = "cache");
    eddy__cache_keep(c, y);
    return y;
}
