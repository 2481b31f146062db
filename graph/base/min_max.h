/* min_max.h -- the smaller and the larger of two int64 numbers, and a number kept in a range. */
#ifndef EDDY_GRAPH_BASE_MIN_MAX_H
#define EDDY_GRAPH_BASE_MIN_MAX_H

#include <stdint.h>

static inline int64_t eddy__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t eddy__max(int64_t a, int64_t b) { return a > b ? a : b; }

/* v, or the limit that it is beyond. */
static inline int64_t eddy__clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

#endif
