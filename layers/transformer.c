/* transformer.c -- positional encodings and transformer blocks: attention and fully connected
 * layers. */
#include "graph/internal.h"
#include "graph/call_options.h"
#include "graph/base/dtype.h"
#include "layers/attention.h"
#include "layers/cache_internal.h"
#include "layers/internal.h"
#include "ops/short_names.h"

#include <math.h>

/* ---------------------------------------------------------------- positions -- */

eddy_tensor eddy_sinusoidal_positions(eddy_graph *g, int64_t length, int64_t units,
                                      eddy_dtype dtype)
{
    const eddy_layer l = { .graph = g, .who = "sinusoidal positions" };
    if (!eddy__graph_ready(g)) return eddy_none(eddy__graph_alive(g) ? g : NULL);
    if (!dtype) dtype = EDDY_FLOAT32;
    if (!eddy__expect_type(g, "sinusoidal positions", "dtype", dtype, EDDY_TAKES_WIDE_FLOATS))
        return eddy_none(g);
    if (!eddy__layer_check_count(&l, "length", length) ||
        !eddy__layer_check_count(&l, "units", units))
        return eddy_none(g);
    eddy_array *table = eddy_array_new_in(eddy__graph_allocator(g), dtype,
                                          EDDY_SHAPE(length, units));
    if (!table)
        return eddy_fail(g, EDDY_NO_MEMORY, "sinusoidal positions: out of memory for [%lld,%lld]",
                         (long long)length, (long long)units);
    for (int64_t k = 0; k < units; k++) {
        const double rate = pow(10000, -(double)(k - k % 2) / (double)units);
        for (int64_t i = 0; i < length; i++) {
            const double angle = (double)i * rate;
            eddy_array_set(table, i * units + k, k % 2 ? cos(angle) : sin(angle));
        }
    }
    eddy_tensor t = eddy_constant(g, table, "sinusoidal_positions");
    eddy_array_free(table);
    return t;
}

/* The first rows of the table, one for each position of x. */
static eddy_tensor first_rows(eddy_tensor table, eddy_tensor x)
{
    const int64_t have = eddy_shape_of(table).dim[0], want = eddy_shape_of(x).dim[1];
    if (want == have) return table;
    if (want >= 0) return eddy_slice(table, EDDY_DIMS(0, 0), EDDY_DIMS(want, -1));
    eddy_tensor sizes = eddy_unstack(eddy_shape_tensor(x, EDDY_INT64), 0);
    eddy_tensor zero = eddy_const(x.graph, EDDY_INT64, EDDY_SCALAR, &(int64_t){ 0 });
    eddy_tensor one = eddy_const(x.graph, EDDY_INT64, EDDY_SCALAR, &(int64_t){ 1 });
    return Gather(table, eddy_range(zero, eddy_output(sizes, 1), one));
}

eddy_tensor eddy_position_layer_with(const eddy_position_layer_args *given)
{
    eddy_position_layer_args a = EDDY_TAKE(eddy_position_layer_args, given);
    const eddy_tensor none = eddy_none(a.x.graph);
    eddy_layer l = { .who = "positions", .name = a.name, .reuse = a.reuse,
                     .not_trainable = a.not_trainable, .seed = a.seed };
    if (!eddy__layer_check_input(&l, a.x) || !eddy__layer_check_rank(&l, a.x, 3, 2)) return none;
    const int64_t s = eddy_shape_of(a.x).dim[1], n = eddy_shape_of(a.x).dim[2];
    const int64_t most = a.max_length != EDDY_OMITTED ? a.max_length :
                         a.cache ? a.cache->window : s;
    if (a.cache && !eddy__cache_begin(a.cache, "positions", a.x, 0)) return none;
    if (s == EDDY_ANY && most < 1)
        return eddy_fail(l.graph, EDDY_INVALID_ARGUMENT,
                         "positions: the sequence length of x is unknown; give max_length");
    if (most < 1 || s > most)
        return eddy_fail(l.graph, EDDY_INVALID_ARGUMENT,
                         "positions: max_length is %lld, but a sequence has length %lld",
                         (long long)a.max_length, (long long)s);
    eddy__layer_begin(&l);
    eddy_tensor table = !a.learned ? eddy_sinusoidal_positions(l.graph, most, n, l.dtype)
                                   : eddy__layer_variable(&l, (eddy_layer_weight){
        .name = "embeddings", .shape = EDDY_SHAPE(most, n), .init = a.embeddings_initializer,
        .otherwise = eddy_random_normal_initializer(0, 0.02) });
    if (!eddy_is_valid(table)) return eddy__layer_end(&l, table);
    const bool later = a.cache && !a.cache->first;
    return eddy__layer_end(&l,
                           Add(a.x, later ? Gather(table, eddy__cache_positions(a.cache, a.x, 1))
                                          : first_rows(table, a.x)));
}

