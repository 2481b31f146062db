/* vector_powers.h -- polynomials in loops over elements that a compiler vectorizes. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POWERS_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POWERS_H

#include "graph/base/cpu.h"

/* A loop over elements that contains other loops does not become vectors. */
#define EDDY_UNROLLED _Pragma("GCC unroll 16")

/* c[0] + c[1] t + ..., the sum of the even and of the odd powers. */
#define EDDY_POWERS(c, t) eddy__powers_f64((int)(sizeof(c) / sizeof *(c)), c, t)
EDDY_INLINE double eddy__powers_f64(int n, const double *c, double t)
{
    const double z = t * t;
    double even = 0, odd = 0;
    EDDY_UNROLLED
    for (int i = (n - 1) / 2; i >= 0; i--) even = even * z + c[2 * i];
    EDDY_UNROLLED
    for (int i = n / 2 - 1; i >= 0; i--) odd = odd * z + c[2 * i + 1];
    return even + t * odd;
}

#endif
