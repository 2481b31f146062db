/* finiteness.h -- whether numbers are finite, of each type that has infinities. */
#ifndef EDDY_OPS_KERNELS_REDUCTION_FINITENESS_H
#define EDDY_OPS_KERNELS_REDUCTION_FINITENESS_H

#include <string.h>
#include "graph/op.h"

/* From good to bad. */
typedef enum eddy_finiteness { EDDY_FINITE, EDDY_INFINITE, EDDY_IS_NAN } eddy_finiteness;

/* True for floats, halves and complex types. */
bool eddy__may_be_infinite(eddy_dtype d);
/* The same test of many short pieces of one type, which must have infinities. */
typedef struct eddy_finite_test {
    void  (*largest)(const void *x, int64_t n, int64_t *most);
    int64_t infinity, parts;        /* the bits of infinity; numbers in an element */
    bool    single;                 /* float32 */
} eddy_finite_test;
eddy_finite_test eddy__finite_test(eddy_dtype d);
static inline bool eddy__all_finite(const eddy_finite_test *t, const void *x, int64_t n)
{
    int64_t most;
    int32_t bits;
    if (t->single && n == 1) {      /* a call would take longer than the operation that is tested */
        memcpy(&bits, x, sizeof bits);
        return (bits & INT32_MAX) < t->infinity;
    }
    t->largest(x, n * t->parts, &most);
    return most < t->infinity;
}

/* The worst of n elements of any type. A complex number is as bad as the worse of its parts. */
eddy_finiteness eddy__finiteness(eddy_dtype d, const void *x, int64_t n);
/* The first element from `at` on that is at least as bad as `least`; n if there is none. */
int64_t eddy__find_not_finite(eddy_dtype d, const void *x, int64_t at, int64_t n,
                              eddy_finiteness least);

#endif
