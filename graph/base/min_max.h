/* min_max.h -- the smaller and the larger of two int64 numbers, a number kept in a range, and a
 * quotient rounded up. */
#ifndef EDDY_GRAPH_BASE_MIN_MAX_H
#define EDDY_GRAPH_BASE_MIN_MAX_H

#include <stdint.h>

static inline int64_t eddy__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t eddy__max(int64_t a, int64_t b) { return a > b ? a : b; }
/* The number of pieces of at most `most` elements that n elements have: n / most, rounded up. */
static inline int64_t eddy__pieces(int64_t n, int64_t most) { return (n + most - 1) / most; }

/* v, or the limit that it is beyond. */
static inline int64_t eddy__clamp(int64_t v, int64_t least, int64_t most)
{
    return v < least ? least : v > most ? most : v;
}

#endif
