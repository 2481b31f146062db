/* long_double.h -- whether long double computes with the digits that LDBL_MANT_DIG promises:
 * valgrind computes the 80 bits of x87 with 64. */
#ifndef EDDY_TESTS_LONG_DOUBLE_H
#define EDDY_TESTS_LONG_DOUBLE_H

#include <float.h>
#include <stdbool.h>

static inline bool long_double_has_its_digits(void)
{
    volatile long double one = 1, next = one + LDBL_EPSILON;
    return next != one;
}

#endif
