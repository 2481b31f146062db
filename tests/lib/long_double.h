/* long_double.h -- whether long double has its digits when the program runs: valgrind computes x87's
 * 80 bits with 64. */
#ifndef EDDY_TESTS_LONG_DOUBLE_H
#define EDDY_TESTS_LONG_DOUBLE_H

#include <float.h>
#include <stdbool.h>

static inline bool long_double_is_exact(void)
{
    volatile long double one = 1, next = one + LDBL_EPSILON;
    return next != one;
}

#endif
