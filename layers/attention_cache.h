/* attention_cache.h -- the keys and values of earlier positions, so that adding a position to a
 * sequence takes the computations of one position, not of the whole sequence.
 *
 * One function builds the network for training, for the first positions of a sequence (the prompt)
 * and for a step of a loop:
 *
 *   static eddy_tensor network(eddy_tensor ids, eddy_attention_cache *cache, const char *reuse);
 *
 *   eddy_tensor logits = network(ids, NULL, NULL);                  training: whole sequences
 *
 *   eddy_attention_cache cache = eddy_attention_cache_new(prompt, 256);
 *   network(prompt, &cache, "network");                             makes the tensors of the cache
 *   eddy_generate(step, eddy_attention_cache_tensors(&cache), ...); a loop that carries them
 *
 *   static int step(eddy_list x, eddy_tensor *y, void *context)
 *   {
 *       eddy_attention_cache cache = eddy_attention_cache_at(context, &x.at[1]);
 *       y[0] = Squeeze(network(ExpandDims(x.at[0], 1), &cache, "network"), EDDY_AXES(1));
 *       return 1 + eddy_attention_cache_store(&cache, y + 1);
 *   }
 *
 * The layers take .cache = cache: eddy_position_layer, eddy_multi_head_attention and
 * eddy_transformer_block, built in the same order each time. In a loop, a session writes the new
 * keys and values into the cache's own memory. A loop carries at most EDDY_MAX_RESULTS tensors, so
 * eddy_generate takes the cache of up to 29 blocks without a memory. */
#ifndef EDDY_LAYERS_ATTENTION_CACHE_H
#define EDDY_LAYERS_ATTENTION_CACHE_H

#include "../autodiff/functions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Freely copied and never freed. Programs read the members but do not set them. */
typedef struct eddy_attention_cache {
    eddy_graph *graph;
    int64_t     window;         /* positions for which there is room */
    eddy_tensor position;       /* int32 [batch]: positions of each example before this call */
    eddy_tensor lengths;        /* of the sequences of the first call, or none */
    bool        first;          /* the layers create the tensors; in later calls they update them */
    bool        moved;          /* at[0] has been updated */
    int64_t     positions;      /* of this call, or EDDY_ANY */
    int         next;           /* the tensor that the next layer takes */
    /* the tensors that a loop carries: the number of positions, int32 [batch]; for each
     * self-attention keys and values, [batch, heads, window, units / heads]; for each
     * cross-attention those of the memory, [batch, heads, t, units / heads], and its lengths, int32
     * [batch] */
    int         count;
    eddy_tensor at[EDDY_MAX_RESULTS];
} eddy_attention_cache;

typedef struct eddy_attention_cache_args {
    size_t      size_ EDDY_DEFAULT(sizeof(eddy_attention_cache_args));
    eddy_tensor x;              /* a tensor with the batch in front, such as the ids of the prompt */
    int64_t     window;         /* the longest sequence; above 0 */
    /* int32 or int64 [batch]: positions of each example in the first call, which are padded at the
     * end; default: all */
    eddy_tensor lengths;
} eddy_attention_cache_args;

/* A cache without positions. The network is built with it once, on the first positions of each
 * sequence, which creates its tensors. There may be no positions: x is then [batch, 0].
 *
 * A position beyond the window is EDDY_CHECK_FAILED in the run, and more positions in one call than
 * the window has are EDDY_INVALID_ARGUMENT while building: the cache does not slide, because
 * the keys and values of later positions depend on those that would be dropped. To write longer
 * texts, give a larger window, or begin a new cache with the last part of the text as its prompt.
 * Errors: EDDY_INVALID_ARGUMENT for a window that is not above 0; EDDY_BAD_SHAPE for a scalar;
 * EDDY_BAD_SHAPE, EDDY_BAD_DTYPE for other lengths; EDDY_CHECK_FAILED in a run with lengths that
 * are negative or above the number of positions of the first call. */
EDDY_API eddy_attention_cache
eddy_attention_cache_new_with(const eddy_attention_cache_args *args);
#define eddy_attention_cache_new(...) \
    eddy_attention_cache_new_with(EDDY_ARGS(eddy_attention_cache_args, __VA_ARGS__))

/* A cache for the next call of the network, with the tensors x[0], x[1], ..., as many as `like`
 * has, which are arguments of a body or results of a loop. Errors: EDDY_INVALID_ARGUMENT for NULL,
 * and for tensors of types other than those of `like`; without `like` there is no graph on which to
 * record it. */
EDDY_API eddy_attention_cache eddy_attention_cache_at(const eddy_attention_cache *like,
                                                      const eddy_tensor *x);

/* The tensors after a call of the network, as an initial state; valid as long as *cache. None for
 * NULL. */
EDDY_API eddy_list eddy_attention_cache_tensors(const eddy_attention_cache *cache);

/* Stores the tensors after a call of the network in y; returns their number. Errors:
 * EDDY_INVALID_ARGUMENT, and 0, if the call did not update all of them, or y is NULL. */
EDDY_API int eddy_attention_cache_store(const eddy_attention_cache *cache, eddy_tensor *y);

#ifdef __cplusplus
}
#endif
#endif
