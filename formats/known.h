/* known.h -- what is known of shapes that are computed in the graph.
 *
 * Models compute the argument of Reshape from Shape, Gather, Concat and arithmetic. If one
 * dimension of the input is unknown, most of these numbers are still known, and with them the
 * shapes of all that follows. So integers of rank 0 and 1 carry the elements that are known. */
#ifndef EDDY_FORMATS_KNOWN_H
#define EDDY_FORMATS_KNOWN_H

#include "../graph/graph.h"
#include "region.h"

/* An unknown element. */
#define UNKNOWN_SIZE INT64_MIN

enum { MOST_KNOWN = 64 };

typedef struct known_sizes {
    int64_t at[MOST_KNOWN];
    int     count;              /* -1: nothing is known */
} known_sizes;

/* n elements; nothing for NULL and if they are too many. */
known_sizes eddy__known_of(const int64_t *at, int n);
known_sizes eddy__known_join(known_sizes a, known_sizes b);
/* + - * / with a quotient that is truncated, f with one that is rounded down, < the smaller and >
 * the larger one; a single element is combined with each of the other. */
known_sizes eddy__known_combine(known_sizes x, char op, known_sizes y);
/* The elements of a short list of integers of rank 0 or 1; NULL for other arrays. */
int64_t *eddy__known_elements(region *memory, const eddy_array *a, int *count);
/* Those of k, as elements of int32 or int64; NULL if out of memory. */
int64_t *eddy__known_store(region *memory, known_sizes k, bool is_int32);
/* An array of them; NULL if not all are known, or if out of memory (memory->full). */
eddy_array *eddy__known_array(region *memory, const int64_t *at, int n, eddy_dtype d,
                              eddy_shape shape);

#endif
