/* draws.c -- random samples with broadcast parameters: one kernel that draws a sample for each
 * element of its operands; see random.h. */
#include "graph/base/thread_pool.h"
#include "ops/random/random.h"
#include "graph/base/dtype.h"
#include "graph/internal.h"
#include "ops/kernels/arrays/index_checks.h"
#include "ops/arrays/arrays.h"
#include "ops/arrays/batching.h"
#include "ops/short_names.h"
#include "ops/nets/expect_shape.h"
#include "build/gen/table.h"

#include <string.h>

/* --------------------------------------------------------------- seeds -- */

bool eddy__infer_seed(eddy_infer *c, int i)
{
    const eddy_type t = c->in[i];
    char text[256];
    if (!eddy__dtype_is_index(t.dtype) ||
        !eddy_shape_compatible(t.shape, EDDY_SHAPE(2)))
        return eddy_infer_fail(c, EDDY_INVALID_ARGUMENT, "the seed is %s; int32 or int64 of "
                               "shape [2] expected", eddy_type_print(t, text, sizeof text));
    return true;
}

eddy_stream eddy__stream_for(const eddy_kernel *k, int i, int64_t seed, eddy_distribution d)
{
    if (k->n_in <= i) return eddy__stream_of(k, seed, d);
    const uint64_t a = (uint64_t)eddy__index_at(k->in[i], 0),
                   b = (uint64_t)eddy__index_at(k->in[i], 1);
    return (eddy_stream){ eddy__philox_key(a, b, 2 * (uint64_t)d), 0 };
}

/* ---------------------------------------------------------------- random streams -- */

static eddy_philox_block next_block(eddy_element_stream *d)
{
    eddy_philox_block b;
    if (d->used == 0) memcpy(b.word, d->first, sizeof b.word);
    else b = eddy__philox(d->stream.key, d->element | d->used << 48, d->stream.step);
    d->used++;
    return b;
}

eddy_sample_pair eddy__uniform_pair(eddy_element_stream *d)
{
    const eddy_philox_block b = next_block(d);
    return (eddy_sample_pair){ eddy__unit_f64(b.word[0], b.word[1]),
                         eddy__unit_f64(b.word[2], b.word[3]) };
}

eddy_sample_pair eddy__normal_pair(eddy_element_stream *d)
{
    const bool              is_first = d->used == 0;
    const eddy_philox_block b = next_block(d);
    double z[2];
    if (is_first) z[0] = d->normals[0];
    else eddy__normals_of_words(2, b.word, z);
    return (eddy_sample_pair){ z[0], eddy__unit_f64(b.word[2], b.word[3]) };
}

/* ------------------------------------------------------------- kernels -- */

enum { TILE = 256, PARAMETERS = 2 };

typedef struct drawing {
    const eddy_kernel *k;
    const eddy_draw   *how;
    eddy_stream        stream;
} drawing;

static void draw_tile(const drawing *g, int64_t at, int64_t n)
{
    const eddy_buffer *y = g->k->out[0];
    uint32_t w[4 * TILE];
    double   z[4 * TILE], x[PARAMETERS];
    eddy__philox_words(g->stream, (uint64_t)at, n, w);
    if (g->how->normals) eddy__normals_of_words(4 * n, w, z);
    for (int64_t i = 0; i < n; i++) {
        eddy_element_stream d = { g->stream, (uint64_t)(at + i), 0, w + 4 * i, z + 4 * i };
        for (int j = 0; j < g->how->count; j++) x[j] = eddy__real_at(g->k->in[j], at + i);
        eddy__real_put(y, at + i, g->how->fn(&d, x, g->k->attrs));
    }
}

static void draw_tiles(void *arg, int64_t from, int64_t to, int worker)
{
    const drawing *g = arg;
    const int64_t  count = g->k->out[0]->count;
    (void)worker;
    for (int64_t at = from * TILE; at < to * TILE && at < count; at += TILE)
        draw_tile(g, at, count - at < TILE ? count - at : TILE);
}

void eddy__draw_all(const eddy_kernel *k, const eddy_draw *how, int64_t seed)
{
    drawing g = { k, how, eddy__stream_for(k, how->count, seed, how->distribution) };
    eddy__parallel_or_stop(k, (k->out[0]->count + TILE - 1) / TILE, 4, draw_tiles, &g);
}

