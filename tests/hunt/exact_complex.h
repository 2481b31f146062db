/* exact_complex.h -- complex numbers of some thousand bits, and the functions of them, with the
 * branch cuts of C and the signs of zeros on them. */
#ifndef EDDY_TESTS_HUNT_EXACT_COMPLEX_H
#define EDDY_TESTS_HUNT_EXACT_COMPLEX_H

#include "tests/hunt/exact.h"

typedef struct complex_num {
    num re, im;
} complex_num;

/* Of n operands; a real operand has the imaginary part 0, and of a real result that of the result
 * is not read. */
typedef complex_num exact_complex_fn(int n, const complex_num *x);
/* NULL if it is not known. */
exact_complex_fn *exact_complex_function(const char *op);

#endif
