/* vector_powers.h -- polynomials in loops over elements that a compiler vectorizes: by Estrin's
 * scheme, whose chains of dependent operations are short. A processor computes several vectors at a
 * time only as far as the operations that wait fit into its queues. */
#ifndef EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POWERS_H
#define EDDY_OPS_KERNELS_ELEMENTWISE_VECTOR_POWERS_H

#include "graph/base/cpu.h"

/* A tile fn that computes one element after another, and fn_blocks for vectors, whose loops for AVX2
 * serve AVX-512, too; smaller than EDDY_CLONES. */
#if defined(__x86_64__)
#define EDDY_BLOCKS_FOR_AVX2(fn)                                                \
    __attribute__((target("avx2"), flatten))                                    \
    static eddy_status fn##_avx2(int64_t n, void *y, const void *const *x, const void *attrs) \
    {                                                                           \
        return fn##_blocks(n, y, x, attrs);                                     \
    }                                                                           \
    static const eddy_tile_fn fn##_avx512 = fn##_avx2;
#else
#define EDDY_BLOCKS_FOR_AVX2(fn)
#endif

/* c[0] + c[1] t + ... of up to 32 coefficients, whose number is known to the compiler. */
#define EDDY_POWERS(c, t) eddy__powers_f64((int)(sizeof(c) / sizeof *(c)), c, t)

EDDY_INLINE double eddy__powers_to_4_f64(int n, const double *c, double t, double t2)
{
    const double low = n > 1 ? c[0] + c[1] * t : c[0];
    return n > 3 ? low + (c[2] + c[3] * t) * t2 : n > 2 ? low + c[2] * t2 : low;
}

EDDY_INLINE double eddy__powers_to_8_f64(int n, const double *c, double t, double t2, double t4)
{
    if (n <= 4) return eddy__powers_to_4_f64(n, c, t, t2);
    return eddy__powers_to_4_f64(4, c, t, t2) + eddy__powers_to_4_f64(n - 4, c + 4, t, t2) * t4;
}

EDDY_INLINE double eddy__powers_to_16_f64(int n, const double *c, double t, double t2, double t4,
                                          double t8)
{
    if (n <= 8) return eddy__powers_to_8_f64(n, c, t, t2, t4);
    return eddy__powers_to_8_f64(8, c, t, t2, t4) +
           eddy__powers_to_8_f64(n - 8, c + 8, t, t2, t4) * t8;
}

EDDY_INLINE double eddy__powers_f64(int n, const double *c, double t)
{
    const double t2 = t * t, t4 = t2 * t2, t8 = t4 * t4;
    if (n <= 16) return eddy__powers_to_16_f64(n, c, t, t2, t4, t8);
    return eddy__powers_to_16_f64(16, c, t, t2, t4, t8) +
           eddy__powers_to_16_f64(n - 16, c + 16, t, t2, t4, t8) * (t8 * t8);
}

#endif
