/* cache_internal.h -- functions that layers use on an attention cache; not installed. */
#ifndef EDDY_LAYERS_CACHE_INTERNAL_H
#define EDDY_LAYERS_CACHE_INTERNAL_H

#include "layers/attention_cache.h"

/* Begins a layer on x, [batch, s, m], that takes the next n tensors; the first layer of a call
 * counts its positions. Reports an error unless the cache belongs to the graph of x, has room for s
 * positions, as many as in the other layers of the call, and has n tensors left. */
bool eddy__cache_begin(eddy_attention_cache *c, const char *who, eddy_tensor x, int n);

/* Stores x as the next tensor of the cache. */
void eddy__cache_keep(eddy_attention_cache *c, eddy_tensor x);

/* The next table with the rows of x, [batch, heads, s, size], at the positions of this call. */
eddy_tensor eddy__cache_append(eddy_attention_cache *c, eddy_tensor x);

/* The positions of this call, int32 [batch, s], and the number of positions after it, int32
 * [batch]; x has s positions on an axis. */
eddy_tensor eddy__cache_positions(const eddy_attention_cache *c, eddy_tensor x, int64_t axis);
eddy_tensor eddy__cache_filled(const eddy_attention_cache *c, eddy_tensor x, int64_t axis);

#endif