bool eddy__infer_draw(eddy_infer *c)
{
    const int count = c->op->min_inputs;
    char a[256], b[256];
    for (int i = 1; i < count; i++)
        if (!eddy_shape_compatible(c->in[i].shape, c->in[0].shape))
            return eddy_infer_fail(c, EDDY_BAD_SHAPE,
                                   "operands have shapes %s and %s, which must be equal",
                                   eddy_shape_print(c->in[0].shape, a, sizeof a),
                                   eddy_shape_print(c->in[i].shape, b, sizeof b));
    if (c->n_in > count && !eddy__infer_seed(c, count)) return false;
    c->out[0] = c->in[0];
    return true;
}

void eddy__batch_draw(eddy_batch *b)
{
    bool differs = false;
    for (int i = 0; i < b->n_in; i++) differs = differs || b->batched[i];
    if (b->n_in == b->node->op->min_inputs) eddy_batch_as_is(b);
    else if (!differs)
        b->y[0] = eddy_batch_like(eddy_apply(b->node->op, b->attrs, b->n_in, b->x,
                                             (eddy_apply_args){ 0 }), b->examples);
}

/* --------------------------------------------------------------- tools -- */

/* x with more leading axes. */
static bool add_sample_axes(const char *who, eddy_tensor *x, eddy_dims samples)
{
    const int  rank = eddy_shape_of(*x).rank;
    eddy_shape s = { .rank = samples.count + (rank < 0 ? 0 : rank) };
    if (rank < 0 || s.rank > EDDY_MAX_RANK) {
        eddy_fail(
            x->graph, EDDY_BAD_SHAPE,
            "%s: sample_shape requires operands of known rank and a result of rank at most %d", who,
            EDDY_MAX_RANK);
        return false;
    }
    for (int i = 0; i < s.rank; i++) s.dim[i] = i < samples.count ? samples.at[i] : 1;
    *x = eddy_broadcast_like(*x, Add(*x, eddy_zeros(x->graph, eddy_dtype_of(*x), s)));
    return true;
}

bool eddy__draw_operands(const char *who, int n, eddy_tensor *x, eddy_dims samples)
{
    for (int i = 0; i < n; i++)
        if (!eddy_is_valid(x[i])) return (void)eddy_identity(x[i]), false;
    if (!eddy__expect_type(x[0].graph, who, "operand 0", eddy_dtype_of(x[0]),
                           EDDY_TAKES_WIDE_FLOATS))
        return false;
    if (eddy_refuse_number(x[0].graph, who, "sample_shape", samples)) return false;
    if (n == 2) {
        const eddy_tensor both = Add(x[0], x[1]);
        if (!eddy_shape_equal(eddy_shape_of(x[0]), eddy_shape_of(x[1])) ||
            !eddy_shape_is_known(eddy_shape_of(x[0])))
            for (int i = 0; i < 2; i++) x[i] = eddy_broadcast_like(x[i], both);
    }
    for (int i = 0; i < n && samples.count > 0; i++)
        if (!add_sample_axes(who, &x[i], samples)) return false;
    return true;
}

eddy_tensor eddy__draw_apply(const eddy_op_def *op, const void *attrs, int n, const eddy_tensor *x,
                             eddy_tensor seed, const char *name)
{
    eddy_tensor in[PARAMETERS + 1];
    memcpy(in, x, (size_t)n * sizeof *x);
    in[n] = seed;
    return eddy__apply_named(name, op, attrs, n + (seed.graph != NULL), in);
}

eddy_source eddy__source_besides(eddy_source from)
{
    const uint64_t    odd = 0x5DEECE66D2545F49u;
    const eddy_tensor seed = from.stateless_seed;
    if (from.seed) from.seed = (int64_t)((uint64_t)from.seed ^ odd);
    if (seed.graph) from.stateless_seed = eddy_bitwise_xor(seed, NumberLike(0x2DEECE66, seed));
    return from;
}

eddy_tensor eddy__uniform_source(eddy_source from, eddy_tensor x, double low)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (from.stateless_seed.graph)
        return eddy_stateless_random_uniform_like(x, from.stateless_seed, low, 1, d);
    return eddy_random_uniform_like(x, low, 1, d, from.seed);
}

eddy_tensor eddy__normal_source(eddy_source from, eddy_tensor x)
{
    const eddy_dtype d = eddy_dtype_of(x);
    if (from.stateless_seed.graph)
        return eddy_stateless_random_normal_like(x, from.stateless_seed, 0, 1, d);
    return eddy_random_normal_like(x, 0, 1, d, from.seed);
}
