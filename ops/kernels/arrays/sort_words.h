/* sort_words.h -- sorting lanes of elements, and selecting the smallest of them, as words that are
 * sorted by radix_sort_loops.h. */
#ifndef EDDY_OPS_KERNELS_ARRAYS_SORT_WORDS_H
#define EDDY_OPS_KERNELS_ARRAYS_SORT_WORDS_H

#include "graph/op.h"

/* A word has the key of an element in its upper half and its index in the lower half, so that words
 * are all distinct and equal elements keep their order.  Keys are in the order of the elements: NaN
 * is the largest and equals itself, -0 equals 0.  Words of 4-byte and 1-byte types have 8 bytes,
 * those of 8-byte types 16. */
typedef struct eddy_words {
    size_t size;                  /* of a word */
    /* Loads `width` lanes of n elements, `stride` apart, one lane after the other; with
     * `descending`, the largest element has the smallest key. */
    void (*load)(void *words, const void *x, int64_t n, int64_t width, int64_t stride,
                 bool descending, const struct eddy_stop *stop);
    /* Sorts words, given in the order of their indices, ascending; `room` has n words. Returns
     * false, with any words, if the run must end. */
    bool (*sort)(void *words, void *room, int64_t n, const struct eddy_stop *stop);
    /* The k smallest of n elements x[0], x[1], ... in `words`, ascending; words and room each
     * have eddy__sort_words(n, k) words. Returns false, with any words, if the run must
     * end. */
    bool (*least)(void *words, void *room, const void *x, int64_t n, int64_t k, bool descending,
                  const struct eddy_stop *stop);
    /* The index in word i. */
    int64_t (*place)(const void *words, int64_t i);
} eddy_words;

/* NULL for elements without an order. */
const eddy_words *eddy__words_of(eddy_dtype d);
/* The number of words that a search for k of n elements processes at a time. */
int64_t eddy__sort_words(int64_t n, int64_t k);

#endif
