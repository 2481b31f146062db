/* cache_internal.h -- what layers do with an attention cache; not installed. */
#ifndef EDDY_LAYERS_CACHE_INTERNAL_H
#define EDDY_LAYERS_CACHE_INTERNAL_H

#include "layers/attention_cache.h"

/* True if the cache is of the graph of x, [batch, s, n], and can have so many positions, and a layer
 * can take its next n tensors; otherwise reports an error. */
bool eddy__cache_ready(const eddy_attention_cache *c, const char *who, eddy_tensor x, int n);

/* Stores x as the next tensor of the cache. */
void eddy__cache_keep(eddy_attention_cache *c, eddy_tensor x);

/* The next table with the rows of x, [batch, heads, s, size], at the positions of this call. */
eddy_tensor eddy__cache_append(eddy_attention_cache *c, eddy_tensor x);

/* The positions of this call, int32 [batch, s], and the number of positions after it, int32 [batch];
 * x has s positions on an axis. */
eddy_tensor eddy__cache_positions(const eddy_attention_cache *c, eddy_tensor x, int64_t axis);
eddy_tensor eddy__cache_filled(const eddy_attention_cache *c, eddy_tensor x, int64_t axis);

/* The shape with an open batch. */
eddy_shape eddy__cache_row(eddy_shape s);

#endif