/* ------------------------------------------------------------------- blocks -- */

typedef enum part_kind { SELF, CROSS, FORWARD } part_kind;

static eddy_tensor attend(const eddy_layer *l, const eddy_transformer_block_args *a,
                          eddy_tensor x, bool cross, int k)
{
    const eddy_tensor none = EDDY_NO_TENSOR;
    const char       *name = cross ? "cross_attention" : "attention";
    char              scope[LAYER_NAME];
    return eddy_multi_head_attention(
        x, a->heads, name, .memory = cross ? a->memory : none, .causal = !cross && a->causal,
        .lengths = cross ? a->memory_lengths : a->lengths, .mask = cross ? none : a->mask,
        .dropout = a->attention_dropout, .training = a->training, .training_when = a->training_when,
        .kernel_initializer = a->kernel_initializer, .kernel_regularizer = a->kernel_regularizer,
        .not_trainable = a->not_trainable, .seed = eddy__layer_seed(a->seed, 10 * k),
        .reuse = eddy__layer_inner_reuse(l, name, scope), .cache = a->cache);
}

static eddy_tensor feed_forward(const eddy_layer *l, const eddy_transformer_block_args *a,
                                eddy_tensor x, int k)
{
    const int64_t n = eddy_shape_of(a->x).dim[2];
    char          scope[LAYER_NAME];
    return eddy_mlp(x, EDDY_DIMS(a->hidden == EDDY_OMITTED ? 4 * n : a->hidden, n), "feed_forward",
                    .activation = a->activation, .dropout = a->dropout, .training = a->training,
                    .training_when = a->training_when,
                    .kernel_initializer = a->kernel_initializer,
                    .kernel_regularizer = a->kernel_regularizer,
                    .not_trainable = a->not_trainable, .seed = eddy__layer_seed(a->seed, 10 * k),
                    .reuse = eddy__layer_inner_reuse(l, "feed_forward", scope));
}

/* Part k of a block with its residual connection and normalization. */
static eddy_tensor add_part(const eddy_layer *l, const eddy_transformer_block_args *a,
                            eddy_tensor x, part_kind kind, int k)
{
    char name[24], scope[LAYER_NAME];
    snprintf(name, sizeof name, k ? "layer_norm_%d" : "layer_norm", k);
    const eddy_layer_norm_layer_args norm = *EDDY_ARGS(
        eddy_layer_norm_layer_args, .x = x, .epsilon = a->epsilon,
        .not_trainable = a->not_trainable, .reuse = eddy__layer_inner_reuse(l, name, scope));
    eddy_tensor y = a->pre_norm ? eddy_layer_norm_layer_with(&norm) : x;
    y = kind == FORWARD ? feed_forward(l, a, y, k) : attend(l, a, y, kind == CROSS, k);
    y = Add(x, eddy_dropout_layer(y, a->dropout, a->training, a->training_when,
                                  .seed = eddy__layer_seed(a->seed, 10 * k + 5)));
    if (a->pre_norm || !eddy_is_valid(y)) return y;
    eddy_layer_norm_layer_args after = norm;
    after.x = y;
    return eddy_layer_norm_layer_with(&after);
}

eddy_tensor eddy_transformer_block_with(const eddy_transformer_block_args *given)
{
    eddy_transformer_block_args a = EDDY_TAKE(eddy_transformer_block_args, given);
    eddy_layer l = { .who = "transformer_block", .name = a.name, .reuse = a.reuse };
    int        k = 0;
    if (!eddy__layer_check_input(&l, a.x) || !eddy__layer_check_rank(&l, a.x, 3, 2))
        return eddy_none(a.x.graph);
    eddy__layer_begin(&l);
    eddy_tensor y = add_part(&l, &a, a.x, SELF, k++);
    if (a.memory.graph) y = add_part(&l, &a, y, CROSS, k++);
    return eddy__layer_end(&l, add_part(&l, &a, y, FORWARD, k));
}
